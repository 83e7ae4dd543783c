//! The methods whose payer goes on in the application or at the page of a wallet.

use serde::{Deserialize, Serialize};

use super::PayerSource;
use crate::money::Amount;

/// After how many minutes a NuPay that nobody pays is canceled when the merchant does not say.
pub const DELAY_TO_AUTO_CANCEL_MINUTES: u32 = 30;
/// Longest such delay: 30 days.
pub const DELAY_TO_AUTO_CANCEL_MINUTES_MAX: u32 = 30 * 24 * 60;

/// A payment by NuPay. Its recipients name people, so they are sealed and not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nupay {
    /// The payer.
    pub source: PayerSource,
    /// After how many minutes it is canceled when nobody pays, 1 to [`DELAY_TO_AUTO_CANCEL_MINUTES_MAX`].
    pub delay_to_auto_cancel: u32,
    /// Where the payer reads his order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_url: Option<String>,
    /// Where the payer goes when he has paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// Where the payer goes when he has refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_url: Option<String>,
    /// Taxes in the amount, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_value: Option<Amount>,
}
