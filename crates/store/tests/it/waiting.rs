//! Waiting is cheap: what looks for due work over all accounts, purges or counts reads no row that only waits, and a bounded
//! number of those that are due.

use regente_store::testing::{self, TestDatabase};
use regente_store::{DatabaseKind, Sql, Store};

use crate::distribution::looks_over_all_accounts;

/// Statements that look for what is due, each with the part of SQLite's plan in which they find it.
const LOOKS: [(&str, &str); 25] = [
    ("CLIENTS_OF_DUE_REQUESTS", "transaction_requests_under_way (due_at>? AND due_at<?)"),
    ("CLIENTS_OF_DUE_REQUESTS", "transaction_requests_unknown (due_at>? AND due_at<?)"),
    ("CLIENTS_OF_DUE_REQUESTS", "transaction_requests_waiting (due_at>? AND due_at<?)"),
    ("FIRST_REQUEST", "transaction_requests_of_client (client_id=? AND due_at>?)"),
    ("DUE_TRANSACTION_REQUESTS", "transaction_requests_under_way (due_at>? AND due_at<?)"),
    ("DUE_TRANSACTION_REQUESTS", "transaction_requests_of_client (client_id=? AND due_at>? AND due_at<?)"),
    ("UNKNOWN_TRANSACTION_REQUESTS", "transaction_requests_unknown (due_at>?)"),
    ("UNKNOWN_TRANSACTION_REQUESTS", "transaction_requests_under_way (due_at>? AND due_at<?)"),
    ("OPEN_TRANSACTION_REQUESTS", "transaction_requests_unknown (due_at>?)"),
    ("OPEN_TRANSACTION_REQUESTS", "transaction_requests_under_way (due_at>? AND due_at<?)"),
    ("CLIENTS_OF_DUE_JOBS", "jobs_due (lane=? AND run_at<?)"),
    ("FIRST_JOB", "jobs_of_client (client_id=? AND lane=?)"),
    ("DUE_JOBS", "jobs_of_client (client_id=? AND lane=? AND run_at<?)"),
    ("DUE_JOBS_BACKLOG", "jobs_due (lane=? AND run_at<?)"),
    ("CLIENTS_WITH_FOREIGN_LEASES", "jobs_leased"),
    ("NEXT_DUE_OF_ACCOUNT", "jobs_of_client (client_id=? AND lane=? AND run_at>?)"),
    ("NEXT_DUE_OF_ACCOUNT", "transaction_requests_of_client (client_id=? AND due_at>?)"),
    ("WEBHOOKS_WITH_DUE_DELIVERIES", "deliveries_due (webhook_id=? AND client_id=? AND due_at>?)"),
    ("WEBHOOKS_OF_CLIENT_WITH_DUE_DELIVERIES", "deliveries_due (webhook_id=? AND client_id=? AND due_at>?)"),
    ("DUE_DELIVERIES", "deliveries_due (webhook_id=? AND client_id=? AND due_at<?)"),
    ("NEXT_DUE_DELIVERY_OF_ACCOUNT", "deliveries_due (webhook_id=? AND client_id=? AND due_at>?)"),
    (
        "ATTEMPTS_UNDER_WAY_OF_ACCOUNT",
        "deliveries_due (webhook_id=? AND client_id=? AND due_at>? AND due_at<?)",
    ),
    ("EVENTS_TO_DISPATCH", "events_to_dispatch (client_id=?)"),
    ("EXPIRED_KEYS", "idempotency_by_expiry (expires_at<?)"),
    ("CLIENTS_WITH_EXPIRED_TOKENS", "tokens_by_expiry (expires_at<?)"),
];

/// Statements whose page is read in the order of an index: sorting it would read all rows first.
const IN_ORDER: [&str; 4] = ["DUE_JOBS", "DUE_DELIVERIES", "EVENTS_TO_DISPATCH", "EXPIRED_KEYS_OF"];

/// Asked for the first that is due of an account, or of its webhook: a join would read all that waits there to answer with one row.
const FIRST_OF_ACCOUNT: [&str; 2] = ["NEXT_DUE_DELIVERY_OF_ACCOUNT", "BACKLOG_OF_WEBHOOK"];

/// Asked where one process owns the database.
const ONLY_ON_SQLITE: &str = "CLIENTS_WITH_FOREIGN_LEASES";

/// Statements over all accounts that have no limit, each with what bounds it.
const UNLIMITED: [(&str, &str); 2] = [
    (ONLY_ON_SQLITE, "the jobs under way, once at the start"),
    ("NEXT_DISPATCH", "events that are not dispatched yet, which they are within seconds"),
];

/// Statements that read what is older than its retention, once an hour, in the order of ids. Of a small table PostgreSQL reads
/// all instead.
const OLD: [&str; 2] = ["OLD_EVENTS", "ENDED_DELIVERIES"];

/// The tables in which much waits.
const TABLES: [&str; 5] = ["jobs", "transaction_requests", "deliveries", "events", "idempotency"];

/// 200 accounts with a webhook each, and 20 000 requests, jobs and deliveries that are due in a hundred years.
const MANY_WAIT: &str = "
    INSERT INTO clients (id, name, status, secret, key_id, doc, version, updated_at)
    SELECT md5('c' || n)::uuid, 'c', 'active', '', md5('k')::uuid, '{}', 1, 0 FROM generate_series(1, 200) n;
    INSERT INTO webhooks (id, client_id, event, endpoint, api_version, active, public_key, key_id, lost_in_a_row, version,
        updated_at)
    SELECT md5('w' || n)::uuid, md5('c' || n)::uuid, '*', 'e', 'v1', 1, '', md5('k')::uuid, 0, 1, 0
    FROM generate_series(1, 200) n;
    INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
    SELECT md5('j' || n)::uuid, md5('c' || n % 200 + 1)::uuid, 'k', 'q' || n % 6, n, '', 4000000000000 + n, 0, 1
    FROM generate_series(1, 20000) n;
    INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, provider_id, provider_type,
        request_type, status, amount, due_at, probes, actor, updated_at)
    SELECT md5('r' || n)::uuid, 1, md5('c' || n % 200 + 1)::uuid, md5('r' || n)::uuid, 'charge', md5('p')::uuid,
        'SANDBOX', 'authorization', CASE n % 100 WHEN 0 THEN 'running' ELSE 'awaiting_payer' END, 1,
        4000000000000 + n, 0, 'a', 0
    FROM generate_series(1, 20000) n;
    INSERT INTO deliveries (id, client_id, webhook_id, event_id, event, object_id, object_version, ordinal, api_version,
        status, attempts, tries, due_at, updated_at)
    SELECT md5('d' || n)::uuid, md5('c' || n % 200 + 1)::uuid, md5('w' || n % 200 + 1)::uuid, md5('e' || n)::uuid, 'e',
        md5('r' || n)::uuid, 1, 0, 'v1', 'pending', 0, 0, 4000000000000 + n, 0
    FROM generate_series(1, 20000) n;
    INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot, dispatch_at)
    SELECT md5('r' || n)::uuid, 1, 0, md5('c' || n % 200 + 1)::uuid, md5('e' || n)::uuid, 'charge', 'e', 'a', '{}',
        4000000000000 + n
    FROM generate_series(1, 20000) n;
    INSERT INTO idempotency (digest, client_id, fingerprint, state, expires_at)
    SELECT md5('i' || n)::uuid, md5('c' || n % 200 + 1)::uuid, '', 'done', 4000000000000 + n
    FROM generate_series(1, 20000) n;
    ANALYZE;";

#[tokio::test]
async fn what_is_due_is_found_by_an_index_on_sqlite() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let mut wrong = Vec::new();
    for (name, part) in LOOKS {
        let plan = plan_of(&store, name).await;
        if !plan.contains(part) {
            wrong.push(format!("{name}, without {part}:\n{plan}"));
        }
    }
    for name in IN_ORDER {
        let plan = plan_of(&store, name).await;
        if plan.contains("TEMP B-TREE") {
            wrong.push(format!("{name}:\n{plan}"));
        }
    }
    store.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_is_due_is_found_by_an_index_on_postgres() {
    let database = TestDatabase::fresh(DatabaseKind::Postgres).await;
    let store = database.open().await;
    testing::run_script(&store, MANY_WAIT).await.unwrap();
    let looks = LOOKS.into_iter().map(|(name, _)| name).chain(looks_over_all_accounts());
    let mut wrong = Vec::new();
    for name in looks.filter(|name| !is_unlimited(name) && !OLD.contains(name)) {
        let plan = plan_of(&store, name).await;
        if TABLES.iter().any(|table| plan.contains(&format!("Seq Scan on {table}"))) {
            wrong.push(format!("{name}:\n{plan}"));
        }
    }
    for name in FIRST_OF_ACCOUNT {
        let plan = plan_of(&store, name).await;
        if plan.contains("Join") || !plan.contains("deliveries_by_object") {
            wrong.push(format!("{name}:\n{plan}"));
        }
    }
    store.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whoever adds a look, a purge or a gauge over all accounts names it as an exception in `distribution.rs`, and meets this.
#[tokio::test]
async fn what_looks_over_all_accounts_reads_a_bounded_number_of_rows() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let mut wrong = Vec::new();
    for name in looks_over_all_accounts() {
        let plan = plan_of(&store, name).await;
        let has_limit = text_of(name).contains("LIMIT");
        let sorts =
            ["ORDER BY", "DISTINCT"].iter().any(|why| plan.contains(&format!("TEMP B-TREE FOR {why}")));
        if has_limit == is_unlimited(name) || sorts {
            wrong.push(format!("{name}:\n{plan}"));
        }
    }
    store.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_unlimited(name: &str) -> bool {
    UNLIMITED.iter().any(|(known, _)| *known == name)
}

fn text_of(name: &str) -> &'static str {
    statement(name).text(DatabaseKind::Sqlite)
}

async fn plan_of(store: &Store, name: &str) -> String {
    testing::query_plan(store, statement(name)).await.unwrap()
}

fn statement(name: &str) -> &'static Sql {
    Sql::catalog().find(|sql| sql.name() == name).unwrap_or_else(|| panic!("no statement {name}"))
}
