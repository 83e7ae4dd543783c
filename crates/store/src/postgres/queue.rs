//! The queue of the writers: one lane for all batches, or one for each client, served in turn.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regente_domain::id::ClientId;
use tokio::sync::Notify;
use uuid::Uuid;

use super::options::CommitGroups;
use crate::error::StoreError;
use crate::group::Work;

/// Batches that wait for a writer.
pub(super) struct Queue {
    groups: CommitGroups,
    lanes: Mutex<Lanes>,
    waiting: Notify,
}

#[derive(Default)]
struct Lanes {
    by_client: HashMap<ClientId, VecDeque<Work>>,
    /// The non-empty lanes, each once.
    turns: VecDeque<ClientId>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(groups: CommitGroups) -> Self {
        Self { groups, lanes: Mutex::default(), waiting: Notify::new() }
    }

    pub(super) fn push(&self, work: Work) -> Result<(), StoreError> {
        let lane = match self.groups {
            CommitGroups::Mixed => ClientId::new(Uuid::nil()),
            CommitGroups::ByClient => work.client_id,
        };
        {
            let mut lanes = self.lanes();
            if lanes.is_closed {
                return Err(StoreError::closed());
            }
            let Lanes { by_client, turns, .. } = &mut *lanes;
            let waiting = by_client.entry(lane).or_default();
            if waiting.is_empty() {
                turns.push_back(lane);
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
                let mut lanes = self.lanes();
                if let Some(group) = lanes.take(group_max.max(1)) {
                    if !lanes.turns.is_empty() {
                        self.waiting.notify_one();
                    }
                    return Some(group);
                }
                if lanes.is_closed {
                    // Wake the next writer so that it ends too.
                    self.waiting.notify_one();
                    return None;
                }
            }
            woken.await;
        }
    }

    pub(super) fn close(&self) {
        self.lanes().is_closed = true;
        self.waiting.notify_one();
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn take(&mut self, group_max: usize) -> Option<Vec<Work>> {
        let lane = self.turns.pop_front()?;
        let waiting = self.by_client.get_mut(&lane)?;
        let group = waiting.drain(..group_max.min(waiting.len())).collect();
        if waiting.is_empty() {
            self.by_client.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        Some(group)
    }
}
