//! Advances the clock of an account to its target, in the sandbox (`docs/interface/sandbox.md#clock`): the clock stands at
//! each moment at which something of the account is due, until that is done, and goes on to the next one. So five years at
//! once do the same as a day at a time. What falls due is done by this job alone, whichever queue it stands in.
//!
//! Target, progress and counts are stored with the clock. A run is bounded; another one, or another node after a crash,
//! goes on from there.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::account_clock::Running;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::LOST_GRACE;
use regente_store::account_clocks::StoredClock;
use regente_store::jobs::Job;
use regente_store::{Commit, account_clocks as stored_clocks, deliveries};

use super::Worker;
use super::job::Jobs;
use super::runner::Runner;
use super::unknowns::Unknowns;
use super::whose::{Tally, Whose};
use crate::account_clocks;
use crate::app::App;
use crate::clock::MachineTime;
use crate::deliveries::DeliveryWorker;
use crate::error::Error;
use crate::queue::{Ended, Queue};

/// How long one run takes, but for the piece of work with which it ends.
const RUN_FOR: Duration = Duration::from_secs(4);
/// The pause before a look at what others have under way, or what could not be done at once.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(25);
/// How long an advance waits at a moment for what is due there and does not get done. Longer than a lease, so that what a
/// process had under way that died is taken over, and longer than an attempt to deliver takes.
const WAITS_MAX: Duration = Duration::from_secs(60);
/// The pause after the database failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// What attempts to deliver are counted as.
const DELIVERY: &str = "delivery";

/// Runs the job of an advance. Its future is boxed, since it runs other jobs.
pub(super) fn run<'a>(jobs: &'a Jobs, job: &'a Job) -> BoxFuture<'a, Result<Ended, Error>> {
    let Ok(number) = job.key.parse() else {
        let why = format!("{} is no advance", job.key);
        return async move { Ok(Ended::GiveUp { why }) }.boxed();
    };
    let run = Run {
        app: &jobs.app,
        jobs,
        client_id: job.client_id,
        number,
        tally: Tally::default(),
        delivery_worker: DeliveryWorker::new(jobs.app.clone()),
    };
    async move {
        match run.go_on().await {
            Ok(ended) => Ok(ended),
            // In production nothing is read of what is stored.
            Err(Error::NotFound) => Ok(Ended::Finished),
            // The clock of the account stands, so that no later time of its own would ever come.
            Err(error) => {
                tracing::warn!(client = %run.client_id, ?error, "an advance of a clock goes on after a pause");
                tokio::time::sleep(AFTER_FAILURE).await;
                Ok(Ended::Again { at: run.app.clock.of(run.client_id) })
            }
        }
    }
    .boxed()
}

/// Advances the clock of an account, as far as that is done within `wait_max`; the worker goes on with the rest. It goes on
/// too when the caller hangs up. Returns the clock, when every node goes by it.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn advance_within(
    app: &App,
    client_id: ClientId,
    wait_max: Duration,
) -> Result<StoredClock, Error> {
    let started = app.clock.machine();
    account_clocks::follow(app, client_id).await?;
    let worker = Worker::new(app.clone());
    let advancing = app.in_flight.run(async move { worker.advance_clock(client_id).await });
    if let Ok(advanced) = tokio::time::timeout(wait_max, advancing).await {
        advanced?;
    }
    loop {
        let stored = account_clocks::follow(app, client_id).await?;
        if !stored.clock.is_advancing() || app.clock.machine().since(started) >= wait_max {
            account_clocks::followed(app).await;
            return Ok(stored);
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
}

/// One run of the job.
struct Run<'a> {
    app: &'a App,
    jobs: &'a Jobs,
    client_id: ClientId,
    /// Which advance.
    number: i64,
    tally: Tally,
    delivery_worker: DeliveryWorker,
}

/// What is left at a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
}

impl Run<'_> {
    async fn go_on(&self) -> Result<Ended, Error> {
        let Self { app, client_id, .. } = *self;
        let started = app.clock.machine();
        let mut idle_since: Option<MachineTime> = None;
        loop {
            let stored = account_clocks::follow(app, client_id).await?;
            let is_this = stored.clock.advance.as_ref().is_some_and(|advance| advance.number == self.number);
            let at = match stored.clock.running {
                Running::Advancing { at, .. } if is_this => at,
                Running::Advancing { .. } | Running::Frozen { .. } | Running::GoesOn { .. } => {
                    let done = self.tally.counts();
                    if is_this && !done.is_empty() {
                        // Only a count: it does not matter when another change comes first.
                        let _ = account_clocks::count(app, &stored, &done).await?;
                    }
                    return Ok(Ended::Finished);
                }
            };
            let did = self.round().await?;
            let stop = match (self.left(at).await?, did) {
                (Left::Nothing, _) => self.next_stop(Some(at)).await?,
                (Left::Something, 1..) => {
                    idle_since = None;
                    Some(at)
                }
                (Left::Something, 0) => {
                    let since = *idle_since.get_or_insert_with(|| app.clock.machine());
                    if app.clock.machine().since(since) < WAITS_MAX {
                        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
                        continue;
                    }
                    tracing::warn!(client = %client_id, %at, "an advance of a clock leaves behind what does not get done");
                    self.next_stop(Some(at)).await?
                }
            };
            let done = self.tally.counts();
            if stop != Some(at) || !done.is_empty() {
                match account_clocks::step(app, &stored, stop, &done).await? {
                    Commit::Applied => self.tally.clear(),
                    // The clock was changed meanwhile, or it is not known whether this was written: the row tells.
                    Commit::Refused(_) => continue,
                    Commit::Unknown => {
                        self.tally.clear();
                        continue;
                    }
                }
            }
            if stop != Some(at) {
                idle_since = None;
            }
            if app.clock.machine().since(started) > RUN_FOR {
                return Ok(Ended::Again { at: app.clock.of(client_id) });
            }
        }
    }

    /// Does what is due once: unknown outcomes, then each queue, then deliveries. Returns how much was done.
    async fn round(&self) -> Result<usize, Error> {
        let (app, owner) = (self.app.clone(), self.jobs.owner);
        let whose = Whose::Advancing(self.client_id, self.tally.clone());
        let mut did = Runner::new(Unknowns { app: app.clone(), whose: whose.clone() }).round().await?;
        for queue in Queue::ALL {
            match queue {
                // This job is the only one of its queue.
                Queue::Clocks => {}
                Queue::Housekeeping
                | Queue::Money
                | Queue::Purchases
                | Queue::Notifications
                | Queue::Sessions
                | Queue::Sellers
                | Queue::Subscriptions
                | Queue::Reports
                | Queue::Mail
                | Queue::Payouts => {
                    let jobs = Jobs { app: app.clone(), owner, queue, whose: whose.clone() };
                    did += Runner::new(jobs).round().await?;
                }
            }
        }
        let (dispatched, attempts) = self.delivery_worker.round_of(self.client_id).await?;
        if attempts > 0 {
            self.tally.add(DELIVERY, u64::try_from(attempts).unwrap_or(u64::MAX));
        }
        Ok(did + dispatched + attempts)
    }

    /// Whether something is still to be done before the clock goes on: what is due, and attempts to deliver that are under
    /// way, which would seem lost.
    async fn left(&self, at: Timestamp) -> Result<Left, Error> {
        let is_due = self.next_stop(None).await?.is_some_and(|due_at| due_at <= at);
        let webhooks = &self.app.settings.webhooks;
        let lost_by = at + webhooks.first_answer_max.max(webhooks.retry_answer_max) + LOST_GRACE;
        let is_left =
            is_due || deliveries::attempts_under_way(&self.app.store, self.client_id, lost_by).await? > 0;
        Ok(if is_left { Left::Something } else { Left::Nothing })
    }

    /// When something is due next, after `after` if there is one.
    async fn next_stop(&self, after: Option<Timestamp>) -> Result<Option<Timestamp>, Error> {
        let others = Queue::ALL.into_iter().filter(|queue| *queue != Queue::Clocks);
        let others: Vec<&str> = others.map(Queue::word).collect();
        Ok(stored_clocks::next_due(&self.app.store, self.client_id, &others, after).await?)
    }
}
