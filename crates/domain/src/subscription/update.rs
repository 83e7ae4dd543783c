//! Changes the terms of a subscription, from the next cycle on.

use std::num::NonZeroU32;

use jiff::civil::Date;

use super::change::start_after_trial;
use super::draft::{Advance, Draft};
use super::{Cancellation, Cycle, Interval, Item, Phase, Refusal, Subscription, Trigger, item};
use crate::id::{CardId, MerchantId};
use crate::split::SplitRule;
use crate::time::Timestamp;
use crate::utc_day;

/// What a merchant changes; `None` for what stays. The trial cannot be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// What it is called.
    pub name: Option<String>,
    /// The merchant whose providers process the next cycles.
    pub merchant_id: Option<MerchantId>,
    /// The merchant's own reference, or none.
    pub reference_key: Option<Option<String>>,
    /// What the next cycles charge for.
    pub items: Option<Vec<Item>>,
    /// The time between due dates, counted from the next one, which stays.
    pub interval: Option<Interval>,
    /// The number of cycles, or endless.
    pub cycles: Option<Option<NonZeroU32>>,
    /// The first due date; only before the first cycle. Today: the first cycle is charged at once.
    pub start_at: Option<Date>,
    /// How the next cycles are divided among sellers; empty for not.
    pub split_rules: Option<Vec<SplitRule>>,
    /// The card of the next attempt, of a cycle in progress too. It lets an unpaid subscription try its failed cycle
    /// once more, at once.
    pub card_id: Option<CardId>,
    /// Number of installments of the next cycles.
    pub installments: Option<u8>,
    /// Its end.
    pub cancellation: Option<CancellationChange>,
}

/// A change of the end that was set for later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancellationChange {
    /// It ends later; nothing is charged on that day.
    Set {
        /// The day; `None` for the end of the trial or, without one, for the next due date.
        on: Option<Date>,
        /// Why.
        reason: Option<String>,
    },
    /// It goes on.
    Undo,
}

impl Subscription {
    /// Its merchant changes it; `None` when nothing changes. A cycle that is made keeps its terms, but for the card.
    ///
    /// # Errors
    /// What [`Refusal`] says, except [`Refusal::TrialNotAhead`].
    pub fn update(
        &self,
        cycles: &[Cycle],
        update: &Update,
        now: Timestamp,
    ) -> Result<Option<Advance>, Refusal> {
        let mut draft = self.requested(cycles, now)?;
        draft.request(Trigger::Update)?;
        draft.change_schedule(update, now)?;
        draft.change_terms(update)?;
        draft.change_cancellation(update.cancellation.as_ref(), now)?;
        let Self { version, updated_at, .. } = draft.subscription;
        let is_changed = Self { version, updated_at, ..self.clone() } != draft.subscription;
        if !is_changed {
            return Ok(None);
        }
        if draft.subscription.payment.card_id != self.payment.card_id {
            draft.try_failed_once_more(now);
        }
        Ok(Some(draft.done()))
    }

    /// When it ends if nothing more is to be charged: at the end of the trial, or on the next due date. After the last
    /// cycle that is when the next one would be due.
    fn end_of_period(&self, now: Timestamp) -> Date {
        let trial_end = self.trial_end.filter(|_| self.phase == Phase::Trialing);
        let next = || self.schedule.due_on(self.first_ahead(now));
        trial_end.or_else(next).unwrap_or(Date::MAX)
    }
}

impl Draft<'_> {
    fn change_schedule(&mut self, update: &Update, now: Timestamp) -> Result<(), Refusal> {
        let subscription = &mut self.subscription;
        let (made, today) = (subscription.next_number - 1, utc_day::day_of(now));
        let start_at = update.start_at.map(|start_at| start_after_trial(start_at, subscription.trial_end));
        // Also where it was today all along: today, it begins at once.
        let is_brought_forward =
            |start_at: Date| made == 0 && start_at == today && subscription.begins_at_once.is_none();
        let is_new =
            |start_at: &Date| *start_at != subscription.schedule.start_at() || is_brought_forward(*start_at);
        if let Some(start_at) = start_at.filter(is_new) {
            if made > 0 {
                return Err(Refusal::AlreadyStarted);
            }
            if start_at < today {
                return Err(Refusal::StartInThePast);
            }
            subscription.schedule = subscription.schedule.with_start(start_at);
            subscription.begins_at_once = (start_at == today).then_some(now);
        }
        if let Some(interval) =
            update.interval.filter(|interval| *interval != subscription.schedule.interval())
        {
            // What was missed so far was missed by the old interval.
            subscription.next_number = subscription.first_ahead(now);
            subscription.schedule = subscription.schedule.with_interval(interval, subscription.next_number);
        }
        if let Some(cycles) = update.cycles {
            if cycles.is_some_and(|cycles| cycles.get() < made) {
                return Err(Refusal::FewerCyclesThanMade(made));
            }
            let was_over = !subscription.schedule.has(subscription.next_number);
            subscription.schedule = subscription.schedule.with_cycles(cycles);
            if was_over {
                // What had no cycles so far is not billed later.
                subscription.next_number = subscription.first_ahead(now);
            }
        }
        Ok(())
    }

    fn change_terms(&mut self, update: &Update) -> Result<(), Refusal> {
        let subscription = &mut self.subscription;
        if let Some(items) = &update.items {
            subscription.amount = item::sum(items).ok_or(Refusal::AmountTooHigh)?;
        }
        replace(&mut subscription.items, update.items.as_ref());
        replace(&mut subscription.name, update.name.as_ref());
        replace(&mut subscription.merchant_id, update.merchant_id.as_ref());
        replace(&mut subscription.reference_key, update.reference_key.as_ref());
        replace(&mut subscription.split_rules, update.split_rules.as_ref());
        replace(&mut subscription.payment.card_id, update.card_id.as_ref());
        replace(&mut subscription.payment.installments, update.installments.as_ref());
        Ok(())
    }

    /// Sets or takes back the end; one at the end of the period follows a schedule that changes.
    fn change_cancellation(
        &mut self,
        change: Option<&CancellationChange>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let end_of_period = self.subscription.end_of_period(now);
        let set = &mut self.subscription.cancellation;
        match change {
            None => {
                if let Some(kept) = set.as_mut().filter(|kept| kept.requested_on.is_none()) {
                    kept.effective_on = end_of_period;
                }
            }
            Some(CancellationChange::Undo) => *set = None,
            Some(CancellationChange::Set { on, reason }) => {
                if on.is_some_and(|on| on < utc_day::day_of(now)) {
                    return Err(Refusal::CancellationInThePast);
                }
                let effective_on = on.unwrap_or(end_of_period);
                *set = Some(Cancellation { requested_on: *on, effective_on, reason: reason.clone() });
            }
        }
        Ok(())
    }
}

fn replace<T: Clone>(kept: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        new.clone_into(kept);
    }
}
