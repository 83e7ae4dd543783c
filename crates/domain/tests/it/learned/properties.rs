//! What is true of the shares whatever was counted.

use proptest::prelude::*;
use regente_domain::learned::evidence::Counts;
use regente_domain::learned::{BRANCHES_MAX, Bounds, LearnedBalance, Learning, Millionths};

use super::{PLAIN, balance, one_group, parts, shares_of};

const CHARGE: u64 = 1_000_000;

/// Approved and refused charges in millionths, few and many alike.
fn counted() -> impl Strategy<Value = (u64, u64)> {
    let charges = || prop_oneof![Just(0), 0..20 * CHARGE, 0..5_000 * CHARGE, 0..10_000_000 * CHARGE];
    (charges(), charges())
}

/// Groups that each contain the next, from charges of each that are not of the next.
fn levels() -> impl Strategy<Value = Vec<Counts>> {
    prop::collection::vec(counted(), 0..4).prop_map(nested)
}

fn nested(outside: Vec<(u64, u64)>) -> Vec<Counts> {
    let mut inside = Counts::default();
    let mut levels: Vec<Counts> = outside
        .into_iter()
        .rev()
        .map(|(approved, refused)| {
            inside.approved += approved;
            inside.tried += approved + refused;
            inside
        })
        .collect();
    levels.reverse();
    levels
}

fn evidence() -> impl Strategy<Value = Vec<Vec<Counts>>> {
    prop::collection::vec(levels(), 2..=BRANCHES_MAX)
}

/// Bounds of so many branches that leave room, with the floor: some shares that add up to the whole lie within them.
fn bounds(branches: usize) -> impl Strategy<Value = Vec<Bounds>> {
    let below_and_above = (0.0..=1.0_f64, 0.0..=1.0_f64);
    (prop::collection::vec(1..1_000_u64, branches), prop::collection::vec(below_and_above, branches))
        .prop_map(|(weights, room)| {
            let whole: u64 = weights.iter().sum();
            let bound = |(weight, (below, above)): (u64, (f64, f64))| {
                let share = weight as f64 * 1e6 / whole as f64;
                Bounds {
                    min: Millionths::of((share * below) as u32),
                    max: Millionths::of((share + (1e6 - share) * above).ceil() as u32),
                }
            };
            weights.into_iter().zip(room).map(bound).collect()
        })
}

fn bounded() -> impl Strategy<Value = (Vec<Vec<Counts>>, Vec<Bounds>)> {
    evidence().prop_flat_map(|evidence| {
        let bounds = bounds(evidence.len());
        (Just(evidence), bounds)
    })
}

proptest! {
    #[test]
    fn shares_add_up_to_the_whole_and_keep_the_floor((evidence, floor) in (evidence(), 0..=10_u32)) {
        let learning = Learning { floor: Millionths::percent(floor), ..PLAIN };
        let shares = parts(&shares_of(&balance(learning, evidence.len()), &evidence));
        prop_assert_eq!(shares.iter().sum::<u32>(), 1_000_000);
        prop_assert!(shares.iter().all(|&share| share >= floor * 10_000), "{:?}", shares);
    }

    #[test]
    fn bounds_hold_where_they_leave_room((evidence, bounds) in bounded()) {
        let balance = LearnedBalance::of(PLAIN, &bounds).unwrap();
        let shares = shares_of(&balance, &evidence);
        prop_assert_eq!(parts(&shares).iter().sum::<u32>(), 1_000_000);
        for (branch, bounds) in shares.branches().iter().zip(&bounds) {
            prop_assert!((bounds.min..=bounds.max).contains(&branch.share), "{:?} {:?}", shares, bounds);
        }
    }

    /// Where one more charge was approved, whether it was refused before or not counted, the branch has no smaller share, but for
    /// the rounding to a millionth.
    #[test]
    fn more_approvals_never_lower_a_share(
        (evidence, bounds) in bounded(),
        outside in prop::collection::vec(counted(), 1..4),
        more in 1..1_000 * CHARGE,
        refused_before in any::<bool>(),
        group in any::<prop::sample::Index>(),
    ) {
        let balance = LearnedBalance::of(PLAIN, &bounds).unwrap();
        let group = group.index(outside.len());
        let mut better = outside.clone();
        let more = if refused_before { more.min(outside[group].1) } else { more };
        better[group].0 += more;
        better[group].1 -= if refused_before { more } else { 0 };
        let share = |outside: Vec<(u64, u64)>| {
            let mut evidence = evidence.clone();
            evidence[0] = nested(outside);
            shares_of(&balance, &evidence).branches()[0]
        };
        let (before, after) = (share(outside), share(better));
        prop_assert!(after.share.get() + 1 >= before.share.get(), "{:?} {:?}", before, after);
        prop_assert!(after.rate.get() + 1 >= before.rate.get(), "{:?} {:?}", before, after);
    }

    #[test]
    fn the_order_of_the_branches_does_not_matter(
        (evidence, bounds, order) in bounded().prop_flat_map(|(evidence, bounds)| {
            let order = Just((0..evidence.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(evidence), Just(bounds), order)
        }),
    ) {
        let shares = parts(&shares_of(&LearnedBalance::of(PLAIN, &bounds).unwrap(), &evidence));
        let other_bounds: Vec<_> = order.iter().map(|&branch| bounds[branch]).collect();
        let other_evidence: Vec<_> = order.iter().map(|&branch| evidence[branch].clone()).collect();
        let others =
            parts(&shares_of(&LearnedBalance::of(PLAIN, &other_bounds).unwrap(), &other_evidence));
        for (&branch, other) in order.iter().zip(others) {
            // Equal branches share what is left of a millionth in their order.
            prop_assert!(shares[branch].abs_diff(other) <= 1, "{:?}", order);
        }
    }

    #[test]
    fn draws_meet_a_branch_as_often_as_its_share_says((evidence, steps) in (evidence(), 1_000..2_000_u64)) {
        let shares = shares_of(&balance(Learning::default(), evidence.len()), &evidence);
        let mut met = vec![0_u64; evidence.len()];
        for step in 0..steps {
            let bits = (u128::from(step) * (1 << 64) / u128::from(steps)) as u64;
            met[shares.choose(regente_domain::learned::Draw::of_bits(bits))] += 1;
        }
        for (branch, met) in shares.branches().iter().zip(met) {
            let expected = f64::from(branch.share.get()) / 1e6 * steps as f64;
            prop_assert!((met as f64 - expected).abs() <= 2.0, "{} {}", met, expected);
        }
    }
}

#[test]
fn where_nothing_was_counted_the_shares_are_equal() {
    for branches in 2..=BRANCHES_MAX {
        let balance = balance(Learning::default(), branches);
        let shares = parts(&balance.shares(&[]));
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(most - least <= 1, "{shares:?}");
        assert_eq!(shares, parts(&shares_of(&balance, &vec![vec![]; branches])));
        assert_eq!(shares, parts(&shares_of(&balance, &one_group(&vec![(0, 0); branches]))));
    }
}
