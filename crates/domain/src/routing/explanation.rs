//! Records the route of a charge: which providers were considered, and why some were skipped. With the transaction
//! requests it makes the timeline.

use serde::{Deserialize, Serialize};

use crate::flow::Turn;
use crate::id::{FlowId, ProviderId};
use crate::provider_type::ProviderType;
use crate::words::words;

/// The route of a charge, as chosen when the charge was created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every provider of the merchant, or of the branch of the flow, in the order of the route.
    pub considered: Vec<Considered>,
    /// The flow that chose the order; absent when the priorities did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Box<Taken>>,
    /// Why no further provider was asked, when the charge ended without approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// The way of a charge through a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The version of the flow.
    pub id: FlowId,
    /// The ways taken, in their order.
    pub turns: Vec<Turn>,
}

/// One provider of the merchant and its place in the route.
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
    /// Why it may be asked although its circuit was not closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit: Option<CircuitNote>,
}

words! {
    /// Why a provider is not asked.
    #[schema(as = SkipReason)]
    Skipped {
        /// It only simulates, and this deployment refuses simulators.
        Simulator = "simulator",
        /// It only analyses risk.
        NotAPaymentProvider = "not_a_payment_provider",
        /// It does not support this payment type.
        PaymentType = "payment_type",
        /// It does not support this currency.
        Currency = "currency",
        /// It does not support this number of installments.
        Installments = "installments",
        /// It cannot reserve without capturing.
        PreAuthorization = "pre_authorization",
        /// It cannot divide a charge of this payment type among sellers.
        Split = "split",
        /// A seller of the charge is not active there.
        Seller = "seller",
        /// Its circuit is open, and another provider can serve the charge.
        CircuitOpen = "circuit_open",
    }
}

words! {
    /// Why a provider may be asked although its circuit is not closed.
    CircuitNote {
        /// The wait is over, and this charge is the circuit probe.
        Probe = "trial",
        /// No other provider can serve the charge.
        OpenButNoOther = "open_but_no_other",
    }
}

words! {
    /// Why no further provider was asked.
    #[schema(as = StopReason)]
    Stopped {
        /// The refusal was final.
        NotRetryable = "not_retryable",
        /// The route has no further provider.
        NoProviderLeft = "no_provider_left",
        /// The time budget of the charge was used up.
        BudgetUsedUp = "budget_used_up",
        /// The service stopped during the call; only the buyer may start again.
        Interrupted = "interrupted",
        /// The payer did not pay in time.
        Expired = "expired",
        /// The session was canceled while the payer had instructions.
        Withdrawn = "withdrawn",
        /// The provider refused or withdrew what the payer had been given, and it may still be paid.
        StillPayable = "still_payable",
        /// The payer refused to pay.
        PayerRefused = "payer_refused",
        /// The cardholder was not authenticated, or the issuer is not liable and the merchant demands that.
        NotAuthenticated = "not_authenticated",
        /// The analysis of the risk found it too high.
        Reproved = "reproved",
        /// The analysis of the risk failed, and the merchant wants no charge then.
        AnalysisFailed = "analysis_failed",
    }
}
