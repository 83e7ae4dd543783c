//! The bank: transfers that are on their way to it, and what it has. It has a transfer of one name once, however often that is sent.

use std::collections::{BTreeMap, BTreeSet};

use regente_domain::payout::transfer::{Answer, Found};

/// The name of a transfer. It is the place of its batch; a planted fault has names beyond [`OTHER`].
pub(crate) type Name = usize;

/// By so much a second name of a transfer differs from the first one.
pub(super) const OTHER: Name = 100;

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Has {
    Pending,
    Paid,
    Refused,
    Returned,
}

impl Has {
    fn told(self) -> Answer {
        match self {
            Self::Pending => Answer::Pending,
            Self::Paid => Answer::Paid,
            Self::Refused => Answer::Refused { reason: String::new() },
            Self::Returned => Answer::Returned { reason: String::new() },
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bank {
    pub wire: BTreeSet<Name>,
    pub has: BTreeMap<Name, Has>,
}

impl Bank {
    /// A transfer arrives. One that the bank has already changes nothing.
    pub(super) fn arrive(&mut self, name: Name, becomes: Has) {
        if self.wire.remove(&name) {
            self.has.entry(name).or_insert(becomes);
        }
    }

    /// What it answers to the question about a transfer.
    pub(super) fn find(&self, name: Name) -> Found {
        self.has.get(&name).map_or(Found::Absent, |has| Found::Told(has.told()))
    }

    /// What it answers to a transfer that was sent; `None` while that is on its way.
    pub(super) fn answer(&self, name: Name) -> Option<Answer> {
        match self.has.get(&name) {
            Some(has) => Some(has.told()),
            None if self.wire.contains(&name) => None,
            None => Some(Answer::Unknown),
        }
    }

    /// How often it has moved the money of a batch and not given it back.
    pub(super) fn paid(&self, batch: usize) -> usize {
        let of_batch = self.has.iter().filter(|(name, _)| *name % OTHER == batch);
        of_batch.filter(|(_, has)| **has == Has::Paid).count()
    }
}
