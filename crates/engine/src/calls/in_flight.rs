//! The flows and provider calls of this process that have not ended. The reconcile job skips these calls, because their
//! flows write the outcomes. Shutdown waits for the flows.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use regente_domain::id::TransactionRequestId;
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::error::Error;

/// Counts running flows and calls. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    calls: Arc<Mutex<HashSet<TransactionRequestId>>>,
    flows: Arc<AtomicUsize>,
}

/// A running call. Dropping it removes the call, however its task ends.
#[derive(Debug)]
pub struct Running {
    set: InFlight,
    id: TransactionRequestId,
}

impl InFlight {
    /// Registers a call until the returned value is dropped.
    pub fn enter(&self, id: TransactionRequestId) -> Running {
        self.lock().insert(id);
        Running { set: self.clone(), id }
    }

    /// Whether this process is still making the call.
    pub fn contains(&self, id: TransactionRequestId) -> bool {
        self.lock().contains(&id)
    }

    /// Runs a flow in its own task, so that it completes when the caller hangs up; shutdown waits for it. The flow is
    /// boxed once, because an `async` block would store it twice and the caller a third time.
    pub fn run<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        flow: F,
    ) -> Flow<T> {
        let flows = Arc::clone(&self.flows);
        flows.fetch_add(1, Ordering::SeqCst);
        // Decremented however the flow ends, even when it panics.
        let counted = CountedFlow(flows);
        let flow = Box::pin(flow);
        Flow(tokio::spawn(
            async move {
                let _counted = counted;
                flow.await
            }
            .in_current_span(),
        ))
    }

    /// The number of running flows, from before the intent until after the outcome.
    pub fn flows(&self) -> usize {
        self.flows.load(Ordering::SeqCst)
    }

    /// The number of running calls.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no call runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<TransactionRequestId>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running flow. Dropping this does not stop it.
#[derive(Debug)]
pub struct Flow<T>(JoinHandle<Result<T, Error>>);

impl<T> Future for Flow<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(Pin::new(&mut self.0).poll(context)).map_err(Error::internal)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.set.lock().remove(&self.id);
    }
}

/// Counts a running flow; dropping it decrements the count.
struct CountedFlow(Arc<AtomicUsize>);

impl Drop for CountedFlow {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
