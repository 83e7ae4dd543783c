//! What both databases must do alike. Each case runs on a fresh database of either kind.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use regente_domain::id::MerchantId;
use regente_store::testing::{self, TestDatabase};
use regente_store::{
    Args, Batch, Commit, CounterDelta, CounterKey, DatabaseKind, DiscardWrites, Json, RefusalKind, Store,
    StoreError, StoreOptions, args,
};
use uuid::Uuid;

use crate::things::{
    ADD_PART, ADD_THING, ALL_THINGS, CLIENT, COUNTERS, FIND_THING, INCREMENT, SET_N, TAKE_ONE,
    TAKE_ONE_BLINDLY, THINGS_BY_ID, THINGS_BY_NAME, add, adding, count, exists, id, key, missed, n_of,
    prepare, refused, thing,
};

macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::run(regente_store::DatabaseKind::Sqlite, super::$case).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::run(regente_store::DatabaseKind::Postgres, super::$case).await;
            })*
        }
    };
}

on_both!(
    a_batch_is_all_or_nothing,
    a_refusal_names_the_statement_and_the_reason,
    guards_come_first,
    a_miss_refuses_only_its_own_batch,
    a_wrong_statement_fails_only_its_own_batch,
    one_of_many_wins_each_version,
    no_increment_is_lost,
    a_guarded_decrement_never_goes_too_far,
    counters_add_up_under_concurrency,
    counters_that_cancel_out_are_not_written,
    refused_batches_do_not_count,
    values_come_back_as_they_went,
    wrong_kinds_are_mistakes_and_not_data,
    arguments_are_bound_by_name,
    arguments_must_fit_the_statement,
    what_was_applied_can_be_read,
    lists_are_arguments,
    a_row_is_one_row,
    a_read_cannot_write,
    a_caller_that_hangs_up_changes_nothing,
    discarded_writes_are_not_written,
    admission_is_bounded,
    the_check_writes,
    a_closed_store_is_unavailable,
    a_closing_store_applies_what_is_queued,
    the_size_is_known,
);

async fn run(kind: DatabaseKind, case: impl AsyncFnOnce(Store)) {
    let database = TestDatabase::fresh(kind).await;
    let store = database.open().await;
    prepare(&store).await;
    case(store.clone()).await;
    store.close().await;
}

async fn a_batch_is_all_or_nothing(store: Store) {
    add(&store, 1).await;
    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(2)).push(&INCREMENT, key(1)).push(&INCREMENT, key(99));
    assert_eq!(store.apply(batch).await.unwrap(), missed("INCREMENT", 0));
    assert!(!exists(&store, 2).await);
    assert_eq!(n_of(&store, 1).await, 0);

    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(2)).push(&INCREMENT, key(1)).push_any(&INCREMENT, key(99));
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert!(exists(&store, 2).await);
    assert_eq!(n_of(&store, 1).await, 1);
}

async fn a_refusal_names_the_statement_and_the_reason(store: Store) {
    add(&store, 1).await;
    assert_eq!(store.apply(adding(1)).await.unwrap(), refused("ADD_THING", RefusalKind::Unique));

    let mut same_name = Batch::new(CLIENT);
    same_name.push(&ADD_THING, thing(2)).push(
        &ADD_THING,
        args! {
            id: id(3), client_id: CLIENT, name: "thing 0002", doc: None::<String>, bytes: None::<Vec<u8>>,
            n: 0, version: 0,
        },
    );
    assert_eq!(store.apply(same_name).await.unwrap(), refused("ADD_THING", RefusalKind::Unique));

    let mut orphan = Batch::new(CLIENT);
    orphan.push(&ADD_PART, args! { id: id(1), client_id: CLIENT, thing_id: id(99) });
    assert_eq!(store.apply(orphan).await.unwrap(), refused("ADD_PART", RefusalKind::ForeignKey));

    let mut below_zero = Batch::new(CLIENT);
    below_zero.push(&TAKE_ONE_BLINDLY, key(1));
    let Commit::Refused(refusal) = store.apply(below_zero).await.unwrap() else { panic!("it was applied") };
    assert_eq!(refusal.statement, "TAKE_ONE_BLINDLY");
    assert!(matches!(refusal.why, RefusalKind::Constraint(_)), "{refusal:?}");

    let mut none = Batch::new(CLIENT);
    none.push_n(&INCREMENT, key(1), 0);
    let why = RefusalKind::RowCount { expected: 0, actual: 1 };
    assert_eq!(store.apply(none).await.unwrap(), refused("INCREMENT", why));
    assert_eq!(count(&store).await, 1);
}

async fn guards_come_first(store: Store) {
    add(&store, 1).await;
    // Were the steps to run in the order of the calls, the unique key would refuse this one.
    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(1)).guard(&SET_N, set_n(1, 7, 5));
    assert_eq!(store.apply(batch).await.unwrap(), missed("SET_N", 0));
}

async fn a_miss_refuses_only_its_own_batch(store: Store) {
    for number in (1..=64).step_by(9) {
        add(&store, number).await;
    }
    let batches = (1..=64).map(|number| {
        let mut batch = adding(number);
        if number % 7 == 0 {
            batch.push(&INCREMENT, key(1000 + number));
        }
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (1..=64_u128).zip(answers) {
        let was_there = (number - 1) % 9 == 0;
        let expected = match (was_there, number % 7 == 0) {
            (true, _) => refused("ADD_THING", RefusalKind::Unique),
            (false, true) => missed("INCREMENT", 0),
            (false, false) => Commit::Applied,
        };
        assert_eq!(answer.unwrap(), expected, "batch {number}");
        let written = was_there || expected == Commit::Applied;
        assert_eq!(exists(&store, number).await, written, "batch {number}");
    }
}

async fn a_wrong_statement_fails_only_its_own_batch(store: Store) {
    let batches = (1..=32).map(|number| {
        let mut batch = adding(number);
        if number % 5 == 0 {
            // Text for a number: SQLite finds out while it writes, PostgreSQL before.
            batch.push(&SET_N, args! { id: id(number), client_id: CLIENT, version: 0, n: "many" });
        }
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (1..=32).zip(answers) {
        if number % 5 == 0 {
            assert!(matches!(answer, Err(StoreError::Programming(_))), "batch {number}: {answer:?}");
        } else {
            assert_eq!(answer.unwrap(), Commit::Applied, "batch {number}");
        }
    }
    assert_eq!(count(&store).await, 32 - 6);
}

async fn one_of_many_wins_each_version(store: Store) {
    add(&store, 1).await;
    for version in 0..8 {
        let tries = (0..64).map(|runner| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut batch = Batch::new(CLIENT);
                batch.guard(&SET_N, set_n(1, runner, version));
                store.apply(batch).await.unwrap()
            })
        });
        let answers: Vec<Commit> = join_all(tries).await.into_iter().map(Result::unwrap).collect();
        let winners: Vec<usize> = (0..64).filter(|&runner| answers[runner] == Commit::Applied).collect();
        assert_eq!(winners.len(), 1, "version {version}: {winners:?}");
        assert_eq!(answers.iter().filter(|answer| **answer == missed("SET_N", 0)).count(), 63);
        assert_eq!(n_of(&store, 1).await, i64::try_from(winners[0]).unwrap());
    }
}

async fn no_increment_is_lost(store: Store) {
    add(&store, 1).await;
    add(&store, 2).await;
    // In both orders, so that on PostgreSQL two groups may wait for each other in a circle.
    let tries = (0..200).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let (first, second) = if number % 2 == 0 { (1, 2) } else { (2, 1) };
            let mut batch = Batch::new(CLIENT);
            batch.push(&INCREMENT, key(first)).push(&INCREMENT, key(second));
            store.apply(batch).await.unwrap()
        })
    });
    for answer in join_all(tries).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    assert_eq!(n_of(&store, 1).await, 200);
    assert_eq!(n_of(&store, 2).await, 200);
}

async fn a_guarded_decrement_never_goes_too_far(store: Store) {
    add(&store, 1).await;
    for _ in 0..20 {
        let mut batch = Batch::new(CLIENT);
        batch.push(&INCREMENT, key(1));
        assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    }
    let tries = (0..64).map(|_| async {
        let mut batch = Batch::new(CLIENT);
        batch.guard(&TAKE_ONE, key(1));
        store.apply(batch).await.unwrap()
    });
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Commit::Applied).count(), 20);
    assert_eq!(n_of(&store, 1).await, 0);
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

async fn values_come_back_as_they_went(store: Store) {
    let bytes: Vec<u8> = (0..=255).collect();
    let text = "São Paulo ✓ '\"\\ \n :name ?1 $1";
    let document = r#"{"a": 1, "nested": {"text": "ç"}, "none": null}"#;
    let mut batch = Batch::new(CLIENT);
    batch.push(
        &ADD_THING,
        args! {
            id: id(u128::MAX), client_id: CLIENT, name: text, doc: Json(document.to_owned()),
            bytes: bytes.clone(), n: i64::MAX, version: i64::MIN,
        },
    );
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    let row = store.row(&FIND_THING, key(u128::MAX)).await.unwrap().unwrap();
    assert_eq!(row.get::<Uuid>("id").unwrap(), Uuid::max());
    assert_eq!(row.get::<&str>("name").unwrap(), text);
    let same: serde_json::Value = serde_json::from_str(row.get("doc").unwrap()).unwrap();
    assert_eq!(same, serde_json::from_str::<serde_json::Value>(document).unwrap());
    assert_eq!(row.get::<Vec<u8>>("bytes").unwrap(), bytes);
    assert_eq!(row.get::<i64>("n").unwrap(), i64::MAX);
    assert_eq!(row.get::<Option<i64>>("version").unwrap(), Some(i64::MIN));

    add(&store, 1).await;
    let row = store.row(&FIND_THING, key(1)).await.unwrap().unwrap();
    assert_eq!(row.get::<Option<Json>>("doc").unwrap(), None);
    assert_eq!(row.get::<Option<&[u8]>>("bytes").unwrap(), None);
    assert!(!row.get::<bool>("n").unwrap());
    assert!(matches!(row.get::<String>("doc"), Err(StoreError::Corrupt(_))));
    assert!(matches!(row.get::<i64>("name"), Err(StoreError::Corrupt(_))));
    assert!(matches!(row.get::<i64>("nonsense"), Err(StoreError::Programming(_))));
}

async fn wrong_kinds_are_mistakes_and_not_data(store: Store) {
    add(&store, 1).await;
    let text_for_a_number = args! { id: id(1), client_id: CLIENT, version: 0, n: "one" };
    let bytes_for_a_number = args! { id: id(1), client_id: CLIENT, version: 0, n: vec![1_u8] };
    for args in [text_for_a_number, bytes_for_a_number] {
        let mut batch = Batch::new(CLIENT);
        batch.push(&SET_N, args);
        let answer = store.apply(batch).await;
        assert!(matches!(answer, Err(StoreError::Programming(_))), "{answer:?}");
    }
    assert_eq!(n_of(&store, 1).await, 0);
}

async fn arguments_are_bound_by_name(store: Store) {
    add(&store, 1).await;
    add(&store, 2).await;
    let mut batch = Batch::new(CLIENT);
    // In another order than in the statement, where `:version` comes twice and after `:n`.
    batch.guard(&SET_N, args! { id: id(2), version: 0, client_id: CLIENT, n: 42 });
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    let row = store.row(&FIND_THING, args! { client_id: CLIENT, id: id(2) }).await.unwrap().unwrap();
    assert_eq!((row.get::<i64>("n").unwrap(), row.get::<i64>("version").unwrap()), (42, 1));
    assert_eq!(n_of(&store, 1).await, 0);
}

async fn arguments_must_fit_the_statement(store: Store) {
    let client_id = CLIENT;
    let missing = args! { client_id };
    let extra = args! { client_id, id: id(1), name: "x" };
    let twice = Args::new().with("client_id", client_id).with("id", id(1)).with("id", id(2));
    for args in [missing, extra, twice] {
        let read = store.rows(&FIND_THING, args.clone()).await;
        assert!(matches!(read, Err(StoreError::Programming(_))), "{read:?}");
        let mut batch = Batch::new(client_id);
        batch.push(&INCREMENT, args);
        let written = store.apply(batch).await;
        assert!(matches!(written, Err(StoreError::Programming(_))), "{written:?}");
    }
}

async fn what_was_applied_can_be_read(store: Store) {
    for number in 0..50 {
        add(&store, number).await;
        assert_eq!(count(&store).await, i64::try_from(number).unwrap() + 1);
    }
    let rows = store.rows(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.get("id").unwrap()).collect();
    assert_eq!(ids, (0..50).map(Uuid::from_u128).collect::<Vec<_>>());
}

async fn lists_are_arguments(store: Store) {
    for number in 1..=4 {
        add(&store, number).await;
    }
    let names = |rows: Vec<regente_store::Row>| -> Vec<String> {
        rows.iter().map(|row| row.get("name").unwrap()).collect()
    };
    let ids = serde_json::to_string(&[id(4), id(2), id(99)]).unwrap();
    let found = store.rows(&THINGS_BY_ID, args! { client_id: CLIENT, ids: Json(ids) }).await.unwrap();
    assert_eq!(names(found), ["thing 0002", "thing 0004"]);
    let wanted = Json(r#"["thing 0001", "it's", "thing 0003"]"#.to_owned());
    let found = store.rows(&THINGS_BY_NAME, args! { client_id: CLIENT, names: wanted }).await.unwrap();
    assert_eq!(names(found), ["thing 0001", "thing 0003"]);
    let none = Json("[]".to_owned());
    assert!(store.rows(&THINGS_BY_NAME, args! { client_id: CLIENT, names: none }).await.unwrap().is_empty());
}

async fn a_row_is_one_row(store: Store) {
    assert!(store.row(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap().is_none());
    add(&store, 1).await;
    assert!(store.row(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap().is_some());
    add(&store, 2).await;
    let two = store.row(&ALL_THINGS, args! { client_id: CLIENT }).await;
    assert!(matches!(two, Err(StoreError::Programming(_))), "{two:?}");
}

async fn a_read_cannot_write(store: Store) {
    add(&store, 1).await;
    let read = store.rows(&INCREMENT, key(1)).await;
    assert!(matches!(read, Err(StoreError::Programming(_))), "{read:?}");
    assert_eq!(n_of(&store, 1).await, 0);
}

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

async fn admission_is_bounded(store: Store) {
    let held: Vec<_> = (0..4096).map(|_| store.admit().unwrap()).collect();
    assert!(matches!(store.admit(), Err(StoreError::Overloaded)));
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.admit_waiting().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(held);
    assert!(waiting.await.unwrap().is_ok());
    assert!(store.admit().is_ok());
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
    assert!(matches!(store.admit(), Err(StoreError::Unavailable(_))));
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
        let options: StoreOptions = database.options();
        let again = Store::open(options).await.unwrap();
        assert!(exists(&again, 1).await, "{kind}");
        again.close().await;
    }
}

fn set_n(number: u128, n: i64, version: i64) -> Args {
    args! { id: id(number), client_id: CLIENT, n, version }
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
