//! A stored card: what may be shown of it and what may become of it (`docs/interface/tokens-and-cards.md#card-states`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Brand, CardNumber, Expiry};
use crate::charge::later_of;
use crate::charge::words::words;
use crate::id::{CardId, ClientId, CustomerId};
use crate::time::Timestamp;

words! {
    /// `status` of a card, as the interface shows it.
    CardStatus {
        /// Not validated yet, usable meanwhile.
        Pending = "pending",
        /// A check or a charge has succeeded.
        Active = "active",
        /// A check or the first charge was refused: must not be used.
        Failed = "failed",
    }
}

/// Whether a card may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardState {
    /// A provider is being asked; the card is not shown until it has answered.
    Verifying,
    /// Not validated yet, usable meanwhile.
    Pending,
    /// A check or a charge has succeeded.
    Active,
    /// A check or the first charge was refused: must not be used.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Reason that the interface shows for a card that was stored without a check.
pub const NOT_CHECKED: &str = "cvv check was sent as false";

impl CardState {
    /// The word of the interface; `verifying` is never shown.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Verifying => "verifying",
            Self::Pending => CardStatus::Pending.word(),
            Self::Active => CardStatus::Active.word(),
            Self::Failed { .. } => CardStatus::Failed.word(),
        }
    }
}

/// What may be read from a card without opening its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardFace {
    /// The brand; absent for a number of no known range.
    pub brand: Option<Brand>,
    /// The first six digits.
    pub first6digits: String,
    /// The last four digits.
    pub last4digits: String,
    /// The month in which it ends.
    pub expiry: Expiry,
}

impl CardFace {
    /// Of a number and its expiry.
    pub fn of(number: &CardNumber, expiry: Expiry) -> Self {
        Self {
            brand: number.brand(),
            first6digits: number.first6().to_owned(),
            last4digits: number.last4().to_owned(),
            expiry,
        }
    }
}

/// A stored card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its id; the time of creation is the id's own.
    pub id: CardId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The buyer it is linked to, and since when.
    pub link: Option<CardLink>,
    /// The same for the same number and expiry inside a client.
    pub fingerprint: Uuid,
    /// What may be shown of it.
    pub face: CardFace,
    /// Whether it may be used.
    pub state: CardState,
    /// Whether a check has confirmed its security code.
    pub cvv_checked: bool,
    /// The idempotency claim that waits for the check, in hexadecimal; gone once it has its answer.
    pub claim: Option<String>,
    /// Top-level members of the stored document that this release does not know; kept as they are.
    pub unknown_members: Map<String, Value>,
    /// Counts the changes; every write is guarded by it.
    pub version: i64,
    /// When it changed last; always grows.
    pub updated_at: Timestamp,
}

/// What the end of a charge says about its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeVerdict<'a> {
    /// A provider took it.
    Confirmed,
    /// A provider refused it, for this reason.
    Refused(&'a str),
    /// No provider said anything.
    Silent,
}

/// A card's buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLink {
    /// The buyer.
    pub customer_id: CustomerId,
    /// Since when; the latest link is the buyer's default card.
    pub linked_at: Timestamp,
}

/// What a link would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linked {
    /// Nothing: it is linked to this buyer already.
    Already,
    /// The card with its link.
    Now(Box<Card>),
    /// It belongs to another buyer.
    ToAnother,
}

impl Card {
    /// A provider, asked with a zero amount or with a first charge, took the card.
    pub fn confirm(&self, now: Timestamp) -> Self {
        Self { state: CardState::Active, cvv_checked: true, ..self.changed(now) }
    }

    /// A provider, asked with a zero amount or with a first charge, refused the card.
    pub fn refuse(&self, reason: &str, now: Timestamp) -> Self {
        Self { state: CardState::Failed { reason: reason.to_owned() }, ..self.changed(now) }
    }

    /// What the outcome of a charge does to the card: only a card that was never confirmed changes by it.
    pub fn after_charge(&self, verdict: ChargeVerdict<'_>, now: Timestamp) -> Option<Self> {
        match (&self.state, verdict) {
            (CardState::Pending, ChargeVerdict::Confirmed) => Some(self.confirm(now)),
            (CardState::Pending, ChargeVerdict::Refused(reason)) => Some(self.refuse(reason, now)),
            (CardState::Pending, ChargeVerdict::Silent)
            | (CardState::Verifying | CardState::Active | CardState::Failed { .. }, _) => None,
        }
    }

    /// Links the card to a buyer. A card belongs to one buyer.
    pub fn link(&self, customer_id: CustomerId, now: Timestamp) -> Linked {
        match self.link {
            Some(link) if link.customer_id == customer_id => Linked::Already,
            Some(_) => Linked::ToAnother,
            None => Linked::Now(Box::new(Self {
                link: Some(CardLink { customer_id, linked_at: now }),
                ..self.changed(now)
            })),
        }
    }

    fn changed(&self, now: Timestamp) -> Self {
        let updated_at = later_of(now, self.updated_at);
        Self { version: self.version + 1, updated_at, claim: None, ..self.clone() }
    }
}
