//! Shares of an amount: exact, by largest remainder. What cannot be divided to the cent goes, cent by cent, to those who
//! lost most by rounding; of equal ones the seller whose rule comes first, then the merchant, then the platform.

use serde::{Deserialize, Serialize};

use super::{Share, SplitRule};
use crate::money::Amount;
use crate::platform_fee::PlatformFee;

/// What each has of an amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shares {
    /// The sellers, in the order of the rules.
    pub sellers: Vec<Amount>,
    /// The merchant.
    pub merchant: Amount,
    /// The platform.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub fee: Amount,
}

const fn is_nothing(amount: &Amount) -> bool {
    amount.minor_units() == 0
}

/// Why an amount cannot be divided by rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The platform would leave nothing.
    FeeNotBelow {
        /// What the platform would keep.
        fee: Amount,
    },
    /// The sellers would get more than there is.
    SellersAbove {
        /// What there is.
        room: Amount,
    },
}

/// The shares of `amount` by rules that stand together.
pub(super) fn by_rules(
    rules: &[SplitRule],
    fee: Option<&PlatformFee>,
    amount: Amount,
) -> Result<Shares, Misfit> {
    let fee = fee.map_or(Amount::ZERO, |fee| fee.of(amount));
    let room = amount.minus(fee).filter(|room| *room > Amount::ZERO || fee == Amount::ZERO);
    let Some(room) = room else { return Err(Misfit::FeeNotBelow { fee }) };
    let percent = |rule: &SplitRule| match rule.share {
        Share::Percentage(percent) => i64::from(percent.get()),
        Share::Amount(_) => 0,
    };
    let given = |rule: &SplitRule| match rule.share {
        Share::Percentage(_) => Amount::ZERO,
        Share::Amount(amount) => amount,
    };
    let sum = rules.iter().try_fold(Amount::ZERO, |sum, rule| sum.plus(given(rule)));
    let rest = sum.and_then(|sum| room.minus(sum)).ok_or(Misfit::SellersAbove { room })?;
    let mut weights: Vec<i64> = rules.iter().map(percent).collect();
    let merchants = 100 - weights.iter().sum::<i64>();
    if merchants < 0 {
        return Err(Misfit::SellersAbove { room });
    }
    weights.push(merchants);
    let mut parts = divide(rest.minor_units(), &weights);
    let merchant = amount_of(parts.pop().unwrap_or(0));
    let with_given =
        |(rule, part): (&SplitRule, i64)| amount_of(part.saturating_add(given(rule).minor_units()));
    Ok(Shares { sellers: rules.iter().zip(parts).map(with_given).collect(), merchant, fee })
}

impl Shares {
    /// Everything is the merchant's, beside this many sellers.
    pub(super) fn all_the_merchants(sellers: usize, amount: Amount) -> Self {
        Self { sellers: vec![Amount::ZERO; sellers], merchant: amount, fee: Amount::ZERO }
    }

    /// All together.
    pub fn total(&self) -> Amount {
        amount_of(self.parts().iter().sum())
    }

    /// The shares of another amount, in the same proportion.
    pub fn in_proportion(&self, amount: Amount) -> Self {
        Self::of_parts(divide(amount.minor_units(), &self.parts()))
    }

    /// What is left to each when `back` is given back in proportion to `whole`, of which this is what is left. What was
    /// rounded at an earlier refund is made up for: it depends on what is left in all, and nobody ever gets more.
    pub(super) fn lowered(&self, whole: &Self, back: Amount) -> Self {
        let parts = self.parts();
        let total: i64 = parts.iter().sum();
        let to = total.saturating_sub(back.minor_units()).max(0);
        Self::of_parts(divide_below(to, &whole.parts(), &parts))
    }

    /// What is left when each has lost what they have of the other.
    pub fn minus(&self, other: &Self) -> Self {
        self.with(other, |mine, others| mine.saturating_sub(others))
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, i64::saturating_add)
    }

    /// What each bears of this: the merchant bears the shares of those who are not liable.
    pub(super) fn borne_by(&self, is_liable: impl Fn(usize) -> bool) -> Self {
        let mut borne = self.clone();
        for (index, share) in borne.sellers.iter_mut().enumerate() {
            if !is_liable(index) {
                borne.merchant = borne.merchant.plus(*share).unwrap_or(borne.merchant);
                *share = Amount::ZERO;
            }
        }
        borne
    }

    fn parts(&self) -> Vec<i64> {
        self.sellers.iter().chain([&self.merchant, &self.fee]).map(|share| share.minor_units()).collect()
    }

    fn of_parts(mut parts: Vec<i64>) -> Self {
        let fee = amount_of(parts.pop().unwrap_or(0));
        let merchant = amount_of(parts.pop().unwrap_or(0));
        Self { sellers: parts.into_iter().map(amount_of).collect(), merchant, fee }
    }

    fn with(&self, other: &Self, combine: impl Fn(i64, i64) -> i64) -> Self {
        let parts = self.parts().into_iter().zip(other.parts());
        Self::of_parts(parts.map(|(mine, others)| combine(mine, others)).collect())
    }
}

/// Parts of amounts are amounts.
fn amount_of(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap_or(Amount::ZERO)
}

/// Divides by largest remainder; all weights zero divides nothing.
pub(super) fn divide(amount: i64, weights: &[i64]) -> Vec<i64> {
    divide_below(amount, weights, &vec![i64::MAX; weights.len()])
}

/// Divides by largest remainder, and gives nobody more than their `limit`; the limits hold the amount.
fn divide_below(amount: i64, weights: &[i64], limits: &[i64]) -> Vec<i64> {
    let whole: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
    if whole == 0 {
        return vec![0; weights.len()];
    }
    let quota = |weight: &i64| i128::from(amount) * i128::from(*weight);
    let mut parts: Vec<i64> = weights
        .iter()
        .zip(limits)
        .map(|(weight, limit)| i64::try_from(quota(weight) / whole).map_or(*limit, |part| part.min(*limit)))
        .collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // Stable: of equal remainders the first one comes first.
    order.sort_by_key(|index| weights.get(*index).map_or(0, |weight| -(quota(weight) % whole)));
    let mut left = amount.saturating_sub(parts.iter().sum::<i64>());
    while left > 0 {
        let before = left;
        for index in &order {
            let (Some(part), Some(limit)) = (parts.get_mut(*index), limits.get(*index)) else { continue };
            if left > 0 && *part < *limit {
                *part += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    parts
}
