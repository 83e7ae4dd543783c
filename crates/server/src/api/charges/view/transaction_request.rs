//! Describes a transaction request for the OpenAPI document. The engine writes it
//! (`regente_engine::events::transaction_request`), since events show it too.

use regente_domain::id::{ProviderId, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::charges::{methods, three_d_secure};
use crate::api::schema::words;

/// One call to a provider.
#[derive(ToSchema)]
#[schema(as = TransactionRequest, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct TransactionRequestSchema {
    #[schema(value_type = Uuid)]
    id: TransactionRequestId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// The key sent to the provider; null for what follows an authorization.
    #[schema(required = true)]
    idempotency_key: Option<Uuid>,
    #[schema(required = true)]
    request_id: Option<String>,
    /// Null for an authentication, whose 3DS server is no provider of the merchant.
    #[schema(value_type = Option<Uuid>, required = true)]
    provider_id: Option<ProviderId>,
    #[schema(value_type = words::ProviderType, example = "SANDBOX")]
    provider_type: &'static str,
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
    #[schema(value_type = words::RequestStatus, example = "success")]
    request_status: &'static str,
    /// `underpaid` of a payment of less than was charged.
    #[schema(required = true)]
    request_status_reason: Option<String>,
    #[schema(value_type = words::RequestType, example = "authorization")]
    request_type: &'static str,
    tokenized_payment: bool,
    #[schema(example = "35ms", required = true)]
    response_ts: Option<String>,
    provider_error: Option<ProviderErrorSchema>,
    provider_authorization: Option<ProviderAuthorizationSchema>,
    fraud_analysis: Option<FraudAnalysisSchema>,
    /// The code of a Pix.
    pix: Option<methods::PixInstructions>,
    /// The page of a NuPay, how it was paid, or the id of its refund.
    nupay: Option<methods::NupayDetails>,
    /// The page of a Drip, with what was asked for.
    drip: Option<methods::DripInstructions>,
    /// The code of a PicPay.
    picpay: Option<methods::PicpayInstructions>,
    /// The line and the slip of a boleto.
    boleto: Option<methods::BoletoInstructions>,
    /// What it says about the authentication of the cardholder.
    threeds: Option<three_d_secure::ThreeDsSchema>,
}

/// What a risk analysis found.
#[derive(ToSchema)]
#[schema(as = FraudAnalysisResult, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct FraudAnalysisSchema {
    /// On the provider's own scale; null without a verdict.
    #[schema(value_type = Option<f64>, example = 85, required = true)]
    score: Option<()>,
    #[schema(value_type = words::AnalysisStatus, example = "approved")]
    status: &'static str,
}

/// What a provider refused with.
#[derive(ToSchema)]
#[schema(as = ProviderError, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct ProviderErrorSchema {
    message: String,
    /// Null when nothing was declined: a risk analysis that failed.
    #[schema(value_type = Option<words::DeclinedCode>, example = "try_again", required = true)]
    declined_code: Option<&'static str>,
    /// Whether the next provider may be asked.
    retryable: bool,
    #[schema(required = true)]
    network_denied_reason: Option<String>,
    #[schema(required = true)]
    network_denied_message: Option<String>,
}

/// What the card network said.
#[derive(ToSchema)]
#[schema(as = ProviderAuthorization, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct ProviderAuthorizationSchema {
    #[schema(required = true)]
    network_authorization_code: Option<String>,
    #[schema(required = true)]
    network_response_code: Option<String>,
}
