//! The simulator's transaction log: what it did, by our key. It makes repetitions idempotent and answers probes. It
//! contains no card numbers, no security codes and nothing of the product's database.

mod analyses;
mod authentications;
mod entry;
mod file;
mod holdings;
mod memory;
mod sellers;

use std::path::Path;
use std::sync::Arc;

use regente_domain::time::Timestamp;
use thiserror::Error;
use uuid::Uuid;

pub use analyses::{Analysed, AnalysisEntry};
pub use authentications::{AuthenticatedAt, AuthenticationEntry, Decision, TestCard};
pub use entry::{Answered, CardTrace, Deed, Entry, Record};
pub use holdings::{Holding, Holdings};
pub use sellers::SellerEntry;

use crate::outcome::Finding;
use file::File;
use memory::Memory;

/// The log, in memory or in a file. Clones share it.
#[derive(Clone)]
pub struct TransactionLog(Backend);

#[derive(Clone)]
enum Backend {
    Memory(Arc<Memory>),
    File(File),
}

/// An entry with its position in the log, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its position, from 1.
    pub sequence: u64,
    /// The entry.
    pub entry: Entry,
}

/// Selects the entries that match every condition given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// The entry with this key.
    pub key: Option<Uuid>,
    /// This authorization and its captures and voids.
    pub authorization_key: Option<Uuid>,
    /// Entries from this time on, by the callers' clocks.
    pub since: Option<Timestamp>,
}

/// The order of entries in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In order of arrival.
    OldestFirst,
    /// In reverse order of arrival.
    NewestFirst,
}

/// The result of writing an answer to the log.
#[derive(Debug)]
pub(super) enum Recorded {
    /// The log has this answer: the new one, or that of the first call with the key.
    Answered(Finding),
    /// A probe came before the call.
    ProbedBefore,
}

/// The log could not be read or written. Whether an entry was written is unknown.
#[derive(Debug, Error)]
pub enum TransactionLogError {
    /// The file could not be opened, read or written.
    #[error("the transaction log of the simulator cannot be used")]
    Sqlite(#[from] rusqlite::Error),
    /// The file is another database than the simulator's transaction log.
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
    /// This release cannot read an entry.
    #[error("an entry in the transaction log of the simulator cannot be read: {0}")]
    Entry(String),
    /// The commit with the entry failed.
    #[error("the transaction log of the simulator could not be written")]
    NotWritten,
    /// The thread that owns the file has ended.
    #[error("the transaction log of the simulator is closed")]
    Closed,
}

impl TransactionLog {
    /// Creates an empty log in memory; it is lost when the process ends.
    pub fn memory() -> Self {
        Self(Backend::Memory(Arc::default()))
    }

    /// Opens the log in this file, and creates it in an existing folder. It survives crashes and power loss. Blocks
    /// while it opens the file.
    pub fn file(path: &Path) -> Result<Self, TransactionLogError> {
        Ok(Self(Backend::File(File::open(path)?)))
    }

    /// All entries, in order of arrival.
    pub async fn entries(&self) -> Result<Vec<Entry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.entries()),
            Backend::File(file) => file.entries().await,
        }
    }

    /// At most `limit` of the selected entries, after the position `after` in the given order.
    pub async fn page(
        &self,
        filter: Filter,
        order: Order,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Stored>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.page(&filter, order, after, limit)),
            Backend::File(file) => file.page(filter, order, after, limit).await,
        }
    }

    /// The entry of one key.
    pub async fn find(&self, key: Uuid) -> Result<Option<Entry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.find(key)),
            Backend::File(file) => file.find(key).await,
        }
    }

    /// The amounts of one authorization; `None` when none was approved under this key.
    pub async fn holding(&self, authorization_key: Uuid) -> Result<Option<Holding>, TransactionLogError> {
        Ok(Holdings::of(&self.history(authorization_key).await?).holding(authorization_key))
    }

    /// An authorization with everything that follows it, in order.
    pub(super) async fn history(&self, authorization_key: Uuid) -> Result<Vec<Entry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.history(authorization_key)),
            Backend::File(file) => file.history(authorization_key).await,
        }
    }

    /// The entry of one key in the log of authentications.
    pub async fn authentication(
        &self,
        key: Uuid,
    ) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.authentication(key)),
            Backend::File(file) => file.authentication(key).await,
        }
    }

    /// Adds an entry to the log of authentications, unless its key has one, and returns the entry of the key.
    pub(super) async fn authenticate(
        &self,
        entry: AuthenticationEntry,
    ) -> Result<AuthenticationEntry, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.authenticate(entry)),
            Backend::File(file) => file.authenticate(entry).await,
        }
    }

    /// Notes the cardholder's answer to a challenge, unless there is one, and returns the entry; `None` when there is
    /// no challenge. `concluded` ends the authorization that waited for it.
    pub(super) async fn decide(
        &self,
        key: Uuid,
        decision: Decision,
        concluded: Finding,
    ) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.decide(key, decision, concluded)),
            Backend::File(file) => file.decide(key, decision, concluded).await,
        }
    }

    /// The entry of one key in the log of risk analyses.
    pub async fn analysis(&self, key: Uuid) -> Result<Option<AnalysisEntry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.analysis(key)),
            Backend::File(file) => file.analysis(key).await,
        }
    }

    /// All entries in the log of risk analyses, by key.
    pub async fn analyses(&self) -> Result<Vec<AnalysisEntry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.analyses()),
            Backend::File(file) => file.analyses().await,
        }
    }

    /// Adds an entry to the log of risk analyses, unless its key has one, and returns the entry of the key.
    pub(super) async fn assess(&self, entry: AnalysisEntry) -> Result<AnalysisEntry, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.assess(entry)),
            Backend::File(file) => file.assess(entry).await,
        }
    }

    /// The entry of one key in the log of sellers.
    pub async fn seller(&self, key: Uuid) -> Result<Option<SellerEntry>, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.seller(key)),
            Backend::File(file) => file.seller(key).await,
        }
    }

    /// Adds an entry to the log of sellers, unless its key has one, and returns the entry of the key.
    pub(super) async fn register_seller(
        &self,
        entry: SellerEntry,
    ) -> Result<SellerEntry, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.register_seller(entry)),
            Backend::File(file) => file.register_seller(entry).await,
        }
    }

    /// Replaces the entry of a key in the log of sellers, and returns it.
    pub(super) async fn change_seller(&self, entry: SellerEntry) -> Result<SellerEntry, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.change_seller(entry)),
            Backend::File(file) => file.change_seller(entry).await,
        }
    }

    /// The number of authorizations that charged or reserved money, at most one for each key.
    pub async fn effects(&self) -> Result<usize, TransactionLogError> {
        Ok(Holdings::of(&self.entries().await?).iter().count())
    }

    /// Writes an answer, unless the key has an entry. The same step checks whether a capture or void is possible, so
    /// that no two of them move the same money.
    pub(super) async fn record(
        &self,
        key: Uuid,
        at: Timestamp,
        answered: Answered,
    ) -> Result<Recorded, TransactionLogError> {
        let stored = self.put(Entry { key, at, record: Record::Answered(Box::new(answered)) }).await?;
        Ok(match stored.record {
            Record::Answered(answered) => Recorded::Answered(answered.finding),
            Record::ProbedBeforeArrival => Recorded::ProbedBefore,
        })
    }

    /// The answer of a key. If there is none, the log records the probe: a call that comes later is refused.
    pub(super) async fn probe(
        &self,
        key: Uuid,
        at: Timestamp,
    ) -> Result<Option<Finding>, TransactionLogError> {
        let stored = self.put(Entry { key, at, record: Record::ProbedBeforeArrival }).await?;
        Ok(match stored.record {
            Record::Answered(answered) => Some(answered.finding),
            Record::ProbedBeforeArrival => None,
        })
    }

    /// Adds an entry, settled, unless its key has one, and returns the entry of the key.
    async fn put(&self, entry: Entry) -> Result<Entry, TransactionLogError> {
        match &self.0 {
            Backend::Memory(memory) => Ok(memory.put(entry)),
            Backend::File(file) => file.put(entry).await,
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
