//! A charge: one payment attempt of a buyer, tried at one or more providers. This module holds its facts and its
//! transitions (contract 03 §7–8); each call to a provider is a [`attempt::TransactionRequest`].

pub mod attempt;
pub mod explanation;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, of};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use explanation::{Explanation, Stopped};
pub use words::{CaptureMode, ChargeStatus, PaymentType, Recurrence};

/// Most installments that the interface takes (contract 03 open point 2).
pub const INSTALLMENTS_MAX: u8 = 24;

/// The state of a charge. Each variant carries the facts that only it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChargeState {
    /// A provider was asked, or is about to be, and has not answered.
    Pending,
    /// A provider has reserved the amount.
    PreAuthorized {
        /// The provider that holds the reservation.
        responsible: ProviderType,
    },
    /// A provider has taken the amount.
    Authorized {
        /// The provider that took it.
        responsible: ProviderType,
    },
    /// No provider took the charge.
    Failed {
        /// The provider that refused last.
        responsible: ProviderType,
    },
}

impl ChargeState {
    /// The word of the interface.
    pub const fn status(&self) -> ChargeStatus {
        match self {
            Self::Pending => ChargeStatus::Pending,
            Self::PreAuthorized { .. } => ChargeStatus::PreAuthorized,
            Self::Authorized { .. } => ChargeStatus::Authorized,
            Self::Failed { .. } => ChargeStatus::Failed,
        }
    }

    /// The provider that handled the charge, once one has.
    pub const fn responsible(&self) -> Option<ProviderType> {
        match self {
            Self::Pending => None,
            Self::PreAuthorized { responsible }
            | Self::Authorized { responsible }
            | Self::Failed { responsible } => Some(*responsible),
        }
    }

    /// From its two columns; `None` when they do not fit together.
    pub const fn from_columns(status: ChargeStatus, responsible: Option<ProviderType>) -> Option<Self> {
        match (status, responsible) {
            (ChargeStatus::Pending, _) => Some(Self::Pending),
            (ChargeStatus::PreAuthorized, Some(responsible)) => Some(Self::PreAuthorized { responsible }),
            (ChargeStatus::Authorized, Some(responsible)) => Some(Self::Authorized { responsible }),
            (ChargeStatus::Failed, Some(responsible)) => Some(Self::Failed { responsible }),
            (
                ChargeStatus::PreAuthorized
                | ChargeStatus::Authorized
                | ChargeStatus::Failed
                | ChargeStatus::Canceled
                | ChargeStatus::Voided
                | ChargeStatus::ChargedBack
                | ChargeStatus::RefundPending
                | ChargeStatus::CapturePending,
                _,
            ) => None,
        }
    }
}

/// What the caller said about how to pay; the wire names are those of `paymentMethod` (contract 03 §3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPayment {
    /// Number of installments, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
    /// Stored-credential flag, passed on to providers that take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
    /// `items` of a voucher, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Value>,
}

/// Where the card came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "sourceType")]
pub enum PaymentSource {
    /// A stored card, an inline card or a card token: all end as a stored card.
    #[serde(rename = "card", rename_all = "camelCase")]
    Card {
        /// The stored card. A token that it came from is not kept: its id would open what is left of the token.
        card_id: CardId,
    },
    /// The default card of a customer.
    #[serde(rename = "customer", rename_all = "camelCase")]
    Customer {
        /// The buyer.
        customer_id: CustomerId,
        /// The card that was his default when he was charged; not shown.
        card_id: CardId,
    },
}

impl PaymentSource {
    /// The card that is charged.
    pub const fn card_id(&self) -> CardId {
        match self {
            Self::Card { card_id } | Self::Customer { card_id, .. } => *card_id,
        }
    }
}

/// The texts and references of a charge that nothing is decided by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct References {
    /// Free text of the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text on the buyer's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    /// Reference handed to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_reference_key: Option<String>,
    /// `paymentFlow.metadata`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_metadata: Option<Value>,
    /// `appInfo`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_info: Option<Value>,
}

/// A charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Its id; the time of creation is the id's own.
    pub id: ChargeId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// What stands for the buyer in answers to public keys, when one was given (contract 10 §2.1).
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// How it is paid.
    pub payment_type: PaymentType,
    /// The details of the card payment.
    pub payment: CardPayment,
    /// With which card.
    pub source: PaymentSource,
    /// What the merchant still keeps: falls with each refund.
    pub amount: Amount,
    /// What was charged; never changes.
    pub original_amount: Amount,
    /// The currency of both amounts.
    pub currency: Currency,
    /// Whether an authorization captures at once.
    pub capture: CaptureMode,
    /// Texts and references.
    pub references: References,
    /// The state and its facts.
    pub state: ChargeState,
    /// Why the charge went the way it went.
    pub explanation: Explanation,
    /// How many transaction requests belong to this version of the charge.
    pub requests: i64,
    /// The idempotency claim that waits for the outcome, in hexadecimal; gone once it has its answer.
    pub claim: Option<String>,
    /// Top-level members of the stored document that this release does not know; kept as they are.
    pub unknown_members: Map<String, Value>,
    /// Counts the changes; every write is guarded by it.
    pub version: i64,
    /// When it changed last; always grows.
    pub updated_at: Timestamp,
}

/// A transition that the state does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPending(pub ChargeStatus);

impl Charge {
    /// Whether an authorization captures at once: only credit cards can be reserved (contract 03 §2).
    pub const fn capture_in_effect(&self) -> CaptureMode {
        Self::capture_of(self.payment_type, self.capture)
    }

    /// What `capture` means for a payment type.
    pub const fn capture_of(payment_type: PaymentType, capture: CaptureMode) -> CaptureMode {
        match payment_type {
            PaymentType::Credit => capture,
            PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Pix
            | PaymentType::Boleto
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay => CaptureMode::Automatic,
        }
    }

    /// The provider took the charge: authorized, or reserved when it is captured later.
    pub fn approve(&self, responsible: ProviderType, now: Timestamp) -> Result<Self, NotPending> {
        let state = match self.capture_in_effect() {
            CaptureMode::Automatic => ChargeState::Authorized { responsible },
            CaptureMode::Manual => ChargeState::PreAuthorized { responsible },
        };
        self.leave_pending(state, now)
    }

    /// The charge ends without a provider that takes it.
    pub fn fail(
        &self,
        responsible: ProviderType,
        stopped: Stopped,
        now: Timestamp,
    ) -> Result<Self, NotPending> {
        let mut failed = self.leave_pending(ChargeState::Failed { responsible }, now)?;
        failed.explanation.stopped = Some(stopped);
        Ok(failed)
    }

    /// The next provider is asked: still pending, with one more transaction request.
    pub fn try_next(&self, now: Timestamp) -> Result<Self, NotPending> {
        let mut next = self.leave_pending(ChargeState::Pending, now)?;
        next.requests += 1;
        Ok(next)
    }

    fn leave_pending(&self, state: ChargeState, now: Timestamp) -> Result<Self, NotPending> {
        let claim = match state {
            ChargeState::Pending => self.claim.clone(),
            ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. } => None,
        };
        match self.state {
            ChargeState::Pending => Ok(Self {
                state,
                claim,
                version: self.version + 1,
                updated_at: later_of(now, self.updated_at),
                ..self.clone()
            }),
            ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. } => Err(NotPending(self.state.status())),
        }
    }
}

/// `updated_at` grows with every change, also when the clock jumps back.
pub fn later_of(now: Timestamp, before: Timestamp) -> Timestamp {
    if now > before { now } else { Timestamp::from_millis(before.as_millis() + 1) }
}
