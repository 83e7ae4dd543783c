//! A call to a provider as answers and events show it (`docs/interface/charges.md#transaction-requests`).

use regente_domain::charge::Charge;
use regente_domain::charge::analysis::Verdict;
use regente_domain::charge::attempt::{
    AuthenticationStep, Outcome, RequestGroup, RiskStep, TransactionRequest,
};
use regente_domain::charge::authentication::Authenticated;
use regente_domain::decline::Decline;
use regente_domain::id::{ProviderId, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde::Serialize;
use serde_json::Number;
use serde_json::Value;
use uuid::Uuid;

use super::instructions::InstructionsView;
use crate::document_links::Addresses;

/// One call to a provider.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionRequestView {
    id: TransactionRequestId,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The key sent to the provider; null for captures and voids.
    idempotency_key: Option<Uuid>,
    request_id: Option<String>,
    /// Null for an authentication, whose 3DS server is no provider of the merchant.
    provider_id: Option<ProviderId>,
    provider_type: &'static str,
    transaction_id: Option<String>,
    /// Null for a verdict that came later.
    amount: Option<Amount>,
    authorization_code: Option<String>,
    authorization_nsu: Option<String>,
    response_code: Option<String>,
    request_status: &'static str,
    request_status_reason: Option<String>,
    request_type: &'static str,
    tokenized_payment: bool,
    response_ts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_error: Option<ProviderErrorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_authorization: Option<ProviderAuthorizationView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraud_analysis: Option<FraudAnalysisView>,
    #[serde(flatten)]
    instructions: Option<InstructionsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threeds: Option<ThreeDsView>,
}

/// What a request says about the authentication of the cardholder.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum ThreeDsView {
    #[serde(rename_all = "camelCase")]
    Enrolled {
        card_enrolled: bool,
        challenged: bool,
    },
    #[serde(rename_all = "camelCase")]
    Validated {
        liability_shift: bool,
    },
    Authorized {
        authenticated: bool,
    },
}

/// What a risk analysis found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FraudAnalysisView {
    score: Option<Number>,
    status: &'static str,
}

/// The decline of a provider.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderErrorView {
    message: String,
    /// One of the 24 declined codes; null when nothing was declined.
    declined_code: Option<&'static str>,
    /// Whether the next provider may be called.
    retryable: bool,
    network_denied_reason: Option<String>,
    network_denied_message: Option<String>,
}

/// The code and message of the card network.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderAuthorizationView {
    network_authorization_code: Option<String>,
    network_response_code: Option<String>,
}

impl TransactionRequestView {
    /// Builds the view of a request of a charge.
    pub fn of(request: &TransactionRequest, charge: &Charge, addresses: &Addresses) -> Self {
        let method = &charge.method;
        let references = request.reference().cloned().unwrap_or_default();
        let has_codes =
            references.network_authorization_code.is_some() || references.network_response_code.is_some();
        let is_authentication = request.request_type.is_authentication();
        Self {
            id: request.id,
            created_at: request.id.created_at(),
            updated_at: request.updated_at,
            idempotency_key: key_shown(request),
            request_id: None,
            provider_id: (!is_authentication).then_some(request.provider_id),
            provider_type: request.provider_type.shown(),
            transaction_id: references.transaction_id,
            amount: (!request.is_later_verdict()).then_some(request.amount),
            authorization_code: references.authorization_code,
            authorization_nsu: references.authorization_nsu,
            response_code: references.response_code,
            request_status: request.status().word(),
            request_status_reason: is_underpaid(request, charge).then(|| UNDERPAID.to_owned()),
            request_type: type_shown(request),
            tokenized_payment: method.is_tokenized() && !request.request_type.is_about_risk(),
            response_ts: request
                .duration
                .filter(|_| !is_authentication)
                .map(|duration| format!("{}ms", duration.as_millis())),
            provider_error: ProviderErrorView::of_request(request),
            provider_authorization: has_codes.then_some(ProviderAuthorizationView {
                network_authorization_code: references.network_authorization_code,
                network_response_code: references.network_response_code,
            }),
            fraud_analysis: request.verdict().map(|verdict| FraudAnalysisView {
                score: verdict.score().cloned(),
                status: verdict.status().word(),
            }),
            instructions: InstructionsView::of(method, request, addresses),
            threeds: ThreeDsView::of(request),
        }
    }

    /// Adds to an authorization whether the cardholder was authenticated before it. `answer` is the newest one of a 3DS
    /// server.
    #[must_use]
    pub fn after(mut self, request: &TransactionRequest, answer: Option<&Authenticated>) -> Self {
        if request.request_type.is_authorization() {
            self.threeds =
                answer.map(|answer| ThreeDsView::Authorized { authenticated: answer.is_authenticated() });
        }
        self
    }
}

impl TransactionRequestView {
    /// Adds the browser of the payer to the instructions that repeat it.
    #[must_use]
    pub fn with_browser(mut self, browser: Option<&Value>) -> Self {
        if let Some(InstructionsView::Drip(drip)) = &mut self.instructions {
            drip.browser = browser.cloned();
        }
        self
    }
}

impl ThreeDsView {
    fn of(request: &TransactionRequest) -> Option<Self> {
        let answer = request.authenticated.as_deref()?;
        match request.request_type.group() {
            RequestGroup::Authentication(AuthenticationStep::Enroll) => {
                Some(Self::Enrolled { card_enrolled: answer.is_enrolled(), challenged: answer.challenged })
            }
            RequestGroup::Authentication(AuthenticationStep::Validate) => {
                Some(Self::Validated { liability_shift: answer.shifts_liability() })
            }
            RequestGroup::Authentication(AuthenticationStep::Setup)
            | RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Risk(_) => None,
        }
    }
}

/// The shown type: a request that gave the payer instructions is `pending`, whatever its own type.
fn type_shown(request: &TransactionRequest) -> &'static str {
    let is_instructed = request.pending().is_some() && !request.request_type.is_authentication();
    if is_instructed { PENDING } else { request.request_type.word() }
}

/// `requestType` of a request that gave the payer instructions.
pub const PENDING: &str = "pending";

/// `requestStatusReason` of a payment of less than was charged.
const UNDERPAID: &str = "underpaid";

/// Whether it records that a payer has paid less than was charged.
fn is_underpaid(request: &TransactionRequest, charge: &Charge) -> bool {
    request.request_type.is_authorization()
        && matches!(request.outcome, Outcome::Approved(_))
        && request.amount < charge.original_amount
}

fn key_shown(request: &TransactionRequest) -> Option<Uuid> {
    match request.request_type.group() {
        RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(RiskStep::Feeding) => Some(request.provider_key()),
        RequestGroup::Risk(RiskStep::Analysis) => {
            (!request.is_later_verdict()).then(|| request.provider_key())
        }
        RequestGroup::FollowUp(_) | RequestGroup::Reversal(_) => None,
    }
}

impl ProviderErrorView {
    fn of_request(request: &TransactionRequest) -> Option<Self> {
        match request.verdict() {
            Some(Verdict::Failed { reason, message, .. }) => Some(Self {
                message: message.clone(),
                declined_code: None,
                retryable: false,
                network_denied_reason: Some(reason.clone()),
                network_denied_message: Some(message.clone()),
            }),
            Some(Verdict::Pending | Verdict::Approved { .. } | Verdict::Reproved { .. }) | None => {
                request.decline().map(Self::of)
            }
        }
    }

    fn of(decline: &Decline) -> Self {
        Self {
            message: decline.message.clone(),
            declined_code: Some(decline.code.code()),
            retryable: decline.retryable,
            network_denied_reason: decline.network_denied_reason.clone(),
            network_denied_message: decline.network_denied_message.clone(),
        }
    }
}
