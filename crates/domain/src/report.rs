//! Reports: charges of a period as CSV, for people (`docs/interface/reports.md`). [`columns`] is the table of what a report can
//! show, [`cells`] makes the cells of a row, [`sent`] is what is asked for, [`status`] what becomes of it, [`mail`] what is said about it.

pub mod cells;
mod columns;
mod mail;
mod row;
mod sent;
mod status;
mod zone;

use std::time::Duration;

pub use columns::Column;
pub use mail::ReportMail;
pub use row::{BuyerFacts, CardFacts, Row};
pub use sent::{Filters, NewReport, Period};
pub use status::{ReportStatus, Step};
pub use zone::Zone;

use crate::words::words;

/// Rows of one file, without its header: what a spreadsheet opens.
pub const ROWS_PER_FILE: usize = 50_000;
/// The longest period, in days.
pub const PERIOD_DAYS_MAX: u64 = 366;
/// Reports of one account that may be under way at once.
pub const RUNNING_MAX: i64 = 5;
/// How long the files are kept.
pub const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long after it was asked for the moment lies that a report shows: whatever its asker was told before is in it, although the
/// version of a charge that was told may be dated a little ahead, by the clock of another node or because it came in the same
/// millisecond as the version before it.
pub const REACHES: Duration = Duration::from_secs(1);
/// How long after it was asked for a report is begun: batches that were on their way at that moment have been committed by then.
pub const SETTLES_AFTER: Duration = Duration::from_secs(10);

words! {
    /// What the rows of a report are.
    ReportType {
        /// One row for each charge, as it was at the moment of the report.
        Transactions = "transactions",
        /// One row for each call to a provider.
        TransactionsHistory = "transactionsHistory",
    }
}

words! {
    /// The language of the titles of the columns.
    ReportLanguage {
        /// English.
        En = "en",
        /// Portuguese.
        Pt = "pt",
        /// English.
        EnUs = "en-US",
        /// Portuguese.
        PtBr = "pt-BR",
    }
}

impl ReportLanguage {
    /// Whether the titles are Portuguese.
    pub const fn is_portuguese(self) -> bool {
        match self {
            Self::Pt | Self::PtBr => true,
            Self::En | Self::EnUs => false,
        }
    }

    /// The first language of an `Accept-Language` that there is; English where there is none.
    pub fn accepted(header: &str) -> Self {
        let names = header.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
        let known = |name: &str| {
            Self::WORDS
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(name))
                .map(|(_, language)| *language)
        };
        names.into_iter().find_map(known).unwrap_or(Self::EnUs)
    }
}
