//! Deletes deliveries that ended long ago, with their attempts and payloads. The caller decides how long they are
//! kept.

use regente_domain::id::{ClientId, DeliveryId, Id, of};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Ended deliveries of all clients, oldest first.
    ENDED_DELIVERIES = "
        SELECT id, client_id, event_id, object_id FROM deliveries
        WHERE id < :made_before AND due_at IS NULL AND updated_at <= :before ORDER BY id LIMIT :limit";
    /// Deletes the attempts of ended deliveries.
    PURGE_ATTEMPTS = "
        DELETE FROM delivery_attempts WHERE client_id = :client_id AND delivery_id IN (
            SELECT id FROM deliveries WHERE client_id = :client_id AND id IN EACH_UUID(:ids)
                AND due_at IS NULL AND updated_at <= :before)";
    /// Deletes ended deliveries.
    PURGE_DELIVERIES = "
        DELETE FROM deliveries
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND due_at IS NULL AND updated_at <= :before";
    /// Erases the payloads of events that no delivery can send any more.
    FORGET_SNAPSHOTS = "
        UPDATE events SET snapshot = NULL
        WHERE client_id = :client_id AND object_id IN EACH_UUID(:object_ids) AND id IN EACH_UUID(:event_ids)
            AND dispatch_at IS NULL AND NOT EXISTS (SELECT 1 FROM deliveries d
                WHERE d.event_id = events.id AND d.client_id = events.client_id)";
}

/// An ended delivery.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The account.
    pub client_id: ClientId,
    id: DeliveryId,
    event_id: Id<of::Event>,
    object_id: Uuid,
}

/// At most `limit` deliveries of all clients that ended before `before` and were not replayed since, oldest first.
pub async fn ended(store: &Store, before: Timestamp, limit: i64) -> Result<Vec<Ended>, StoreError> {
    let made_before = DeliveryId::first_at(before);
    let rows = store.rows(&ENDED_DELIVERIES, args! { made_before, before, limit }).await?;
    rows.iter().map(ended_from_row).collect()
}

fn ended_from_row(row: &Row) -> Result<Ended, StoreError> {
    Ok(Ended {
        client_id: row.get("client_id")?,
        id: row.get("id")?,
        event_id: row.get("event_id")?,
        object_id: row.get("object_id")?,
    })
}

/// Deletes these deliveries of the batch's client with their attempts, unless they were replayed meanwhile. The last
/// delivery of an event takes the payload with it.
pub fn purge(batch: &mut Batch, ended: &[Ended], before: Timestamp) {
    let client_id = batch.client_id();
    let ids = || Json::list(Some(ended), |ended| ended.id.to_string());
    batch.push_any(&PURGE_ATTEMPTS, args! { client_id, ids: ids(), before });
    batch.push_any(&PURGE_DELIVERIES, args! { client_id, ids: ids(), before });
    let object_ids = Json::list(Some(ended), |ended| ended.object_id.to_string());
    let event_ids = Json::list(Some(ended), |ended| ended.event_id.to_string());
    batch.push_any(&FORGET_SNAPSHOTS, args! { client_id, object_ids, event_ids });
}
