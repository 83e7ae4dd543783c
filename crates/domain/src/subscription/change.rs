//! What a merchant does with a subscription: create, pause, resume, cancel.

use std::num::NonZeroU32;

use jiff::civil::Date;
use serde_json::Map;

use super::draft::{Advance, Draft};
use super::{
    Cycle, Interval, Item, Payment, Phase, Schedule, Subscription, SubscriptionStatus, Trigger, item,
};
use crate::id::{ClientId, CustomerId, MerchantId, SubscriptionId};
use crate::split::SplitRule;
use crate::time::Timestamp;
use crate::utc_day;
use crate::webhook::EventName;

/// A subscription to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSubscription {
    /// Its id.
    pub id: SubscriptionId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process its cycles.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: CustomerId,
    /// What it is called.
    pub name: String,
    /// The merchant's own reference.
    pub reference_key: Option<String>,
    /// What each cycle charges for; at least one.
    pub items: Vec<Item>,
    /// The time between due dates.
    pub interval: Interval,
    /// The number of cycles; `None` for endless.
    pub cycles: Option<NonZeroU32>,
    /// The first due date; `None` for today or the end of the trial.
    pub start_at: Option<Date>,
    /// The first day after the trial.
    pub trial_end: Option<Date>,
    /// How it is paid.
    pub payment: Payment,
    /// How its cycles are divided among sellers.
    pub split_rules: Vec<SplitRule>,
    /// Whether it is made outside of the sandbox.
    pub is_live: bool,
}

/// Why something is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not in this status: a 422.
    InvalidState(SubscriptionStatus),
    /// There is a cycle already, so that the first due date stays: a 422.
    AlreadyStarted,
    /// Nothing is wrong: a step is due that comes first. Whoever calls takes it ([`Subscription::step`]) and tries
    /// again.
    Behind,
    /// The first due date has passed: a 400.
    StartInThePast,
    /// The trial does not end after today: a 400.
    TrialNotAhead,
    /// The day of the cancellation has passed: a 400.
    CancellationInThePast,
    /// There are more cycles already, so many: a 400.
    FewerCyclesThanMade(u32),
    /// The items cost more than an amount can be: a 400.
    AmountTooHigh,
}

impl Refusal {
    /// `businessCode` of the answer; `None` for a refusal that is about a field of the request.
    pub const fn business_code(self) -> Option<&'static str> {
        match self {
            Self::InvalidState(_) | Self::AlreadyStarted => Some("subscription_invalid_state"),
            Self::Behind
            | Self::StartInThePast
            | Self::TrialNotAhead
            | Self::CancellationInThePast
            | Self::FewerCyclesThanMade(_)
            | Self::AmountTooHigh => None,
        }
    }
}

/// A step is due that comes before the failure of a cycle: a cycle that fell due before a subscription became unpaid is
/// not skipped. Whoever calls takes it ([`Subscription::step`]) and tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind;

impl Subscription {
    /// A new subscription, with or without a trial. Billing begins when the trial has ended, also when `start_at` is
    /// before.
    ///
    /// # Errors
    /// [`Refusal::StartInThePast`], [`Refusal::TrialNotAhead`] or [`Refusal::AmountTooHigh`].
    pub fn create(new: NewSubscription, now: Timestamp) -> Result<Advance, Refusal> {
        let today = utc_day::day_of(now);
        if new.start_at.is_some_and(|start_at| start_at < today) {
            return Err(Refusal::StartInThePast);
        }
        if new.trial_end.is_some_and(|trial_end| trial_end <= today) {
            return Err(Refusal::TrialNotAhead);
        }
        let amount = item::sum(&new.items).ok_or(Refusal::AmountTooHigh)?;
        let start_at = start_after_trial(new.start_at.unwrap_or(today), new.trial_end);
        let (phase, event) = match new.trial_end {
            None => (Phase::Created, EventName::SubscriptionCreated),
            Some(_) => (Phase::Trialing, EventName::SubscriptionTrialStarted),
        };
        let subscription = Self {
            id: new.id,
            client_id: new.client_id,
            merchant_id: new.merchant_id,
            customer_id: new.customer_id,
            name: new.name,
            reference_key: new.reference_key,
            phase,
            items: new.items,
            amount,
            payment: new.payment,
            split_rules: new.split_rules,
            is_live: new.is_live,
            schedule: Schedule::new(start_at, new.interval, new.cycles),
            begins_at_once: (start_at == today).then_some(now),
            trial_end: new.trial_end,
            next_number: 1,
            cancellation: None,
            is_activated: false,
            agreement: None,
            unknown_members: Map::new(),
            version: 0,
            updated_at: Timestamp::EPOCH,
        };
        let mut draft = Draft::of(&subscription, &[], now);
        draft.announce(event, None, None);
        Ok(draft.done())
    }

    /// Pauses it. Cycles that fall due while it is paused are skipped; attempts of earlier ones wait. What is under way
    /// goes on, and its outcome counts.
    ///
    /// # Errors
    /// [`Refusal::InvalidState`] or [`Refusal::Behind`].
    pub fn pause(&self, cycles: &[Cycle], now: Timestamp) -> Result<Advance, Refusal> {
        let mut draft = self.requested(cycles, now)?;
        draft.request(Trigger::Pause)?;
        Ok(draft.done())
    }

    /// Resumes it. A paused one goes on with the first cycle that is billed after now, and with the attempts that have
    /// waited. Of an unpaid one the failed cycle is tried once more, at once.
    ///
    /// # Errors
    /// [`Refusal::InvalidState`] or [`Refusal::Behind`].
    pub fn resume(&self, cycles: &[Cycle], now: Timestamp) -> Result<Advance, Refusal> {
        let mut draft = self.requested(cycles, now)?;
        draft.request(Trigger::Resume(self.activation()))?;
        match self.phase {
            Phase::Unpaid { .. } => draft.try_failed_once_more(now),
            Phase::Paused => {
                draft.subscription.next_number = self.first_ahead(now);
                if draft.subscription.next_number == 1 && self.begins_at_once.is_some() {
                    draft.subscription.begins_at_once = Some(now);
                }
            }
            Phase::Trialing | Phase::Created | Phase::Active | Phase::Canceled | Phase::Expired => {}
        }
        Ok(draft.done())
    }

    /// Ends it now. The outcome of an attempt that is under way still counts: nothing is given back by itself.
    ///
    /// # Errors
    /// [`Refusal::InvalidState`] or [`Refusal::Behind`].
    pub fn cancel(&self, cycles: &[Cycle], now: Timestamp) -> Result<Advance, Refusal> {
        let mut draft = self.requested(cycles, now)?;
        draft.request(Trigger::Cancel)?;
        Ok(draft.done())
    }

    pub(super) fn requested<'a>(&self, cycles: &'a [Cycle], now: Timestamp) -> Result<Draft<'a>, Refusal> {
        if self.is_behind(now) { Err(Refusal::Behind) } else { Ok(Draft::of(self, cycles, now)) }
    }
}

/// The first due date: not before the trial has ended.
pub(super) fn start_after_trial(start_at: Date, trial_end: Option<Date>) -> Date {
    trial_end.map_or(start_at, |trial_end| start_at.max(trial_end))
}
