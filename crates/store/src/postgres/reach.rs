//! Whether a part of the database can be reached and written to, and the end of what waits for one that cannot be reached.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::error::StoreError;

/// Whether a part can be reached. Who waits for one that hangs is told when that is found.
#[derive(Debug)]
pub(super) struct Reach {
    is_lost: AtomicBool,
    is_full: AtomicBool,
    interrupts: watch::Sender<()>,
}

impl Reach {
    /// Of a part that can be reached.
    pub(super) fn new() -> Self {
        Self {
            is_lost: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            interrupts: watch::Sender::new(()),
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// The part cannot be reached: what waits for it ends.
    pub(super) fn lose(&self) {
        self.is_lost.store(true, Ordering::Release);
        self.interrupt();
    }

    pub(super) fn find(&self) {
        self.is_lost.store(false, Ordering::Release);
    }

    /// Whether the last commit that tells found no room on the disk.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// A commit has found room on the disk, or none.
    pub(super) fn note_room(&self, has_room: bool) {
        match (self.is_full.swap(!has_room, Ordering::Relaxed), has_room) {
            (false, false) => tracing::error!("a server of the database has no room left on its disk"),
            (true, true) => tracing::info!("a server of the database has room on its disk again"),
            (false, true) | (true, false) => {}
        }
    }

    /// Ends what waits, although the part can be reached.
    pub(super) fn interrupt(&self) {
        self.interrupts.send_replace(());
    }

    /// Waits for `work`; `None` once the part is lost or what waits is interrupted. The work may have been done then.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut interrupted = self.interrupts.subscribe();
        if self.is_lost() {
            return None;
        }
        tokio::select! {
            biased;
            done = work => Some(done),
            // The sender lives as long as `self`.
            _interrupted = interrupted.changed() => None,
        }
    }
}

/// The answer to what would need a part that is lost.
pub(super) fn lost() -> StoreError {
    StoreError::unavailable("the server that has this account cannot be reached")
}
