//! Stores listeners: webhooks whose deliveries a client fetches. They are rows of `webhooks`, so that events become
//! deliveries for them too. The queries in `webhooks.rs` that serve callers do not find them.

use std::collections::HashMap;

use regente_domain::id::{ClientId, DeliveryId, Id, WebhookId, of};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::deliveries::{self, DueDelivery};
use crate::value::Json;
use crate::webhooks::{self, Webhook};
use crate::{Store, StoreError, args, sql};

sql! {
    /// Turns a webhook that was just added into a listener.
    pub BEGIN_LISTENING = "
        UPDATE webhooks SET listens_until = :until WHERE id = :id AND client_id = :client_id";
    /// A listener, also one that ended recently.
    pub FIND_LISTENER = concat!("SELECT ", webhooks::columns!(), " FROM webhooks
        WHERE id = :id AND client_id = :client_id AND listens_until IS NOT NULL");
    /// Extends a listener; an ended one stays ended.
    pub GO_ON_LISTENING = "
        UPDATE webhooks SET listens_until = :until
        WHERE id = :id AND client_id = :client_id AND listens_until > :now";
    /// Deliveries to fetch, with their sort keys.
    pub WAITING_FOR_LISTENER = "
        SELECT id, event_id, object_id, object_version, ordinal FROM deliveries
        WHERE client_id = :client_id AND webhook_id = :webhook_id ORDER BY id LIMIT :limit";
    /// Some of those deliveries, with their payloads.
    pub FETCH_DELIVERIES = concat!("SELECT ", deliveries::columns!(), ", e.snapshot FROM deliveries d
        JOIN events e ON e.object_id = d.object_id AND e.version = d.object_version AND e.ordinal = d.ordinal
            AND e.client_id = d.client_id
        WHERE d.client_id = :client_id AND d.id IN EACH_UUID(:ids)");
    /// Erases the payloads of fetched events that no other delivery needs.
    pub FORGET_FETCHED_SNAPSHOTS = "
        UPDATE events SET snapshot = NULL
        WHERE client_id = :client_id AND dispatch_at IS NULL
            AND (object_id, id) IN (SELECT d.object_id, d.event_id FROM deliveries d
                WHERE d.client_id = :client_id AND d.webhook_id = :webhook_id AND d.id IN EACH_UUID(:ids))
            AND NOT EXISTS (SELECT 1 FROM deliveries d
                WHERE d.event_id = events.id AND d.client_id = :client_id AND d.webhook_id <> :webhook_id)";
    /// Deletes the fetched deliveries.
    pub FORGET_FETCHED = "
        DELETE FROM deliveries
        WHERE client_id = :client_id AND webhook_id = :webhook_id AND id IN EACH_UUID(:ids)";
    /// Clients with listeners that ended before a time, except some.
    pub CLIENTS_WITH_ENDED_LISTENERS = "
        SELECT DISTINCT client_id FROM webhooks
        WHERE REACHABLE(client_id) AND listens_until < :before AND client_id NOT IN EACH_UUID(:apart) LIMIT :limit";
    /// Whether one client has such listeners.
    pub CLIENT_WITH_ENDED_LISTENERS = "
        SELECT client_id FROM webhooks WHERE client_id = :client_id AND listens_until < :before LIMIT 1";
    /// Erases the payloads of events that the ended listeners did not fetch and that no other delivery needs.
    pub FORGET_UNFETCHED_SNAPSHOTS = "
        UPDATE events SET snapshot = NULL
        WHERE client_id = :client_id AND dispatch_at IS NULL
            AND (object_id, id) IN (SELECT d.object_id, d.event_id FROM deliveries d
                JOIN webhooks w ON w.id = d.webhook_id AND w.client_id = d.client_id
                WHERE w.client_id = :client_id AND w.listens_until < :before ORDER BY d.id LIMIT :limit)
            AND NOT EXISTS (SELECT 1 FROM deliveries d
                JOIN webhooks w ON w.id = d.webhook_id AND w.client_id = d.client_id
                WHERE d.event_id = events.id AND d.client_id = :client_id
                    AND (w.listens_until IS NULL OR w.listens_until >= :before))";
    /// Deletes unfetched deliveries, a bounded number at once.
    pub PURGE_UNFETCHED = "
        DELETE FROM deliveries WHERE client_id = :client_id AND id IN (
            SELECT d.id FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id AND w.client_id = d.client_id
            WHERE w.client_id = :client_id AND w.listens_until < :before ORDER BY d.id LIMIT :limit)";
    /// Deletes listeners without deliveries.
    pub PURGE_LISTENERS = "
        DELETE FROM webhooks WHERE client_id = :client_id AND listens_until < :before AND NOT EXISTS (
            SELECT 1 FROM deliveries d WHERE d.client_id = :client_id AND d.webhook_id = webhooks.id)";
}

/// Most deliveries sorted at once.
const WAITING_MAX: i64 = 10_000;

/// Adds `webhook` as a listener until `until`.
pub fn insert(batch: &mut Batch, webhook: &Webhook, until: Timestamp) {
    webhooks::insert(batch, webhook);
    batch.push(&BEGIN_LISTENING, args! { id: webhook.id, client_id: webhook.client_id, until });
}

/// A listener, also an ended one.
pub async fn find(store: &Store, client_id: ClientId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
    store.row(&FIND_LISTENER, args! { id, client_id }).await?.as_ref().map(webhooks::from_row).transpose()
}

/// Extends a listener to `until`. Guards the batch: one that has ended at `now` stays ended.
pub fn go_on(batch: &mut Batch, id: WebhookId, now: Timestamp, until: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&GO_ON_LISTENING, args! { id, client_id, now, until });
}

/// Ends a listener at `now`; an ended one stays unchanged.
pub fn end(batch: &mut Batch, id: WebhookId, now: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&GO_ON_LISTENING, args! { id, client_id, now, until: now });
}

/// Deletes fetched deliveries.
pub fn forget(batch: &mut Batch, webhook_id: WebhookId, ids: &[DeliveryId]) {
    if ids.is_empty() {
        return;
    }
    let (client_id, ids) = (batch.client_id(), Json::list(Some(ids), DeliveryId::to_string));
    batch.push_any(&FORGET_FETCHED_SNAPSHOTS, args! { client_id, webhook_id, ids: ids.clone() });
    batch.push_any(&FORGET_FETCHED, args! { client_id, webhook_id, ids });
}

/// The next deliveries to fetch, at most `limit`: by time, those of one object in the order of its versions.
pub async fn waiting(
    store: &Store,
    client_id: ClientId,
    webhook_id: WebhookId,
    limit: usize,
) -> Result<Vec<DueDelivery>, StoreError> {
    let args = args! { client_id, webhook_id, limit: WAITING_MAX };
    let rows = store.rows(&WAITING_FOR_LISTENER, args).await?;
    let mut waiting = rows
        .iter()
        .map(|row| {
            Ok(Waiting {
                id: row.get("id")?,
                event_id: row.get("event_id")?,
                object_id: row.get("object_id")?,
                place: (row.get("object_version")?, row.get("ordinal")?),
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    put_in_order(&mut waiting);
    waiting.truncate(limit);
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<DeliveryId> = waiting.iter().map(|waiting| waiting.id).collect();
    let listed = Json::list(Some(&ids), DeliveryId::to_string);
    let rows = store.rows(&FETCH_DELIVERIES, args! { client_id, ids: listed }).await?;
    let mut fetched = rows.iter().map(deliveries::due_from_row).collect::<Result<Vec<_>, _>>()?;
    fetched.sort_by_key(|fetched| ids.iter().position(|id| *id == fetched.delivery.id));
    Ok(fetched)
}

struct Waiting {
    id: DeliveryId,
    event_id: Id<of::Event>,
    object_id: Uuid,
    /// Version and ordinal.
    place: (i64, i64),
}

/// Sorts by time; the events of one object are then put into the order of versions, since the clocks of nodes differ.
fn put_in_order(waiting: &mut [Waiting]) {
    waiting.sort_by_key(|waiting| waiting.event_id);
    let mut places: HashMap<Uuid, Vec<usize>> = HashMap::new();
    for (at, waiting) in waiting.iter().enumerate() {
        places.entry(waiting.object_id).or_default().push(at);
    }
    for places in places.into_values() {
        // Quadratic, but few events of one object wait at once.
        for (number, &first) in places.iter().enumerate() {
            for &second in &places[number + 1..] {
                if waiting[second].place < waiting[first].place {
                    waiting.swap(first, second);
                }
            }
        }
    }
}

/// Clients with listeners that ended before a time.
pub async fn clients_with_ended(
    store: &Store,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => {
            (&CLIENTS_WITH_ENDED_LISTENERS, args! { apart: listed(apart), before, limit })
        }
        Accounts::One(client_id) => (&CLIENT_WITH_ENDED_LISTENERS, args! { client_id: *client_id, before }),
    };
    let rows = store.rows(sql, args).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Deletes the listeners of a client that ended before a time, with at most `limit` unfetched deliveries.
pub fn purge(batch: &mut Batch, before: Timestamp, limit: i64) {
    let client_id = batch.client_id();
    batch.push_any(&FORGET_UNFETCHED_SNAPSHOTS, args! { client_id, before, limit });
    batch.push_any(&PURGE_UNFETCHED, args! { client_id, before, limit });
    batch.push_any(&PURGE_LISTENERS, args! { client_id, before });
}
