//! Requests whose outcome is looked up: which are due, who looks, and when nobody looks any more.
//!
//! A request with a due date is one of three kinds, each with an index by the due date: under way, unless its process has died;
//! unknown, once it was asked about or is known to be open; or waiting for somebody, mostly for its payer. Those that are no longer
//! under way also have an index by the account. So a charge by card enters one small index alone. Statements ask for each kind
//! by itself, in the words of its index.

use regente_domain::charge::attempt::{OpenReason, TransactionRequest};
use regente_domain::id::{ClientId, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::row::{from_row, from_rows};
use super::{Beginning, StoredRequest, columns, insert};
use crate::batch::Batch;
use crate::due::{COUNTED_MAX, Found, Look};
use crate::value::Args;
use crate::{Store, StoreError, args, sql};

macro_rules! under_way {
    () => {
        "due_at IS NOT NULL AND status = 'running' AND probes = 0 AND open_reason IS NULL"
    };
}

macro_rules! unknown {
    () => {
        "due_at IS NOT NULL AND status = 'running' AND (probes > 0 OR open_reason IS NOT NULL)"
    };
}

macro_rules! waiting {
    () => {
        "due_at IS NOT NULL AND status <> 'running'"
    };
}

// Unknown or waiting.
macro_rules! not_under_way {
    () => {
        "due_at IS NOT NULL AND (status <> 'running' OR probes > 0 OR open_reason IS NOT NULL)"
    };
}
pub(crate) use {not_under_way, under_way};

// The first requests of a kind, longest waiting first.
macro_rules! first {
    ($columns:expr, $of:expr, $limit:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM (SELECT ",
            $columns,
            " FROM transaction_requests WHERE ",
            $of,
            " ORDER BY due_at ",
            $limit,
            ") first"
        )
    };
}

sql! {
    /// The clients of the first requests whose probe is due, each with their number.
    CLIENTS_OF_DUE_REQUESTS = concat!("SELECT client_id, COUNT(*) AS n FROM (",
        first!("client_id", concat!("REACHABLE(client_id) AND ", under_way!(), " AND due_at <= :now"), "LIMIT :rows"), " UNION ALL ",
        first!("client_id", concat!("REACHABLE(client_id) AND ", unknown!(), " AND due_at <= :now"), "LIMIT :rows"), " UNION ALL ",
        first!("client_id", concat!("REACHABLE(client_id) AND ", waiting!(), " AND due_at <= :now"), "LIMIT :rows"), ") due GROUP BY client_id");
    /// When the first request of a client is due that is not under way.
    FIRST_REQUEST = concat!("SELECT due_at FROM transaction_requests WHERE client_id = :client_id AND ",
        not_under_way!(), " ORDER BY due_at LIMIT 1");
    /// The due requests of one client, longest waiting first. Those that are still under way are few, of whichever client: a process
    /// that died had them in hand.
    DUE_TRANSACTION_REQUESTS = concat!(
        first!(columns!(), concat!("client_id = :client_id AND ", under_way!(), " AND due_at <= :now"), "LIMIT :limit"),
        " UNION ALL ",
        first!(columns!(), concat!("client_id = :client_id AND ", not_under_way!(), " AND due_at <= :now"), "LIMIT :limit"),
        " ORDER BY due_at LIMIT :limit");
    /// When the next probe is due.
    NEXT_DUE_TRANSACTION_REQUEST = "
        SELECT client_id, MIN(due_at) AS due_at FROM transaction_requests
        WHERE due_at IS NOT NULL GROUP BY client_id";
    /// Claims a due request: the node that moves its due date asks the provider.
    CLAIM_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = :next_due_at, probes = probes + 1
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Claims a request that is sent again.
    CLAIM_TRANSACTION_REQUEST_TO_SEND = "
        UPDATE transaction_requests SET due_at = :next_due_at, probes = probes + 1, sent_at = :sent_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Records why a request is still open, when it was last sent, and when its probe is due.
    NOTE_OPEN_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET open_reason = :open_reason, sent_at = :sent_at, due_at = :due_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends probing of an open request until an operator resumes it.
    GIVE_UP_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = NULL, given_up_at = :given_up_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Restarts the probe schedule of a request.
    RESUME_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = :due_at, given_up_at = NULL, probes = 0
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id
          AND given_up_at IS NOT NULL";
    /// Counts the requests with an unknown outcome that are still probed, up to a number, and finds the oldest of them.
    UNKNOWN_TRANSACTION_REQUESTS = concat!("SELECT COUNT(*) AS n, MIN(updated_at) AS oldest FROM (",
        first!("updated_at", concat!("REACHABLE(client_id) AND ", unknown!()), "LIMIT :counted"), " UNION ALL ",
        first!("updated_at", concat!("REACHABLE(client_id) AND ", under_way!(), " AND due_at <= :now"), "LIMIT :counted"), " LIMIT :counted) open");
    /// Counts the requests with an unknown outcome whose probing ended, up to a number.
    UNKNOWN_FOR_GOOD = "
        SELECT COUNT(*) AS n, MIN(updated_at) AS oldest FROM (
            SELECT updated_at FROM transaction_requests WHERE REACHABLE(client_id) AND given_up_at IS NOT NULL
            ORDER BY given_up_at LIMIT :counted) first";
    /// Requests with an unknown outcome that are still probed, longest waiting first.
    OPEN_TRANSACTION_REQUESTS = concat!(
        first!(columns!(), concat!("REACHABLE(client_id) AND ", unknown!()), "LIMIT :limit"), " UNION ALL ",
        first!(columns!(), concat!("REACHABLE(client_id) AND ", under_way!(), " AND due_at <= :now"), "LIMIT :limit"), " ORDER BY due_at LIMIT :limit");
    /// Requests with an unknown outcome whose probing ended, longest waiting first.
    GIVEN_UP_TRANSACTION_REQUESTS = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE REACHABLE(client_id) AND given_up_at IS NOT NULL ORDER BY given_up_at LIMIT :limit");
    /// A request at one provider that is under way; one that the provider has named, if there is.
    UNDER_WAY_AT_PROVIDER = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND ", under_way!(), "
        ORDER BY CASE WHEN transaction_id IS NULL THEN 1 ELSE 0 END, due_at LIMIT 1");
    /// The same of those whose outcome, or whose payer, is waited for.
    WAITING_AT_PROVIDER = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND ", not_under_way!(), "
        ORDER BY CASE WHEN transaction_id IS NULL THEN 1 ELSE 0 END, due_at LIMIT 1");
    /// The same of those whose probing ended.
    GIVEN_UP_AT_PROVIDER = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND given_up_at IS NOT NULL
        ORDER BY CASE WHEN transaction_id IS NULL THEN 1 ELSE 0 END, given_up_at LIMIT 1");
    /// The authorization of a reservation at one provider, among the charges from an id on.
    RESERVED_AT_PROVIDER = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND request_type = 'pre_authorization'
          AND transaction_id IS NOT NULL AND object_id IN (
              SELECT id FROM charges WHERE client_id = :client_id AND id >= :from AND status = 'pre_authorized')
        LIMIT 1");
    /// One of them; for operators, who name only the request.
    FIND_GIVEN_UP_TRANSACTION_REQUEST = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE REACHABLE(client_id) AND given_up_at IS NOT NULL AND id = :id");
}

/// A request that is open at a provider: one whose outcome or payer is waited for, one that was given up, or one that has
/// reserved money for a charge made since `reserved_since`. One that the provider has named, if there is.
pub async fn open_at_provider(
    store: &Store,
    client_id: ClientId,
    provider_id: ProviderId,
    reserved_since: Timestamp,
) -> Result<Option<StoredRequest>, StoreError> {
    let from = Uuid::from_u128(u128::try_from(reserved_since.as_millis()).unwrap_or_default() << 80);
    let args = || args! { client_id, provider_id };
    let mut found = Vec::new();
    for (sql, args) in [
        (&UNDER_WAY_AT_PROVIDER, args()),
        (&WAITING_AT_PROVIDER, args()),
        (&GIVEN_UP_AT_PROVIDER, args()),
        (&RESERVED_AT_PROVIDER, args().with("from", from)),
    ] {
        found.extend(store.row(sql, args).await?.as_ref().map(from_row).transpose()?);
    }
    let named = found.iter().position(|stored| stored.request.transaction_id().is_some());
    Ok(found.into_iter().nth(named.unwrap_or_default()))
}

/// Clients with probes due at `now`; while there are many, those from `from` on have their turn.
pub async fn clients_with_due(store: &Store, now: Timestamp, from: ClientId) -> Result<Found, StoreError> {
    let look = Look { first: &CLIENTS_OF_DUE_REQUESTS, of_one: &FIRST_REQUEST };
    look.take(store, args! {}, now, from).await
}

/// The requests of a client whose probe is due at `now`.
pub async fn due(
    store: &Store,
    client_id: ClientId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&DUE_TRANSACTION_REQUESTS, args! { client_id, now, limit }).await?)
}

/// When the next request is due, if any is.
pub async fn next_due(store: &Store) -> Result<Vec<(ClientId, Timestamp)>, StoreError> {
    let rows = store.rows(&NEXT_DUE_TRANSACTION_REQUEST, args! {}).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("due_at")?))).collect()
}

/// What the node that claims a due request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Probes the outcome.
    ToProbe,
    /// Sends the request again.
    ToSend {
        /// When it is sent.
        at: Timestamp,
    },
}

/// Claims a due request until `next_due_at`; the batch is refused when another node has claimed it.
pub fn claim(batch: &mut Batch, stored: &StoredRequest, claim: Claim, next_due_at: Timestamp) {
    let args = args! {
        object_id: stored.request.object_id,
        ordinal: stored.request.ordinal,
        client_id: stored.request.client_id,
        due_at: stored.due_at,
        next_due_at,
    };
    match claim {
        Claim::ToProbe => batch.guard(&CLAIM_TRANSACTION_REQUEST, args),
        Claim::ToSend { at } => batch.guard(&CLAIM_TRANSACTION_REQUEST_TO_SEND, args.with("sent_at", at)),
    };
}

/// Adds a request that is not sent until an operator resumes it.
pub fn insert_given_up(batch: &mut Batch, request: &TransactionRequest, beginning: Beginning<'_>) {
    insert(batch, request, beginning);
    let due_at = beginning.due_at;
    batch.push(&GIVE_UP_TRANSACTION_REQUEST, give_up_args(request, due_at, due_at));
}

/// Records why a request is still open, when it was last sent, and when its probe is due. Guards the batch: refused when
/// it has ended.
pub fn note_open(batch: &mut Batch, request: &TransactionRequest, reason: OpenReason, due_at: Timestamp) {
    batch.guard(
        &NOTE_OPEN_TRANSACTION_REQUEST,
        args! {
            object_id: request.object_id,
            ordinal: request.ordinal,
            client_id: request.client_id,
            open_reason: reason.word(),
            sent_at: request.sent_at,
            due_at,
        },
    );
}

/// Ends probing of a request that was due at `due_at`. Guards the batch.
pub fn give_up(batch: &mut Batch, request: &TransactionRequest, due_at: Timestamp, now: Timestamp) {
    batch.guard(&GIVE_UP_TRANSACTION_REQUEST, give_up_args(request, due_at, now));
}

fn give_up_args(request: &TransactionRequest, due_at: Timestamp, given_up_at: Timestamp) -> Args {
    args! {
        object_id: request.object_id,
        ordinal: request.ordinal,
        client_id: request.client_id,
        due_at,
        given_up_at,
    }
}

/// Restarts the probe schedule of a request. Guards the batch: refused when probing had not ended.
pub fn resume(batch: &mut Batch, request: &TransactionRequest, due_at: Timestamp) {
    batch.guard(
        &RESUME_TRANSACTION_REQUEST,
        args! {
            object_id: request.object_id,
            ordinal: request.ordinal,
            client_id: request.client_id,
            due_at,
        },
    );
}

/// Requests of all clients that were probed in vain or are overdue, longest waiting first.
pub async fn open(store: &Store, now: Timestamp, limit: i64) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&OPEN_TRANSACTION_REQUESTS, args! { now, limit }).await?)
}

/// Requests of all clients whose probing ended, longest waiting first.
pub async fn given_up(store: &Store, limit: i64) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&GIVEN_UP_TRANSACTION_REQUESTS, args! { limit }).await?)
}

/// Counts of requests of all clients with an unknown outcome; each ends at [`COUNTED_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Number of requests.
    pub open: u64,
    /// When the oldest began.
    pub oldest: Option<Timestamp>,
    /// Number of them whose probing ended.
    pub given_up: u64,
}

/// Counts what [`open`] and [`given_up`] list.
pub async fn unknown(store: &Store, now: Timestamp) -> Result<Unknown, StoreError> {
    let count = async |sql, args| -> Result<(u64, Option<Timestamp>), StoreError> {
        let row = store.row(sql, args).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("a count without a row".to_owned()))?;
        Ok((row.get::<i64>("n")?.try_into().unwrap_or(0), row.get("oldest")?))
    };
    let (asked_for, oldest) =
        count(&UNKNOWN_TRANSACTION_REQUESTS, args! { now, counted: COUNTED_MAX }).await?;
    let (given_up, oldest_given_up) = count(&UNKNOWN_FOR_GOOD, args! { counted: COUNTED_MAX }).await?;
    let oldest = [oldest, oldest_given_up].into_iter().flatten().min();
    Ok(Unknown { open: asked_for + given_up, oldest, given_up })
}

/// A request of any client whose probing ended. Only for operators.
pub async fn find_given_up(
    store: &Store,
    id: TransactionRequestId,
) -> Result<Option<StoredRequest>, StoreError> {
    let row = store.row(&FIND_GIVEN_UP_TRANSACTION_REQUEST, args! { id }).await?;
    row.as_ref().map(from_row).transpose()
}
