//! One call to a provider: recorded before the call, completed after it.

mod group;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::decline::{Decline, DeclinedCode, Reason};
use crate::id::{ClientId, ProviderId, TransactionRequestId};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::{Timestamp, later_of};
use crate::words::words;

use super::analysis::{Analysed, Failure, Verdict};
use super::authentication::{Authenticated, not_authenticated};
use super::instructions::Pending;
pub use group::{AuthenticationStep, Reported, RequestGroup, RiskStep};

words! {
    /// `requestType` (`docs/interface/charges.md#transaction-requests`); the types that card charges and cards use.
    RequestType {
        /// Authorize and capture.
        Authorization = "authorization",
        /// Authorize alone.
        PreAuthorization = "pre_authorization",
        /// Verify a card with a zero amount.
        ZeroDollar = "zero_dollar",
        /// Capture a reservation.
        Capture = "capture",
        /// Release a reservation, or refund a capture.
        Void = "void",
        /// The cardholder's bank reversed the payment.
        ChargeBack = "charge_back",
        /// The payer disputes the payment.
        Dispute = "dispute",
        /// A dispute was decided for the merchant.
        DisputeClosed = "dispute_closed",
        /// A refund came back.
        RevertVoid = "revert_void",
        /// Prepare an authentication of the cardholder.
        AuthenticationSetup = "3DS_authentication_setup",
        /// Ask a 3DS server to authenticate the cardholder.
        AuthenticationEnroll = "3DS_authentication_enroll",
        /// Ask a 3DS server how a challenge of the cardholder has ended.
        AuthenticationValidate = "3DS_authentication_validate",
        /// Analyse the risk.
        AntiFraud = "anti_fraud",
        /// Tell the anti-fraud provider of a charge that it did not analyse.
        AntiFraudFeeding = "anti_fraud_feeding",
    }
}

words! {
    /// How a request to a provider ended.
    RequestStatus {
        /// Sent, or about to be sent; no answer yet.
        Running = "running",
        /// Refused.
        Failed = "failed",
        /// Done.
        Success = "success",
        /// No answer, and the provider confirmed that nothing happened.
        Timeout = "timeout",
        /// The provider failed, and confirmed that nothing happened.
        InternalError = "internal_error",
        /// Accepted; the result comes later.
        Processing = "processing",
    }
}

/// The identifiers and codes that a provider gave for an approval, unchanged.
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
    /// The card network's id of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_transaction_id: Option<String>,
    /// How the payer of a wallet has paid, if the provider tells. Boxed, since few approvals have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_as: Option<Box<PaidAs>>,
}

/// How the payer of a wallet has paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaidAs {
    /// In how many installments.
    pub installments_number: u8,
    /// From what, in the provider's words: `credit`, `debit`.
    pub payment_type: String,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Unknown outcome: no answer yet, or an inconclusive one.
    Open,
    /// The provider has issued instructions for the payer. A later request that
    /// [follows](TransactionRequest::follows) this one records the outcome; this one stays unchanged.
    Pending(Box<Pending>),
    /// The provider has accepted a capture or void and reports its result later. A later request that
    /// [follows](TransactionRequest::follows) this one records the result; this one stays unchanged.
    Accepted(Approval),
    /// Done.
    Approved(Approval),
    /// Refused.
    Declined(Decline),
    /// No answer came, and the provider confirmed that nothing happened.
    NoEffect(Decline),
    /// The answer to a risk analysis.
    Analysed(Box<Analysed>),
}

/// A transaction request: one operation at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionRequest {
    /// Its id; the provider key is derived from it.
    pub id: TransactionRequestId,
    /// The account.
    pub client_id: ClientId,
    /// The charge, or the card for a check.
    pub object_id: Uuid,
    /// Its index among the requests of the object, from 0.
    pub ordinal: i64,
    /// The configured provider; nil for an authentication, whose 3DS server is no provider of the merchant.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// The operation.
    pub request_type: RequestType,
    /// The amount of this operation.
    pub amount: Amount,
    /// The earlier request that this one refers to: the one that a capture captures or a void undoes, the one whose
    /// instructions the payer followed, or the void that was accepted and whose result this one records.
    pub follows: Option<TransactionRequestId>,
    /// The provider's id of the request that a void undoes, if that request was recorded as refused or without effect:
    /// its own record has no id, or that of the refusal.
    pub undone_transaction_id: Option<String>,
    /// How many days the provider of a NuPay may take to gather the money that a void gives back.
    pub delay_to_compose: Option<u16>,
    /// How it ended.
    pub outcome: Outcome,
    /// What a 3DS server has answered. Boxed, since few requests have it.
    pub authenticated: Option<Box<Authenticated>>,
    /// How long the call took.
    pub duration: Option<Duration>,
    /// When what it records happened, by the provider's clock, where a provider's notification says so.
    pub occurred_at: Option<Timestamp>,
    /// Why the answer to the call told no outcome.
    pub open_reason: Option<OpenReason>,
    /// What told the outcome, if it was not the answer to the call.
    pub told_by: Option<ToldBy>,
    /// When it was last sent, by the clock of the account.
    pub sent_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The position of a request among those of its object.
#[derive(Clone, Copy, Debug)]
pub struct RequestPosition {
    /// The account.
    pub client_id: ClientId,
    /// The charge, or the card for a check.
    pub object_id: Uuid,
    /// Its index among the requests of the object, from 0.
    pub ordinal: i64,
}

/// The operation to request from a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asks {
    /// The configured provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// The operation.
    pub request_type: RequestType,
    /// The amount of the operation.
    pub amount: Amount,
    /// The earlier request that it refers to.
    pub follows: Option<TransactionRequestId>,
}

impl Asks {
    /// A request to the provider of an earlier request, referring to it.
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

impl RequestType {
    /// The shown type of a request that gave the payer instructions, whatever its own.
    pub const INSTRUCTED: &str = "pending";
}

/// Namespace of provider keys.
const PROVIDER_KEYS: Uuid = Uuid::from_u128(0x6d1a_7f0e_5c1b_4b52_9a2e_3f4c_8d70_1e55);

impl TransactionRequest {
    /// A request before it is sent.
    pub const fn begin(id: TransactionRequestId, place: RequestPosition, asks: Asks, now: Timestamp) -> Self {
        let RequestPosition { client_id, object_id, ordinal } = place;
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
            undone_transaction_id: None,
            delay_to_compose: None,
            outcome: Outcome::Open,
            authenticated: None,
            duration: None,
            occurred_at: None,
            open_reason: None,
            told_by: None,
            sent_at: now,
            updated_at: now,
        }
    }

    /// The provider key: derived from the request, so it stays the same when the request is sent again. The outcome
    /// of a payer's action is known to the provider under the key of the request that issued the instructions. All steps
    /// of an authentication share the key of their charge.
    pub fn provider_key(&self) -> Uuid {
        let named = match self.request_type.is_authentication() {
            true => self.object_id,
            false => self.awaited().unwrap_or(self.id).uuid(),
        };
        Uuid::new_v5(&PROVIDER_KEYS, named.as_bytes())
    }

    /// The request whose instructions the payer followed, when this one records their outcome.
    pub const fn awaited(&self) -> Option<TransactionRequestId> {
        match self.request_type.group() {
            RequestGroup::Authorization(_) | RequestGroup::Authentication(AuthenticationStep::Validate) => {
                self.follows
            }
            RequestGroup::CardCheck
            | RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Authentication(AuthenticationStep::Setup | AuthenticationStep::Enroll)
            | RequestGroup::Risk(_) => None,
        }
    }

    /// The key as answers show it; none of what follows an authorization.
    pub fn shown_key(&self) -> Option<Uuid> {
        match self.request_type.group() {
            RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::Authentication(_)
            | RequestGroup::Risk(RiskStep::Feeding) => Some(self.provider_key()),
            RequestGroup::Risk(RiskStep::Analysis) => (!self.is_later_verdict()).then(|| self.provider_key()),
            RequestGroup::FollowUp(_) | RequestGroup::Reversal(_) => None,
        }
    }

    /// The type as answers show it: what gave the payer instructions is [`RequestType::INSTRUCTED`].
    pub fn shown_type(&self) -> &'static str {
        let is_instructed = self.pending().is_some() && !self.request_type.is_authentication();
        if is_instructed { RequestType::INSTRUCTED } else { self.request_type.word() }
    }

    /// `requestStatus` of its outcome.
    pub const fn status(&self) -> RequestStatus {
        match &self.outcome {
            Outcome::Open => RequestStatus::Running,
            Outcome::Pending(_) | Outcome::Approved(_) => RequestStatus::Success,
            Outcome::Accepted(_) => RequestStatus::Processing,
            Outcome::Declined(_) => RequestStatus::Failed,
            Outcome::NoEffect(_) => RequestStatus::Timeout,
            Outcome::Analysed(analysed) => match &analysed.verdict {
                Verdict::Pending | Verdict::Approved { .. } | Verdict::Reproved { decline: None, .. } => {
                    RequestStatus::Success
                }
                Verdict::Reproved { decline: Some(_), .. }
                | Verdict::Failed { failure: Failure::Reported, .. } => RequestStatus::Failed,
                Verdict::Failed { failure: Failure::Unanswered, .. } => RequestStatus::Timeout,
            },
        }
    }

    /// The refusal, if it was declined, had no effect, or is an analysis that ended the charge.
    pub const fn decline(&self) -> Option<&Decline> {
        match &self.outcome {
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => Some(decline),
            Outcome::Analysed(analysed) => match &analysed.verdict {
                Verdict::Reproved { decline, .. } => decline.as_ref(),
                Verdict::Pending | Verdict::Approved { .. } | Verdict::Failed { .. } => None,
            },
            Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Approved(_) => None,
        }
    }

    /// The provider's id of the operation, if it gave one.
    pub fn transaction_id(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Open => None,
            Outcome::Pending(pending) => pending.reference.transaction_id.as_deref(),
            Outcome::Accepted(approval) | Outcome::Approved(approval) => approval.transaction_id.as_deref(),
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => decline.transaction_id.as_deref(),
            Outcome::Analysed(analysed) => analysed.reference.as_deref(),
        }
    }

    /// The identifiers and codes that the provider gave with instructions or an approval.
    pub fn reference(&self) -> Option<&Approval> {
        match &self.outcome {
            Outcome::Pending(pending) => Some(&pending.reference),
            Outcome::Accepted(approval) | Outcome::Approved(approval) => Some(approval),
            Outcome::Open | Outcome::Declined(_) | Outcome::NoEffect(_) | Outcome::Analysed(_) => None,
        }
    }

    /// The instructions for the payer, if the provider issued any.
    pub fn pending(&self) -> Option<&Pending> {
        match &self.outcome {
            Outcome::Pending(pending) => Some(pending),
            Outcome::Open
            | Outcome::Accepted(_)
            | Outcome::Approved(_)
            | Outcome::Declined(_)
            | Outcome::NoEffect(_)
            | Outcome::Analysed(_) => None,
        }
    }

    /// The request as it was at this time: open, if it ended later.
    pub fn as_of(&self, at: Timestamp) -> Self {
        if self.updated_at <= at {
            return self.clone();
        }
        let updated_at = self.id.created_at();
        Self { outcome: Outcome::Open, duration: None, told_by: None, updated_at, ..self.clone() }
    }

    /// The same request, with its outcome.
    pub fn end(&self, outcome: Outcome, duration: Option<Duration>, now: Timestamp) -> Self {
        Self { outcome, duration, updated_at: later_of(now, self.updated_at), ..self.clone() }
    }
}

words! {
    /// Why the answer to a request told no outcome.
    OpenReason {
        /// The provider did not answer in time.
        TimedOut = "timed_out",
        /// The connection broke after the request was sent.
        ConnectionLost = "connection_lost",
        /// The provider failed while it processed the request.
        ProviderFailed = "provider_failed",
        /// The provider answered what cannot be read.
        Unreadable = "unreadable",
        /// The service stopped before it recorded the answer.
        Interrupted = "interrupted",
    }
}

words! {
    /// What told the outcome of a request, if it was not the answer to the call.
    #[schema(as = OutcomeSource)]
    ToldBy {
        /// Nothing was sent: the provider could not be reached.
        NotSent = "not_sent",
        /// The provider was asked what became of it.
        Probe = "probe",
        /// It was sent again under its key.
        Repetition = "repetition",
        /// The provider reported it by itself.
        Notification = "notification",
        /// Nobody asked for it: the provider reported what was done there.
        Elsewhere = "elsewhere",
        /// Nobody: the time to wait for an answer, or for the payer, was over.
        Nobody = "nobody",
    }
}

/// The refusal recorded for a request that had no answer and, as confirmed, no effect. `reason` is the provider's
/// word.
pub fn unanswered(reason: &str) -> Decline {
    let decline = Decline::from_reason(Reason::Timeout);
    debug_assert_eq!(decline.code, DeclinedCode::IssuerNotAvailable);
    let message = decline.message.clone();
    decline.with_network(reason, message)
}

/// The refusal of an authorization that a crash stopped before it reached the provider: the buyer may try again.
pub fn never_arrived() -> Decline {
    let decline = Decline::of(DeclinedCode::TryAgain);
    let message = decline.message.clone();
    decline.with_network("request_not_sent", message)
}

/// Why a payer is not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The payer did not come in time.
    Expired,
    /// The session is canceled: nobody asks for the money any more.
    Withdrawn,
}

impl Gone {
    const fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The refusal of a payment whose payer is not waited for any longer.
pub fn unpaid(awaited: &TransactionRequest, gone: Gone) -> Decline {
    let is_challenge = awaited.pending().is_some_and(|pending| pending.instructions.is_challenge());
    if is_challenge {
        return not_authenticated(Reason::CardholderNotCompleteAuthentication);
    }
    let decline = Decline::of(DeclinedCode::Generic);
    let message = decline.message.clone();
    decline.with_network(gone.word(), message)
}
