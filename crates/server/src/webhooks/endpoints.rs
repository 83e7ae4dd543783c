//! What a process knows of endpoints, and so how many attempts each may have under way. One that has not answered yet has
//! a single one, and so has one whose last attempt failed; all of those together take at most half of the room. A dead
//! endpoint delays nobody else. Nothing of this is stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regente_domain::id::WebhookId;

use super::settings::WebhookSettings;

/// Endpoints that are remembered; past it those with nothing under way are forgotten.
const REMEMBERED_MAX: usize = 10_000;
/// Attempts under way at once to an endpoint that does not answer.
const IN_DOUBT_MAX: usize = 1;

/// What a process knows of endpoints. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Endpoints(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    endpoints: HashMap<WebhookId, Endpoint>,
    under_way: usize,
    /// Those of them to endpoints that do not answer.
    in_doubt: usize,
}

#[derive(Default)]
struct Endpoint {
    under_way: usize,
    answers: bool,
}

/// A place for one attempt, for as long as it lives, also when the attempt panics.
pub(super) struct Place {
    endpoints: Endpoints,
    webhook_id: WebhookId,
}

impl Endpoints {
    /// Places for attempts to an endpoint, as many as there is room for.
    pub(super) fn places(&self, webhook_id: WebhookId, settings: &WebhookSettings) -> Vec<Place> {
        let mut known = self.known();
        let room = known.take(webhook_id, settings);
        (0..room).map(|_| Place { endpoints: self.clone(), webhook_id }).collect()
    }

    /// It took what it was sent.
    pub(super) fn trust(&self, webhook_id: WebhookId) {
        let known = &mut *self.known();
        if let Some(endpoint) = known.endpoints.get_mut(&webhook_id)
            && !endpoint.answers
        {
            endpoint.answers = true;
            known.in_doubt = known.in_doubt.saturating_sub(endpoint.under_way);
        }
    }

    /// It did not.
    pub(super) fn doubt(&self, webhook_id: WebhookId) {
        let known = &mut *self.known();
        if let Some(endpoint) = known.endpoints.get_mut(&webhook_id)
            && endpoint.answers
        {
            endpoint.answers = false;
            known.in_doubt += endpoint.under_way;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, webhook_id: WebhookId, settings: &WebhookSettings) -> usize {
        if self.endpoints.len() >= REMEMBERED_MAX {
            self.endpoints.retain(|_, endpoint| endpoint.under_way > 0);
        }
        let endpoint = self.endpoints.entry(webhook_id).or_default();
        let in_all = settings.concurrent_max.saturating_sub(self.under_way);
        let room = if endpoint.answers {
            in_all.min(settings.concurrent_per_endpoint_max.saturating_sub(endpoint.under_way))
        } else {
            let in_doubt = (settings.concurrent_max / 2).max(1).saturating_sub(self.in_doubt);
            in_all.min(in_doubt).min(IN_DOUBT_MAX.saturating_sub(endpoint.under_way))
        };
        endpoint.under_way += room;
        self.under_way += room;
        if !endpoint.answers {
            self.in_doubt += room;
        }
        room
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let known = &mut *self.endpoints.known();
        known.under_way = known.under_way.saturating_sub(1);
        let Some(endpoint) = known.endpoints.get_mut(&self.webhook_id) else { return };
        endpoint.under_way = endpoint.under_way.saturating_sub(1);
        if !endpoint.answers {
            known.in_doubt = known.in_doubt.saturating_sub(1);
        }
    }
}
