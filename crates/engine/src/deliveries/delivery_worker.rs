//! The delivery worker: turns events into deliveries and sends deliveries. Each endpoint has a limited number of
//! concurrent attempts (`endpoints.rs`).
//!
//! Attempts under way are in memory, due deliveries are rows: a worker that dies loses nothing.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use regente_domain::id::{ClientId, DeliveryId, Id, WebhookId};
use regente_domain::webhook::schedule::{LOST_GRACE, POSTPONED_FOR};
use regente_store::deliveries::{self, Begun, DueDelivery};
use regente_store::readable::Readable;
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit, StoreError};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::attempt::{self, Went};
use super::backoff::Backoff;
use super::dispatch::{Dispatcher, tell_unreadable};
use super::endpoints::{AttemptSlot, Endpoints, Key};
use super::keys::Signer;
use crate::accounts;
use crate::app::App;
use crate::error::Error;

/// Most webhooks of one round; the next round continues after them.
const WEBHOOKS_MAX: i64 = 500;
/// Webhooks whose attempts are begun concurrently.
const BEGUN_AT_ONCE: usize = 16;
/// How long the worker waits when there was nothing to do.
const POLL: Duration = Duration::from_millis(200);
/// The shortest time between two rounds; what becomes due in between is handled together.
const ROUND: Duration = Duration::from_millis(10);

/// The delivery worker of a process. Clones share its state.
#[derive(Clone)]
pub struct DeliveryWorker(Arc<Inner>);

struct Inner {
    app: App,
    dispatcher: Dispatcher,
    endpoints: Endpoints,
    /// Webhooks that another node is working on.
    backoff: Backoff<WebhookId>,
    /// Accounts whose webhooks could not be read.
    unreachable: Backoff<ClientId>,
    /// The deliveries of this process whose attempts have not ended. After a jump of the clock they seem to be lost.
    under_way: Arc<Mutex<HashSet<DeliveryId>>>,
    /// The webhook after which the next round begins.
    after: Mutex<Option<WebhookId>>,
    /// Notified about new deliveries or free places.
    wake: Notify,
}

/// A delivery whose attempt has begun, with its place at the endpoint.
struct Taken {
    webhook: Arc<Webhook>,
    signer: Option<Arc<Signer>>,
    due: DueDelivery,
    begun: Begun,
    place: AttemptSlot,
    _under_way: UnderWay,
}

/// A delivery whose attempt has not ended; dropped when it has.
struct UnderWay {
    id: DeliveryId,
    all: Arc<Mutex<HashSet<DeliveryId>>>,
}

impl UnderWay {
    fn begin(id: DeliveryId, all: &Arc<Mutex<HashSet<DeliveryId>>>) -> Self {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        Self { id, all: Arc::clone(all) }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// The webhooks that a round works on.
struct Look {
    webhooks: Vec<Webhook>,
    /// Those of the page, which stand first.
    ids: Vec<WebhookId>,
    /// Whether no page follows.
    is_last: bool,
}

/// The attempts begun for a webhook.
enum Took {
    /// These attempts have begun.
    Begun(Vec<Taken>),
    /// No attempt: all places are taken.
    NoRoom,
}

impl DeliveryWorker {
    /// A delivery worker of this process.
    pub fn new(app: App) -> Self {
        Self(Arc::new(Inner {
            dispatcher: Dispatcher::new(app.clone()),
            app,
            endpoints: Endpoints::default(),
            backoff: Backoff::default(),
            unreachable: Backoff::default(),
            under_way: Arc::default(),
            after: Mutex::default(),
            wake: Notify::new(),
        }))
    }

    /// Runs everything that is due now to its end; returns the number of events and attempts.
    ///
    /// # Errors
    /// The database failed.
    pub async fn round(&self) -> Result<usize, Error> {
        let dispatched = self.0.dispatcher.round().await;
        let mut attempts = JoinSet::new();
        let begun = self.begin(&mut attempts).await;
        while attempts.join_next().await.is_some() {}
        Ok(dispatched? + begun?)
    }

    /// Runs everything of an account that is due now to its end, though its clock is being advanced; returns the number of
    /// events and that of attempts.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn round_of(&self, client_id: ClientId) -> Result<(usize, usize), Error> {
        let dispatched = self.0.dispatcher.of_account(client_id).await;
        let mut attempts = JoinSet::new();
        let mut begun = 0;
        for webhook in self.of_accounts(vec![client_id]).await {
            match self.clone().take_or_later(webhook).await {
                Took::Begun(taken) => {
                    begun += taken.len();
                    for taken in taken {
                        attempts.spawn(self.clone().attempt(taken));
                    }
                }
                Took::NoRoom => {}
            }
        }
        while attempts.join_next().await.is_some() {}
        Ok((dispatched, begun))
    }

    /// Runs until `stop` completes; then finishes what has begun.
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

    /// Begins attempts of due deliveries as far as there is room; returns how many.
    async fn begin(&self, attempts: &mut JoinSet<()>) -> Result<usize, Error> {
        let Look { webhooks, ids, is_last } = self.look().await?;
        let mut begun = 0;
        let mut first_without_room: Option<usize> = None;
        let mut took = stream::iter(webhooks.into_iter().enumerate())
            .map(|(at, webhook)| self.clone().take_or_later(webhook).map(move |took| (at, took)).boxed())
            .buffer_unordered(BEGUN_AT_ONCE);
        while let Some((at, took)) = took.next().await {
            match took {
                Took::Begun(taken) => {
                    begun += taken.len();
                    for taken in taken {
                        attempts.spawn(self.clone().attempt(taken));
                    }
                }
                // Accounts with clocks of their own have their turn in every round.
                Took::NoRoom if at >= ids.len() => {}
                Took::NoRoom => {
                    first_without_room = Some(first_without_room.map_or(at, |first| first.min(at)))
                }
            }
        }
        // The next round begins with the first webhook that found no room, or after it if this round began with it.
        let behind = match first_without_room {
            Some(at) => ids.get(at.saturating_sub(1)).copied(),
            None => ids.last().copied().filter(|_| !is_last),
        };
        self.set_after(behind);
        Ok(begun)
    }

    /// The webhooks of this round.
    async fn look(&self) -> Result<Look, Error> {
        let app = &self.0.app;
        match self.page().await {
            Ok((mut webhooks, is_last)) => {
                webhooks.retain(|webhook| !app.clock.is_advancing(webhook.client_id));
                let ids: Vec<WebhookId> = webhooks.iter().map(|webhook| webhook.id).collect();
                let own = self.of_accounts(self.not_advancing(app.clock.own_clocks())).await;
                webhooks.extend(own.into_iter().filter(|webhook| !ids.contains(&webhook.id)));
                Ok(Look { webhooks, ids, is_last })
            }
            // A part of the database cannot be reached.
            Err(StoreError::Unavailable(_)) => {
                let all = self.not_advancing(accounts::all(&app.store).await?);
                let webhooks = self.of_accounts(all).await;
                Ok(Look { webhooks, ids: Vec::new(), is_last: true })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The accounts without those whose clocks are being advanced: what is due of these is done by the job that advances
    /// them.
    fn not_advancing(&self, mut accounts: Vec<ClientId>) -> Vec<ClientId> {
        accounts.retain(|client_id| !self.0.app.clock.is_advancing(*client_id));
        accounts
    }

    /// A page of the webhooks with something due, and whether no others follow.
    async fn page(&self) -> Result<(Vec<Webhook>, bool), StoreError> {
        let (store, now) = (&self.0.app.store, self.0.app.clock.deployment());
        let after = self.after().unwrap_or(Id::new(Uuid::nil()));
        let Readable { read: mut webhooks, unreadable } =
            webhooks::with_due(store, after, now, WEBHOOKS_MAX).await?;
        let is_last = webhooks.len() + unreadable.len() < usize::try_from(WEBHOOKS_MAX).unwrap_or(usize::MAX);
        tell_unreadable("webhook", &unreadable);
        if is_last && !after.uuid().is_nil() {
            // Continue with the webhooks before the starting point.
            let first = webhooks::with_due(store, Id::new(Uuid::nil()), now, WEBHOOKS_MAX).await?;
            tell_unreadable("webhook", &first.unreadable);
            webhooks.extend(first.read.into_iter().filter(|webhook| webhook.id <= after));
        }
        Ok((webhooks, is_last))
    }

    /// The webhooks of these accounts that have something due, each by the account's own time. An account whose rows
    /// cannot be reached holds up no other.
    async fn of_accounts(&self, accounts: Vec<ClientId>) -> Vec<Webhook> {
        let Inner { app, unreachable, .. } = &*self.0;
        let mut found = Vec::new();
        for client_id in accounts {
            if unreachable.applies_to(&client_id, app.clock.machine()) {
                continue;
            }
            let now = app.clock.of(client_id);
            match webhooks::with_due_of(&app.store, client_id, now, WEBHOOKS_MAX).await {
                Ok(Readable { read, unreadable }) => {
                    tell_unreadable("webhook", &unreadable);
                    found.extend(read);
                }
                Err(error) => {
                    tracing::error!(
                        client = %client_id, error = &error as &dyn std::error::Error,
                        "the webhooks of an account cannot be read"
                    );
                    unreachable.begin(client_id, app.clock.machine());
                }
            }
        }
        found
    }

    /// What cannot be read or reached of one webhook holds up no other.
    async fn take_or_later(self, webhook: Webhook) -> Took {
        let id = webhook.id;
        self.clone().take(webhook).await.unwrap_or_else(|error| {
            tracing::error!(
                webhook = %id, error = &error as &dyn std::error::Error,
                "attempts for a webhook cannot be begun"
            );
            self.0.backoff.begin(id, self.0.app.clock.machine());
            Took::Begun(Vec::new())
        })
    }

    /// Records the beginning of attempts for a webhook's due deliveries; sends nothing yet.
    async fn take(self, webhook: Webhook) -> Result<Took, Error> {
        let Inner { app, endpoints, backoff, .. } = &*self.0;
        if backoff.applies_to(&webhook.id, app.clock.machine()) {
            return Ok(Took::Begun(Vec::new()));
        }
        let places = endpoints.places(&Key::of(&webhook), &app.settings.webhooks);
        if places.is_empty() {
            return Ok(Took::NoRoom);
        }
        let limit = i64::try_from(places.len()).unwrap_or(i64::MAX);
        let now = app.clock.of(webhook.client_id);
        let Readable { read: mut due, unreadable } =
            deliveries::due(&app.store, webhook.client_id, webhook.id, now, limit).await?;
        if !unreadable.is_empty() {
            tell_unreadable("delivery", &unreadable);
            let ids: Vec<Uuid> = unreadable.into_iter().map(|(id, _)| id).collect();
            let mut batch = Batch::new(webhook.client_id);
            deliveries::postpone(&mut batch, &ids, now + POSTPONED_FOR);
            // If this fails, a later round finds the rows again.
            let _ = attempt::apply(app, batch).await?;
        }
        self.leave_out_what_is_under_way(&mut due);
        if due.is_empty() {
            return Ok(Took::Begun(Vec::new()));
        }
        let answer_max =
            due.iter().map(|due| attempt::answer_max(app, &due.delivery)).max().unwrap_or_default();
        let begun = Begun { at: now, lost_at: now + answer_max + LOST_GRACE };
        let mut batch = Batch::new(webhook.client_id);
        for DueDelivery { delivery, .. } in &mut due {
            if let Some(attempt) = attempt::interrupted(delivery) {
                deliveries::interrupted(&mut batch, delivery, &attempt);
                delivery.attempts += 1;
            }
            deliveries::begin_attempt(&mut batch, delivery, begun);
        }
        if attempt::apply(app, batch).await? != Commit::Applied {
            backoff.begin(webhook.id, app.clock.machine());
            return Ok(Took::Begun(Vec::new()));
        }
        let signer = match Signer::open(app, &webhook, now).await {
            Ok(signer) => Some(Arc::new(signer)),
            Err(error) => {
                tracing::error!(
                    webhook = %webhook.id, error = &error as &dyn std::error::Error,
                    "the key of a webhook cannot be opened"
                );
                None
            }
        };
        let webhook = Arc::new(webhook);
        let taken = due.into_iter().zip(places).map(|(due, place)| Taken {
            webhook: Arc::clone(&webhook),
            signer: signer.clone(),
            _under_way: UnderWay::begin(due.delivery.id, &self.0.under_way),
            due,
            begun,
            place,
        });
        Ok(Took::Begun(taken.collect()))
    }

    fn leave_out_what_is_under_way(&self, due: &mut Vec<DueDelivery>) {
        let under_way = self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        due.retain(|due| !under_way.contains(&due.delivery.id));
    }

    async fn attempt(self, taken: Taken) {
        let Taken { webhook, signer, due, begun, place, _under_way } = taken;
        let Inner { app, wake, .. } = &*self.0;
        match attempt::run(app, &webhook, signer.as_deref(), &due, begun).await {
            Ok(Went::Well) => place.trust(),
            Ok(Went::Badly) => place.doubt(),
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

/// Logs a database failure; returns the pause after it.
fn after(error: &Error) -> Duration {
    tracing::error!(error = error as &dyn std::error::Error, "the delivery worker waits for the database");
    POLL
}
