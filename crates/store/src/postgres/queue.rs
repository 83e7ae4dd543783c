//! What waits for the writers: one queue for all batches, or one for each client, served in turn.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regente_domain::id::ClientId;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::commit_groups::CommitGroups;
use crate::error::StoreError;
use crate::group::Work;

/// Batches that wait for a writer.
pub(super) struct Queue {
    groups: CommitGroups,
    queues: Mutex<Queues>,
    waiting: Notify,
}

#[derive(Default)]
struct Queues {
    by_client: HashMap<ClientId, VecDeque<Work>>,
    /// The non-empty queues, each once.
    turns: VecDeque<ClientId>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(groups: CommitGroups) -> Self {
        Self { groups, queues: Mutex::default(), waiting: Notify::new() }
    }

    /// Which batches share a commit.
    pub(super) fn groups(&self) -> CommitGroups {
        self.groups
    }

    pub(super) fn push(&self, work: Work) -> Result<(), StoreError> {
        let of = match self.groups {
            CommitGroups::Mixed => ClientId::new(Uuid::nil()),
            CommitGroups::ByClient => work.client_id,
        };
        {
            let mut queues = self.queues();
            if queues.is_closed {
                return Err(StoreError::closed());
            }
            let Queues { by_client, turns, .. } = &mut *queues;
            let waiting = by_client.entry(of).or_default();
            if waiting.is_empty() {
                turns.push_back(of);
            }
            waiting.push_back(work);
        }
        self.waiting.notify_one();
        Ok(())
    }

    /// Waits for the next batches of one commit; `None` once the queue is closed and empty. Cancelling the wait loses
    /// no batch.
    pub(super) async fn take(&self, group_max: usize) -> Option<Vec<Work>> {
        loop {
            let woken = self.waiting.notified();
            {
                let mut queues = self.queues();
                if let Some(group) = queues.take(group_max.max(1)) {
                    if !queues.turns.is_empty() {
                        self.waiting.notify_one();
                    }
                    return Some(group);
                }
                if queues.is_closed {
                    // Wake the next writer so that it ends too.
                    self.waiting.notify_one();
                    return None;
                }
            }
            woken.await;
        }
    }

    pub(super) fn close(&self) {
        self.queues().is_closed = true;
        self.waiting.notify_one();
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queues {
    fn take(&mut self, group_max: usize) -> Option<Vec<Work>> {
        let of = self.turns.pop_front()?;
        let waiting = self.by_client.get_mut(&of)?;
        let group = waiting.drain(..group_max.min(waiting.len())).collect();
        if waiting.is_empty() {
            self.by_client.remove(&of);
        } else {
            self.turns.push_back(of);
        }
        Some(group)
    }
}
