//! One call to a provider, as this side records it: written before the call, completed after it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::decline::{Decline, DeclinedCode, Reason};
use crate::id::{ClientId, ProviderId, TransactionRequestId};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use super::instructions::Pending;
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
    /// The provider has given the payer something to do. What becomes of it is told by a later request that
    /// [follows](TransactionRequest::follows) this one; this one stays as it is.
    Pending(Box<Pending>),
    /// Done.
    Approved(Approval),
    /// Refused.
    Declined(Decline),
    /// No answer came, and the provider has proved that nothing happened.
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
    /// The earlier request that this one is about: what a capture takes, what a void undoes, or the request whose
    /// instructions the payer has followed.
    pub follows: Option<TransactionRequestId>,
    /// How it ended.
    pub outcome: Outcome,
    /// How long the provider took.
    pub duration: Option<Duration>,
    /// When it was sent last, by the clock that the record carries.
    pub sent_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The account.
    pub client_id: ClientId,
    /// The charge, or the card for a verification.
    pub object_id: Uuid,
    /// Its place in the object's requests, from 0.
    pub ordinal: i64,
}

/// What a provider is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asks {
    /// The provider as configured.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// For what.
    pub request_type: RequestType,
    /// How much it is about.
    pub amount: Amount,
    /// The earlier request that it is about.
    pub follows: Option<TransactionRequestId>,
}

impl Asks {
    /// Something of the provider that an earlier request went to, about that request.
    pub const fn about(earlier: &TransactionRequest, request_type: RequestType, amount: Amount) -> Self {
        Self {
            provider_id: earlier.provider_id,
            provider_type: earlier.provider_type,
            request_type,
            amount,
            follows: Some(earlier.id),
        }
    }
}

/// Name space of the keys that providers see.
const PROVIDER_KEYS: Uuid = Uuid::from_u128(0x6d1a_7f0e_5c1b_4b52_9a2e_3f4c_8d70_1e55);

impl TransactionRequest {
    /// A request that is about to be sent.
    pub const fn begin(id: TransactionRequestId, place: Place, asks: Asks, now: Timestamp) -> Self {
        let Place { client_id, object_id, ordinal } = place;
        let Asks { provider_id, provider_type, request_type, amount, follows } = asks;
        Self {
            id,
            client_id,
            object_id,
            ordinal,
            provider_id,
            provider_type,
            request_type,
            amount,
            follows,
            outcome: Outcome::Open,
            duration: None,
            sent_at: now,
            updated_at: now,
        }
    }

    /// The key that the provider knows the operation by: derived from the request, so it is the same whenever it is sent
    /// again. What the payer has done since is known to the provider under the key of the request that asked him to.
    pub fn provider_key(&self) -> Uuid {
        let sent = self.awaited().unwrap_or(self.id);
        Uuid::new_v5(&PROVIDER_KEYS, sent.uuid().as_bytes())
    }

    /// The request whose instructions the payer has followed, where this one tells what became of it.
    pub const fn awaited(&self) -> Option<TransactionRequestId> {
        if self.request_type.is_authorization() { self.follows } else { None }
    }

    /// The word of the interface for how it ended.
    pub const fn status(&self) -> RequestStatus {
        match &self.outcome {
            Outcome::Open => RequestStatus::Running,
            Outcome::Pending(_) | Outcome::Approved(_) => RequestStatus::Success,
            Outcome::Declined(_) => RequestStatus::Failed,
            Outcome::NoEffect(_) => RequestStatus::Timeout,
        }
    }

    /// What the provider refused with.
    pub const fn decline(&self) -> Option<&Decline> {
        match &self.outcome {
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => Some(decline),
            Outcome::Open | Outcome::Pending(_) | Outcome::Approved(_) => None,
        }
    }

    /// What the provider knows it by, as far as it has said.
    pub fn reference(&self) -> Option<&Approval> {
        match &self.outcome {
            Outcome::Pending(pending) => Some(&pending.reference),
            Outcome::Approved(approval) => Some(approval),
            Outcome::Open | Outcome::Declined(_) | Outcome::NoEffect(_) => None,
        }
    }

    /// What the payer was given to do.
    pub fn pending(&self) -> Option<&Pending> {
        match &self.outcome {
            Outcome::Pending(pending) => Some(pending),
            Outcome::Open | Outcome::Approved(_) | Outcome::Declined(_) | Outcome::NoEffect(_) => None,
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

/// The refusal that stands for a request that was not answered and proved to have had no effect. `reason` is the
/// provider's word for it.
pub fn unanswered(reason: &str) -> Decline {
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

/// The refusal of a payment that the payer has not made in time.
pub fn expired() -> Decline {
    let decline = Decline::of(DeclinedCode::Generic);
    let message = decline.message.clone();
    Decline { retryable: false, ..decline.with_network("expired", message) }
}
