//! One call to a provider, as the books of this side keep it: written before the call, completed after it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::decline::{Decline, DeclinedCode, Reason};
use crate::id::{ClientId, ProviderId, TransactionRequestId};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use super::words::words;

words! {
    /// `requestType` (`docs/interface/charges.md#transaction-requests`); those that card charges and cards produce.
    RequestType {
        /// Authorize and capture.
        Authorization = "authorization",
        /// Authorize alone.
        PreAuthorization = "pre_authorization",
        /// Verify a card with a zero amount.
        ZeroDollar = "zero_dollar",
        /// Take what is reserved.
        Capture = "capture",
        /// Release what is reserved, or give back what was taken.
        Void = "void",
        /// The cardholder's bank took it back.
        ChargeBack = "charge_back",
    }
}

words! {
    /// `requestStatus` (`docs/interface/charges.md#transaction-requests`).
    RequestStatus {
        /// Sent, or about to be; no answer yet.
        Running = "running",
        /// Refused.
        Failed = "failed",
        /// Done.
        Success = "success",
        /// Not answered, and proved to have had no effect.
        Timeout = "timeout",
        /// The provider failed, and it is proved that nothing happened.
        InternalError = "internal_error",
        /// Accepted, the result comes later.
        Processing = "processing",
    }
}

/// What a provider says of a payment that it took; each member as the provider gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Id at the provider.
    pub transaction_id: Option<String>,
    /// Code of the authorization.
    pub authorization_code: Option<String>,
    /// NSU, the acquirer's sequence number.
    pub authorization_nsu: Option<String>,
    /// Code of the authorization at the card network.
    pub network_authorization_code: Option<String>,
    /// Response code of the card network.
    pub network_response_code: Option<String>,
    /// Response code of the provider.
    pub response_code: Option<String>,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not known: no answer yet, or none that tells.
    Open,
    /// Done.
    Approved(Approval),
    /// Refused.
    Declined(Decline),
    /// No answer came, and the provider's books say that nothing happened.
    NoEffect(Decline),
}

/// A transaction request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionRequest {
    /// Its id; the key that the provider sees is derived from it.
    pub id: TransactionRequestId,
    /// The account.
    pub client_id: ClientId,
    /// The charge, or the card for a verification.
    pub object_id: Uuid,
    /// Its place in the object's requests, from 0.
    pub ordinal: i64,
    /// The provider as configured.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// What was asked.
    pub request_type: RequestType,
    /// The amount of this operation.
    pub amount: Amount,
    /// How it ended.
    pub outcome: Outcome,
    /// How long the provider took.
    pub duration: Option<Duration>,
    /// When it changed last.
    pub updated_at: Timestamp,
}

/// Name space of the keys that providers see.
const PROVIDER_KEYS: Uuid = Uuid::from_u128(0x6d1a_7f0e_5c1b_4b52_9a2e_3f4c_8d70_1e55);

impl TransactionRequest {
    /// The key sent to the provider: derived from the request, so it is the same on every repetition.
    pub fn provider_key(&self) -> Uuid {
        Uuid::new_v5(&PROVIDER_KEYS, self.id.uuid().as_bytes())
    }

    /// The word of the interface for how it ended.
    pub fn status(&self) -> RequestStatus {
        match &self.outcome {
            Outcome::Open => RequestStatus::Running,
            Outcome::Approved(_) => RequestStatus::Success,
            Outcome::Declined(_) => RequestStatus::Failed,
            Outcome::NoEffect(_) => RequestStatus::Timeout,
        }
    }

    /// What the provider refused with.
    pub const fn decline(&self) -> Option<&Decline> {
        match &self.outcome {
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => Some(decline),
            Outcome::Open | Outcome::Approved(_) => None,
        }
    }

    /// The same request, ended.
    pub fn end(&self, outcome: Outcome, duration: Option<Duration>, now: Timestamp) -> Self {
        Self { outcome, duration, updated_at: super::later_of(now, self.updated_at), ..self.clone() }
    }
}

impl RequestType {
    /// Whether an authorization is asked for: it is never sent again, since the security code is gone
    /// (`docs/interface/charges.md#unknown-outcomes`). What follows one may be repeated under the same key.
    pub const fn is_authorization(self) -> bool {
        match self {
            Self::Authorization | Self::PreAuthorization => true,
            Self::ZeroDollar | Self::Capture | Self::Void | Self::ChargeBack => false,
        }
    }
}

words! {
    /// Why nobody knows how a request ended.
    OpenReason {
        /// No answer came in time.
        TimedOut = "timed_out",
        /// The connection broke after the request was sent.
        ConnectionLost = "connection_lost",
        /// The provider failed while it worked on the request.
        ProviderFailed = "provider_failed",
        /// The service stopped before it had written the answer down.
        Interrupted = "interrupted",
    }
}

/// The refusal that stands for a request that was not answered and proved to have had no effect. In the sandbox this
/// is what the time-out cards show (`docs/interface/sandbox.md#silence`).
pub fn unanswered(provider_type: ProviderType) -> Decline {
    let reason = if provider_type == ProviderType::Sandbox { "sandbox timeout" } else { "timeout" };
    let decline = Decline::from_reason(Reason::Timeout);
    debug_assert_eq!(decline.code, DeclinedCode::IssuerNotAvailable);
    let message = decline.message.clone();
    decline.with_network(reason, message)
}

/// The refusal of an authorization that a crash cut off before the provider got it: the buyer may try again.
pub fn never_arrived() -> Decline {
    let decline = Decline::of(DeclinedCode::TryAgain);
    let message = decline.message.clone();
    decline.with_network("request_not_sent", message)
}
