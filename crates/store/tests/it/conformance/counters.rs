//! Counters add up whatever happens around them.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use regente_domain::id::MerchantId;
use regente_store::{Batch, Commit, CounterDelta, CounterKey, Store, args};
use uuid::Uuid;

use crate::things::{CLIENT, COUNTERS, adding};

on_both!(
    counters_add_up_under_concurrency,
    counters_that_cancel_out_are_not_written,
    refused_batches_do_not_count,
);

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

fn delta(status: &'static str, change: i64) -> CounterDelta {
    let key = CounterKey {
        client_id: CLIENT,
        hour: 472_222,
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
