//! A charge as the interface shows it, as far as the command line looks at it.

use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, MerchantId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

/// A charge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct Charge {
    pub(in crate::cli) id: ChargeId,
    pub(super) merchant_id: MerchantId,
    pub(super) created_at: Timestamp,
    pub(in crate::cli) status: String,
    pub(super) amount: Amount,
    pub(super) original_amount: Amount,
    pub(super) currency: Currency,
    pub(in crate::cli) is_dispute: bool,
    pub(super) order_id: Option<String>,
    pub(super) responsible_provider_type: Option<String>,
    payment_method: Method,
    /// Newest first.
    pub(in crate::cli) transaction_requests: Vec<Request>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Method {
    payment_type: String,
}

/// A call to a provider.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct Request {
    pub(super) created_at: Timestamp,
    pub(in crate::cli) idempotency_key: Option<Uuid>,
    pub(super) provider_type: String,
    pub(super) amount: Option<Amount>,
    pub(in crate::cli) request_type: String,
    pub(in crate::cli) request_status: String,
    pub(super) response_ts: Option<String>,
    pub(super) provider_error: Option<ProviderError>,
}

/// Why a provider has refused.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProviderError {
    pub(super) message: String,
    pub(super) declined_code: Option<String>,
}

impl Charge {
    pub(in crate::cli) fn payment_type(&self) -> &str {
        &self.payment_method.payment_type
    }

    /// What is left of what was charged.
    pub(in crate::cli) fn amount_shown(&self) -> String {
        let left = self.amount.shown_in(self.currency);
        match self.amount == self.original_amount {
            true => left,
            false => format!("{left} of {}", self.original_amount.in_major_units_of(self.currency)),
        }
    }

    pub(in crate::cli) fn status_shown(&self) -> String {
        let disputed = if self.is_dispute { ", disputed" } else { "" };
        format!("{}{disputed}", self.status)
    }
}

/// The path of a charge.
pub(in crate::cli) fn path_of(id: ChargeId) -> String {
    format!("/v1/charges/{id}")
}
