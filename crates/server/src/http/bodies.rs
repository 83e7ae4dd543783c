//! Reads bodies within a budget of bytes that all connections share, so that memory is bounded however many callers send
//! large bodies slowly. What has arrived counts, and not what was announced.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The default budget, in bytes.
pub const BODY_BUDGET_BYTES: usize = 64 * 1024 * 1024;
/// Half of the budget is for the first bytes of each body, the other half for what follows them: large bodies that
/// arrive slowly leave room for ordinary requests.
const FIRST_BYTES: usize = 8 * 1024;

/// What is left of the budget. Clones share it.
#[derive(Clone, Debug)]
pub struct BodyBudget {
    first: Arc<Semaphore>,
    rest: Arc<Semaphore>,
}

impl BodyBudget {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Self {
        let half = || Arc::new(Semaphore::new((bytes / 2).min(Semaphore::MAX_PERMITS)));
        Self { first: half(), rest: half() }
    }
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotRead {
    /// It has too many bytes.
    TooLarge,
    /// The caller disconnected.
    Broken,
    /// The budget is spent.
    NoBudget,
}

/// Reads a whole body of `bytes_max` bytes at most. Its bytes count until they are dropped.
pub(super) async fn read(mut body: Body, bytes_max: usize, budget: &BodyBudget) -> Result<Bytes, NotRead> {
    let mut counted = Counted::none_of(budget);
    // The chunks are copied: each may be a small part of a buffer that it keeps in memory.
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(chunk) = frame.map_err(|_| NotRead::Broken)?.into_data() else { continue };
        let length = whole.len() + chunk.len();
        if length > bytes_max {
            return Err(NotRead::TooLarge);
        }
        if whole.is_empty() && body.is_end_stream() {
            counted.grow_to(length)?;
            return Ok(counted.keep(chunk));
        }
        if length > whole.capacity() {
            let capacity = length.max(2 * whole.capacity()).min(bytes_max);
            counted.grow_to(capacity)?;
            whole.reserve_exact(capacity - whole.len());
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(counted.keep(Bytes::from(whole)))
}

/// The bytes of one body that were taken from the budget; dropping it gives them back.
struct Counted {
    budget: BodyBudget,
    bytes: usize,
    first: Option<OwnedSemaphorePermit>,
    rest: Option<OwnedSemaphorePermit>,
}

impl Counted {
    fn none_of(budget: &BodyBudget) -> Self {
        Self { budget: budget.clone(), bytes: 0, first: None, rest: None }
    }

    fn grow_to(&mut self, bytes: usize) -> Result<(), NotRead> {
        let first = bytes.min(FIRST_BYTES) - self.bytes.min(FIRST_BYTES);
        let rest = bytes.saturating_sub(FIRST_BYTES) - self.bytes.saturating_sub(FIRST_BYTES);
        take(&self.budget.first, first, &mut self.first)?;
        take(&self.budget.rest, rest, &mut self.rest)?;
        self.bytes = bytes;
        Ok(())
    }

    /// The body, which gives its bytes back when it is dropped.
    fn keep(self, body: Bytes) -> Bytes {
        Bytes::from_owner(CountedBody { body, _counted: self })
    }
}

struct CountedBody {
    body: Bytes,
    _counted: Counted,
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

fn take(
    left: &Arc<Semaphore>,
    bytes: usize,
    taken: &mut Option<OwnedSemaphorePermit>,
) -> Result<(), NotRead> {
    if bytes == 0 {
        return Ok(());
    }
    let bytes = u32::try_from(bytes).map_err(|_| NotRead::NoBudget)?;
    let more = Arc::clone(left).try_acquire_many_owned(bytes).map_err(|_| NotRead::NoBudget)?;
    match taken {
        Some(taken) => taken.merge(more),
        None => *taken = Some(more),
    }
    Ok(())
}
