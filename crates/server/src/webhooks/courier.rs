//! The courier: turns events into deliveries and hands deliveries over, fairly: each endpoint has a bounded number of
//! attempts under way (`endpoints.rs`).
//!
//! What is under way is remembered here, what is due is a row: a courier that is gone loses nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use regente_domain::id::{Id, WebhookId};
use regente_store::deliveries::{self, Begun, DueDelivery};
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::attempt::{self, Signer, Went};
use super::dispatch::Dispatcher;
use super::endpoints::{Endpoints, Place};
use super::left::Left;
use crate::api::error::ApiError;
use crate::app::App;

/// Webhooks looked at in one round; the next round goes on behind them.
const WEBHOOKS_MAX: i64 = 500;
/// Webhooks whose attempts are begun at once.
const BEGUN_AT_ONCE: usize = 16;
/// How long nothing is looked for when there was nothing to do.
const POLL: Duration = Duration::from_millis(200);
/// The least time between two looks: what comes meanwhile is done together.
const ROUND: Duration = Duration::from_millis(10);
/// How long after the longest answer an attempt counts as lost with its process.
const LOST_GRACE: Duration = Duration::from_secs(30);

/// Carries deliveries out. Clones share what they know.
#[derive(Clone)]
pub struct Courier(Arc<Inner>);

struct Inner {
    app: App,
    dispatcher: Dispatcher,
    endpoints: Endpoints,
    /// Webhooks that another node serves.
    left: Left<WebhookId>,
    /// Where the next round begins.
    after: Mutex<Option<WebhookId>>,
    /// There are new deliveries, or room for others.
    wake: Notify,
}

/// A delivery whose attempt has begun, with its place.
struct Taken {
    webhook: Arc<Webhook>,
    signer: Arc<Signer>,
    due: DueDelivery,
    begun: Begun,
    place: Place,
}

impl Courier {
    /// A courier of this process.
    pub fn new(app: App) -> Self {
        Self(Arc::new(Inner {
            dispatcher: Dispatcher::new(app.clone()),
            app,
            endpoints: Endpoints::default(),
            left: Left::default(),
            after: Mutex::default(),
            wake: Notify::new(),
        }))
    }

    /// Does everything that is due now, and waits until it has ended; answers how much that was.
    ///
    /// # Errors
    /// The database failed.
    pub async fn round(&self) -> Result<usize, ApiError> {
        let dispatched = self.0.dispatcher.round().await?;
        let mut attempts = JoinSet::new();
        let begun = self.begin(&mut attempts).await?;
        while attempts.join_next().await.is_some() {}
        Ok(dispatched + begun)
    }

    /// Goes on until `stop` ends; what has begun is finished.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        tokio::join!(self.clone().dispatch_until(stop.clone()), self.deliver_until(stop));
    }

    async fn dispatch_until(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let pause = match self.0.dispatcher.round().await {
                Ok(0) => POLL,
                Ok(_) => {
                    self.0.wake.notify_one();
                    ROUND
                }
                Err(error) => after(&error),
            };
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn deliver_until(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut attempts = JoinSet::new();
        loop {
            let pause = self.begin(&mut attempts).await.map_or_else(|error| after(&error), |_| ROUND);
            let woken = async {
                tokio::time::sleep(pause).await;
                drop(tokio::time::timeout(POLL, self.0.wake.notified()).await);
            };
            tokio::select! {
                () = &mut stop => break,
                () = woken => {}
            }
            while attempts.try_join_next().is_some() {}
        }
        while attempts.join_next().await.is_some() {}
    }

    /// Begins attempts of what is due, as far as there is room; answers how many.
    async fn begin(&self, attempts: &mut JoinSet<()>) -> Result<usize, ApiError> {
        let (store, now) = (&self.0.app.store, self.0.app.clock.now());
        let after = self.after().unwrap_or(Id::new(Uuid::nil()));
        let webhooks = webhooks::with_due(store, after, now, WEBHOOKS_MAX).await?;
        let is_last = webhooks.len() < usize::try_from(WEBHOOKS_MAX).unwrap_or(usize::MAX);
        self.set_after(webhooks.last().map(|webhook| webhook.id).filter(|_| !is_last));
        let mut begun = 0;
        let mut taken = stream::iter(webhooks)
            .map(|webhook| self.clone().take(webhook).boxed())
            .buffer_unordered(BEGUN_AT_ONCE);
        while let Some(taken) = taken.try_next().await? {
            begun += taken.len();
            for taken in taken {
                attempts.spawn(self.clone().attempt(taken));
            }
        }
        Ok(begun)
    }

    /// Begins attempts of what is due for a webhook: in the database, not yet on the way.
    async fn take(self, webhook: Webhook) -> Result<Vec<Taken>, ApiError> {
        let Inner { app, endpoints, left, .. } = &*self.0;
        if left.has(&webhook.id, app.clock.machine()) {
            return Ok(Vec::new());
        }
        let places = endpoints.places(webhook.id, &app.settings.webhooks);
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(places.len()).unwrap_or(i64::MAX);
        let now = app.clock.now();
        let due = deliveries::due(&app.store, webhook.client_id, webhook.id, now, limit).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let answer_max =
            due.iter().map(|due| attempt::answer_max(app, &due.delivery)).max().unwrap_or_default();
        let begun = Begun { at: now, lost_at: now + answer_max + LOST_GRACE };
        let mut batch = Batch::new(webhook.client_id);
        for due in &due {
            deliveries::begin_attempt(&mut batch, &due.delivery, begun);
        }
        if attempt::apply(app, batch).await? != Commit::Applied {
            left.leave(webhook.id, app.clock.machine());
            return Ok(Vec::new());
        }
        let signer = Arc::new(Signer::of(app, &webhook).await?);
        let webhook = Arc::new(webhook);
        let taken = due.into_iter().zip(places).map(|(due, place)| Taken {
            webhook: Arc::clone(&webhook),
            signer: Arc::clone(&signer),
            due,
            begun,
            place,
        });
        Ok(taken.collect())
    }

    async fn attempt(self, taken: Taken) {
        let Taken { webhook, signer, due, begun, place } = taken;
        let Inner { app, endpoints, wake, .. } = &*self.0;
        match attempt::run(app, &webhook, &signer, &due, begun).await {
            Ok(Went::Well) => endpoints.trust(webhook.id),
            Ok(Went::Badly) => endpoints.doubt(webhook.id),
            Err(error) => tracing::error!(
                delivery = %due.delivery.id, error = &error as &dyn std::error::Error,
                "an attempt to deliver could not be ended; it is made again"
            ),
        }
        drop(place);
        wake.notify_one();
    }

    fn after(&self) -> Option<WebhookId> {
        *self.0.after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_after(&self, after: Option<WebhookId>) {
        *self.0.after.lock().unwrap_or_else(PoisonError::into_inner) = after;
    }
}

/// The pause after a failure.
fn after(error: &ApiError) -> Duration {
    tracing::error!(error = error as &dyn std::error::Error, "webhooks wait for the database");
    POLL
}
