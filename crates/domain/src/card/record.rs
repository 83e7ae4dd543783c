//! A stored card: its displayable data and its state transitions (`docs/interface/tokens-and-cards.md#card-states`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Brand, CardNumber, Expiry};
use crate::id::{CardId, ClientId, CustomerId};
use crate::time::{Timestamp, later_of};
use crate::words::words;

words! {
    /// Whether a card may be used.
    CardStatus {
        /// Not validated yet, usable meanwhile.
        Pending = "pending",
        /// A check or a charge has succeeded.
        Active = "active",
        /// A check was refused, or a charge with a final reason: must not be used.
        Failed = "failed",
    }
}

/// Whether a card may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardState {
    /// A provider is checking the card; it is not shown until the provider has answered.
    Verifying,
    /// Not validated yet, usable meanwhile.
    Pending(Unchecked),
    /// A check or a charge has succeeded.
    Active,
    /// A check was refused, or a charge with a final reason: must not be used.
    Failed {
        /// Why.
        reason: String,
    },
}

words! {
    /// Why a card is stored without a check: the reason that the interface shows.
    Unchecked {
        /// No check was asked for.
        NotAskedFor = "cvv check was sent as false",
        /// A check was asked for, and no merchant named whose provider could do it.
        WithoutMerchant = "cvv check was sent without merchantId",
    }
}

impl CardState {
    /// The state on the wire; `verifying` is never shown.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Verifying => "verifying",
            Self::Pending(_) => CardStatus::Pending.word(),
            Self::Active => CardStatus::Active.word(),
            Self::Failed { .. } => CardStatus::Failed.word(),
        }
    }
}

/// The data of a card that can be shown without opening its number.
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
    /// Takes the displayable data from a number and its expiry.
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
    /// Equal for the same number and expiry within an account.
    pub fingerprint: Uuid,
    /// The displayable data.
    pub face: CardFace,
    /// Whether it may be used.
    pub state: CardState,
    /// Whether a provider has approved a check or a charge with its security code.
    pub cvv_checked: bool,
    /// The card network's id of the payment with which the cardholder agreed to later ones.
    pub network_transaction_id: Option<String>,
    /// The idempotency claim that waits for the check, in hexadecimal; removed once it has its answer.
    pub claim: Option<String>,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// What a charge's outcome says about its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeVerdict<'a> {
    /// A provider approved it.
    Confirmed(SecurityCodeSent),
    /// A provider refused the card for ever, with this reason.
    Refused(&'a str),
    /// No provider answered, or the refusal is not final for the card.
    Silent,
}

/// Whether a provider was sent the security code of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityCodeSent {
    /// It was.
    Yes,
    /// It was not, or that is not known any more.
    No,
}

/// A card's buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLink {
    /// The buyer.
    pub customer_id: CustomerId,
    /// When the card was linked; the latest link is the buyer's default card.
    pub linked_at: Timestamp,
}

/// The result of linking a card to a buyer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linked {
    /// The card is already linked to this buyer: nothing changes.
    Already,
    /// The card with its new link.
    Now(Box<Card>),
    /// The card belongs to another buyer.
    ToAnother,
}

impl Card {
    /// Whether answers show it: a card that is being checked is no card yet.
    pub const fn is_shown(&self) -> bool {
        !matches!(self.state, CardState::Verifying)
    }

    /// A provider approved a zero-amount check or a charge: the card becomes active.
    pub fn confirm(&self, code: SecurityCodeSent, now: Timestamp) -> Self {
        let cvv_checked = self.cvv_checked || code == SecurityCodeSent::Yes;
        Self { state: CardState::Active, cvv_checked, ..self.changed(now) }
    }

    /// A provider refused a zero-amount check, or a charge for ever: the card fails.
    pub fn refuse(&self, reason: &str, now: Timestamp) -> Self {
        Self { state: CardState::Failed { reason: reason.to_owned() }, ..self.changed(now) }
    }

    /// Applies the outcome of a charge. Only a card that was never confirmed changes its state; the first approved code
    /// is noted on an active one too.
    pub fn after_charge(&self, verdict: ChargeVerdict<'_>, now: Timestamp) -> Option<Self> {
        match (&self.state, verdict) {
            (CardState::Pending(_), ChargeVerdict::Confirmed(code)) => Some(self.confirm(code, now)),
            (CardState::Active, ChargeVerdict::Confirmed(code @ SecurityCodeSent::Yes))
                if !self.cvv_checked =>
            {
                Some(self.confirm(code, now))
            }
            (CardState::Pending(_), ChargeVerdict::Refused(reason)) => Some(self.refuse(reason, now)),
            (CardState::Pending(_), ChargeVerdict::Silent)
            | (CardState::Verifying | CardState::Active | CardState::Failed { .. }, _) => None,
        }
    }

    /// Links the card to a buyer. A card belongs to at most one buyer.
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
