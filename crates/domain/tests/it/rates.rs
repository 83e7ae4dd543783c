//! What is counted of the requests of a charge, and how far a rate can be trusted.

use std::time::Duration;

use proptest::prelude::*;
use regente_domain::charge::attempt::{Asks, Outcome, RequestType, ToldBy, TransactionRequest};
use regente_domain::decline::{Decline, DeclinedCode, RefusedBy};
use regente_domain::rates::{
    Counted, Interval, Known, RateKey, band, band_start, bucket, bucket_end, counted, first_told_of, recount,
};

use crate::charge::{NOW, approved, authorization, charge, declined, instructed, request};

fn counted_of(ended: &TransactionRequest) -> Option<(Counted, Known, i64)> {
    counted(&charge(), None, ended, None).map(|key| (key.counted, key.known, key.latency))
}

fn called(outcome: Outcome) -> TransactionRequest {
    TransactionRequest { duration: Some(Duration::from_millis(300)), ..authorization(0, outcome) }
}

fn told_by(outcome: Outcome, told_by: ToldBy) -> TransactionRequest {
    TransactionRequest { told_by: Some(told_by), duration: None, ..authorization(0, outcome) }
}

#[test]
fn a_try_is_counted_by_its_answer() {
    use Counted::{Approved, Declined, Failed, Instructed};
    let no_effect = || Outcome::NoEffect(Decline::of(DeclinedCode::TryAgain));
    for (outcome, expected) in [
        (approved(), Some(Approved)),
        (declined(), Some(Declined)),
        (no_effect(), Some(Failed)),
        (instructed(None), Some(Instructed)),
        (Outcome::Open, None),
    ] {
        let found = counted_of(&called(outcome.clone()));
        assert_eq!(found, expected.map(|counted| (counted, Known::AtOnce, 9)), "{outcome:?}");
    }
    // What was told later was unknown, and how long it took says nothing about the call.
    for who in [ToldBy::Probe, ToldBy::Repetition, ToldBy::Notification, ToldBy::Nobody] {
        assert_eq!(counted_of(&told_by(approved(), who)), Some((Approved, Known::Later, -1)), "{who:?}");
    }
    // Nothing was sent, so the provider has not refused it.
    assert_eq!(counted_of(&told_by(declined(), ToldBy::NotSent)), Some((Failed, Known::AtOnce, -1)));
    // What nobody has asked for or told is set by hand.
    assert_eq!(counted_of(&authorization(0, approved())), None);
}

#[test]
fn only_authorizations_are_tries() {
    let of = |request_type| {
        let asks = Asks::about(&authorization(0, approved()), request_type, charge().amount);
        TransactionRequest { duration: Some(Duration::ZERO), ..request(1, asks, approved()) }
    };
    assert_eq!(counted_of(&of(RequestType::Void)), None);
    assert_eq!(counted_of(&of(RequestType::Capture)), None);
}

/// The first word about instructions counts, in the hour of the try, and nothing after it.
#[test]
fn the_first_word_about_instructions_counts() {
    let asked = called(instructed(None));
    let told = |n, outcome| {
        let asks = Asks::about(&asked, RequestType::Authorization, asked.amount);
        TransactionRequest { told_by: Some(ToldBy::Notification), ..request(n, asks, outcome) }
    };
    let by_payer =
        Outcome::Declined(Decline { refused_by: RefusedBy::Payer, ..Decline::of(DeclinedCode::TryAgain) });
    for (outcome, expected) in
        [(approved(), Counted::Paid), (declined(), Counted::Refused), (by_payer, Counted::Unpaid)]
    {
        let requests = [asked.clone(), told(1, outcome), told(2, approved())];
        let keys = recount(&charge(), None, &requests);
        let found: Vec<Counted> = keys.iter().map(|key: &RateKey| key.counted).collect();
        assert_eq!(found, [Counted::Instructed, expected]);
        assert_eq!(keys[1].hour, asked.id.created_at().hour());
        assert_eq!(first_told_of(&requests, &requests[2]), None);
    }
}

#[test]
fn bands_and_buckets_are_powers() {
    assert_eq!([0, 1, 3, 4, 15, 16, 4095, 4096].map(band), [0, 0, 0, 1, 1, 2, 5, 6]);
    assert_eq!((band_start(1), band_start(6)), (4, 4096));
    let of = |millis| bucket(Duration::from_millis(millis));
    assert_eq!(
        [0, 1, 2, 3, 4, 255, 256, 65_535, 65_536, u64::MAX].map(of),
        [0, 1, 2, 2, 3, 8, 9, 16, 17, 17]
    );
    assert_eq!((bucket_end(0), bucket_end(9)), (1, 512));
    assert!(NOW.hour() > 0);
}

/// The formula of Wilson for 95 %, computed apart from this code and rounded outwards.
#[test]
fn intervals_are_those_of_wilson() {
    for (succeeded, tried, expected) in [
        (8, 10, (8_000, 4_901, 9_434)),
        (0, 10, (0, 0, 2_776)),
        (10, 10, (10_000, 7_224, 10_000)),
        (1, 1, (10_000, 2_065, 10_000)),
        (500, 1_000, (5_000, 4_690, 5_310)),
    ] {
        let Interval { rate, low, high } = Interval::of(succeeded, tried).unwrap();
        assert_eq!(
            (rate.hundredths(), low.hundredths(), high.hundredths()),
            expected,
            "{succeeded} of {tried}"
        );
    }
    assert_eq!(Interval::of(0, 0), None);
    assert_eq!(Interval::of(2, 1), None);
    assert_eq!(Interval::of(-1, 1), None);
}

proptest! {
    #[test]
    fn an_interval_has_its_rate_and_becomes_narrower(succeeded in 0..=1_000_000_000_i64, more in 0..=1_000_000_000_i64) {
        let of = |times: i64| Interval::of(succeeded * times, (succeeded + more) * times);
        let (Some(one), Some(ten)) = (of(1), of(10)) else { return Ok(()) };
        prop_assert!(one.low <= one.rate && one.rate <= one.high);
        prop_assert!(ten.high.hundredths() - ten.low.hundredths() <= one.high.hundredths() - one.low.hundredths() + 1);
    }
}
