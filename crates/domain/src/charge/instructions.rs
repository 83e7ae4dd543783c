//! What a provider gives the payer to do when it cannot decide an operation at once: pay a code, pay a line, go to an
//! address. How it is shown to the payer is the interface's.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

use super::attempt::Approval;

/// What the payer does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Instructions {
    /// Goes to an address: an authentication, a wallet, a hosted page.
    Redirect {
        /// An absolute `https` address.
        url: String,
    },
    /// Pays a code that can be scanned, or copied and pasted.
    QrCode {
        /// The content of the code as text, not a picture.
        data: String,
    },
    /// Pays a line that a bank reads.
    Barcode {
        /// The line as it is typed, in digits.
        line: String,
    },
}

/// An operation that a provider has taken up and that waits for the payer; the provider tells the outcome later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The provider's identifiers, as far as it has given any.
    pub reference: Approval,
    /// What the payer does.
    pub instructions: Instructions,
    /// When the provider stops waiting for the payer; absent when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
