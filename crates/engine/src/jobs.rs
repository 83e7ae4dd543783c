//! The worker: runs due jobs, unknown outcomes and deliveries, at start and later alike. A job is a row; running it is
//! idempotent. Each queue of jobs runs independently, as do unknown outcomes and deliveries: a job that hangs blocks
//! only its own queue.

mod advance;
mod counters;
mod feeding;
mod job;
mod kind;
mod ledger;
pub mod pace;
mod payouts;
mod prepayments;
mod purge;
mod reports;
mod reservation;
mod rotation;
mod runner;
mod sellers;
mod sessions;
mod subscriptions;
mod unknowns;
mod void;
mod whose;

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::jobs;
use regente_store::{Batch, Commit, DatabaseKind, StoreError, deliveries, events, transaction_requests};
use uuid::Uuid;

pub use crate::accounts::DEPLOYMENT;
use crate::app::App;
use crate::deliveries::DeliveryWorker;
use crate::error::Error;
use crate::queue::{self, Kind, Queue};
pub use advance::advance_within;
use job::Jobs;
pub use purge::forget_ended_credentials;
use runner::{Runner, Source};
use unknowns::Unknowns;
use whose::Whose;

/// How long after a database failure the recurring jobs are ensured again.
const PREPARE_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Number of jobs that ran.
    pub jobs: usize,
    /// Number of requests whose outcome became known.
    pub resolved: usize,
    /// Number of events dispatched plus delivery attempts.
    pub delivered: usize,
}

/// Runs due work.
#[derive(Clone)]
pub struct Worker {
    app: App,
    owner: Uuid,
    delivery_worker: DeliveryWorker,
}

impl Worker {
    /// Creates the worker of this process.
    pub fn new(app: App) -> Self {
        let owner = app.chance.uuid();
        Self { delivery_worker: DeliveryWorker::new(app.clone()), app, owner }
    }

    /// Ensures that the recurring jobs exist. If one process owns the database, leases of its earlier runs are revoked
    /// at once.
    pub async fn prepare(&self) -> Result<(), Error> {
        if self.app.store.database_kind() == DatabaseKind::Sqlite {
            let store = &self.app.store;
            for client_id in jobs::clients_with_foreign_leases(store, self.owner).await? {
                let mut batch = Batch::new(client_id);
                jobs::void_leases(&mut batch, self.owner);
                // Leases that were not revoked expire by themselves.
                let _ = apply(&self.app, batch).await?;
            }
        }
        let mut batch = Batch::new(DEPLOYMENT);
        for kind in Kind::recurring() {
            queue::ensure(&self.app, &mut batch, kind);
        }
        apply(&self.app, batch).await.map(drop)
    }

    /// Runs jobs, unknown outcomes and deliveries concurrently until `stop` completes; then finishes what has begun.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let queues = Queue::ALL.map(|queue| self.queue(queue).run_until(stop.clone()));
        let unknowns = self.unknowns().run_until(stop.clone());
        let delivery_worker = self.delivery_worker.clone().run_until(stop.clone());
        let prepared = async {
            tokio::select! {
                () = self.prepare_until_done() => {}
                () = stop => {}
            }
        };
        tokio::join!(prepared, join_all(queues), unknowns, delivery_worker);
    }

    async fn prepare_until_done(&self) {
        while let Err(error) = self.prepare().await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the recurring jobs could not be ensured"
            );
            tokio::time::sleep(PREPARE_AGAIN_AFTER).await;
        }
    }

    /// Runs everything that is due now, once: unknown outcomes, then each queue, then deliveries.
    pub async fn round(&self) -> Result<Round, Error> {
        let resolved = self.unknowns().round().await?;
        let mut jobs = 0;
        for queue in Queue::ALL {
            jobs += self.queue(queue).round().await?;
        }
        Ok(Round { jobs, resolved, delivered: self.delivery_worker.round().await? })
    }

    fn queue(&self, queue: Queue) -> Runner<Jobs> {
        Runner::new(self.jobs(queue))
    }

    fn jobs(&self, queue: Queue) -> Jobs {
        Jobs { app: self.app.clone(), owner: self.owner, queue, whose: Whose::Everybody }
    }

    fn unknowns(&self) -> Runner<Unknowns> {
        Runner::new(Unknowns { app: self.app.clone(), whose: Whose::Everybody })
    }

    /// Runs the job that advances the clock of an account, once, unless another worker has it.
    async fn advance_clock(&self, client_id: ClientId) -> Result<(), Error> {
        let jobs = self.jobs(Queue::Clocks);
        for job in jobs.due(client_id, 1).await? {
            jobs.clone().run(job).await;
        }
        Ok(())
    }

    /// When something is due next, besides the recurring jobs, by the time of the deployment. What lies ahead of a clock that
    /// stands is never due by itself.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let store = &self.app.store;
        let mut next = jobs::next_due(store, DEPLOYMENT).await?;
        next.extend(transaction_requests::next_due(store).await?);
        next.extend(events::next_dispatch_of_each(store).await?);
        next.extend(deliveries::next_due(store).await?);
        let clock = &self.app.clock;
        Ok(next.into_iter().filter_map(|(client_id, due_at)| clock.deployment_at(client_id, due_at)).min())
    }
}

async fn apply(app: &App, batch: Batch) -> Result<Commit, Error> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}
