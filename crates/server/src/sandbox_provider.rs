//! Runs the simulator in a process of its own, `regente sandbox-provider`. It answers calls and probes over HTTP,
//! applies its faults to the connection, and shows its transaction log. `regente_providers::sandbox` decides how a
//! payment ends.

mod access;
mod calls;
mod connection;
mod error;
mod inspect;
mod page;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use regente_providers::sandbox::Sandbox;
use tokio::net::TcpListener;

pub use access::Access;

use connection::Door;

/// Largest body of a request.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// How long the headers of a request may take, and how long a connection may be idle between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long answers under way may take after a signal to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of every request.
#[derive(Clone)]
struct Simulator {
    sandbox: Arc<Sandbox>,
    access: Arc<Access>,
}

/// Serves until `stop` ends.
///
/// # Errors
/// The listener failed.
pub async fn serve(
    listener: TcpListener,
    sandbox: Arc<Sandbox>,
    access: Access,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let handle = Handle::new();
    let router = router(Simulator { sandbox, access: Arc::new(access) });
    let mut server =
        Server::<SocketAddr>::from_listener(listener).handle(handle.clone()).acceptor(Door::new());
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let serving = server.serve(router.into_make_service());
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        () = stop => handle.graceful_shutdown(Some(DRAIN_TIMEOUT)),
    }
    serving.await
}

fn router(simulator: Simulator) -> Router {
    let guard = axum::middleware::from_fn_with_state(simulator.clone(), access::guard);
    Router::new()
        .route("/", get(page::page))
        .route("/v1/calls", post(calls::call))
        .route("/v1/probes", post(calls::probe))
        .route("/v1/authentications", post(calls::authenticate))
        .route("/v1/analyses", post(calls::assess))
        .route("/v1/sellers", post(calls::seller))
        .route("/v1/staged", post(calls::stage))
        .route("/v1/entries", get(inspect::entries))
        .route("/v1/entries/{key}", get(inspect::entry))
        .route("/v1/balances", get(inspect::balances))
        .route("/v1/faults", get(inspect::faults).put(inspect::set_faults).delete(inspect::drop_faults))
        .fallback(error::no_route)
        .method_not_allowed_fallback(error::no_method)
        .layer(guard)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(simulator)
}
