//! Whatever providers, merchants, outages and time do: no cycle is billed twice and none is forgotten.

mod world;

use std::collections::BTreeMap;
use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::id::CycleId;
use regente_domain::subscription::{
    AttemptState, BegunAttempt, Behind, CancellationChange, Cycle, CycleStatus, Interval, Made, NewCycle,
    Next, Outcome, Phase, Refusal, Repair, Subscription, SubscriptionStatus, Update,
};
use regente_domain::utc_day::day_of;

use super::model::{Calendar, days_later};
use super::story::declined;
use super::{card, item, times};
use world::{WAYS, World};

const SEEDS: u64 = 400;
const STEPS: usize = 220;
const HOUR: Duration = Duration::from_secs(3_600);

impl World {
    /// One thing that happens.
    fn happens(&mut self) {
        match self.dice.below(20) {
            0..8 => self.works(),
            8..12 => self.time_passes(),
            12..16 => self.is_answered(),
            16 => self.is_answered_anew(),
            17..19 => self.merchant_acts(),
            _ => {
                let hours = u32::try_from(self.dice.below(24 * 90)).unwrap();
                self.now = self.now + HOUR * hours;
            }
        }
    }

    fn works(&mut self) {
        match self.subscription.next(&self.read(None), self.now) {
            Next::Step => self.step(),
            Next::Charge(cycle_id) => self.charge(cycle_id),
            Next::Wait(at) => assert!(at > self.now),
            Next::Rest => {}
        }
    }

    fn step(&mut self) {
        let new = NewCycle { id: self.id(), is_emulated: false };
        let advance = self.subscription.step(&self.read(None), new, self.now).unwrap();
        self.take(advance);
    }

    fn charge(&mut self, cycle_id: CycleId) {
        let cycle = self.cycles.iter().find(|cycle| cycle.id == cycle_id).unwrap();
        assert!(cycle.next_attempt_at.unwrap() <= self.now);
        assert!(cycle.attempts.iter().all(|attempt| !attempt.state.is_open()), "the last is not known");
        assert_ne!(cycle.status, CycleStatus::Authorized);
        let order = self.subscription.order(cycle);
        let made = match self.dice.one_in(8) {
            true => Made::Nothing { error_code: 404, repair: Repair::Possible },
            false => Made::Charge(self.id()),
        };
        let begun = BegunAttempt { id: self.id(), made };
        match self.subscription.begin(&self.read(None), cycle_id, begun, &self.rules, self.now) {
            Ok(advance) => {
                assert!(self.keys.insert(order.key), "a key was used twice");
                self.take(advance.unwrap());
            }
            Err(Behind) => self.step(),
        }
    }

    fn time_passes(&mut self) {
        if let Next::Wait(at) = self.subscription.next(&self.read(None), self.now) {
            self.now = at;
        } else {
            let hours = u32::try_from(self.dice.below(48)).unwrap();
            self.now = self.now + HOUR * hours;
        }
    }

    fn is_answered(&mut self) {
        let open = |cycle: &Cycle| {
            let attempt = cycle.attempts.iter().find(|attempt| attempt.state.is_open())?;
            Some((cycle.id, attempt.number))
        };
        let Some(of) = self.cycles.iter().find_map(open) else { return };
        let outcome = match self.dice.below(8) {
            0..4 => Outcome::Approved,
            4..6 => declined(DeclinedCode::InsufficientFunds),
            6 => declined(DeclinedCode::LostCard),
            _ => Outcome::Unanswered,
        };
        self.answer(of, &outcome);
    }

    /// Something is told once more, or a provider approves what it has refused, or refuses what it has approved.
    fn is_answered_anew(&mut self) {
        let attempts =
            self.cycles.iter().flat_map(|cycle| cycle.attempts.iter().map(|one| (cycle.id, one.clone())));
        let ended: Vec<_> = attempts.filter(|(_, attempt)| !attempt.state.is_open()).collect();
        if ended.is_empty() || !self.dice.one_in(3) {
            return;
        }
        let (cycle_id, attempt) = ended[self.dice.below(ended.len())].clone();
        let outcome = match self.dice.one_in(2) {
            true => Outcome::Approved,
            false => declined(DeclinedCode::Generic),
        };
        if outcome == Outcome::Approved && matches!(attempt.state, AttemptState::Declined { .. }) {
            self.late.insert(attempt.charge_id.unwrap());
        }
        self.answer((cycle_id, attempt.number), &outcome);
    }

    fn answer(&mut self, of: (CycleId, u32), outcome: &Outcome) {
        loop {
            let read = self.read(Some(of.0));
            match self.subscription.end_attempt(&read, of, outcome, &self.rules, self.now) {
                Ok(Some(advance)) => return self.take(advance),
                Ok(None) => return,
                Err(Behind) => self.step(),
            }
        }
    }

    fn merchant_acts(&mut self) {
        let wish = self.dice.below(12);
        let update = self.an_update(wish);
        loop {
            let (read, now) = (self.read(None), self.now);
            let asked = match wish {
                0..2 => self.subscription.pause(&read, now).map(Some),
                2..6 => self.subscription.resume(&read, now).map(Some),
                6 if self.dice.one_in(6) => self.subscription.cancel(&read, now).map(Some),
                _ => self.subscription.update(&read, &update, now),
            };
            match asked {
                Err(Refusal::Behind) => self.step(),
                Err(_) | Ok(None) => return,
                Ok(Some(advance)) => {
                    self.learn(&update, &advance.subscription);
                    return self.take(advance);
                }
            }
        }
    }

    fn an_update(&mut self, wish: usize) -> Update {
        let mut update = Update::default();
        match wish {
            7 => update.items = Some(vec![item(1 + i64::try_from(self.dice.below(900)).unwrap(), 1)]),
            8 => update.card_id = Some(card(self.dice.below(3))),
            9 => update.interval = Some(Interval::WORDS[self.dice.below(7)].1),
            10 => {
                update.start_at =
                    Some(days_later(day_of(self.now), i64::try_from(self.dice.below(9)).unwrap()))
            }
            11 if self.dice.one_in(2) => {
                update.cycles = Some(times(u32::try_from(self.dice.below(30)).unwrap()))
            }
            11 => {
                let on = self.dice.one_in(2).then(|| days_later(day_of(self.now), 40));
                let set = CancellationChange::Set { on, reason: None };
                update.cancellation = Some(if self.dice.one_in(4) { set } else { CancellationChange::Undo });
            }
            _ => {}
        }
        update
    }

    /// The other calendar follows what the merchant has changed.
    fn learn(&mut self, update: &Update, after: &Subscription) {
        if let Some(cycles) = update.cycles {
            self.plans.push((self.now, cycles));
        }
        if let Some(interval) = update.interval {
            let mut next = self.subscription.next_number;
            let has =
                |number| self.subscription.schedule.cycles().is_none_or(|cycles| number <= cycles.get());
            while has(next) && self.bills_at(next) <= self.now {
                next += 1;
            }
            self.calendar.change(interval, next);
        }
        let is_resumed =
            self.subscription.phase == Phase::Paused && matches!(after.phase, Phase::Created | Phase::Active);
        let is_today = self.at_once.is_some_and(|at| day_of(at) == day_of(self.now));
        if is_resumed && is_today && self.cycles.is_empty() {
            self.at_once = Some(self.now);
        }
        if let Some(start_at) = update.start_at.filter(|start_at| *start_at != self.calendar.due_on(1)) {
            let start_at = start_at.max(after.trial_end.unwrap_or(start_at));
            if start_at != self.calendar.due_on(1) {
                self.calendar = Calendar::new(start_at, self.subscription.schedule.interval());
                self.at_once = (start_at == day_of(self.now)).then_some(self.now);
            }
        }
    }

    /// In the end everything is answered and worked off.
    fn settles(&mut self) {
        for _ in 0..2_000 {
            match self.subscription.next(&self.read(None), self.now) {
                Next::Step | Next::Charge(_) => self.works(),
                Next::Wait(_) | Next::Rest => {
                    let open = |cycle: &Cycle| {
                        let attempt = cycle.attempts.iter().find(|attempt| attempt.state.is_open())?;
                        Some((cycle.id, attempt.number))
                    };
                    match self.cycles.iter().find_map(open) {
                        Some(of) => self.answer(of, &Outcome::Approved),
                        None => break,
                    }
                }
            }
        }
        let status = self.subscription.status();
        let has_ended = matches!(status, SubscriptionStatus::Canceled | SubscriptionStatus::Expired);
        for cycle in &self.cycles {
            assert!(!cycle.has_open_attempt());
            assert!(!has_ended || !cycle.is_open(), "{status:?} {cycle:?}");
        }
        // What waits has a time, or a reason.
        match self.subscription.next(&self.read(None), self.now) {
            Next::Wait(at) => assert!(at > self.now),
            Next::Rest => assert!(
                has_ended || matches!(status, SubscriptionStatus::Paused | SubscriptionStatus::Unpaid)
            ),
            next @ (Next::Step | Next::Charge(_)) => panic!("{next:?} without end"),
        }
        for number in 1..self.subscription.next_number {
            self.is_made_or_missed(number);
        }
    }
}

#[test]
fn whatever_happens_nothing_is_billed_twice_and_nothing_forgotten() {
    let seeds = std::env::var("REGENTE_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let mut ways: BTreeMap<String, usize> = BTreeMap::new();
    let (mut paid, mut given_back, mut missed) = (0, 0, 0);
    for seed in 0..seeds {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.happens();
        }
        world.settles();
        for (way, times) in world.ways {
            *ways.entry(way).or_default() += times;
        }
        paid += world.cycles.iter().filter(|cycle| cycle.status == CycleStatus::Authorized).count();
        given_back += world.given_back.len();
        missed += usize::try_from(world.subscription.next_number).unwrap() - 1 - world.cycles.len();
    }
    assert!(seeds < SEEDS || WAYS.iter().all(|way| ways.contains_key(*way)), "{ways:?}");
    assert!(
        seeds < SEEDS || (paid > 1_000 && given_back > 10 && missed > 100),
        "{paid} {given_back} {missed}"
    );
}
