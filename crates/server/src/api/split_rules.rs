//! How `splitRules` of charges, sessions and voids are read (`docs/interface/charges.md#split`).

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use regente_domain::id::{Id, SellerId};
use regente_domain::money::{Amount, PositiveAmount};
use regente_domain::percentage::{Percent, Percentage};
use regente_domain::problems::Problems;
use regente_domain::split::{
    Bears, FareFee, Fee, Misfit, RulesRefusal, SELLERS_MAX, Share, Split, SplitRule, WholePercent, check,
};
use regente_domain::wire::{Integer, List, read_with, refused};
pub use regente_engine::charges::split::SPLIT_RULES;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::fields::Fields;

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
        if bears.charge_entire_fee == Some(true) && bears.charge_remainder_fee == Some(true) {
            tracing::info!("a split rule has both chargeEntireFee and chargeRemainderFee");
        }
        let share = by_percentage.or(by_amount)?;
        Some(SplitRule { id: Id::new(Uuid::nil()), seller_id: self.seller_id, share, bears })
    }
}

/// Reads the rules for an amount, where it is known; none is no division. Their ids are not drawn yet.
pub fn read(fields: &Fields<'_>, amount: Option<Amount>) -> Option<Vec<SplitRule>> {
    if !fields.has(SPLIT_RULES) {
        return Some(Vec::new());
    }
    let sent: List<ReadRule, 0, SELLERS_MAX> = fields.optional(SPLIT_RULES).read_as()?;
    let rules: Vec<SplitRule> = sent.into_vec().into_iter().map(|ReadRule(rule)| rule).collect();
    let problem = |rule: &str| fields.problem(SPLIT_RULES, rule);
    match check(&rules) {
        Ok(()) => {
            let fits = |amount| Split::new(rules.clone(), None).fit(amount);
            if let Some(Err(Misfit::SellersAbove { room })) = amount.map(fits) {
                problem(&format!("must not give the sellers more than {} together", room.minor_units()));
            }
        }
        Err(RulesRefusal::Mixed) => problem("must not mix percentage and amount"),
        Err(RulesRefusal::AboveTheWhole) => problem("must not be more than 100 percent together"),
        Err(RulesRefusal::SellerTwice(index)) => {
            fields.problem(&format!("{SPLIT_RULES}[{index}].sellerId"), "must not be there twice");
        }
    }
    Some(rules)
}
