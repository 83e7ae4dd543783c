//! How often each fault has fitted, and how often each call has met one. Kept in memory: a simulator that is started
//! again counts anew.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest;
use uuid::Uuid;

use super::Source;

/// Most counts of one kind that are kept; the one that was not needed for longest makes room.
const COUNTS_MAX: usize = 10_000;

/// The counts of one simulator. Each kind has its own room: payments come by the million, and must not push out what the
/// faults of a plan have counted.
#[derive(Default)]
pub(in crate::sandbox) struct Counts {
    /// Of the sequences in options and in the simulator's plan: one for each fault, so that they are few.
    shared: Mutex<Recent>,
    /// Of the sequences that a request brought along, for its payment alone.
    apart: Mutex<Recent>,
    /// Of the arrivals of a key at a fault with a probability.
    arrivals: Mutex<Recent>,
}

type Name = [u8; digest::SHA256_OUTPUT_LEN];

/// Counts by name, and which of them was needed last.
#[derive(Default)]
struct Recent {
    counts: HashMap<Name, Count>,
    /// The names by the time of their last use, which is counted in uses.
    by_use: BTreeMap<u64, Name>,
    uses: u64,
}

struct Count {
    number: u64,
    last_use: u64,
}

impl Counts {
    /// Counts one more call that a fault with a `sequence` fits, and returns which one it is, from 1. The fault is known
    /// again by its source, place and text; with a `payment` it counts for that payment alone.
    pub(super) fn next_in_sequence(
        &self,
        source: Source,
        place: usize,
        text: &str,
        payment: Option<Uuid>,
    ) -> u64 {
        let kind = if payment.is_some() { &self.apart } else { &self.shared };
        next(kind, &format!("{source:?} {place} {payment:?} {text}"))
    }

    /// Counts one more arrival of a key at a fault, and returns which one it is, from 1.
    pub(super) fn next_arrival(&self, source: Source, place: usize, key: Uuid) -> u64 {
        next(&self.arrivals, &format!("{source:?} {place} {key}"))
    }
}

fn next(kind: &Mutex<Recent>, text: &str) -> u64 {
    let mut name = [0; digest::SHA256_OUTPUT_LEN];
    name.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    kind.lock().unwrap_or_else(PoisonError::into_inner).next(name)
}

impl Recent {
    fn next(&mut self, name: Name) -> u64 {
        self.uses += 1;
        let number = match self.counts.get(&name) {
            Some(count) => {
                self.by_use.remove(&count.last_use);
                count.number + 1
            }
            None => {
                self.make_room();
                1
            }
        };
        self.by_use.insert(self.uses, name);
        self.counts.insert(name, Count { number, last_use: self.uses });
        number
    }

    fn make_room(&mut self) {
        if self.counts.len() >= COUNTS_MAX
            && let Some((_, idle)) = self.by_use.pop_first()
        {
            self.counts.remove(&idle);
        }
    }
}
