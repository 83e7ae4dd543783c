//! What a subscription will charge, if nothing changes. Nothing is made.

use jiff::civil::Date;

use super::{Phase, Subscription};
use crate::money::Amount;
use crate::time::Timestamp;

/// A cycle that is not made yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcoming {
    /// Its number.
    pub number: u32,
    /// The day on which it falls due.
    pub due_on: Date,
    /// When it is billed.
    pub bills_at: Timestamp,
    /// What it charges, in cents.
    pub amount: Amount,
}

impl Subscription {
    /// The next cycles, as far as they go; an end that was set cuts them off. A paused or unpaid subscription is shown
    /// as if it went on now.
    pub fn upcoming(&self, now: Timestamp) -> impl Iterator<Item = Upcoming> + '_ {
        let ends_on = self.cancellation.as_ref().map(|set| set.effective_on);
        self.cycles_ahead(now).take_while(move |next| ends_on.is_none_or(|ends_on| next.due_on < ends_on))
    }

    /// `nextDueDate`: the due date of the next cycle, whether or not an end was set before it.
    pub fn next_due_on(&self, now: Timestamp) -> Option<Date> {
        self.cycles_ahead(now).next().map(|next| next.due_on)
    }

    fn cycles_ahead(&self, now: Timestamp) -> impl Iterator<Item = Upcoming> + '_ {
        let first = match self.phase {
            Phase::Trialing | Phase::Created | Phase::Active => Some(self.next_number),
            Phase::Paused | Phase::Unpaid { .. } => Some(self.first_ahead(now)),
            Phase::Canceled | Phase::Expired => None,
        };
        let numbers = first.into_iter().flat_map(|first| first..u32::MAX);
        numbers.take_while(|number| self.schedule.has(*number)).filter_map(|number| {
            let (due_on, bills_at) = (self.schedule.due_on(number)?, self.bills_at(number)?);
            Some(Upcoming { number, due_on, bills_at, amount: self.amount })
        })
    }
}
