//! What a platform keeps of charges that are divided among sellers.

mod rules;

use serde::{Deserialize, Serialize};

use crate::id::{Id, of};
use crate::money::Amount;
use crate::percentage::Percentage;
use crate::time::Timestamp;
use crate::words::words;

pub use rules::{Fees, Refusal, Rule, SentTerms, Terms};

words! {
    /// What a rule of the platform fee is for.
    #[schema(as = PlatformFeeMethod)]
    FeeMethod {
        /// Credit cards.
        Credit = "credit",
        /// Pix.
        Pix = "pix",
        /// Boletos.
        Boleto = "boleto",
        /// Every method without a rule of its own.
        Default = "default",
    }
}

/// The rule that was applied to a charge, as it was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlatformFee {
    /// The rule.
    pub rule_id: Id<of::PlatformFeeRule>,
    /// What it said.
    #[serde(flatten)]
    pub terms: Terms,
    /// When it was applied.
    pub applied_at: Timestamp,
}

impl PlatformFee {
    /// The fee of a charge of `amount`: the fixed amount and the percentage, half a cent rounded up. What no amount can
    /// hold is the highest one.
    pub fn of(&self, amount: Amount) -> Amount {
        let whole = i128::from(Percentage::HUNDRED.hundredths());
        let hundredths = self.terms.percentage.map_or(0, |percentage| i128::from(percentage.hundredths()));
        let part = (i128::from(amount.minor_units()) * hundredths * 2 + whole) / (whole * 2);
        let fixed = self.terms.fixed_amount.map_or(0, Amount::minor_units);
        let highest = Amount::MINOR_UNITS_MAX;
        let fee = i64::try_from(part + i128::from(fixed)).unwrap_or(highest).min(highest);
        Amount::new(fee).unwrap_or(Amount::ZERO)
    }
}
