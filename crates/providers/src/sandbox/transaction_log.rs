//! The simulator's own transaction log: what it did, by our key. It makes a repetition harmless and a probe a proof.
//! Never in it: card numbers, security codes, anything of the product's database.

mod entry;
mod file;
mod holdings;
mod memory;

use std::path::Path;
use std::sync::Arc;

use regente_domain::time::Timestamp;
use thiserror::Error;
use uuid::Uuid;

pub use entry::{Answered, CardTrace, Deed, Entry, Record};
pub use holdings::{Holding, Holdings};

use crate::outcome::Finding;
use file::File;
use memory::Memory;

/// The log, in memory or in a file. A clone is another hand on the same log.
#[derive(Clone)]
pub struct TransactionLog(Place);

#[derive(Clone)]
enum Place {
    Memory(Arc<Memory>),
    File(File),
}

/// An entry and its place in the log, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its place.
    pub sequence: u64,
    /// The entry.
    pub entry: Entry,
}

/// Which entries are looked for: those that fit every condition that is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// The one with this key.
    pub key: Option<Uuid>,
    /// This authorization and what followed it.
    pub authorization_key: Option<Uuid>,
    /// Those that were written at this time or later, by the callers' clocks.
    pub since: Option<Timestamp>,
}

/// In which order entries are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they arrived.
    OldestFirst,
    /// The last ones first.
    NewestFirst,
}

/// What stands in the log after an attempt to write an answer into it.
#[derive(Debug)]
pub(super) enum Recorded {
    /// This answer: the new one, or that of the first call with the key.
    Answered(Finding),
    /// A probe that came first.
    ProbedBefore,
}

/// The log could not be read or written. Whether something was written is not known.
#[derive(Debug, Error)]
pub enum TransactionLogError {
    /// The file could not be opened, read or written.
    #[error("the transaction log of the simulator cannot be used")]
    Sqlite(#[from] rusqlite::Error),
    /// The file holds something other than the simulator's transaction log.
    #[error("the file does not hold the transaction log of the simulator")]
    NotALog,
    /// The log was written by another release.
    #[error("the transaction log of the simulator has format {found}, this release reads {expected}")]
    Format {
        /// The format of the file.
        found: i64,
        /// The format of this release.
        expected: i64,
    },
    /// An entry that this release cannot read.
    #[error("an entry in the transaction log of the simulator cannot be read: {0}")]
    Entry(String),
    /// The commit that the entry was in has failed.
    #[error("the transaction log of the simulator could not be written")]
    NotWritten,
    /// The thread that keeps the file has ended.
    #[error("the transaction log of the simulator is closed")]
    Closed,
}

impl TransactionLog {
    /// An empty log in memory: gone when the process ends.
    pub fn memory() -> Self {
        Self(Place::Memory(Arc::default()))
    }

    /// The log in this file, which is made if it is not there; its folder must be. It survives the loss of the
    /// process and of power. Blocks while the file is opened.
    pub fn file(path: &Path) -> Result<Self, TransactionLogError> {
        Ok(Self(Place::File(File::open(path)?)))
    }

    /// Everything in the log, in the order of arrival.
    pub async fn entries(&self) -> Result<Vec<Entry>, TransactionLogError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.entries()),
            Place::File(file) => file.entries().await,
        }
    }

    /// At most `limit` of the entries that fit, from behind the place `after` in the given order.
    pub async fn page(
        &self,
        filter: Filter,
        order: Order,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Stored>, TransactionLogError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.page(&filter, order, after, limit)),
            Place::File(file) => file.page(filter, order, after, limit).await,
        }
    }

    /// What the log says about one key.
    pub async fn find(&self, key: Uuid) -> Result<Option<Entry>, TransactionLogError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.find(key)),
            Place::File(file) => file.find(key).await,
        }
    }

    /// What became of the money of one authorization; nothing where none was approved under this key.
    pub async fn holding(&self, authorization_key: Uuid) -> Result<Option<Holding>, TransactionLogError> {
        let history = match &self.0 {
            Place::Memory(memory) => memory.history(authorization_key),
            Place::File(file) => file.history(authorization_key).await?,
        };
        Ok(Holdings::of(&history).holding(authorization_key))
    }

    /// How many authorizations took or reserved money: each key does so at most once.
    pub async fn effects(&self) -> Result<usize, TransactionLogError> {
        Ok(self.entries().await?.iter().filter(|entry| entry.is_effect()).count())
    }

    /// Writes an answer down, unless something is there for its key. Whether a follow-up is possible is decided in the
    /// same step, so that no two of them take the same money.
    pub(super) async fn record(
        &self,
        key: Uuid,
        at: Timestamp,
        answered: Answered,
    ) -> Result<Recorded, TransactionLogError> {
        let standing = self.put(Entry { key, at, record: Record::Answered(Box::new(answered)) }).await?;
        Ok(match standing.record {
            Record::Answered(answered) => Recorded::Answered(answered.finding),
            Record::ProbedBeforeArrival => Recorded::ProbedBefore,
        })
    }

    /// The answer that was given for a key. Where there is none, this is written down, so that it stays true.
    pub(super) async fn probe(
        &self,
        key: Uuid,
        at: Timestamp,
    ) -> Result<Option<Finding>, TransactionLogError> {
        let standing = self.put(Entry { key, at, record: Record::ProbedBeforeArrival }).await?;
        Ok(match standing.record {
            Record::Answered(answered) => Some(answered.finding),
            Record::ProbedBeforeArrival => None,
        })
    }

    /// Adds an entry, settled, unless its key has one, and returns the one that stands.
    async fn put(&self, entry: Entry) -> Result<Entry, TransactionLogError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.put(entry)),
            Place::File(file) => file.put(entry).await,
        }
    }
}

impl Filter {
    fn fits(&self, entry: &Entry) -> bool {
        let authorization = entry.authorization_key().unwrap_or(entry.key);
        self.key.is_none_or(|key| key == entry.key)
            && self.authorization_key.is_none_or(|key| key == authorization)
            && self.since.is_none_or(|since| since <= entry.at)
    }
}
