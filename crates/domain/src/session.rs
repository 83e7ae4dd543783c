//! A session: an order that a buyer pays by a link or in a shop. This module holds its facts and says whether it can be
//! paid; [`change`] has what its merchant does with it, and [`payment`] what its charges make of it.

mod capacity;
mod card_wanted;
pub mod cards;
mod change;
pub mod payment;
pub mod sent;
mod terms;

use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::id::{ClientId, MerchantId, SessionId};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::time::Timestamp;
use crate::words::words;

pub use capacity::{Capacity, Tally};
pub use card_wanted::{CardGiven, CardWanted};
pub use cards::{Cards, DECLINES_MAX};
pub use change::{Advance, NewEntry, NotCancelable, Patch, PatchRefusal};
pub use terms::{Item, OfferedMethod, Terms};

words! {
    /// Where a session stands.
    SessionStatus {
        /// It can be paid, or could be if it were active.
        Created = "created",
        /// It was paid.
        Paid = "paid",
        /// Its merchant has canceled it.
        Canceled = "canceled",
        /// What was paid was given back.
        Voided = "voided",
    }
}

words! {
    /// Where a session stood at an entry of its history, or that it was switched off by itself.
    #[schema(as = SessionEntryStatus)]
    EntryStatus {
        /// [`SessionStatus::Created`].
        Created = "created",
        /// [`SessionStatus::Paid`].
        Paid = "paid",
        /// [`SessionStatus::Canceled`].
        Canceled = "canceled",
        /// [`SessionStatus::Voided`].
        Voided = "voided",
        /// Switched off by its due date or its limit.
        Disabled = "disabled",
    }
}

words! {
    /// What happened at an entry of the history of a session.
    SessionAction {
        /// The status changed.
        StatusChanged = "statusChanged",
        /// A buyer has paid.
        PaymentSucceeded = "paymentSucceeded",
        /// A buyer has instructions for a payment.
        PaymentPending = "paymentPending",
        /// A buyer did not pay in time.
        PaymentExpired = "paymentExpired",
        /// It was paid as often as it may be.
        ExpiredByMaxPayments = "sessionExpiredByMaxPayments",
        /// Its due date has passed.
        ExpiredByDueDate = "sessionExpiredByDueDate",
        /// Its merchant has switched it on or off, or changed its terms.
        IsActiveChanged = "isActiveChanged",
        /// Its merchant has changed how it is divided among sellers.
        SplitRulesChanged = "splitRulesChanged",
    }
}

words! {
    /// Whether a payment of a session can start.
    #[schema(as = SessionAvailability)]
    Availability {
        /// It can.
        Active = "active",
        /// It cannot now.
        Disabled = "disabled",
        /// It never will.
        Canceled = "canceled",
    }
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id; the time of creation is the id's own.
    pub id: SessionId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process its charges.
    pub merchant_id: MerchantId,
    /// Its status.
    pub status: SessionStatus,
    /// Whether it is switched on.
    pub is_active: bool,
    /// What a buyer pays.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// When it can be paid no longer.
    pub due_at: Option<Timestamp>,
    /// How often it can be paid.
    pub capacity: Capacity,
    /// Its payments.
    pub tally: Tally,
    /// The cards of its buyers.
    pub cards: Cards,
    /// How many customers its buyers have made with its key.
    pub customers: i64,
    /// What is sold, and on which terms.
    pub terms: Terms,
    /// The card that it is for: such a session takes no payment.
    pub card_wanted: Option<CardWanted>,
    /// Number of entries of its history.
    pub entries: i64,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// Why a payment cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPayable {
    /// It takes a card for a subscription, and no payment.
    WantsCard,
    /// It is paid, canceled, switched off or past its due date, or another buyer is paying.
    Disabled,
    /// It was paid as often as it may be, or buyers have instructions for the rest.
    LimitReached,
    /// Too many cards were refused.
    NoMoreCards,
    /// As many cards are being tried as may still be refused.
    CardsBeingTried,
    /// Buyers have as many instructions as may be open at once.
    TooManyOpen,
}

/// What a payment that is under way takes a place among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenPaymentKind {
    /// Cards that are being tried.
    Cards,
    /// Instructions that a buyer may follow hours or days later.
    Instructions,
    /// Wallets are paid, or refused, at once and by the person who holds the device.
    Unbounded,
}

impl OpenPaymentKind {
    /// Of payments by this method.
    pub const fn of(payment_type: PaymentType) -> Self {
        match payment_type {
            PaymentType::Credit | PaymentType::Debit | PaymentType::Voucher => Self::Cards,
            PaymentType::Pix
            | PaymentType::Boleto
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay => Self::Instructions,
            PaymentType::ApplePay | PaymentType::ClickToPay => Self::Unbounded,
        }
    }
}

impl Session {
    /// Whether a payment can start.
    pub fn availability(&self, now: Timestamp) -> Availability {
        match self.status {
            SessionStatus::Canceled | SessionStatus::Voided => Availability::Canceled,
            SessionStatus::Created if self.is_open(now) && !self.is_full() => Availability::Active,
            SessionStatus::Created | SessionStatus::Paid => Availability::Disabled,
        }
    }

    /// Whether its key may still make tokens, cards and customers: a payment can start, or one is under way.
    pub fn takes_buyers(&self, now: Timestamp) -> bool {
        self.status == SessionStatus::Created && self.is_open(now)
    }

    /// Whether its buyers may make one more customer with its key.
    pub const fn takes_customers(&self) -> bool {
        self.customers < self.capacity.customers_max(self.tally.paid)
    }

    /// Whether it is there to be paid at all.
    ///
    /// # Errors
    /// [`NotPayable::WantsCard`].
    pub const fn must_take_payments(&self) -> Result<(), NotPayable> {
        match self.card_wanted {
            Some(_) => Err(NotPayable::WantsCard),
            None => Ok(()),
        }
    }

    /// Whether a payment by this method may start.
    ///
    /// # Errors
    /// What [`NotPayable`] says.
    pub fn must_take(&self, payment_type: PaymentType, now: Timestamp) -> Result<(), NotPayable> {
        self.must_take_payments()?;
        if !self.takes_buyers(now) {
            return Err(match self.status == SessionStatus::Created && self.is_over_limit() {
                true => NotPayable::LimitReached,
                false => NotPayable::Disabled,
            });
        }
        let place = OpenPaymentKind::of(payment_type);
        if place == OpenPaymentKind::Cards && !self.takes_cards() {
            return Err(NotPayable::NoMoreCards);
        }
        let taken = self.tally.paid + self.tally.authorizing;
        let open = self.tally.authorizing + self.tally.pending;
        match self.capacity {
            Capacity::One if taken > 0 => Err(NotPayable::Disabled),
            Capacity::Many(1) if taken > 0 => Err(NotPayable::LimitReached),
            Capacity::Many(limit) if limit > 1 && taken + self.tally.pending >= i64::from(limit) => {
                Err(NotPayable::LimitReached)
            }
            _ if place == OpenPaymentKind::Instructions && open >= self.capacity.open_max() => {
                Err(NotPayable::TooManyOpen)
            }
            _ if place == OpenPaymentKind::Cards && !self.has_place_for_card() => {
                Err(NotPayable::CardsBeingTried)
            }
            Capacity::One | Capacity::Many(_) | Capacity::Unlimited => Ok(()),
        }
    }

    /// The offer of a method.
    pub fn offer(&self, payment_type: PaymentType) -> Option<&OfferedMethod> {
        self.terms.methods.iter().find(|method| method.payment_type == payment_type)
    }

    /// Whether Pix or boleto are among its methods.
    pub fn offers_pix_or_boleto(&self) -> bool {
        self.terms.offer_pix_or_boleto()
    }

    fn is_open(&self, now: Timestamp) -> bool {
        self.is_active && self.due_at.is_none_or(|due_at| due_at > now)
    }

    /// Whether it was paid as often as a session that can be paid several times may be.
    fn is_over_limit(&self) -> bool {
        self.capacity != Capacity::One && self.capacity.limit().is_some_and(|limit| self.tally.paid >= limit)
    }

    /// Whether payments and instructions fill it.
    fn is_full(&self) -> bool {
        let pending = if self.capacity.is_single() { 0 } else { self.tally.pending };
        self.capacity.limit().is_some_and(|limit| self.tally.paid + pending >= limit)
    }
}
