//! How `splitRules` of charges, sessions and voids are read (`docs/interface/charges.md#split`).

use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::split::{
    Bears, FareFee, Misfit, RulesRefusal, SELLERS_MAX, SellerReturn, Share, Split, SplitRule, WholePercent,
    check,
};
pub use regente_engine::charges::split::SPLIT_RULES;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::fields::{Field, Fields};

const PERCENTAGE: &str = "percentage";
const AMOUNT: &str = "amount";

/// The share of one seller: by `percentage` or by `amount`, in all rules alike.
#[derive(ToSchema)]
#[schema(as = NewSplitRule, rename_all = "camelCase",
    example = json!({ "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6", "percentage": 30, "liable": true }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewSplitRule {
    /// A seller of the merchant, each at most once.
    seller_id: Uuid,
    /// A part of what the platform leaves.
    #[schema(minimum = 1, maximum = 100)]
    percentage: Option<i64>,
    /// In the minor unit of the currency.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: Option<i64>,
    /// Whether the seller bears fees of processing; by default what the seller says.
    processing_fee: Option<bool>,
    /// Whether the seller bears the whole fee.
    charge_entire_fee: Option<bool>,
    /// Whether the seller bears what is left of the fee.
    charge_remainder_fee: Option<bool>,
    /// Whether the seller bears chargebacks; by default what the seller says.
    liable: Option<bool>,
    /// Whether the seller is responsible for the transaction.
    transaction_owner: Option<bool>,
    fares: Option<FaresBody>,
}

/// What the seller pays to the merchant; by default what the seller says.
#[derive(ToSchema)]
#[schema(as = SplitFares)]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct FaresBody {
    /// In percent, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    mdr: Option<f64>,
    /// In cents, with at most two decimals.
    #[schema(minimum = 0)]
    fee: Option<f64>,
}

/// What a seller gives back.
#[derive(ToSchema)]
#[schema(as = SellerReturn, rename_all = "camelCase",
    example = json!({ "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6", "amount": 50 }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct SellerReturnBody {
    /// A seller of the charge, each at most once.
    seller_id: Uuid,
    /// In the minor unit of the currency, at most what is left to the seller.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: i64,
}

/// Reads the rules for an amount, where it is known; none is no division. Their ids are not drawn yet.
pub fn read(fields: &Fields<'_>, amount: Option<Amount>) -> Option<Vec<SplitRule>> {
    if !fields.has(SPLIT_RULES) {
        return Some(Vec::new());
    }
    let rules = fields.optional(SPLIT_RULES).array(0..=SELLERS_MAX, |rule| rule.object(read_rule))?;
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

fn read_rule(fields: &Fields<'_>) -> Option<SplitRule> {
    let seller_id = fields.required("sellerId").id();
    let percentage = fields.optional(PERCENTAGE).integer(1..=100);
    let amount = fields.optional(AMOUNT).positive_amount();
    let share = match (fields.has(PERCENTAGE), fields.has(AMOUNT)) {
        (true, false) => percentage
            .and_then(|percent| u8::try_from(percent).ok())
            .and_then(WholePercent::new)
            .map(Share::Percentage),
        (false, true) => amount.map(Share::Amount),
        (true, true) | (false, false) => {
            fields.problem_here("must have either percentage or amount");
            None
        }
    };
    let flag = |name: &str| fields.optional(name).boolean();
    let (mdr, fee) = fields.optional("fares").object(|fares| Some(read_fares(fares))).unwrap_or_default();
    let bears = Bears {
        processing_fee: flag("processingFee"),
        charge_entire_fee: flag("chargeEntireFee"),
        charge_remainder_fee: flag("chargeRemainderFee"),
        liable: flag("liable"),
        transaction_owner: flag("transactionOwner"),
        fare_mdr: mdr,
        fare_fee: fee,
    };
    if bears.charge_entire_fee == Some(true) && bears.charge_remainder_fee == Some(true) {
        tracing::info!("a split rule has both chargeEntireFee and chargeRemainderFee");
    }
    Some(SplitRule { id: Id::new(Uuid::nil()), seller_id: seller_id?, share: share?, bears })
}

fn read_fares(fares: &Fields<'_>) -> (Option<Percentage>, Option<FareFee>) {
    let hundredths = |field: Field<'_>, most: u32| {
        field.hundredths(0..=i64::from(most)).and_then(|number| u32::try_from(number).ok())
    };
    let mdr = hundredths(fares.optional("mdr"), Percentage::HUNDRED.hundredths());
    let fee = hundredths(fares.optional("fee"), u32::MAX);
    (mdr.map(Percentage::from_hundredths), fee.map(FareFee::from_hundredths))
}

/// Reads what sellers give back with a void; none is what is theirs in proportion.
pub fn read_returns(fields: &Fields<'_>) -> Option<Vec<SellerReturn>> {
    if !fields.has(SPLIT_RULES) {
        return Some(Vec::new());
    }
    fields.optional(SPLIT_RULES).array(0..=SELLERS_MAX, |given| {
        given.object(|given| {
            let seller_id = given.required("sellerId").id();
            let amount = given.required(AMOUNT).positive_amount();
            Some(SellerReturn { seller_id: seller_id?, amount: amount? })
        })
    })
}
