//! What the kernel is asked again and again while a round runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::receivers::Books;
use super::table::float;
use crate::{Outcome, process};

/// How often it is asked.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What goes on during a round.
pub(super) struct Watch {
    stop: tokio::sync::oneshot::Sender<()>,
    watching: tokio::task::JoinHandle<Seen>,
}

/// What was seen.
#[derive(Default)]
pub(super) struct Seen {
    /// The most memory of its own that one of the processes had.
    pub(super) resident_peak_kib: u64,
    /// Deliveries of each process.
    by_process: Vec<u64>,
}

impl Watch {
    /// Begins to look at these processes.
    pub(super) fn begin(pids: Vec<u32>, books: Arc<Books>) -> Self {
        let (stop, mut stopped) = tokio::sync::oneshot::channel();
        let watching = tokio::spawn(async move {
            let mut seen = Seen { resident_peak_kib: 0, by_process: vec![0; pids.len()] };
            loop {
                seen.look(&pids, &books.take_connections());
                if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
                    seen.look(&pids, &books.take_connections());
                    return seen;
                }
            }
        });
        Self { stop, watching }
    }

    /// What was seen until now.
    pub(super) async fn end(self) -> Outcome<Seen> {
        drop(self.stop);
        Ok(self.watching.await?)
    }
}

impl Seen {
    fn look(&mut self, pids: &[u32], deliveries: &HashMap<(u16, u16), u64>) {
        let resident = pids.iter().map(|pid| process::status_kib(*pid, "RssAnon:")).max();
        self.resident_peak_kib = self.resident_peak_kib.max(resident.unwrap_or(0));
        if pids.len() < 2 {
            return;
        }
        for (pid, count) in pids.iter().zip(&mut self.by_process) {
            let connections = process::connections(*pid);
            let own = deliveries.iter().filter(|(connection, _)| connections.contains(connection));
            *count += own.map(|(_, deliveries)| deliveries).sum::<u64>();
        }
    }

    /// Of the deliveries whose connection was still open at a look.
    #[allow(clippy::float_arithmetic, reason = "a figure for people, not money")]
    pub(super) fn share_of_second(&self) -> f64 {
        let all: u64 = self.by_process.iter().sum();
        float(self.by_process.get(1).copied().unwrap_or(0)) / float(all.max(1))
    }
}
