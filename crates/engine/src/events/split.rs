//! The division of a charge or session as answers and events show it (`docs/interface/charges.md#split`).

use std::fmt::Display;

use regente_domain::charge::Charge;
use regente_domain::id::{Id, SellerId, of};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::platform_fee::{FeeMethod, PlatformFee, Terms};
use regente_domain::split::{Bears, Share, SplitRule, WholePercent};
use regente_domain::time::Timestamp;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// The share of one seller.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SplitRule)]
pub struct SplitRuleView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::SplitRule>,
    seller_id: SellerId,
    #[schema(value_type = Option<i64>, required = true, example = 30)]
    percentage: Option<WholePercent>,
    #[schema(value_type = Option<i64>, required = true)]
    amount: Option<Amount>,
    #[schema(required = true)]
    processing_fee: Option<bool>,
    #[schema(required = true)]
    charge_entire_fee: Option<bool>,
    #[schema(required = true)]
    charge_remainder_fee: Option<bool>,
    #[schema(required = true)]
    liable: Option<bool>,
    #[schema(required = true)]
    transaction_owner: Option<bool>,
    /// In percent, with two decimals.
    #[schema(required = true, example = "2.00")]
    fare_mdr: Option<String>,
    /// In cents.
    #[schema(value_type = Option<f64>, required = true, example = 100)]
    fare_fee: Option<Number>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl SplitRuleView {
    /// Shows a rule.
    pub fn of(rule: &SplitRule) -> Self {
        let (percentage, amount) = match rule.share {
            Share::Percentage(percent) => (Some(percent), None),
            Share::Amount(amount) => (None, Some(amount)),
        };
        let Bears {
            processing_fee,
            charge_entire_fee,
            charge_remainder_fee,
            liable,
            transaction_owner,
            fare_mdr,
            fare_fee,
        } = rule.bears;
        Self {
            id: rule.id,
            seller_id: rule.seller_id,
            percentage,
            amount,
            processing_fee,
            charge_entire_fee,
            charge_remainder_fee,
            liable,
            transaction_owner,
            fare_mdr: fare_mdr.map(two_decimals),
            fare_fee: fare_fee.and_then(number),
            created_at: rule.created_at(),
            updated_at: rule.created_at(),
        }
    }
}

/// What the platform keeps of a charge that is divided among sellers.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlatformFee)]
pub struct PlatformFeeView {
    #[schema(value_type = uuid::Uuid)]
    rule_id: Id<of::PlatformFeeRule>,
    #[schema(value_type = Option<f64>, required = true, example = 3.5)]
    percentage: Option<Number>,
    #[schema(value_type = Option<i64>, required = true, example = 50)]
    fixed_amount: Option<Amount>,
    payment_method: FeeMethod,
    #[schema(value_type = Option<i64>, required = true, example = 3)]
    installment: Option<u8>,
    /// The fee itself; refunds do not change it.
    #[schema(value_type = i64)]
    amount: Amount,
    applied_at: Timestamp,
}

impl PlatformFeeView {
    /// The fee of a charge, if it has one.
    pub fn of(charge: &Charge) -> Option<Self> {
        let split = charge.split.as_deref()?;
        let PlatformFee { rule_id, terms, applied_at } = split.fee.as_ref()?;
        let Terms { percentage, fixed_amount, payment_method, installment } = *terms;
        Some(Self {
            rule_id: *rule_id,
            percentage: percentage.and_then(number),
            fixed_amount,
            payment_method,
            installment,
            amount: split.charged(charge.amount, charge.original_amount).fee,
            applied_at: *applied_at,
        })
    }
}

fn two_decimals(percentage: Percentage) -> String {
    format!("{}.{:02}", percentage.hundredths() / 100, percentage.hundredths() % 100)
}

fn number(exact: impl Display) -> Option<Number> {
    exact.to_string().parse().ok()
}
