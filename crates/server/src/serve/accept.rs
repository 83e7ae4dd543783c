//! Bounds the number of connections, and the time until the first bytes of each.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use axum::response::IntoResponse;
use axum_server::accept::Accept;
use futures_util::future::{BoxFuture, Either, Ready, ready};
use regente_engine::error::Error;
use regente_engine::metrics;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::Service;

use crate::http::error::ApiError;

/// Connections over the limit that are answered 503; further ones are dropped.
const REFUSED_AT_ONCE_MAX: usize = 256;
/// The `Retry-After` of those answers.
const RETRY_AFTER_REFUSAL: Duration = Duration::from_secs(1);
/// The first bytes of an HTTP/2 connection (RFC 9113 §3.4).
pub(super) const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How often the first bytes are read again while they may still belong to either protocol.
const PREFACE_LOOK_EVERY: Duration = Duration::from_millis(20);

/// Tells waiting connections that the server closes its door: connections that have sent nothing end. This comes after
/// the process became not ready; in between new connections are served. Clones share the state.
#[derive(Clone, Debug)]
pub(super) struct Closing(watch::Sender<bool>);

impl Closing {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn close(&self) {
        self.0.send_replace(true);
    }

    async fn closed(&self) {
        let mut is_closed = self.0.subscribe();
        // The sender lives as long as `self`.
        let _is_closed = is_closed.wait_for(|is_closed| *is_closed).await;
    }
}

/// Accepts connections within the limit.
#[derive(Clone)]
pub(super) struct Gate {
    served: Arc<Semaphore>,
    refused: Arc<Semaphore>,
    first_bytes_timeout: Duration,
    closing: Closing,
}

impl Gate {
    pub(super) fn new(connections_max: usize, first_bytes_timeout: Duration, closing: Closing) -> Self {
        Self {
            served: Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS))),
            refused: Arc::new(Semaphore::new(REFUSED_AT_ONCE_MAX)),
            first_bytes_timeout,
            closing,
        }
    }

    pub(super) fn first_bytes_timeout(&self) -> Duration {
        self.first_bytes_timeout
    }

    /// Waits for the first bytes of a connection until a time limit, or until the door closes.
    pub(super) async fn in_time<T>(&self, beginning: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        tokio::select! {
            begun = tokio::time::timeout(self.first_bytes_timeout, beginning) => {
                begun.map_err(|_elapsed| io::Error::from(io::ErrorKind::TimedOut))?
            }
            () = self.closing.closed() => Err(io::Error::other("stopping")),
        }
    }

    fn place<S>(&self, service: S) -> io::Result<Admitted<S>> {
        if let Ok(permit) = Arc::clone(&self.served).try_acquire_owned() {
            return Ok(Admitted { service: Some(service), _place: Arc::new(ConnectionSlot::served(permit)) });
        }
        metrics::connection_refused();
        match Arc::clone(&self.refused).try_acquire_owned() {
            Ok(permit) => {
                Ok(Admitted { service: None, _place: Arc::new(ConnectionSlot::Refused { _permit: permit }) })
            }
            Err(_full) => Err(io::Error::other("too many connections")),
        }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Gate {
    type Stream = TcpStream;
    type Service = Admitted<S>;
    type Future = BoxFuture<'static, io::Result<(TcpStream, Admitted<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let gate = self.clone();
        Box::pin(async move {
            let admitted = gate.place(service)?;
            stream.set_nodelay(true)?;
            gate.in_time(first_bytes(&stream)).await?;
            Ok((stream, admitted))
        })
    }
}

/// Waits until the first bytes show the protocol. Hyper would wait for them without a time limit.
async fn first_bytes(stream: &TcpStream) -> io::Result<()> {
    let mut seen = [0; HTTP2_PREFACE.len()];
    loop {
        let length = stream.peek(&mut seen).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if length == HTTP2_PREFACE.len() || !HTTP2_PREFACE.starts_with(&seen[..length]) {
            return Ok(());
        }
        // The peeked bytes remain readable, so only a pause can show whether more have come.
        tokio::time::sleep(PREFACE_LOOK_EVERY).await;
    }
}

/// A connection's place within the limit, returned when the connection ends.
enum ConnectionSlot {
    /// Among the connections that are served.
    Served { _permit: OwnedSemaphorePermit },
    /// Among the connections that are answered 503.
    Refused { _permit: OwnedSemaphorePermit },
}

impl ConnectionSlot {
    fn served(permit: OwnedSemaphorePermit) -> Self {
        metrics::connection_opened();
        Self::Served { _permit: permit }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        match self {
            Self::Served { .. } => metrics::connection_closed(),
            Self::Refused { .. } => {}
        }
    }
}

/// A connection that holds its place until it ends. Without a service, every request on it is answered 503.
#[derive(Clone)]
pub(super) struct Admitted<S> {
    service: Option<S>,
    _place: Arc<ConnectionSlot>,
}

impl<S, R> Service<R> for Admitted<S>
where
    S: Service<R, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<S::Future, Ready<Result<Response<Body>, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.as_mut().map_or(Poll::Ready(Ok(())), |service| service.poll_ready(context))
    }

    fn call(&mut self, request: R) -> Self::Future {
        match &mut self.service {
            Some(service) => Either::Left(service.call(request)),
            None => Either::Right(ready(Ok(refusal()))),
        }
    }
}

fn refusal() -> Response<Body> {
    let mut response =
        ApiError::from(Error::Unavailable { retry_after: RETRY_AFTER_REFUSAL, cause: None }).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
