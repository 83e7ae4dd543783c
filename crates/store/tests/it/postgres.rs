//! What is PostgreSQL's own: lost connections, commit groups, addresses.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::idempotency::{self, Claim};
use regente_store::sealed::Sealed;
use regente_store::testing::proxy::{Break, Fate, Proxy};
use regente_store::testing::{self, TestDatabase, TestPostgres};
use regente_store::{
    Batch, Commit, Placement, PostgresOptions, Row, Store, StoreError, StoreOptions, args, sql,
};
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::things::{
    ADD_THING, CLIENT, FIND_THING, INCREMENT, SET_N, add, adding, count, exists, key, missed, n_of, prepare,
    set_n, thing, thing_of,
};

async fn fresh() -> (String, Store) {
    let database = TestDatabase::fresh_postgres().await;
    let store = database.open().await;
    prepare(&store).await;
    let TestDatabase::Postgres(database) = database else { unreachable!() };
    (database.keep(), store)
}

sql! {
    /// The time of the database's clock, after it has counted for a while.
    LATER = "
        WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 300000)
        SELECT (SELECT MAX(n) FROM counted) AS n, DATABASE_NOW AS now";
    /// The time of the database's clock.
    AT_ONCE = "SELECT DATABASE_NOW AS now";
}

/// A charge is read before its requests. Requests that are older than their charge would look as if money had come for
/// nothing, and it would be given back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_queries_the_first_is_read_first_also_when_only_the_second_is_known() {
    let (url, _) = fresh().await;
    let options = PostgresOptions { pool_size: 1, ..options(&url, 1) };
    let store = Store::open(StoreOptions::Postgres(options)).await.unwrap();
    let now = |rows: &[Row]| rows[0].get::<Timestamp>("now").unwrap();
    store.rows(&AT_ONCE, args! {}).await.unwrap();
    let (first, second) = store.rows_of_both((&LATER, args! {}), (&AT_ONCE, args! {})).await.unwrap();
    assert!(now(&first) <= now(&second), "{:?} {:?}", now(&first), now(&second));
}

sql! {
    /// The hash of an account by PostgreSQL.
    HASHED = split("SELECT 0 AS hash WHERE :id IS NULL", "SELECT uuid_hash(CAST(:id AS UUID)) AS hash");
}

/// By it the store knows which server of a distributed database has an account.
#[tokio::test]
async fn an_account_is_hashed_as_the_server_hashes_it() {
    let database = TestDatabase::fresh_postgres().await;
    let store = database.open().await;
    let (some, few) = (Uuid::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210), 0..20_u32);
    let ids = few.map(|at| Uuid::from_u128(some.as_u128().rotate_left(at * 7)));
    for id in ids.chain([Uuid::nil(), Uuid::max()]) {
        let rows = store.rows(&HASHED, args! { id }).await.unwrap();
        let client_id = ClientId::new(id);
        assert_eq!(rows[0].get::<i32>("hash").unwrap(), testing::hash_of_account(client_id), "{id}");
    }
}

fn options(url: &str, writers: usize) -> PostgresOptions {
    let mut options = PostgresOptions::new(url);
    options.pool_size = 4;
    options.writers = writers;
    // Proxies stand before the server of the address.
    options.connects_to_workers = false;
    options
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_claimed_anew_while_it_is_purged_stays() {
    let (url, store) = fresh().await;
    let (before, now) = (Timestamp::from_millis(1_000), Timestamp::from_millis(2_000));
    let claim = Claim { digest: Uuid::from_u128(7), fingerprint: [7; 32] };
    let mut batch = Batch::new(CLIENT);
    let body = Sealed { key_id: Uuid::from_u128(8), bytes: vec![8] };
    idempotency::claim_done(&mut batch, &claim, 201, body, before);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);

    let (other, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    other.batch_execute("BEGIN; UPDATE idempotency SET expires_at = 3000").await.unwrap();
    let purging = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut batch = Batch::new(CLIENT);
            idempotency::purge(&mut batch, &[Uuid::from_u128(7)], now, before);
            store.apply(batch).await
        })
    };
    let waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while other.query(waiting, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(purging.await.unwrap().unwrap(), Commit::Applied);
    assert!(idempotency::find(&store, CLIENT, claim.digest).await.unwrap().is_some());
}

/// Tries until the store works again.
async fn wait_until_it_works(store: &Store, number: u128) {
    for _ in 0..100 {
        match store.apply(adding(number)).await {
            Ok(Commit::Applied) => return,
            Ok(Commit::Refused(_)) if exists(store, number).await => return,
            Ok(Commit::Unknown) | Err(StoreError::Unavailable(_)) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("the store did not recover");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_before_the_commit_is_unavailable() {
    let (url, direct) = fresh().await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 1))).await.unwrap();
    add(&store, 1).await;
    proxy.breaks(Break::BeforeBegin);
    let answer = store.apply(adding(2)).await;
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    assert!(!exists(&direct, 2).await);
    proxy.breaks(Break::Never);
    wait_until_it_works(&store, 3).await;
    assert_eq!(count(&direct).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_during_the_commit_leaves_the_fate_unknown() {
    let (url, direct) = fresh().await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 1))).await.unwrap();
    add(&store, 1).await;

    proxy.breaks(Break::BeforeCommit);
    assert_eq!(store.apply(adding(2)).await.unwrap(), Commit::Unknown);
    proxy.breaks(Break::Never);
    wait_until_it_works(&store, 3).await;
    assert!(!exists(&direct, 2).await);

    // The store sees the same, and this time it is written.
    proxy.breaks(Break::AfterCommit);
    let answers = join_all((10..20).map(|number| store.apply(adding(number)))).await;
    let unknown = answers.iter().filter(|answer| matches!(answer, Ok(Commit::Unknown))).count();
    assert!(unknown >= 1, "{answers:?}");
    proxy.breaks(Break::Never);
    wait_until_it_works(&store, 4).await;
    for (number, answer) in (10..20).zip(answers) {
        match answer {
            Ok(Commit::Applied) => assert!(exists(&direct, number).await),
            Ok(Commit::Unknown) => assert!(arrives(&direct, number).await),
            Err(StoreError::Unavailable(_)) => assert!(!exists(&direct, number).await),
            other => panic!("{other:?}"),
        }
    }
}

/// Internal errors, shutdown, the system's errors and lost connections: a distributed server may answer so although
/// the transaction is committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_a_commit_that_proves_no_rollback_leaves_the_fate_unknown() {
    let (url, direct) = fresh().await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 1))).await.unwrap();
    let cases = ["57P01", "XX000", "58030", "08006"]
        .into_iter()
        .flat_map(|code| [(code, Fate::Committed), (code, Fate::RolledBack)]);
    for (number, (code, fate)) in (0..).step_by(2).zip(cases) {
        proxy.breaks(Break::AnswerCommit(code, fate));
        assert_eq!(store.apply(adding(number)).await.unwrap(), Commit::Unknown, "{code}");
        assert_eq!(exists(&direct, number).await, fate == Fate::Committed, "{code}");
        wait_until_it_works(&store, number + 1).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_fails_with_a_proof_of_rollback_is_tried_again() {
    let (url, direct) = fresh().await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 1))).await.unwrap();
    proxy.breaks(Break::AnswerCommit("40001", Fate::RolledBack));
    assert_eq!(store.apply(adding(1)).await.unwrap(), Commit::Applied);
    assert_eq!(proxy.state(), Break::Never);
    assert!(exists(&direct, 1).await);
}

/// The server may still be committing when the store already knows that the connection is lost.
async fn arrives(store: &Store, number: u128) -> bool {
    for _ in 0..100 {
        if exists(store, number).await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_while_a_group_is_done_again_is_told_apart_too() {
    let (url, direct) = fresh().await;
    add(&direct, 1).await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 1))).await.unwrap();
    add(&store, 2).await;
    proxy.breaks(Break::BeforeCommit);
    let answers = join_all([10, 1, 11, 12].map(|number| store.apply(adding(number)))).await;
    for (number, answer) in [10, 1, 11, 12].into_iter().zip(&answers) {
        match answer {
            // A group of its own has its own answer.
            Ok(Commit::Refused(_)) => assert_eq!(number, 1),
            Ok(Commit::Unknown) | Err(StoreError::Unavailable(_)) => {}
            other => panic!("{number}: {other:?}"),
        }
    }
    proxy.breaks(Break::Never);
    wait_until_it_works(&store, 3).await;
    assert_eq!(count(&direct).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_lose_nothing_that_was_acknowledged() {
    let (url, store) = fresh().await;
    let database = url.rsplit('/').next().unwrap().to_owned();
    let writers = (0..8_u128).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut answers = Vec::new();
            for round in 0..60 {
                let number = 1000 + writer * 1000 + round;
                answers.push((number, store.apply(adding(number)).await));
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
            answers
        })
    });
    let writers: Vec<_> = writers.collect();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        let kill = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = '{database}' AND application_name = 'regente'"
        );
        TestPostgres::shared().administer(&kill).await;
    }
    let mut applied = 0;
    let answers: Vec<_> = join_all(writers).await.into_iter().flat_map(Result::unwrap).collect();
    wait_until_it_works(&store, 1).await;
    for (number, answer) in answers {
        match answer {
            Ok(Commit::Applied) => {
                applied += 1;
                assert!(found(&store, number).await, "{number} was acknowledged and is lost");
            }
            Ok(Commit::Unknown) => {}
            Err(StoreError::Unavailable(_)) => {
                assert!(!found(&store, number).await, "{number} was refused and is there");
            }
            other => panic!("{number}: {other:?}"),
        }
    }
    assert!(applied > 100, "{applied}");
    store.close().await;
}

/// Reads that lose their connection are repeated: the connections of the pool were killed too.
async fn found(store: &Store, number: u128) -> bool {
    for _ in 0..20 {
        match store.row(&FIND_THING, key(number)).await {
            Ok(row) => return row.is_some(),
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("reads did not recover");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_server_batches_are_refused_at_once() {
    let (url, _direct) = fresh().await;
    let (proxy, through) = Proxy::before(&url).await;
    let store = Store::open(StoreOptions::Postgres(options(&through, 2))).await.unwrap();
    proxy.breaks(Break::Always);
    for number in 0..20 {
        let answer = tokio::time::timeout(Duration::from_secs(2), store.apply(adding(number))).await;
        let answer = answer.expect("an answer without waiting");
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    }
    proxy.breaks(Break::Never);
    wait_until_it_works(&store, 100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_loses_a_deadlock_is_tried_again() {
    let (url, store) = fresh().await;
    add(&store, 1).await;
    add(&store, 2).await;
    let (other, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    // The store's own connection finds the circle first, and so is the one that the server rolls back.
    other.batch_execute("SET deadlock_timeout = '30s'; BEGIN").await.unwrap();
    other.batch_execute("UPDATE things SET n = n + 10 WHERE name = 'thing 0002'").await.unwrap();
    let mut both = Batch::new(CLIENT);
    both.push(&INCREMENT, key(1)).push(&INCREMENT, key(2));
    let applying = tokio::spawn({
        let store = store.clone();
        async move { store.apply(both).await }
    });
    // It holds the first thing and waits for the second.
    let waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' \
                 AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())";
    while other.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    other.batch_execute("UPDATE things SET n = n + 10 WHERE name = 'thing 0001'; COMMIT").await.unwrap();
    assert_eq!(applying.await.unwrap().unwrap(), Commit::Applied);
    assert_eq!((n_of(&store, 1).await, n_of(&store, 2).await), (11, 11));
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_batches_share_a_commit() {
    let (url, store) = fresh().await;
    for answer in join_all((0..64).map(|number| store.apply(adding(number)))).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    let commits = transactions(&url).await;
    assert!(commits.len() < 16, "64 batches took {} commits", commits.len());
    store.close().await;
}

/// Also where rows of one account alone may share a statement.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_several_clients_share_a_commit() {
    let (url, first) = fresh().await;
    first.close().await;
    let options = PostgresOptions { placement: Some(Placement::ByClient), ..options(&url, 2) };
    let store = Store::open(StoreOptions::Postgres(options)).await.unwrap();
    let batches = (0..64).map(|number| {
        let client_id = ClientId::new(Uuid::from_u128(number % 4 + 1));
        let mut batch = Batch::new(client_id);
        batch.push(&ADD_THING, thing_of(client_id, number));
        store.apply(batch)
    });
    for answer in join_all(batches).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    let commits = transactions(&url).await;
    assert!(commits.iter().any(|clients| clients.len() > 1), "{commits:?}");
    assert!(commits.len() < 16, "64 batches took {} commits", commits.len());
    store.close().await;
}

/// The clients of each transaction that wrote things.
async fn transactions(url: &str) -> Vec<HashSet<String>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let rows = client.query("SELECT xmin::text, client_id::text FROM things", &[]).await.unwrap();
    let mut by_transaction = std::collections::HashMap::<String, HashSet<String>>::new();
    for row in rows {
        by_transaction.entry(row.get(0)).or_default().insert(row.get(1));
    }
    by_transaction.into_values().collect()
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_ended_by_the_server() {
    let (url, _store) = fresh().await;
    let (other, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let hasty = PostgresOptions { read_timeout: Duration::from_millis(50), ..options(&url, 1) };
    let store = Store::open(StoreOptions::Postgres(hasty)).await.unwrap();
    assert!(!exists(&store, 1).await);
    other.batch_execute("BEGIN; LOCK TABLE things").await.unwrap();
    let locked = store.rows(&FIND_THING, key(1)).await;
    assert!(matches!(locked, Err(StoreError::Unavailable(_))), "{locked:?}");
    other.batch_execute("COMMIT").await.unwrap();
    assert!(!exists(&store, 1).await, "the connection works again");
}

#[tokio::test]
async fn wrong_addresses_are_said_at_the_start() {
    let (url, _store) = fresh().await;
    let wrong = [
        "mysql://127.0.0.1/x".to_owned(),
        "postgres://127.0.0.1/x?sslmode=sometimes".to_owned(),
        url.replace("/test_", "/nothing_"),
    ];
    for url in wrong {
        let opened = Store::open(StoreOptions::Postgres(options(&url, 1))).await;
        assert!(matches!(opened, Err(StoreError::Configuration(_))), "{url}: {opened:?}");
    }
    let nobody = Store::open(StoreOptions::Postgres(options("postgres://x@127.0.0.1:1/x", 1))).await;
    assert!(matches!(nobody, Err(StoreError::Unavailable(_))), "{nobody:?}");
    // This server speaks no TLS: the connection is refused and never made without.
    let encrypted = Store::open(StoreOptions::Postgres(options(&format!("{url}?sslmode=require"), 1))).await;
    assert!(
        matches!(encrypted, Err(StoreError::Unavailable(_) | StoreError::Configuration(_))),
        "{encrypted:?}"
    );
    let too_many = Store::open(StoreOptions::Postgres(options(&url, 17))).await;
    assert!(matches!(too_many, Err(StoreError::Configuration(_))), "{too_many:?}");
}

#[tokio::test]
async fn an_address_is_not_printed() {
    let options = PostgresOptions::new("postgres://regente:secret@127.0.0.1/regente");
    assert!(!format!("{options:?}").contains("secret"));
    let (_url, store) = fresh().await;
    assert!(!format!("{store:?}").contains("127.0.0.1"));
}

/// All of them wait behind one writer, so that most share a commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_are_written_as_one_statement_are_answered_each() {
    let (url, direct) = fresh().await;
    for number in 0..40 {
        add(&direct, number).await;
    }
    let store = Store::open(StoreOptions::Postgres(options(&url, 1))).await.unwrap();
    let batches = (0..40).map(|number| {
        let mut batch = Batch::new(CLIENT);
        // Every tenth comes too late, and must not take its neighbours along.
        let version = if number % 10 == 9 { 7 } else { 0 };
        batch.guard(&SET_N, set_n(number, i64::try_from(number).unwrap(), version));
        batch.push(&ADD_THING, thing(100 + number));
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (0..40).zip(answers) {
        if number % 10 == 9 {
            assert_eq!(answer.unwrap(), missed("SET_N", 0), "{number}");
            assert!(!exists(&direct, 100 + number).await);
        } else {
            assert_eq!(answer.unwrap(), Commit::Applied, "{number}");
            assert_eq!(n_of(&direct, number).await, i64::try_from(number).unwrap());
            assert!(exists(&direct, 100 + number).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_batches_of_a_group_cannot_both_change_the_same_row() {
    let (url, direct) = fresh().await;
    let store = Store::open(StoreOptions::Postgres(options(&url, 1))).await.unwrap();
    for number in 0..20 {
        add(&direct, number).await;
    }
    let batches = (0..40).map(|at| {
        let mut batch = Batch::new(CLIENT);
        batch.guard(&SET_N, set_n(at / 2, 1 + i64::try_from(at % 2).unwrap(), 0));
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, pair) in (0..20).zip(answers.chunks(2)) {
        let winners: Vec<i64> = (1..)
            .zip(pair)
            .filter(|(_, answer)| matches!(answer, Ok(Commit::Applied)))
            .map(|(n, _)| n)
            .collect();
        assert_eq!(winners, [n_of(&direct, number).await], "{pair:?}");
    }
}
