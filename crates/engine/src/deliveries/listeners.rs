//! Listeners: `regente webhooks listen` gets deliveries like a webhook but fetches them. Fetched deliveries are signed
//! as if they were sent now, with a key that lives as long as the listener.
//!
//! This module makes no calls: the listener forwards deliveries to its own destination.

use std::time::Duration;

use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::LISTENER_AWAITED_FOR;
use regente_domain::webhook::{EventFilter, PartialRefund, Version};
use regente_store::deliveries::DueDelivery;
use regente_store::listeners;
use regente_store::webhooks::{KeyPair, PUBLIC_KEY_BYTES, Webhook};
use regente_store::{Batch, Commit};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::keys::Signer;
use super::signature::SigningKey;
use super::{attempt, payload};
use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose};

/// Most events in one fetch.
pub const EVENTS_MAX: usize = 100;
/// How often the database is polled while there are no events.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a fetch waits for events before it returns none.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// A new listener.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Its id.
    pub id: WebhookId,
    /// The key that verifies its signatures.
    pub public_key: [u8; PUBLIC_KEY_BYTES],
}

/// An event as it would be sent to a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListenedEvent {
    /// The id that acknowledges the event.
    pub delivery_id: DeliveryId,
    /// The full name of the event.
    pub event: String,
    /// The object that the event is about.
    pub object_id: Uuid,
    /// When it happened.
    pub happened_at: Timestamp,
    /// Names and values of the HTTP headers.
    pub headers: Vec<(String, String)>,
    /// The body, in JSON.
    pub body: String,
}

/// Why no events were fetched.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The listener has expired or never existed.
    #[error("this listener was not heard of for too long and is over; begin anew")]
    Over,
    /// The database or the keys failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<regente_store::StoreError> for ListenError {
    fn from(error: regente_store::StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// Creates a listener for events from now on.
///
/// # Errors
/// [`ListenError::Failed`].
pub async fn begin(app: &App, client_id: ClientId, event: EventFilter) -> Result<Listener, ListenError> {
    let (batch, listener) = plan(app, client_id, event).await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(listener),
        // If the listener was written after all, it expires by itself.
        Commit::Refused(_) | Commit::Unknown => Err(Error::busy().into()),
    }
}

/// Plans a listener for events from the commit of the batch on.
///
/// # Errors
/// The database or the keys failed.
pub async fn plan(app: &App, client_id: ClientId, event: EventFilter) -> Result<(Batch, Listener), Error> {
    app.vault.keep_current().await?;
    let now = app.clock.of(client_id);
    let id: WebhookId = app.chance.id(now);
    let key = SigningKey::generate(&app.chance).map_err(Error::internal)?;
    let binding = Binding::new(Purpose::WebhookKey, client_id, id.uuid());
    let until = now + LISTENER_AWAITED_FOR;
    let webhook = Webhook {
        id,
        client_id,
        event,
        endpoint: format!("listen:{id}"),
        sent_endpoint: None,
        partial_refund: PartialRefund::Voided,
        api_version: Version::V1_1,
        active: true,
        key: KeyPair { public: key.public(), private: app.vault.seal(binding, key.seed()) },
        next_key: None,
        lost_in_a_row: 0,
        version: 1,
        updated_at: id.created_at(),
        listens_until: Some(until),
    };
    let mut batch = Batch::new(client_id);
    listeners::insert(&mut batch, &webhook, until);
    Ok((batch, Listener { id, public_key: key.public() }))
}

/// Deletes the events in `told` and waits for further ones; returns none if none come for a while.
///
/// # Errors
/// [`ListenError`]; events that were not deleted are returned again.
pub async fn hear(
    app: &App,
    client_id: ClientId,
    id: WebhookId,
    told: &[DeliveryId],
) -> Result<Vec<ListenedEvent>, ListenError> {
    hear_within(app, client_id, id, told, WAIT_MAX).await
}

/// The same, with the time that is waited for events.
///
/// # Errors
/// As [`hear`].
pub async fn hear_within(
    app: &App,
    client_id: ClientId,
    id: WebhookId,
    told: &[DeliveryId],
    wait: Duration,
) -> Result<Vec<ListenedEvent>, ListenError> {
    let now = app.clock.of(client_id);
    let mut batch = Batch::new(client_id);
    listeners::go_on(&mut batch, id, now, now + LISTENER_AWAITED_FOR);
    listeners::forget(&mut batch, id, told);
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        Commit::Refused(_) => return Err(ListenError::Over),
        Commit::Unknown => return Err(Error::busy().into()),
    }
    let webhook = listeners::find(&app.store, client_id, id).await?.ok_or(ListenError::Over)?;
    let began = app.clock.machine();
    loop {
        let waiting = listeners::waiting(&app.store, client_id, id, EVENTS_MAX).await?;
        if !waiting.is_empty() || app.clock.machine().since(began) >= wait {
            if waiting.is_empty() {
                return Ok(Vec::new());
            }
            let now = app.clock.of(client_id);
            let signer = Signer::open(app, &webhook, now).await?;
            let mut heard = Vec::with_capacity(waiting.len());
            for due in &waiting {
                heard.push(sign(app, &signer, now, due).await?);
            }
            return Ok(heard);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn sign(app: &App, signer: &Signer, now: Timestamp, due: &DueDelivery) -> Result<ListenedEvent, Error> {
    let delivery = &due.delivery;
    let body = payload::body(app, due).await?;
    let headers = attempt::headers(delivery, signer, now, &body)?;
    let headers = headers.iter().map(|(name, value)| {
        let value = value.to_str().map_err(Error::internal)?;
        Ok((name.as_str().to_owned(), value.to_owned()))
    });
    Ok(ListenedEvent {
        delivery_id: delivery.id,
        event: delivery.event.clone(),
        object_id: delivery.object_id,
        happened_at: delivery.event_id.created_at(),
        headers: headers.collect::<Result<_, Error>>()?,
        body: String::from_utf8(body).map_err(Error::internal)?,
    })
}

/// Whether there is such a listener, also one that ended recently.
///
/// # Errors
/// The database failed.
pub async fn exists(app: &App, client_id: ClientId, id: WebhookId) -> Result<bool, Error> {
    Ok(listeners::find(&app.store, client_id, id).await?.is_some())
}

/// Ends the listener and deletes the events in `told`.
///
/// # Errors
/// [`ListenError::Failed`]; the listener then expires by itself.
pub async fn end(
    app: &App,
    client_id: ClientId,
    id: WebhookId,
    told: &[DeliveryId],
) -> Result<(), ListenError> {
    let mut batch = Batch::new(client_id);
    listeners::end(&mut batch, id, app.clock.of(client_id));
    listeners::forget(&mut batch, id, told);
    // If this was not written, the listener expires by itself.
    let _ = app.store.apply(batch).await?;
    Ok(())
}
