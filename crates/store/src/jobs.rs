//! Stores jobs: written in the batch of the change that needs them, leased while they run.
//!
//! Leases go by the database's clock: the clocks of two nodes may differ.

use std::time::Duration;

use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::due::{COUNTED_MAX, Found, Look};
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, client_id, kind, lane, job_key, payload, run_at, attempts, lease_owner, lease_until, version"
    };
}

sql! {
    /// Adds a job; one that waits with the same kind and key is due at the earlier of both times.
    pub ENQUEUE_JOB = "
        INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
        VALUES (:id, :client_id, :kind, :lane, :job_key, :payload, :run_at, 0, 1)
        ON CONFLICT (client_id, kind, job_key) DO UPDATE SET
            run_at = CASE WHEN excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END";
    /// Adds a job unless there is one with the same kind and key.
    pub ENSURE_JOB = "
        INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
        VALUES (:id, :client_id, :kind, :lane, :job_key, :payload, :run_at, 0, 1)
        ON CONFLICT (client_id, kind, job_key) DO NOTHING";
    /// The clients of the first due jobs of a queue, each with their number.
    pub CLIENTS_OF_DUE_JOBS = "
        SELECT client_id, COUNT(*) AS n FROM (
            SELECT client_id FROM jobs
            WHERE REACHABLE(client_id) AND lane = :lane AND run_at <= :now AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)
            ORDER BY run_at LIMIT :rows) first
        GROUP BY client_id";
    /// When the first unleased job of a client in a queue is due.
    pub FIRST_JOB = "
        SELECT run_at AS due_at FROM jobs
        WHERE client_id = :client_id AND lane = :lane AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)
        ORDER BY run_at LIMIT 1";
    /// The due, unleased jobs of a client in a queue, longest waiting first.
    pub DUE_JOBS = concat!("SELECT ", columns!(), " FROM jobs
        WHERE client_id = :client_id AND lane = :lane AND run_at <= :now
          AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)
        ORDER BY run_at, id LIMIT :limit");
    /// When the next job of each client is due, besides the jobs of one client.
    pub NEXT_DUE_JOB = "
        SELECT client_id, MIN(run_at) AS run_at FROM jobs
        WHERE lease_until IS NULL AND client_id <> :besides GROUP BY client_id";
    /// Counts the due jobs of a queue that no worker has leased, up to a number, and finds the time since when the oldest
    /// waits.
    pub DUE_JOBS_BACKLOG = "
        SELECT (SELECT COUNT(*) FROM (
                SELECT run_at FROM jobs WHERE REACHABLE(client_id) AND lane = :lane AND run_at <= :now
                    AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)
                ORDER BY run_at LIMIT :counted) first) AS due,
            (SELECT run_at FROM jobs WHERE REACHABLE(client_id) AND lane = :lane AND run_at <= :now
                    AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)
                ORDER BY run_at LIMIT 1) AS oldest_due";
    /// Counts the dead letters, up to a number.
    pub COUNT_DEAD_JOBS = "SELECT COUNT(*) AS dead FROM (SELECT id FROM dead_jobs WHERE REACHABLE(client_id) LIMIT :counted) first";
    /// Takes a lease; guarded by the version, and by the lease, which its owner may have renewed meanwhile.
    pub LEASE_JOB = "
        UPDATE jobs SET lease_owner = :owner, lease_until = DATABASE_NOW + :lease_ms, attempts = attempts + 1,
            version = version + 1
        WHERE id = :id AND client_id = :client_id AND version = :version
          AND (lease_until IS NULL OR lease_until <= DATABASE_NOW)";
    /// Extends our lease.
    pub RENEW_LEASE = "
        UPDATE jobs SET lease_until = DATABASE_NOW + :lease_ms
        WHERE id = :id AND client_id = :client_id AND lease_owner = :owner";
    /// Releases a lease and sets the next due time.
    pub REPEAT_JOB = "
        UPDATE jobs SET run_at = :run_at, attempts = :attempts, lease_owner = NULL, lease_until = NULL,
            version = version + 1
        WHERE id = :id AND client_id = :client_id AND lease_owner = :owner";
    /// Ends a job.
    pub FINISH_JOB = "DELETE FROM jobs WHERE id = :id AND client_id = :client_id AND lease_owner = :owner";
    /// Takes off a job that no worker has leased.
    pub TAKE_OFF_JOB = "
        DELETE FROM jobs WHERE client_id = :client_id AND kind = :kind AND job_key = :job_key AND lease_until IS NULL";
    /// Stores a job as a dead letter.
    pub DEAD_LETTER_JOB = "
        INSERT INTO dead_jobs (id, client_id, kind, lane, job_key, payload, attempts, why, died_at)
        VALUES (:id, :client_id, :kind, :lane, :job_key, :payload, :attempts, :why, :died_at)";
    /// Voids the leases of earlier runs, where one process owns all of them.
    pub VOID_LEASES = "
        UPDATE jobs SET lease_owner = NULL, lease_until = NULL
        WHERE client_id = :client_id AND lease_owner IS NOT NULL AND lease_owner <> :owner";
    /// Clients with jobs leased by an earlier run.
    pub CLIENTS_WITH_FOREIGN_LEASES = "
        SELECT DISTINCT client_id FROM jobs WHERE REACHABLE(client_id) AND lease_owner IS NOT NULL AND lease_owner <> :owner";
    /// Dead letters, the latest first.
    pub DEAD_JOBS = "
        SELECT id, client_id, kind, job_key, attempts, why, died_at FROM dead_jobs WHERE REACHABLE(client_id)
        ORDER BY died_at DESC LIMIT :limit";
}

/// A stored job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: Id<of::Job>,
    /// The client it works for; the nil id is the deployment itself.
    pub client_id: ClientId,
    /// The kind, which decides what runs.
    pub kind: String,
    /// The queue; its jobs share a limit of concurrency.
    pub queue: String,
    /// Unique within a client and kind.
    pub key: String,
    /// JSON, read by the kind.
    pub payload: String,
    /// When it is due, by business time.
    pub run_at: Timestamp,
    /// How often it was started.
    pub attempts: i64,
    /// Grows with each lease and repetition.
    pub version: i64,
}

/// A job to add.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// Its id.
    pub id: Id<of::Job>,
    /// The kind, which decides what runs.
    pub kind: &'static str,
    /// Its queue.
    pub queue: &'static str,
    /// Unique within a client and kind.
    pub key: &'a str,
    /// JSON, read by the kind.
    pub payload: &'a str,
    /// When it is due.
    pub run_at: Timestamp,
}

/// Adds a job to the change that needs it; one that already waits is due at the earlier of both times.
pub fn enqueue(batch: &mut Batch, job: &NewJob<'_>) {
    let client_id = batch.client_id();
    batch.push(
        &ENQUEUE_JOB,
        args! {
            id: job.id, client_id, kind: job.kind, lane: job.queue, job_key: job.key.to_owned(),
            payload: job.payload.to_owned(), run_at: job.run_at,
        },
    );
}

/// Adds a recurring job unless it is there.
pub fn ensure(batch: &mut Batch, job: &NewJob<'_>) {
    let client_id = batch.client_id();
    batch.push_any(
        &ENSURE_JOB,
        args! {
            id: job.id, client_id, kind: job.kind, lane: job.queue, job_key: job.key.to_owned(),
            payload: job.payload.to_owned(), run_at: job.run_at,
        },
    );
}

/// Takes a lease that lasts for `lease`; if another worker has leased the job first, the batch is refused.
pub fn lease(batch: &mut Batch, job: &Job, owner: Uuid, lease: Duration) {
    let (id, client_id, version) = (job.id, job.client_id, job.version);
    batch.guard(&LEASE_JOB, args! { id, client_id, version, owner, lease_ms: millis(lease) });
}

/// Lets a lease last for `lease` from now on; if another worker has taken the lease, the batch is refused.
pub fn renew(batch: &mut Batch, job: &Job, owner: Uuid, lease: Duration) {
    let (id, client_id) = (job.id, job.client_id);
    batch.guard(&RENEW_LEASE, args! { id, client_id, owner, lease_ms: millis(lease) });
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Ends a job.
pub fn finish(batch: &mut Batch, job: &Job, owner: Uuid) {
    batch.guard(&FINISH_JOB, args! { id: job.id, client_id: job.client_id, owner });
}

/// Takes off a job whose work is done by this batch, unless a worker has begun it.
pub fn take_off(batch: &mut Batch, kind: &'static str, key: &str) {
    let client_id = batch.client_id();
    batch.push_any(&TAKE_OFF_JOB, args! { client_id, kind, job_key: key.to_owned() });
}

/// Releases a job until `run_at`, with a new count of attempts.
pub fn repeat(batch: &mut Batch, job: &Job, owner: Uuid, run_at: Timestamp, attempts: i64) {
    batch.guard(&REPEAT_JOB, args! { id: job.id, client_id: job.client_id, owner, run_at, attempts });
}

/// Stores a job as a dead letter for the operator.
pub fn dead_letter(batch: &mut Batch, job: &Job, owner: Uuid, why: &str, died_at: Timestamp) {
    finish(batch, job, owner);
    batch.push(
        &DEAD_LETTER_JOB,
        args! {
            id: job.id, client_id: job.client_id, kind: job.kind.clone(), lane: job.queue.clone(),
            job_key: job.key.clone(), payload: job.payload.clone(), attempts: job.attempts, why: why.to_owned(), died_at,
        },
    );
}

/// Voids the leases of earlier runs on the batch's client.
pub fn void_leases(batch: &mut Batch, owner: Uuid) {
    let client_id = batch.client_id();
    batch.push_any(&VOID_LEASES, args! { client_id, owner });
}

/// Clients whose jobs are leased by a run other than `owner`.
pub async fn clients_with_foreign_leases(store: &Store, owner: Uuid) -> Result<Vec<ClientId>, StoreError> {
    let rows = store.rows(&CLIENTS_WITH_FOREIGN_LEASES, args! { owner }).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Which jobs to look for.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// The queue.
    pub queue: &'static str,
    /// Business time: jobs due by then.
    pub now: Timestamp,
}

/// Clients with due jobs; while there are many, those from `from` on have their turn.
pub async fn clients_with_due(
    store: &Store,
    Due { queue, now }: Due,
    from: ClientId,
) -> Result<Found, StoreError> {
    let look = Look { first: &CLIENTS_OF_DUE_JOBS, of_one: &FIRST_JOB };
    look.take(store, args! { lane: queue }, now, from).await
}

/// The due jobs of a client, longest waiting first.
pub async fn due(
    store: &Store,
    client_id: ClientId,
    Due { queue, now }: Due,
    limit: i64,
) -> Result<Vec<Job>, StoreError> {
    let rows = store.rows(&DUE_JOBS, args! { client_id, lane: queue, now, limit }).await?;
    rows.iter().map(from_row).collect()
}

/// When the next job of each client is due, by the client's own time, for clients with waiting jobs. The jobs of the
/// client `besides` are left out.
pub async fn next_due(store: &Store, besides: ClientId) -> Result<Vec<(ClientId, Timestamp)>, StoreError> {
    let rows = store.rows(&NEXT_DUE_JOB, args! { besides }).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("run_at")?))).collect()
}

/// The waiting jobs and the dead letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Number of due, unleased jobs; of each queue at most [`COUNTED_MAX`] are counted.
    pub due: u64,
    /// When the longest waiting of them became due.
    pub oldest_due: Option<Timestamp>,
    /// Number of dead letters, up to [`COUNTED_MAX`].
    pub dead: u64,
}

/// The backlog of all clients in these queues: jobs due at `now` (business time) and not leased.
pub async fn backlog(store: &Store, queues: &[&'static str], now: Timestamp) -> Result<Backlog, StoreError> {
    let missing = || StoreError::Corrupt("a count without a row".to_owned());
    let dead = store.row(&COUNT_DEAD_JOBS, args! { counted: COUNTED_MAX }).await?.ok_or_else(missing)?;
    let mut backlog = Backlog { due: 0, oldest_due: None, dead: dead.get("dead")? };
    for queue in queues {
        let args = args! { lane: *queue, now, counted: COUNTED_MAX };
        let of_queue = store.row(&DUE_JOBS_BACKLOG, args).await?.ok_or_else(missing)?;
        let oldest_due: Option<Timestamp> = of_queue.get("oldest_due")?;
        backlog.due += of_queue.get::<u64>("due")?;
        backlog.oldest_due = [backlog.oldest_due, oldest_due].into_iter().flatten().min();
    }
    Ok(backlog)
}

/// A dead letter.
#[derive(Clone, Debug)]
pub struct DeadJob {
    /// Its id.
    pub id: Id<of::Job>,
    /// The client of the job.
    pub client_id: ClientId,
    /// The kind of the job.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// How often it was started.
    pub attempts: i64,
    /// Why it was given up.
    pub why: String,
    /// When it was given up.
    pub died_at: Timestamp,
}

/// Dead letters, the latest first.
pub async fn dead(store: &Store, limit: i64) -> Result<Vec<DeadJob>, StoreError> {
    let rows = store.rows(&DEAD_JOBS, args! { limit }).await?;
    rows.iter()
        .map(|row| {
            Ok(DeadJob {
                id: row.get("id")?,
                client_id: row.get("client_id")?,
                kind: row.get("kind")?,
                key: row.get("job_key")?,
                attempts: row.get("attempts")?,
                why: row.get("why")?,
                died_at: row.get("died_at")?,
            })
        })
        .collect()
}

fn from_row(row: &Row) -> Result<Job, StoreError> {
    Ok(Job {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        kind: row.get("kind")?,
        queue: row.get("lane")?,
        key: row.get("job_key")?,
        payload: row.get("payload")?,
        run_at: row.get("run_at")?,
        attempts: row.get("attempts")?,
        version: row.get("version")?,
    })
}
