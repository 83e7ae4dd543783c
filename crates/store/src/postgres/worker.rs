//! A worker of a distributed database: the connections for its accounts, and whether it answers.
//!
//! Two ways lead to a worker that is connected to. What is of an account takes its own; a statement over all accounts takes that of the
//! coordinator. Each is looked at: while the coordinator alone cannot reach a worker, its accounts are served, and what looks over all
//! accounts leaves them out.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use regente_domain::id::ClientId;
use tokio::time::timeout;

use super::link::Link;
use super::part::{Part, Source};
use super::plan_cache::PlanCache;
use crate::error::StoreError;
use crate::value::Value;

/// How many looks in a row fail before a way counts as lost.
const FAILED_LOOKS: u32 = 2;

/// A look that takes longer shows that the worker is slow: it reads one row.
const SLOW_LOOK: Duration = Duration::from_millis(250);

/// A read that the server of an account answers.
pub(super) const LOOK: &str = "SELECT id FROM jobs WHERE client_id = $1 LIMIT 1";

/// How statements about the accounts of a worker get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To the worker at this host and port.
    Straight(String, u16),
    /// The coordinator passes them on.
    ThroughCoordinator,
}

#[derive(Debug)]
pub(super) struct Worker {
    /// Its number in the extension's catalogs (`groupid`).
    pub(super) number: i32,
    pub(super) route: Route,
    pub(super) part: Arc<Part>,
    /// The way of what is of an account.
    own: Way,
    /// The way of statements over all accounts, where it is another one.
    passed: Option<Way>,
}

impl Worker {
    /// Connects for a worker. One that is away is lost from the start. `example` is the id of an account that lies on it.
    pub(super) async fn open(
        number: i32,
        route: Route,
        coordinator: &Source,
        example: ClientId,
    ) -> Result<Self, StoreError> {
        let through = Way::new(Link::new(&coordinator.connector));
        let Route::Straight(host, port) = &route else {
            let part = Arc::new(Part::open(coordinator).await?);
            let worker = Self { number, route, part, own: through, passed: None };
            if let Err(error) = worker.own.answers(example).await {
                worker.lose(&error);
            }
            return Ok(worker);
        };
        let connector = coordinator.connector.to_worker(number, host, *port)?;
        let own = Way::new(Link::new(&connector));
        // Its release is not known yet, so it keeps no plans.
        let source = Source { connector, plan_cache: PlanCache::Off, ..coordinator.clone() };
        let opened = async {
            own.answers(example).await?;
            let plan_cache = PlanCache::of(&source.connector, example).await?;
            if plan_cache == PlanCache::Off {
                tracing::warn!(
                    number,
                    "this worker's release of the extension would keep a plan for each execution of a statement, so it plans each \
                     one; a later release costs less processor"
                );
            }
            Part::open(&Source { plan_cache, ..source.clone() }).await
        };
        let opened = timeout(source.options.connect_timeout, opened).await;
        let (part, error) = match opened.map_err(StoreError::unavailable).flatten() {
            Ok(part) => (part, None),
            Err(error) => (Part::open_lost(&source)?, Some(error)),
        };
        let worker = Self { number, route, part: Arc::new(part), own, passed: Some(through) };
        if let Some(error) = error {
            worker.lose(&error);
        }
        Ok(worker)
    }

    /// Whether what is of its accounts is refused.
    pub(super) fn is_lost(&self) -> bool {
        self.part.reach.is_lost()
    }

    /// Whether statements over all accounts leave its accounts out.
    pub(super) fn is_left_out(&self) -> bool {
        self.is_lost() || self.passed.as_ref().is_some_and(Way::is_lost)
    }

    /// Whether some of its accounts are refused, or wait for long.
    pub(super) fn is_failing(&self) -> bool {
        self.is_left_out() || self.part.reach.is_full() || self.own.is_slow.load(Ordering::Relaxed)
    }

    /// Looks at each way, by reading of an account that lies on it; whether one is lost by that. While the coordinator cannot be asked,
    /// nothing is learned of the ways through it.
    pub(super) async fn look(&self, example: ClientId, is_coordinator_asked: bool) -> bool {
        let own = async {
            match self.route {
                Route::ThroughCoordinator if !is_coordinator_asked => Change::None,
                Route::ThroughCoordinator | Route::Straight(..) => self.own.look(example).await,
            }
        };
        let passed = async {
            match &self.passed {
                Some(way) if is_coordinator_asked => way.look(example).await,
                Some(_) | None => Change::None,
            }
        };
        let (own, passed) = tokio::join!(own, passed);
        match &own {
            Change::Lost(error) => self.lose(error),
            Change::Found => {
                tracing::info!(number = self.number, "a worker of the database is reached again");
                self.part.reach.find();
            }
            Change::None => {}
        }
        match &passed {
            Change::Lost(error) => {
                let (number, error) = (self.number, error as &dyn std::error::Error);
                tracing::error!(
                    number,
                    error,
                    "the coordinator does not reach a worker of the database: jobs and deliveries leave its accounts out"
                );
            }
            Change::Found => {
                tracing::info!(
                    number = self.number,
                    "the coordinator reaches a worker of the database again"
                );
            }
            Change::None => {}
        }
        matches!(own, Change::Lost(_)) || matches!(passed, Change::Lost(_))
    }

    /// Ends what waits for a worker that another one has replaced.
    pub(super) fn retire(&self) {
        self.part.reach.lose();
    }

    pub(super) async fn close(&self) {
        self.part.close().await;
        for way in std::iter::once(&self.own).chain(&self.passed) {
            way.link.close().await;
        }
    }

    fn lose(&self, error: &StoreError) {
        let (number, error) = (self.number, error as &dyn std::error::Error);
        tracing::error!(number, error, "a worker of the database cannot be used: its accounts are refused");
        self.own.is_lost.store(true, Ordering::Relaxed);
        self.part.reach.lose();
    }
}

/// A way to a worker.
struct Way {
    link: Link,
    failed_looks: AtomicU32,
    is_lost: AtomicBool,
    /// Whether the last look took long.
    is_slow: AtomicBool,
}

/// What a look has changed.
enum Change {
    None,
    Lost(StoreError),
    Found,
}

impl Way {
    fn new(link: Link) -> Self {
        let (failed_looks, is_lost, is_slow) =
            (AtomicU32::new(0), AtomicBool::new(false), AtomicBool::new(false));
        Self { link, failed_looks, is_lost, is_slow }
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    async fn answers(&self, example: ClientId) -> Result<(), StoreError> {
        self.link.rows(LOOK, &[&Value::from(example)]).await.map(drop)
    }

    async fn look(&self, example: ClientId) -> Change {
        let mut answers = pin!(self.answers(example));
        let in_time = timeout(SLOW_LOOK, &mut answers).await;
        match (self.is_slow.swap(in_time.is_err(), Ordering::Relaxed), in_time.is_err()) {
            (false, true) => tracing::warn!("a worker of the database answers late"),
            (true, false) => tracing::info!("a worker of the database answers in time again"),
            (false, false) | (true, true) => {}
        }
        let answered = match in_time {
            Ok(answered) => answered,
            Err(_late) => answers.await,
        };
        match answered {
            Ok(()) => {
                self.failed_looks.store(0, Ordering::Relaxed);
                if self.is_lost.swap(false, Ordering::Relaxed) { Change::Found } else { Change::None }
            }
            Err(error) => {
                let failed = self.failed_looks.fetch_add(1, Ordering::Relaxed) + 1;
                let is_lost_now = failed >= FAILED_LOOKS && !self.is_lost.swap(true, Ordering::Relaxed);
                if is_lost_now { Change::Lost(error) } else { Change::None }
            }
        }
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("is_lost", &self.is_lost).finish_non_exhaustive()
    }
}
