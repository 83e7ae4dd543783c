//! `/v1/merchants/{id}/platform-fee`: what the platform keeps of the charges of a merchant
//! (`docs/interface/merchants-and-providers.md#platform-fee`). The rules are a part of the merchant, with which they are read.

use axum::Extension;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use regente_domain::id::MerchantId;
use regente_domain::money::Amount;
use regente_domain::platform_fee::{FeeMethod, Rule, SentTerms, Terms};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_domain::wire::List;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::merchants;
use regente_engine::platform_fees::{self, Switch};
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::fields::Body;
use super::super::idempotency::commit_once;
use super::super::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::limits;

/// More rules than there are methods and bands.
const RULES_MAX: usize = 100;

/// A rule as the interface shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlatformFeeRule)]
pub struct RuleView {
    /// Id of the rule.
    pub id: Uuid,
    /// The method, or that it is for all without a rule of their own.
    #[schema(example = "credit")]
    pub payment_method: FeeMethod,
    /// Percentage of the charge.
    #[schema(value_type = Option<f64>, required = true, example = 3.5)]
    pub percentage: Option<Number>,
    /// In the minor unit of the currency.
    #[schema(value_type = Option<i64>, required = true, example = 50)]
    pub fixed_amount: Option<Amount>,
    /// A number of installments of its band, as sent.
    #[schema(required = true, example = 3)]
    pub installment: Option<u8>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl RuleView {
    pub(super) fn of(rule: &Rule) -> Self {
        let Terms { percentage, fixed_amount, payment_method, installment } = rule.terms;
        Self {
            id: rule.id.uuid(),
            payment_method,
            percentage: percentage.and_then(|percentage| percentage.to_string().parse().ok()),
            fixed_amount,
            installment,
            created_at: rule.id.created_at(),
            updated_at: rule.updated_at,
        }
    }
}

/// The rules of a merchant, and whether they are applied.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MerchantPlatformFee)]
pub struct FeesView {
    /// Whether the platform keeps anything.
    pub platform_fee_enabled: bool,
    /// The rules, oldest first.
    pub rules: Vec<RuleView>,
}

/// Whether the rules of a merchant are applied.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlatformFeeEnabled)]
pub struct EnabledView {
    /// Whether the platform keeps anything.
    pub platform_fee_enabled: bool,
}

/// Whether the rules are applied.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = PlatformFeeSwitch, example = json!({ "enabled": true }))]
pub struct SwitchBody {
    enabled: bool,
}

/// The body of a change: an array of rules.
pub struct RulesBody(Body);

impl<S: Send + Sync> FromRequest<S> for RulesBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(Body::parse_array(&limits::read_bytes(request).await?)?))
    }
}

impl RulesBody {
    fn read(&self) -> Result<Vec<Terms>, ApiError> {
        let sent: List<SentTerms, 1, RULES_MAX> = self.0.read_elements_as()?;
        Ok(sent.into_vec().into_iter().map(|SentTerms(terms)| terms).collect())
    }
}

/// Adds rules to a merchant.
///
/// One for each method, and for each band of installments of `credit`: 1, 2 to 6, 7 to 12, 13 to 24. All or none are added.
#[utoipa::path(
    post, path = "/v1/merchants/{merchantId}/platform-fee", operation_id = "createPlatformFee", tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = Vec<Terms>, content_type = "application/json", example = json!([
        { "paymentMethod": "credit", "percentage": 3.5, "fixedAmount": 50, "installment": 3 },
        { "paymentMethod": "pix", "fixedAmount": 50 },
        { "paymentMethod": "boleto", "percentage": 1, "fixedAmount": 100 }])),
    responses((status = 201, description = "The new rules.", body = Vec<RuleView>),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope),
        (status = 409, description = "There is a rule for that method and band, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: RulesBody,
) -> Result<Response, ApiError> {
    let id: MerchantId = path_id(&id)?;
    merchants::find(&app, caller.client_id, id).await?;
    let new = body.read()?;
    let plan = || async {
        let (batch, added) = platform_fees::plan_creation(&app, (&caller, &request_id), id, &new).await?;
        let views: Vec<RuleView> = added.iter().map(RuleView::of).collect();
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &views)
    };
    let route = format!("POST /v1/merchants/{id}/platform-fee");
    let answered = commit_once(&app, &caller, &headers, &route, &body.0, plan).await;
    app.merchants.forget();
    answered
}

/// Reads the rules of a merchant.
#[utoipa::path(
    get, path = "/v1/merchants/{merchantId}/platform-fee", operation_id = "getPlatformFee", tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    responses((status = 200, description = "The rules, and whether they are applied.", body = FeesView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<axum::Json<FeesView>, ApiError> {
    let fees = merchants::find(&app, caller.client_id, path_id(&id)?).await?.merchant.details.platform_fee;
    let rules = fees.rules.iter().map(RuleView::of).collect();
    Ok(axum::Json(FeesView { platform_fee_enabled: fees.enabled, rules }))
}

/// Changes rules of a merchant.
///
/// Each is found by its method and band and keeps its id. Rules that are not named stay. All or none are changed.
#[utoipa::path(
    put, path = "/v1/merchants/{merchantId}/platform-fee", operation_id = "updatePlatformFee", tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = Vec<Terms>, content_type = "application/json", example = json!([
        { "paymentMethod": "credit", "percentage": 4, "installment": 2 }])),
    responses((status = 200, description = "The rules that were named, after the change.", body = Vec<RuleView>),
        (status = 404, description = "There is no such merchant, or no rule for a method and band.",
            body = ErrorEnvelope),
        (status = 409, description = "A method and band is named twice.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: RulesBody,
) -> Result<axum::Json<Vec<RuleView>>, ApiError> {
    let id: MerchantId = path_id(&id)?;
    merchants::find(&app, caller.client_id, id).await?;
    let new = body.read()?;
    let changed = platform_fees::change(&app, (&caller, &request_id), id, &new).await?;
    Ok(axum::Json(changed.iter().map(RuleView::of).collect()))
}

/// Deletes a rule of a merchant.
#[utoipa::path(
    delete, path = "/v1/merchants/{merchantId}/platform-fee/{platformFeeId}", operation_id = "deletePlatformFee",
    tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant"),
        ("platformFeeId" = Uuid, Path, description = "Id of the rule")),
    responses((status = 204, description = "The rule was deleted."),
        (status = 404, description = "There is no such merchant or rule.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path((id, rule_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (id, rule_id) = (path_id(&id)?, path_id(&rule_id)?);
    platform_fees::delete(&app, (&caller, &request_id), id, rule_id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Switches the rules of a merchant on or off.
#[utoipa::path(
    patch, path = "/v1/merchants/{merchantId}/platform-fee/enabled", operation_id = "switchPlatformFee",
    tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = SwitchBody, content_type = "application/json"),
    responses((status = 200, description = "Whether they are applied.", body = EnabledView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn switch(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<axum::Json<EnabledView>, ApiError> {
    let id: MerchantId = path_id(&id)?;
    merchants::find(&app, caller.client_id, id).await?;
    let SwitchBody { enabled } = body.read_as()?;
    let switched = platform_fees::switch(&app, (&caller, &request_id), id, Switch { enabled }).await?;
    Ok(axum::Json(EnabledView { platform_fee_enabled: switched.enabled }))
}
