//! A charge: one payment attempt of a buyer, tried at one or more providers. This module holds its facts and its
//! transitions (`docs/interface/charges.md#states`); each call to a provider is a [`attempt::TransactionRequest`].

pub mod attempt;
pub mod explanation;
mod follow_up;
mod simulated;
pub mod story;
pub(crate) mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, of};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use explanation::{Explanation, Stopped};
pub use follow_up::{FollowUpRefusal, Held, OpenOperation, Operation};
pub use simulated::{SimulatedStatus, StatusRefusal};
pub use words::{CaptureMode, ChargeEvent, ChargeStatus, PaymentType, Recurrence};

/// Most installments that the interface takes (`docs/interface/charges.md#payment-methods`).
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
    /// A capture was asked for, and its outcome is not known yet.
    CapturePending {
        /// The provider that holds the reservation.
        responsible: ProviderType,
        /// What is open.
        open: OpenOperation,
    },
    /// A provider has taken the amount.
    Authorized {
        /// The provider that took it.
        responsible: ProviderType,
    },
    /// A void was asked for, of a reservation or of what was taken, and its outcome is not known yet.
    RefundPending {
        /// The provider that gives it back.
        responsible: ProviderType,
        /// What is open.
        open: OpenOperation,
    },
    /// No provider took the charge.
    Failed {
        /// The provider that refused last.
        responsible: ProviderType,
    },
    /// Undone before anything was taken.
    Canceled {
        /// The provider that held the reservation.
        responsible: ProviderType,
    },
    /// Given back in full.
    Voided {
        /// The provider that gave it back.
        responsible: ProviderType,
    },
    /// Taken back by the cardholder's bank.
    ChargedBack {
        /// The provider that had taken it.
        responsible: ProviderType,
    },
}

impl ChargeState {
    /// The word of the interface.
    pub const fn status(&self) -> ChargeStatus {
        match self {
            Self::Pending => ChargeStatus::Pending,
            Self::PreAuthorized { .. } => ChargeStatus::PreAuthorized,
            Self::CapturePending { .. } => ChargeStatus::CapturePending,
            Self::Authorized { .. } => ChargeStatus::Authorized,
            Self::RefundPending { .. } => ChargeStatus::RefundPending,
            Self::Failed { .. } => ChargeStatus::Failed,
            Self::Canceled { .. } => ChargeStatus::Canceled,
            Self::Voided { .. } => ChargeStatus::Voided,
            Self::ChargedBack { .. } => ChargeStatus::ChargedBack,
        }
    }

    /// The provider that handled the charge, once one has.
    pub const fn responsible(&self) -> Option<ProviderType> {
        match self {
            Self::Pending => None,
            Self::PreAuthorized { responsible }
            | Self::CapturePending { responsible, .. }
            | Self::Authorized { responsible }
            | Self::RefundPending { responsible, .. }
            | Self::Failed { responsible }
            | Self::Canceled { responsible }
            | Self::Voided { responsible }
            | Self::ChargedBack { responsible } => Some(*responsible),
        }
    }

    /// The capture or void whose outcome is not known yet.
    pub const fn open_operation(&self) -> Option<&OpenOperation> {
        match self {
            Self::CapturePending { open, .. } | Self::RefundPending { open, .. } => Some(open),
            Self::Pending
            | Self::PreAuthorized { .. }
            | Self::Authorized { .. }
            | Self::Failed { .. }
            | Self::Canceled { .. }
            | Self::Voided { .. }
            | Self::ChargedBack { .. } => None,
        }
    }

    /// Whether nothing is under way: only such versions are given as final answers.
    pub const fn is_settled(&self) -> bool {
        !matches!(self, Self::Pending) && self.open_operation().is_none()
    }

    /// From its columns and the open operation of its document; `None` when they do not fit together.
    pub fn from_columns(
        status: ChargeStatus,
        responsible: Option<ProviderType>,
        open: Option<OpenOperation>,
    ) -> Option<Self> {
        if status == ChargeStatus::Pending {
            return open.is_none().then_some(Self::Pending);
        }
        let responsible = responsible?;
        match (status, open) {
            (ChargeStatus::CapturePending, Some(open)) => Some(Self::CapturePending { responsible, open }),
            (ChargeStatus::RefundPending, Some(open)) => Some(Self::RefundPending { responsible, open }),
            (ChargeStatus::PreAuthorized, None) => Some(Self::PreAuthorized { responsible }),
            (ChargeStatus::Authorized, None) => Some(Self::Authorized { responsible }),
            (ChargeStatus::Failed, None) => Some(Self::Failed { responsible }),
            (ChargeStatus::Canceled, None) => Some(Self::Canceled { responsible }),
            (ChargeStatus::Voided, None) => Some(Self::Voided { responsible }),
            (ChargeStatus::ChargedBack, None) => Some(Self::ChargedBack { responsible }),
            (ChargeStatus::CapturePending | ChargeStatus::RefundPending, None) | (_, Some(_)) => None,
            (ChargeStatus::Pending, None) => Some(Self::Pending),
        }
    }
}

/// What the caller said about how to pay; the wire names are those of `paymentMethod`
/// (`docs/interface/charges.md#payment-methods`).
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
    /// What stands for the buyer in answers to public keys, when one was given (`docs/interface/customers.md#aliases`).
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// The purchase that it is one card of.
    pub purchase_id: Option<PurchaseId>,
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

/// A charge after a change, and what the merchant is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The charge after the change.
    pub charge: Charge,
    /// The event that announces it, when there is one (`docs/interface/charges.md#states`).
    pub announces: Option<ChargeEvent>,
}

impl Charge {
    /// Whether an authorization captures at once: only credit cards can be reserved
    /// (`docs/interface/charges.md#payment-methods`).
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
    pub fn approve(&self, responsible: ProviderType, now: Timestamp) -> Result<Transition, NotPending> {
        let (state, event) = match self.capture_in_effect() {
            CaptureMode::Automatic => (ChargeState::Authorized { responsible }, ChargeEvent::Authorized),
            CaptureMode::Manual => (ChargeState::PreAuthorized { responsible }, ChargeEvent::PreAuthorized),
        };
        self.must_be_pending()?;
        Ok(self.transition(state, Some(event), now))
    }

    /// The charge ends without a provider that takes it.
    pub fn fail(
        &self,
        responsible: ProviderType,
        stopped: Stopped,
        now: Timestamp,
    ) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let mut failed = self.transition(ChargeState::Failed { responsible }, Some(ChargeEvent::Failed), now);
        failed.charge.explanation.stopped = Some(stopped);
        Ok(failed)
    }

    /// The next provider is asked: still pending, with one more transaction request.
    pub fn try_next(&self, now: Timestamp) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let next = Self { requests: self.requests + 1, ..self.moved(ChargeState::Pending, now) };
        Ok(Transition { charge: next, announces: None })
    }

    /// A provider took what this charge had been ended without: one more request gives it back. The charge stays what
    /// it is.
    pub fn undo_stray(&self, now: Timestamp) -> Self {
        Self { requests: self.requests + 1, ..self.moved(self.state.clone(), now) }
    }

    /// What [`Self::undo_stray`] asked for was done, and the merchant is told.
    pub fn confirm_stray_undone(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::ProbeVoid), now)
    }

    const fn must_be_pending(&self) -> Result<(), NotPending> {
        match self.state {
            ChargeState::Pending => Ok(()),
            ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => Err(NotPending(self.state.status())),
        }
    }

    /// The next version, in this state.
    fn moved(&self, state: ChargeState, now: Timestamp) -> Self {
        Self { state, version: self.version + 1, updated_at: later_of(now, self.updated_at), ..self.clone() }
    }

    /// The next version, in this state, and what it announces.
    fn transition(&self, state: ChargeState, announces: Option<ChargeEvent>, now: Timestamp) -> Transition {
        Transition { charge: self.moved(state, now), announces }
    }
}

/// `updated_at` grows with every change, also when the clock jumps back.
pub fn later_of(now: Timestamp, before: Timestamp) -> Timestamp {
    if now > before { now } else { Timestamp::from_millis(before.as_millis() + 1) }
}
