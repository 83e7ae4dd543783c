//! The jobs that drive purchases. A purchase may have several at once: each operation enqueues its own, so that the end
//! of one job does not lose another operation.

use regente_domain::charge::Charge;
use regente_domain::purchase::Purchase;
use regente_store::Batch;

use super::Kind;
use crate::app::App;

/// The name of this work, as an actor and in logs.
pub const KIND: &str = Kind::Purchase.word();

/// Enqueues a job that drives the purchase.
pub fn enqueue(app: &App, batch: &mut Batch, purchase: &Purchase) {
    let now = app.clock.of(purchase.client_id);
    let key = format!("{}/{}", purchase.id, purchase.version);
    super::enqueue(app, batch, Kind::Purchase, &key, &purchase.id.to_string(), now);
}

/// Wakes the purchase of a charge whose outcome became known: its driver may be waiting for a long time or have given
/// up.
pub fn wake(app: &App, batch: &mut Batch, charge: &Charge) {
    let Some(purchase_id) = charge.purchase_id else { return };
    let now = app.clock.of(charge.client_id);
    let key = format!("{purchase_id}/{}/{}", charge.id, charge.version);
    super::enqueue(app, batch, Kind::Purchase, &key, &purchase_id.to_string(), now);
}
