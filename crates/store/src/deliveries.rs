//! Stores deliveries to webhooks and their attempts. The engine decides when to try and what follows a failure.

mod purge;
mod range;

use std::time::Duration;

use regente_domain::id::{ClientId, DeliveryId, Id, WebhookId, of};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, Failure, Version};
use uuid::Uuid;

use crate::batch::Batch;
use crate::due::COUNTED_MAX;
use crate::readable::Readable;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, events, sql, webhooks};

pub use purge::{Ended, ended, purge};

pub use range::{COUNT_DELIVERIES_IN_RANGE, DELIVERIES_IN_RANGE, DeliveryRange, count_in_range, in_range};

macro_rules! columns {
    () => {
        "d.id, d.client_id, d.webhook_id, d.event_id, d.event, d.object_id, d.object_version, d.ordinal, \
         d.api_version, d.status, d.attempts, d.tries, d.due_at, d.began_at, d.updated_at"
    };
}
pub(crate) use columns;

// Later events of an object wait until an earlier one was delivered or tried twice
// (`docs/interface/webhooks.md#order`).
macro_rules! earlier_of_its_object {
    ($client_id:literal) => {
        concat!(
            "SELECT 1 FROM deliveries earlier
                WHERE earlier.webhook_id = d.webhook_id AND earlier.object_id = d.object_id
                  AND earlier.client_id = ",
            $client_id,
            " AND earlier.due_at IS NOT NULL AND earlier.tries < 2
                  AND (earlier.object_version, earlier.ordinal) < (d.object_version, d.ordinal)"
        )
    };
}

// PostgreSQL would join a NOT EXISTS with all that wait for the webhook, to answer about the first one; it evaluates this form for
// each row that it comes to, by the index of objects.
macro_rules! is_next_of_its_object {
    () => {
        concat!(" (", earlier_of_its_object!(":client_id"), " LIMIT 1) IS NULL")
    };
}

sql! {
    /// Erases what webhooks answered to the events of an object.
    pub ERASE_ANSWERS_OF_WEBHOOKS = "
        UPDATE delivery_attempts SET answer = NULL
        WHERE client_id = :client_id AND answer IS NOT NULL AND delivery_id IN (
            SELECT d.id FROM deliveries d JOIN events e ON e.id = d.event_id AND e.client_id = d.client_id
            WHERE d.client_id = :client_id AND e.client_id = :client_id AND e.object_id = :object_id)";
    /// Adds a delivery, unless the webhook was deleted meanwhile.
    pub INSERT_DELIVERY = "
        INSERT INTO deliveries (id, client_id, webhook_id, event_id, event, object_id, object_version, ordinal,
            api_version, status, attempts, tries, due_at, updated_at)
        SELECT :id, w.client_id, w.id, :event_id, :event, :object_id, :object_version, :ordinal,
            :api_version, :status, 0, 0, :due_at, :updated_at
        FROM webhooks w WHERE w.id = :webhook_id AND w.client_id = :client_id AND w.deleted_at IS NULL";
    /// One delivery of a webhook.
    pub FIND_DELIVERY = concat!("SELECT ", columns!(), " FROM deliveries d
        WHERE d.id = :id AND d.client_id = :client_id AND d.webhook_id = :webhook_id");
    /// A page of the deliveries of a webhook, newest first.
    pub LIST_DELIVERIES = concat!("SELECT ", columns!(), " FROM deliveries d
        WHERE d.client_id = :client_id AND d.webhook_id = :webhook_id
        ORDER BY d.id DESC LIMIT :limit OFFSET :offset");
    /// Counts the deliveries of a webhook.
    pub COUNT_DELIVERIES = "
        SELECT COUNT(*) AS n FROM deliveries WHERE client_id = :client_id AND webhook_id = :webhook_id";
    /// The attempts of many deliveries.
    pub ATTEMPTS_OF_MANY = "
        SELECT delivery_id, ordinal, began_at, duration_ms, http_status, failure, answer FROM delivery_attempts
        WHERE client_id = :client_id AND delivery_id IN EACH_UUID(:ids) ORDER BY delivery_id, ordinal";
    /// The due deliveries of a webhook, with their payloads.
    pub DUE_DELIVERIES = concat!("SELECT ", columns!(), ", e.snapshot FROM deliveries d
        JOIN events e ON e.object_id = d.object_id AND e.version = d.object_version AND e.ordinal = d.ordinal
            AND e.client_id = d.client_id
        WHERE d.client_id = :client_id AND d.webhook_id = :webhook_id AND d.due_at <= :now AND ",
        is_next_of_its_object!(), " ORDER BY d.due_at, d.id LIMIT :limit");
    /// When the next delivery is due, of those whose turn it is.
    pub NEXT_DUE_DELIVERY = concat!("SELECT d.client_id, MIN(d.due_at) AS due_at FROM deliveries d
        JOIN webhooks w ON w.id = d.webhook_id AND w.client_id = d.client_id
        WHERE d.due_at IS NOT NULL AND w.active = 1 AND NOT EXISTS (", earlier_of_its_object!("d.client_id"),
        ") GROUP BY d.client_id");
    /// When the next delivery of an account is due after a moment, of those whose turn it is.
    pub NEXT_DUE_DELIVERY_OF_ACCOUNT = concat!("SELECT MIN(due_at) AS due_at FROM (
            SELECT (SELECT d.due_at FROM deliveries d
                WHERE d.webhook_id = w.id AND d.client_id = :client_id AND d.due_at IS NOT NULL AND d.due_at > :after AND ",
                is_next_of_its_object!(), " ORDER BY d.due_at LIMIT 1) AS due_at
            FROM webhooks w WHERE w.client_id = :client_id AND w.active = 1) firsts");
    /// Counts the attempts of an account that have not ended, of those that count as lost by a time.
    pub ATTEMPTS_UNDER_WAY_OF_ACCOUNT = "
        SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM (
            SELECT (SELECT COUNT(*) FROM deliveries d
                WHERE d.webhook_id = w.id AND d.client_id = :client_id AND d.due_at IS NOT NULL
                    AND d.due_at <= :lost_by AND d.began_at IS NOT NULL) AS n
            FROM webhooks w WHERE w.client_id = :client_id) counts";
    /// The number of due deliveries of a webhook, up to one, and since when the first that may be sent has been due.
    pub BACKLOG_OF_WEBHOOK = concat!("
        SELECT (SELECT COUNT(*) FROM (SELECT d.due_at FROM deliveries d
                WHERE d.webhook_id = :webhook_id AND d.client_id = :client_id AND d.due_at <= :now
                ORDER BY d.due_at LIMIT :counted) first) AS due,
            (SELECT d.due_at FROM deliveries d
                WHERE d.webhook_id = :webhook_id AND d.client_id = :client_id AND d.due_at <= :now AND",
                    is_next_of_its_object!(), " ORDER BY d.due_at LIMIT 1) AS oldest");
    /// Begins an attempt; the second node is refused. On PostgreSQL it skips a row that another node holds: nodes
    /// that begin several attempts in different orders would deadlock.
    pub BEGIN_ATTEMPT = split(
        "UPDATE deliveries SET due_at = :lost_at, began_at = :began_at
         WHERE id = :id AND client_id = :client_id AND due_at = :due_at",
        "UPDATE deliveries SET due_at = :lost_at, began_at = :began_at
         WHERE id = :id AND client_id = :client_id AND id IN (SELECT id FROM deliveries
            WHERE id = :id AND client_id = :client_id AND due_at = :due_at FOR UPDATE SKIP LOCKED)"
    );
    /// Counts an attempt whose process stopped.
    pub COUNT_INTERRUPTED = "
        UPDATE deliveries SET attempts = attempts + 1
        WHERE id = :id AND client_id = :client_id AND began_at = :began_at AND attempts = :attempts";
    /// Postpones deliveries that cannot be made now.
    pub POSTPONE_DELIVERIES = "
        UPDATE deliveries SET due_at = :due_at
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND due_at < :due_at";
    /// Ends an attempt; refused when it was counted as lost and another one began.
    pub END_ATTEMPT = "
        UPDATE deliveries SET status = :status, attempts = attempts + 1, tries = tries + 1, due_at = :due_at,
            began_at = NULL, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND began_at = :began_at AND due_at = :lost_at";
    /// Postpones later deliveries of an object together with an earlier one.
    pub WAIT_WITH_EARLIER = "
        UPDATE deliveries SET due_at = :due_at
        WHERE webhook_id = :webhook_id AND object_id = :object_id AND client_id = :client_id AND due_at < :due_at
          AND began_at IS NULL AND (object_version, ordinal) > (:object_version, :ordinal)";
    /// Records an attempt.
    pub INSERT_ATTEMPT = "
        INSERT INTO delivery_attempts (delivery_id, ordinal, client_id, began_at, duration_ms, http_status,
            failure, answer)
        VALUES (:delivery_id, :ordinal, :client_id, :began_at, :duration_ms, :http_status, :failure, :answer)";
    /// Restarts the schedule of a delivery, unless an attempt is under way.
    pub REPLAY_DELIVERY = "
        UPDATE deliveries SET status = :status, tries = 0, due_at = :due_at, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND began_at IS NULL";
    /// A page of the pending deliveries of a webhook.
    pub PENDING_DELIVERIES = "
        SELECT id FROM deliveries
        WHERE webhook_id = :webhook_id AND client_id = :client_id AND due_at IS NOT NULL
        ORDER BY due_at LIMIT :limit";
    /// Drops pending deliveries.
    pub DROP_DELIVERIES = "
        UPDATE deliveries SET status = :status, due_at = NULL, began_at = NULL, updated_at = :updated_at
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND due_at IS NOT NULL";
}

/// The delivery of an event to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The account.
    pub client_id: ClientId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The event, the same in all attempts.
    pub event_id: Id<of::Event>,
    /// The full name of the event.
    pub event: String,
    /// The object of the event.
    pub object_id: Uuid,
    /// The version of the object that the event announces.
    pub object_version: i64,
    /// Its index among the events of that version.
    pub ordinal: i64,
    /// The payload version.
    pub api_version: Version,
    /// Its status.
    pub status: DeliveryStatus,
    /// Number of ended attempts.
    pub attempts: i64,
    /// Number of attempts that count for the schedule; a replay starts at 0.
    pub tries: u32,
    /// When the next attempt is due, or the present one counts as lost; absent for a listener.
    pub due_at: Option<Timestamp>,
    /// When the present attempt began.
    pub began_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// An ended attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub began_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP status of the answer.
    pub http_status: Option<u16>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// The beginning of the answer.
    pub answer: Option<String>,
}

/// The times of an attempt that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// When it began.
    pub at: Timestamp,
    /// When it counts as lost with its process.
    pub lost_at: Timestamp,
}

/// A due delivery with its payload.
#[derive(Clone, Debug)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: Delivery,
    /// The payload, as JSON.
    pub snapshot: String,
}

/// Adds a delivery, unless its webhook was deleted meanwhile.
pub fn insert(batch: &mut Batch, delivery: &Delivery) {
    batch.push_at_most_one(
        &INSERT_DELIVERY,
        args! {
            id: delivery.id,
            client_id: delivery.client_id,
            webhook_id: delivery.webhook_id,
            event_id: delivery.event_id,
            event: &delivery.event,
            object_id: delivery.object_id,
            object_version: delivery.object_version,
            ordinal: delivery.ordinal,
            api_version: delivery.api_version.word(),
            status: delivery.status.word(),
            due_at: delivery.due_at,
            updated_at: delivery.updated_at,
        },
    );
}

/// Begins an attempt. Guards the batch: it is refused when another node has begun it or is doing so.
pub fn begin_attempt(batch: &mut Batch, delivery: &Delivery, begun: Begun) {
    let (id, client_id, due_at) = (delivery.id, delivery.client_id, delivery.due_at);
    let args = args! { id, client_id, due_at, began_at: begun.at, lost_at: begun.lost_at };
    batch.guard(&BEGIN_ATTEMPT, args);
}

/// Records an attempt whose process stopped; the schedule does not count it. Guards the batch: only one node records
/// it.
pub fn interrupted(batch: &mut Batch, delivery: &Delivery, attempt: &Attempt) {
    let (id, client_id, attempts) = (delivery.id, delivery.client_id, delivery.attempts);
    batch.guard(&COUNT_INTERRUPTED, args! { id, client_id, attempts, began_at: attempt.began_at });
    insert_attempt(batch, delivery, attempt);
}

/// Postpones deliveries.
pub fn postpone(batch: &mut Batch, ids: &[Uuid], due_at: Timestamp) {
    let (client_id, ids) = (batch.client_id(), Json::list(Some(ids), Uuid::to_string));
    batch.push_any(&POSTPONE_DELIVERIES, args! { client_id, ids, due_at });
}

/// Ends an attempt: sets `status` and `due_at`; deliveries that wait for it are due no sooner.
pub fn end_attempt(
    batch: &mut Batch,
    delivery: &Delivery,
    begun: Begun,
    attempt: &Attempt,
    status: DeliveryStatus,
    due_at: Option<Timestamp>,
) {
    let (id, client_id) = (delivery.id, delivery.client_id);
    batch.guard(
        &END_ATTEMPT,
        args! {
            id,
            client_id,
            began_at: begun.at,
            lost_at: begun.lost_at,
            status: status.word(),
            due_at,
            updated_at: attempt.began_at + attempt.duration,
        },
    );
    let (webhook_id, object_id) = (delivery.webhook_id, delivery.object_id);
    let (object_version, ordinal) = (delivery.object_version, delivery.ordinal);
    if due_at.is_some() && delivery.tries == 0 {
        batch.push_any(
            &WAIT_WITH_EARLIER,
            args! { client_id, webhook_id, object_id, object_version, ordinal, due_at },
        );
    }
    insert_attempt(batch, delivery, attempt);
}

fn insert_attempt(batch: &mut Batch, delivery: &Delivery, attempt: &Attempt) {
    batch.push(
        &INSERT_ATTEMPT,
        args! {
            delivery_id: delivery.id,
            ordinal: delivery.attempts + 1,
            client_id: delivery.client_id,
            began_at: attempt.began_at,
            duration_ms: i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX),
            http_status: attempt.http_status,
            failure: attempt.failure.map(Failure::word),
            answer: attempt.answer.clone(),
        },
    );
}

/// Restarts the schedule of a delivery at `now` and returns its new state. Guards the batch: refused during an
/// attempt.
pub fn replay(batch: &mut Batch, delivery: &Delivery, now: Timestamp) -> Delivery {
    let (id, client_id, status) = (delivery.id, delivery.client_id, DeliveryStatus::Pending);
    batch.guard(
        &REPLAY_DELIVERY,
        args! { id, client_id, status: status.word(), due_at: now, updated_at: now },
    );
    Delivery { status, tries: 0, due_at: Some(now), updated_at: now, ..delivery.clone() }
}

/// Pending deliveries of a webhook, `limit` of them.
pub async fn pending(
    store: &Store,
    client_id: ClientId,
    webhook_id: WebhookId,
    limit: i64,
) -> Result<Vec<DeliveryId>, StoreError> {
    let rows = store.rows(&PENDING_DELIVERIES, args! { webhook_id, client_id, limit }).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Drops those of these deliveries that are still pending.
pub fn drop_pending(batch: &mut Batch, ids: &[DeliveryId], now: Timestamp) {
    let (client_id, ids) = (batch.client_id(), Json::list(Some(ids), DeliveryId::to_string));
    let status = DeliveryStatus::Dropped.word();
    batch.push_any(&DROP_DELIVERIES, args! { client_id, ids, status, updated_at: now });
}

/// A delivery of a webhook.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    webhook_id: WebhookId,
    id: DeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let row = store.row(&FIND_DELIVERY, args! { id, client_id, webhook_id }).await?;
    row.as_ref().map(from_row).transpose()
}

/// The deliveries of one page, newest first.
pub async fn list(
    store: &Store,
    client_id: ClientId,
    webhook_id: WebhookId,
    limit: i64,
    offset: i64,
) -> Result<Vec<Delivery>, StoreError> {
    let rows = store.rows(&LIST_DELIVERIES, args! { client_id, webhook_id, limit, offset }).await?;
    rows.iter().map(from_row).collect()
}

/// Counts the deliveries of a webhook.
pub async fn count(store: &Store, client_id: ClientId, webhook_id: WebhookId) -> Result<u64, StoreError> {
    let row = store.row(&COUNT_DELIVERIES, args! { client_id, webhook_id }).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// The attempts of many deliveries, each with the delivery's id, oldest first.
pub async fn attempts_of(
    store: &Store,
    client_id: ClientId,
    ids: &[DeliveryId],
) -> Result<Vec<(DeliveryId, Attempt)>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids = Json::list(Some(ids), DeliveryId::to_string);
    let rows = store.rows(&ATTEMPTS_OF_MANY, args! { client_id, ids }).await?;
    rows.iter().map(|row| Ok((row.get("delivery_id")?, attempt_from_row(row)?))).collect()
}

/// The deliveries of a webhook due at `now`, longest waiting first.
pub async fn due(
    store: &Store,
    client_id: ClientId,
    webhook_id: WebhookId,
    now: Timestamp,
    limit: i64,
) -> Result<Readable<DueDelivery>, StoreError> {
    let rows = store.rows(&DUE_DELIVERIES, args! { client_id, webhook_id, now, limit }).await?;
    Readable::of(&rows, due_from_row)
}

/// When the next attempt is due, if any is.
pub async fn next_due(store: &Store) -> Result<Vec<(ClientId, Timestamp)>, StoreError> {
    let rows = store.rows(&NEXT_DUE_DELIVERY, args! {}).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("due_at")?))).collect()
}

/// When the next delivery of an account is due after `after`, by its own time.
///
/// # Errors
/// As [`Store::row`].
pub async fn next_due_of(
    store: &Store,
    client_id: ClientId,
    after: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let row = store.row(&NEXT_DUE_DELIVERY_OF_ACCOUNT, args! { client_id, after }).await?;
    row.map_or(Ok(None), |row| row.get("due_at"))
}

/// Counts the attempts of an account that have not ended, on whichever node, of those that count as lost by `lost_by`.
///
/// # Errors
/// As [`Store::row`].
pub async fn attempts_under_way(
    store: &Store,
    client_id: ClientId,
    lost_by: Timestamp,
) -> Result<u64, StoreError> {
    let row = store.row(&ATTEMPTS_UNDER_WAY_OF_ACCOUNT, args! { client_id, lost_by }).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

pub(crate) fn due_from_row(row: &Row) -> Result<DueDelivery, StoreError> {
    Ok(DueDelivery { delivery: from_row(row)?, snapshot: row.get("snapshot")? })
}

/// The deliveries and events that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Number of due deliveries; of each webhook at most [`COUNTED_MAX`] are counted.
    pub due: u64,
    /// Since when the oldest delivery that may be sent has been due, or the oldest event has waited for dispatch.
    pub oldest: Option<Timestamp>,
}

/// Most webhooks of one page of [`backlog`].
const WEBHOOKS_MAX: i64 = 500;

/// The backlog of all clients at `now`.
pub async fn backlog(store: &Store, now: Timestamp) -> Result<Backlog, StoreError> {
    let undispatched = events::next_dispatch(store).await?.filter(|dispatch_at| *dispatch_at <= now);
    let mut backlog = Backlog { due: 0, oldest: undispatched };
    let mut after = Id::new(Uuid::nil());
    loop {
        let Readable { read, unreadable } = webhooks::with_due(store, after, now, WEBHOOKS_MAX).await?;
        let is_last = i64::try_from(read.len() + unreadable.len()).unwrap_or(i64::MAX) < WEBHOOKS_MAX;
        for webhook in &read {
            let (webhook_id, client_id) = (webhook.id, webhook.client_id);
            let args = args! { webhook_id, client_id, now, counted: COUNTED_MAX };
            let row = store.row(&BACKLOG_OF_WEBHOOK, args).await?;
            let row = row.ok_or_else(|| StoreError::Corrupt("a count without a row".to_owned()))?;
            let oldest: Option<Timestamp> = row.get("oldest")?;
            backlog.due += row.get::<u64>("due")?;
            backlog.oldest = [backlog.oldest, oldest].into_iter().flatten().min();
        }
        match read.last() {
            Some(last) if !is_last => after = last.id,
            Some(_) | None => return Ok(backlog),
        }
    }
}

fn from_row(row: &Row) -> Result<Delivery, StoreError> {
    let corrupt = |column: &str| StoreError::Corrupt(format!("deliveries.{column}"));
    let (status, api_version): (&str, &str) = (row.get("status")?, row.get("api_version")?);
    Ok(Delivery {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        webhook_id: row.get("webhook_id")?,
        event_id: row.get("event_id")?,
        event: row.get("event")?,
        object_id: row.get("object_id")?,
        object_version: row.get("object_version")?,
        ordinal: row.get("ordinal")?,
        api_version: Version::parse(api_version).ok_or_else(|| corrupt("api_version"))?,
        status: DeliveryStatus::parse(status).ok_or_else(|| corrupt("status"))?,
        attempts: row.get("attempts")?,
        tries: row.get("tries")?,
        due_at: row.get("due_at")?,
        began_at: row.get("began_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn attempt_from_row(row: &Row) -> Result<Attempt, StoreError> {
    let failure: Option<&str> = row.get("failure")?;
    let parse = |word: &str| {
        Failure::parse(word).ok_or_else(|| StoreError::Corrupt("delivery_attempts.failure".to_owned()))
    };
    Ok(Attempt {
        began_at: row.get("began_at")?,
        duration: Duration::from_millis(row.get("duration_ms")?),
        http_status: row.get("http_status")?,
        failure: failure.map(parse).transpose()?,
        answer: row.get("answer")?,
    })
}

/// Erases what webhooks answered to the events of an object.
pub fn erase_answers(batch: &mut Batch, object_id: Uuid) {
    let client_id = batch.client_id();
    batch.push_any(&ERASE_ANSWERS_OF_WEBHOOKS, args! { client_id, object_id });
}
