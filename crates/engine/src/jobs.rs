//! The worker: runs what is due, whether the process has just started or has run for a year. A job is a row; its run is
//! an idempotent function of the database that ends with a value. Each queue of jobs goes on by itself, and so do unknown
//! outcomes and deliveries: what hangs in one holds up no other.

mod job;
mod kind;
mod purge;
mod reservation;
mod rotation;
mod runner;
mod unknowns;

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use regente_store::jobs;
use regente_store::{Batch, Commit, DatabaseKind, StoreError, deliveries, events, transaction_requests};
use uuid::Uuid;

use crate::app::App;
use crate::deliveries::DeliveryWorker;
use crate::error::Error;
use crate::queue::{self, Kind, Queue};
use job::Jobs;
pub use purge::forget_ended_credentials;
use runner::Runner;
use unknowns::Unknowns;

/// The client that jobs of the deployment itself stand under: the first of all.
pub const DEPLOYMENT: ClientId = Id::new(Uuid::nil());

/// When making sure of the recurring jobs is tried again after the database failed.
const PREPARE_AGAIN_AFTER: Duration = Duration::from_secs(1);

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
    delivery_worker: DeliveryWorker,
}

impl Worker {
    /// A worker of this process.
    pub fn new(app: App) -> Self {
        let owner = app.chance.uuid();
        Self { delivery_worker: DeliveryWorker::new(app.clone()), app, owner }
    }

    /// Makes sure that the recurring jobs are there. Where one process owns the database, the leases of its earlier
    /// runs are void at once.
    pub async fn prepare(&self) -> Result<(), Error> {
        if self.app.store.database_kind() == DatabaseKind::Sqlite {
            let store = &self.app.store;
            for client_id in jobs::clients_with_foreign_leases(store, self.owner).await? {
                let mut batch = Batch::new(client_id);
                jobs::void_leases(&mut batch, self.owner);
                // What is left leased falls free with its lease.
                let _ = apply(&self.app, batch).await?;
            }
        }
        let mut batch = Batch::new(DEPLOYMENT);
        for kind in Kind::recurring() {
            queue::ensure(&self.app, &mut batch, kind);
        }
        apply(&self.app, batch).await.map(drop)
    }

    /// Runs jobs, unknown outcomes and deliveries side by side until `stop` ends; what has begun is finished.
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
                "the recurring jobs could not be made sure of"
            );
            tokio::time::sleep(PREPARE_AGAIN_AFTER).await;
        }
    }

    /// Runs everything that is due now, once: unknown outcomes, then one queue after the other, then deliveries.
    pub async fn round(&self) -> Result<Round, Error> {
        let resolved = self.unknowns().round().await?;
        let mut jobs = 0;
        for queue in Queue::ALL {
            jobs += self.queue(queue).round().await?;
        }
        Ok(Round { jobs, resolved, delivered: self.delivery_worker.round().await? })
    }

    fn queue(&self, queue: Queue) -> Runner<Jobs> {
        Runner::new(Jobs { app: self.app.clone(), owner: self.owner, queue })
    }

    fn unknowns(&self) -> Runner<Unknowns> {
        Runner::new(Unknowns { app: self.app.clone() })
    }

    /// When something is due next, besides the recurring jobs.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let job = jobs::next_due_of_others(&self.app.store, DEPLOYMENT).await?;
        let request = transaction_requests::next_due(&self.app.store).await?;
        let event = events::next_dispatch(&self.app.store).await?;
        let delivery = deliveries::next_due(&self.app.store).await?;
        Ok([job, request, event, delivery].into_iter().flatten().min())
    }
}

async fn apply(app: &App, batch: Batch) -> Result<Commit, Error> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}
