//! The life of a store: admission, checks, the end.

use futures_util::future::join_all;
use regente_domain::id::ClientId;
use regente_store::testing::{self, TestDatabase};
use regente_store::{Commit, DatabaseKind, DiscardWrites, Store, StoreError, WORKER_PLACES};
use uuid::Uuid;

use crate::things::{FIND_THING, add, adding, count, exists, key, prepare};

on_both!(
    a_caller_that_hangs_up_changes_nothing,
    discarded_writes_are_not_written,
    without_storage_reads_come_from_memory,
    admission_is_bounded,
    an_account_leaves_room_for_others,
    workers_have_places_of_their_own,
    the_check_writes,
    a_closed_store_is_unavailable,
    a_closing_store_applies_what_is_queued,
    the_size_is_known,
    what_it_does_is_counted,
);

async fn a_caller_that_hangs_up_changes_nothing(store: Store) {
    let mut hanging_up: Vec<_> = (0..20).map(|number| Box::pin(store.apply(adding(number)))).collect();
    // Each is polled once, which queues it, and dropped.
    std::future::poll_fn(|context| {
        for call in &mut hanging_up {
            assert!(call.as_mut().poll(context).is_pending());
        }
        std::task::Poll::Ready(())
    })
    .await;
    drop(hanging_up);
    // What is queued later is applied later.
    let store_kind = store.database_kind();
    for number in 20..40 {
        add(&store, number).await;
    }
    while count(&store).await < 40 {
        assert_eq!(store_kind, DatabaseKind::Postgres, "one writer keeps the order");
        tokio::task::yield_now().await;
    }
}

async fn discarded_writes_are_not_written(store: Store) {
    store.discard_writes(DiscardWrites::Yes);
    add(&store, 1).await;
    assert!(!exists(&store, 1).await);
    store.discard_writes(DiscardWrites::No);
    add(&store, 1).await;
    assert!(exists(&store, 1).await);
}

async fn without_storage_reads_come_from_memory(store: Store) {
    for number in [1, 2] {
        add(&store, number).await;
    }
    store.discard_writes(DiscardWrites::Yes);
    assert!(exists(&store, 1).await);
    testing::run_script(&store, "DELETE FROM things").await.unwrap();
    assert!(exists(&store, 1).await, "what was read once is cached");
    assert!(!exists(&store, 2).await, "what was not is asked for");
    store.discard_writes(DiscardWrites::No);
    assert!(!exists(&store, 1).await, "the database itself is asked again");
}

fn account(number: u128) -> ClientId {
    ClientId::new(Uuid::from_u128(number))
}

async fn admission_is_bounded(store: Store) {
    let held: Vec<_> = (0..4096).map(|number| store.admit(account(number)).unwrap()).collect();
    assert!(matches!(store.admit(account(5000)), Err(StoreError::Overloaded)));
    drop(held);
    assert!(store.admit(account(5000)).is_ok());
}

async fn an_account_leaves_room_for_others(store: Store) {
    let fill = |number| -> Vec<_> { std::iter::from_fn(|| store.admit(account(number)).ok()).collect() };
    let first = fill(1);
    assert_eq!(first.len(), 3277, "80 percent of 4096");
    let second = fill(2);
    assert_eq!(second.len(), 656, "80 percent of what is left");
    assert_eq!(fill(3).len(), 131);
    drop(first);
    assert_eq!(fill(3).len(), 2752, "80 percent of all but those of the second");
    drop(second);
    assert_eq!(fill(3).len(), 3277);
}

async fn workers_have_places_of_their_own(store: Store) {
    let held: Vec<_> = (0..4096).map(|number| store.admit(account(number)).unwrap()).collect();
    let mut working = join_all((0..WORKER_PLACES).map(|_| store.admit_waiting())).await;
    assert!(working.iter().all(Result::is_ok), "although callers have taken all of theirs");
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.admit_waiting().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(working.pop());
    assert!(waiting.await.unwrap().is_ok());
    drop(held);
}

async fn the_check_writes(store: Store) {
    store.check().await.unwrap();
    testing::run_script(&store, "DELETE FROM heartbeat").await.unwrap();
    assert!(matches!(store.check().await, Err(StoreError::Schema(_))));
}

async fn a_closed_store_is_unavailable(store: Store) {
    add(&store, 1).await;
    store.close().await;
    assert!(matches!(store.apply(adding(2)).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.rows(&FIND_THING, key(1)).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.admit(account(1)), Err(StoreError::Unavailable(_))));
    assert!(matches!(store.admit_waiting().await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.check().await, Err(StoreError::Unavailable(_))));
}

async fn a_closing_store_applies_what_is_queued(store: Store) {
    let tries: Vec<_> = (0..100)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.apply(adding(number)).await })
        })
        .collect();
    while count(&store).await == 0 {
        tokio::task::yield_now().await;
    }
    store.close().await;
    for answer in join_all(tries).await {
        let answer = answer.unwrap();
        assert!(matches!(answer, Ok(Commit::Applied) | Err(StoreError::Unavailable(_))), "{answer:?}");
    }
}

async fn the_size_is_known(store: Store) {
    let size = store.size().await.unwrap();
    assert!(size.database_bytes > 0);
    assert_eq!(size.wal_bytes.is_some(), store.database_kind() == DatabaseKind::Sqlite);
}

#[tokio::test]
async fn what_was_applied_survives_a_restart() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let database = TestDatabase::fresh(kind).await;
        let store = database.open().await;
        prepare(&store).await;
        add(&store, 1).await;
        store.close().await;
        let again = Store::open(database.options()).await.unwrap();
        assert!(exists(&again, 1).await, "{kind}");
        again.close().await;
    }
}

async fn what_it_does_is_counted(store: Store) {
    let before = store.activity();
    assert_eq!((before.admissions_max, before.admissions_in_use, before.admissions_refused), (4096, 0, 0));
    let held: Vec<_> = (0..4096).map(|number| store.admit(account(number)).unwrap()).collect();
    assert!(store.admit(account(1)).is_err());
    let during = store.activity();
    assert_eq!((during.admissions_in_use, during.admissions_refused), (4096, 1));
    drop(held);
    assert_eq!(store.activity().admissions_in_use, 0);

    for applied in join_all((0..50).map(|number| store.apply(adding(number)))).await {
        assert_eq!(applied.unwrap(), Commit::Applied);
    }
    // What is refused alone is no commit, and what is refused among others is none of its batches.
    assert!(matches!(store.apply(adding(0)).await.unwrap(), Commit::Refused(_)));
    let after = store.activity();
    assert_eq!(after.batches - before.batches, 50);
    assert!((1..=50).contains(&(after.commits - before.commits)), "{after:?}");
}
