//! Who bears what a provider keeps for its services.

use super::{Bears, Shares, Split};
use crate::id::SellerId;
use crate::money::Amount;

impl Split {
    /// Who bears how much of a fee for what was charged; nobody named is the merchant.
    pub fn fee_borne(&self, charged: &Shares, fee: i64) -> Vec<(Option<SellerId>, i64)> {
        let shares = charged.sellers.iter().copied();
        let sellers: Vec<(Bears, Amount)> = self.rules.iter().map(|rule| rule.bears).zip(shares).collect();
        let parts = fee_parts(&sellers, charged.total(), fee);
        let merchants = fee - parts.iter().sum::<i64>();
        let sellers = self.rules.iter().map(|rule| Some(rule.seller_id)).zip(parts);
        sellers.chain([(None, merchants)]).filter(|(_, part)| *part != 0).collect()
    }
}

/// How much each of these sellers bears of a fee for an amount of which they have shares; the merchant bears the rest.
///
/// A seller who bears the entire fee bears it alone. Otherwise each who bears fees of processing bears as much of it as they
/// has of the amount, down to the cent, and what is left is borne by the seller who bears the remainder, if there is one.
/// Of several the first counts.
pub fn fee_parts(sellers: &[(Bears, Amount)], amount: Amount, fee: i64) -> Vec<i64> {
    let first = |bears: fn(&Bears) -> Option<bool>| {
        sellers.iter().position(|(seller, _)| bears(seller) == Some(true))
    };
    let whole = i128::from(amount.minor_units().max(1));
    let entire = first(|bears| bears.charge_entire_fee);
    let part = |(bears, share): &(Bears, Amount)| match (entire, bears.processing_fee) {
        (None, Some(true)) => {
            i64::try_from(i128::from(fee) * i128::from(share.minor_units()) / whole).unwrap_or(0)
        }
        (None, Some(false) | None) | (Some(_), _) => 0,
    };
    let mut parts: Vec<i64> = sellers.iter().map(part).collect();
    let left = fee - parts.iter().sum::<i64>();
    let bearer = entire.or_else(|| first(|bears| bears.charge_remainder_fee));
    if let Some(part) = bearer.and_then(|index| parts.get_mut(index)) {
        *part += left;
    }
    parts
}
