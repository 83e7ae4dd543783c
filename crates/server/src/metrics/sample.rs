//! Measures the process and, at a bounded rate, the database when the page is read. When the database does not answer,
//! the page shows the last known values and says so.

use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_engine::clock::MachineTime;
use regente_engine::metrics::{Handles, count, unknown_outcomes};
use regente_engine::queue::Queue;
use regente_store::{StoreError, deliveries, jobs, transaction_requests};
use tokio::sync::Mutex;

use super::process;
use crate::app::App;

/// The shortest time between two queries, however often the page is read.
const DATABASE_EVERY: Duration = Duration::from_secs(2);
/// How long the page waits for the database.
const DATABASE_TIME_MAX: Duration = Duration::from_secs(2);

/// When the database was last asked.
#[derive(Debug, Default)]
pub(super) struct Sampler(Mutex<Option<MachineTime>>);

impl Sampler {
    /// Updates the metrics that are not counted as events happen.
    pub(super) async fn refresh(&self, app: &App, handles: &Handles) {
        look_at_process(app, handles);
        let mut last = self.0.lock().await;
        let now = app.clock.machine();
        if last.is_some_and(|last| now.since(last) < DATABASE_EVERY) {
            return;
        }
        let is_up = match tokio::time::timeout(DATABASE_TIME_MAX, ask_database(app, handles)).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the database cannot be measured");
                false
            }
            Err(_elapsed) => {
                tracing::warn!(time_max = ?DATABASE_TIME_MAX, "the database takes too long to be measured");
                false
            }
        };
        handles.database_up.set(if is_up { 1.0 } else { 0.0 });
        *last = Some(app.clock.machine());
    }
}

fn look_at_process(app: &App, handles: &Handles) {
    handles.provider_calls_in_flight.set(count(app.in_flight.len() as u64));
    let activity = app.store.activity();
    handles.admissions_in_use.set(count(activity.admissions_in_use));
    handles.admissions_max.set(count(activity.admissions_max));
    handles.admissions_refused.absolute(activity.admissions_refused);
    handles.store_commits.absolute(activity.commits);
    handles.store_batches.absolute(activity.batches);
    handles.database_workers_lost.set(count(app.store.lost_workers().len() as u64));
    if let Some(bytes) = process::resident_bytes() {
        handles.process_resident_memory.set(count(bytes));
    }
    if let Some(descriptors) = process::open_fds() {
        handles.process_open_fds.set(count(descriptors));
    }
    if let Some(descriptors) = process::max_fds() {
        handles.process_max_fds.set(count(descriptors));
    }
}

async fn ask_database(app: &App, handles: &Handles) -> Result<(), StoreError> {
    let now = app.clock.deployment();
    let age = |since: Option<Timestamp>| since.map_or(Duration::ZERO, |since| now.since(since));

    let jobs = jobs::backlog(&app.store, &Queue::ALL.map(Queue::word), now).await?;
    handles.jobs_due.set(count(jobs.due));
    handles.jobs_lag.set(age(jobs.oldest_due).as_secs_f64());
    handles.jobs_dead.set(count(jobs.dead));

    let unknown = transaction_requests::unknown(&app.store, now).await?;
    unknown_outcomes(unknown.open, age(unknown.oldest), unknown.given_up);

    let waiting = deliveries::backlog(&app.store, now).await?;
    handles.deliveries_due.set(count(waiting.due));
    handles.deliveries_lag.set(age(waiting.oldest).as_secs_f64());

    let size = app.store.size().await?;
    handles.database_size.set(count(size.database_bytes));
    handles.wal_size.set(count(size.wal_bytes.unwrap_or(0)));
    Ok(())
}
