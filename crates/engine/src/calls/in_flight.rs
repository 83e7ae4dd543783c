//! The flows and provider calls of this process that have not ended. The reconcile job leaves the calls alone: whoever made
//! one will write its outcome. A process that stops waits for the flows.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use regente_domain::id::TransactionRequestId;
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::error::Error;

/// What runs. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    calls: Arc<Mutex<HashSet<TransactionRequestId>>>,
    flows: Arc<AtomicUsize>,
}

/// A running call; it leaves the set when this is dropped, however its task ends.
#[derive(Debug)]
pub struct Running {
    set: InFlight,
    id: TransactionRequestId,
}

impl InFlight {
    /// Enters a call, until the answer is dropped.
    pub fn enter(&self, id: TransactionRequestId) -> Running {
        self.lock().insert(id);
        Running { set: self.clone(), id }
    }

    /// Whether this process is still making the call.
    pub fn contains(&self, id: TransactionRequestId) -> bool {
        self.lock().contains(&id)
    }

    /// Runs a flow in a task of its own, so that a caller who hangs up leaves nothing half done; a process that stops
    /// waits for it. The flow is boxed once: in an `async` block it would be held twice, and by the caller a third time.
    pub fn run<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        flow: F,
    ) -> Flow<T> {
        let flows = Arc::clone(&self.flows);
        flows.fetch_add(1, Ordering::SeqCst);
        // Counted down however the flow ends, also when it panics.
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

    /// How many flows run: from before the intent until after the outcome.
    pub fn flows(&self) -> usize {
        self.flows.load(Ordering::SeqCst)
    }

    /// How many calls run.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<TransactionRequestId>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A flow under way, to be awaited. It goes on when this is dropped.
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

/// A flow that runs.
struct CountedFlow(Arc<AtomicUsize>);

impl Drop for CountedFlow {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
