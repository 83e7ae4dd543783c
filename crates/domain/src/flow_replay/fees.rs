//! What providers take for tries and approvals, by a file of the operator.

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::currency::Currency;
use crate::id::ProviderId;
use crate::percentage::Percentage;
use crate::problems::Problems;
use crate::wire::Integer;

/// A fee in minor units.
type Fee = Integer<0, 1_000_000>;

/// What a provider takes in a currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[deserr(rename_all = camelCase, deny_unknown_fields, error = Problems)]
pub struct FeeTerms {
    /// The provider.
    pub provider_id: ProviderId,
    /// The currency of the amounts.
    pub currency: Currency,
    /// For each try, in minor units.
    #[deserr(default)]
    pub per_try: Option<Fee>,
    /// For each approval, in minor units.
    #[deserr(default)]
    pub per_approval: Option<Fee>,
    /// Of what is approved, in percent.
    #[deserr(default)]
    pub percentage: Option<Percentage>,
}

impl FeeTerms {
    /// What it takes for each try, for each approval, and of what is approved, in hundredths of a percent.
    pub(super) fn numbers(&self) -> (i64, i64, u32) {
        let fee = |fee: Option<Fee>| fee.map_or(0, Fee::get);
        (fee(self.per_try), fee(self.per_approval), self.percentage.map_or(0, Percentage::hundredths))
    }
}

/// A file of such terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct FeesFile {
    /// One for each provider and currency.
    pub fees: Vec<FeeTerms>,
}
