//! The log in memory, for benchmarks and tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::holdings::settle;
use crate::outcome::Finding;

use super::{
    AnalysisEntry, AuthenticationEntry, Decision, Entry, Filter, Order, Record, SellerEntry, Stored,
};

/// Entries in order of arrival, with the positions of each key and of each authorization's captures and voids.
#[derive(Default)]
pub(super) struct Memory(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    entries: Vec<Entry>,
    // Trees grow in small steps; a hash table that doubles would block all callers meanwhile.
    places: BTreeMap<Uuid, usize>,
    follow_ups: BTreeMap<Uuid, Vec<usize>>,
    authentications: BTreeMap<Uuid, AuthenticationEntry>,
    analyses: BTreeMap<Uuid, AnalysisEntry>,
    sellers: BTreeMap<Uuid, SellerEntry>,
}

impl Memory {
    pub(super) fn put(&self, entry: Entry) -> Entry {
        let mut pages = self.pages();
        if let Some(place) = pages.places.get(&entry.key) {
            return pages.entries[*place].clone();
        }
        let follows = entry.authorization_key();
        let history = follows.map(|authorization| pages.history(authorization)).unwrap_or_default();
        let entry = settle(entry, &history);
        let place = pages.entries.len();
        pages.places.insert(entry.key, place);
        if let Some(authorization) = follows {
            pages.follow_ups.entry(authorization).or_default().push(place);
        }
        pages.entries.push(entry.clone());
        entry
    }

    /// An authorization with its captures and voids, in order.
    pub(super) fn history(&self, authorization_key: Uuid) -> Vec<Entry> {
        self.pages().history(authorization_key)
    }

    pub(super) fn find(&self, key: Uuid) -> Option<Entry> {
        let pages = self.pages();
        pages.places.get(&key).map(|place| pages.entries[*place].clone())
    }

    pub(super) fn page(
        &self,
        filter: &Filter,
        order: Order,
        after: Option<u64>,
        limit: usize,
    ) -> Vec<Stored> {
        let pages = self.pages();
        let stored = (1_u64..).zip(&pages.entries).filter(|(_, entry)| filter.fits(entry));
        let own = |(sequence, entry): (u64, &Entry)| Stored { sequence, entry: entry.clone() };
        match order {
            Order::OldestFirst => stored
                .filter(|(place, _)| after.is_none_or(|after| *place > after))
                .take(limit)
                .map(own)
                .collect(),
            Order::NewestFirst => {
                let mut fitting: Vec<_> =
                    stored.filter(|(place, _)| after.is_none_or(|after| *place < after)).collect();
                fitting.reverse();
                fitting.into_iter().take(limit).map(own).collect()
            }
        }
    }

    pub(super) fn authenticate(&self, entry: AuthenticationEntry) -> AuthenticationEntry {
        self.pages().authentications.entry(entry.key).or_insert(entry).clone()
    }

    pub(super) fn authentication(&self, key: Uuid) -> Option<AuthenticationEntry> {
        self.pages().authentications.get(&key).cloned()
    }

    pub(super) fn decide(
        &self,
        key: Uuid,
        decision: Decision,
        concluded: Finding,
    ) -> Option<AuthenticationEntry> {
        let mut pages = self.pages();
        let entry = pages.authentications.get_mut(&key)?;
        if entry.decision.is_some() {
            return Some(entry.clone());
        }
        entry.decision = Some(decision);
        let decided = entry.clone();
        if let Some(place) = pages.places.get(&key).copied()
            && let Record::Answered(answered) = &mut pages.entries[place].record
            && let Finding::Pending(_) = answered.finding
        {
            answered.finding = concluded;
        }
        Some(decided)
    }

    pub(super) fn assess(&self, entry: AnalysisEntry) -> AnalysisEntry {
        self.pages().analyses.entry(entry.key).or_insert(entry).clone()
    }

    pub(super) fn analysis(&self, key: Uuid) -> Option<AnalysisEntry> {
        self.pages().analyses.get(&key).cloned()
    }

    pub(super) fn analyses(&self) -> Vec<AnalysisEntry> {
        self.pages().analyses.values().cloned().collect()
    }

    pub(super) fn seller(&self, key: Uuid) -> Option<SellerEntry> {
        self.pages().sellers.get(&key).cloned()
    }

    pub(super) fn register_seller(&self, entry: SellerEntry) -> SellerEntry {
        self.pages().sellers.entry(entry.key).or_insert(entry).clone()
    }

    pub(super) fn change_seller(&self, entry: SellerEntry) -> SellerEntry {
        self.pages().sellers.insert(entry.key, entry.clone());
        entry
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.pages().entries.clone()
    }

    /// A poisoned lock is usable: no function here leaves the pages half written.
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn history(&self, authorization_key: Uuid) -> Vec<Entry> {
        let follow_ups = self.follow_ups.get(&authorization_key).into_iter().flatten();
        let places = self.places.get(&authorization_key).into_iter().chain(follow_ups);
        places.map(|place| self.entries[*place].clone()).collect()
    }
}
