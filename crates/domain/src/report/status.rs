//! What becomes of a report.

use crate::words::words;

words! {
    /// Where a report stands.
    ReportStatus {
        /// Asked for. No answer shows it: a report that is stored waits already.
        Created = "created",
        /// Waits for a worker.
        Pending = "pending",
        /// Its files are being written.
        Processing = "processing",
        /// Its files are there.
        Uploaded = "uploaded",
        /// A mail with a link to them was handed over.
        Sent = "sent",
        /// A file was fetched.
        Opened = "opened",
        /// Its files are gone.
        Expired = "expired",
        /// It could not be made.
        Error = "error",
        /// No row matches.
        Empty = "empty",
    }
}

/// What happens to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is stored.
    Stored,
    /// A worker begins.
    Begun,
    /// All files are stored.
    FilesStored,
    /// There is nothing to store.
    NothingFound,
    /// It fails for good.
    Failed,
    /// The mail was handed over.
    MailHandedOver,
    /// A file was fetched.
    FileFetched,
    /// The time of its files is over.
    TimeOver,
}

impl ReportStatus {
    /// The status after a step; `None` where the step changes nothing.
    pub const fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Created, Step::Stored) => Some(Self::Pending),
            (Self::Pending, Step::Begun) => Some(Self::Processing),
            (Self::Processing, Step::FilesStored) => Some(Self::Uploaded),
            (Self::Processing, Step::NothingFound) => Some(Self::Empty),
            (Self::Pending | Self::Processing, Step::Failed) => Some(Self::Error),
            (Self::Uploaded, Step::MailHandedOver) => Some(Self::Sent),
            (Self::Sent, Step::FileFetched) => Some(Self::Opened),
            (Self::Uploaded | Self::Sent | Self::Opened, Step::TimeOver) => Some(Self::Expired),
            (
                Self::Created
                | Self::Pending
                | Self::Processing
                | Self::Uploaded
                | Self::Sent
                | Self::Opened
                | Self::Expired
                | Self::Error
                | Self::Empty,
                Step::Stored
                | Step::Begun
                | Step::FilesStored
                | Step::NothingFound
                | Step::Failed
                | Step::MailHandedOver
                | Step::FileFetched
                | Step::TimeOver,
            ) => None,
        }
    }

    /// Whether it takes a place among the reports of its account that are under way.
    pub const fn is_running(self) -> bool {
        match self {
            Self::Created | Self::Pending | Self::Processing => true,
            Self::Uploaded | Self::Sent | Self::Opened | Self::Expired | Self::Error | Self::Empty => false,
        }
    }

    /// Whether its files can be fetched.
    pub const fn has_files(self) -> bool {
        match self {
            Self::Uploaded | Self::Sent | Self::Opened => true,
            Self::Created | Self::Pending | Self::Processing | Self::Expired | Self::Error | Self::Empty => {
                false
            }
        }
    }
}
