//! Which accounts have something due: also those behind an account that has very much of it.

use std::fmt::Write as _;
use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use regente_store::due::{self, Found, SEARCHED_MAX};
use regente_store::idempotency::{self, Claim};
use regente_store::jobs::{self, Due};
use regente_store::sealed::Sealed;
use regente_store::testing::{self, TEST_TIME};
use regente_store::{Batch, Commit, DatabaseKind, Store, accounts, deliveries, tokens, transaction_requests};
use uuid::Uuid;

use crate::things::CLIENT;

on_both!(
    an_account_behind_the_backlog_of_another_is_found,
    every_account_is_searched_in_its_turn,
    counts_end_where_a_backlog_is_too_long,
    a_claim_that_is_kept_is_not_read_again_before_its_time,
    what_has_expired_is_deleted_from_the_first_on,
);

const NOBODY: ClientId = ClientId::new(Uuid::nil());
const BUSY: u128 = 1;
const QUEUE: &str = "money";
/// More than a look reads.
const MANY: i64 = 5_000;

async fn an_account_behind_the_backlog_of_another_is_found(store: Store) {
    add_accounts(&store, 3).await;
    add_due(&store, BUSY, 10, 0).await;
    add_due(&store, 3, 1, 10_000).await;
    // What is due later, and of another queue, plays no part.
    add_due(&store, 2, MANY, 1_000_000).await;
    let few = Found { clients: vec![account(BUSY), account(3)], searched_to: None };
    assert_eq!(jobs_of(&store, NOBODY).await, few);
    assert_eq!(requests_of(&store, account(2)).await, few);

    add_due(&store, BUSY, MANY, 20).await;
    let many = Found { clients: vec![NOBODY, account(BUSY), account(3)], searched_to: Some(due::END) };
    assert_eq!(jobs_of(&store, NOBODY).await, many);
    assert_eq!(requests_of(&store, NOBODY).await, many);
    // The work of the other one is read without that of the busy one before it.
    let due = jobs::due(&store, account(3), Due { queue: QUEUE, now: NOW }, 5).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(transaction_requests::due(&store, account(3), NOW, 5).await.unwrap().len(), 1);
}

async fn every_account_is_searched_in_its_turn(store: Store) {
    let accounts = u128::try_from(SEARCHED_MAX).unwrap() * 2 + 20;
    add_accounts(&store, accounts).await;
    add_due(&store, BUSY, MANY, 0).await;
    add_due(&store, accounts, 1, 10_000).await;
    let (mut from, mut looks) = (NOBODY, 0);
    loop {
        let Found { clients, searched_to } = requests_of(&store, from).await;
        assert!(clients.contains(&account(BUSY)), "the first rows are known in each look");
        looks += 1;
        from = searched_to.unwrap();
        if clients.contains(&account(accounts)) {
            assert_eq!(from, due::END);
            break;
        }
    }
    assert_eq!(looks, 3, "of {accounts} accounts, {SEARCHED_MAX} in each look");
}

async fn counts_end_where_a_backlog_is_too_long(store: Store) {
    add_accounts(&store, 1).await;
    add_due(&store, BUSY, due::COUNTED_MAX * 2 + 10, 0).await;
    let backlog = jobs::backlog(&store, &[QUEUE, "sessions"], NOW).await.unwrap();
    assert_eq!((backlog.due, backlog.oldest_due), (due::COUNTED_MAX as u64, Some(TEST_TIME)));
    let unknown = transaction_requests::unknown(&store, NOW).await.unwrap();
    assert_eq!(
        (unknown.open, unknown.oldest),
        (due::COUNTED_MAX as u64, Some(TEST_TIME + Duration::from_millis(1)))
    );
    assert_eq!(deliveries::backlog(&store, NOW).await.unwrap().due, 0);
}

async fn a_claim_that_is_kept_is_not_read_again_before_its_time(store: Store) {
    let digest = Uuid::from_u128(7);
    let mut batch = Batch::new(CLIENT);
    let claim = Claim { digest, fingerprint: [7; 32] };
    idempotency::claim_running(&mut batch, &claim, "purchase", Uuid::from_u128(8), TEST_TIME);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    let everybody = accounts::Accounts::AllBut(Vec::new());
    let expired = async |now| idempotency::expired(&store, &everybody, now, 10).await.unwrap();
    let found = expired(NOW).await;
    assert_eq!(
        found.iter().map(|(client_id, key)| (*client_id, key.moved_at)).collect::<Vec<_>>(),
        [(CLIENT, Some(NOW))]
    );
    let until = NOW + Duration::from_secs(60);
    let mut batch = Batch::new(CLIENT);
    idempotency::keep(&mut batch, digest, NOW, until);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(expired(NOW).await, []);
    assert_eq!(expired(until).await.len(), 1);

    // Once it has ended with a body, nothing keeps it.
    let mut batch = Batch::new(CLIENT);
    let body = Sealed { key_id: Uuid::from_u128(9), bytes: vec![9] };
    idempotency::end_with_body(&mut batch, digest, 201, body, until);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(expired(until).await[0].1.moved_at, None);
}

async fn what_has_expired_is_deleted_from_the_first_on(store: Store) {
    let [one, other] = [account(1), account(2)];
    for (client_id, byte, seconds) in [(one, 1, 1), (other, 2, 2), (one, 3, 3), (other, 4, 4)] {
        let mut batch = Batch::new(client_id);
        let sealed = Sealed { key_id: Uuid::from_u128(9), bytes: vec![byte] };
        let token = tokens::StoredToken { kind: tokens::TokenKind::Card, sealed };
        let expires_at = TEST_TIME + Duration::from_secs(seconds);
        tokens::insert(&mut batch, [byte; 32], token, expires_at, &Actor::Job("k"));
        assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    }
    let everybody = accounts::Accounts::AllBut(Vec::new());
    let first = async |limit| {
        let mut found = tokens::EXPIRING.clients(&store, &everybody, NOW, limit).await.unwrap();
        found.sort_by_key(|expired| expired.client_id);
        found.into_iter().map(|expired| (expired.client_id, expired.until)).collect::<Vec<_>>()
    };
    let at = |seconds| TEST_TIME + Duration::from_secs(seconds);
    assert_eq!(first(3).await, [(one, at(3)), (other, at(2))], "the first three");
    let mut batch = Batch::new(other);
    tokens::EXPIRING.purge(&mut batch, at(2), 10);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(first(10).await, [(one, at(3)), (other, at(4))]);
}

/// Everything of the tests is due by then, but for what is due in a thousand seconds.
const NOW: Timestamp = Timestamp::from_millis(TEST_TIME.as_millis() + 100_000);

async fn jobs_of(store: &Store, from: ClientId) -> Found {
    jobs::clients_with_due(store, Due { queue: QUEUE, now: NOW }, from).await.unwrap()
}

async fn requests_of(store: &Store, from: ClientId) -> Found {
    transaction_requests::clients_with_due(store, NOW, from).await.unwrap()
}

fn account(number: u128) -> ClientId {
    Id::new(Uuid::from_u128(number))
}

async fn add_accounts(store: &Store, accounts: u128) {
    let empty = match store.database_kind() {
        DatabaseKind::Sqlite => "x''",
        DatabaseKind::Postgres => "''",
    };
    let mut rows = String::new();
    for number in 1..=accounts {
        let id = literal(store, Uuid::from_u128(number));
        let separator = if number > 1 { ", " } else { "" };
        write!(rows, "{separator}({id}, 'c', 'active', {empty}, {id}, '{{}}', 1, 0)").unwrap();
    }
    let script = format!(
        "INSERT INTO clients (id, name, status, secret, key_id, doc, version, updated_at) VALUES {rows}"
    );
    testing::run_script(store, &script).await.unwrap();
}

/// Adds jobs of a queue, as many of another one, and as many requests, all due from so many milliseconds on. Half of the
/// requests run.
async fn add_due(store: &Store, number: u128, rows: i64, millis: i64) {
    let client = literal(store, Uuid::from_u128(number));
    let (numbers, id) = match store.database_kind() {
        DatabaseKind::Sqlite => (
            format!("WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {rows})"),
            "randomblob(16)",
        ),
        DatabaseKind::Postgres => {
            (format!("WITH up AS (SELECT n FROM generate_series(1, {rows}) n)"), "gen_random_uuid()")
        }
    };
    let first = TEST_TIME.as_millis() + millis;
    let script = format!(
        "{numbers} INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
         SELECT {id}, {client}, 'k', '{QUEUE}', '{millis}-' || n, '{{}}', {first} + n - 1, 0, 1 FROM up;
         {numbers} INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, provider_id,
             provider_type, request_type, status, amount, due_at, probes, actor, updated_at)
         SELECT {id}, 1, {client}, {id}, 'charge', {id}, 'SANDBOX', 'authorization',
             CASE n % 2 WHEN 0 THEN 'running' ELSE 'processing' END, 1, {first} + n - 1, n % 4 / 2, 'api', {first} + n - 1 - n % 2
         FROM up"
    );
    testing::run_script(store, &script).await.unwrap();
}

fn literal(store: &Store, id: Uuid) -> String {
    match store.database_kind() {
        DatabaseKind::Sqlite => format!("x'{}'", id.simple()),
        DatabaseKind::Postgres => format!("'{id}'"),
    }
}
