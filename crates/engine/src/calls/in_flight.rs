//! The tasks and provider calls of this process that have not ended. The reconcile job skips these calls, because their
//! tasks write the outcomes. Shutdown waits for the tasks.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use regente_domain::id::TransactionRequestId;
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::error::Error;

/// Counts running tasks and calls. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    calls: Arc<Mutex<HashSet<TransactionRequestId>>>,
    tasks: Arc<AtomicUsize>,
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

    /// Runs a future in a task of its own, so that it completes when the caller hangs up; shutdown waits for it. The future is
    /// boxed once, because an `async` block would store it twice and the caller a third time.
    pub fn run<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        task: F,
    ) -> Task<T> {
        let tasks = Arc::clone(&self.tasks);
        tasks.fetch_add(1, Ordering::SeqCst);
        // Decremented however the task ends, even when it panics.
        let counted = CountedTask(tasks);
        let task = Box::pin(task);
        Task(tokio::spawn(
            async move {
                let _counted = counted;
                task.await
            }
            .in_current_span(),
        ))
    }

    /// The number of running tasks, from before the intent until after the outcome.
    pub fn tasks(&self) -> usize {
        self.tasks.load(Ordering::SeqCst)
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

/// A running task. Dropping this does not stop it.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<Result<T, Error>>);

impl<T> Future for Task<T> {
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

/// Counts a running task; dropping it decrements the count.
struct CountedTask(Arc<AtomicUsize>);

impl Drop for CountedTask {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
