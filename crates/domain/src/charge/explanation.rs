//! Why a charge went the way it went: which providers were considered, which were skipped and why.
//! What was tried and how it ended is in the transaction requests; together they tell the whole timeline.

use serde::{Deserialize, Serialize};

use crate::id::ProviderId;
use crate::provider_type::ProviderType;

use super::words::words;

/// The route of a charge as it was chosen when the charge was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every provider of the merchant, in the order of the route.
    pub considered: Vec<Considered>,
    /// Why no further provider was asked, when the charge ended without approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// One provider of the merchant and what the route made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    /// The provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// 1 is asked first.
    pub priority: i64,
    /// Why it is not asked; absent when it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skipped>,
    /// What its circuit had to say, when it may be asked although the circuit was not closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit: Option<CircuitNote>,
}

words! {
    /// Why a provider is not asked.
    Skipped {
        /// It analyses risk and takes no payments.
        NotAPaymentProvider = "not_a_payment_provider",
        /// It does not take this payment type.
        PaymentType = "payment_type",
        /// It does not take this currency.
        Currency = "currency",
        /// It does not take so many installments.
        Installments = "installments",
        /// It cannot reserve without capturing.
        PreAuthorization = "pre_authorization",
        /// It has stopped answering, and another provider is left.
        CircuitOpen = "circuit_open",
    }
}

words! {
    /// Why a provider may be asked although it has stopped answering.
    CircuitNote {
        /// Enough time has passed, and this charge is the one that tries it.
        Probe = "trial",
        /// No other provider can serve the charge.
        OpenButNoOther = "open_but_no_other",
    }
}

words! {
    /// Why no further provider was asked.
    Stopped {
        /// The refusal was final.
        NotRetryable = "not_retryable",
        /// No provider was left.
        NoProviderLeft = "no_provider_left",
        /// The time budget of the charge was used up.
        BudgetUsedUp = "budget_used_up",
        /// The service stopped while the provider was being asked, and only the buyer may start again.
        Interrupted = "interrupted",
        /// The payer did not pay in time.
        Expired = "expired",
    }
}
