//! Runs one job: leases it, renews the lease while it runs, and records its result.

use std::time::Duration;

use regente_domain::backoff;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::due::Found;
use regente_store::jobs::{self, Due, Job};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use super::pace::Pace;
use super::runner::{Did, Source};
use super::whose::Whose;
use super::{apply, kind};
use crate::accounts;
use crate::app::App;
use crate::error::Error;
use crate::queue::{Ended, Kind, Queue};

/// How long a lease lasts, by the database's clock. Then another worker may take over the job.
const LEASE: Duration = Duration::from_secs(15);
/// How often the lease of a running job is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// The jobs of a queue, as a source of work.
#[derive(Clone)]
pub(super) struct Jobs {
    pub(super) app: App,
    pub(super) owner: Uuid,
    pub(super) queue: Queue,
    pub(super) whose: Whose,
}

impl Source for Jobs {
    type Piece = Job;

    fn app(&self) -> &App {
        &self.app
    }

    fn concurrent_max(&self) -> usize {
        self.queue.concurrent_max()
    }

    fn pace(&self) -> Option<Pace> {
        match self.queue {
            Queue::Subscriptions => self.app.settings.subscription_jobs_per_second.map(Pace::of),
            Queue::Housekeeping
            | Queue::Money
            | Queue::Purchases
            | Queue::Notifications
            | Queue::Sessions
            | Queue::Sellers
            | Queue::Reports
            | Queue::Mail
            | Queue::Payouts
            | Queue::Clocks => None,
        }
    }

    async fn clients(&self, from: ClientId) -> Result<Found, Error> {
        // A job may open data that another node has just sealed under a new key.
        self.app.vault.keep_current().await?;
        if let Some(found) = self.whose.account() {
            return Ok(found);
        }
        let (store, clock) = (&self.app.store, &self.app.clock);
        let found = jobs::clients_with_due(store, self.due_by(clock.deployment()), from).await;
        let Found { clients, searched_to } = accounts::due_or_all(store, found, from).await?;
        Ok(Found { clients: clock.with_own_clocks(clients), searched_to })
    }

    async fn due(&self, client_id: ClientId, limit: usize) -> Result<Vec<Job>, Error> {
        if self.queue != Queue::Clocks && self.whose.leaves_out(&self.app.clock, client_id) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let due = self.due_by(self.app.clock.of(client_id));
        Ok(jobs::due(&self.app.store, client_id, due, limit).await?)
    }

    fn id(job: &Job) -> Uuid {
        job.id.uuid()
    }

    async fn run(self, job: Job) -> Did {
        let did = self.lease_and_run(&job).await.unwrap_or_else(|error| {
            tracing::error!(job = %job.id, kind = %job.kind, error = ?error, "a job could not be leased or ended");
            Did::Nothing
        });
        self.whose.count(&job.kind, did);
        did
    }
}

impl Jobs {
    fn due_by(&self, now: Timestamp) -> Due {
        Due { queue: self.queue.word(), now }
    }

    async fn lease_and_run(&self, job: &Job) -> Result<Did, Error> {
        let mut batch = Batch::new(job.client_id);
        jobs::lease(&mut batch, job, self.owner, LEASE);
        if apply(&self.app, batch).await? != Commit::Applied {
            return Ok(Did::Nothing);
        }
        let ended = tokio::select! {
            ended = self.work_on(job) => ended,
            never = self.keep_lease(job) => match never {},
        };
        let (ended, attempts) = match ended {
            Ok(ended) => (ended, 0),
            Err(error) => (self.after_failure(job, &error), job.attempts + 1),
        };
        let mut batch = Batch::new(job.client_id);
        match ended {
            Ended::Finished => jobs::finish(&mut batch, job, self.owner),
            Ended::Again { at } => jobs::repeat(&mut batch, job, self.owner, at, attempts),
            Ended::GiveUp { why } => {
                tracing::error!(job = %job.id, kind = %job.kind, why, "a job became a dead letter");
                jobs::dead_letter(&mut batch, job, self.owner, &why, self.app.clock.of(job.client_id));
            }
        }
        // A refusal means that the lease expired and another worker has the job; running it twice does no harm.
        let _ = apply(&self.app, batch).await?;
        Ok(Did::Something)
    }

    async fn work_on(&self, job: &Job) -> Result<Ended, Error> {
        match Kind::parse(&job.kind) {
            Some(kind) => kind::run(kind, self, job).await,
            None => Ok(Ended::GiveUp { why: "this release does not know the kind".to_owned() }),
        }
    }

    /// Renews the lease while the job runs.
    async fn keep_lease(&self, job: &Job) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            let mut batch = Batch::new(job.client_id);
            jobs::renew(&mut batch, job, self.owner, LEASE);
            match apply(&self.app, batch).await {
                Ok(Commit::Applied) => {}
                // Another worker may have the job: both runs reach the same result.
                Ok(Commit::Refused(_) | Commit::Unknown) | Err(_) => {
                    tracing::warn!(job = %job.id, kind = %job.kind, "the lease of a running job could not be renewed");
                }
            }
        }
    }

    fn after_failure(&self, job: &Job, error: &Error) -> Ended {
        let attempts = job.attempts + 1;
        tracing::warn!(job = %job.id, kind = %job.kind, attempts, error = ?error, "a job failed");
        if backoff::JOBS.is_over(attempts) {
            if !Kind::parse(&job.kind).is_some_and(Kind::is_never_given_up) {
                return Ended::GiveUp { why: format!("{attempts} failures in a row, the last one: {error}") };
            }
            tracing::error!(job = %job.id, kind = %job.kind, attempts, error = ?error, "a job fails again and again");
        }
        Ended::Again { at: self.app.clock.of(job.client_id) + backoff::JOBS.wait(attempts) }
    }
}
