//! How `splitRules` of charges, sessions, subscriptions and voids are sent (`docs/interface/charges.md#split`).

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    Bears, FareFee, Fee, Misfit, RulesRefusal, SELLERS_MAX, Share, Split, SplitRule, WholePercent, check,
};
use crate::id::{Id, SellerId};
use crate::money::{Amount, PositiveAmount};
use crate::percentage::{Percent, Percentage};
use crate::problems::Problems;
use crate::wire::{Integer, List, read_with, refused};

const PERCENTAGE: &str = "percentage";
const AMOUNT: &str = "amount";

/// The share of one seller: by `percentage` or by `amount`, in all rules alike.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase",
    example = json!({ "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6", "percentage": 30, "liable": true }))]
pub struct NewSplitRule {
    /// A seller of the merchant, each at most once.
    seller_id: SellerId,
    /// A part of what the platform leaves.
    #[deserr(default)]
    percentage: Option<Integer<1, 100>>,
    /// In the minor unit of the currency.
    #[deserr(default)]
    amount: Option<PositiveAmount>,
    /// Whether the seller bears fees of processing; by default what the seller says.
    #[deserr(default)]
    processing_fee: Option<bool>,
    /// Whether the seller bears the whole fee.
    #[deserr(default)]
    charge_entire_fee: Option<bool>,
    /// Whether the seller bears what is left of the fee.
    #[deserr(default)]
    charge_remainder_fee: Option<bool>,
    /// Whether the seller bears chargebacks; by default what the seller says.
    #[deserr(default)]
    liable: Option<bool>,
    /// Whether the seller is responsible for the transaction.
    #[deserr(default)]
    transaction_owner: Option<bool>,
    #[deserr(default)]
    fares: Option<Fares>,
}

/// What the seller pays to the merchant; by default what the seller says.
#[derive(Default, Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = SplitFares)]
struct Fares {
    /// In percent, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    mdr: Option<Percentage>,
    /// In cents, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Fee>)]
    fee: Option<FareFee>,
}

struct ReadRule(SplitRule);

impl Deserr<Problems> for ReadRule {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: NewSplitRule = read_with(value, location, |members, problems| {
            if members.contains_key(PERCENTAGE) == members.contains_key(AMOUNT) {
                problems.extend(refused(location, "must have either percentage or amount"));
            }
        })?;
        sent.rule().map(Self).ok_or_else(|| refused(location, "is not valid"))
    }
}

impl NewSplitRule {
    /// The rule, whose id is not drawn yet.
    fn rule(self) -> Option<SplitRule> {
        let percentage = self.percentage.and_then(|percent| u8::try_from(percent.get()).ok());
        let by_percentage = percentage.and_then(WholePercent::new).map(Share::Percentage);
        let by_amount = self.amount.map(|amount| Share::Amount(amount.into()));
        let Fares { mdr, fee } = self.fares.unwrap_or_default();
        let bears = Bears {
            processing_fee: self.processing_fee,
            charge_entire_fee: self.charge_entire_fee,
            charge_remainder_fee: self.charge_remainder_fee,
            liable: self.liable,
            transaction_owner: self.transaction_owner,
            fare_mdr: mdr,
            fare_fee: fee,
        };
        let share = by_percentage.or(by_amount)?;
        Some(SplitRule { id: Id::new(Uuid::nil()), seller_id: self.seller_id, share, bears })
    }
}

/// Rules that go together, of at most [`SELLERS_MAX`] sellers; none is no division. Their ids are not drawn yet.
#[derive(Clone, Debug, Default)]
pub struct SentSplitRules(pub Vec<SplitRule>);

impl Deserr<Problems> for SentSplitRules {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: List<ReadRule, 0, SELLERS_MAX> = Deserr::deserialize_from_value(value, location)?;
        let rules: Vec<SplitRule> = sent.into_vec().into_iter().map(|ReadRule(rule)| rule).collect();
        match check(&rules) {
            Ok(()) => Ok(Self(rules)),
            Err(RulesRefusal::Mixed) => Err(refused(location, "must not mix percentage and amount")),
            Err(RulesRefusal::AboveTheWhole) => {
                Err(refused(location, "must not be more than 100 percent together"))
            }
            Err(RulesRefusal::SellerTwice(index)) => {
                let at = location.push_index(index);
                Err(refused(at.push_key("sellerId"), "must not be there twice"))
            }
        }
    }
}

/// The rule that rules break which give the sellers more than `amount`; `None` when they fit.
pub fn excess(rules: &[SplitRule], amount: Amount) -> Option<String> {
    match Split::new(rules.to_vec(), None).fit(amount) {
        Err(Misfit::SellersAbove { room }) => {
            Some(format!("must not give the sellers more than {} together", room.minor_units()))
        }
        Ok(()) | Err(Misfit::FeeNotBelow { .. }) => None,
    }
}
