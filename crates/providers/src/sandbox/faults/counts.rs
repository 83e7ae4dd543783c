//! Counts how often each fault has matched and how often each call has met one. The counts are in memory: a restarted
//! simulator counts from 1.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest;
use uuid::Uuid;

use super::Source;

/// Most counts of one kind; the least recently used one is evicted.
const COUNTS_MAX: usize = 10_000;

/// The counts of one simulator. Each kind has its own limit, so that counts of single payments, which are many, do not
/// evict the counts of plans.
#[derive(Default)]
pub(in crate::sandbox) struct Counts {
    /// Sequences of the options and of the simulator's plan: one count for each fault, so they are few.
    shared: Mutex<Recent>,
    /// Sequences of a request's own faults, counted for each payment.
    apart: Mutex<Recent>,
    /// Arrivals of a key at a fault with a probability.
    arrivals: Mutex<Recent>,
}

type Name = [u8; digest::SHA256_OUTPUT_LEN];

/// Counts by name, with a least-recently-used order.
#[derive(Default)]
struct Recent {
    counts: HashMap<Name, Count>,
    /// The names, ordered by last use. Uses are numbered.
    by_use: BTreeMap<u64, Name>,
    uses: u64,
}

struct Count {
    number: u64,
    last_use: u64,
}

impl Counts {
    /// Counts another call that matches a fault with a `sequence` and returns its number, from 1. Source, place and
    /// text identify the fault; with a `payment` the count is for that payment only.
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

    /// Counts another arrival of a key at a fault and returns its number, from 1.
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
