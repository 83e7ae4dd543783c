//! Hears the account's events like a webhook (`docs/webhooks.md`) and keeps the newest ones in memory, as long as
//! somebody has the shop open.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::EventFilter;
use regente_engine::clock::MachineTime;
use regente_engine::deliveries::listeners::{self, ListenError, ListenedEvent, Listener};
use serde::Serialize;
use serde_json::Value;

use crate::app::App;

/// The most events that are kept.
const KEPT_MAX: usize = 200;
/// How long after a page asked last events are still heard.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// The events of an account.
pub(super) struct Events {
    client_id: ClientId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    heard: VecDeque<Event>,
    last_number: i64,
    /// When a page asked last.
    asked_at: Option<MachineTime>,
    is_listening: bool,
}

/// One event.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Event {
    number: i64,
    name: String,
    at: Timestamp,
    /// What a webhook gets.
    body: Value,
}

impl Events {
    pub(super) fn of(client_id: ClientId) -> Self {
        Self { client_id, state: Mutex::default() }
    }

    /// Hears events from now on, unless it does already.
    pub(super) async fn listen(self: &Arc<Self>, app: &App) {
        {
            let mut state = self.state();
            state.asked_at = Some(app.clock.machine());
            if std::mem::replace(&mut state.is_listening, true) {
                return;
            }
        }
        match listeners::begin(app, self.client_id, EventFilter::Everything).await {
            Ok(listener) => drop(tokio::spawn(Arc::clone(self).go_on(app.clone(), listener))),
            // The next question begins anew.
            Err(error) => self.fail(&error),
        }
    }

    /// The events of a merchant after the one with this number, oldest first.
    pub(super) fn after(&self, number: i64, merchant_id: Option<&str>) -> Vec<Event> {
        let is_of_merchant = |event: &Event| {
            merchant_id.is_some()
                && event.body.pointer("/data/merchantId").and_then(Value::as_str) == merchant_id
        };
        let state = self.state();
        let events = state.heard.iter().filter(|event| event.number > number && is_of_merchant(event));
        events.cloned().collect()
    }

    /// Hears until nobody has asked for a while.
    async fn go_on(self: Arc<Self>, app: App, listener: Listener) {
        let mut told = Vec::new();
        loop {
            match listeners::hear(&app, self.client_id, listener.id, &told).await {
                Ok(heard) => {
                    told = heard.iter().map(|heard| heard.delivery_id).collect();
                    self.keep(heard);
                }
                Err(error @ ListenError::Over) => return self.fail(&error),
                Err(ListenError::Failed(_)) => tokio::time::sleep(PAUSE).await,
            }
            if self.is_forgotten(app.clock.machine()) {
                // What is not ended expires by itself.
                drop(listeners::end(&app, self.client_id, listener.id, &told).await);
                return;
            }
        }
    }

    fn keep(&self, heard: Vec<ListenedEvent>) {
        let mut state = self.state();
        for ListenedEvent { event, happened_at, body, .. } in heard {
            state.last_number += 1;
            let body = serde_json::from_str(&body).unwrap_or_default();
            let event = Event { number: state.last_number, name: event, at: happened_at, body };
            state.heard.push_back(event);
        }
        let too_many = state.heard.len().saturating_sub(KEPT_MAX);
        state.heard.drain(..too_many);
    }

    /// Whether nobody has asked for a while; then it listens no longer.
    fn is_forgotten(&self, now: MachineTime) -> bool {
        let mut state = self.state();
        let is_forgotten = state.asked_at.is_none_or(|asked_at| now.since(asked_at) > PATIENCE);
        state.is_listening = !is_forgotten;
        is_forgotten
    }

    fn fail(&self, error: &ListenError) {
        tracing::debug!(%error, "the demo shop hears no events");
        self.state().is_listening = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
