//! Answers `/health/live` and `/health/ready`. Answers only name the failing part; the log has the reason.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use regente_engine::clock::MachineTime;
use serde::Serialize;
use tokio::sync::{Mutex, watch};
use utoipa::ToSchema;

use crate::app::App;

/// How long all checks may take together before the process counts as not ready.
const READY_TIME_MAX: Duration = Duration::from_secs(3);
/// How long an answer is cached: each check writes to the database, and anybody may ask.
const READY_CACHED_FOR: Duration = Duration::from_millis(500);

/// The readiness of one process: the server drains it, the route shows it. Clones share the state.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    draining: watch::Sender<bool>,
    last: Mutex<Option<(MachineTime, Vec<Failing>)>>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Readiness {
    /// A process that is not draining.
    pub fn new() -> Self {
        Self(Arc::new(Inner { draining: watch::Sender::new(false), last: Mutex::new(None) }))
    }

    /// Makes the process not ready, permanently.
    pub fn drain(&self) {
        self.0.draining.send_replace(true);
    }

    /// Whether [`Readiness::drain`] was called.
    pub fn is_draining(&self) -> bool {
        *self.0.draining.borrow()
    }

    /// Waits for [`Readiness::drain`].
    pub async fn drained(&self) {
        let mut draining = self.0.draining.subscribe();
        // The sender lives as long as `self`.
        let _is_draining = draining.wait_for(|is_draining| *is_draining).await;
    }

    /// The parts that fail; empty when the process is ready.
    pub async fn failing(&self, app: &App) -> Vec<Failing> {
        let mut last = self.0.last.lock().await;
        let now = app.clock.machine();
        let mut failing = match &*last {
            Some((at, failing)) if now.since(*at) < READY_CACHED_FOR => failing.clone(),
            Some(_) | None => {
                let failing = look(app).await;
                *last = Some((now, failing.clone()));
                failing
            }
        };
        if self.is_draining() {
            failing.push(Failing::Draining);
        }
        failing
    }
}

/// A part that keeps the process from serving, or from serving all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failing {
    /// The database cannot be written to.
    Database,
    /// A worker of a distributed database cannot be reached, is slow, or has no room on its disk. The accounts of the others are served.
    DatabaseWorker,
    /// The schema is not that of this release.
    Migrations,
    /// The keys cannot be read.
    Vault,
    /// The process is about to stop.
    Draining,
}

/// Whether the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiveStatus {
    /// It does, or it would not answer.
    Live,
}

/// Whether the process may be sent requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadyStatus {
    /// It may.
    Ready,
    /// It may; some accounts are answered 503.
    Degraded,
    /// It may not.
    NotReady,
}

/// The process lives.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Liveness {
    /// Always `live`.
    status: LiveStatus,
}

/// Whether the process may be sent requests.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessReport {
    /// Whether it may be sent requests.
    status: ReadyStatus,
    /// What fails; empty when ready.
    failing: Vec<Failing>,
    /// The workers of a distributed database that cannot be reached, are slow, or have no room on their disk, by the numbers that
    /// `regente doctor` shows; absent when none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    database_workers: Vec<i32>,
}

/// Tells that the process lives.
///
/// It asks nothing but the process itself: a database that is away is no reason to restart it.
#[utoipa::path(
    get, path = "/health/live", tag = "Health", operation_id = "healthLive",
    responses((status = 200, description = "The process lives.", body = Liveness)),
)]
pub async fn live() -> Json<Liveness> {
    Json(Liveness { status: LiveStatus::Live })
}

/// Tells whether the process may be sent requests.
///
/// It writes to the database, looks for migrations that are not applied, reads the keys, and says no from the moment at which
/// the process was told to stop. While a worker of a distributed database cannot be reached, is slow or has no room on its disk, it may
/// still be sent requests: those of the accounts of that worker are answered 503, or late.
#[utoipa::path(
    get, path = "/health/ready", tag = "Health", operation_id = "healthReady",
    responses(
        (status = 200, description = "It may.", body = ReadinessReport),
        (status = 503, description = "It may not; `failing` names why.", body = ReadinessReport,
            example = json!({ "status": "not_ready", "failing": ["database"] })),
    ),
)]
pub async fn ready(
    State(app): State<App>,
    readiness: Option<Extension<Readiness>>,
) -> (StatusCode, Json<ReadinessReport>) {
    let readiness = readiness.map(|Extension(readiness)| readiness).unwrap_or_default();
    let mut failing = readiness.failing(&app).await;
    let database_workers = app.store.failing_workers();
    let (code, status) = match (failing.is_empty(), database_workers.is_empty()) {
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, ReadyStatus::NotReady),
        (true, false) => (StatusCode::OK, ReadyStatus::Degraded),
        (true, true) => (StatusCode::OK, ReadyStatus::Ready),
    };
    if !database_workers.is_empty() {
        failing.push(Failing::DatabaseWorker);
    }
    (code, Json(ReadinessReport { status, failing, database_workers }))
}

async fn look(app: &App) -> Vec<Failing> {
    let looking = async {
        let database = tell(Failing::Database, app.store.check().await);
        if database.is_some() {
            // Without the database the other checks would fail too.
            return vec![Failing::Database];
        }
        let migrations = match app.store.pending_migrations().await {
            Ok(pending) if pending.is_empty() => None,
            Ok(pending) => {
                tracing::warn!(?pending, "not ready: migrations are pending");
                Some(Failing::Migrations)
            }
            Err(error) => tell(Failing::Migrations, Err::<(), _>(error)),
        };
        let vault = tell(Failing::Vault, app.vault.keep_current().await);
        migrations.into_iter().chain(vault).collect()
    };
    tokio::time::timeout(READY_TIME_MAX, looking).await.unwrap_or_else(|_elapsed| {
        tracing::warn!(time_max = ?READY_TIME_MAX, "not ready: the database takes too long");
        vec![Failing::Database]
    })
}

fn tell<E: std::error::Error + 'static>(part: Failing, result: Result<(), E>) -> Option<Failing> {
    let error = result.err()?;
    tracing::warn!(failing = ?part, error = &error as &dyn std::error::Error, "not ready");
    Some(part)
}
