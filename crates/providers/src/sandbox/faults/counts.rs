//! How often each fault with a `sequence` has fitted. Kept in memory: a simulator that is started again counts anew.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest;
use uuid::Uuid;

use super::Source;

/// Most counts that are kept; the oldest one makes room.
const COUNTS_MAX: usize = 10_000;

/// The counts of one simulator.
#[derive(Default)]
pub(in crate::sandbox) struct Counts(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    counts: HashMap<[u8; digest::SHA256_OUTPUT_LEN], u64>,
    order: VecDeque<[u8; digest::SHA256_OUTPUT_LEN]>,
}

impl Counts {
    /// Counts one more, and returns which one it is, from 1. A fault is known again by its source, place and text.
    pub(super) fn next(&self, source: Source, place: usize, text: &str, scope: Option<Uuid>) -> u64 {
        let name = format!("{source:?} {place} {scope:?} {text}");
        let mut id = [0; digest::SHA256_OUTPUT_LEN];
        id.copy_from_slice(digest::digest(&digest::SHA256, name.as_bytes()).as_ref());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = kept.counts.get_mut(&id) {
            *count += 1;
            return *count;
        }
        if kept.order.len() == COUNTS_MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.counts.remove(&oldest);
        }
        kept.order.push_back(id);
        kept.counts.insert(id, 1);
        1
    }
}
