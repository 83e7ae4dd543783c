//! Finds out which of two processes makes the deliveries, from the kernel's lists of connections.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::receivers::{Books, Connection};

/// Interval between readings.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Watches two processes until it is stopped.
pub(super) struct Shares {
    stop: Arc<AtomicBool>,
    looking: JoinHandle<Seen>,
}

/// Number of deliveries over the connections of each process.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    one: u64,
    second: u64,
}

impl Shares {
    /// Starts to watch.
    pub(super) fn begin(one: u32, second: u32, books: Arc<Books>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let looking = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut seen = Seen::default();
                loop {
                    let is_last = stop.load(Ordering::Relaxed);
                    // Read the deliveries first: their connections are already open.
                    let deliveries = books.take_by_connection();
                    seen.one += made_by(one, &deliveries);
                    seen.second += made_by(second, &deliveries);
                    if is_last {
                        return seen;
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        });
        Self { stop, looking }
    }

    /// The share of the second process in the deliveries.
    pub(super) fn end(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        let seen = self.looking.join().unwrap_or_default();
        seen.second as f64 / (seen.one + seen.second).max(1) as f64
    }
}

fn made_by(process_id: u32, deliveries: &HashMap<Connection, u64>) -> u64 {
    let connections = connections(process_id);
    let own = deliveries.iter().filter(|(connection, _)| connections.contains(connection));
    own.map(|(_, deliveries)| deliveries).sum()
}

/// The IPv4 connections of a process.
fn connections(process_id: u32) -> HashSet<Connection> {
    let sockets = sockets(process_id);
    let table = std::fs::read_to_string(format!("/proc/{process_id}/net/tcp")).unwrap_or_default();
    let connection = |line: &str| {
        let members: Vec<&str> = line.split_whitespace().collect();
        let port = |at: usize| u16::from_str_radix(members.get(at)?.rsplit(':').next()?, 16).ok();
        let connection = Connection { sender_port: port(1)?, endpoint_port: port(2)? };
        sockets.contains(*members.get(9)?).then_some(connection)
    };
    table.lines().skip(1).filter_map(connection).collect()
}

/// The inodes of a process's sockets.
fn sockets(process_id: u32) -> HashSet<String> {
    let files = std::fs::read_dir(format!("/proc/{process_id}/fd")).into_iter().flatten().flatten();
    let inode = |path: &Path| {
        let target = std::fs::read_link(path).ok()?;
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    files.filter_map(|file| inode(&file.path())).collect()
}
