//! Replays deliveries on request: the schedule starts again, the event keeps its id.

use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_store::deliveries::{self, Delivery};
use regente_store::{Batch, Commit};

use crate::app::App;
use crate::error::Error;
use crate::races;

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The delivery is due now.
    Due(Box<Delivery>),
    /// An attempt is under way: wait for its result.
    UnderWay,
    /// The webhook has no such delivery.
    NoDelivery,
}

/// Makes a delivery due now. `record` adds the audit entry to the batch. The caller must have been admitted by the
/// store.
///
/// # Errors
/// The database failed, or other changes of the delivery kept coming first.
pub async fn replay(
    app: &App,
    client_id: ClientId,
    webhook_id: WebhookId,
    id: DeliveryId,
    record: impl Fn(&mut Batch),
) -> Result<Replayed, Error> {
    let now = app.clock.of(client_id);
    let find = async || deliveries::find(&app.store, client_id, webhook_id, id).await;
    for _ in races::tries() {
        let Some(delivery) = find().await? else { return Ok(Replayed::NoDelivery) };
        if delivery.began_at.is_some() {
            return Ok(Replayed::UnderWay);
        }
        let mut batch = Batch::new(client_id);
        deliveries::replay(&mut batch, &delivery, now);
        record(&mut batch);
        match app.store.apply(batch).await? {
            Commit::Applied => {
                let replayed = find().await?;
                return Ok(
                    replayed.map_or(Replayed::NoDelivery, |delivery| Replayed::Due(Box::new(delivery)))
                );
            }
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}
