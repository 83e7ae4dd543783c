//! Reconciles settlement files of providers (`docs/settlement.md`): reads a file line by line, brings the lines of each
//! payment together with what the records have of it, posts, and reports. Files may be much larger than the memory.

mod compare;
pub mod daily;
mod file;
mod kept;
mod mapping;
mod page;
mod parts;
mod provider_file;
mod report;
mod sandbox_file;

pub use compare::{File, POSTED_AT_ONCE, Progress, Step, reconcile};
pub use file::{LineError, Lines, WrongRow};
pub use mapping::{Mapping, MappingError, OF_THE_SIMULATOR};
pub use page::page;
pub use provider_file::ProviderFile;
pub use report::{Report, ReportedFinding, Sum, Tally};
pub use sandbox_file::write_sandbox_file;

/// Why a file could not be reconciled. What was posted before stays, and the same command goes on.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
