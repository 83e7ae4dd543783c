//! The job of subscriptions. Each version enqueues its own for when something falls due, so a change of the time needs no change of a job:
//! the job of an earlier version finds nothing to do.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, SubscriptionId};
use regente_domain::subscription::Subscription;
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::Kind;
use crate::app::App;

/// Enqueues the job that looks at a subscription of this version when something falls due.
pub fn look_at(app: &App, batch: &mut Batch, subscription: &Subscription, at: Timestamp) {
    let key = key_of_version(subscription.id, subscription.version);
    super::enqueue(app, batch, Kind::Subscription, &key, &subscription.id.to_string(), at);
}

/// The key of the job of a version.
pub fn key_of_version(id: SubscriptionId, version: i64) -> String {
    format!("{id}/{version}")
}

/// Wakes the subscription of a charge whose outcome became known: an attempt has ended.
pub fn wake(app: &App, batch: &mut Batch, before: &Charge, after: &Charge) {
    let Some(subscription_id) = after.subscription_id else { return };
    if before.state.name() == after.state.name() {
        return;
    }
    look_at_charge(app, batch, subscription_id, after.id, &format!("{}/{}", after.id, after.version));
}

/// Wakes the subscription of a charge whose outcome nobody looks up any more.
pub fn wake_unanswered(app: &App, batch: &mut Batch, subscription_id: SubscriptionId, charge_id: ChargeId) {
    look_at_charge(app, batch, subscription_id, charge_id, &format!("{charge_id}/given_up"));
}

fn look_at_charge(
    app: &App,
    batch: &mut Batch,
    subscription_id: SubscriptionId,
    charge_id: ChargeId,
    key: &str,
) {
    let now = app.clock.of(batch.client_id());
    super::enqueue(app, batch, Kind::Subscription, key, &format!("{subscription_id}/{charge_id}"), now);
}

/// The subscription that a job looks at, and the charge because of which it does.
pub fn parse(payload: &str) -> Option<(SubscriptionId, Option<ChargeId>)> {
    match payload.split_once('/') {
        None => Some((payload.parse().ok()?, None)),
        Some((id, charge_id)) => Some((id.parse().ok()?, Some(charge_id.parse().ok()?))),
    }
}
