//! A balance that learns: shares by known values and properties, and a small market.
#![allow(clippy::float_arithmetic, reason = "probabilities, never money")]

mod bounds;
mod known_values;
mod properties;
mod simulation;

use regente_domain::learned::evidence::{Counts, Decay};
use regente_domain::learned::moves::{Moved, moved};
use regente_domain::learned::{Bounds, Draw, LearnedBalance, LearnedChoice, Learning, Millionths, Shares};
use simulation::{Got, Hour, Market};

/// No floor and the flat prior: the shares are the probabilities themselves.
const PLAIN: Learning = Learning {
    prior_rate: Millionths::percent(50),
    prior_strength: 2,
    backoff_strength: 100,
    floor: Millionths::ZERO,
    half_life_hours: 24,
    report_above: Millionths::percent(20),
};

fn balance(learning: Learning, branches: usize) -> LearnedBalance {
    LearnedBalance::of(learning, &vec![Bounds::default(); branches]).unwrap()
}

fn shares_of(balance: &LearnedBalance, evidence: &[Vec<Counts>]) -> Shares {
    balance.shares(&evidence.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn parts(shares: &Shares) -> Vec<u32> {
    shares.branches().iter().map(|branch| branch.share.get()).collect()
}

/// Approved and tried charges of the only group.
fn one_group(counts: &[(u32, u32)]) -> Vec<Vec<Counts>> {
    counts.iter().map(|&(approved, tried)| vec![Counts::charges(approved, tried)]).collect()
}

#[test]
fn the_draw_falls_on_the_branches_in_their_order() {
    let shares = shares_of(&balance(Learning::default(), 2), &one_group(&[(80, 100), (70, 100)]));
    let first = parts(&shares)[0];
    assert!((900_000..980_000).contains(&first), "{first}");
    let draw = |millionths: u32| -> Draw { serde_json::from_value(millionths.into()).unwrap() };
    let chosen = [0, first - 1, first, 999_999].map(|millionths| shares.choose(draw(millionths)));
    assert_eq!(chosen, [0, 0, 1, 1]);
    // Of 64 bits the first count.
    let bits = [0, 1 << 63, u64::MAX].map(|bits| Draw::of_bits(bits).millionths());
    assert_eq!(bits, [0, 500_000, 999_999]);
}

#[test]
fn a_branch_without_a_share_is_never_chosen() {
    let only_the_second = [
        Bounds { min: Millionths::ZERO, max: Millionths::ZERO },
        Bounds { min: Millionths::WHOLE, max: Millionths::WHOLE },
    ];
    let balance = LearnedBalance::of(PLAIN, &only_the_second).unwrap();
    let shares = shares_of(&balance, &one_group(&[(100, 100), (0, 100)]));
    assert_eq!(parts(&shares), [0, 1_000_000]);
    assert_eq!([0, u64::MAX].map(|bits| shares.choose(Draw::of_bits(bits))), [1, 1]);
}

#[test]
fn a_choice_is_explained_with_rates_and_draw() {
    let evidence = [
        vec![Counts::charges(800, 1000), Counts::charges(30, 40)],
        vec![Counts::charges(600, 1000), Counts::charges(38, 40)],
    ];
    let shares = shares_of(&balance(Learning::default(), 2), &evidence);
    let choice = shares.explain(Draw::of_bits(1 << 63));
    // (100 * (770 + 1) / (960 + 2) + 30) / 140, and (100 * (562 + 1) / (960 + 2) + 38) / 140
    let said = serde_json::to_value(&choice).unwrap();
    assert_eq!(said["chosen"], 0);
    assert_eq!(said["draw"], 500_000);
    assert_eq!(said["branches"][0]["rate"], 786_754);
    assert_eq!(said["branches"][1]["rate"], 689_456);
    assert_eq!(said["branches"][0]["charges"], 40);
    assert_eq!(serde_json::from_value::<LearnedChoice>(said).unwrap(), choice);
}

#[test]
fn a_broader_group_counts_little_where_much_was_counted_and_much_where_little_was() {
    let balance = balance(PLAIN, 2);
    let rate = |counts: Vec<Counts>| shares_of(&balance, &[counts, vec![]]).branches()[0].rate.get();
    // Nothing counted: what is presumed.
    assert_eq!(rate(vec![]), 500_000);
    // 900 of 1000 everywhere, nothing in the group: the rate of the broader one.
    assert_eq!(rate(vec![Counts::charges(900, 1000), Counts::charges(0, 0)]), 899_202);
    // 100,000 in the group at 70 %, and as many elsewhere at 90 %.
    let much = rate(vec![Counts::charges(160_000, 200_000), Counts::charges(70_000, 100_000)]);
    assert!((700_000..701_000).contains(&much), "{much}");
    // All charges are of the group: they count once, however many groups hold them.
    let same = Counts::charges(8, 10);
    assert_eq!(rate(vec![same, same, same]), rate(vec![same]));
}

#[test]
fn a_charge_counts_half_after_the_half_life() {
    let decay = Decay::of(&Learning { half_life_hours: 24, ..PLAIN });
    let weights = [0, 12, 24, 48, 240, 241].map(|age| decay.weight(age).get());
    // The square root of a half is 0.707106...
    assert_eq!(weights, [1_000_000, 707_106, 500_000, 250_000, 976, 0]);
    assert_eq!(decay.reach_hours(), 240);
    let mut counts = Counts::default();
    counts.add(3, 4, decay.weight(24));
    counts.add(1, 2, decay.weight(0));
    assert_eq!(counts, Counts { approved: 2_500_000, tried: 4_000_000 });
}

#[test]
fn a_share_that_changes_a_lot_is_reported() {
    let balance = balance(PLAIN, 3);
    let before = shares_of(&balance, &one_group(&[(50, 100), (50, 100), (50, 100)]));
    let now = shares_of(&balance, &one_group(&[(50, 100), (50, 100), (90, 100)]));
    let all = moved(&before, &now, Millionths::percent(20));
    let at = |branch: usize| (before.branches()[branch].share, now.branches()[branch].share);
    let expected: Vec<Moved> =
        (0..3).map(|branch| Moved { branch, before: at(branch).0, now: at(branch).1 }).collect();
    assert_eq!(all, expected);
    // Two give up a third each, and the third gains two.
    assert_eq!(moved(&before, &now, Millionths::percent(50)), expected[2..]);
    // Not the change itself, but more than it.
    let change = now.branches()[2].share.get() - before.branches()[2].share.get();
    assert_eq!(moved(&before, &now, Millionths::of(change)), []);
    assert_eq!(moved(&before, &now, Millionths::of(change - 1)), expected[2..]);
    // Another balance.
    let other = shares_of(&self::balance(PLAIN, 2), &one_group(&[(1, 100), (99, 100)]));
    assert_eq!(moved(&before, &other, Millionths::ZERO), []);
}

/// 20,000 charges in a week, five times. Seeded: it ends the same way always.
#[test]
fn in_a_market_that_drifts_a_balance_that_learns_gets_more_than_equal_shares() {
    let market = Market { hours: 160, charges_an_hour: 125, learning: Learning::default() };
    let sound = |hour: Hour| {
        assert!((hour.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", hour.shares);
        assert!(hour.rates.iter().all(|rate| (0.02..=0.99).contains(rate)), "{:?}", hour.rates);
    };
    let runs: Vec<Got> = (1..=5).map(|seed| simulation::run(&market, seed, sound)).collect();
    for got in &runs {
        assert_eq!(got.charges, 20_000.0);
        assert!(got.learned > got.equal, "{} {}", got.learned, got.equal);
        assert!(got.learned < got.best_possible && got.best_fixed <= got.best_fixed_by_group);
    }
    let all = |of: fn(&Got) -> f64| runs.iter().map(of).sum::<f64>();
    // Of what equal shares lose to the best possible, at least two fifths come back.
    let lost = all(|got| got.best_possible - got.equal);
    let back = all(|got| got.learned - got.equal);
    assert!(back > 0.4 * lost, "{back} of {lost}");
}
