//! Books in memory, for benchmarks and tests.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::Entry;

/// Entries in the order of arrival, and where each key stands.
#[derive(Default)]
pub(super) struct Memory(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    entries: Vec<Entry>,
    places: HashMap<Uuid, usize>,
}

impl Memory {
    pub(super) fn put(&self, entry: Entry) -> Entry {
        let mut pages = self.pages();
        let Pages { entries, places } = &mut *pages;
        match places.entry(entry.key) {
            Slot::Occupied(place) => entries[*place.get()].clone(),
            Slot::Vacant(slot) => {
                slot.insert(entries.len());
                entries.push(entry.clone());
                entry
            }
        }
    }

    pub(super) fn find(&self, key: Uuid) -> Option<Entry> {
        let pages = self.pages();
        pages.places.get(&key).map(|place| pages.entries[*place].clone())
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.pages().entries.clone()
    }

    /// No function here leaves the pages half written, so a panic elsewhere does not spoil them.
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
