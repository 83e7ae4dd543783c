//! The simulator's own books: what it did, by our key. They make a repetition harmless and a probe a proof. Never in
//! them: card numbers, security codes, anything of the product's database.

mod file;
mod memory;

use std::path::Path;
use std::sync::Arc;

use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use thiserror::Error;
use uuid::Uuid;

use crate::outcome::Finding;
use crate::request::OperationKind;
use file::File;
use memory::Memory;

/// The books, in memory or in a file. A clone is another hand on the same books.
#[derive(Clone)]
pub struct Books(Place);

#[derive(Clone)]
enum Place {
    Memory(Arc<Memory>),
    File(File),
}

/// What the books say about one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Our key.
    pub key: Uuid,
    /// When the call or the probe was made, by the caller's clock.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
}

/// The two things that can be written down for a key; the first one stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A call was answered.
    Answered(Box<Answered>),
    /// Someone asked for the key before any call came: a call that comes later is refused.
    ProbedBeforeArrival,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What was asked.
    pub operation: OperationKind,
    /// For how much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// With which card.
    pub card: CardTrace,
    /// The answer.
    pub finding: Finding,
}

/// Enough of a card to recognise it, too little to charge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTrace {
    /// Keyed hash of the number (C3).
    pub hash: Vec<u8>,
    /// The last four digits.
    pub last_four: String,
}

/// What stands in the books after an attempt to write an answer into them.
#[derive(Debug)]
pub(super) enum Recorded {
    /// This answer: the new one, or that of the first call with the key.
    Answered(Finding),
    /// A probe that came first.
    ProbedBefore,
}

/// The books could not be read or written. Whether something was written is not known.
#[derive(Debug, Error)]
pub enum BooksError {
    /// The file could not be opened, read or written.
    #[error("the books of the simulator cannot be used")]
    Sqlite(#[from] rusqlite::Error),
    /// The file holds something other than the simulator's books.
    #[error("the file does not hold the books of the simulator")]
    NotBooks,
    /// The books were written by another release.
    #[error("the books of the simulator have format {found}, this release reads {expected}")]
    Format {
        /// The format of the file.
        found: i64,
        /// The format of this release.
        expected: i64,
    },
    /// An entry that this release cannot read.
    #[error("an entry in the books of the simulator cannot be read: {0}")]
    Entry(String),
    /// The commit that the entry was in has failed.
    #[error("the books of the simulator could not be written")]
    NotWritten,
    /// The thread that keeps the file has ended.
    #[error("the books of the simulator are closed")]
    Closed,
}

impl Books {
    /// Empty books in memory: gone when the process ends.
    pub fn memory() -> Self {
        Self(Place::Memory(Arc::default()))
    }

    /// The books in this file, which is made if it is not there; its folder must be. They survive the loss of the
    /// process and of power. Blocks while the file is opened.
    pub fn file(path: &Path) -> Result<Self, BooksError> {
        Ok(Self(Place::File(File::open(path)?)))
    }

    /// Everything in the books, in the order of arrival.
    pub async fn entries(&self) -> Result<Vec<Entry>, BooksError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.entries()),
            Place::File(file) => file.entries().await,
        }
    }

    /// What the books say about one key.
    pub async fn find(&self, key: Uuid) -> Result<Option<Entry>, BooksError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.find(key)),
            Place::File(file) => file.find(key).await,
        }
    }

    /// How many authorizations were approved: each key has at most one effect on money.
    pub async fn effects(&self) -> Result<usize, BooksError> {
        Ok(self.entries().await?.iter().filter(|entry| entry.is_effect()).count())
    }

    /// Writes an answer down, unless something is there for its key.
    pub(super) async fn record(
        &self,
        key: Uuid,
        at: Timestamp,
        answered: Answered,
    ) -> Result<Recorded, BooksError> {
        let standing = self.put(Entry { key, at, record: Record::Answered(Box::new(answered)) }).await?;
        Ok(match standing.record {
            Record::Answered(answered) => Recorded::Answered(answered.finding),
            Record::ProbedBeforeArrival => Recorded::ProbedBefore,
        })
    }

    /// The answer that was given for a key. Where there is none, this is written down, so that it stays true.
    pub(super) async fn probe(&self, key: Uuid, at: Timestamp) -> Result<Option<Finding>, BooksError> {
        let standing = self.put(Entry { key, at, record: Record::ProbedBeforeArrival }).await?;
        Ok(match standing.record {
            Record::Answered(answered) => Some(answered.finding),
            Record::ProbedBeforeArrival => None,
        })
    }

    /// Adds an entry, unless its key has one, and returns the one that stands.
    async fn put(&self, entry: Entry) -> Result<Entry, BooksError> {
        match &self.0 {
            Place::Memory(memory) => Ok(memory.put(entry)),
            Place::File(file) => file.put(entry).await,
        }
    }
}

impl Entry {
    /// Whether money would have moved: an approved authorization.
    pub fn is_effect(&self) -> bool {
        match &self.record {
            Record::Answered(answered) => match (answered.operation, &answered.finding) {
                (OperationKind::Authorization, Finding::Approved(_)) => true,
                (OperationKind::Authorization, Finding::Declined(_)) | (OperationKind::ZeroDollar, _) => {
                    false
                }
            },
            Record::ProbedBeforeArrival => false,
        }
    }
}
