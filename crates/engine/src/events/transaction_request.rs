//! A call to a provider as answers and events show it (`docs/interface/charges.md#transaction-requests`).

use std::borrow::Cow;

use regente_domain::charge::Charge;
use regente_domain::charge::analysis::{AnalysisStatus, Verdict};
use regente_domain::charge::attempt::{
    AuthenticationStep, Outcome, RequestGroup, RequestStatus, RequestType, TransactionRequest,
};
use regente_domain::charge::authentication::Authenticated;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::{ProviderId, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ShownProviderType;
use regente_domain::time::Timestamp;
use regente_domain::wire::one_of;
use serde::Serialize;
use serde_json::{Number, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::instructions::InstructionsView;
use crate::document_links::Addresses;

/// One call to a provider.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransactionRequest)]
pub struct TransactionRequestView {
    id: TransactionRequestId,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The key sent to the provider; null for what follows an authorization.
    #[schema(required = true)]
    idempotency_key: Option<Uuid>,
    #[schema(required = true)]
    request_id: Option<String>,
    /// Null for an authentication, whose 3DS server is no provider of the merchant.
    #[schema(required = true)]
    provider_id: Option<ProviderId>,
    provider_type: ShownProviderType,
    #[schema(required = true)]
    transaction_id: Option<String>,
    /// Null for a verdict on the risk that came later.
    #[schema(value_type = Option<i64>, example = 150, required = true)]
    amount: Option<Amount>,
    #[schema(required = true)]
    authorization_code: Option<String>,
    #[schema(required = true)]
    authorization_nsu: Option<String>,
    #[schema(required = true)]
    response_code: Option<String>,
    request_status: RequestStatus,
    /// `underpaid` of a payment of less than was charged.
    #[schema(value_type = Option<String>, required = true)]
    request_status_reason: Option<&'static str>,
    request_type: ShownRequestType,
    tokenized_payment: bool,
    #[schema(example = "35ms", required = true)]
    response_ts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_error: Option<ProviderErrorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_authorization: Option<ProviderAuthorizationView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraud_analysis: Option<FraudAnalysisView>,
    #[serde(flatten)]
    #[schema(value_type = InstructionsView)]
    instructions: Option<InstructionsView>,
    /// What it says about the authentication of the cardholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    threeds: Option<ThreeDsView>,
}

/// What a request says about the authentication of the cardholder: `cardEnrolled` and `challenged` of the question,
/// `liabilityShift` of the end of a challenge, `authenticated` of an authorization.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransactionRequestThreeDs)]
struct ThreeDsView {
    #[serde(skip_serializing_if = "Option::is_none")]
    card_enrolled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    liability_shift: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated: Option<bool>,
}

/// What a risk analysis found.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = FraudAnalysisResult)]
struct FraudAnalysisView {
    /// On the provider's own scale; null without a verdict.
    #[schema(value_type = Option<f64>, example = 85, required = true)]
    score: Option<Number>,
    status: AnalysisStatus,
}

/// What a provider refused with.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderError)]
struct ProviderErrorView {
    message: String,
    /// Null when nothing was declined: a risk analysis that failed.
    #[schema(required = true)]
    declined_code: Option<DeclinedCode>,
    /// Whether the next provider may be asked.
    retryable: bool,
    #[schema(required = true)]
    network_denied_reason: Option<String>,
    #[schema(required = true)]
    network_denied_message: Option<String>,
}

/// What the card network said.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderAuthorization)]
struct ProviderAuthorizationView {
    #[schema(required = true)]
    network_authorization_code: Option<String>,
    #[schema(required = true)]
    network_response_code: Option<String>,
}

/// The shown type: a request that gave the payer instructions is `pending`, whatever its own type.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ShownRequestType(&'static str);

impl ShownRequestType {
    /// The type of a request that gave no instructions.
    pub const fn own(request_type: RequestType) -> Self {
        Self(request_type.word())
    }

    fn of(request: &TransactionRequest) -> Self {
        Self(request.shown_type())
    }
}

impl PartialSchema for ShownRequestType {
    fn schema() -> RefOr<Schema> {
        let words = RequestType::WORDS.iter().map(|(word, _)| *word).chain([RequestType::INSTRUCTED]);
        one_of("What a provider was asked for.", words)
    }
}

impl ToSchema for ShownRequestType {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("RequestType")
    }
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
            idempotency_key: request.shown_key(),
            request_id: None,
            provider_id: (!is_authentication).then_some(request.provider_id),
            provider_type: ShownProviderType(request.provider_type),
            transaction_id: references.transaction_id,
            amount: (!request.is_later_verdict()).then_some(request.amount),
            authorization_code: references.authorization_code,
            authorization_nsu: references.authorization_nsu,
            response_code: references.response_code,
            request_status: request.status(),
            request_status_reason: is_underpaid(request, charge).then_some(UNDERPAID),
            request_type: ShownRequestType::of(request),
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
                status: verdict.status(),
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
            self.threeds = answer.map(|answer| ThreeDsView {
                authenticated: Some(answer.is_authenticated()),
                ..ThreeDsView::default()
            });
        }
        self
    }
}

impl TransactionRequestView {
    /// Adds the browser of the payer to the instructions that repeat it.
    #[must_use]
    pub fn with_browser(mut self, browser: Option<&Value>) -> Self {
        if let Some(InstructionsView { drip: Some(drip), .. }) = &mut self.instructions {
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
                let (card_enrolled, challenged) = (Some(answer.is_enrolled()), Some(answer.challenged));
                Some(Self { card_enrolled, challenged, ..Self::default() })
            }
            RequestGroup::Authentication(AuthenticationStep::Validate) => {
                Some(Self { liability_shift: Some(answer.shifts_liability()), ..Self::default() })
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

/// `requestStatusReason` of a payment of less than was charged.
const UNDERPAID: &str = "underpaid";

/// Whether it records that a payer has paid less than was charged.
fn is_underpaid(request: &TransactionRequest, charge: &Charge) -> bool {
    request.request_type.is_authorization()
        && matches!(request.outcome, Outcome::Approved(_))
        && request.amount < charge.original_amount
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
            declined_code: Some(decline.code),
            retryable: decline.retryable,
            network_denied_reason: decline.network_denied_reason.clone(),
            network_denied_message: decline.network_denied_message.clone(),
        }
    }
}
