//! A purchase: one order paid with two or three stored cards, all of them or none (`docs/interface/purchases.md`).
//! This module holds its facts and changes, with the history entries of each; [`next`] decides the next step. One
//! charge for each card moves the money.

mod change;
mod data;
mod next;
mod words;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capture_mode::CaptureMode;
use crate::charge::{Held, References};
use crate::currency::Currency;
use crate::decline::DeclinedCode;
use crate::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, of};
use crate::money::Amount;
use crate::time::Timestamp;
use crate::webhook::EventName;

pub use change::{Advance, Change, Changes, NewEntry, SlotChange, StatusChange, UNDO_WAITS};
pub use data::{Payment, SentPayment, SentPurchase};
pub use next::{Next, Seen};
pub use words::{Action, Milestone, PurchaseCurrency, PurchaseStatus};

/// Number of cards of a purchase.
pub const SLOTS: std::ops::RangeInclusive<usize> = 2..=3;
/// The only currency of purchases.
pub const CURRENCY: Currency = Currency::BRL;
/// The least amount of one card, the usual minimum of acquirers: BRL 1.00.
pub const PAYMENT_MIN: Amount = match Amount::new(100) {
    Some(amount) => amount,
    None => Amount::ZERO,
};
/// Authorizing or capturing is given up after this long without a result (`docs/interface/purchases.md#states`).
pub const RESULT_WITHIN: Duration = Duration::from_secs(15 * 60);
/// A reservation not captured within this time is released (`docs/interface/purchases.md#capture-and-void`).
pub const RESERVED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purchase {
    /// Its id; the time of creation is the id's own.
    pub id: PurchaseId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// The alias that answers to public keys show instead of the buyer.
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// Texts and references, copied to each charge.
    pub references: References,
    /// The sum of its cards.
    pub amount: Amount,
    /// Whether it captures once every card is reserved.
    pub capture: CaptureMode,
    /// Its state.
    pub phase: Phase,
    /// Its cards, in the order of charging.
    pub slots: Vec<Slot>,
    /// The history entry for the reservation of every card; later requests are added to it.
    pub reserved: Option<Reserved>,
    /// Number of history entries.
    pub entries: i64,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// One card of a purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot {
    /// Its id.
    pub id: Id<of::PurchaseSlot>,
    /// The stored card.
    pub card_id: CardId,
    /// Its part of the sum.
    pub amount: Amount,
    /// Number of installments.
    pub installments: u8,
    /// Its charge; written in the batch that begins the charge, so that there is never a second one.
    pub charge_id: Option<ChargeId>,
    /// What the history has recorded about its charge.
    pub noted: Noted,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_code: Option<DeclinedCode>,
}

/// What the history has recorded about the charge of a card, so that it records it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noted {
    /// Not charged yet.
    Nothing,
    /// A charge began.
    Begun,
    /// The amount is reserved.
    Reserved,
    /// It was refused.
    Refused,
    /// A refund was requested.
    RefundRequested,
    /// Its provider kept refusing the void or refund until it was given up.
    GivenUp,
    /// Nothing is held.
    Released,
}

/// The state of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Phase {
    /// The cards are being reserved, one after the other.
    Authorizing {
        /// The deadline.
        until: Timestamp,
    },
    /// Every card is reserved; nothing is under way.
    PreAuthorized {
        /// When the reservations are released.
        until: Timestamp,
    },
    /// The cards are being captured, one after the other.
    Capturing {
        /// The deadline.
        until: Timestamp,
    },
    /// Reservations are released, or captures refunded.
    Undoing(Undoing),
    /// Every card was charged.
    Paid,
    /// It ended without charging any card, or its undoing was given up.
    Failed,
    /// It was undone.
    Cancelled,
}

/// Why a purchase is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoCause {
    /// Not every card could be charged.
    Failure,
    /// The merchant requested a void of the reservations.
    VoidRequested,
    /// The reservations were not captured in time.
    Expired,
    /// The merchant requested a refund.
    RefundRequested,
}

/// The progress of an undoing. It is retried until confirmed, a bounded number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undoing {
    /// The cause.
    pub cause: UndoCause,
    /// Number of refusals by providers.
    pub failures: usize,
    /// Number of looks at an unknown outcome; they do not count towards giving up while probes continue.
    #[serde(default)]
    pub looks: usize,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// Whether the history already records a failure.
    pub is_troubled: bool,
}

/// The history entry for the reservation of every card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Its index in the history.
    pub ordinal: i64,
    /// The actions recorded at it.
    pub actions: Vec<Action>,
    /// When the reservations are released.
    pub until: Timestamp,
}

/// Why a capture or void of a purchase is refused (`docs/interface/purchases.md#capture-and-void`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationRefusal {
    /// The purchase has ended.
    InvalidState,
    /// The purchase captures automatically.
    IntentMismatch,
    /// Another operation is under way.
    InProgress,
}

impl Purchase {
    /// `status` on the wire.
    pub const fn status(&self) -> PurchaseStatus {
        match &self.phase {
            Phase::Authorizing { .. } | Phase::PreAuthorized { .. } | Phase::Capturing { .. } => {
                PurchaseStatus::Pending
            }
            Phase::Undoing(undoing) => match undoing.cause {
                UndoCause::Failure if undoing.is_troubled => PurchaseStatus::Failed,
                UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired => PurchaseStatus::Pending,
                UndoCause::RefundRequested => PurchaseStatus::Paid,
            },
            Phase::Paid => PurchaseStatus::Paid,
            Phase::Failed => PurchaseStatus::Failed,
            Phase::Cancelled => PurchaseStatus::Cancelled,
        }
    }

    /// Starts the capture.
    ///
    /// # Errors
    /// What [`OperationRefusal`] says.
    pub fn request_capture(&self, now: Timestamp) -> Result<Advance, OperationRefusal> {
        match (self.operation_possible(), self.capture) {
            (Err(OperationRefusal::InvalidState), _) => Err(OperationRefusal::InvalidState),
            (_, CaptureMode::Automatic) => Err(OperationRefusal::IntentMismatch),
            (Ok(Held::Reserved | Held::JustReserved), CaptureMode::Manual) => {
                Ok(self.apply(Change::CaptureRequested, now))
            }
            (Ok(Held::Taken), CaptureMode::Manual) => Err(OperationRefusal::InvalidState),
            (Err(refusal), CaptureMode::Manual) => Err(refusal),
        }
    }

    /// Starts an undoing: releases the reservations or refunds the captures. `seen` has an element for each card:
    /// what was given back earlier does not count for this request.
    ///
    /// # Errors
    /// What [`OperationRefusal`] says.
    pub fn request_void(&self, seen: &[Seen], now: Timestamp) -> Result<Advance, OperationRefusal> {
        match self.operation_possible()? {
            Held::Reserved | Held::JustReserved => Ok(self.apply(Change::VoidRequested, now)),
            Held::Taken => {
                let mut step = self.apply(Change::RefundRequested, now);
                for (slot, seen) in step.purchase.slots.iter_mut().zip(seen) {
                    if seen.holds_nothing() {
                        slot.noted = Noted::Released;
                    }
                }
                Ok(step)
            }
        }
    }

    /// Whether one of its cards may change alone (`docs/interface/purchases.md#single-cards`): once the purchase is
    /// decided and no undoing is under way.
    pub const fn is_at_rest(&self) -> bool {
        match self.phase {
            Phase::Paid | Phase::Failed | Phase::Cancelled => true,
            Phase::Authorizing { .. }
            | Phase::PreAuthorized { .. }
            | Phase::Capturing { .. }
            | Phase::Undoing(_) => false,
        }
    }

    /// What an operation would affect; an error while something is under way.
    const fn operation_possible(&self) -> Result<Held, OperationRefusal> {
        match (self.status(), &self.phase) {
            (PurchaseStatus::Failed | PurchaseStatus::Cancelled, _)
            | (_, Phase::Failed | Phase::Cancelled) => Err(OperationRefusal::InvalidState),
            (_, Phase::PreAuthorized { .. }) => Ok(Held::Reserved),
            (_, Phase::Paid) => Ok(Held::Taken),
            (_, Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_)) => {
                Err(OperationRefusal::InProgress)
            }
        }
    }
}

impl PurchaseStatus {
    /// The event for a purchase that reached this status; `None` while it is pending.
    pub const fn event(self) -> Option<EventName> {
        match self {
            Self::Pending => None,
            Self::Paid => Some(EventName::PurchasePaid),
            Self::Failed => Some(EventName::PurchaseFailed),
            Self::Cancelled => Some(EventName::PurchaseCancelled),
        }
    }
}
