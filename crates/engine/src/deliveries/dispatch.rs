//! Turns events into deliveries, one for each webhook that subscribes to them, in the order of the events.
//!
//! The batch that adds the deliveries of an event also marks it as dispatched, and a second such batch is refused: any
//! number of nodes may dispatch at once without duplicates.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use regente_domain::charge::ChargeStatus;
use regente_domain::id::{ClientId, Id};
use regente_domain::webhook::schedule::POSTPONED_FOR;
use regente_domain::webhook::{DeliveryStatus, EventName};
use regente_store::deliveries::{self, Delivery};
use regente_store::events::{self, Undispatched};
use regente_store::readable::Readable;
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit, StoreError};
use serde::Deserialize;
use uuid::Uuid;

use super::backoff::Backoff;
use super::payload;
use crate::accounts;
use crate::app::App;
use crate::error::Error;

/// Most clients of one round; the next round continues after them.
const CLIENTS_MAX: usize = 100;
/// Clients whose events are serialized concurrently.
const CLIENTS_AT_ONCE: usize = 4;
/// Most events of a client in one batch.
const EVENTS_MAX: i64 = 50;
/// Events of a client that are serialized concurrently.
const EVENTS_AT_ONCE: usize = 4;
/// The assumed difference between the clocks of two nodes. A webhook must get events that happened after its creation,
/// even when their clocks differ.
const CLOCKS_DIFFER_BY: Duration = Duration::from_secs(60);

/// Makes deliveries from undispatched events.
pub(super) struct Dispatcher {
    app: App,
    /// Clients whose events another node is dispatching.
    backoff: Backoff<ClientId>,
    /// The client after which the next round begins.
    after: Mutex<Option<ClientId>>,
}

impl Dispatcher {
    pub(super) fn new(app: App) -> Self {
        Self { app, backoff: Backoff::default(), after: Mutex::default() }
    }

    /// Runs one round and returns the number of events dispatched.
    pub(super) async fn round(&self) -> Result<usize, Error> {
        let after = self.after().unwrap_or(Id::new(Uuid::nil()));
        let store = &self.app.store;
        let found = events::clients_to_dispatch(store, after, CLIENTS_MAX).await;
        let clients = accounts::found_or_all(store, found, after, CLIENTS_MAX).await?;
        let is_last = clients.len() < CLIENTS_MAX;
        self.set_after(clients.last().copied().filter(|_| !is_last));
        // The job that advances the clock of an account dispatches its events.
        let clients = clients.into_iter().filter(|client_id| !self.app.clock.is_advancing(*client_id));
        let dispatched = stream::iter(clients)
            .map(|client_id| self.of_client_or_later(client_id).boxed())
            .buffer_unordered(CLIENTS_AT_ONCE)
            .fold(0, async |dispatched, more| dispatched + more)
            .await;
        Ok(dispatched)
    }

    /// Dispatches some events of an account and returns how many.
    pub(super) async fn of_account(&self, client_id: ClientId) -> usize {
        self.of_client_or_later(client_id).await
    }

    /// Dispatches a client's events; rows of one client that cannot be read or reached do not block the others.
    async fn of_client_or_later(&self, client_id: ClientId) -> usize {
        self.of_client(client_id).await.unwrap_or_else(|error| {
            tracing::error!(
                client = %client_id, error = &error as &dyn std::error::Error,
                "events of an account cannot be dispatched"
            );
            self.backoff.begin(client_id, self.app.clock.machine());
            0
        })
    }

    async fn of_client(&self, client_id: ClientId) -> Result<usize, Error> {
        let app = &self.app;
        if self.backoff.applies_to(&client_id, app.clock.machine()) {
            return Ok(0);
        }
        let now = app.clock.of(client_id);
        let Readable { read: waiting, unreadable } =
            events::to_dispatch(&app.store, client_id, now, EVENTS_MAX).await?;
        tell_unreadable("event", &unreadable);
        if waiting.is_empty() && unreadable.is_empty() {
            return Ok(0);
        }
        let mut postponed: Vec<Uuid> = unreadable.into_iter().map(|(id, _)| id).collect();
        let Readable { read: webhooks, unreadable } = webhooks::active(&app.store, client_id).await?;
        tell_unreadable("webhook", &unreadable);
        let snapshots: Vec<_> = waiting.iter().map(|event| snapshot(app, client_id, event)).collect();
        let snapshots: Vec<_> = stream::iter(snapshots).buffered(EVENTS_AT_ONCE).collect().await;
        let mut batch = Batch::new(client_id);
        for (event, snapshot) in waiting.iter().zip(snapshots) {
            match snapshot {
                Ok(snapshot) => {
                    let deliveries = deliveries_of(app, client_id, event, &snapshot, &webhooks);
                    let is_said = !deliveries.is_empty();
                    events::dispatched(&mut batch, event, is_said.then_some(snapshot.as_str()));
                    deliveries.iter().for_each(|delivery| deliveries::insert(&mut batch, delivery));
                }
                Err(payload::PayloadError::Store(error @ StoreError::Unavailable(_))) => {
                    return Err(error.into());
                }
                Err(error) => {
                    tracing::error!(
                        event = %event.id, name = event.full_name, error = &error as &dyn std::error::Error,
                        "an event cannot be delivered"
                    );
                    postponed.push(event.id.uuid());
                }
            }
        }
        if !postponed.is_empty() {
            events::postpone(&mut batch, &postponed, now + POSTPONED_FOR);
        }
        let _admission = app.store.admit_waiting().await?;
        Ok(match app.store.apply(batch).await? {
            Commit::Applied => waiting.len(),
            // Another node dispatched one of the events first; a later round takes the rest.
            Commit::Refused(_) | Commit::Unknown => {
                self.backoff.begin(client_id, app.clock.machine());
                0
            }
        })
    }

    fn after(&self) -> Option<ClientId> {
        *self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_after(&self, after: Option<ClientId>) {
        *self.after.lock().unwrap_or_else(PoisonError::into_inner) = after;
    }
}

/// Logs rows that cannot be read.
pub(super) fn tell_unreadable(what: &'static str, unreadable: &[(Uuid, StoreError)]) {
    for (id, error) in unreadable {
        let error = error as &dyn std::error::Error;
        tracing::error!(what, %id, error, "a row about webhooks cannot be read; the others are processed");
    }
}

async fn snapshot(
    app: &App,
    client_id: ClientId,
    event: &Undispatched,
) -> Result<String, payload::PayloadError> {
    match &event.snapshot {
        Some(snapshot) => Ok(snapshot.clone()),
        None => payload::data(app, client_id, event).await,
    }
}

fn deliveries_of(
    app: &App,
    client_id: ClientId,
    event: &Undispatched,
    snapshot: &str,
    webhooks: &[Webhook],
) -> Vec<Delivery> {
    let Some(name) = EventName::parse(&event.full_name) else {
        tracing::error!(event = %event.id, name = event.full_name, "no webhook can subscribe to this event");
        return Vec::new();
    };
    let now = app.clock.of(client_id);
    // A webhook that was made after the event did not ask for it; a listener asks for as long as it listens.
    let asking = webhooks
        .iter()
        .filter(|webhook| webhook.event.wants(name))
        .filter(|webhook| webhook.id.created_at() <= event.id.created_at() + CLOCKS_DIFFER_BY)
        .filter(|webhook| webhook.listens_until.is_none_or(|until| now < until));
    let is_partial_refund = is_partial_refund(name, snapshot);
    let sent = |webhook: &Webhook| {
        if is_partial_refund { webhook.partial_refund.event() } else { Some(name) }
    };
    asking
        .filter_map(|webhook| sent(webhook).map(|name| (webhook, name)))
        .map(|(webhook, name)| Delivery {
            id: app.chance.id(now),
            client_id: webhook.client_id,
            webhook_id: webhook.id,
            event_id: event.id,
            event: name.word().to_owned(),
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
        })
        .collect()
}

/// Whether an event tells of a refund of a part: `transaction.voided` of a charge that is still authorized.
fn is_partial_refund(name: EventName, snapshot: &str) -> bool {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        status: Cow<'a, str>,
    }
    name == EventName::TransactionVoided
        && serde_json::from_str::<Data<'_>>(snapshot)
            .is_ok_and(|data| data.status == ChargeStatus::Authorized.word())
}
