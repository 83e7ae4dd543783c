//! The life of a server process: listen, serve, and on a signal stop in order. What is served is the router's business.
//!
//! The order of stopping: not ready; stop accepting; finish what has begun, within a bound; close the database.

mod accept;
mod signals;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Extension;
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpSocket};

pub use signals::Signals;

use crate::app::App;
use crate::config::ServerConfig;
use crate::health::Readiness;
use crate::work::Worker;
use accept::Gate;

/// Connections that wait for being accepted.
const LISTEN_BACKLOG: u32 = 1024;
/// Requests at once on one HTTP/2 connection.
const HTTP2_STREAMS_MAX: u32 = 250;
/// An HTTP/2 connection is asked so often whether somebody is there.
const HTTP2_PING_EVERY: Duration = Duration::from_secs(30);
/// Bytes of the headers of one request.
const HEADER_BYTES_MAX: u32 = 32 * 1024;
/// After a worker ended badly: how long until the next one begins.
const WORKER_PAUSE: Duration = Duration::from_secs(1);
/// While stopping: how often it is looked whether calls to providers have ended.
const DRAIN_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Whether the process runs jobs beside serving requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    /// It does.
    Run,
    /// Others do.
    Leave,
}

/// Listens, so that a port that is taken is known before anything else happens.
///
/// # Errors
/// The port is taken, or the address is not one of this machine.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves until a signal comes, then stops in order. What is left to the caller is to close the database.
///
/// # Errors
/// The listener failed.
pub async fn serve(
    app: &App,
    listener: TcpListener,
    server: &ServerConfig,
    readiness: Readiness,
    jobs: Jobs,
    mut signals: Signals,
) -> io::Result<()> {
    let worker = match jobs {
        Jobs::Run => Some(tokio::spawn(run_jobs(app.clone(), readiness.clone()))),
        Jobs::Leave => None,
    };
    let handle = Handle::new();
    let mut http =
        tokio::spawn(serve_http(app.clone(), listener, server.clone(), readiness.clone(), handle.clone()));
    tokio::select! {
        signal = signals.next() => tracing::info!(signal, "stopping"),
        // Nobody would notice a process that lives and does not listen.
        served = &mut http => {
            readiness.drain();
            return served.unwrap_or_else(|error| Err(io::Error::other(error)));
        }
    }
    readiness.drain();
    let time_max = Duration::from_millis(server.drain_timeout_ms);
    let in_order = async {
        tokio::time::sleep(Duration::from_millis(server.drain_notice_ms)).await;
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

/// Runs jobs until a signal comes, and finishes those that have begun. What is left to the caller is to close the
/// database.
pub async fn work(app: &App, drain_timeout: Duration, mut signals: Signals) {
    let readiness = Readiness::new();
    let worker = tokio::spawn(run_jobs(app.clone(), readiness.clone()));
    tracing::info!("working");
    let signal = signals.next().await;
    tracing::info!(signal, "stopping");
    readiness.drain();
    tokio::select! {
        drained = tokio::time::timeout(drain_timeout, drain(app, Some(worker))) => {
            if drained.is_err() {
                tracing::warn!(time_max = ?drain_timeout, "jobs have not ended in time; others take them over");
            }
        }
        signal = signals.next() => tracing::warn!(signal, "stopping at once"),
    }
}

/// Runs jobs until the process drains. A bug in one of them must not end all of them.
async fn run_jobs(app: App, readiness: Readiness) {
    loop {
        let stop = readiness.clone();
        let worker = Worker::new(app.clone()).run_until(async move { stop.drained().await });
        match tokio::spawn(worker).await {
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "the worker ended badly; it is started again"),
        }
        tokio::time::sleep(WORKER_PAUSE).await;
    }
}

/// Waits for jobs and for calls to providers, which go on when their caller has hung up.
async fn drain(app: &App, worker: Option<tokio::task::JoinHandle<()>>) {
    if let Some(worker) = worker
        && let Err(error) = worker.await
    {
        tracing::error!(%error, "the worker ended badly");
    }
    while !app.in_flight.is_empty() {
        tokio::time::sleep(DRAIN_LOOK_EVERY).await;
    }
}

async fn serve_http(
    app: App,
    listener: TcpListener,
    limits: ServerConfig,
    readiness: Readiness,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    let header_timeout = Duration::from_millis(limits.header_timeout_ms);
    let gate = Gate::new(limits.connections_max, header_timeout, readiness.clone());
    let router = crate::api::router::router(app).layer(Extension(readiness));
    let mut server = Server::<SocketAddr>::from_listener(listener).handle(handle).acceptor(gate);
    let http = server.http_builder();
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEADER_BYTES_MAX as usize);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HTTP2_PING_EVERY)
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_header_list_size(HEADER_BYTES_MAX);
    server.serve(router.into_make_service_with_connect_info::<SocketAddr>()).await
}
