//! Why a charge went the way it went: which providers were considered, which were skipped and why.
//! What was tried and how it ended is in the transaction requests; together they tell the whole story.

use serde::{Deserialize, Serialize};

use crate::id::ProviderId;
use crate::provider_type::ProviderType;

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

/// Why a provider cannot serve a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skipped {
    /// It analyses risk and takes no payments.
    NotAPaymentProvider,
    /// It does not take this payment type.
    PaymentType,
    /// It does not take this currency.
    Currency,
    /// It does not take so many installments.
    Installments,
    /// It cannot reserve without capturing.
    PreAuthorization,
    /// It has stopped answering, and another provider is left.
    CircuitOpen,
}

/// Why a provider may be asked although it has stopped answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CircuitNote {
    /// Enough time has passed, and this charge is the one that tries it.
    Trial,
    /// No other provider can serve the charge.
    OpenButNoOther,
}

/// Why no further provider was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The refusal was final.
    NotRetryable,
    /// No provider was left.
    NoProviderLeft,
    /// The time budget of the charge was used up.
    BudgetUsedUp,
    /// The service stopped while the provider was being asked, and only the buyer may start again.
    Interrupted,
}
