//! Speaks HTTP on a listener, with or without TLS, within limits.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum_server::accept::DefaultAcceptor;
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;

use super::accept::{Closing, Gate};
use super::tls::{Certificate, TlsGate};

/// Most concurrent requests on one HTTP/2 connection.
const HTTP2_STREAMS_MAX: u32 = 250;
/// How much of its bodies an HTTP/2 connection may send before it is read, in bytes.
const HTTP2_WINDOW_BYTES: u32 = 64 * 1024;
/// How often an HTTP/2 connection is pinged.
const HTTP2_PING_EVERY: Duration = Duration::from_secs(30);
/// Largest headers of one request, in bytes. It is also the read buffer of an HTTP/1 connection: more than the initial
/// 8 KiB would double the memory of a connection while its request waits for an answer.
const HEADER_BYTES_MAX: u32 = 8 * 1024;

/// The limits of one listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most open connections; a further one is answered 503.
    pub(crate) connections_max: usize,
    /// The longest time from the first byte of a connection, or the end of the previous answer, to the last header of a
    /// request.
    pub(crate) header_timeout: Duration,
}

/// The listener and its limits.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) certificate: Option<Certificate>,
    pub(super) limits: Limits,
}

/// Serves until `handle` shuts it down.
pub(super) async fn serve(
    router: Router,
    door: Door,
    closing: Closing,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    let Door { listener, certificate, limits } = door;
    let gate = Gate::new(limits.connections_max, limits.header_timeout, closing);
    let server = server(listener, limits.header_timeout).handle(handle);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match certificate {
        None => server.acceptor(gate).serve(service).await,
        Some(certificate) => {
            let watching = tokio::spawn(certificate.clone().keep_current());
            let served = server.acceptor(TlsGate::new(gate, &certificate)).serve(service).await;
            watching.abort();
            served
        }
    }
}

/// Serves without TLS until the process ends or the future is dropped.
pub(crate) async fn serve_plain(router: Router, listener: TcpListener, limits: Limits) -> io::Result<()> {
    serve(router, Door { listener, certificate: None, limits }, Closing::new(), Handle::new()).await
}

fn server(listener: TcpListener, header_timeout: Duration) -> Server<SocketAddr, DefaultAcceptor> {
    let mut server = Server::<SocketAddr>::from_listener(listener);
    let http = server.http_builder();
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEADER_BYTES_MAX as usize);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HTTP2_PING_EVERY)
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .max_header_list_size(HEADER_BYTES_MAX);
    server
}
