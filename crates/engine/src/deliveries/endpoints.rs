//! Tracks endpoints in memory and limits their concurrent attempts. An endpoint is one origin (scheme, host and port)
//! of one account, shared by its webhooks. An endpoint that has not answered yet, or whose last attempt failed, is in
//! doubt and gets a single attempt; all endpoints in doubt together get at most half of the room. An account gets at
//! most half of the room, and its endpoints in doubt half of that. So a dead endpoint delays no other one, and no
//! account delays another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regente_domain::id::ClientId;
use regente_store::webhooks::Webhook;
use reqwest::Url;

use crate::settings::WebhookSettings;

/// Most tracked endpoints; above this number, those without attempts under way are dropped.
const CACHED_ENDPOINTS_MAX: usize = 10_000;
/// Concurrent attempts to an endpoint in doubt.
const IN_DOUBT_MAX: usize = 1;

/// The endpoints of a process. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Endpoints(Arc<Mutex<EndpointTable>>);

#[derive(Default)]
struct EndpointTable {
    endpoints: HashMap<Key, Endpoint>,
    clients: HashMap<ClientId, UnderWay>,
    in_all: UnderWay,
}

/// Counts attempts under way.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    number: usize,
    /// Those to endpoints in doubt.
    in_doubt: usize,
}

/// An origin of an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    client_id: ClientId,
    origin: String,
}

impl Key {
    pub(super) fn of(webhook: &Webhook) -> Self {
        let origin = Url::parse(&webhook.endpoint)
            .map_or_else(|_| webhook.endpoint.clone(), |url| url.origin().ascii_serialization());
        Self { client_id: webhook.client_id, origin }
    }
}

#[derive(Default)]
struct Endpoint {
    under_way: usize,
    answers: bool,
}

/// The right to make one attempt; dropping it frees the place, even after a panic.
pub(super) struct AttemptSlot {
    endpoints: Endpoints,
    key: Key,
}

impl Endpoints {
    /// Takes as many places for an endpoint as are free.
    pub(super) fn places(&self, key: &Key, settings: &WebhookSettings) -> Vec<AttemptSlot> {
        let room = self.known().take(key, settings);
        (0..room).map(|_| AttemptSlot { endpoints: self.clone(), key: key.clone() }).collect()
    }

    fn known(&self) -> MutexGuard<'_, EndpointTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AttemptSlot {
    /// Records that the endpoint accepted a delivery.
    pub(super) fn trust(&self) {
        let known = &mut *self.endpoints.known();
        if let Some(endpoint) = known.endpoints.get_mut(&self.key)
            && !endpoint.answers
        {
            endpoint.answers = true;
            let number = endpoint.under_way;
            known.each(&self.key, |under_way| under_way.in_doubt = under_way.in_doubt.saturating_sub(number));
        }
    }

    /// Records that an attempt failed.
    pub(super) fn doubt(&self) {
        let known = &mut *self.endpoints.known();
        if let Some(endpoint) = known.endpoints.get_mut(&self.key)
            && endpoint.answers
        {
            endpoint.answers = false;
            let number = endpoint.under_way;
            known.each(&self.key, |under_way| under_way.in_doubt += number);
        }
    }
}

impl EndpointTable {
    fn take(&mut self, key: &Key, settings: &WebhookSettings) -> usize {
        if self.endpoints.len() >= CACHED_ENDPOINTS_MAX {
            self.endpoints.retain(|_, endpoint| endpoint.under_way > 0);
        }
        let of_client = self.clients.get(&key.client_id).copied().unwrap_or_default();
        let endpoint = self.endpoints.entry(key.clone()).or_default();
        let share = half(settings.concurrent_max);
        let left = settings
            .concurrent_max
            .saturating_sub(self.in_all.number)
            .min(share.saturating_sub(of_client.number));
        let room = if endpoint.answers {
            left.min(settings.concurrent_per_endpoint_max.saturating_sub(endpoint.under_way))
        } else {
            left.min(half(settings.concurrent_max).saturating_sub(self.in_all.in_doubt))
                .min(half(share).saturating_sub(of_client.in_doubt))
                .min(IN_DOUBT_MAX.saturating_sub(endpoint.under_way))
        };
        endpoint.under_way += room;
        let in_doubt = if endpoint.answers { 0 } else { room };
        if room > 0 {
            self.each(key, |under_way| {
                under_way.number += room;
                under_way.in_doubt += in_doubt;
            });
        }
        room
    }

    /// Updates the total and the account's count.
    fn each(&mut self, key: &Key, count: impl Fn(&mut UnderWay)) {
        count(&mut self.in_all);
        let of_client = self.clients.entry(key.client_id).or_default();
        count(of_client);
        if of_client.number == 0 {
            self.clients.remove(&key.client_id);
        }
    }
}

/// Half, but at least one.
fn half(room: usize) -> usize {
    (room / 2).max(1)
}

impl Drop for AttemptSlot {
    fn drop(&mut self) {
        let known = &mut *self.endpoints.known();
        let Some(endpoint) = known.endpoints.get_mut(&self.key) else { return };
        endpoint.under_way = endpoint.under_way.saturating_sub(1);
        let in_doubt = usize::from(!endpoint.answers);
        known.each(&self.key, |under_way| {
            under_way.number = under_way.number.saturating_sub(1);
            under_way.in_doubt = under_way.in_doubt.saturating_sub(in_doubt);
        });
    }
}
