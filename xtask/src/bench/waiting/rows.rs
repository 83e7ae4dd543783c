//! What waits, written by SQL: rows of a time in the far future, of many accounts and of the one that is measured.

use regente_engine::queue::Queue;
use regente_store::DatabaseKind;

use crate::place::Account;

/// Accounts of which something waits, besides the measured one.
const ACCOUNTS: u64 = 1_000;
/// When what waits is due, in milliseconds since 1970: in the year 2223.
const FAR: &str = "8000000000000";

/// The words of a database for numbers, ids and bytes.
struct Words {
    /// The numbers from 1 to `{to}` as `n`.
    numbers: &'static str,
    /// An id that is made of `n`, of a later time than any: purges read ids of old ones.
    id: &'static str,
    /// An account of [`ACCOUNTS`].
    one_of_many: String,
    /// Bytes that are made of `n`.
    digest: &'static str,
    no_bytes: &'static str,
}

impl Words {
    fn of(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self {
                numbers: "(WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {to}) SELECT n FROM up) up",
                id: "unhex(printf('7fff%028x', n))",
                one_of_many: format!("unhex(printf('%032x', {{n}} % {ACCOUNTS} + 1))"),
                digest: "unhex(printf('%064x', n))",
                no_bytes: "x''",
            },
            DatabaseKind::Postgres => Self {
                numbers: "generate_series(1, {to}) n",
                id: "('7fff' || lpad(to_hex(n), 28, '0'))::uuid",
                one_of_many: format!("lpad(to_hex({{n}} % {ACCOUNTS} + 1), 32, '0')::uuid"),
                digest: "decode(lpad(to_hex(n), 64, '0'), 'hex')",
                no_bytes: "''",
            },
        }
    }

    fn numbers(&self, to: u64) -> String {
        self.numbers.replace("{to}", &to.to_string())
    }

    fn account(kind: DatabaseKind, account: &Account) -> String {
        let id = &account.client_id;
        match kind {
            DatabaseKind::Sqlite => format!("unhex('{}')", id.replace('-', "")),
            DatabaseKind::Postgres => format!("'{id}'::uuid"),
        }
    }
}

/// Writes accounts with a webhook each, and as many jobs of all queues, requests, deliveries, idempotency keys and tokens that wait. Half of
/// the rows are of `account`.
pub(super) fn waiting(kind: DatabaseKind, account: &Account, rows: u64) -> String {
    let words = Words::of(kind);
    let Words { id, one_of_many, digest, no_bytes, .. } = &words;
    // Account by account, so that the rows of one are beside one another in indexes while they are written.
    let own = Words::account(kind, account);
    let of_others = one_of_many.replace("{n}", &format!("(n * {ACCOUNTS} * 2 / {rows})"));
    let client = format!("CASE WHEN n > {rows} / 2 THEN {own} ELSE {of_others} END");
    let one_of_many = one_of_many.replace("{n}", "n");
    let (accounts, rows) = (words.numbers(ACCOUNTS), words.numbers(rows));
    // The current key: what is sealed with another one would be sealed anew.
    let key = format!("(SELECT key_id FROM clients WHERE id = {own})");
    let queues = Queue::ALL.into_iter().enumerate();
    let queues: String = queues.map(|(at, queue)| format!("WHEN {at} THEN '{}' ", queue.word())).collect();
    let number_of_queues = Queue::ALL.len();
    format!(
        "INSERT INTO clients (id, name, status, secret, key_id, doc, version, updated_at)
         SELECT {one_of_many}, 'waits', 'active', {no_bytes}, {key}, '{{}}', 1, 0 FROM {accounts};
         INSERT INTO webhooks (id, client_id, event, endpoint, api_version, active, public_key, key_id, lost_in_a_row,
             version, updated_at)
         SELECT id, id, 'charge.refunded', 'https://example.com/', 'v1', 1, {no_bytes}, {key}, 0, 1, 0 FROM clients;
         INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
         SELECT {id}, {client}, 'expire_reservation', CASE n % {number_of_queues} {queues} END, n, '{{}}',
             {FAR} + n, 0, 1 FROM {rows};
         INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, provider_id, provider_type,
             request_type, status, amount, due_at, probes, actor, updated_at)
         SELECT {id}, 1, {client}, {id}, 'charge', {id}, 'SANDBOX', 'authorization',
             CASE WHEN n % 50 = 0 THEN 'running' ELSE 'awaiting_payer' END, 1, {FAR} + n,
             CASE WHEN n % 50 = 0 THEN 1 ELSE 0 END, 'api', 0 FROM {rows};
         INSERT INTO deliveries (id, client_id, webhook_id, event_id, event, object_id, object_version, ordinal,
             api_version, status, attempts, tries, due_at, updated_at)
         SELECT {id}, {client}, {client}, {id}, 'charge.refunded', {id}, 1, 0, 'v1', 'pending', 0, 0, {FAR} + n, 0
         FROM {rows};
         INSERT INTO idempotency (digest, client_id, fingerprint, state, expires_at)
         SELECT {id}, {client}, {no_bytes}, 'done', {FAR} + n FROM {rows};
         INSERT INTO tokens (digest, client_id, kind, sealed, key_id, expires_at, actor)
         SELECT {digest}, {client}, 'card', {no_bytes}, {key}, {FAR} + n, 'api' FROM {rows};"
    )
}

/// Writes idempotency keys of `account` that have expired.
pub(super) fn expired_keys(kind: DatabaseKind, account: &Account, rows: u64) -> String {
    let words = Words::of(kind);
    let (digest, no_bytes) = (words.id.replace("7fff", "7ffe"), words.no_bytes);
    let (own, rows) = (Words::account(kind, account), words.numbers(rows));
    format!(
        "INSERT INTO idempotency (digest, client_id, fingerprint, state, expires_at)
         SELECT {digest}, {own}, {no_bytes}, 'done', 1 + n FROM {rows};"
    )
}
