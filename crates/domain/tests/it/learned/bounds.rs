//! Which balances there are, and shares that their bounds hold.

use regente_domain::learned::{BRANCHES_MAX, Bounds, LearnedBalance, Learning, Millionths, NoSuchBalance};

use super::{PLAIN, one_group, parts, shares_of};

fn percent(min: u32, max: u32) -> Bounds {
    Bounds { min: Millionths::percent(min), max: Millionths::percent(max) }
}

fn refused(learning: Learning, bounds: &[Bounds]) -> Option<NoSuchBalance> {
    LearnedBalance::of(learning, bounds).err()
}

#[test]
fn bounds_that_leave_no_room_are_refused() {
    let free = Bounds::default();
    assert_eq!(refused(PLAIN, &[percent(60, 100), percent(40, 100)]), None);
    assert_eq!(refused(PLAIN, &[percent(60, 100), percent(41, 100)]), Some(NoSuchBalance::MinsAboveWhole));
    assert_eq!(refused(PLAIN, &[percent(0, 60), percent(0, 40)]), None);
    assert_eq!(refused(PLAIN, &[percent(0, 60), percent(0, 39)]), Some(NoSuchBalance::MaxesBelowWhole));
    assert_eq!(refused(PLAIN, &[free, percent(40, 39)]), Some(NoSuchBalance::MinAboveMax(1)));
    // The floor is a least share of all, except where the largest is smaller.
    let floor = Learning { floor: Millionths::percent(20), ..PLAIN };
    assert_eq!(refused(floor, &[percent(80, 100), free]), None);
    assert_eq!(refused(floor, &[percent(81, 100), free]), Some(NoSuchBalance::MinsAboveWhole));
    assert_eq!(refused(floor, &[percent(95, 100), percent(0, 5)]), None);
    assert_eq!(refused(floor, &[free; 6]), Some(NoSuchBalance::MinsAboveWhole));
}

#[test]
fn numbers_outside_their_limits_are_refused() {
    let free = [Bounds::default(); 2];
    let rate = |percent| Learning { prior_rate: Millionths::percent(percent), ..PLAIN };
    assert_eq!(
        [0, 1, 99, 100].map(|percent| refused(rate(percent), &free).is_some()),
        [true, false, false, true]
    );
    let prior = |prior_strength| refused(Learning { prior_strength, ..PLAIN }, &free);
    let backoff = |backoff_strength| refused(Learning { backoff_strength, ..PLAIN }, &free);
    let strength = Some(NoSuchBalance::Strength);
    assert_eq!([0, 1, 10_000, 10_001].map(prior), [strength, None, None, strength]);
    assert_eq!([0, 1, 10_000, 10_001].map(backoff), [strength, None, None, strength]);
    let half_life = |half_life_hours| refused(Learning { half_life_hours, ..PLAIN }, &free);
    let refusal = Some(NoSuchBalance::HalfLife);
    assert_eq!([0, 1, 720, 721].map(half_life), [refusal, None, None, refusal]);
    let branches =
        [1, 2, BRANCHES_MAX, BRANCHES_MAX + 1].map(|n| refused(PLAIN, &vec![Bounds::default(); n]));
    assert_eq!(branches, [Some(NoSuchBalance::Branches), None, None, Some(NoSuchBalance::Branches)]);
    assert_eq!(NoSuchBalance::MinAboveMax(1).to_string(), "the least share of branch 1 is above its largest");
}

#[test]
fn what_a_bound_takes_goes_to_the_others_in_equal_parts() {
    // Far better than the others, but at most 70 %: what is left goes to two equal ones.
    let balance = LearnedBalance::of(PLAIN, &[percent(0, 70), percent(0, 100), percent(0, 100)]).unwrap();
    assert_eq!(
        parts(&shares_of(&balance, &one_group(&[(900, 1000), (500, 1000), (500, 1000)]))),
        [700_000, 150_000, 150_000]
    );
    // Far worse than the others, but at least 10 %: they give half of it each.
    let balance = LearnedBalance::of(PLAIN, &[percent(10, 100), percent(0, 100), percent(0, 100)]).unwrap();
    assert_eq!(
        parts(&shares_of(&balance, &one_group(&[(100, 1000), (500, 1000), (500, 1000)]))),
        [100_000, 450_000, 450_000]
    );
    // The floor, where a branch has no bound of its own.
    let balance =
        LearnedBalance::of(Learning { floor: Millionths::percent(2), ..PLAIN }, &[Bounds::default(); 2])
            .unwrap();
    assert_eq!(parts(&shares_of(&balance, &one_group(&[(900, 1000), (500, 1000)]))), [980_000, 20_000]);
    // Bounds without any room.
    let balance = LearnedBalance::of(PLAIN, &[percent(30, 30), percent(70, 100)]).unwrap();
    assert_eq!(parts(&shares_of(&balance, &one_group(&[(900, 1000), (500, 1000)]))), [300_000, 700_000]);
}
