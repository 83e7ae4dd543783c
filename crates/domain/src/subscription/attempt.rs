//! An attempt to charge a cycle: what is ordered, and what its outcome makes of the cycle and of the subscription.
//!
//! An outcome counts whatever its merchant has done meanwhile. Paid is paid, also when the subscription was paused or
//! canceled, until the provider takes its word back. A refusal that comes after a pause waits for the resumption, and after a
//! cancellation it ends the cycle.

use jiff::ToSpan;

use super::change::Behind;
use super::draft::{Advance, Draft};
use super::{
    Agreement, Attempt, AttemptState, BillingRules, Cycle, CycleStatus, CycleTerms, Next, Phase,
    Subscription, Trigger, is_tried_again, schedule,
};
use crate::charge::Recurrence;
use crate::decline::{Decline, DeclinedCode};
use crate::id::{CardId, ChargeId, CycleId, Id, of};
use crate::time::Timestamp;
use crate::utc_day;
use crate::webhook::EventName;

/// A charge to order. It is captured at once, in [`CURRENCY`](super::CURRENCY).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The cycle.
    pub cycle_id: CycleId,
    /// The number of the attempt.
    pub attempt: u32,
    /// Its idempotency key.
    pub key: String,
    /// Merchant, buyer, amount, installments and split.
    pub terms: CycleTerms,
    /// The card.
    pub card_id: CardId,
    /// What it says of the series.
    pub recurrence: Recurrence,
    /// The first charge of the same card, whose network transaction id goes with it.
    pub follows: Option<ChargeId>,
}

/// An attempt that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunAttempt {
    /// Its id.
    pub id: Id<of::CycleAttempt>,
    /// What was made of its order.
    pub made: Made,
}

/// What was made of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// This charge, whose intent is in the same batch.
    Charge(ChargeId),
    /// No charge: the customer, the merchant or the card is gone.
    Nothing {
        /// `errorCode` of the event, such as 404.
        error_code: u16,
        /// Whether the same may be tried again.
        repair: Repair,
    },
}

/// What lets a charge be made that could not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The merchant may repair what is missing: the schedule tries again.
    Possible,
    /// The card has failed for good.
    ByAnotherCard,
}

/// What came of the charge of an attempt. While it is unknown there is no outcome, and nothing is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was approved.
    Approved,
    /// No provider approved it, or the one that did has taken its word back; the last refusal.
    Declined(Box<Decline>),
    /// The merchant has canceled it before it was taken.
    Canceled,
    /// It is unknown, and nobody asks the provider any more.
    Unanswered,
}

impl Subscription {
    /// What the next attempt of a cycle orders.
    pub fn order(&self, cycle: &Cycle) -> Order {
        let attempt = cycle.next_attempt();
        let card_id = self.payment.card_id;
        Order {
            cycle_id: cycle.id,
            attempt,
            key: cycle.key_of_attempt(attempt),
            terms: cycle.terms.clone(),
            card_id,
            recurrence: match self.agreement {
                None => Recurrence::Initial,
                Some(_) => Recurrence::Subsequent,
            },
            follows: self.first_charge_by(card_id),
        }
    }

    /// The charge that begins the series of a card, which later charges of the card name; `None` before one is approved.
    pub fn first_charge_by(&self, card_id: CardId) -> Option<ChargeId> {
        self.agreement.filter(|first| first.card_id == Some(card_id)).map(|first| first.charge_id)
    }

    /// Begins an attempt; `None` unless [`Subscription::next`] says to charge this cycle. An attempt for which no
    /// charge can be made is announced, and made again by the schedule, since its merchant may repair what is missing.
    ///
    /// # Errors
    /// [`Behind`] when no charge was made while a step is due that comes first: the cycle may fail.
    pub fn begin(
        &self,
        cycles: &[Cycle],
        cycle_id: CycleId,
        begun: BegunAttempt,
        rules: &BillingRules,
        now: Timestamp,
    ) -> Result<Option<Advance>, Behind> {
        let (charge_id, state) = match begun.made {
            Made::Charge(charge_id) => (Some(charge_id), AttemptState::UnderWay),
            Made::Nothing { .. } if self.is_behind(now) => return Err(Behind),
            Made::Nothing { error_code, .. } => (None, AttemptState::Impossible { error_code }),
        };
        if self.next(cycles, now) != Next::Charge(cycle_id) {
            return Ok(None);
        }
        let mut draft = Draft::of(self, cycles, now);
        let Some(cycle) = draft.cycle_mut(cycle_id) else { return Ok(None) };
        let order = self.order(cycle);
        if cycle.status == CycleStatus::Scheduled {
            cycle.status = CycleStatus::Pending;
        }
        cycle.next_attempt_at = None;
        let attempt = Attempt {
            id: begun.id,
            number: order.attempt,
            charge_id,
            card_id: order.card_id,
            recurrence: order.recurrence,
            begun_at: now,
            state,
        };
        cycle.attempts.push(attempt.clone());
        if let Made::Nothing { error_code, repair } = begun.made {
            draft.announce(EventName::SubscriptionCycleFailed, Some(cycle_id), Some(error_code));
            draft.not_possible(cycle_id, &attempt, repair, rules);
        }
        Ok(Some(draft.done()))
    }

    /// Takes the outcome of an attempt; `None` when it tells nothing new. What is told once more changes nothing, so a
    /// probe and a notification can meet.
    ///
    /// # Errors
    /// [`Behind`] when it was refused while a step is due that comes first: the cycle may fail.
    pub fn end_attempt(
        &self,
        cycles: &[Cycle],
        (cycle_id, number): (CycleId, u32),
        outcome: &Outcome,
        rules: &BillingRules,
        now: Timestamp,
    ) -> Result<Option<Advance>, Behind> {
        let cycle = cycles.iter().find(|cycle| cycle.id == cycle_id);
        let Some(attempt) = cycle.and_then(|cycle| cycle.attempts.iter().find(|of| of.number == number))
        else {
            return Ok(None);
        };
        let state = match (attempt.state, outcome) {
            // A provider may approve what it has refused.
            (
                AttemptState::UnderWay | AttemptState::Unanswered | AttemptState::Declined { .. },
                Outcome::Approved,
            ) => AttemptState::Approved,
            // A provider may refuse what it has approved: that did not pay the cycle.
            (
                AttemptState::UnderWay | AttemptState::Unanswered | AttemptState::Approved,
                Outcome::Declined(decline),
            ) => AttemptState::Declined { code: decline.code },
            (
                AttemptState::UnderWay | AttemptState::Unanswered | AttemptState::Approved,
                Outcome::Canceled,
            ) => AttemptState::Declined { code: DeclinedCode::Generic },
            (AttemptState::UnderWay, Outcome::Unanswered) => AttemptState::Unanswered,
            (
                AttemptState::Unanswered | AttemptState::Declined { .. } | AttemptState::Approved,
                Outcome::Unanswered,
            )
            | (AttemptState::Declined { .. }, Outcome::Declined(_) | Outcome::Canceled)
            | (AttemptState::Approved, Outcome::Approved)
            | (AttemptState::GivenBack | AttemptState::Impossible { .. }, _) => return Ok(None),
        };
        if matches!(outcome, Outcome::Declined(_)) && self.is_behind(now) {
            return Err(Behind);
        }
        let was_paid = attempt.state == AttemptState::Approved;
        let attempt = Attempt { state, ..attempt.clone() };
        let mut draft = Draft::of(self, cycles, now);
        if let Some(kept) = draft.cycle_mut(cycle_id).and_then(|cycle| cycle.attempt_mut(number)) {
            kept.state = state;
        }
        if was_paid {
            draft.not_paid_after_all(cycle_id, &attempt);
        }
        match outcome {
            Outcome::Approved => draft.approved(cycle_id, &attempt, now),
            Outcome::Declined(decline) => draft.declined(cycle_id, &attempt, decline, rules, now),
            Outcome::Canceled => draft.canceled(cycle_id),
            Outcome::Unanswered => {}
        }
        Ok(Some(draft.done()))
    }
}

impl Draft<'_> {
    fn approved(&mut self, cycle_id: CycleId, attempt: &Attempt, now: Timestamp) {
        let Some(charge_id) = attempt.charge_id else { return };
        let Some(cycle) = self.cycle_mut(cycle_id) else { return };
        if cycle.status == CycleStatus::Authorized {
            if let Some(given_back) = cycle.attempt_mut(attempt.number) {
                given_back.state = AttemptState::GivenBack;
            }
            self.gives_back = Some(charge_id);
            return;
        }
        cycle.status = CycleStatus::Authorized;
        cycle.next_attempt_at = None;
        let paid = Trigger::Paid(self.subscription.activation());
        self.subscription.is_activated = true;
        let card_id = Some(attempt.card_id);
        if self.subscription.agreement.is_none_or(|first| first.card_id != card_id) {
            self.subscription.agreement = Some(Agreement { charge_id, card_id });
        }
        match self.subscription.phase {
            // The cycle that failed is still not paid.
            Phase::Unpaid { cycle_id: failed } if failed != cycle_id => {}
            Phase::Unpaid { .. } => {
                self.apply(paid, Some(cycle_id));
                self.skip_missed(now);
            }
            Phase::Trialing
            | Phase::Created
            | Phase::Active
            | Phase::Paused
            | Phase::Canceled
            | Phase::Expired => {
                self.apply(paid, Some(cycle_id));
            }
        }
    }

    /// The payment of a cycle did not come about: the cycle is open again. A series that began with it begins anew; otherwise it goes on
    /// with the next charge of the card.
    fn not_paid_after_all(&mut self, cycle_id: CycleId, attempt: &Attempt) {
        if let Some(first) = self.subscription.agreement
            && Some(first.charge_id) == attempt.charge_id
        {
            self.subscription.agreement = match attempt.recurrence {
                Recurrence::Initial => None,
                Recurrence::Subsequent | Recurrence::Unscheduled => {
                    Some(Agreement { card_id: None, ..first })
                }
            };
        }
        if let Some(cycle) = self.cycle_mut(cycle_id) {
            cycle.status = CycleStatus::Retrying;
        }
    }

    /// The merchant does not want this payment: the period is not charged.
    fn canceled(&mut self, cycle_id: CycleId) {
        if let Some(cycle) = self.cycle_mut(cycle_id).filter(|cycle| cycle.is_open()) {
            cycle.status = CycleStatus::Canceled;
            cycle.next_attempt_at = None;
        }
    }

    fn declined(
        &mut self,
        cycle_id: CycleId,
        attempt: &Attempt,
        decline: &Decline,
        rules: &BillingRules,
        now: Timestamp,
    ) {
        let is_replaced = self.subscription.payment.card_id != attempt.card_id;
        let gap = self.gap_after(cycle_id, rules).filter(|_| is_replaced || is_tried_again(decline));
        let by_schedule = gap.map(|days| self.day_of_next(attempt, days));
        // The refusal says nothing of a card that was given meanwhile: it is tried, also when no attempt is left.
        self.go_on(cycle_id, by_schedule.or(is_replaced.then_some(now)), rules);
    }

    fn not_possible(&mut self, cycle_id: CycleId, attempt: &Attempt, repair: Repair, rules: &BillingRules) {
        let gap = self.gap_after(cycle_id, rules).filter(|_| repair == Repair::Possible);
        self.go_on(cycle_id, gap.map(|days| self.day_of_next(attempt, days)), rules);
    }

    /// The days until the attempt after the last one; `None` when none is left. The failed cycle of an unpaid
    /// subscription is tried once.
    fn gap_after(&mut self, cycle_id: CycleId, rules: &BillingRules) -> Option<u8> {
        if self.subscription.phase == (Phase::Unpaid { cycle_id }) {
            return None;
        }
        rules.retry_policy.gap_after(self.cycle_mut(cycle_id)?.attempts.len())
    }

    /// The time of billing, so many days after an attempt.
    fn day_of_next(&self, attempt: &Attempt, days: u8) -> Timestamp {
        let day = utc_day::day_of(attempt.begun_at).saturating_add(i64::from(days).days());
        schedule::billed_at(self.subscription.id, day)
    }

    /// After an attempt without success: the next one is due at `at`, or the cycle has failed. A subscription that has
    /// ended makes no other.
    fn go_on(&mut self, cycle_id: CycleId, at: Option<Timestamp>, rules: &BillingRules) {
        let has_ended = matches!(self.subscription.phase, Phase::Canceled | Phase::Expired);
        let Some(cycle) = self.cycle_mut(cycle_id).filter(|cycle| cycle.is_open()) else { return };
        let is_refused = cycle.attempts.iter().any(|one| matches!(one.state, AttemptState::Declined { .. }));
        if let Some(at) = at.filter(|_| !has_ended) {
            cycle.next_attempt_at = Some(at);
            if is_refused {
                cycle.status = CycleStatus::Retrying;
            }
            return;
        }
        cycle.status = CycleStatus::Failed;
        self.apply(Trigger::RetriesEnded(rules.after_retries), Some(cycle_id));
    }
}
