//! A subscription in a world where anything may happen, and what is true of it whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use regente_domain::charge::Recurrence;
use regente_domain::id::{ChargeId, CycleId, Id};
use regente_domain::subscription::{
    Advance, AfterRetries, Attempt, AttemptState, BillingRules, Cycle, CycleStatus, Interval,
    NewSubscription, Phase, RetryPolicy, Subscription, SubscriptionStatus, billed_at,
};
use regente_domain::time::Timestamp;
use regente_domain::utc_day::day_of;

use super::super::model::{Calendar, Dice, days_later};
use super::super::{at, id, plan, times};
/// Every way from one status to another, and itself.
pub(super) const WAYS: [&str; 17] = [
    "trialing created",
    "trialing canceled",
    "created active",
    "created unpaid",
    "created canceled",
    "created paused",
    "created expired",
    "active paused",
    "active unpaid",
    "active canceled",
    "active expired",
    "paused created",
    "paused active",
    "paused unpaid",
    "paused canceled",
    "unpaid active",
    "unpaid canceled",
];
/// Ways that a change takes through a status that lasts no time.
const SHORT_WAYS: [&str; 3] = ["paused expired", "unpaid expired", "trialing expired"];

/// A subscription, and what somebody would say of it who only watches.
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) subscription: Subscription,
    pub(super) cycles: Vec<Cycle>,
    pub(super) rules: BillingRules,
    pub(super) now: Timestamp,
    pub(super) ids: u128,
    pub(super) calendar: Calendar,
    /// When it was set to begin at once.
    pub(super) at_once: Option<Timestamp>,
    /// The times in which nothing falls due: pauses, and times without a card.
    pub(super) rests: Vec<(Timestamp, Option<Timestamp>)>,
    /// How many cycles there were to be, from when on.
    pub(super) plans: Vec<(Timestamp, Option<NonZeroU32>)>,
    pub(super) given_back: BTreeSet<ChargeId>,
    /// Approvals of what had been refused.
    pub(super) late: BTreeSet<ChargeId>,
    pub(super) keys: BTreeSet<String>,
    pub(super) told: Vec<&'static str>,
    pub(super) ways: BTreeMap<String, usize>,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let starts = ["2027-12-29", "2027-12-30", "2027-12-31", "2028-01-29", "2028-02-29", "2028-03-10"];
        let now = at(&format!("{}T{:02}:15:00Z", starts[dice.below(6)], dice.below(24)));
        let today = day_of(now);
        let later = |days: usize| days_later(today, i64::try_from(days).unwrap());
        let interval = Interval::WORDS[dice.below(7)].1;
        let new = NewSubscription {
            cycles: times(u32::try_from(dice.below(12)).unwrap()),
            start_at: dice.one_in(2).then(|| later(dice.below(50))),
            trial_end: dice.one_in(3).then(|| later(1 + dice.below(40))),
            id: id(u128::from(seed) + 1),
            ..plan(interval)
        };
        let cycles = new.cycles;
        let start = new.start_at.unwrap_or(today).max(new.trial_end.unwrap_or(today));
        let policies: [&[u8]; 4] = [&[1, 4, 9, 16], &[1], &[2, 2, 2], &[5, 10, 30]];
        let rules = BillingRules {
            retry_policy: RetryPolicy::new(policies[dice.below(4)].to_vec()).unwrap(),
            after_retries: if dice.one_in(4) { AfterRetries::Canceled } else { AfterRetries::Unpaid },
            statement_descriptor: None,
        };
        let created = Subscription::create(new, now).unwrap();
        Self {
            dice,
            subscription: created.subscription,
            cycles: Vec::new(),
            rules,
            now,
            ids: 1_000,
            calendar: Calendar::new(start, interval),
            at_once: (start == today).then_some(now),
            rests: Vec::new(),
            plans: vec![(Timestamp::EPOCH, cycles)],
            given_back: BTreeSet::new(),
            late: BTreeSet::new(),
            keys: BTreeSet::new(),
            told: created.announces.iter().map(|told| told.event.event()).collect(),
            ways: BTreeMap::new(),
        }
    }

    pub(super) fn id<T>(&mut self) -> Id<T> {
        self.ids += 1;
        id(self.ids)
    }

    /// What the engine reads for a decision.
    pub(super) fn read(&self, also: Option<CycleId>) -> Vec<Cycle> {
        let failed =
            if let Phase::Unpaid { cycle_id } = self.subscription.phase { Some(cycle_id) } else { None };
        let is_read = |cycle: &&Cycle| cycle.is_open() || [failed, also].contains(&Some(cycle.id));
        self.cycles.iter().filter(is_read).cloned().collect()
    }

    /// When the cycle of this number is billed, by the other calendar.
    pub(super) fn bills_at(&self, number: u32) -> Timestamp {
        let at_once = self.at_once.filter(|_| number == 1);
        at_once.unwrap_or_else(|| billed_at(self.subscription.id, self.calendar.due_on(number)))
    }

    pub(super) fn take(&mut self, advance: Advance) {
        let before = self.subscription.status();
        let made_before = self.subscription.next_number;
        assert_eq!(advance.subscription.version, self.subscription.version + 1);
        self.subscription = advance.subscription;
        for cycle in advance.cycles {
            match self.cycles.iter_mut().find(|kept| kept.id == cycle.id) {
                Some(kept) => *kept = cycle,
                None => {
                    assert!(matches!(before, SubscriptionStatus::Created | SubscriptionStatus::Active));
                    assert_eq!(cycle.due_on, self.calendar.due_on(cycle.number));
                    assert!(self.bills_at(cycle.number) <= self.now, "made before it is due");
                    self.cycles.push(cycle);
                }
            }
        }
        self.given_back.extend(advance.gives_back);
        let after = self.subscription.status();
        self.note_way(before, after);
        let is_resting = |status| matches!(status, SubscriptionStatus::Paused | SubscriptionStatus::Unpaid);
        match (is_resting(before), is_resting(after)) {
            (false, true) => self.rests.push((self.now, None)),
            (true, false) => self.rests.last_mut().unwrap().1 = Some(self.now),
            (true, true) | (false, false) => {}
        }
        for number in made_before..self.subscription.next_number {
            self.is_made_or_missed(number);
        }
        self.told.extend(advance.announces.iter().map(|told| told.event.event()));
        self.holds();
    }

    fn note_way(&mut self, before: SubscriptionStatus, after: SubscriptionStatus) {
        let way = format!("{} {}", before.word(), after.word());
        assert!(
            before == after || WAYS.contains(&way.as_str()) || SHORT_WAYS.contains(&way.as_str()),
            "{way}"
        );
        *self.ways.entry(way).or_default() += 1;
    }

    /// A number that is passed has a cycle, or its time was in a rest. At the very moment in which a rest begins or
    /// ends it may be either.
    pub(super) fn is_made_or_missed(&self, number: u32) {
        let bills_at = self.bills_at(number);
        let is_in = |(from, to): &(Timestamp, Option<Timestamp>)| {
            *from <= bills_at && to.is_none_or(|to| bills_at <= to)
        };
        let is_edge =
            |(from, to): &(Timestamp, Option<Timestamp>)| *from == bills_at || *to == Some(bills_at);
        let is_missed = bills_at <= self.now && (self.rests.iter().any(is_in) || self.is_unplanned(number));
        let is_made = self.cycles.iter().any(|cycle| cycle.number == number);
        let told = format!("cycle {number} of {bills_at}: made {is_made}, missed {is_missed}");
        assert!(is_made != is_missed || is_made && self.rests.iter().any(is_edge), "{told}");
    }

    /// Whether the plan had no cycle of this number when it would have been billed.
    fn is_unplanned(&self, number: u32) -> bool {
        let bills_at = self.bills_at(number);
        let plan = self.plans.iter().rev().find(|(from, _)| *from < bills_at);
        plan.is_some_and(|(_, cycles)| cycles.is_some_and(|cycles| number > cycles.get()))
    }

    /// What is true at every moment.
    fn holds(&self) {
        let attempts = || self.cycles.iter().flat_map(|cycle| &cycle.attempts);
        assert!(attempts().filter(|attempt| attempt.state == AttemptState::UnderWay).count() <= 1);
        for pair in self.cycles.windows(2) {
            assert!(pair[0].number < pair[1].number && pair[0].due_on < pair[1].due_on, "{pair:?}");
        }
        for cycle in &self.cycles {
            let open = cycle.attempts.iter().filter(|attempt| attempt.state.is_open()).count();
            assert!(open <= 1, "two attempts at once: {cycle:?}");
            let paid = cycle.attempts.iter().filter(|attempt| attempt.state == AttemptState::Approved);
            let kept = paid.filter(|attempt| !self.given_back.contains(&attempt.charge_id.unwrap())).count();
            assert_eq!(kept, usize::from(cycle.status == CycleStatus::Authorized), "{cycle:?}");
            assert!(!(open > 0 && cycle.next_attempt_at.is_some()), "{cycle:?}");
        }
        let is_first = |attempt: &&Attempt| {
            attempt.recurrence == Recurrence::Initial
                && attempt.state == AttemptState::Approved
                && !self.late.contains(&attempt.charge_id.unwrap())
        };
        assert!(attempts().filter(is_first).count() <= 1, "a series begins once");
        let times = |event| self.told.iter().filter(|told| **told == event).count();
        assert_eq!(times("created") + times("trial_started"), 1);
        assert!(times("canceled") + times("expired") <= 1);
        let ended = self.told.iter().position(|told| ["canceled", "expired"].contains(told));
        assert!(ended.is_none_or(|ended| ended + 1 == self.told.len()), "{:?}", self.told);
    }
}
