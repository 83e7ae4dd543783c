//! Subscriptions: what a customer is charged at each due date (`docs/interface/subscriptions.md`). The domain decides what falls due and
//! what an outcome means; here its decisions are read, written and announced. [`create`] and [`change`] are what merchants do,
//! [`drive`] is what happens by itself, [`attempt`] the charges, [`settings`] how an account charges.

mod attempt;
mod change;
mod create;
pub mod drive;
mod settings;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, CycleId, SubscriptionId};
use regente_domain::subscription::{Advance, Cycle, Next, Phase, Subscription};
use regente_store::{Batch, Commit, events, subscriptions as rows};

pub use attempt::{AttemptOrder, AttemptStep};
pub use change::{Move, carry_out, change, plan};
pub use create::{plan_creation, plan_preview};
pub use regente_store::subscriptions::SubscriptionFilter;
pub use settings::{change as change_settings, find as settings};

use crate::app::App;
use crate::error::Error;
use crate::events::subscription::SubscriptionNewsView;
use crate::queue::subscriptions::look_at;

/// `businessCode` of what a subscription does not allow in its status.
pub const INVALID_STATE: &str = "subscription_invalid_state";

/// A subscription as answers show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The subscription.
    pub subscription: Subscription,
    /// Its newest cycle, if it has one.
    pub last_cycle: Option<Cycle>,
}

/// A subscription with the cycles by which its next step is decided.
#[derive(Clone, Debug)]
pub struct Known {
    /// The subscription.
    pub subscription: Subscription,
    /// Its open cycles, the failed one of an unpaid subscription, and the one that was asked for.
    pub cycles: Vec<Cycle>,
}

impl Known {
    /// `also` is a cycle that is read although nothing happens to it by itself.
    async fn find(
        app: &App,
        client_id: ClientId,
        id: SubscriptionId,
        also: Option<CycleId>,
    ) -> Result<Option<Self>, Error> {
        let Some(subscription) = rows::find(&app.store, client_id, id).await? else { return Ok(None) };
        let mut cycles = rows::cycles::open(&app.store, client_id, id).await?;
        let failed = match subscription.phase {
            Phase::Unpaid { cycle_id } => Some(cycle_id),
            Phase::Trialing
            | Phase::Created
            | Phase::Active
            | Phase::Paused
            | Phase::Canceled
            | Phase::Expired => None,
        };
        for cycle_id in failed.into_iter().chain(also) {
            if !cycles.iter().any(|known| known.id == cycle_id) {
                cycles.extend(rows::cycles::find(&app.store, client_id, id, cycle_id).await?);
            }
        }
        Ok(Some(Self { subscription, cycles }))
    }

    /// What is next after a change.
    fn next_after(&self, app: &App, after: &Advance) -> Next {
        let is_changed = |known: &&Cycle| after.cycles.iter().all(|changed| changed.id != known.id);
        let unchanged = self.cycles.iter().filter(is_changed).cloned();
        let cycles: Vec<Cycle> = unchanged.chain(after.cycles.iter().cloned()).collect();
        after.subscription.next(&cycles, app.clock.of(self.subscription.client_id))
    }

    /// Adds a change to the batch with its events, as [`Self::plan`] does.
    async fn write(
        &self,
        app: &App,
        batch: &mut Batch,
        after: &Advance,
        now_by: GoesOn,
        actor: &Actor,
    ) -> Result<(), Error> {
        self.plan(app, batch, after, now_by, actor)?;
        announce(app, batch, &self.cycles, after, actor).await
    }

    /// Adds a change to the batch, and the job that looks when something falls due next. `now_by` says who goes on with what is due
    /// at once.
    fn plan(
        &self,
        app: &App,
        batch: &mut Batch,
        after: &Advance,
        now_by: GoesOn,
        actor: &Actor,
    ) -> Result<(), Error> {
        rows::update(batch, &self.subscription, &self.cycles, after, actor)?;
        let (subscription, now) = (&after.subscription, app.clock.of(self.subscription.client_id));
        match self.next_after(app, after) {
            Next::Wait(at) => look_at(app, batch, subscription, at),
            Next::Step | Next::Charge(_) if now_by == GoesOn::TheJob => {
                look_at(app, batch, subscription, now)
            }
            Next::Step | Next::Charge(_) | Next::Rest => {}
        }
        if let Some(charge_id) = after.gives_back {
            tracing::error!(
                alert = "cycle_paid_again", subscription = %subscription.id, charge = %charge_id,
                "a cycle of a subscription was paid once more: the payment is given back"
            );
            let payment = crate::queue::sessions::Return { charge_id, reverted: 0 };
            crate::queue::sessions::give_back(app, batch, payment);
        }
        Ok(())
    }
}

/// Who goes on with what is due at once after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoesOn {
    /// Whoever has made the change.
    Us,
    /// A job.
    TheJob,
}

/// Adds the events of a change to the batch.
async fn announce(
    app: &App,
    batch: &mut Batch,
    known: &[Cycle],
    after: &Advance,
    actor: &Actor,
) -> Result<(), Error> {
    if after.announces.is_empty() {
        return Ok(());
    }
    let (subscription, client_id) = (&after.subscription, after.subscription.client_id);
    let now = app.clock.of(client_id);
    let is_changed = |cycle: &&Cycle| after.cycles.iter().all(|changed| changed.id != cycle.id);
    let mut cycles: Vec<Cycle> = known.iter().filter(is_changed).cloned().collect();
    cycles.extend(after.cycles.iter().cloned());
    let newest = rows::cycles::page(&app.store, client_id, subscription.id, 1, 0).await?;
    if let Some(newest) = newest.into_iter().find(|newest| cycles.iter().all(|known| known.id != newest.id)) {
        cycles.push(newest);
    }
    let last_cycle = cycles.iter().max_by_key(|cycle| cycle.number);
    for (ordinal, announcement) in (0..).zip(&after.announces) {
        let view = SubscriptionNewsView::of(subscription, announcement, &cycles, last_cycle, now);
        let snapshot = serde_json::to_string(&view).map_err(Error::internal)?;
        let event = events::NewEvent {
            id: app.chance.id(now),
            object_id: subscription.id.uuid(),
            version: subscription.version,
            ordinal,
            name: announcement.event,
            snapshot: &snapshot,
            actor,
        };
        events::announce(batch, event);
    }
    Ok(())
}

/// Writes a batch; `false` when another change came first.
async fn apply(app: &App, batch: Batch) -> Result<bool, Error> {
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(true),
        // Whether it was written, the stored version tells.
        Commit::Refused(_) | Commit::Unknown => Ok(false),
    }
}

/// A subscription of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: SubscriptionId) -> Result<Shown, Error> {
    let subscription = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    let last_cycle = rows::cycles::page(&app.store, client_id, id, 1, 0).await?.pop();
    Ok(Shown { subscription, last_cycle })
}

/// A page of the subscriptions of an account, newest first, and how many match.
pub async fn list(
    app: &App,
    client_id: ClientId,
    filter: &SubscriptionFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Subscription>, i64), Error> {
    let total = rows::count(&app.store, client_id, filter).await?;
    Ok((rows::page(&app.store, client_id, filter, limit, offset).await?, total))
}

/// A page of the cycles of a subscription, newest first, and how many there are.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn cycles(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Cycle>, i64), Error> {
    rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    let total = rows::cycles::count(&app.store, client_id, id).await?;
    Ok((rows::cycles::page(&app.store, client_id, id, limit, offset).await?, total))
}

/// One cycle of a subscription.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn cycle(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    cycle_id: CycleId,
) -> Result<Cycle, Error> {
    rows::cycles::find(&app.store, client_id, id, cycle_id).await?.ok_or(Error::NotFound)
}
