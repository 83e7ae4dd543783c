//! Counters add up whatever happens around them.

use std::collections::BTreeMap;
use std::ops::Range;

use futures_util::future::{join, join_all};
use regente_domain::charge::ChargeStatus;
use regente_domain::id::MerchantId;
use regente_domain::time::Timestamp;
use regente_store::charges::Direction;
use regente_store::counters::{self, Count, CounterFilter, Kind};
use regente_store::{Batch, Commit, CounterDelta, CounterKey, Store, args, sql};
use uuid::Uuid;

use crate::things::{CLIENT, COUNTERS, adding, fold_all};

on_both!(
    counters_add_up_under_concurrency,
    counters_that_cancel_out_are_not_written,
    refused_batches_do_not_count,
    sums_are_exact_while_counters_change_and_are_folded_twice_at_once,
    hours_are_found_in_spans_of_any_length,
    a_span_that_is_not_the_sum_of_its_hours_is_found,
);

sql! {
    /// Makes the sum of a span wrong.
    SPOIL_SPAN = "
        UPDATE charge_counter_spans SET n = n + 1
        WHERE client_id = :client_id AND hours = 64 AND first_hour = :first_hour";
}

async fn counters_add_up_under_concurrency(store: Store) {
    let words = ["pending", "authorized", "captured"];
    let tries = (0..200_usize).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut batch = adding(u128::try_from(number).unwrap());
            // Each charge is counted where it is and moves on by one.
            batch.count(delta(words[number % 3], 1));
            batch.count(delta(words[number % 3], -1)).count(delta(words[(number + 1) % 3], 1));
            store.apply(batch).await.unwrap()
        })
    });
    for answer in join_all(tries).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    let expected = BTreeMap::from([
        ("authorized".to_owned(), 67),
        ("captured".to_owned(), 67),
        ("pending".to_owned(), 66),
    ]);
    assert_eq!(totals(&store).await, expected);
}

async fn counters_that_cancel_out_are_not_written(store: Store) {
    let mut batch = adding(1);
    batch.count(delta("pending", 1)).count(delta("pending", -1)).count(delta("authorized", 1));
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(totals(&store).await, BTreeMap::from([("authorized".to_owned(), 1)]));

    let mut counters_alone = Batch::new(CLIENT);
    counters_alone.count(delta("captured", 3));
    assert_eq!(store.apply(counters_alone).await.unwrap(), Commit::Applied);
    assert_eq!(totals(&store).await["captured"], 3);
}

async fn refused_batches_do_not_count(store: Store) {
    let tries = (0..60).map(|number| {
        let mut batch = adding(number % 40);
        batch.count(delta("pending", 1));
        store.apply(batch)
    });
    let applied = join_all(tries).await.into_iter().filter(|answer| matches!(answer, Ok(Commit::Applied)));
    assert_eq!(applied.count(), 40);
    assert_eq!(totals(&store).await, BTreeMap::from([("pending".to_owned(), 40)]));
}

/// The first of the hours of two tests.
const FIRST_HOUR: i64 = 472_222;
/// Charges, one in each hour of about two years at every 37th hour.
const CHARGES: i64 = 480;
const APART: i64 = 37;

const fn hour_of(charge: i64) -> i64 {
    FIRST_HOUR + charge * APART
}

/// Puts charges that are captured in their hours.
async fn charges_of_two_years(store: &Store) {
    let mut batch = Batch::new(CLIENT);
    for charge in 0..CHARGES {
        batch.count(delta_of(hour_of(charge), "captured", 1));
    }
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
}

fn hours(hours: Range<i64>) -> Range<Timestamp> {
    Timestamp::of_hour(hours.start)..Timestamp::of_hour(hours.end)
}

async fn counted(store: &Store, filter: &CounterFilter, range: Range<i64>) -> i64 {
    let count = Count { store, client_id: CLIENT, filter };
    count.spans(hours(range)).await.unwrap().iter().map(|span| span.n).sum()
}

fn with_status(status: ChargeStatus) -> CounterFilter {
    CounterFilter { statuses: Some(vec![status]), ..CounterFilter::default() }
}

async fn sums_are_exact_while_counters_change_and_are_folded_twice_at_once(store: Store) {
    charges_of_two_years(&store).await;
    let everything = CounterFilter::default();
    // Every third charge is voided, many at once, while both fold and somebody counts.
    let voiding = async {
        for some in (0..CHARGES).step_by(3).collect::<Vec<_>>().chunks(8) {
            let each = some.iter().map(|charge| {
                let mut batch = Batch::new(CLIENT);
                batch.count(delta_of(hour_of(*charge), "captured", -1));
                batch.count(delta_of(hour_of(*charge), "voided", 1));
                store.apply(batch)
            });
            for answer in join_all(each).await {
                assert_eq!(answer.unwrap(), Commit::Applied);
            }
        }
    };
    let folding = || async { fold_all::<Kind>(&store, 16).await + fold_all::<Kind>(&store, 5).await };
    let counting = async {
        for round in 0..60 {
            assert_eq!(counted(&store, &everything, 0..2_000_000).await, CHARGES);
            let (from, to) = (round * 3, CHARGES - round);
            assert_eq!(counted(&store, &everything, hour_of(from)..hour_of(to)).await, to - from);
        }
    };
    let (batches, ..) = join(join(folding(), folding()), join(voiding, counting)).await;
    assert!(batches.0 + batches.1 > 1, "{batches:?}");
    fold_all::<Kind>(&store, 1000).await;
    assert_eq!(counters::wrong_spans(&store, CLIENT).await.unwrap(), 0);
    assert_eq!(counted(&store, &everything, 0..2_000_000).await, CHARGES);
    assert_eq!(counted(&store, &with_status(ChargeStatus::Voided), 0..2_000_000).await, CHARGES / 3);
    let expected = BTreeMap::from([("captured".to_owned(), 320), ("voided".to_owned(), 160)]);
    assert_eq!(totals(&store).await, expected);
}

async fn hours_are_found_in_spans_of_any_length(store: Store) {
    charges_of_two_years(&store).await;
    let filter = CounterFilter::default();
    let count = Count { store: &store, client_id: CLIENT, filter: &filter };
    for round in ["before it is folded", "folded"] {
        for (first, end, wanted) in
            [(0, CHARGES, 0..3), (5, 401, 390..420), (0, CHARGES, 200..203), (7, 8, 0..20)]
        {
            let range = hours(hour_of(first)..hour_of(end - 1) + 1);
            for direction in [Direction::Ascending, Direction::Descending] {
                let spans = count.spans(range.clone()).await.unwrap();
                assert!(spans.len() < 50, "{}", spans.len());
                let found = count.hours(spans, direction, wanted.clone()).await.unwrap();
                let found: Vec<_> =
                    found.iter().map(|hour| (hour.from.hour(), hour.n, hour.preceding)).collect();
                let expected: Vec<_> = (wanted.start..wanted.end.min(end - first))
                    .map(|place| match direction {
                        Direction::Ascending => (hour_of(first + place), 1, place),
                        Direction::Descending => (hour_of(end - 1 - place), 1, place),
                    })
                    .collect();
                assert_eq!(found, expected, "{round}");
            }
        }
        fold_all::<Kind>(&store, 100).await;
    }
}

async fn a_span_that_is_not_the_sum_of_its_hours_is_found(store: Store) {
    charges_of_two_years(&store).await;
    fold_all::<Kind>(&store, 100).await;
    assert_eq!(counters::wrong_spans(&store, CLIENT).await.unwrap(), 0);
    let mut batch = Batch::new(CLIENT);
    batch.push(&SPOIL_SPAN, args! { client_id: CLIENT, first_hour: FIRST_HOUR / 64 * 64 });
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(counters::wrong_spans(&store, CLIENT).await.unwrap(), 1);
}

fn delta(status: &'static str, change: i64) -> CounterDelta {
    delta_of(FIRST_HOUR, status, change)
}

fn delta_of(hour: i64, status: &'static str, change: i64) -> CounterDelta {
    let key = CounterKey {
        client_id: CLIENT,
        hour,
        merchant_id: MerchantId::new(Uuid::from_u128(0x3E)),
        status,
        payment_type: "credit",
        provider_type: "SANDBOX",
    };
    CounterDelta { key, change }
}

async fn totals(store: &Store) -> BTreeMap<String, i64> {
    let rows = store.rows(&COUNTERS, args! { client_id: CLIENT }).await.unwrap();
    rows.iter().map(|row| (row.get("status").unwrap(), row.get("n").unwrap())).collect()
}
