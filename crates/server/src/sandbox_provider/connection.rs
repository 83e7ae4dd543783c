//! Connections that faults can break without an answer, or on which they repeat an answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::Request;
use axum_server::accept::Accept;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::Service;

/// Most connections at once; further ones are closed.
const CONNECTIONS_MAX: usize = 1_000;
/// How long a new connection may send nothing.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(10);

const WHOLE: u8 = 0;
const RESET: u8 = 1;
const TWICE: u8 = 2;

/// The part of a connection that its requests can reach.
#[derive(Clone, Default)]
pub(super) struct Wire(Arc<AtomicU8>);

impl Wire {
    /// Breaks the connection instead of sending the answer.
    pub(super) fn reset(&self) {
        self.0.store(RESET, Ordering::Release);
    }

    /// Sends the answer twice.
    pub(super) fn repeat(&self) {
        self.0.store(TWICE, Ordering::Release);
    }

    fn fate(&self) -> u8 {
        self.0.load(Ordering::Acquire)
    }
}

/// A connection. HTTP/1 answers requests in order, so a fault set by a request applies to the next answer.
pub(super) struct Connection {
    stream: TcpStream,
    wire: Wire,
    /// The bytes of an answer to repeat, and how many of them were repeated.
    said: Vec<u8>,
    said_again: usize,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let fate = self.wire.fate();
        if fate == RESET {
            // A close without linger sends RST: the peer sees a broken connection, not an end.
            self.stream.set_zero_linger()?;
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        if fate == TWICE {
            self.said.extend_from_slice(&bytes[..written]);
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.said_again < this.said.len() {
            let rest = &this.said[this.said_again..];
            this.said_again += ready!(Pin::new(&mut this.stream).poll_write(context, rest))?;
        }
        if !this.said.is_empty() {
            this.said.clear();
            this.said_again = 0;
            this.wire.0.store(WHOLE, Ordering::Release);
        }
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Accepts a bounded number of connections.
#[derive(Clone)]
pub(super) struct Door(Arc<Semaphore>);

impl Door {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(CONNECTIONS_MAX)))
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Door {
    type Stream = Connection;
    type Service = Connected<S>;
    type Future = BoxFuture<'static, io::Result<(Connection, Connected<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let place = Arc::clone(&self.0).try_acquire_owned();
        Box::pin(async move {
            let place = place.map_err(|_full| io::Error::other("too many connections"))?;
            stream.set_nodelay(true)?;
            let first = tokio::time::timeout(FIRST_BYTE_TIMEOUT, stream.peek(&mut [0])).await;
            first.map_err(|_elapsed| io::Error::from(io::ErrorKind::TimedOut))??;
            let wire = Wire::default();
            let connected = Connected { service, wire: wire.clone(), _place: Arc::new(place) };
            Ok((Connection { stream, wire, said: Vec::new(), said_again: 0 }, connected))
        })
    }
}

/// The service of a connection; it gives each request its wire.
#[derive(Clone)]
pub(super) struct Connected<S> {
    service: S,
    wire: Wire,
    _place: Arc<OwnedSemaphorePermit>,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Connected<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.wire.clone());
        self.service.call(request)
    }
}
