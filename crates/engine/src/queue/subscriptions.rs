//! The jobs of subscriptions. What falls due later has one job for each moment, however many changes lie before it; where a change moves
//! the moment, the job of the former one finds nothing to do. What is due at once has a job for each version.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, SubscriptionId};
use regente_domain::subscription::Subscription;
use regente_domain::time::Timestamp;
use regente_store::{Batch, jobs};

use super::Kind;
use crate::app::App;

/// Enqueues the job that looks at a subscription when something falls due.
pub fn look_at(app: &App, batch: &mut Batch, id: SubscriptionId, at: Timestamp) {
    super::enqueue(app, batch, Kind::Subscription, &key_of_moment(id, at), &id.to_string(), at);
}

/// Enqueues a job that looks at this version now. It is not that of a moment, which may be running and have looked already.
pub fn look_now(app: &App, batch: &mut Batch, subscription: &Subscription) {
    let (id, now) = (subscription.id, app.clock.of(batch.client_id()));
    let key = format!("{id}/{}", subscription.version);
    super::enqueue(app, batch, Kind::Subscription, &key, &id.to_string(), now);
}

/// The key of the job that looks at this moment.
pub fn key_of_moment(id: SubscriptionId, at: Timestamp) -> String {
    format!("{id}@{}", at.as_millis())
}

/// Wakes the subscription of a charge whose outcome became known: an attempt has ended.
pub fn wake(app: &App, batch: &mut Batch, before: &Charge, after: &Charge) {
    let Some(subscription_id) = after.subscription_id else { return };
    if before.state.name() == after.state.name() {
        return;
    }
    look_at_charge(app, batch, subscription_id, after.id, &key_of_outcome(after.id, after.version));
}

/// Takes off the job that would wake the subscription for this version of a charge: the batch has what it tells.
pub fn heard(batch: &mut Batch, charge_id: ChargeId, version: i64) {
    jobs::take_off(batch, Kind::Subscription.word(), &key_of_outcome(charge_id, version));
}

fn key_of_outcome(charge_id: ChargeId, version: i64) -> String {
    format!("{charge_id}/{version}")
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
