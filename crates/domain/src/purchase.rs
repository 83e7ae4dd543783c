//! A purchase: one order paid with two or three stored cards, all of them or none (`docs/interface/purchases.md`). This
//! module holds its facts and the changes between them, each with the entries that the history gets; what is to be done
//! next is decided in [`next`]. The money itself is moved by charges, one for each card; nothing here asks a provider
//! or a clock.

mod change;
mod next;
mod words;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::charge::{CaptureMode, Held, References};
use crate::currency::Currency;
use crate::decline::DeclinedCode;
use crate::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, of};
use crate::money::Amount;
use crate::time::Timestamp;

pub use change::{Advance, Change, Changes, NewEntry, SlotChange, StatusChange, UNDO_WAITS};
pub use next::{Next, Seen};
pub use words::{Action, Milestone, PurchaseStatus};

/// Cards of one purchase.
pub const SLOTS: std::ops::RangeInclusive<usize> = 2..=3;
/// The one currency of purchases.
pub const CURRENCY: Currency = Currency::BRL;
/// The least that one card may be charged, the usual least amount of an acquirer: BRL 1.00.
pub const PAYMENT_MIN: Amount = match Amount::new(100) {
    Some(amount) => amount,
    None => Amount::ZERO,
};
/// Authorizing or capturing without a result for so long is given up (`docs/interface/purchases.md#states`).
pub const RESULT_WITHIN: Duration = Duration::from_secs(15 * 60);
/// A reservation that is not captured for so long is released (`docs/interface/purchases.md#capture-and-void`).
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
    /// What stands for the buyer in answers to public keys, when one was given.
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// Texts and references, handed to each charge.
    pub references: References,
    /// The sum of its cards.
    pub amount: Amount,
    /// Whether it captures by itself once every card is reserved.
    pub capture: CaptureMode,
    /// Where it stands.
    pub phase: Phase,
    /// Its cards, in the order in which they are charged.
    pub slots: Vec<Slot>,
    /// The entry that marks that every card is reserved; later requests are noted on it.
    pub reserved: Option<Reserved>,
    /// How many entries its history has.
    pub entries: i64,
    /// Top-level members of the stored document that this release does not know; kept as they are.
    pub unknown_members: Map<String, Value>,
    /// Counts the changes; every write is guarded by it.
    pub version: i64,
    /// When it changed last; always grows.
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
    /// Its charge; written by the very batch that begins the charge, so that there is never a second one.
    pub charge_id: Option<ChargeId>,
    /// What the purchase has taken note of.
    pub noted: Noted,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_code: Option<DeclinedCode>,
}

/// What a purchase has taken note of about the charge of a card, so that the history tells it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noted {
    /// Not charged yet.
    Nothing,
    /// A charge was begun.
    Begun,
    /// The amount is reserved.
    Reserved,
    /// It was refused.
    Refused,
    /// What was taken is to be given back.
    RefundRequested,
    /// Its provider refused to give it back for so long that it is not asked any more.
    GivenUp,
    /// Nothing is held any more.
    Released,
}

/// Where a purchase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Phase {
    /// One card after the other is reserved.
    Authorizing {
        /// When that must have ended.
        until: Timestamp,
    },
    /// Every card is reserved, and nothing is under way.
    PreAuthorized {
        /// When it is released.
        until: Timestamp,
    },
    /// One card after the other is captured.
    Capturing {
        /// When that must have ended.
        until: Timestamp,
    },
    /// What is held is given back.
    Undoing(Undoing),
    /// Every card was charged.
    Paid,
    /// It ended without charging any card, or giving back was given up.
    Failed,
    /// It was undone.
    Cancelled,
}

/// Why something is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoCause {
    /// Not every card could be charged.
    Failure,
    /// The merchant asked to release what is reserved.
    VoidRequested,
    /// Nobody captured in time what is reserved.
    Expired,
    /// The merchant asked to give back what was taken.
    RefundRequested,
}

/// How giving back goes. It is tried again until it is confirmed, a bounded number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undoing {
    /// Why.
    pub cause: UndoCause,
    /// How often a provider refused.
    pub failures: usize,
    /// How often the outcome was not known; no reason to give up while somebody asks for it.
    #[serde(default)]
    pub looks: usize,
    /// When it is tried next.
    pub next_at: Timestamp,
    /// Whether the history already says that it did not succeed.
    pub is_troubled: bool,
}

/// The entry that marks that every card is reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Its place in the history.
    pub ordinal: i64,
    /// What was done at it.
    pub actions: Vec<Action>,
    /// When the reservation is released.
    pub until: Timestamp,
}

/// Why a capture or void of a purchase is refused (`docs/interface/purchases.md#capture-and-void`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationRefusal {
    /// It has ended.
    InvalidState,
    /// It captures by itself.
    IntentMismatch,
    /// Something is under way.
    InProgress,
}

impl Purchase {
    /// The word of the interface.
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

    /// Begins to capture.
    ///
    /// # Errors
    /// What [`OperationRefusal`] says.
    pub fn request_capture(&self, now: Timestamp) -> Result<Advance, OperationRefusal> {
        match (self.operation_possible(), self.capture) {
            (Err(OperationRefusal::InvalidState), _) => Err(OperationRefusal::InvalidState),
            (_, CaptureMode::Automatic) => Err(OperationRefusal::IntentMismatch),
            (Ok(Held::Reserved), CaptureMode::Manual) => Ok(self.apply(Change::CaptureRequested, now)),
            (Ok(Held::Taken), CaptureMode::Manual) => Err(OperationRefusal::InvalidState),
            (Err(refusal), CaptureMode::Manual) => Err(refusal),
        }
    }

    /// Begins to undo: releases what is reserved, or gives back what was taken. `seen` has an element for each card: what
    /// was given back before is no success of this wish.
    ///
    /// # Errors
    /// What [`OperationRefusal`] says.
    pub fn request_void(&self, seen: &[Seen], now: Timestamp) -> Result<Advance, OperationRefusal> {
        match self.operation_possible()? {
            Held::Reserved => Ok(self.apply(Change::VoidRequested, now)),
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

    /// Whether a single card of it may change alone (`docs/interface/purchases.md#single-cards`): once it is decided
    /// and nothing is given back any more.
    pub const fn is_at_rest(&self) -> bool {
        match self.phase {
            Phase::Paid | Phase::Failed | Phase::Cancelled => true,
            Phase::Authorizing { .. }
            | Phase::PreAuthorized { .. }
            | Phase::Capturing { .. }
            | Phase::Undoing(_) => false,
        }
    }

    /// What an operation would be about, when nothing is under way.
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
