//! Test events: `ping` goes to one webhook, whatever it asks for.

use regente_domain::id::{Id, of};
use regente_domain::webhook::DeliveryStatus;
use regente_store::deliveries::{self, Delivery};
use regente_store::webhooks::Webhook;
use regente_store::{Batch, events};

use crate::app::App;
use crate::caller::Caller;

/// The delivery of a new test event, and the batch that writes both.
pub fn plan(app: &App, caller: &Caller, webhook: &Webhook) -> (Batch, Delivery) {
    let now = app.clock.of(caller.client_id);
    let event_id: Id<of::Event> = app.chance.id(now);
    let delivery = Delivery {
        id: app.chance.id(now),
        client_id: caller.client_id,
        webhook_id: webhook.id,
        event_id,
        event: events::PING.to_owned(),
        object_id: event_id.uuid(),
        object_version: events::PING_VERSION,
        ordinal: 0,
        api_version: webhook.api_version,
        status: DeliveryStatus::Pending,
        attempts: 0,
        tries: 0,
        due_at: Some(now),
        began_at: None,
        updated_at: now,
    };
    let mut batch = Batch::new(caller.client_id);
    events::ping(&mut batch, event_id, &caller.actor());
    deliveries::insert(&mut batch, &delivery);
    (batch, delivery)
}
