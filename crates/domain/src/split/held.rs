//! What is left to each of those among whom a charge was divided, after refunds and refunds that came back.

use serde::{Deserialize, Serialize};

use super::{Shares, SplitRule};
use crate::id::SellerId;
use crate::money::Amount;

/// What each had, and what is left to him.
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
}

impl Held {
    /// What is left to each.
    pub const fn left(&self) -> &Shares {
        &self.left
    }

    pub(super) const fn fee_charged(&self) -> Amount {
        self.had.fee
    }

    /// In proportion to what each gives back.
    pub(super) fn evenly_of(&self) -> &Shares {
        self.evenly_of.as_ref().unwrap_or(&self.had)
    }

    pub(super) fn after_return(
        before: Option<&Self>,
        left: &Shares,
        returned: &Shares,
        evenly: &Shares,
    ) -> Self {
        let had = before.map_or(left, |held| &held.had).clone();
        let left = left.minus(returned);
        let evenly_of = if returned == evenly {
            before.and_then(|held| held.evenly_of.clone())
        } else {
            Some(left.clone())
        };
        Self { had, left, evenly_of }
    }

    /// After `amount` of what was given back has come back: to each in proportion to what he had given.
    pub(super) fn raised(&self, amount: Amount) -> Self {
        let left = self.left.plus(&self.had.minus(&self.left).in_proportion(amount));
        Self { had: self.had.clone(), evenly_of: Some(left.clone()), left }
    }
}

/// What a seller gives back of a refund, as a caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SellerReturn {
    /// The seller.
    pub seller_id: SellerId,
    /// What he gives back.
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
        /// What is left to him.
        left: Amount,
    },
    /// Together they would give back more than is refunded.
    MoreThanRefunded,
    /// The merchant has less than what the sellers would leave to him.
    LessThanRefunded {
        /// What is left to the merchant, with the platform's part of this refund.
        others: Amount,
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
        return Err(ReturnRefusal::LessThanRefunded { others });
    }
    returns.merchant = merchants;
    Ok(returns)
}
