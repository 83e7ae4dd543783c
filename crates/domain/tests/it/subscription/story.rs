//! A story: a subscription whose days pass, with a diary of what was charged and announced.

use std::collections::VecDeque;

use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::CycleId;
use regente_domain::subscription::{
    Advance, BegunAttempt, Behind, BillingRules, Cycle, CycleStatus, Interval, Made, NewCycle,
    NewSubscription, Next, Outcome, Phase, Refusal, Repair, Subscription, Update,
};
use regente_domain::time::Timestamp;
use regente_domain::utc_day::day_of;

use super::{at, id, plan};

/// What comes of a charge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Yes,
    No(DeclinedCode),
    /// Nothing for now.
    Nothing,
    /// There is no card, customer or merchant to charge.
    Gone,
}

/// When stories begin.
pub(super) const BEGIN: &str = "2026-07-31T13:36:40.118Z";

pub(super) const NO_FUNDS: Says = Says::No(DeclinedCode::InsufficientFunds);

pub(super) struct Story {
    pub(super) subscription: Subscription,
    pub(super) cycles: Vec<Cycle>,
    pub(super) rules: BillingRules,
    pub(super) now: Timestamp,
    /// The next answers; approvals after the last.
    pub(super) says: VecDeque<Says>,
    pub(super) diary: Vec<String>,
    ids: u128,
}

impl Story {
    pub(super) fn begin(new: NewSubscription, now: &str) -> Self {
        let now = at(now);
        let advance = Subscription::create(new, now).unwrap();
        let mut story = Self {
            subscription: Subscription { version: 0, ..advance.subscription.clone() },
            cycles: Vec::new(),
            rules: BillingRules::default(),
            now,
            says: VecDeque::new(),
            diary: Vec::new(),
            ids: 1_000,
        };
        story.take(advance);
        story
    }

    pub(super) fn answered(mut self, says: impl IntoIterator<Item = Says>) -> Self {
        self.says.extend(says);
        self
    }

    /// Lets time pass, and does what falls due at its time.
    pub(super) fn until(&mut self, time: &str) -> &mut Self {
        let end = at(time);
        loop {
            match self.subscription.next(&self.read(), self.now) {
                Next::Wait(at) if at <= end => self.now = at,
                Next::Wait(_) | Next::Rest => break,
                Next::Step | Next::Charge(_) => self.work(),
            }
        }
        self.now = end;
        self
    }

    /// Lets time pass in which nothing is done.
    pub(super) fn down_until(&mut self, time: &str) -> &mut Self {
        self.now = at(time);
        self
    }

    /// Does what is due now.
    pub(super) fn catch_up(&mut self) -> &mut Self {
        while matches!(self.subscription.next(&self.read(), self.now), Next::Step | Next::Charge(_)) {
            self.work();
        }
        self
    }

    /// Does one thing that is due now.
    pub(super) fn work(&mut self) {
        match self.subscription.next(&self.read(), self.now) {
            Next::Step => self.step(),
            Next::Charge(cycle_id) => self.charge(cycle_id),
            Next::Wait(_) | Next::Rest => panic!("nothing is due"),
        }
    }

    pub(super) fn step(&mut self) {
        let new = NewCycle { id: self.id(), is_emulated: false };
        let advance = self.subscription.step(&self.read(), new, self.now).unwrap();
        self.take(advance);
    }

    fn charge(&mut self, cycle_id: CycleId) {
        let says = self.says.pop_front().unwrap_or(Says::Yes);
        let cycle = self.cycles.iter().find(|cycle| cycle.id == cycle_id).unwrap();
        let order = self.subscription.order(cycle);
        let word = if matches!(says, Says::Gone) { "no charge" } else { "charge" };
        let line = format!(
            "{word} {}.{} {} {}",
            cycle.number,
            order.attempt,
            order.recurrence.word(),
            order.terms.amount.minor_units()
        );
        self.note(&line);
        let made = match says {
            Says::Yes | Says::No(_) | Says::Nothing => Made::Charge(self.id()),
            Says::Gone => Made::Nothing { error_code: 404, repair: Repair::Possible },
        };
        let begun = BegunAttempt { id: self.id(), made };
        let read = self.read();
        let advance = self.subscription.begin(&read, cycle_id, begun, &self.rules, self.now);
        self.take(advance.unwrap().unwrap());
        match says {
            Says::Yes => self.answer((cycle_id, order.attempt), &Outcome::Approved),
            Says::No(code) => self.answer((cycle_id, order.attempt), &declined(code)),
            Says::Nothing | Says::Gone => {}
        }
    }

    /// The outcome of an attempt comes; what was due before is made first.
    pub(super) fn answer(&mut self, of: (CycleId, u32), outcome: &Outcome) {
        loop {
            match self.subscription.end_attempt(&self.cycles, of, outcome, &self.rules, self.now) {
                Ok(Some(advance)) => return self.take(advance),
                Ok(None) => return,
                Err(Behind) => self.step(),
            }
        }
    }

    /// The outcome of an attempt of the cycle of this number comes.
    pub(super) fn answer_to(&mut self, number: u32, attempt: u32, outcome: &Outcome) {
        let cycle_id = self.cycle(number).id;
        self.answer((cycle_id, attempt), outcome);
    }

    pub(super) fn pause(&mut self) -> Result<(), Refusal> {
        self.ask(|story| story.subscription.pause(&story.read(), story.now))
    }

    pub(super) fn resume(&mut self) -> Result<(), Refusal> {
        self.ask(|story| story.subscription.resume(&story.read(), story.now))
    }

    pub(super) fn cancel(&mut self) -> Result<(), Refusal> {
        self.ask(|story| story.subscription.cancel(&story.read(), story.now))
    }

    pub(super) fn update(&mut self, update: &Update) -> Result<(), Refusal> {
        match self.subscription.update(&self.read(), update, self.now)? {
            Some(advance) => self.take(advance),
            None => self.note("nothing changed"),
        }
        Ok(())
    }

    fn ask(&mut self, of: impl Fn(&Self) -> Result<Advance, Refusal>) -> Result<(), Refusal> {
        let advance = of(self)?;
        self.take(advance);
        Ok(())
    }

    /// The cycles that a decision reads: those that are open, and the failed one of an unpaid subscription.
    pub(super) fn read(&self) -> Vec<Cycle> {
        let failed =
            if let Phase::Unpaid { cycle_id } = self.subscription.phase { Some(cycle_id) } else { None };
        self.cycles.iter().filter(|cycle| cycle.is_open() || Some(cycle.id) == failed).cloned().collect()
    }

    pub(super) fn cycle(&self, number: u32) -> &Cycle {
        self.cycles.iter().find(|cycle| cycle.number == number).unwrap()
    }

    pub(super) fn statuses(&self) -> Vec<(u32, CycleStatus)> {
        self.cycles.iter().map(|cycle| (cycle.number, cycle.status)).collect()
    }

    fn take(&mut self, advance: Advance) {
        assert_eq!(advance.subscription.version, self.subscription.version + 1);
        assert!(advance.subscription.updated_at > self.subscription.updated_at || self.diary.is_empty());
        self.subscription = advance.subscription;
        for cycle in advance.cycles {
            match self.cycles.iter_mut().find(|kept| kept.id == cycle.id) {
                Some(kept) => *kept = cycle,
                None => self.cycles.push(cycle),
            }
        }
        for announced in advance.announces {
            let code = announced.error_code.map_or(String::new(), |code| format!(" {code}"));
            self.note(&format!("{}{code} ({})", announced.event.event(), announced.status.word()));
        }
        if let Some(charge_id) = advance.gives_back {
            let cycle = self
                .cycles
                .iter()
                .find(|cycle| cycle.attempts.iter().any(|attempt| attempt.charge_id == Some(charge_id)));
            self.note(&format!("give back a charge of {}", cycle.unwrap().number));
        }
    }

    fn note(&mut self, line: &str) {
        self.diary.push(format!("{} {line}", day_of(self.now)));
    }

    fn id<T>(&mut self) -> regente_domain::id::Id<T> {
        self.ids += 1;
        id(self.ids)
    }
}

pub(super) fn declined(code: DeclinedCode) -> Outcome {
    Outcome::Declined(Box::new(Decline::of(code)))
}

/// Monthly, with the first charge under way.
pub(super) fn under_way(says: &[Says]) -> Story {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered(says.iter().copied());
    story.catch_up();
    story
}
