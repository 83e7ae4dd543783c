//! The courier: turns events into deliveries and hands deliveries over, fairly. Each endpoint has a bounded number of
//! attempts under way; one whose last attempt failed has a single one until it answers again, and all of those together
//! take at most half of the room. A dead endpoint delays nobody else.
//!
//! What is under way is remembered here, what is due is a row: a courier that is gone loses nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use regente_domain::id::{ClientId, Id, WebhookId};
use regente_store::deliveries::{self, DueDelivery};
use regente_store::webhooks::{self, Webhook};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::attempt::{self, Went};
use super::dispatch;
use crate::api::error::ApiError;
use crate::app::App;

/// Webhooks looked at in one round; the next round goes on behind them.
const WEBHOOKS_MAX: i64 = 500;
/// How long nothing is looked for when there was nothing to do.
const POLL: Duration = Duration::from_millis(200);
/// The same when there was something.
const BUSY_POLL: Duration = Duration::from_millis(5);

/// Carries deliveries out. Clones share what they know of endpoints.
#[derive(Clone)]
pub struct Courier {
    app: App,
    known: Arc<Mutex<Known>>,
}

/// What a process knows of endpoints.
#[derive(Default)]
struct Known {
    endpoints: HashMap<WebhookId, Endpoint>,
    under_way: usize,
    under_way_to_suspects: usize,
    /// Where the next round begins.
    after: Option<WebhookId>,
}

#[derive(Default)]
struct Endpoint {
    under_way: usize,
    is_suspect: bool,
}

impl Courier {
    /// A courier of this process.
    pub fn new(app: App) -> Self {
        Self { app, known: Arc::default() }
    }

    /// Does everything that is due now, and waits until it has ended; answers how much that was.
    ///
    /// # Errors
    /// The database failed.
    pub async fn round(&self) -> Result<usize, ApiError> {
        let dispatched = dispatch::round(&self.app).await?;
        let mut attempts = JoinSet::new();
        let begun = self.begin(&mut attempts).await?;
        while attempts.join_next().await.is_some() {}
        Ok(dispatched + begun)
    }

    /// Goes on until `stop` ends; what has begun is finished.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut attempts = JoinSet::new();
        loop {
            let did = async {
                let dispatched = dispatch::round(&self.app).await?;
                Ok::<_, ApiError>(dispatched + self.begin(&mut attempts).await?)
            };
            let pause = match did.await {
                Ok(0) => POLL,
                Ok(_) => BUSY_POLL,
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "webhooks wait for the database"
                    );
                    POLL
                }
            };
            while attempts.try_join_next().is_some() {}
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => {}
                // There is room again.
                Some(_) = attempts.join_next() => {}
            }
        }
        while attempts.join_next().await.is_some() {}
    }

    /// Begins attempts of what is due, as far as there is room; answers how many.
    async fn begin(&self, attempts: &mut JoinSet<()>) -> Result<usize, ApiError> {
        let (store, now) = (&self.app.store, self.app.clock.now());
        let after = self.known().after.unwrap_or(Id::new(Uuid::nil()));
        let due = deliveries::webhooks_with_due(store, after, now, WEBHOOKS_MAX).await?;
        let is_last = due.len() < usize::try_from(WEBHOOKS_MAX).unwrap_or(usize::MAX);
        self.known().after = due.last().map(|(_, id)| *id).filter(|_| !is_last);
        let mut begun = 0;
        for (client_id, webhook_id) in due {
            begun += self.begin_for(client_id, webhook_id, attempts).await?;
        }
        Ok(begun)
    }

    async fn begin_for(
        &self,
        client_id: ClientId,
        webhook_id: WebhookId,
        attempts: &mut JoinSet<()>,
    ) -> Result<usize, ApiError> {
        let room = self.room(webhook_id);
        if room == 0 {
            return Ok(0);
        }
        let limit = i64::try_from(room).unwrap_or(i64::MAX);
        let store = &self.app.store;
        let due = deliveries::due(store, client_id, webhook_id, self.app.clock.now(), limit).await?;
        if due.is_empty() {
            return Ok(0);
        }
        let Some(webhook) = webhooks::find(store, client_id, webhook_id).await? else { return Ok(0) };
        let webhook = Arc::new(webhook);
        let begun = due.len();
        for due in due {
            let under_way = UnderWay::begin(self, webhook_id);
            attempts.spawn(self.clone().attempt(Arc::clone(&webhook), due, under_way));
        }
        Ok(begun)
    }

    async fn attempt(self, webhook: Arc<Webhook>, due: DueDelivery, under_way: UnderWay) {
        match attempt::run(&self.app, &webhook, &due).await {
            Ok(Went::Well) => self.known().trust(webhook.id),
            Ok(Went::Badly) => self.known().suspect(webhook.id),
            Ok(Went::Elsewhere) => {}
            Err(error) => tracing::error!(
                delivery = %due.delivery.id, error = &error as &dyn std::error::Error,
                "an attempt to deliver could not be ended; it is made again"
            ),
        }
        drop(under_way);
    }

    /// How many more attempts an endpoint may have under way.
    fn room(&self, webhook_id: WebhookId) -> usize {
        let settings = &self.app.settings.webhooks;
        let known = self.known();
        let in_all = settings.concurrent_max.saturating_sub(known.under_way);
        let Some(endpoint) = known.endpoints.get(&webhook_id) else {
            return in_all.min(settings.concurrent_per_endpoint_max);
        };
        if endpoint.is_suspect {
            let of_suspects = (settings.concurrent_max / 2).saturating_sub(known.under_way_to_suspects);
            return in_all.min(of_suspects).min(1_usize.saturating_sub(endpoint.under_way));
        }
        in_all.min(settings.concurrent_per_endpoint_max.saturating_sub(endpoint.under_way))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn trust(&mut self, webhook_id: WebhookId) {
        if let Some(endpoint) = self.endpoints.get_mut(&webhook_id)
            && endpoint.is_suspect
        {
            endpoint.is_suspect = false;
            self.under_way_to_suspects = self.under_way_to_suspects.saturating_sub(endpoint.under_way);
        }
    }

    fn suspect(&mut self, webhook_id: WebhookId) {
        if let Some(endpoint) = self.endpoints.get_mut(&webhook_id)
            && !endpoint.is_suspect
        {
            endpoint.is_suspect = true;
            self.under_way_to_suspects += endpoint.under_way;
        }
    }
}

/// Counts one attempt for as long as it lives, also when it panics.
struct UnderWay {
    known: Arc<Mutex<Known>>,
    webhook_id: WebhookId,
}

impl UnderWay {
    fn begin(courier: &Courier, webhook_id: WebhookId) -> Self {
        let mut known = courier.known();
        known.under_way += 1;
        let endpoint = known.endpoints.entry(webhook_id).or_default();
        endpoint.under_way += 1;
        if endpoint.is_suspect {
            known.under_way_to_suspects += 1;
        }
        Self { known: Arc::clone(&courier.known), webhook_id }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.under_way = known.under_way.saturating_sub(1);
        let Some(endpoint) = known.endpoints.get_mut(&self.webhook_id) else { return };
        endpoint.under_way = endpoint.under_way.saturating_sub(1);
        let (is_suspect, is_idle) = (endpoint.is_suspect, endpoint.under_way == 0);
        if is_suspect {
            known.under_way_to_suspects = known.under_way_to_suspects.saturating_sub(1);
        } else if is_idle {
            // Nothing to remember of an endpoint that is well.
            known.endpoints.remove(&self.webhook_id);
        }
    }
}
