//! A subscription with the cycles by which its next step is decided: how it is read, and how a change of it is written with its events and
//! the job that looks next.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, CycleId, SubscriptionId};
use regente_domain::subscription::{Advance, Cycle, NewCycle, Next, Subscription};
use regente_store::{Batch, Commit, subscriptions as rows};

use crate::announce::{self, Changed};
use crate::app::App;
use crate::error::Error;
use crate::events::subscription::SubscriptionNewsView;
use crate::queue::Kind;
use crate::queue::sessions::{Return, give_back};
use crate::queue::subscriptions::{look_at, look_now};

/// The actor of what happens by itself.
pub(super) const ACTOR: Actor = Actor::Job(Kind::Subscription.word());

/// A subscription with the cycles by which its next step is decided.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The subscription.
    pub(crate) subscription: Subscription,
    /// Its open cycles, the failed one of an unpaid subscription, and the one that was asked for.
    pub(crate) cycles: Vec<Cycle>,
}

impl Known {
    /// `also` is a cycle that is read although nothing happens to it by itself.
    pub(crate) async fn find(
        app: &App,
        client_id: ClientId,
        id: SubscriptionId,
        also: Option<CycleId>,
    ) -> Result<Option<Self>, Error> {
        let Some(subscription) = rows::find(&app.store, client_id, id).await? else { return Ok(None) };
        let mut cycles = rows::cycles::open(&app.store, client_id, id).await?;
        for cycle_id in subscription.unpaid_cycle().into_iter().chain(also) {
            if !cycles.iter().any(|known| known.id == cycle_id) {
                cycles.extend(rows::cycles::find(&app.store, client_id, id, cycle_id).await?);
            }
        }
        Ok(Some(Self { subscription, cycles }))
    }

    /// The cycles after a change.
    fn cycles_after(&self, after: &Advance) -> Vec<Cycle> {
        let is_changed = |known: &&Cycle| after.cycles.iter().all(|changed| changed.id != known.id);
        let unchanged = self.cycles.iter().filter(is_changed);
        unchanged.chain(&after.cycles).cloned().collect()
    }

    /// Writes a change that nobody has asked for; `false` when another change came first. Whoever has made it goes on with what is
    /// due at once.
    pub(super) async fn move_on(&self, app: &App, after: &Advance) -> Result<bool, Error> {
        self.move_on_in(app, Batch::new(self.subscription.client_id), after).await
    }

    /// The same in a batch that has something else.
    pub(super) async fn move_on_in(
        &self,
        app: &App,
        mut batch: Batch,
        after: &Advance,
    ) -> Result<bool, Error> {
        self.write(app, &mut batch, after, GoesOn::Us, &ACTOR).await?;
        let _admission = app.store.admit_waiting().await?;
        match app.store.apply(batch).await? {
            Commit::Applied => Ok(true),
            // Whether it was written, the stored version tells.
            Commit::Refused(_) | Commit::Unknown => Ok(false),
        }
    }

    /// Takes the step that fell due first. If another node came first, the next step is decided anew.
    pub(crate) async fn take_step(&self, app: &App) -> Result<(), Error> {
        let client_id = self.subscription.client_id;
        let now = app.clock.of(client_id);
        let new = NewCycle { id: app.chance.id(now), is_emulated: app.clock.is_advancing(client_id) };
        let Some(after) = self.subscription.step(&self.cycles, new, now) else { return Ok(()) };
        self.move_on(app, &after).await.map(drop)
    }

    /// Adds a change to the batch with its events, as [`Self::plan`] does.
    pub(crate) async fn write(
        &self,
        app: &App,
        batch: &mut Batch,
        after: &Advance,
        goes_on: GoesOn,
        actor: &Actor,
    ) -> Result<(), Error> {
        self.plan(app, batch, after, goes_on, actor)?;
        announce(app, batch, self.cycles_after(after), after, actor).await
    }

    /// Adds a change to the batch, and the job that looks when something falls due next.
    pub(super) fn plan(
        &self,
        app: &App,
        batch: &mut Batch,
        after: &Advance,
        goes_on: GoesOn,
        actor: &Actor,
    ) -> Result<(), Error> {
        rows::update(batch, &self.subscription, &self.cycles, after, actor)?;
        let subscription = &after.subscription;
        look_next(app, batch, subscription, &self.cycles_after(after), goes_on);
        if let Some(charge_id) = after.gives_back {
            tracing::error!(
                alert = "cycle_paid_again", subscription = %subscription.id, charge = %charge_id,
                "a cycle of a subscription was paid once more: the payment is given back"
            );
            give_back(app, batch, Return { charge_id, reverted: 0 });
        }
        Ok(())
    }
}

/// Enqueues the job that looks when something falls due next.
pub(super) fn look_next(
    app: &App,
    batch: &mut Batch,
    subscription: &Subscription,
    cycles: &[Cycle],
    goes_on: GoesOn,
) {
    let now = app.clock.of(subscription.client_id);
    match subscription.next(cycles, now) {
        Next::Wait(at) => look_at(app, batch, subscription.id, at),
        Next::Step | Next::Charge(_) if goes_on == GoesOn::TheJob => look_now(app, batch, subscription),
        Next::Step | Next::Charge(_) | Next::Rest => {}
    }
}

/// Who goes on with what is due at once after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoesOn {
    /// Whoever has made the change.
    Us,
    /// A job.
    TheJob,
}

/// Adds the events of a change to the batch; `cycles` are those that are known after it.
pub(super) async fn announce(
    app: &App,
    batch: &mut Batch,
    mut cycles: Vec<Cycle>,
    after: &Advance,
    actor: &Actor,
) -> Result<(), Error> {
    if after.announces.is_empty() {
        return Ok(());
    }
    let (subscription, client_id) = (&after.subscription, after.subscription.client_id);
    let (now, changed) =
        (app.clock.of(client_id), Changed { id: subscription.id.uuid(), version: subscription.version });
    let newest = rows::cycles::newest(&app.store, client_id, subscription.id).await?;
    cycles.extend(newest.filter(|newest| cycles.iter().all(|known| known.id != newest.id)));
    let last_cycle = cycles.iter().max_by_key(|cycle| cycle.number);
    for (ordinal, announcement) in (0..).zip(&after.announces) {
        let view = SubscriptionNewsView::of(subscription, announcement, &cycles, last_cycle, now);
        announce::announce(app, batch, &changed, (ordinal, announcement.event), &view, actor)?;
    }
    Ok(())
}
