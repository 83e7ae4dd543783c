//! Deletes deliveries that ended long ago, with their attempts and payloads. The caller decides how long they are
//! kept.

use regente_domain::id::{ClientId, DeliveryId, Id, of};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Deliveries that have ended, oldest first: of all clients but some.
    ENDED_DELIVERIES = "
        SELECT id, client_id, event_id, object_id FROM deliveries
        WHERE REACHABLE(client_id) AND id < :made_before AND due_at IS NULL AND updated_at <= :before
            AND client_id NOT IN EACH_UUID(:apart)
        ORDER BY id LIMIT :limit";
    /// The same of one client.
    ENDED_DELIVERIES_OF = "
        SELECT id, client_id, event_id, object_id FROM deliveries
        WHERE client_id = :client_id AND id < :made_before AND due_at IS NULL AND updated_at <= :before
        ORDER BY id LIMIT :limit";
    /// Deletes the attempts of deliveries that have ended.
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
                WHERE d.event_id = events.id AND d.client_id = :client_id)";
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

/// Deliveries of these accounts that ended before then and were not replayed since, `limit` of them, oldest first.
pub async fn ended(
    store: &Store,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<Ended>, StoreError> {
    let made_before = DeliveryId::first_at(before);
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => {
            (&ENDED_DELIVERIES, args! { apart: listed(apart), made_before, before, limit })
        }
        Accounts::One(client_id) => {
            (&ENDED_DELIVERIES_OF, args! { client_id: *client_id, made_before, before, limit })
        }
    };
    let rows = store.rows(sql, args).await?;
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
