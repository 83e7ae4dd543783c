//! Charges of the past under another flow: what the records tell, what is estimated, and how far estimates can be trusted.

#![allow(clippy::float_arithmetic, reason = "expectations of tries, never money")]

use deserr::deserialize;
use proptest::prelude::*;
use regente_domain::charge::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use regente_domain::decline::{Decline, DeclinedCode, RefusedBy};
use regente_domain::flow::{Draws, Group};
use regente_domain::flow_replay::{Answer, FeeTerms, FeesFile, Place, Recorded, Replayed, Tally};
use regente_domain::id::ProviderId;
use regente_domain::problems::Problems;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::charge::{approved, authorization, charge, declined, instructed, request};
use crate::splitmix::splitmix64;

fn provider(number: u128) -> ProviderId {
    ProviderId::new(Uuid::from_u128(number))
}

fn group(brand: &str) -> Group {
    Group { brand: brand.to_owned(), currency: "BRL".to_owned(), band: 5 }
}

fn recorded(route: &[u128], answers: &[Answer]) -> Recorded {
    let route: Vec<ProviderId> = route.iter().copied().map(provider).collect();
    Recorded {
        group: group("visa"),
        amount: 2_000,
        tries: route.iter().copied().zip(answers.iter().copied()).collect(),
        route,
        analysed_by: None,
        is_under_way: false,
    }
}

fn through(route: &[u128]) -> Replayed {
    Replayed { route: route.iter().copied().map(provider).collect(), analysed_by: None }
}

fn tally<'a>(charges: impl IntoIterator<Item = &'a (Recorded, Replayed)>) -> Tally {
    let mut tally = Tally::default();
    for (recorded, replayed) in charges {
        tally.add(recorded, replayed);
    }
    tally
}

#[test]
fn a_try_is_read_as_what_it_means_for_the_next_one() {
    let hard = Outcome::Declined(Decline::of(DeclinedCode::StolenCard));
    let soft = Outcome::Declined(Decline::of(DeclinedCode::TryAgain));
    let by_payer = Decline { refused_by: RefusedBy::Payer, ..Decline::of(DeclinedCode::TryAgain) };
    for (outcome, expected) in [
        (approved(), Answer::Approved),
        (instructed(None), Answer::Approved),
        (soft, Answer::Passed),
        (hard, Answer::Ended),
        (Outcome::NoEffect(Decline::of(DeclinedCode::TryAgain)), Answer::Passed),
        (Outcome::Declined(by_payer), Answer::Ended),
        (Outcome::Open, Answer::Unknown),
    ] {
        let request = authorization(0, outcome.clone());
        let found = Recorded::of(&charge(), None, std::slice::from_ref(&request));
        assert_eq!(found.tries, [(request.provider_id, expected)], "{outcome:?}");
    }
    // A void is no try, and neither is the end of instructions.
    let void = request(
        1,
        Asks::about(&authorization(0, approved()), RequestType::Void, charge().amount),
        approved(),
    );
    let waits = authorization(0, instructed(None));
    let told = TransactionRequest { follows: Some(waits.id), ..authorization(1, declined()) };
    assert_eq!(Recorded::of(&charge(), None, &[authorization(0, approved()), void]).tries.len(), 1);
    assert_eq!(Recorded::of(&charge(), None, &[waits, told]).tries.len(), 1);
}

#[test]
fn what_was_tried_is_told_and_what_was_not_is_estimated() {
    use Answer::{Approved, Ended, Passed, Unknown};
    // Of 40 charges that the first provider has passed on, the second one approves 30.
    let mut charges: Vec<_> = (0..40)
        .map(|n| (recorded(&[1, 2], &[Passed, if n < 30 { Approved } else { Ended }]), through(&[1, 2])))
        .collect();
    // Those that went to the first provider alone.
    charges.extend([
        (recorded(&[1], &[Approved]), through(&[1, 2])),
        (recorded(&[1], &[Ended]), through(&[1, 2])),
        (recorded(&[1], &[Unknown]), through(&[1, 2])),
        (recorded(&[1], &[Passed]), through(&[1, 2])),
        (recorded(&[1], &[Passed]), through(&[1, 2])),
    ]);
    let found = tally(&charges).prediction(&[]);
    assert_eq!((found.charges, found.moved, found.estimated), (45, 0, 2));
    assert_eq!(found.approvals.recorded, 31);
    assert!((found.approvals.expected - (31.0 + 2.0 * 0.75)).abs() < 0.01, "{:?}", found.approvals);
    assert!(found.approvals.low >= 31.0 && found.approvals.high <= 33.0, "{:?}", found.approvals);
    assert_eq!((found.untold.unknown, found.untold.no_rate.len()), (1, 0));
    let [first, second] = &found.providers[..] else { panic!("{:?}", found.providers) };
    assert_eq!((first.recorded.tries, first.replayed.tries), (45.0, 45.0));
    assert_eq!((second.recorded.tries, second.replayed.tries), (40.0, 42.0));
    assert_eq!((second.recorded.approvals, second.replayed.approvals), (30.0, 31.5));
    assert_eq!((second.recorded.volume, second.replayed.volume), (60_000.0, 63_000.0));
}

#[test]
fn what_too_few_have_tried_cannot_be_told() {
    for (later, is_told) in [(29, false), (30, true)] {
        let mut charges =
            vec![(recorded(&[1, 2], &[Answer::Passed, Answer::Approved]), through(&[1, 2])); later];
        charges.push((recorded(&[1], &[Answer::Passed]), through(&[1, 2])));
        // First tries say nothing of those after a refusal.
        charges.extend(vec![(recorded(&[2], &[Answer::Approved]), through(&[2])); 100]);
        let found = tally(&charges).prediction(&[]);
        let place = Place { provider_id: provider(2), is_later: true };
        let expected = if is_told { vec![] } else { vec![(place, 1.0)] };
        assert_eq!(found.untold.no_rate, expected);
        assert_eq!(found.approvals.untold, if is_told { 0.0 } else { 1.0 });
        let certain = 100.0 + later as f64;
        assert!(found.approvals.expected >= certain && found.approvals.low >= certain, "{found:?}");
    }
}

#[test]
fn a_group_that_is_too_small_is_judged_by_its_brand_and_then_by_all() {
    let of = |brand: &str, answers: &[Answer], route: &[u128]| Recorded {
        group: group(brand),
        ..recorded(route, answers)
    };
    let later = |brand: &str, n: usize, answer| {
        vec![(of(brand, &[Answer::Passed, answer], &[1, 2]), through(&[1, 2])); n]
    };
    let new = |brand: &str| (of(brand, &[Answer::Passed], &[1]), through(&[1, 2]));
    let known: Vec<_> =
        later("visa", 30, Answer::Approved).into_iter().chain(later("amex", 10, Answer::Ended)).collect();
    for (brand, expected) in [("visa", 1.0), ("amex", 0.75), ("elo", 0.75)] {
        let charges: Vec<_> = known.iter().cloned().chain([new(brand)]).collect();
        let found = tally(&charges).prediction(&[]).approvals;
        assert!((found.expected - 30.0 - expected).abs() < 0.01, "{brand}: {found:?}");
    }
}

#[test]
fn what_an_analysis_would_say_cannot_be_told() {
    let analyses =
        |by: Option<u128>, recorded: Recorded| Recorded { analysed_by: by.map(provider), ..recorded };
    let replayed = |by: Option<u128>| Replayed { analysed_by: by.map(provider), ..through(&[1]) };
    let approved = || recorded(&[1], &[Answer::Approved]);
    let stopped = || recorded(&[1], &[]);
    for (before, then, charge, expected) in [
        (None, None, approved(), (1.0, 0)),
        (Some(9), Some(9), approved(), (1.0, 0)),
        // The analysis that is left out has let it pass.
        (Some(9), None, approved(), (1.0, 0)),
        (None, Some(9), approved(), (0.0, 1)),
        (Some(9), Some(9), stopped(), (0.0, 0)),
        (Some(9), None, stopped(), (0.0, 1)),
    ] {
        let found = tally(&[(analyses(before, charge), replayed(then))]).prediction(&[]);
        assert_eq!((found.approvals.expected, found.untold.not_analysed), expected, "{before:?} {then:?}");
    }
    let waiting = Recorded { is_under_way: true, ..stopped() };
    assert_eq!(tally(&[(waiting, through(&[1]))]).prediction(&[]).untold.unknown, 1);
    let unserved = tally(&[(approved(), through(&[]))]).prediction(&[]);
    assert_eq!((unserved.unserved, unserved.approvals.expected, unserved.moved), (1, 0.0, 1));
}

#[test]
fn fees_are_what_the_terms_say() {
    let file = json!({ "fees": [{ "providerId": provider(1).to_string(), "currency": "BRL", "perTry": 3,
        "perApproval": 25, "percentage": 2.5 }] });
    let terms = deserialize::<FeesFile, Value, Problems>(file).unwrap().fees;
    let charges = [
        (recorded(&[1], &[Answer::Approved]), through(&[1])),
        (recorded(&[1], &[Answer::Ended]), through(&[2])),
    ];
    let found = tally(&charges).prediction(&terms);
    let fees: Vec<_> = found.providers.iter().map(|line| (line.recorded.fees, line.replayed.fees)).collect();
    // Two tries, one approval, and 2.5 % of 20.00; one try less with the other flow.
    assert_eq!(fees, [(Some(81.0), Some(78.0))]);
    let wrong = json!({ "fees": [{ "providerId": "x", "currency": "BRL", "perTry": -1, "each": 1 }] });
    let refused = deserialize::<FeesFile, Value, Problems>(wrong).unwrap_err();
    let problems = refused.details();
    assert!(problems.iter().any(|problem| problem.contains("perTry")), "{problems:?}");
    assert_eq!(problems.len(), 3, "{problems:?}");
    let none: Vec<FeeTerms> = Vec::new();
    assert!(tally(&charges).prediction(&none).providers.iter().all(|line| line.recorded.fees.is_none()));
}

#[test]
fn draws_that_were_made_come_first() {
    let (made, seeded) = (Draws::made(&[7, 8], 3), Draws::seeded(3));
    assert_eq!((made.at(4, 0), made.at(9, 1)), (7, 8), "in the order in which balances are visited");
    assert_eq!(made.at(5, 2), seeded.at(5, 2));
}

/// Charges of which each provider approves some and passes some on, by chance.
struct World(u64);

impl World {
    fn happens(&mut self, thousandths: u64) -> bool {
        splitmix64(&mut self.0) % 1_000 < thousandths
    }

    /// The first provider approves 70 % and passes 24 % on; the second one approves 55 % of those.
    fn course(&mut self, route: &[u128]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for provider in route {
            let (approves, passes) = if *provider == 1 { (700, 800) } else { (550, 400) };
            let answer = match self.happens(approves) {
                true => Answer::Approved,
                false if self.happens(passes) => Answer::Passed,
                false => Answer::Ended,
            };
            answers.push(answer);
            if answer != Answer::Passed {
                break;
            }
        }
        answers
    }
}

/// Of 400 futures at least 370 lie in the interval of 95 %: fewer has a chance below 0.0003 for one that is right.
#[test]
fn what_happens_lies_in_the_interval() {
    let mut world = World(20_261_129);
    let mut inside = 0;
    for _ in 0..400 {
        let mut past = Tally::default();
        let mut future = 0;
        for n in 0..1_500 {
            // One in three was passed on to the second provider already.
            let route: &[u128] = if n % 3 == 0 { &[1, 2] } else { &[1] };
            let answers = world.course(route);
            past.add(&recorded(route, &answers), &through(&[1, 2]));
            // The same charge again: the first provider answers alike.
            let mut again = answers;
            if route.len() == 1 && again == [Answer::Passed] {
                again.extend(world.course(&[2]));
            }
            future += u64::from(again.contains(&Answer::Approved));
        }
        let said = past.prediction(&[]).approvals;
        inside += u32::from(said.low <= future as f64 && future as f64 <= said.high);
    }
    assert!((370..=396).contains(&inside), "{inside} of 400");
}

fn any_charge() -> impl Strategy<Value = (Recorded, Replayed)> {
    let route = || {
        Just([1_u128, 2, 3])
            .prop_shuffle()
            .prop_flat_map(|of| (1..=3_usize).prop_map(move |n| of[..n].to_vec()))
    };
    let last = prop::sample::select(vec![Answer::Approved, Answer::Ended, Answer::Unknown, Answer::Passed]);
    (route(), route(), any::<prop::sample::Index>(), last, "(visa|amex)").prop_map(
        |(was, is, tries, last, brand)| {
            let tries = tries.index(was.len());
            let answers: Vec<Answer> = std::iter::repeat_n(Answer::Passed, tries).chain([last]).collect();
            (Recorded { group: group(&brand), ..recorded(&was, &answers) }, through(&is))
        },
    )
}

proptest! {
    /// However the charges are divided into parts, their sum says the same, also after it was written and read.
    #[test]
    fn parts_add_up(charges in prop::collection::vec(any_charge(), 0..60), at in any::<prop::sample::Index>()) {
        let whole = tally(&charges);
        let (left, right) = charges.split_at(at.index(charges.len() + 1));
        let mut sum = tally(left);
        let text = serde_json::to_string(&tally(right)).unwrap();
        sum.merge(serde_json::from_str(&text).unwrap());
        prop_assert_eq!(&sum, &whole);
        prop_assert_eq!(sum.prediction(&[]), whole.prediction(&[]));
    }

    /// The flow that charges have followed says exactly what became of them.
    #[test]
    fn the_same_flow_says_what_happened(charges in prop::collection::vec(any_charge(), 1..60)) {
        let same: Vec<_> = charges
            .into_iter()
            .map(|(recorded, _)| (Replayed { route: recorded.route.clone(), analysed_by: None }, recorded))
            .map(|(replayed, recorded)| (recorded, replayed))
            .collect();
        let found = tally(&same).prediction(&[]);
        let recorded = found.approvals.recorded as f64;
        prop_assert_eq!((found.approvals.expected, found.approvals.low, found.approvals.high), (recorded, recorded, recorded));
        prop_assert_eq!((found.moved, found.estimated), (0, 0));
        for line in found.providers {
            prop_assert_eq!(line.recorded, line.replayed);
        }
    }

    /// Nothing is approved twice, and nothing is lost: what is expected and what cannot be told are no more than the charges.
    #[test]
    fn expectations_stay_within_the_charges(charges in prop::collection::vec(any_charge(), 0..200)) {
        let found = tally(&charges).prediction(&[]);
        let of = found.approvals;
        prop_assert!(of.low <= of.expected && of.expected <= of.high, "{:?}", of);
        prop_assert!(of.high <= found.charges as f64 + 0.01, "{:?}", of);
        prop_assert!(of.expected + of.untold <= found.charges as f64 + 0.01, "{:?}", of);
    }
}
