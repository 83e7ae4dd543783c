//! A change of a subscription while it is made, and what it is when it is done.

use super::{Cycle, CycleStatus, Phase, Refusal, Subscription, SubscriptionStatus, Transition, Trigger};
use crate::id::{ChargeId, CycleId};
use crate::time::{Timestamp, later_of};
use crate::webhook::EventName;

/// A subscription after a change, with what is written and announced with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The next version.
    pub subscription: Subscription,
    /// The cycles that are new or have changed.
    pub cycles: Vec<Cycle>,
    /// What to announce, in this order.
    pub announces: Vec<Announcement>,
    /// A charge that has paid a cycle once more; it must be given back.
    pub gives_back: Option<ChargeId>,
}

/// An event to announce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its name.
    pub event: EventName,
    /// The status at the event: one change may announce several.
    pub status: SubscriptionStatus,
    /// The cycle that it is about.
    pub cycle: Option<CycleId>,
    /// `errorCode` of a cycle that could not be charged.
    pub error_code: Option<u16>,
}

/// A change that is being made.
pub(super) struct Draft<'a> {
    pub(super) subscription: Subscription,
    pub(super) cycles: Vec<Cycle>,
    pub(super) announces: Vec<Announcement>,
    pub(super) gives_back: Option<ChargeId>,
    before: &'a [Cycle],
}

impl<'a> Draft<'a> {
    pub(super) fn of(before: &Subscription, cycles: &'a [Cycle], now: Timestamp) -> Self {
        let subscription = Subscription {
            version: before.version + 1,
            updated_at: later_of(now, before.updated_at),
            ..before.clone()
        };
        let (announces, gives_back) = (Vec::new(), None);
        Self { subscription, cycles: cycles.to_vec(), announces, gives_back, before: cycles }
    }

    /// The change. A subscription that has nothing left to charge expires with it.
    pub(super) fn done(mut self) -> Advance {
        let is_over = !self.subscription.schedule.has(self.subscription.next_number);
        if is_over && !self.cycles.iter().any(Cycle::is_open) {
            self.apply(Trigger::CyclesEnded, None);
        }
        let before = self.before;
        let has_changed = |cycle: &Cycle| !before.contains(cycle);
        Advance {
            subscription: self.subscription,
            cycles: self.cycles.into_iter().filter(has_changed).collect(),
            announces: self.announces,
            gives_back: self.gives_back,
        }
    }

    /// Takes the step of the table for `trigger` about `cycle`, if there is one.
    pub(super) fn apply(&mut self, trigger: Trigger, cycle: Option<CycleId>) -> Option<Transition> {
        let transition = self.subscription.status().on(trigger)?;
        self.subscription.phase = match (transition.to, self.subscription.phase, cycle) {
            (SubscriptionStatus::Unpaid, Phase::Unpaid { cycle_id }, _) => Phase::Unpaid { cycle_id },
            (SubscriptionStatus::Unpaid, _, Some(cycle_id)) => Phase::Unpaid { cycle_id },
            (SubscriptionStatus::Unpaid, phase, None) => phase,
            (SubscriptionStatus::Trialing, _, _) => Phase::Trialing,
            (SubscriptionStatus::Created, _, _) => Phase::Created,
            (SubscriptionStatus::Active, _, _) => Phase::Active,
            (SubscriptionStatus::Paused, _, _) => Phase::Paused,
            (SubscriptionStatus::Canceled, _, _) => Phase::Canceled,
            (SubscriptionStatus::Expired, _, _) => Phase::Expired,
        };
        if transition.to == SubscriptionStatus::Canceled {
            self.cancel_cycles();
        }
        if let Some(event) = transition.event {
            self.announce(event, cycle, None);
        }
        Some(transition)
    }

    /// The same for a merchant's wish, which is refused when the table has no such step.
    pub(super) fn request(&mut self, trigger: Trigger) -> Result<(), Refusal> {
        let status = self.subscription.status();
        self.apply(trigger, None).map(|_| ()).ok_or(Refusal::InvalidState(status))
    }

    pub(super) fn announce(&mut self, event: EventName, cycle: Option<CycleId>, error_code: Option<u16>) {
        let status = self.subscription.status();
        self.announces.push(Announcement { event, status, cycle, error_code });
    }

    pub(super) fn cycle_mut(&mut self, id: CycleId) -> Option<&mut Cycle> {
        self.cycles.iter_mut().find(|cycle| cycle.id == id)
    }

    /// Goes on to the first cycle that is billed after `now`; those before it fell due while nothing was charged, and
    /// are not billed later.
    pub(super) fn skip_missed(&mut self, now: Timestamp) {
        self.subscription.next_number = self.subscription.first_ahead(now);
    }

    /// Tries the cycle of an unpaid subscription once more, unless that is under way.
    pub(super) fn try_failed_once_more(&mut self, now: Timestamp) {
        let Phase::Unpaid { cycle_id } = self.subscription.phase else { return };
        if let Some(cycle) = self.cycle_mut(cycle_id).filter(|cycle| !cycle.is_open()) {
            cycle.status = CycleStatus::Retrying;
            cycle.next_attempt_at = Some(now);
        }
    }

    /// Ends the cycles of which no attempt is under way. The outcome of one that is under way still counts.
    fn cancel_cycles(&mut self) {
        for cycle in self.cycles.iter_mut().filter(|cycle| cycle.is_open() && !cycle.has_open_attempt()) {
            cycle.status = CycleStatus::Canceled;
            cycle.next_attempt_at = None;
        }
    }
}
