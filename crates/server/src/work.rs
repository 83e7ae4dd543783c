//! The worker: runs what is due, whether the process has just started or has run for a year. A job is a row; its run is
//! an idempotent function of the database that ends with a value.

mod kind;
mod purge;
pub mod reservation;
mod rotation;

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use regente_store::jobs::{self, Job, NewJob};
use regente_store::{Batch, Commit, DatabaseKind, StoreError, deliveries, events, transaction_requests};
use uuid::Uuid;

use crate::api::error::ApiError;
use crate::app::App;
use crate::flows::reconcile;
use crate::webhooks::Courier;

pub use kind::Kind;

/// The client that jobs of the deployment itself stand under.
pub const DEPLOYMENT: ClientId = Id::new(Uuid::nil());

/// How long a lease lasts, by machine time. A worker that dies gives its jobs back by it.
const LEASE: Duration = Duration::from_secs(120);
/// Clients looked at in one round.
const CLIENTS_MAX: i64 = 100;
/// Jobs of one client taken in one round.
const JOBS_MAX: i64 = 50;
/// Jobs that run at once.
const CONCURRENT_MAX: usize = 4;
/// The longest sleep between two rounds: other nodes and the command line write jobs as well.
const POLL: Duration = Duration::from_secs(1);
/// A job that failed so often in a row is given up, unless it recurs.
const ATTEMPTS_MAX: i64 = 20;
/// The first wait after a failure; it doubles with each.
const RETRY_FIRST: Duration = Duration::from_secs(5);
/// The longest wait after a failure.
const RETRY_MAX: Duration = Duration::from_secs(3600);

/// How a run of a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is no more to do.
    Finished,
    /// It is to run again.
    Again {
        /// When, by business time.
        at: Timestamp,
    },
    /// It can never succeed; the operator must look.
    GiveUp {
        /// Why.
        why: String,
    },
}

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Jobs that ran.
    pub jobs: usize,
    /// Requests with unknown outcomes that are known now.
    pub resolved: usize,
    /// Events that became deliveries, and attempts to deliver them.
    pub delivered: usize,
}

/// Runs what is due.
#[derive(Clone)]
pub struct Worker {
    app: App,
    owner: Uuid,
    courier: Courier,
}

impl Worker {
    /// A worker of this process.
    pub fn new(app: App) -> Self {
        let owner = app.chance.uuid();
        Self { courier: Courier::new(app.clone()), app, owner }
    }

    /// Makes sure that the recurring jobs are there. Where one process owns the database, the leases of its earlier
    /// runs are void at once.
    pub async fn prepare(&self) -> Result<(), ApiError> {
        if self.app.store.database_kind() == DatabaseKind::Sqlite {
            for client_id in jobs::clients_with_foreign_leases(&self.app.store, self.owner).await? {
                let mut batch = Batch::new(client_id);
                jobs::void_leases(&mut batch, self.owner);
                // What is left leased falls free with its lease.
                let _ = self.apply(batch).await?;
            }
        }
        let mut batch = Batch::new(DEPLOYMENT);
        let now = self.app.clock.now();
        for kind in Kind::RECURRING {
            let (id, kind, lane) = (self.app.chance.id(now), kind.word(), kind.lane());
            jobs::ensure(&mut batch, &NewJob { id, kind, lane, key: "", payload: "{}", run_at: now });
        }
        self.apply(batch).await.map(drop)
    }

    /// Runs jobs and deliveries side by side until `stop` ends; what has begun is finished.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let courier = self.courier.clone().run_until(stop.clone());
        tokio::join!(self.run_jobs_until(stop), courier);
    }

    async fn run_jobs_until(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut is_prepared = false;
        loop {
            if !is_prepared {
                match self.prepare().await {
                    Ok(()) => is_prepared = true,
                    Err(error) => log("the recurring jobs could not be made sure of", &error),
                }
            }
            if let Err(error) = self.round_of_jobs().await {
                log("a round of the worker ended early", &error);
            }
            let pause = tokio::time::sleep(POLL);
            tokio::select! {
                () = &mut stop => return,
                () = pause => {}
            }
        }
    }

    /// Runs everything that is due now, once, deliveries included.
    pub async fn round(&self) -> Result<Round, ApiError> {
        let round = self.round_of_jobs().await?;
        Ok(Round { delivered: self.courier.round().await?, ..round })
    }

    async fn round_of_jobs(&self) -> Result<Round, ApiError> {
        self.app.vault.keep_current().await?;
        // Side by side: jobs do not wait for providers that are silent.
        let (reconciled, jobs) = tokio::join!(reconcile::round(&self.app), self.run_jobs());
        let reconciled = reconciled.unwrap_or_else(|error| {
            log("unknown outcomes could not be looked for", &error);
            reconcile::Round::default()
        });
        Ok(Round { jobs: jobs?, resolved: reconciled.resolved, ..Round::default() })
    }

    async fn run_jobs(&self) -> Result<usize, ApiError> {
        let mut ran = 0;
        let (now, machine_now) = (self.app.clock.now(), self.app.clock.machine_timestamp());
        for client_id in jobs::clients_with_due(&self.app.store, now, machine_now, CLIENTS_MAX).await? {
            let due = jobs::due(&self.app.store, client_id, now, machine_now, JOBS_MAX).await?;
            let running = stream::iter(due).map(|job| self.run(job)).buffer_unordered(CONCURRENT_MAX);
            ran += running.filter(|ran| std::future::ready(*ran == Ran::Yes)).count().await;
        }
        Ok(ran)
    }

    /// When something is due next.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let job = jobs::next_due(&self.app.store).await?;
        let request = transaction_requests::next_due(&self.app.store).await?;
        let event = events::next_dispatch(&self.app.store).await?;
        let delivery = deliveries::next_due(&self.app.store).await?;
        Ok([job, request, event, delivery].into_iter().flatten().min())
    }

    async fn run(&self, job: Job) -> Ran {
        match self.lease_and_run(&job).await {
            Ok(ran) => ran,
            Err(error) => {
                tracing::error!(job = %job.id, kind = %job.kind, error = ?error, "a job could not be ended");
                Ran::No
            }
        }
    }

    async fn lease_and_run(&self, job: &Job) -> Result<Ran, ApiError> {
        let mut batch = Batch::new(job.client_id);
        jobs::lease(&mut batch, job, self.owner, self.app.clock.machine_timestamp() + LEASE);
        if self.apply(batch).await? != Commit::Applied {
            return Ok(Ran::No);
        }
        let ended = match Kind::parse(&job.kind) {
            Some(kind) => kind.run(&self.app, job).await,
            None => Ok(Ended::GiveUp { why: "this release does not know the kind".to_owned() }),
        };
        let ended = match ended {
            Ok(ended) => (ended, 0),
            Err(error) => (self.after_failure(job, &error), job.attempts + 1),
        };
        let mut batch = Batch::new(job.client_id);
        match ended {
            (Ended::Finished, _) => jobs::finish(&mut batch, job, self.owner),
            (Ended::Again { at }, attempts) => jobs::repeat(&mut batch, job, self.owner, at, attempts),
            (Ended::GiveUp { why }, _) => {
                tracing::error!(job = %job.id, kind = %job.kind, why, "a job was given up");
                jobs::bury(&mut batch, job, self.owner, &why, self.app.clock.now());
            }
        }
        // Refused: the lease was over and another worker has the job; running it twice does no harm.
        let _ = self.apply(batch).await?;
        Ok(Ran::Yes)
    }

    fn after_failure(&self, job: &Job, error: &ApiError) -> Ended {
        let attempts = job.attempts + 1;
        tracing::warn!(job = %job.id, kind = %job.kind, attempts, error = ?error, "a job failed");
        if attempts >= ATTEMPTS_MAX && !is_recurring(job) {
            return Ended::GiveUp { why: format!("{attempts} failures in a row, the last one: {error}") };
        }
        let doublings = u32::try_from(attempts - 1).unwrap_or(0).min(16);
        Ended::Again { at: self.app.clock.now() + (RETRY_FIRST * 2_u32.pow(doublings)).min(RETRY_MAX) }
    }

    async fn apply(&self, batch: Batch) -> Result<Commit, ApiError> {
        let _admission = self.app.store.admit_waiting().await?;
        Ok(self.app.store.apply(batch).await?)
    }
}

/// Housekeeping goes on for ever: given up, it would be missed only when the disk is full.
fn is_recurring(job: &Job) -> bool {
    Kind::parse(&job.kind).is_some_and(|kind| Kind::RECURRING.contains(&kind))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    Yes,
    No,
}

fn log(what: &'static str, error: &ApiError) {
    tracing::error!(error = error as &dyn std::error::Error, "{what}");
}
