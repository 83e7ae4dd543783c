//! The methods whose payer goes on in the application or at the page of a wallet.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PayerSource;
use crate::money::Amount;
use crate::percentage::Percentage;

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
    /// Where the payer reads their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_url: Option<String>,
    /// Where the payer goes when they have paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_url: Option<String>,
    /// Taxes in the amount, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_value: Option<Amount>,
}

/// Longest time in minutes that the payer of a Drip can have: 30 days.
pub const MINUTES_TO_EXPIRE_MAX: u32 = 30 * 24 * 60;

/// A payment by Drip, a Pix in installments. The browser of the payer identifies them, so it is sealed and not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drip {
    /// The payer.
    pub source: PayerSource,
    /// The terms of the installments.
    #[serde(flatten)]
    pub terms: DripTerms,
    /// How many minutes the payer has, 1 to [`MINUTES_TO_EXPIRE_MAX`]; the provider decides when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes_to_expire: Option<u32>,
    /// `items`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Value>>,
    /// Where the payer goes when they have paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_redirect_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_redirect_url: Option<String>,
}

/// What the payer of a Drip agrees to; what the merchant does not say the provider decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DripTerms {
    /// Most installments that they may choose, 1 to [`super::INSTALLMENTS_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_installments: Option<u8>,
    /// Number of installments, 1 to [`super::INSTALLMENTS_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_installments: Option<u8>,
    /// The day of the first installment, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_installments_date: Option<String>,
    /// Fine for a late installment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine_percentage: Option<Percentage>,
    /// Interest on a late installment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interest_percentage: Option<Percentage>,
    /// Fee for canceling the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_fee_percentage: Option<Percentage>,
}

/// A payment by PicPay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Picpay {
    /// The payer.
    pub source: PayerSource,
}
