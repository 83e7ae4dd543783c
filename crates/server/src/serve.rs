//! Runs a server process: listens, serves, and stops in order on a signal.
//!
//! A stop has four steps: become not ready; after a notice, stop accepting; finish requests and jobs within a bound;
//! close the database.

mod accept;
mod http;
mod signals;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Extension;
use axum_server::Handle;
use regente_engine::jobs::Worker;
use regente_engine::settings::Mode;
use regente_store::DatabaseKind;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;

pub(crate) use http::{Limits, serve_plain};
pub use signals::Signals;
pub use tls::{Certificate, TlsError};

use crate::api::router::{Pages, router_with};
use crate::app::App;
use crate::config::ServerConfig;
use crate::health::Readiness;
use accept::Closing;
use http::Door;

/// Length of the queue of connections that are not accepted yet.
const LISTEN_BACKLOG: u32 = 1024;
/// The pause before a failed worker is started again.
const WORKER_PAUSE: Duration = Duration::from_secs(1);
/// How often a drain checks for calls to providers that are under way.
const DRAIN_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Whether the process runs jobs in addition to serving requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    /// It runs jobs.
    Run,
    /// Other processes run them.
    Leave,
}

/// Opens the listening socket, so that a taken port is found before anything else happens.
///
/// # Errors
/// The port is taken, or the address is not one of this machine.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves the interface and further pages until a signal comes, then stops in order. The caller closes the database.
///
/// # Errors
/// The listener failed.
pub async fn serve(
    app: &App,
    pages: Pages,
    listener: TcpListener,
    certificate: Option<Certificate>,
    server: &ServerConfig,
    jobs: Jobs,
    mut signals: Signals,
) -> io::Result<()> {
    let readiness = Readiness::new();
    let worker = match jobs {
        Jobs::Run => Some(tokio::spawn(run_jobs(app.clone(), readiness.clone()))),
        Jobs::Leave => None,
    };
    let _following = follow_the_database(app);
    let handle = Handle::new();
    let limits = Limits {
        connections_max: server.connections_max,
        header_timeout: Duration::from_millis(server.header_timeout_ms),
    };
    let router = router_with(app.clone(), pages).layer(Extension(readiness.clone()));
    let door = Door { listener, certificate, limits };
    let closing = Closing::new();
    let mut http = tokio::spawn(http::serve(router, door, closing.clone(), handle.clone()));
    tokio::select! {
        signal = signals.next() => tracing::info!(signal, "stopping"),
        // The listener failed: end the process, which would otherwise run without serving.
        served = &mut http => {
            readiness.drain();
            return served.unwrap_or_else(|error| Err(io::Error::other(error)));
        }
    }
    readiness.drain();
    let time_max = Duration::from_millis(server.drain_timeout_ms);
    let in_order = async {
        tokio::time::sleep(Duration::from_millis(server.drain_notice_ms)).await;
        closing.close();
        handle.graceful_shutdown(Some(time_max));
        let drained = tokio::time::timeout(time_max, drain(app, worker));
        let (served, drained) = tokio::join!(http, drained);
        if drained.is_err() {
            tracing::warn!(
                ?time_max,
                "what had begun has not ended in time; it is resolved at the next start"
            );
        }
        served.unwrap_or_else(|error| Err(io::Error::other(error)))
    };
    tokio::select! {
        result = in_order => result,
        signal = signals.next() => {
            tracing::warn!(signal, "stopping at once");
            handle.shutdown();
            Ok(())
        }
    }
}

/// Runs jobs until a signal comes, and finishes those under way. The caller closes the database.
pub async fn work(app: &App, drain_timeout: Duration, mut signals: Signals) {
    let readiness = Readiness::new();
    let worker = tokio::spawn(run_jobs(app.clone(), readiness.clone()));
    let _following = follow_the_database(app);
    tracing::info!("working");
    let signal = signals.next().await;
    tracing::info!(signal, "stopping");
    readiness.drain();
    tokio::select! {
        drained = tokio::time::timeout(drain_timeout, drain(app, Some(worker))) => {
            if drained.is_err() {
                tracing::warn!(time_max = ?drain_timeout, "jobs did not end in time; other workers take them over");
            }
        }
        signal = signals.next() => tracing::warn!(signal, "stopping at once"),
    }
}

/// Keeps the time of this process to the database's clock, and the clocks of accounts to what is stored, until the returned set is dropped.
fn follow_the_database(app: &App) -> JoinSet<Infallible> {
    let mut following = JoinSet::new();
    following.spawn(app.clock.clone().keep_following(app.store.clone()));
    match (app.settings.mode, app.store.database_kind()) {
        (Mode::Sandbox, DatabaseKind::Postgres) => {
            following.spawn(app.clock.clone().keep_following_accounts(app.store.clone()));
        }
        // Nobody else moves a clock: one process has the database, or there is only the machine's.
        (Mode::Sandbox, DatabaseKind::Sqlite) | (Mode::Production, _) => {}
    }
    following
}

/// Runs jobs until the process drains. A panic in the worker starts it again.
async fn run_jobs(app: App, readiness: Readiness) {
    loop {
        let stop = readiness.clone();
        let worker = Worker::new(app.engine.clone()).run_until(async move { stop.drained().await });
        match tokio::spawn(worker).await {
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "the job worker failed and is started again"),
        }
        tokio::time::sleep(WORKER_PAUSE).await;
    }
}

/// Waits for jobs and for tasks, which continue after their caller has disconnected.
async fn drain(app: &App, worker: Option<tokio::task::JoinHandle<()>>) {
    if let Some(worker) = worker
        && let Err(error) = worker.await
    {
        tracing::error!(%error, "the job worker failed");
    }
    while app.in_flight.tasks() > 0 || !app.in_flight.is_empty() {
        tokio::time::sleep(DRAIN_LOOK_EVERY).await;
    }
}
