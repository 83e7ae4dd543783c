//! Stores the clocks of accounts whose owners move their time, and when something of one account is due next.
//!
//! `ahead_millis` counts while `stands_at` is null. A row is never deleted: by its version, nodes know which one is later.

use regente_domain::account_clock::{AccountClock, Advance, Running, Then};
use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::batch::Batch;
use crate::row::Row;
use crate::transaction_requests::{not_under_way, under_way};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, deliveries, sql};

macro_rules! columns {
    () => {
        "client_id, ahead_millis, stands_at, advances_to, doc, version"
    };
}

sql! {
    /// Adds the clock of an account that has had none.
    pub INSERT_ACCOUNT_CLOCK = "
        INSERT INTO account_clocks (client_id, ahead_millis, stands_at, advances_to, doc, version, updated_at)
        VALUES (:client_id, :ahead_millis, :stands_at, :advances_to, :doc, 1, :updated_at)";
    /// Changes a clock; guarded by the version.
    pub UPDATE_ACCOUNT_CLOCK = "
        UPDATE account_clocks SET ahead_millis = :ahead_millis, stands_at = :stands_at, advances_to = :advances_to,
            doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE client_id = :client_id AND version = :version";
    /// The clock of an account.
    pub FIND_ACCOUNT_CLOCK = concat!("SELECT ", columns!(), " FROM account_clocks WHERE client_id = :client_id");
    /// A page of the clocks of all accounts, by id.
    pub LIST_ACCOUNT_CLOCKS = concat!("SELECT ", columns!(), " FROM account_clocks
        WHERE REACHABLE(client_id) AND client_id > :after ORDER BY client_id LIMIT :limit");
    /// When something of an account is due next after a moment, by its own time: a job of one of these queues, a request whose
    /// outcome is looked for, or an event that is to become deliveries. Jobs under way count: they are due until they have
    /// ended.
    pub NEXT_DUE_OF_ACCOUNT = concat!("
        SELECT MIN(due_at) AS due_at FROM (
            SELECT (SELECT run_at FROM jobs
                WHERE client_id = :client_id AND lane = queues.value AND run_at > :after
                ORDER BY run_at LIMIT 1) AS due_at
            FROM EACH_TEXT(:queues) queues
            UNION ALL
            SELECT MIN(due_at) FROM transaction_requests
            WHERE client_id = :client_id AND ", not_under_way!(), " AND due_at > :after
            UNION ALL
            SELECT MIN(due_at) FROM transaction_requests
            WHERE client_id = :client_id AND ", under_way!(), " AND due_at > :after
            UNION ALL
            SELECT MIN(dispatch_at) FROM events
            WHERE client_id = :client_id AND dispatch_at IS NOT NULL AND dispatch_at > :after
        ) due");
}

/// Clocks that are read at once.
const PAGE: i64 = 1000;
/// The format of the document that this release writes.
const FORMAT: u32 = 1;
/// A time before all others.
const BEFORE_ALL: Timestamp = Timestamp::from_millis(i64::MIN);

/// A clock as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredClock {
    /// Whose.
    pub client_id: ClientId,
    /// The clock.
    pub clock: AccountClock,
    /// Grows by one with each change; 0 before the first one.
    pub version: i64,
}

/// What has no column of its own.
#[derive(Serialize, Deserialize)]
struct Doc {
    format: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<Then>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advance: Option<Advance>,
}

/// Writes `clock` in the place of what was read; the batch is refused when it has changed since. `now` is the deployment's.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn put(
    batch: &mut Batch,
    before: &StoredClock,
    clock: &AccountClock,
    now: Timestamp,
) -> Result<(), StoreError> {
    let columns = columns_of(before.client_id, clock)?.with("updated_at", now);
    match before.version {
        0 => batch.push(&INSERT_ACCOUNT_CLOCK, columns),
        version => batch.guard(&UPDATE_ACCOUNT_CLOCK, columns.with("version", version)),
    };
    Ok(())
}

fn columns_of(client_id: ClientId, clock: &AccountClock) -> Result<Args, StoreError> {
    let (ahead_millis, stands_at, advances_to, then) = match clock.running {
        Running::GoesOn { ahead_millis } => (ahead_millis, None, None, None),
        Running::Frozen { at } => (0, Some(at), None, None),
        Running::Advancing { at, to, then } => (0, Some(at), Some(to), Some(then)),
    };
    let doc = Json::of(&Doc { format: FORMAT, then, advance: clock.advance.clone() })?;
    Ok(args! { client_id, ahead_millis, stands_at, advances_to, doc })
}

/// The clock of an account; that of one without a row is the deployment's, of version 0.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find(store: &Store, client_id: ClientId) -> Result<StoredClock, StoreError> {
    let found = store.row(&FIND_ACCOUNT_CLOCK, args! { client_id }).await?;
    let none = StoredClock { client_id, clock: AccountClock::default(), version: 0 };
    found.as_ref().map_or(Ok(none), from_row)
}

/// Every clock that was ever moved.
///
/// # Errors
/// As [`find`].
pub async fn all(store: &Store) -> Result<Vec<StoredClock>, StoreError> {
    let (mut clocks, mut after) = (Vec::new(), Id::new(Uuid::nil()));
    loop {
        let rows = store.rows(&LIST_ACCOUNT_CLOCKS, args! { after, limit: PAGE }).await?;
        for row in &rows {
            let stored = from_row(row)?;
            after = stored.client_id;
            clocks.push(stored);
        }
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) < PAGE {
            return Ok(clocks);
        }
    }
}

/// When something of an account is due next, after `after` if there is one: anything but jobs of other queues.
///
/// # Errors
/// As [`Store::row`].
pub async fn next_due(
    store: &Store,
    client_id: ClientId,
    queues: &[&str],
    after: Option<Timestamp>,
) -> Result<Option<Timestamp>, StoreError> {
    let (after, queues) =
        (after.unwrap_or(BEFORE_ALL), Json::list(Some(queues), |queue| (*queue).to_owned()));
    let row = store.row(&NEXT_DUE_OF_ACCOUNT, args! { client_id, queues, after }).await?;
    let due_at = row.map_or(Ok(None), |row| row.get::<Option<Timestamp>>("due_at"))?;
    let delivery = deliveries::next_due_of(store, client_id, after).await?;
    Ok([due_at, delivery].into_iter().flatten().min())
}

fn from_row(row: &Row) -> Result<StoredClock, StoreError> {
    let client_id: ClientId = row.get("client_id")?;
    let corrupt = |why: String| StoreError::Corrupt(format!("account_clocks of {client_id}: {why}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|error| corrupt(error.to_string()))?;
    if doc.format != FORMAT {
        return Err(corrupt(format!("format {}", doc.format)));
    }
    let running = match (row.get("stands_at")?, row.get("advances_to")?) {
        (None, _) => Running::GoesOn { ahead_millis: row.get("ahead_millis")? },
        (Some(at), None) => Running::Frozen { at },
        (Some(at), Some(to)) => {
            let then = doc.then.ok_or_else(|| corrupt("an advance that leads nowhere".to_owned()))?;
            Running::Advancing { at, to, then }
        }
    };
    let clock = AccountClock { running, advance: doc.advance };
    Ok(StoredClock { client_id, clock, version: row.get("version")? })
}
