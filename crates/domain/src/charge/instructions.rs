//! Instructions that a provider issues for the payer: pay a QR code, pay a boleto, go to an address. The interface
//! decides how to show them.

use serde::{Deserialize, Serialize};

use crate::boleto::IssuedBoleto;
use crate::time::Timestamp;

use super::attempt::Approval;

/// The payer's next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Instructions {
    /// The payer goes to an address: an authentication, a wallet, a hosted page.
    Redirect {
        /// An absolute `https` address.
        url: String,
    },
    /// The cardholder answers a challenge of a 3DS server: the browser posts `token` to `step_up_url`.
    Challenge {
        /// The page of the challenge.
        step_up_url: String,
        /// The token that the browser relays.
        token: String,
        /// The challenge request.
        pareq: String,
    },
    /// The cardholder answers a challenge of the payment provider: the browser posts `md`, `pa_req` and `term_url` to
    /// `url`.
    HostedChallenge {
        /// The page of the challenge.
        url: String,
        /// The provider's data, which the browser relays.
        md: String,
        /// The challenge request.
        pa_req: String,
        /// Where the browser returns.
        term_url: String,
    },
    /// The payer pays a QR code, scanned or copied.
    QrCode {
        /// The content of the code as text, not a picture.
        data: String,
    },
    /// The payer pays a boleto.
    Boleto(Box<IssuedBoleto>),
}

impl Instructions {
    /// Whether they lead to an authentication of the cardholder.
    pub const fn is_challenge(&self) -> bool {
        match self {
            Self::Challenge { .. } | Self::HostedChallenge { .. } => true,
            Self::Redirect { .. } | Self::QrCode { .. } | Self::Boleto(_) => false,
        }
    }
}

/// An operation that waits for the payer; the provider reports the outcome later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The provider's identifiers, as far as it has given them.
    pub reference: Approval,
    /// The payer's next step.
    pub instructions: Instructions,
    /// When the provider stops waiting; absent when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
