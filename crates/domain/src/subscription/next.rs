//! What is due next, and the steps that a subscription takes by itself. Whatever was missed is worked off in the order
//! in which it fell due, one step after the other.

use super::draft::{Advance, Draft};
use super::{AttemptState, Cycle, CycleStatus, CycleTerms, Phase, Subscription, Trigger};
use crate::charge::Recurrence;
use crate::id::CycleId;
use crate::time::Timestamp;
use crate::utc_day;

/// What to do with a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Call [`Subscription::step`].
    Step,
    /// Charge this cycle: order what [`Subscription::order`] says.
    Charge(CycleId),
    /// Look again at this time; the outcome of an attempt may come before.
    Wait(Timestamp),
    /// Nothing happens by itself. The outcome of an attempt, or its merchant, moves it on.
    Rest,
}

/// What a new cycle is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewCycle {
    /// Its id.
    pub id: CycleId,
    /// Whether a jump of the sandbox's clock makes it.
    pub is_emulated: bool,
}

/// Something that falls due. At the same moment the first of these comes first: on the day of a cancellation
/// nothing is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Cancel,
    EndTrial,
    MakeCycle,
    Charge(u32, CycleId),
}

impl Subscription {
    /// What to do now.
    pub fn next(&self, cycles: &[Cycle], now: Timestamp) -> Next {
        match self.steps().chain(self.attempts_due(cycles)).min() {
            None => Next::Rest,
            Some((at, _)) if at > now => Next::Wait(at),
            Some((_, Due::Charge(_, cycle_id))) => Next::Charge(cycle_id),
            Some((_, Due::Cancel | Due::EndTrial | Due::MakeCycle)) => Next::Step,
        }
    }

    /// Takes the step that fell due first; `None` when none is due. A cycle that is made late has the terms of its due
    /// date, since a change must wait for it ([`Refusal::Behind`](super::Refusal::Behind)).
    pub fn step(&self, cycles: &[Cycle], new: NewCycle, now: Timestamp) -> Option<Advance> {
        let (_, due) = self.steps().filter(|(at, _)| *at <= now).min()?;
        let mut draft = Draft::of(self, cycles, now);
        match due {
            Due::Cancel => {
                draft.apply(Trigger::Cancel, None)?;
            }
            Due::EndTrial => {
                draft.apply(Trigger::TrialEnded, None)?;
            }
            Due::MakeCycle => {
                draft.cycles.push(self.new_cycle(new)?);
                draft.subscription.next_number += 1;
            }
            Due::Charge(..) => return None,
        }
        Some(draft.done())
    }

    /// Whether a step is due that must come before a change of its merchant.
    pub(super) fn is_behind(&self, now: Timestamp) -> bool {
        self.steps().any(|(at, _)| at <= now)
    }

    /// The first cycle that is billed after `now`; the one after the last when there is none. What was set in a pause to begin on the
    /// very day begins when it is resumed on that day.
    pub(super) fn first_ahead(&self, now: Timestamp) -> u32 {
        let today = utc_day::day_of(now);
        let is_today = self.begins_at_once.is_some_and(|at| utc_day::day_of(at) == today);
        let begins_with_resumption = self.phase == Phase::Paused && is_today;
        let is_past = |number: u32| self.bills_at(number).is_some_and(|at| at <= now);
        let is_missed = |number: &u32| {
            self.schedule.has(*number) && is_past(*number) && !(*number == 1 && begins_with_resumption)
        };
        let missed = (self.next_number..u32::MAX).take_while(is_missed).count();
        self.next_number.saturating_add(u32::try_from(missed).unwrap_or(u32::MAX))
    }

    /// The steps that it takes by itself, each with its time.
    fn steps(&self) -> impl Iterator<Item = (Timestamp, Due)> {
        let (is_trialing, is_charging, is_over) = match self.phase {
            Phase::Trialing => (true, false, false),
            Phase::Created | Phase::Active => (false, true, false),
            Phase::Paused | Phase::Unpaid { .. } => (false, false, false),
            Phase::Canceled | Phase::Expired => (false, false, true),
        };
        let cancellation = self.cancellation.as_ref().filter(|_| !is_over);
        let cancel = cancellation.map(|set| (utc_day::start_of(set.effective_on), Due::Cancel));
        let trial_end = self.trial_end.filter(|_| is_trialing);
        let end_trial = trial_end.map(|day| (utc_day::start_of(day), Due::EndTrial));
        let is_left = is_charging && self.schedule.has(self.next_number);
        let bills_at = self.bills_at(self.next_number).filter(|_| is_left);
        let make = bills_at.map(|at| (at, Due::MakeCycle));
        [cancel, end_trial, make].into_iter().flatten()
    }

    /// The attempts that fall due, each with its time. There are none while another attempt is under way.
    fn attempts_due<'a>(&'a self, cycles: &'a [Cycle]) -> impl Iterator<Item = (Timestamp, Due)> + 'a {
        let is_held = cycles.iter().any(|cycle| self.holds_others(cycle));
        let is_charged = move |cycle: &&Cycle| match self.phase {
            Phase::Created | Phase::Active => !is_held,
            Phase::Unpaid { cycle_id } => !is_held && cycle.id == cycle_id,
            Phase::Trialing | Phase::Paused | Phase::Canceled | Phase::Expired => false,
        };
        let waiting = cycles.iter().filter(|cycle| !cycle.has_open_attempt()).filter(is_charged);
        waiting.filter_map(|cycle| Some((cycle.next_attempt_at?, Due::Charge(cycle.number, cycle.id))))
    }

    /// Whether an attempt of this cycle keeps other cycles from being charged. One that nobody asks about any more does
    /// not, so that one lost answer does not end a subscription; unless it may be the first charge of the series, of
    /// which there is one.
    fn holds_others(&self, cycle: &Cycle) -> bool {
        cycle.attempts.iter().any(|attempt| match attempt.state {
            AttemptState::UnderWay => true,
            AttemptState::Unanswered => self.agreement.is_none() && attempt.recurrence == Recurrence::Initial,
            AttemptState::Approved
            | AttemptState::GivenBack
            | AttemptState::Declined { .. }
            | AttemptState::Impossible { .. } => false,
        })
    }

    fn new_cycle(&self, new: NewCycle) -> Option<Cycle> {
        Some(Cycle {
            id: new.id,
            number: self.next_number,
            due_on: self.schedule.due_on(self.next_number)?,
            status: CycleStatus::Scheduled,
            terms: CycleTerms {
                merchant_id: self.merchant_id,
                customer_id: self.customer_id,
                amount: self.amount,
                installments: self.payment.installments,
                split_rules: self.split_rules.clone(),
            },
            next_attempt_at: Some(self.bills_at(self.next_number)?),
            attempts: Vec::new(),
            is_emulated: new.is_emulated,
        })
    }
}
