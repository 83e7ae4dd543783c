//! Finds the deliveries of a webhook created in a span of time.

use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, EventName};

use crate::{Args, Store, StoreError, args, sql};

macro_rules! in_range {
    () => {
        " FROM deliveries
            WHERE client_id = :client_id AND webhook_id = :webhook_id AND id > :after AND id < :before
              AND (CAST(:status AS TEXT) IS NULL OR status = :status)
              AND (CAST(:event AS TEXT) IS NULL OR event = :event) "
    };
}

sql! {
    /// Counts them, up to a bound.
    pub COUNT_DELIVERIES_IN_RANGE =
        concat!("SELECT COUNT(*) AS n FROM (SELECT 1 AS one", in_range!(), "LIMIT :limit) counted");
    /// The next ones after a given id, oldest first.
    pub DELIVERIES_IN_RANGE = concat!("SELECT id", in_range!(), "ORDER BY id LIMIT :limit");
}

/// A span of a webhook's deliveries.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRange {
    /// The account.
    pub client_id: ClientId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// Created at or after this time.
    pub from: Timestamp,
    /// Created before this time.
    pub to: Timestamp,
    /// Only those with this status.
    pub status: Option<DeliveryStatus>,
    /// Only those of this event.
    pub event: Option<EventName>,
}

impl DeliveryRange {
    fn args(&self, after: Option<DeliveryId>, limit: i64) -> Args {
        args! {
            client_id: self.client_id,
            webhook_id: self.webhook_id,
            after: after.unwrap_or(DeliveryId::first_at(self.from)),
            before: DeliveryId::first_at(self.to),
            status: self.status.map(DeliveryStatus::word),
            event: self.event.map(EventName::word),
            limit,
        }
    }
}

/// Number of deliveries in `range`, at most `limit`.
pub async fn count_in_range(store: &Store, range: &DeliveryRange, limit: i64) -> Result<u64, StoreError> {
    let row = store.row(&COUNT_DELIVERIES_IN_RANGE, range.args(None, limit)).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// The first `limit` deliveries of `range` after `after`, oldest first.
pub async fn in_range(
    store: &Store,
    range: &DeliveryRange,
    after: Option<DeliveryId>,
    limit: i64,
) -> Result<Vec<DeliveryId>, StoreError> {
    let rows = store.rows(&DELIVERIES_IN_RANGE, range.args(after, limit)).await?;
    rows.iter().map(|row| row.get("id")).collect()
}
