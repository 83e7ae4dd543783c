//! `splitRules` of charges, sessions and voids (`docs/interface/charges.md#split`).

use regente_domain::split::SplitRule;

/// Notes in the log that rules have both fees.
pub fn note_both_fees(rules: &[SplitRule]) {
    let has_both = |rule: &SplitRule| {
        rule.bears.charge_entire_fee == Some(true) && rule.bears.charge_remainder_fee == Some(true)
    };
    if rules.iter().any(has_both) {
        tracing::info!("a split rule has both chargeEntireFee and chargeRemainderFee");
    }
}
