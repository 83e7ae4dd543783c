//! The division of a charge among sellers, its merchant and the platform, to the cent. [`Shares`] is the arithmetic,
//! [`Held`] what is left to each after refunds. Which sellers may be named is not known here.

mod fees;
mod held;
mod sent;
mod shares;

use std::fmt;

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::fees::fee_parts;
pub use self::held::{Held, ReturnRefusal, SellerReturn};
pub use self::sent::{NewSplitRule, SentSplitRules, excess};
pub use self::shares::{Misfit, Shares};
use crate::id::{Id, SellerId, of};
use crate::money::Amount;
use crate::percentage::Percentage;
use crate::platform_fee::PlatformFee;
use crate::problems::Problems;
use crate::time::Timestamp;
use crate::wire::{Decimal, Rule};

/// Most sellers of a charge.
pub const SELLERS_MAX: usize = 100;

/// A whole number of percent, 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct WholePercent(u8);

impl WholePercent {
    /// `None` outside of 1 to 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for WholePercent {
    type Error = &'static str;

    fn try_from(percent: u8) -> Result<Self, Self::Error> {
        Self::new(percent).ok_or("a share is 1 to 100 percent")
    }
}

impl From<WholePercent> for u8 {
    fn from(percent: WholePercent) -> Self {
        percent.0
    }
}

/// What a seller gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Share {
    /// A part of what the platform leaves.
    Percentage(WholePercent),
    /// This much.
    Amount(Amount),
}

/// A fee in cents.
pub type Fee = Decimal<0, { u32::MAX as i64 }>;

/// A fee in hundredths of a cent; some agreements name less than a cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Deserr)]
#[serde(transparent)]
#[deserr(error = Problems, try_from(Fee) = FareFee::of -> Rule)]
pub struct FareFee(u32);

impl FareFee {
    /// From hundredths of a cent.
    pub const fn from_hundredths(hundredths: u32) -> Self {
        Self(hundredths)
    }

    fn of(number: Fee) -> Result<Self, Rule> {
        u32::try_from(number.hundredths()).map(Self).map_err(|_| Rule::Borrowed("is not valid"))
    }

    /// Reads a decimal number of cents with at most two decimals.
    pub fn parse(text: &str) -> Option<Self> {
        Percentage::parse(text).map(|hundredths| Self(hundredths.hundredths()))
    }
}

/// The number of cents, with as few decimals as it takes.
impl fmt::Display for FareFee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Percentage::from_hundredths(self.0).fmt(f)
    }
}

/// What a seller bears; absent where neither the rule nor the seller says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bears {
    /// They bear fees of processing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_fee: Option<bool>,
    /// They bear the whole fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_entire_fee: Option<bool>,
    /// They bear what is left of the fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_remainder_fee: Option<bool>,
    /// They bear chargebacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liable: Option<bool>,
    /// They are responsible for the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_owner: Option<bool>,
    /// The percentage that they pay to the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fare_mdr: Option<Percentage>,
    /// The fixed fee that they pay to the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fare_fee: Option<FareFee>,
}

impl Bears {
    /// What is absent here comes from `defaults`.
    #[must_use]
    pub fn or(self, defaults: Self) -> Self {
        Self {
            processing_fee: self.processing_fee.or(defaults.processing_fee),
            charge_entire_fee: self.charge_entire_fee.or(defaults.charge_entire_fee),
            charge_remainder_fee: self.charge_remainder_fee.or(defaults.charge_remainder_fee),
            liable: self.liable.or(defaults.liable),
            transaction_owner: self.transaction_owner.or(defaults.transaction_owner),
            fare_mdr: self.fare_mdr.or(defaults.fare_mdr),
            fare_fee: self.fare_fee.or(defaults.fare_fee),
        }
    }
}

/// The share of one seller. Rules never change once they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SplitRule {
    /// Its id; the time of creation is the id's own.
    pub id: Id<of::SplitRule>,
    /// The seller.
    pub seller_id: SellerId,
    /// What they get.
    #[serde(flatten)]
    pub share: Share,
    /// What they bear.
    #[serde(flatten)]
    pub bears: Bears,
}

impl SplitRule {
    /// When the rule was made.
    pub fn created_at(&self) -> Timestamp {
        self.id.created_at()
    }
}

/// Why rules cannot stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesRefusal {
    /// Percentages and amounts.
    Mixed,
    /// More than 100 percent.
    AboveTheWhole,
    /// The rule at this index names a seller once more.
    SellerTwice(usize),
}

/// Whether `rules` can stand together, whatever is charged.
///
/// # Errors
/// What [`RulesRefusal`] says.
pub fn check(rules: &[SplitRule]) -> Result<(), RulesRefusal> {
    let (mut percent, mut by_percentage) = (0_u32, 0_usize);
    for (index, rule) in rules.iter().enumerate() {
        if rules.iter().take(index).any(|earlier| earlier.seller_id == rule.seller_id) {
            return Err(RulesRefusal::SellerTwice(index));
        }
        if let Share::Percentage(share) = rule.share {
            percent += u32::from(share.get());
            by_percentage += 1;
        }
    }
    match by_percentage {
        0 => Ok(()),
        _ if by_percentage < rules.len() => Err(RulesRefusal::Mixed),
        _ if percent > 100 => Err(RulesRefusal::AboveTheWhole),
        _ => Ok(()),
    }
}

/// Whether both divide in the same way, whatever their ids.
pub fn are_alike(one: &[SplitRule], other: &[SplitRule]) -> bool {
    let is_alike = |(one, other): (&SplitRule, &SplitRule)| SplitRule { id: one.id, ..*other } == *one;
    one.len() == other.len() && one.iter().zip(other).all(is_alike)
}

/// Rules as the history of a session tells of them: who gets what.
pub fn told(rules: &[SplitRule]) -> Value {
    let told = |rule: &SplitRule| match rule.share {
        Share::Percentage(percent) => json!({ "sellerId": rule.seller_id, "percentage": percent }),
        Share::Amount(amount) => json!({ "sellerId": rule.seller_id, "amount": amount }),
    };
    rules.iter().map(told).collect()
}

/// How a charge is divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Split {
    /// The share of each seller, in the order of the request.
    pub rules: Vec<SplitRule>,
    /// What the platform keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<PlatformFee>,
    /// What is left to each, once something was given back; until then the rules say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
    /// What each gives back with the void that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    returning: Option<Shares>,
}

impl Split {
    /// A split of which nothing was given back.
    pub const fn new(rules: Vec<SplitRule>, fee: Option<PlatformFee>) -> Self {
        Self { rules, fee, held: None, returning: None }
    }

    /// Whether this much can be divided by the rules.
    ///
    /// # Errors
    /// What [`Misfit`] says.
    pub fn fit(&self, amount: Amount) -> Result<(), Misfit> {
        shares::by_rules(&self.rules, self.fee.as_ref(), amount).map(drop)
    }

    /// Whether this much can be captured. What is left of a reservation of which something was given back is divided as
    /// it was, whatever the rules name.
    ///
    /// # Errors
    /// What [`Misfit`] says.
    pub fn fit_capture(&self, amount: Amount) -> Result<(), Misfit> {
        if self.held.is_some() { Ok(()) } else { self.fit(amount) }
    }

    /// What each has of `amount`, all that is left of a charge of `original`. A payer may have paid less than the rules
    /// name: each has as large a part of it as of what was charged.
    pub fn shares(&self, amount: Amount, original: Amount) -> Shares {
        if let Some(held) = &self.held
            && held.left().total() == amount
        {
            return held.left().clone();
        }
        let by_rules = |of| shares::by_rules(&self.rules, self.fee.as_ref(), of);
        by_rules(amount).unwrap_or_else(|_| match by_rules(original) {
            Ok(of_original) => of_original.in_proportion(amount),
            Err(_) => Shares::all_the_merchants(self.rules.len(), amount),
        })
    }

    /// What each had of what was captured or paid, before anything of it was given back.
    pub fn charged(&self, amount: Amount, original: Amount) -> Shares {
        self.held.as_ref().map_or_else(|| self.shares(amount, original), |held| held.had().clone())
    }

    /// What each gives back of `back`, a part of `amount`: as `given` says of the sellers, and otherwise in proportion
    /// to what each has.
    ///
    /// # Errors
    /// What [`ReturnRefusal`] says.
    pub fn returns(
        &self,
        amount: Amount,
        original: Amount,
        back: Amount,
        given: &[SellerReturn],
    ) -> Result<Shares, ReturnRefusal> {
        let left = self.shares(amount, original);
        if given.is_empty() {
            Ok(self.evenly(&left, back))
        } else {
            held::as_given(&self.rules, &left, back, given)
        }
    }

    /// What each has of `part`, a part of `amount`, in proportion to what each has left.
    pub fn part(&self, amount: Amount, original: Amount, part: Amount) -> Shares {
        self.evenly(&self.shares(amount, original), part)
    }

    fn evenly(&self, left: &Shares, back: Amount) -> Shares {
        let whole = match &self.held {
            Some(held) if held.left() == left => held.evenly_of(),
            Some(_) | None => left,
        };
        left.minus(&left.lowered(whole, back))
    }

    /// What each bears when the payer's bank takes `held` back. A seller who is not liable keeps their share: the merchant
    /// bears it. The platform has earned nothing from a sale that was undone.
    pub fn on_charge_back(&self, held: &Shares) -> Shares {
        let is_liable =
            |index: usize| self.rules.get(index).is_some_and(|rule| rule.bears.liable == Some(true));
        held.borne_by(is_liable)
    }

    /// With a void under way in which each gives this back.
    #[must_use]
    pub fn returning(&self, returns: Shares) -> Self {
        Self { returning: Some(returns), ..self.clone() }
    }

    /// What each gives back with the void that is under way.
    pub const fn under_way(&self) -> Option<&Shares> {
        self.returning.as_ref()
    }

    /// With no void under way.
    #[must_use]
    pub fn withdrawn(&self) -> Self {
        Self { returning: None, ..self.clone() }
    }

    /// After a capture of `to` out of a reservation of `from`. A reservation of which something was given back is
    /// divided as it was; what counts from then on is what each has of what was captured.
    #[must_use]
    pub fn captured(&self, from: Amount, to: Amount, original: Amount) -> Self {
        let left = self.held.as_ref().map(|_| {
            let left = self.shares(from, original);
            let released = self.evenly(&left, from.minus(to).unwrap_or(Amount::ZERO));
            left.minus(&released)
        });
        Self { held: left.map(Held::all_of), returning: None, ..self.clone() }
    }

    /// After the charge fell from `from` to `to` by the void whose request has this ordinal.
    #[must_use]
    pub fn given_back(&self, from: Amount, to: Amount, original: Amount, void: i64) -> Self {
        let left = self.shares(from, original);
        let back = from.minus(to).unwrap_or(Amount::ZERO);
        let evenly = self.evenly(&left, back);
        let returned = match &self.returning {
            Some(returned) if returned.total() == back => returned,
            Some(_) | None => &evenly,
        };
        let before = self.held.clone().unwrap_or_else(|| Held::all_of(left));
        Self { held: Some(before.given_back(void, returned, &evenly)), returning: None, ..self.clone() }
    }

    /// After the charge rose by `amount` because a refund came back: that of the void with this ordinal, if it is known.
    #[must_use]
    pub fn come_back(&self, amount: Amount, void: Option<i64>) -> Self {
        let held = self.held.as_ref().map(|held| held.come_back(amount, void));
        Self { held, returning: None, ..self.clone() }
    }
}
