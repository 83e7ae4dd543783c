//! Replays deliveries on request: the schedule starts again, the event keeps its id.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_store::deliveries::{self, Delivery};
use regente_store::{Batch, Commit};

use crate::app::App;
use crate::audit;
use crate::caller::RequestId;
use crate::error::Error;
use crate::races;

/// The result of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The delivery is due now.
    Due,
    /// An attempt is under way: wait for its result.
    UnderWay,
    /// The webhook has no such delivery.
    NoDelivery,
}

/// A delivery that is due now, and the batch that makes it so.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] while an attempt is under way, since a replay would be a second one.
pub async fn plan(
    app: &App,
    client_id: ClientId,
    by: (&Actor, Option<&RequestId>),
    webhook_id: WebhookId,
    id: DeliveryId,
) -> Result<(Batch, Delivery), Error> {
    let found = deliveries::find(&app.store, client_id, webhook_id, id).await?;
    let before = found.ok_or(Error::NotFound)?;
    if before.began_at.is_some() {
        return Err(Error::conflict(Vec::new()));
    }
    let mut batch = Batch::new(client_id);
    let delivery = deliveries::replay(&mut batch, &before, app.clock.of(client_id));
    audit::record_of(app, &mut batch, by, "delivery.replayed", id.uuid());
    Ok((batch, delivery))
}

/// Makes a delivery due now, for an operator. The caller must have been admitted by the store.
///
/// # Errors
/// The database failed, or other changes of the delivery kept coming first.
pub async fn replay(
    app: &App,
    client_id: ClientId,
    webhook_id: WebhookId,
    id: DeliveryId,
) -> Result<Replayed, Error> {
    for _ in races::tries() {
        let (batch, _) = match plan(app, client_id, (&Actor::Operator, None), webhook_id, id).await {
            Ok(planned) => planned,
            Err(Error::NotFound) => return Ok(Replayed::NoDelivery),
            Err(Error::Conflict { .. }) => return Ok(Replayed::UnderWay),
            Err(error) => return Err(error),
        };
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(Replayed::Due),
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}
