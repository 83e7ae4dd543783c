//! Entries of the log of risk analyses, one for each key. They contain nothing of the buyer or the card.

use regente_domain::charge::ChargeStatus;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::anti_fraud::Verdict;

/// The log entry of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisEntry {
    /// Our key of the analysis or feeding.
    pub key: Uuid,
    /// When it was requested first, by the caller's clock.
    pub at: Timestamp,
    /// What was done.
    pub record: Analysed,
}

/// What was done for a key; the first one stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Analysed {
    /// A charge was analysed.
    Analysis {
        /// The answer to the request.
        answer: Verdict,
        /// The answer to the question for the verdict.
        verdict: Verdict,
    },
    /// A charge that was not analysed was noted.
    Feeding {
        /// How it ended.
        status: ChargeStatus,
    },
}
