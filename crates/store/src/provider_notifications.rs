//! Stores what providers notify: sealed, once each, until a job has settled it and for a time afterwards.

use regente_domain::charge::reversal::ReversalReason;
use regente_domain::id::{ClientId, ProviderId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::error::Refusal;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Stores a notification; one that is there refuses the batch.
    pub INSERT_PROVIDER_NOTIFICATION = "
        INSERT INTO provider_notifications (id, client_id, provider_id, provider_type, headers, body, key_id, state,
            received_at)
        VALUES (:id, :client_id, :provider_id, :provider_type, :headers, :body, :key_id, :state, :received_at)
        ON CONFLICT (id, client_id) DO NOTHING";
    /// One notification.
    pub FIND_PROVIDER_NOTIFICATION = "
        SELECT id, provider_id, provider_type, headers, body, key_id, state, received_at, waits_for, waits_since
        FROM provider_notifications WHERE id = :id AND client_id = :client_id";
    /// Notifications of an account, by their ids.
    pub PROVIDER_NOTIFICATIONS_AFTER = "
        SELECT id, provider_id, provider_type, headers, body, key_id, state, received_at, waits_for, waits_since
        FROM provider_notifications WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit";
    /// Replaces what a settled notification says. Its row stays, so that a repetition meets it.
    pub ERASE_PROVIDER_NOTIFICATION = "
        UPDATE provider_notifications SET headers = '[]', body = :body, key_id = :key_id
        WHERE id = :id AND client_id = :client_id AND state <> 'waiting'";
    /// The notifications of a provider since a time.
    pub PROVIDER_NOTIFICATIONS_SINCE = "
        SELECT id FROM provider_notifications
        WHERE client_id = :client_id AND provider_id = :provider_id AND received_at >= :since
        ORDER BY received_at LIMIT :limit";
    /// Notes what became of a notification that waits.
    pub SETTLE_PROVIDER_NOTIFICATION = "
        UPDATE provider_notifications SET state = :state, why = :why, settled_at = :settled_at
        WHERE id = :id AND client_id = :client_id AND state = 'waiting'";
    /// Notes what a notification waits for.
    pub PROVIDER_NOTIFICATION_WAITS = "
        UPDATE provider_notifications SET waits_for = :waits_for, waits_since = :waits_since, object_id = :object_id,
            occurred_at = :occurred_at
        WHERE id = :id AND client_id = :client_id AND state = 'waiting'";
    /// What waits about an object and happened before a time, in that order.
    pub PROVIDER_NOTIFICATIONS_WAITING = "
        SELECT id FROM provider_notifications
        WHERE client_id = :client_id AND object_id = :object_id AND state = 'waiting' AND occurred_at < :before
        ORDER BY occurred_at LIMIT :limit";
    /// How many notifications have not changed anything, and since when, by what became of them: those that have waited
    /// since `before`, and those that were put aside.
    pub LEFT_PROVIDER_NOTIFICATIONS = "
        SELECT state, COUNT(*) AS n, MIN(received_at) AS oldest FROM provider_notifications
        WHERE REACHABLE(client_id) AND state <> 'applied' AND received_at < :before GROUP BY state";
    /// Notifications that were settled before a time: of all clients but some.
    pub SETTLED_PROVIDER_NOTIFICATIONS = "
        SELECT id, client_id FROM provider_notifications
        WHERE REACHABLE(client_id) AND settled_at IS NOT NULL AND settled_at < :before
            AND client_id NOT IN EACH_UUID(:apart)
        ORDER BY settled_at, client_id LIMIT :limit";
    /// The same of one client.
    pub SETTLED_PROVIDER_NOTIFICATIONS_OF = "
        SELECT id, client_id FROM provider_notifications
        WHERE client_id = :client_id AND settled_at IS NOT NULL AND settled_at < :before
        ORDER BY settled_at LIMIT :limit";
    /// Deletes those of these notifications that were settled before a time.
    pub PURGE_PROVIDER_NOTIFICATIONS = "
        DELETE FROM provider_notifications
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND settled_at IS NOT NULL AND settled_at < :before";
}

/// What became of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its job has not settled it yet.
    Waiting,
    /// What it says is part of the records, now or before.
    Applied,
    /// This release does not know what to do about it.
    Kept,
    /// It led to no request for as long as it was tried.
    Unmatched,
}

impl State {
    /// The word in the column and in lists.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Applied => "applied",
            Self::Kept => "kept",
            Self::Unmatched => "unmatched",
        }
    }

    fn parse(word: &str) -> Result<Self, StoreError> {
        [Self::Waiting, Self::Applied, Self::Kept, Self::Unmatched]
            .into_iter()
            .find(|state| state.word() == word)
            .ok_or_else(|| StoreError::Corrupt("provider_notifications.state".to_owned()))
    }
}

/// A notification as it arrived.
#[derive(Clone, Debug)]
pub struct ProviderNotification {
    /// Half of a digest of the provider and the notification.
    pub id: Uuid,
    /// The account of the provider.
    pub client_id: ClientId,
    /// The registered provider that sent it.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// The headers that its adapter needs, as pairs of a name and a value.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte, sealed.
    pub body: Sealed,
    /// What became of it.
    pub state: State,
    /// When it arrived.
    pub received_at: Timestamp,
    /// What it waits for, and since when; absent before it has waited.
    pub waits: Option<(ReversalReason, Timestamp)>,
}

/// Adds a notification. Guards the batch: refused when the notification is there already ([`is_repetition`]).
///
/// # Errors
/// [`StoreError::Programming`] when its headers cannot be written.
pub fn insert(batch: &mut Batch, notification: &ProviderNotification) -> Result<(), StoreError> {
    batch.guard(
        &INSERT_PROVIDER_NOTIFICATION,
        args! {
            id: notification.id,
            client_id: notification.client_id,
            provider_id: notification.provider_id,
            provider_type: notification.provider_type.code(),
            headers: Json::of(&notification.headers)?.0,
            body: notification.body.bytes.as_slice(),
            key_id: notification.body.key_id,
            state: notification.state.word(),
            received_at: notification.received_at,
        },
    );
    Ok(())
}

/// Whether a batch was refused because it adds a notification that is there already.
pub fn is_repetition(refusal: &Refusal) -> bool {
    refusal.is(&INSERT_PROVIDER_NOTIFICATION)
}

/// One notification.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: Uuid,
) -> Result<Option<ProviderNotification>, StoreError> {
    let row = store.row(&FIND_PROVIDER_NOTIFICATION, args! { id, client_id }).await?;
    row.map(|row| from_row(&row, client_id)).transpose()
}

/// The notifications of an account with an id above `after`, by their ids.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    after: Uuid,
    limit: i64,
) -> Result<Vec<ProviderNotification>, StoreError> {
    let rows = store.rows(&PROVIDER_NOTIFICATIONS_AFTER, args! { client_id, after, limit }).await?;
    rows.iter().map(|row| from_row(row, client_id)).collect()
}

/// Replaces what a settled notification says.
pub fn erase(batch: &mut Batch, id: Uuid, body: Sealed) {
    let client_id = batch.client_id();
    let (body, key_id) = (body.bytes, body.key_id);
    batch.push_any(&ERASE_PROVIDER_NOTIFICATION, args! { id, client_id, body, key_id });
}

fn from_row(row: &Row, client_id: ClientId) -> Result<ProviderNotification, StoreError> {
    let id: Uuid = row.get("id")?;
    let corrupt = |what: &str| StoreError::Corrupt(format!("provider_notifications.{what} of {id}"));
    Ok(ProviderNotification {
        id,
        client_id,
        provider_id: row.get("provider_id")?,
        provider_type: ProviderType::parse(row.get("provider_type")?)
            .ok_or_else(|| corrupt("provider_type"))?,
        headers: serde_json::from_str(row.get("headers")?).map_err(|_| corrupt("headers"))?,
        body: Sealed { key_id: row.get("key_id")?, bytes: row.get("body")? },
        state: State::parse(row.get("state")?)?,
        received_at: row.get("received_at")?,
        waits: waits(row)?,
    })
}

fn waits(row: &Row) -> Result<Option<(ReversalReason, Timestamp)>, StoreError> {
    let reason = row.get::<Option<String>>("waits_for")?;
    let reason = reason.as_deref().and_then(ReversalReason::parse);
    Ok(reason.zip(row.get("waits_since")?))
}

/// What a notification waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Why it is too early.
    pub reason: ReversalReason,
    /// Since when it waits for that.
    pub since: Timestamp,
    /// What it is about.
    pub object_id: Uuid,
    /// When it happened.
    pub occurred_at: Timestamp,
}

/// Notes what a notification waits for. Nothing happens when it is settled already.
pub fn wait(batch: &mut Batch, id: Uuid, wait: &Wait) {
    let client_id = batch.client_id();
    let args = args! {
        id,
        client_id,
        waits_for: wait.reason.word(),
        waits_since: wait.since,
        object_id: wait.object_id,
        occurred_at: wait.occurred_at,
    };
    batch.push_any(&PROVIDER_NOTIFICATION_WAITS, args);
}

/// The first `limit` notifications that wait about an object and tell of what happened before a time, in that order.
///
/// # Errors
/// As [`Store::rows`].
pub async fn waiting(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<Uuid>, StoreError> {
    let args = args! { client_id, object_id, before, limit };
    let rows = store.rows(&PROVIDER_NOTIFICATIONS_WAITING, args).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Notes what became of a notification, and why where that is worth a word. Nothing happens when it is settled already.
pub fn settle(batch: &mut Batch, id: Uuid, state: State, why: Option<&str>, settled_at: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(
        &SETTLE_PROVIDER_NOTIFICATION,
        args! { id, client_id, state: state.word(), why: why.map(str::to_owned), settled_at },
    );
}

/// Notifications that have not changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnappliedNotifications {
    /// What became of them.
    pub state: State,
    /// Their number.
    pub count: u64,
    /// When the oldest arrived.
    pub oldest: Timestamp,
}

/// The notifications of all clients that arrived before a time and have not changed anything.
///
/// # Errors
/// As [`find`].
pub async fn left(store: &Store, before: Timestamp) -> Result<Vec<UnappliedNotifications>, StoreError> {
    let rows = store.rows(&LEFT_PROVIDER_NOTIFICATIONS, args! { before }).await?;
    rows.iter()
        .map(|row| {
            Ok(UnappliedNotifications {
                state: State::parse(row.get("state")?)?,
                count: row.get::<i64>("n")?.try_into().unwrap_or(0),
                oldest: row.get("oldest")?,
            })
        })
        .collect()
}

/// At most `limit` notifications of these accounts that were settled before `before`.
///
/// # Errors
/// As [`find`].
pub async fn settled(
    store: &Store,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<(ClientId, Uuid)>, StoreError> {
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => {
            (&SETTLED_PROVIDER_NOTIFICATIONS, args! { apart: listed(apart), before, limit })
        }
        Accounts::One(client_id) => {
            (&SETTLED_PROVIDER_NOTIFICATIONS_OF, args! { client_id: *client_id, before, limit })
        }
    };
    let rows = store.rows(sql, args).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("id")?))).collect()
}

/// Deletes those of these notifications of the batch's client that were settled before `before`.
pub fn purge(batch: &mut Batch, ids: &[Uuid], before: Timestamp) {
    let client_id = batch.client_id();
    let ids = Json::list(Some(ids), Uuid::to_string);
    batch.push_any(&PURGE_PROVIDER_NOTIFICATIONS, args! { client_id, ids, before });
}

/// The ids of the first `limit` notifications of a provider since a time, in the order in which they arrived.
///
/// # Errors
/// As [`Store::rows`].
pub async fn since(
    store: &Store,
    client_id: ClientId,
    provider_id: ProviderId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<Uuid>, StoreError> {
    let rows =
        store.rows(&PROVIDER_NOTIFICATIONS_SINCE, args! { client_id, provider_id, since, limit }).await?;
    rows.iter().map(|row| row.get("id")).collect()
}
