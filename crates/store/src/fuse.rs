//! Simulates a crash at a chosen step in a test: once the fuse has blown, no caller of it continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// Counts steps down. Clones share the count. An unarmed fuse never blows.
#[derive(Clone, Debug)]
pub struct Fuse(Arc<State>);

#[derive(Debug)]
struct State {
    left: AtomicU64,
    blown: watch::Sender<bool>,
}

/// Steps left in an unarmed fuse.
const NOT_ARMED: u64 = u64::MAX;

impl Default for Fuse {
    fn default() -> Self {
        Self(Arc::new(State { left: AtomicU64::new(NOT_ARMED), blown: watch::Sender::new(false) }))
    }
}

impl Fuse {
    /// Allows `steps` more steps, then blows.
    pub fn arm(&self, steps: u64) {
        self.0.left.store(steps, Ordering::SeqCst);
    }

    /// Removes the limit: no further step is stopped.
    pub fn disarm(&self) {
        self.0.left.store(NOT_ARMED, Ordering::SeqCst);
    }

    /// Counts one step. If none is left the fuse blows, and this never returns.
    pub async fn step(&self) {
        let take_one = |left| match left {
            NOT_ARMED => None,
            0 => None,
            left => Some(left - 1),
        };
        match self.0.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take_one) {
            Ok(_) | Err(NOT_ARMED) => {}
            Err(_none_left) => {
                self.0.blown.send_replace(true);
                std::future::pending().await
            }
        }
    }

    /// Waits until the fuse has blown.
    pub async fn blown(&self) {
        // The sender lives as long as the fuse.
        let _ = self.0.blown.subscribe().wait_for(|blown| *blown).await;
    }
}
