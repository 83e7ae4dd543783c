//! What waits for the writers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::StoreError;
use crate::group::Work;

/// Batches that wait for a writer, the oldest first.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    notify: Notify,
}

#[derive(Default)]
struct Waiting {
    works: VecDeque<Work>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn push(&self, work: Work) -> Result<(), StoreError> {
        {
            let mut waiting = self.waiting();
            if waiting.is_closed {
                return Err(StoreError::closed());
            }
            waiting.works.push_back(work);
        }
        self.notify.notify_one();
        Ok(())
    }

    /// Waits for the next batches of one commit; `None` once the queue is closed and empty. Cancelling the wait loses
    /// no batch.
    pub(super) async fn take(&self, group_max: usize) -> Option<Vec<Work>> {
        loop {
            let woken = self.notify.notified();
            {
                let mut waiting = self.waiting();
                let count = group_max.max(1).min(waiting.works.len());
                if count > 0 {
                    let group = waiting.works.drain(..count).collect();
                    if !waiting.works.is_empty() {
                        self.notify.notify_one();
                    }
                    return Some(group);
                }
                if waiting.is_closed {
                    // Wake the next writer so that it ends too.
                    self.notify.notify_one();
                    return None;
                }
            }
            woken.await;
        }
    }

    pub(super) fn close(&self) {
        self.waiting().is_closed = true;
        self.notify.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
