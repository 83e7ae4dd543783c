//! What is left to each of those among whom a charge was divided, after refunds and refunds that came back.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::shares::divide;
use super::{Shares, SplitRule};
use crate::id::SellerId;
use crate::money::Amount;
use crate::money::PositiveAmount;
use crate::problems::Problems;

/// What each had, and what is left to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// Before anything was given back.
    had: Shares,
    left: Shares,
    /// In proportion to what a refund is given back, when it is not what each had: a caller has said who gives back how
    /// much, or a refund has come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evenly_of: Option<Shares>,
    /// The first refund that was not given back in proportion to what each had, and all after it, as far as they have not
    /// come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unevenly: Vec<Returned>,
}

/// What each gave back with a void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Returned {
    /// The ordinal of its request; `None` for all that were given back in proportion to what each had.
    void: Option<i64>,
    shares: Shares,
}

impl Held {
    /// Nothing was given back.
    pub(super) fn all_of(had: Shares) -> Self {
        Self { left: had.clone(), had, evenly_of: None, unevenly: Vec::new() }
    }

    /// What each had before anything was given back.
    pub(super) const fn had(&self) -> &Shares {
        &self.had
    }

    /// What is left to each.
    pub const fn left(&self) -> &Shares {
        &self.left
    }

    /// In proportion to what each gives back.
    pub(super) fn evenly_of(&self) -> &Shares {
        self.evenly_of.as_ref().unwrap_or(&self.had)
    }

    /// After a void in which each gave back this, where `evenly` would have been in proportion.
    pub(super) fn given_back(mut self, void: i64, returned: &Shares, evenly: &Shares) -> Self {
        self.left = self.left.minus(returned);
        if returned != evenly {
            self.evenly_of = Some(self.left.clone());
        }
        if self.evenly_of.is_some() {
            self.unevenly.push(Returned { void: Some(void), shares: returned.clone() });
        }
        self
    }

    /// After `amount` of what was given back has come back: to those who gave it with this void, and what is more than
    /// that to all, in proportion to what they had given.
    pub(super) fn come_back(&self, amount: Amount, void: Option<i64>) -> Self {
        let mut given = self.given();
        let named = void.map(|void| given.iter().position(|given| given.void == Some(void)).unwrap_or(0));
        let of_named = |(place, given): (usize, &Returned)| {
            if named == Some(place) { given.shares.total().min(amount).minor_units() } else { 0 }
        };
        let back: Vec<i64> = given.iter().enumerate().map(of_named).collect();
        let rest = amount.minor_units().saturating_sub(back.iter().sum());
        let totals = given.iter().map(|given| given.shares.total().minor_units());
        let others: Vec<i64> = totals.zip(&back).map(|(total, back)| total.saturating_sub(*back)).collect();
        let mut left = self.left.clone();
        for ((given, back), more) in given.iter_mut().zip(back).zip(divide(rest, &others)) {
            let back = Amount::new(back.saturating_add(more)).unwrap_or(Amount::ZERO);
            let shares = given.shares.in_proportion(back);
            left = left.plus(&shares);
            given.shares = given.shares.minus(&shares);
        }
        if left == self.had {
            return Self::all_of(left);
        }
        given.retain(|given| given.void.is_some() && given.shares.total() > Amount::ZERO);
        Self { had: self.had.clone(), evenly_of: Some(left.clone()), left, unevenly: given }
    }

    /// All that was given back, as far as it has not come back: first what was in proportion to what each had.
    fn given(&self) -> Vec<Returned> {
        let all = self.had.minus(&self.left);
        let evenly = self.unevenly.iter().fold(all, |evenly, returned| evenly.minus(&returned.shares));
        [Returned { void: None, shares: evenly }].into_iter().chain(self.unevenly.iter().cloned()).collect()
    }
}

/// What a seller gives back of a refund, as a caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(example = json!({ "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6", "amount": 50 }))]
pub struct SellerReturn {
    /// A seller of the charge, each at most once.
    pub seller_id: SellerId,
    /// In the minor unit of the currency, at most what is left to the seller.
    #[deserr(from(PositiveAmount) = Amount::from)]
    #[schema(value_type = PositiveAmount)]
    pub amount: Amount,
}

/// Why a refund cannot be given back so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnRefusal {
    /// The seller at this index has no share, or is named a second time.
    Seller(usize),
    /// The seller at this index has less.
    MoreThanLeft {
        /// The index.
        index: usize,
        /// What is left to them.
        left: Amount,
    },
    /// Together they would give back more than is refunded.
    MoreThanRefunded,
    /// The merchant has less than what the sellers would leave to them.
    LessThanRefunded {
        /// What the sellers have to give back together.
        least: Amount,
    },
}

/// What each gives back of `back` when the sellers give back what is `given`. The platform gives back its part of the
/// refund as far as the sellers leave it to do, and the merchant the rest.
pub(super) fn as_given(
    rules: &[SplitRule],
    left: &Shares,
    back: Amount,
    given: &[SellerReturn],
) -> Result<Shares, ReturnRefusal> {
    let mut returns = Shares::all_the_merchants(rules.len(), Amount::ZERO);
    for (index, wish) in given.iter().enumerate() {
        let place = rules.iter().position(|rule| rule.seller_id == wish.seller_id);
        let twice = given.iter().take(index).any(|earlier| earlier.seller_id == wish.seller_id);
        let place = place.filter(|_| !twice).ok_or(ReturnRefusal::Seller(index))?;
        let has = left.sellers.get(place).copied().unwrap_or(Amount::ZERO);
        if wish.amount > has {
            return Err(ReturnRefusal::MoreThanLeft { index, left: has });
        }
        if let Some(part) = returns.sellers.get_mut(place) {
            *part = wish.amount;
        }
    }
    let rest = back.minus(returns.total()).ok_or(ReturnRefusal::MoreThanRefunded)?;
    let evenly = left.minus(&left.lowered(left, back)).fee;
    returns.fee = evenly.min(rest);
    let merchants = rest.minus(returns.fee).unwrap_or(Amount::ZERO);
    if merchants > left.merchant {
        let others = left.merchant.plus(returns.fee).unwrap_or(left.merchant);
        return Err(ReturnRefusal::LessThanRefunded { least: back.minus(others).unwrap_or(Amount::ZERO) });
    }
    returns.merchant = merchants;
    Ok(returns)
}
