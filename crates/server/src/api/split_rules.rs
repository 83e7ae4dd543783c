//! Reads `splitRules` of charges, sessions and voids (`docs/interface/charges.md#split`) where the rest of a body is read field by
//! field.

use regente_domain::money::Amount;
pub use regente_domain::split::NewSplitRule;
use regente_domain::split::{SentSplitRules, SplitRule, excess};
pub use regente_engine::charges::split::SPLIT_RULES;

use crate::api::fields::Fields;

/// Reads the rules for an amount, where it is known; none is no division. Their ids are not drawn yet.
pub fn read(fields: &Fields<'_>, amount: Option<Amount>) -> Option<Vec<SplitRule>> {
    if !fields.has(SPLIT_RULES) {
        return Some(Vec::new());
    }
    let SentSplitRules(rules) = fields.optional(SPLIT_RULES).read_as()?;
    let has_both = |rule: &SplitRule| {
        rule.bears.charge_entire_fee == Some(true) && rule.bears.charge_remainder_fee == Some(true)
    };
    if rules.iter().any(has_both) {
        tracing::info!("a split rule has both chargeEntireFee and chargeRemainderFee");
    }
    if let Some(rule) = amount.and_then(|amount| excess(&rules, amount)) {
        fields.problem(SPLIT_RULES, rule);
    }
    Some(rules)
}
