//! The receivables of a prepayment with what they cost, and their sums.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Cost, EffectiveRate, Factor, Rates, Receivable, Schedule};
use crate::id::{ChargeId, PayoutOrderId};
use crate::money::Amount;
use crate::payout::arrangement::Arrangement;

/// A receivable with what it costs to have it paid early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Id of the order.
    pub id: PayoutOrderId,
    /// The charge.
    pub charge_id: ChargeId,
    /// The receivable.
    pub gross: Amount,
    /// What is paid of it.
    pub net: Amount,
    /// What the platform keeps.
    pub markup: Amount,
    /// What the provider keeps.
    pub fee: Amount,
    /// Calendar days from the payment to the settlement.
    pub days: u32,
    /// When it would be settled.
    pub settlement_date: Date,
    /// The payment arrangement.
    pub arrangement: Arrangement,
}

impl Item {
    /// What it costs.
    pub fn discount(&self) -> Amount {
        self.gross.minus(self.net).unwrap_or(Amount::ZERO)
    }
}

/// Makes items at the rates of an account. The factor of each number of days is computed once.
#[derive(Clone, Debug)]
pub struct Offers {
    rates: Rates,
    factors: BTreeMap<u32, Factor>,
}

impl Offers {
    /// At these rates.
    pub const fn at(rates: Rates) -> Self {
        Self { rates, factors: BTreeMap::new() }
    }

    /// What it costs to have this amount paid so many days early.
    pub fn cost(&mut self, gross: Amount, days: u32) -> Cost {
        let rates = self.rates;
        rates.cost(gross, self.factors.entry(days).or_insert_with(|| Factor::of(rates, days)))
    }

    /// The item of a receivable that is paid on `payment_date`.
    pub fn item(&mut self, payment_date: Date, receivable: Receivable) -> Item {
        let Receivable { id, charge_id, settlement_date, arrangement, amount: gross, .. } = receivable;
        let days = Schedule::days_until(payment_date, settlement_date);
        let Cost { net, fee, markup } = self.cost(gross, days);
        Item { id, charge_id, gross, net, markup, fee, days, settlement_date, arrangement }
    }
}

/// The receivables of an offer as there are `now`; `None` where one of them is not as it was.
pub fn unchanged<'a>(items: &[Item], now: &'a [Receivable]) -> Option<Vec<&'a Receivable>> {
    let by_id: HashMap<_, _> = now.iter().map(|receivable| (receivable.id, receivable)).collect();
    let as_it_was = |item: &Item| {
        let receivable = *by_id.get(&item.id)?;
        let is_same = receivable.amount == item.gross && receivable.settlement_date == item.settlement_date;
        is_same.then_some(receivable)
    };
    items.iter().map(as_it_was).collect()
}

/// The sums of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The receivables.
    pub gross: Amount,
    /// What is paid.
    pub net: Amount,
    /// What the platform keeps.
    pub markup: Amount,
    /// What the provider keeps.
    pub fee: Amount,
}

impl Totals {
    /// Of these items; `None` above what an amount can hold.
    pub fn of(items: &[Item]) -> Option<Self> {
        items.iter().try_fold(Self::default(), |sum, item| {
            Some(Self {
                gross: sum.gross.plus(item.gross)?,
                net: sum.net.plus(item.net)?,
                markup: sum.markup.plus(item.markup)?,
                fee: sum.fee.plus(item.fee)?,
            })
        })
    }

    /// What it costs.
    pub fn discount(&self) -> Amount {
        self.gross.minus(self.net).unwrap_or(Amount::ZERO)
    }

    /// The part of the receivables that it costs.
    pub fn effective_rate(&self) -> EffectiveRate {
        EffectiveRate::of(self.discount(), self.gross)
    }
}
