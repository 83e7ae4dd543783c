//! `/v1/merchants/{id}/platform-fee`: what the platform keeps of the charges of a merchant
//! (`docs/interface/merchants-and-providers.md#platform-fee`). The rules are a part of the merchant, with which they are read.

use axum::Extension;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::id::{Id, MerchantId, of};
use regente_domain::money::Amount;
use regente_domain::payment_type::INSTALLMENTS_MAX;
use regente_domain::percentage::Percentage;
use regente_domain::platform_fee::{FeeMethod, Fees, Refusal, Rule, Terms};
use regente_domain::time::{Timestamp, later_of};
use regente_engine::audit;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::races;
use regente_store::merchants::{self, Merchant};
use regente_store::{Batch, Commit};
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::fields::{Body, Fields};
use super::super::idempotency::commit_once;
use super::super::path::{Path, path_id};
use super::super::schema::words;
use super::find;
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
    #[schema(value_type = words::PlatformFeeMethod, example = "credit")]
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
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
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

/// A rule. At least one of `percentage` and `fixedAmount` is there; `installment` is there for `credit` alone.
#[derive(ToSchema)]
#[schema(as = NewPlatformFeeRule, rename_all = "camelCase",
    example = json!({ "paymentMethod": "credit", "percentage": 3.5, "fixedAmount": 50, "installment": 3 }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct RuleBody {
    #[schema(value_type = words::PlatformFeeMethod)]
    payment_method: String,
    /// At most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    percentage: Option<f64>,
    /// In the minor unit of the currency.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    fixed_amount: Option<i64>,
    /// Any number of the band that the rule is for: 1, 2 to 6, 7 to 12, 13 to 24.
    #[schema(minimum = 1, maximum = 24)]
    installment: Option<u8>,
}

/// Whether the rules are applied.
#[derive(ToSchema)]
#[schema(as = PlatformFeeSwitch, example = json!({ "enabled": true }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
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
        Ok(self.0.read_array(1..=RULES_MAX, |rule| rule.object(read_rule))?)
    }
}

fn read_rule(fields: &Fields<'_>) -> Option<Terms> {
    let payment_method = fields.required("paymentMethod").one_of(FeeMethod::WORDS);
    let percentage =
        fields.optional("percentage").hundredths(0..=i64::from(Percentage::HUNDRED.hundredths()));
    let fixed_amount = fields.optional("fixedAmount").amount();
    if !fields.has("percentage") && !fields.has("fixedAmount") {
        fields.problem_here("must have percentage, fixedAmount or both");
    }
    let installment = match payment_method {
        Some(FeeMethod::Credit) => fields.required("installment").integer(1..=i64::from(INSTALLMENTS_MAX)),
        Some(FeeMethod::Pix | FeeMethod::Boleto | FeeMethod::Default) if fields.has("installment") => {
            fields.problem("installment", "must be absent: only credit has installments");
            None
        }
        Some(FeeMethod::Pix | FeeMethod::Boleto | FeeMethod::Default) | None => None,
    };
    let percentage = percentage.and_then(|hundredths| u32::try_from(hundredths).ok());
    Some(Terms {
        percentage: percentage.map(Percentage::from_hundredths),
        fixed_amount,
        payment_method: payment_method?,
        installment: installment.and_then(|number| u8::try_from(number).ok()),
    })
}

/// Adds rules to a merchant.
///
/// One for each method, and for each band of installments of `credit`: 1, 2 to 6, 7 to 12, 13 to 24. All or none are added.
#[utoipa::path(
    post, path = "/v1/merchants/{merchantId}/platform-fee", operation_id = "createPlatformFee", tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = Vec<RuleBody>, content_type = "application/json", example = json!([
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
    find(&app, &caller, id).await?;
    let new = body.read()?;
    let plan = || plan_creation(&app, &caller, &request_id, id, &new);
    let route = format!("POST /v1/merchants/{id}/platform-fee");
    let answered = commit_once(&app, &caller, &headers, &route, &body.0, plan).await;
    app.merchants.forget();
    answered
}

async fn plan_creation(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    id: MerchantId,
    new: &[Terms],
) -> Result<Planned, Error> {
    let merchant = find(app, caller, id).await?.merchant;
    let now = app.clock.of(caller.client_id);
    let new: Vec<(Id<of::PlatformFeeRule>, Terms)> =
        new.iter().map(|terms| (app.chance.id(now), *terms)).collect();
    let fees = merchant.details.platform_fee.with(&new).map_err(refused)?;
    let added: Vec<RuleView> = fees.rules[fees.rules.len() - new.len()..].iter().map(RuleView::of).collect();
    let (batch, _) = changed(app, caller, request_id, merchant, fees)?;
    let body = serde_json::to_value(added).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::CREATED.as_u16(), body })
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
    let fees = find(&app, &caller, path_id(&id)?).await?.merchant.details.platform_fee;
    let rules = fees.rules.iter().map(RuleView::of).collect();
    Ok(axum::Json(FeesView { platform_fee_enabled: fees.enabled, rules }))
}

/// Changes rules of a merchant.
///
/// Each is found by its method and band and keeps its id. Rules that are not named stay. All or none are changed.
#[utoipa::path(
    put, path = "/v1/merchants/{merchantId}/platform-fee", operation_id = "updatePlatformFee", tag = "Merchants",
    params(("merchantId" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = Vec<RuleBody>, content_type = "application/json", example = json!([
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
    find(&app, &caller, id).await?;
    let new = body.read()?;
    let now = app.clock.of(caller.client_id);
    let mut named = Vec::new();
    let fees = change(&app, &caller, &request_id, id, |fees| {
        let (fees, ids) = fees.changed(&new, now).map_err(refused)?;
        named = ids;
        Ok(fees)
    });
    let fees = fees.await?;
    let rule = |id: &Id<of::PlatformFeeRule>| fees.rules.iter().find(|rule| rule.id == *id);
    Ok(axum::Json(named.iter().filter_map(rule).map(RuleView::of).collect()))
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
    let (id, rule_id): (MerchantId, Id<of::PlatformFeeRule>) = (path_id(&id)?, path_id(&rule_id)?);
    let mut was_there = false;
    let without = |fees: &Fees| match fees.without(rule_id) {
        Some(fees) => {
            was_there = true;
            Ok(fees)
        }
        // An earlier commit with an unknown outcome did delete it.
        None if was_there => Ok(fees.clone()),
        None => Err(Error::NotFound),
    };
    change(&app, &caller, &request_id, id, without).await?;
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
    find(&app, &caller, id).await?;
    let enabled = body.read(|fields| fields.required("enabled").boolean())?;
    let fees = change(&app, &caller, &request_id, id, |fees| Ok(Fees { enabled, rules: fees.rules.clone() }));
    Ok(axum::Json(EnabledView { platform_fee_enabled: fees.await?.enabled }))
}

/// Changes the rules of a merchant, whatever else changes it meanwhile.
async fn change(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    id: MerchantId,
    mut apply: impl FnMut(&Fees) -> Result<Fees, Error> + Send,
) -> Result<Fees, Error> {
    for _ in races::tries() {
        let merchant = find(app, caller, id).await?.merchant;
        let fees = apply(&merchant.details.platform_fee)?;
        if fees == merchant.details.platform_fee {
            return Ok(fees);
        }
        let (batch, fees) = changed(app, caller, request_id, merchant, fees)?;
        let _admission = app.store.admit(caller.client_id)?;
        match app.change(batch, |app| app.merchants.forget()).await? {
            Commit::Applied => return Ok(fees),
            // Another change came first, or the commit's outcome is unknown: the stored record tells which.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}

fn changed(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    mut merchant: Merchant,
    fees: Fees,
) -> Result<(Batch, Fees), Error> {
    merchant.details.platform_fee = fees.clone();
    merchant.updated_at = later_of(app.clock.of(caller.client_id), merchant.updated_at);
    let mut batch = Batch::new(caller.client_id);
    merchants::update(&mut batch, &merchant)?;
    audit::record(app, &mut batch, caller, request_id, "merchant.platform_fee", merchant.id.uuid());
    Ok((batch, fees))
}

fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Taken(index) => {
            let rule = "there is a rule for this paymentMethod and band of installments";
            Error::conflict(vec![format!("[{index}] {rule}")])
        }
        Refusal::Missing(_) => Error::NotFound,
    }
}
