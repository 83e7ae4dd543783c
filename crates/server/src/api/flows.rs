//! `/v1/flows`: what a merchant decides about the providers of its charges (`docs/interface/flows.md`).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use deserr::Deserr;
use regente_domain::flow::{FlowMethod, FlowProblem, FlowStatus, NewFlow};
use regente_domain::id::{ClientId, FlowId, MerchantId};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_engine::audit::Author;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::flows::{self, Publication};
use regente_engine::idempotency::Planned;
use regente_store::flows::{FlowFilter, FlowVersion};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page};
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// A version of a flow.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Flow)]
pub struct FlowView {
    /// The version; every publication makes a new one.
    id: FlowId,
    payment_method: FlowMethod,
    client_id: ClientId,
    /// The merchant that it applies to.
    merchants: [FlowMerchantView; 1],
    /// The version that it was made from.
    #[schema(required = true)]
    parent_id: Option<FlowId>,
    /// The version that it restores.
    #[schema(required = true)]
    restored_from: Option<FlowId>,
    created_at: Timestamp,
    /// The tree: `version` and `root`, as published.
    #[schema(value_type = Object)]
    flow: Map<String, Value>,
    /// The label in lists.
    #[schema(required = true)]
    name: Option<String>,
    /// Whether new charges follow it.
    status: FlowStatus,
}

/// A merchant that a flow applies to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowMerchant)]
struct FlowMerchantView {
    merchant_id: MerchantId,
}

impl FlowView {
    fn of(version: FlowVersion) -> Self {
        let FlowVersion { id, client_id, merchant_id, method, status, details } = version;
        Self {
            id,
            payment_method: method,
            client_id,
            merchants: [FlowMerchantView { merchant_id }],
            parent_id: details.parent_id,
            restored_from: details.restored_from,
            created_at: id.created_at(),
            flow: details.flow,
            name: details.name,
            status,
        }
    }
}

/// Whether a flow would be published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FlowValidation)]
pub struct ValidationView {
    /// Whether it would.
    valid: bool,
    /// Why not; empty when it would.
    errors: Vec<FlowProblem>,
}

/// For which merchant a version is restored.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = RestoreFlow, rename_all = "camelCase",
    example = json!({ "merchantId": "df601922-e024-4394-8f12-af21ec4218b1" }))]
pub struct RestoreBody {
    /// The merchant of the flow.
    merchant_id: MerchantId,
}

/// Publishes a flow: new charges of the merchant with this payment method follow it.
///
/// An extension of this service. The version that was active is archived; charges that began with it end with it. A flow that is not
/// published is a 422 whose `businessCode` is the first reason.
#[utoipa::path(
    post, path = "/v1/flows", operation_id = "createFlow", tag = "Flows",
    request_body(content = NewFlow, content_type = "application/json"),
    responses((status = 201, description = "The new version.", body = FlowView),
        (status = 404, description = "There is no such merchant or parent.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The flow is not published.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewFlow = body.read_as()?;
    let author = Author::of(&caller, &request_id);
    let plan = || async { shown(flows::plan_publication(&app, author, &new).await?) };
    let answered = commit_once(&app, &caller, &headers, "POST /v1/flows", &body, plan).await;
    app.merchants.forget();
    answered
}

fn shown(publication: Publication) -> Result<Planned, regente_engine::error::Error> {
    let Publication { version, batch } = publication;
    Planned::showing(batch, StatusCode::CREATED.as_u16(), &FlowView::of(version))
}

/// Says whether a flow would be published, and why not. Nothing is written.
///
/// An extension of this service.
#[utoipa::path(
    post, path = "/v1/flows/validate", operation_id = "validateFlow", tag = "Flows",
    request_body(content = NewFlow, content_type = "application/json"),
    responses((status = 200, description = "Whether it would be published.", body = ValidationView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn validate(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewFlow = body.read_as()?;
    let plan = || async {
        let (batch, errors) = flows::plan_validation(&app, caller.client_id, &new).await?;
        Planned::showing(batch, StatusCode::OK.as_u16(), &ValidationView { valid: errors.is_empty(), errors })
    };
    commit_once(&app, &caller, &headers, "POST /v1/flows/validate", &body, plan).await
}

/// Publishes a former version again, as a new one.
///
/// An extension of this service.
#[utoipa::path(
    post, path = "/v1/flows/{id}/restore", operation_id = "restoreFlow", tag = "Flows",
    params(("id" = Uuid, Path, description = "The version to restore.")),
    request_body(content = RestoreBody, content_type = "application/json"),
    responses((status = 201, description = "The new version.", body = FlowView),
        (status = 404, description = "There is no such version.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "It could not be published today.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn restore(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let from = flows::find(&app, caller.client_id, path_id(&id)?).await?;
    let RestoreBody { merchant_id } = body.read_as()?;
    let author = Author::of(&caller, &request_id);
    let plan = || async { shown(flows::plan_restoration(&app, author, &from, merchant_id).await?) };
    let route = format!("POST /v1/flows/{}/restore", from.id);
    let answered = commit_once(&app, &caller, &headers, &route, &body, plan).await;
    app.merchants.forget();
    answered
}

/// Lists the versions of flows, newest first; `status` tells the active ones.
#[utoipa::path(
    get, path = "/v1/flows", operation_id = "listFlows", tag = "Flows",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100,
            description = "Versions on a page; 15 by default."),
        ("merchantId" = Option<Uuid>, Query, description = "Those of this merchant."),
        ("paymentMethod" = Option<FlowMethod>, Query, description = "Those of this payment method."),
    ),
    responses((status = 200, description = "A page of versions.", body = Page<FlowView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let (page, filter) = query.read(|parameters| {
        let filter = FlowFilter {
            merchant_id: parameters.ids("merchantId").first().copied(),
            method: parameters.one_of("paymentMethod", FlowMethod::WORDS).first().copied(),
        };
        (parameters.page(LIMIT_DEFAULT), filter)
    })?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = flows::list(&app, caller.client_id, filter, (limit, offset)).await?;
    Ok(Json(Page::new(page, found, total).map(FlowView::of)).into_response())
}

/// Reads a version of a flow.
#[utoipa::path(
    get, path = "/v1/flows/{id}", operation_id = "getFlow", tag = "Flows",
    params(("id" = Uuid, Path, description = "The version.")),
    responses((status = 200, description = "The version.", body = FlowView),
        (status = 404, description = "There is no such version.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let found = flows::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(FlowView::of(found)).into_response())
}

/// Withdraws the active version: providers are asked by priority again.
///
/// An extension of this service.
#[utoipa::path(
    delete, path = "/v1/flows/{id}", operation_id = "deleteFlow", tag = "Flows",
    params(("id" = Uuid, Path, description = "The active version.")),
    responses((status = 204, description = "It is archived."),
        (status = 404, description = "There is no such version.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    flows::withdraw(&app, Author::of(&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
