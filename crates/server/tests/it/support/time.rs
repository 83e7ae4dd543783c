//! Time passes: the clock moves, and jobs run when they fall due.

use std::time::Duration;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::{StoreError, jobs};

use crate::support::app::TestApp;

pub const MINUTE: Duration = Duration::from_secs(60);

impl TestApp {
    /// Runs every job that is due now.
    pub async fn run_jobs(&self) {
        self.prepare().await;
        loop {
            let round = self.worker.round().await.unwrap();
            if round.jobs == 0 && round.resolved == 0 && round.delivered == 0 {
                return;
            }
        }
    }

    /// Advances the clock; each job that falls due runs at its own time. Recurring jobs run along with them and once at
    /// the end: stopping at each of their times took most of the tests' time.
    pub async fn later(&self, by: Duration) {
        self.pass(by, async || self.worker.next_due().await).await;
        if self.next_job().await.unwrap().is_some_and(|due| due <= self.clock.deployment()) {
            self.worker.round().await.unwrap();
        }
    }

    /// Advances the clock and runs each recurring job at each of its times.
    pub async fn later_with_every_recurrence(&self, by: Duration) {
        let next_due = async || {
            let due = [self.worker.next_due().await?, self.next_job().await?];
            Ok(due.into_iter().flatten().min())
        };
        self.pass(by, next_due).await;
    }

    /// When the next job is due, recurring ones too, by the time of the deployment.
    async fn next_job(&self) -> Result<Option<Timestamp>, StoreError> {
        let nobody = ClientId::new(uuid::Uuid::max());
        let due = jobs::next_due(&self.app.store, nobody).await?;
        Ok(due
            .into_iter()
            .filter_map(|(client_id, due_at)| self.clock.deployment_at(client_id, due_at))
            .min())
    }

    async fn pass(&self, by: Duration, next_due: impl AsyncFn() -> Result<Option<Timestamp>, StoreError>) {
        self.prepare().await;
        let target = self.clock.deployment() + by;
        while let Some(due) = next_due().await.unwrap() {
            if due > target {
                break;
            }
            if due > self.clock.deployment() {
                self.clock.set(due);
            }
            self.worker.round().await.unwrap();
        }
        self.clock.set(target);
    }

    /// Enqueues the recurring jobs, once for each start of the process.
    pub async fn prepare(&self) {
        self.prepared.get_or_init(async || self.worker.prepare().await.unwrap()).await;
    }
}
