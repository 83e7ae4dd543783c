//! Events become deliveries, one for each webhook that asks for them (W1), in the order in which they happened.
//!
//! The batch that adds the deliveries of an event ends its dispatch, and who comes second is refused: any number of
//! nodes may do it at once, and none of them adds a delivery twice.

use std::time::Duration;

use regente_domain::id::ClientId;
use regente_domain::webhook::{DeliveryStatus, EventName};
use regente_store::deliveries::{self, Delivery};
use regente_store::events::{self, Undispatched};
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit};

use super::payload;
use crate::api::error::ApiError;
use crate::app::App;

/// Clients looked at in one round.
const CLIENTS_MAX: i64 = 100;
/// Events of a client in one batch.
const EVENTS_MAX: i64 = 50;
/// When to come back to an event that cannot be put into words.
const POSTPONED_FOR: Duration = Duration::from_secs(5 * 60);

/// Makes deliveries from what waits; answers how many events became some.
pub(super) async fn round(app: &App) -> Result<usize, ApiError> {
    let mut dispatched = 0;
    for client_id in events::clients_to_dispatch(&app.store, app.clock.now(), CLIENTS_MAX).await? {
        dispatched += of_client(app, client_id).await?;
    }
    Ok(dispatched)
}

async fn of_client(app: &App, client_id: ClientId) -> Result<usize, ApiError> {
    let now = app.clock.now();
    let waiting = events::to_dispatch(&app.store, client_id, now, EVENTS_MAX).await?;
    let webhooks = webhooks::active(&app.store, client_id).await?;
    let mut batch = Batch::new(client_id);
    for event in &waiting {
        match snapshot(app, client_id, event).await {
            Ok(snapshot) => {
                events::dispatched(&mut batch, event, &snapshot);
                add_deliveries(app, &mut batch, event, &webhooks);
            }
            Err(payload::PayloadError::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(
                    event = %event.id, name = event.full_name, error = &error as &dyn std::error::Error,
                    "an event cannot be delivered"
                );
                events::postpone(&mut batch, event, now + POSTPONED_FOR);
            }
        }
    }
    let _admission = app.store.admit_waiting().await?;
    Ok(match app.store.apply(batch).await? {
        Commit::Applied => waiting.len(),
        // Another node was first with one of them; what is left is met again.
        Commit::Refused(_) | Commit::Unknown => 0,
    })
}

async fn snapshot(
    app: &App,
    client_id: ClientId,
    event: &Undispatched,
) -> Result<String, payload::PayloadError> {
    match &event.snapshot {
        Some(snapshot) => Ok(snapshot.clone()),
        None => payload::data(&app.store, client_id, event).await,
    }
}

fn add_deliveries(app: &App, batch: &mut Batch, event: &Undispatched, webhooks: &[Webhook]) {
    let Some(name) = EventName::parse(&event.full_name) else {
        tracing::error!(event = %event.id, name = event.full_name, "no webhook can ask for this event");
        return;
    };
    let now = app.clock.now();
    // A webhook that was made after the event did not ask for it; a listener asks for as long as it listens.
    let asking = webhooks
        .iter()
        .filter(|webhook| webhook.event.wants(name) && webhook.id.created_at() <= event.id.created_at())
        .filter(|webhook| webhook.listens_until.is_none_or(|until| now < until));
    for webhook in asking {
        let delivery = Delivery {
            id: app.chance.id(now),
            client_id: webhook.client_id,
            webhook_id: webhook.id,
            event_id: event.id,
            event: event.full_name.clone(),
            object_id: event.object_id,
            object_version: event.version,
            ordinal: event.ordinal,
            api_version: webhook.api_version,
            status: DeliveryStatus::Pending,
            attempts: 0,
            tries: 0,
            due_at: webhook.listens_until.is_none().then_some(now),
            began_at: None,
            updated_at: now,
        };
        deliveries::insert(batch, &delivery);
    }
}
