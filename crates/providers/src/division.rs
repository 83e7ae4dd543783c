//! How a payment is divided among sellers, as its provider is told.

use regente_domain::money::Amount;
use regente_domain::split::{Bears, Shares};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The parts of an amount: of a charge, of what is captured of it, or of what is given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Division {
    /// The sellers, in the order of the rules.
    pub sellers: Vec<SellerPart>,
    /// What is left to the merchant, with the fee of the platform.
    pub rest: Amount,
}

/// The part of one seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SellerPart {
    /// Our key of their registration there.
    pub registration: Uuid,
    /// Their id at the provider; absent while the provider has not told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// Their part.
    pub amount: Amount,
    /// What they bear.
    #[serde(flatten)]
    pub bears: Bears,
}

impl Division {
    /// What each has; the rest is the merchant's.
    pub(crate) fn shares(&self) -> Shares {
        let sellers = self.sellers.iter().map(|part| part.amount).collect();
        Shares { sellers, merchant: self.rest, fee: Amount::ZERO }
    }

    /// The same sellers with other shares.
    pub(crate) fn with(&self, shares: Shares) -> Self {
        let part = |(part, amount): (&SellerPart, Amount)| SellerPart { amount, ..part.clone() };
        Self { sellers: self.sellers.iter().zip(shares.sellers).map(part).collect(), rest: shares.merchant }
    }

    /// Whether the parts are the whole of `amount`.
    pub fn fits(&self, amount: Amount) -> bool {
        let sum = |sum: Amount, part: &SellerPart| sum.plus(part.amount);
        self.sellers.iter().try_fold(self.rest, sum) == Some(amount)
    }
}
