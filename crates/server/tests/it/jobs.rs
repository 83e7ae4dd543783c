//! Jobs: rows that are leased while they run, retried when they fail, and kept across restarts.

mod queues;

use std::time::Duration;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::jobs::{DEPLOYMENT, Worker};
use regente_engine::queue::{Kind, Queue};
use regente_store::jobs::{Due, Job, NewJob};
use regente_store::sealed::Sealed;
use regente_store::tokens::{StoredToken, TokenKind};
use regente_store::{Batch, Commit, DatabaseKind, Sql, args, jobs, sql, tokens};
use serde_json::json;
use uuid::Uuid;

use crate::support::app::{TestApp, stories};

stories! {
    the_recurring_jobs_are_there_once,
    a_job_of_another_worker_is_left_alone_until_its_lease_is_over,
    the_lease_of_an_earlier_run_is_void_where_one_process_owns_them_all,
    a_failing_job_is_tried_again_with_growing_waits,
    a_recurring_job_is_never_given_up,
    a_job_that_nobody_knows_is_given_up_and_kept,
    two_workers_run_a_job_once,
    work_that_is_due_later_is_done_after_a_restart,
    the_same_work_is_brought_forward_and_not_doubled,
    a_purge_takes_a_bounded_number_and_comes_back,
    ended_client_tokens_are_forgotten_a_day_later,
    a_worker_runs_until_it_is_stopped,
}

sql! {
    JOBS = "SELECT kind, job_key, run_at, attempts, lease_owner FROM jobs WHERE client_id = :client_id ORDER BY kind";
    COUNT_TOKENS = "SELECT COUNT(*) AS n FROM tokens WHERE client_id = :client_id";
    COUNT_CLIENT_TOKENS = "SELECT COUNT(*) AS n FROM credentials
        WHERE client_id = :client_id AND expires_at IS NOT NULL";
    LOSE_TOKENS = "ALTER TABLE tokens RENAME TO tokens_away";
    FIND_TOKENS = "ALTER TABLE tokens_away RENAME TO tokens";
}

const MINUTE: Duration = Duration::from_secs(60);
const KIND: &str = "purge_tokens";
const QUEUE: &str = Queue::Housekeeping.word();

struct Row {
    kind: String,
    run_at: Timestamp,
    attempts: i64,
    lease_owner: Option<Uuid>,
}

async fn rows(app: &TestApp, client_id: ClientId) -> Vec<Row> {
    let rows = app.app.store.rows(&JOBS, args! { client_id }).await.unwrap();
    rows.iter()
        .map(|row| Row {
            kind: row.get("kind").unwrap(),
            run_at: row.get("run_at").unwrap(),
            attempts: row.get("attempts").unwrap(),
            lease_owner: row.get("lease_owner").unwrap(),
        })
        .collect()
}

async fn row(app: &TestApp, client_id: ClientId, kind: &str) -> Row {
    rows(app, client_id).await.into_iter().find(|row| row.kind == kind).unwrap()
}

async fn apply(app: &TestApp, client_id: ClientId, fill: impl FnOnce(&mut Batch)) -> Commit {
    let mut batch = Batch::new(client_id);
    fill(&mut batch);
    app.app.store.apply(batch).await.unwrap()
}

async fn run(app: &TestApp, statement: &'static Sql) {
    let fill = |batch: &mut Batch| _ = batch.push_any(statement, args! {});
    assert_eq!(apply(app, DEPLOYMENT, fill).await, Commit::Applied);
}

/// Enqueues a purge of the account, due at `run_at`.
async fn enqueue(app: &TestApp, kind: &'static str, run_at: Timestamp) {
    let id = app.app.chance.id(app.clock.deployment());
    let job = NewJob { id, kind, queue: QUEUE, key: "k", payload: "{}", run_at };
    assert_eq!(apply(app, app.client_id(), |batch| jobs::enqueue(batch, &job)).await, Commit::Applied);
}

async fn due(app: &TestApp) -> Option<Job> {
    let due = Due { queue: QUEUE, now: app.clock.deployment() };
    jobs::due(&app.app.store, app.client_id(), due, 10).await.unwrap().pop()
}

/// Leases a job like a worker that then dies.
async fn lease(app: &TestApp, job: &Job, lease: Duration) -> Uuid {
    let owner = Uuid::from_u128(0xdead);
    assert_eq!(
        apply(app, job.client_id, |batch| jobs::lease(batch, job, owner, lease)).await,
        Commit::Applied
    );
    owner
}

async fn the_recurring_jobs_are_there_once(app: TestApp) {
    for _ in 0..3 {
        app.worker.prepare().await.unwrap();
    }
    let kinds: Vec<String> = rows(&app, DEPLOYMENT).await.into_iter().map(|row| row.kind).collect();
    assert_eq!(
        kinds,
        [
            "fold_counters",
            "purge_credentials",
            "purge_deliveries",
            "purge_idempotency",
            "purge_listeners",
            "purge_notifications",
            "purge_rates",
            "purge_tokens",
            "reseal"
        ]
    );
    assert_eq!(app.worker.round().await.unwrap().jobs, Kind::recurring().count());
    assert_eq!(app.worker.round().await.unwrap().jobs, 0, "none is due again at once");
    for row in rows(&app, DEPLOYMENT).await {
        assert!(
            row.run_at > app.clock.deployment() && row.lease_owner.is_none() && row.attempts == 0,
            "{}",
            row.kind
        );
    }
    let app = app.restart().await;
    app.worker.prepare().await.unwrap();
    assert_eq!(rows(&app, DEPLOYMENT).await.len(), Kind::recurring().count());
    assert_eq!(app.worker.round().await.unwrap().jobs, 0, "a start is no reason to run them");
}

async fn a_job_of_another_worker_is_left_alone_until_its_lease_is_over(app: TestApp) {
    let now = app.clock.deployment();
    enqueue(&app, KIND, now).await;
    let job = due(&app).await.unwrap();
    let owner = lease(&app, &job, MINUTE).await;
    assert_eq!(app.worker.round().await.unwrap().jobs, 0);
    assert_eq!(row(&app, app.client_id(), KIND).await.lease_owner, Some(owner));

    enqueue(&app, "purge_idempotency", now).await;
    let job = due(&app).await.unwrap();
    lease(&app, &job, Duration::ZERO).await;
    assert_eq!(app.worker.round().await.unwrap().jobs, 1, "its worker is gone, and the lease is over");
    let after = row(&app, app.client_id(), "purge_idempotency").await;
    assert!(after.lease_owner.is_none() && after.run_at > now);
    let lost = apply(&app, app.client_id(), |batch| jobs::finish(batch, &job, owner)).await;
    assert!(matches!(lost, Commit::Refused(_)), "whoever has lost a lease ends nothing");
}

async fn the_lease_of_an_earlier_run_is_void_where_one_process_owns_them_all(app: TestApp) {
    enqueue(&app, KIND, app.clock.deployment()).await;
    let job = due(&app).await.unwrap();
    lease(&app, &job, MINUTE).await;
    let app = app.restart().await;
    app.worker.prepare().await.unwrap();
    app.worker.round().await.unwrap();
    let ran = row(&app, app.client_id(), KIND).await.run_at > app.clock.deployment();
    assert_eq!(ran, app.app.store.database_kind() == DatabaseKind::Sqlite, "elsewhere another node may live");
}

async fn a_failing_job_is_tried_again_with_growing_waits(app: TestApp) {
    app.run_jobs().await;
    let first = row(&app, DEPLOYMENT, KIND).await.run_at;
    run(&app, &LOSE_TOKENS).await;
    app.later(first.since(app.clock.deployment())).await;
    let mut waits = Vec::new();
    for attempts in 1..=12 {
        let row = row(&app, DEPLOYMENT, KIND).await;
        assert_eq!((row.attempts, row.lease_owner), (attempts, None));
        let wait = row.run_at.since(app.clock.deployment());
        waits.push(wait.as_secs());
        app.later(wait).await;
    }
    assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
    let others = row(&app, DEPLOYMENT, "purge_idempotency").await;
    assert_eq!(others.attempts, 0, "other jobs go on");
    run(&app, &FIND_TOKENS).await;
    app.later(Duration::from_secs(3600)).await;
    let healed = row(&app, DEPLOYMENT, KIND).await;
    assert_eq!(healed.attempts, 0);
    assert!(healed.run_at.since(app.clock.deployment()) <= 10 * MINUTE);
}

/// A recurring job is retried for ever: nobody would notice its end before the disk is full.
async fn a_recurring_job_is_never_given_up(app: TestApp) {
    app.run_jobs().await;
    run(&app, &LOSE_TOKENS).await;
    app.later_with_every_recurrence(Duration::from_secs(24 * 60 * 60)).await;
    assert!(row(&app, DEPLOYMENT, KIND).await.attempts > 20);
    assert!(jobs::dead(&app.app.store, 10).await.unwrap().is_empty());
    run(&app, &FIND_TOKENS).await;
    app.later(Duration::from_secs(3600)).await;
    assert_eq!(row(&app, DEPLOYMENT, KIND).await.attempts, 0);
}

async fn a_job_that_nobody_knows_is_given_up_and_kept(app: TestApp) {
    enqueue(&app, "of_a_later_release", app.clock.deployment()).await;
    app.run_jobs().await;
    assert!(rows(&app, app.client_id()).await.is_empty());
    let dead = jobs::dead(&app.app.store, 10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].client_id, dead[0].kind.as_str()), (app.client_id(), "of_a_later_release"));
    assert_eq!(
        (dead[0].why.as_str(), dead[0].died_at),
        ("this release does not know the kind", app.clock.deployment())
    );
}

async fn two_workers_run_a_job_once(app: TestApp) {
    app.worker.prepare().await.unwrap();
    let workers: Vec<Worker> = (0..4).map(|_| Worker::new(app.app.engine.clone())).collect();
    let rounds = futures_util::future::join_all(workers.iter().map(Worker::round)).await;
    let ran: usize = rounds.into_iter().map(|round| round.unwrap().jobs).sum();
    assert_eq!(ran, Kind::recurring().count(), "each of them once");
}

async fn work_that_is_due_later_is_done_after_a_restart(app: TestApp) {
    enqueue(&app, KIND, app.clock.deployment() + 90 * MINUTE).await;
    app.later(80 * MINUTE).await;
    let waiting = row(&app, app.client_id(), KIND).await.run_at;
    let app = app.restart().await;
    assert_eq!(row(&app, app.client_id(), KIND).await.run_at, waiting);
    app.later(10 * MINUTE).await;
    assert!(row(&app, app.client_id(), KIND).await.run_at > waiting, "it ran at its time");
}

async fn the_same_work_is_brought_forward_and_not_doubled(app: TestApp) {
    let now = app.clock.deployment();
    for (minutes, expected) in [(60, 60), (90, 60), (30, 30)] {
        enqueue(&app, KIND, now + minutes * MINUTE).await;
        let rows = rows(&app, app.client_id()).await;
        assert_eq!((rows.len(), rows[0].run_at), (1, now + expected * MINUTE));
    }
}

async fn a_purge_takes_a_bounded_number_and_comes_back(app: TestApp) {
    let (now, client_id) = (app.clock.deployment(), app.client_id());
    let actor = regente_domain::actor::Actor::Operator;
    let inserted = apply(&app, client_id, |batch| {
        for number in 0..1201_u32 {
            let mut digest = [0; 32];
            digest[..4].copy_from_slice(&number.to_be_bytes());
            let sealed = Sealed { key_id: Uuid::from_u128(1), bytes: vec![1] };
            tokens::insert(
                batch,
                digest,
                StoredToken { kind: TokenKind::Card, sealed },
                now + MINUTE,
                &actor,
            );
        }
    })
    .await;
    assert_eq!(inserted, Commit::Applied);
    let left = async || -> i64 {
        app.app.store.row(&COUNT_TOKENS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
    };
    app.run_jobs().await;
    assert_eq!(left().await, 1201, "nothing had ended yet");
    let next = row(&app, DEPLOYMENT, KIND).await.run_at;
    app.later(next.since(app.clock.deployment())).await;
    assert_eq!(left().await, 701);
    app.later(Duration::from_secs(1)).await;
    assert_eq!(left().await, 201, "the next look comes at once");
    app.later(Duration::from_secs(1)).await;
    assert_eq!(left().await, 0);
}

async fn ended_client_tokens_are_forgotten_a_day_later(app: TestApp) {
    app.client_token(json!(["charges"])).await;
    let client_id = app.client_id();
    let left = async || -> i64 {
        app.app.store.row(&COUNT_CLIENT_TOKENS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
    };
    app.later(24 * 60 * MINUTE).await;
    assert_eq!(left().await, 1);
    app.later(21 * MINUTE).await;
    assert_eq!(left().await, 0);
}

async fn a_worker_runs_until_it_is_stopped(app: TestApp) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = Worker::new(app.app.engine.clone());
    let running = tokio::spawn(worker.run_until(async move { drop(stopped.await) }));
    while rows(&app, DEPLOYMENT).await.iter().filter(|row| row.run_at > app.clock.deployment()).count() < 5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
    let ids: Vec<Option<Uuid>> =
        rows(&app, DEPLOYMENT).await.into_iter().map(|row| row.lease_owner).collect();
    assert!(ids.iter().all(Option::is_none), "nothing is left leased");
}
