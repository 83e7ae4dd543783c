//! The payers and banks at the simulator: they pay what they were given instructions for, now and then another amount or
//! twice, or do not, or what was withdrawn; and refunds that were accepted are carried out, or refused.

use std::time::{Duration, Instant};

use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_providers::sandbox::REFUSED_AMOUNT_MINOR_UNITS;
use regente_providers::sandbox::http::{EntryOutcome, EntryPage, EntryView, StagedMessage};
use regente_providers::staged::{Staged, StagedEvent};
use tokio::sync::watch;
use tokio::time::sleep;
use uuid::Uuid;

use super::dice::Dice;
use crate::Outcome;
use crate::service::Simulator;

/// Interval between looks into the log.
const LOOK_EVERY: Duration = Duration::from_millis(40);

/// What is still to happen at the simulator.
pub(super) struct Payers {
    dice: Dice,
    clock: Clock,
    /// The place in the log up to which it was read.
    after: u64,
    /// Calls that wait for a payer or a bank.
    waiting: Vec<EntryView>,
    /// Calls whose instructions were withdrawn, and that somebody pays all the same.
    withdrawn: Vec<Uuid>,
    /// When the last of them was paid.
    paid_withdrawn: Option<Instant>,
}

impl Payers {
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            dice,
            clock: Clock::system(),
            after: 0,
            waiting: Vec::new(),
            withdrawn: Vec::new(),
            paid_withdrawn: None,
        }
    }

    /// Lets some of what waits happen, again and again, until told to stop.
    pub(super) async fn go_on(mut self, simulator: &Simulator, stop: watch::Receiver<bool>) -> Outcome<Self> {
        while !*stop.borrow() {
            self.read(simulator).await?;
            for entry in std::mem::take(&mut self.waiting) {
                if self.dice.one_in(3) {
                    self.happen(simulator, &entry).await?;
                } else {
                    self.waiting.push(entry);
                }
            }
            for key in std::mem::take(&mut self.withdrawn) {
                if self.dice.one_in(20) {
                    self.pay_withdrawn(simulator, key).await?;
                } else {
                    self.withdrawn.push(key);
                }
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(self)
    }

    /// Lets everything happen that waits; returns how much that was.
    pub(super) async fn finish(&mut self, simulator: &Simulator) -> Outcome<usize> {
        self.read(simulator).await?;
        let withdrawn = std::mem::take(&mut self.withdrawn);
        let waiting = std::mem::take(&mut self.waiting);
        for entry in &waiting {
            self.happen(simulator, entry).await?;
        }
        for key in &withdrawn {
            self.pay_withdrawn(simulator, *key).await?;
        }
        Ok(waiting.len() + withdrawn.len())
    }

    /// Whether every payment of what was withdrawn is found: nobody has to be notified of it.
    pub(super) fn are_found(&self, within: Duration) -> bool {
        self.paid_withdrawn.is_none_or(|paid| paid.elapsed() > within)
    }

    async fn pay_withdrawn(&mut self, simulator: &Simulator, key: Uuid) -> Outcome {
        self.stage(simulator, key, Staged::Payment { amount: None }).await?;
        self.paid_withdrawn = Some(Instant::now());
        Ok(())
    }

    async fn read(&mut self, simulator: &Simulator) -> Outcome {
        loop {
            let page = simulator.get(&format!("/v1/entries?limit=1000&after={}", self.after)).await?;
            let EntryPage { items, next } = serde_json::from_value(page)?;
            self.after = items.last().map_or(self.after, |entry| entry.sequence);
            let waits =
                |entry: &EntryView| matches!(entry.outcome, EntryOutcome::Pending | EntryOutcome::Accepted);
            self.waiting.extend(items.into_iter().filter(waits));
            if next.is_none() {
                return Ok(());
            }
        }
    }

    async fn happen(&mut self, simulator: &Simulator, entry: &EntryView) -> Outcome {
        let what = match entry.outcome {
            EntryOutcome::Accepted if self.dice.one_in(4) => Staged::RefundRefusal,
            EntryOutcome::Accepted => Staged::Refund,
            EntryOutcome::Pending if self.dice.one_in(8) => Staged::Withdrawal,
            EntryOutcome::Pending if self.dice.one_in(8) => Staged::Refusal,
            EntryOutcome::Pending
            | EntryOutcome::Approved
            | EntryOutcome::Declined
            | EntryOutcome::ProbedBeforeArrival => Staged::Payment { amount: self.amount(entry) },
        };
        self.stage(simulator, entry.key, what).await?;
        if what == Staged::Withdrawal && self.dice.one_in(2) {
            self.withdrawn.push(entry.key);
        }
        if let Staged::Payment { .. } = what
            && self.dice.one_in(8)
        {
            let again = Staged::FurtherPayment { amount: self.amount(entry) };
            self.stage(simulator, entry.key, again).await?;
        }
        Ok(())
    }

    /// Now and then another amount than was asked for.
    fn amount(&mut self, entry: &EntryView) -> Option<Amount> {
        let asked = entry.amount?;
        match self.dice.one_in(6) {
            true if self.dice.one_in(2) => Amount::new((asked / 2).clamp(1, REFUSED_AMOUNT_MINOR_UNITS - 1)),
            true => Amount::new(asked + 1),
            false => None,
        }
    }

    async fn stage(&self, simulator: &Simulator, key: Uuid, what: Staged) -> Outcome {
        let at: Timestamp = self.clock.deployment();
        let message = serde_json::to_value(StagedMessage::of(&StagedEvent { key, at, what }))?;
        simulator.post("/v1/staged", &message).await
    }
}
