//! A subscription: what a customer is charged at each due date. This module holds its facts; [`schedule`] has the
//! calendar, [`transition`] the table of states, [`Subscription::next`] what is due, [`change`] what a merchant does
//! with it, and [`attempt`] what comes of its charges.
//!
//! Functions that decide take the cycles too: every one that [is open](Cycle::is_open), the failed one of an unpaid
//! subscription, and the one that an outcome is about. A write of what they return checks the version of the
//! subscription, so that two nodes never begin the same attempt.

mod attempt;
mod change;
mod cycle;
pub mod data;
mod draft;
mod item;
mod next;
mod preview;
mod retries;
mod schedule;
mod transition;
mod update;
mod words;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::id::{CardId, ChargeId, ClientId, CustomerId, CycleId, MerchantId, SubscriptionId};
use crate::money::Amount;
use crate::split::SplitRule;
use crate::time::Timestamp;

pub use attempt::{BegunAttempt, Made, Order, Outcome, Repair};
pub use change::{Behind, NewSubscription, Refusal};
pub use cycle::{Attempt, AttemptState, Cycle, CycleTerms};
pub use data::{SubscriptionChanges, SubscriptionData, SubscriptionSettingsChanges};
pub use draft::{Advance, Announcement};
pub use item::{Item, sum};
pub use next::{NewCycle, Next};
pub use preview::Upcoming;
pub use retries::{
    AfterRetries, BillingRules, PolicyRefusal, RULES_MAX, RetryPolicy, STATEMENT_DESCRIPTOR_CHARS_MAX,
    SubscriptionSettings, WINDOW_DAYS_MAX, is_tried_again,
};
pub use schedule::{Schedule, billed_at};
pub use transition::{Activation, Transition, Trigger};
pub use update::{CancellationChange, Update};
pub use words::{AttemptStatus, CycleStatus, Interval, ItemRisk, SubscriptionStatus};

/// The only currency of subscriptions.
pub const CURRENCY: Currency = Currency::BRL;
/// Most characters of a name.
pub const NAME_CHARS_MAX: usize = 100;
/// Most installments of a cycle.
pub const INSTALLMENTS_MAX: u8 = 12;

/// A subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Its id; the time of creation is the id's own.
    pub id: SubscriptionId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process its next cycles.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: CustomerId,
    /// What it is called, 1 to [`NAME_CHARS_MAX`] characters.
    pub name: String,
    /// The merchant's own reference; not unique.
    pub reference_key: Option<String>,
    /// Its state.
    pub phase: Phase,
    /// What the next cycles charge for.
    pub items: Vec<Item>,
    /// The sum of the items.
    pub amount: Amount,
    /// How it is paid.
    pub payment: Payment,
    /// How the next cycles are divided among sellers.
    pub split_rules: Vec<SplitRule>,
    /// Whether it was made outside of the sandbox.
    pub is_live: bool,
    /// When it falls due.
    pub schedule: Schedule,
    /// When it was set to begin on the very day: cycle 1 is charged at once, not at the time of billing.
    pub begins_at_once: Option<Timestamp>,
    /// The first day after the trial.
    pub trial_end: Option<Date>,
    /// The number of the next cycle to make.
    pub next_number: u32,
    /// When its merchant wants it to end.
    pub cancellation: Option<Cancellation>,
    /// Whether a cycle was ever paid, also if its provider has taken the payment back since.
    pub is_activated: bool,
    /// The first approved charge of the card in use; `None` before the series has begun.
    pub agreement: Option<Agreement>,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The state of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Phase {
    /// [`SubscriptionStatus::Trialing`].
    Trialing,
    /// [`SubscriptionStatus::Created`].
    Created,
    /// [`SubscriptionStatus::Active`].
    Active,
    /// [`SubscriptionStatus::Paused`].
    Paused,
    /// [`SubscriptionStatus::Unpaid`].
    #[serde(rename_all = "camelCase")]
    Unpaid {
        /// The cycle that was not paid.
        cycle_id: CycleId,
    },
    /// [`SubscriptionStatus::Canceled`].
    Canceled,
    /// [`SubscriptionStatus::Expired`].
    Expired,
}

/// How a subscription is paid: by credit card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The stored card of the next attempt.
    pub card_id: CardId,
    /// Number of installments of the next cycles, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
}

/// An end that was set for later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// The day that the merchant has named; `None` for the end of the period.
    pub requested_on: Option<Date>,
    /// The day on which it ends; nothing is charged on it.
    pub effective_on: Date,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The charge to which later charges of the same card refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agreement {
    /// The charge.
    pub charge_id: ChargeId,
    /// Its card; `None` once its provider has taken the payment back, so that it is not referred to: the next approved charge takes its
    /// place.
    pub card_id: Option<CardId>,
}

impl Subscription {
    /// The subscription without what its merchant says in it. Prices, the reference and its state stay.
    #[must_use]
    pub fn without_free_text(&self) -> Self {
        Self {
            name: String::new(),
            items: self.items.iter().map(Item::without_free_text).collect(),
            cancellation: self.cancellation.clone().map(|set| Cancellation { reason: None, ..set }),
            ..self.clone()
        }
    }

    /// `status` on the wire.
    pub const fn status(&self) -> SubscriptionStatus {
        match self.phase {
            Phase::Trialing => SubscriptionStatus::Trialing,
            Phase::Created => SubscriptionStatus::Created,
            Phase::Active => SubscriptionStatus::Active,
            Phase::Paused => SubscriptionStatus::Paused,
            Phase::Unpaid { .. } => SubscriptionStatus::Unpaid,
            Phase::Canceled => SubscriptionStatus::Canceled,
            Phase::Expired => SubscriptionStatus::Expired,
        }
    }

    /// The cycle that was not paid, of an unpaid subscription.
    pub const fn unpaid_cycle(&self) -> Option<CycleId> {
        match self.phase {
            Phase::Unpaid { cycle_id } => Some(cycle_id),
            Phase::Trialing
            | Phase::Created
            | Phase::Active
            | Phase::Paused
            | Phase::Canceled
            | Phase::Expired => None,
        }
    }

    /// Whether a cycle was ever paid.
    pub const fn activation(&self) -> Activation {
        if self.is_activated { Activation::Done } else { Activation::Awaited }
    }

    /// When the cycle of this number is billed: at [`schedule::billed_at`] of its due date, or at once.
    pub fn bills_at(&self, number: u32) -> Option<Timestamp> {
        let at_once = self.begins_at_once.filter(|_| number == 1);
        at_once.or_else(|| Some(schedule::billed_at(self.id, self.schedule.due_on(number)?)))
    }
}
