//! `/v1/merchants`: merchants with their providers (`docs/interface/merchants-and-providers.md`), and [what the platform
//! keeps](platform_fee) of their charges.
//!
//! A deleted merchant is not found; its charges stay readable.

pub mod platform_fee;
mod request;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::mcc::Mcc;
use regente_domain::merchant::{MerchantChanges, MerchantStatus, NewMerchant};
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::{merchants, providers};
use regente_store::merchants::MerchantWithProviders;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page};
use super::path::{Path, path_id};
use super::providers::ProviderView;
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use platform_fee::RuleView;

/// A merchant as the interface shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Merchant)]
pub struct MerchantView {
    /// Id of the merchant.
    pub id: Uuid,
    /// The account it belongs to.
    pub client_id: Uuid,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// The category code held at the providers: one to four digits.
    #[schema(value_type = String, example = "5812")]
    pub mcc: Mcc,
    /// The name that people see in lists.
    #[schema(example = "Loja Centro", required = true)]
    pub name: Option<String>,
    /// The name shown when a buyer is authenticated.
    #[schema(required = true)]
    pub merchant_name: Option<String>,
    /// The address shown when a buyer is authenticated.
    #[schema(required = true)]
    pub merchant_url: Option<String>,
    /// Where it stands.
    #[schema(example = "active")]
    pub status: MerchantStatus,
    /// Its providers, oldest first.
    pub providers: Vec<ProviderView>,
    /// Whether the platform keeps a commission from its charges.
    #[schema(example = false)]
    pub platform_fee_enabled: bool,
    /// The rules of that commission.
    pub platform_fees: Vec<RuleView>,
}

impl MerchantView {
    async fn of(app: &App, found: &MerchantWithProviders) -> Result<Self, Error> {
        let mut providers = Vec::with_capacity(found.providers.len());
        for provider in &found.providers {
            providers.push(ProviderView::of(app, provider).await?);
        }
        let merchant = &found.merchant;
        Ok(Self {
            id: merchant.id.uuid(),
            client_id: merchant.client_id.uuid(),
            created_at: merchant.id.created_at(),
            updated_at: merchant.updated_at,
            mcc: merchant.details.mcc.clone(),
            name: merchant.details.name.clone(),
            merchant_name: merchant.details.merchant_name.clone(),
            merchant_url: merchant.details.merchant_url.clone(),
            status: merchant.status,
            providers,
            platform_fee_enabled: merchant.details.platform_fee.enabled,
            platform_fees: merchant.details.platform_fee.rules.iter().map(RuleView::of).collect(),
        })
    }
}

/// Creates a merchant with its providers.
#[utoipa::path(
    post, path = "/v1/merchants", operation_id = "createMerchant", tag = "Merchants",
    request_body(content = NewMerchant, content_type = "application/json"),
    responses((status = 201, description = "The merchant.", body = MerchantView),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new = request::read_new(&body, &app)?;
    providers::check_credentials(&app, &new.providers).await?;
    let actor = caller.actor();
    let plan = || async {
        let by = (&actor, Some(&request_id));
        let (batch, merchant) = merchants::plan_creation(&app, caller.client_id, by, &new)?;
        let view = MerchantView::of(&app, &merchant).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/merchants", &body, plan).await
}

/// Lists the merchants, newest first.
#[utoipa::path(
    get, path = "/v1/merchants", operation_id = "listMerchants", tag = "Merchants",
    params(("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 15 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of merchants.", body = Page<MerchantView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<Page<MerchantView>>, ApiError> {
    let request = query.read(|parameters| parameters.page(LIMIT_DEFAULT))?;
    let (limit, offset) = (i64::from(request.limit), request.offset());
    let (found, total) = merchants::list(&app, caller.client_id, limit, offset).await?;
    let mut items = Vec::with_capacity(found.len());
    for merchant in &found {
        items.push(MerchantView::of(&app, merchant).await?);
    }
    Ok(axum::Json(Page::new(request, items, total)))
}

/// Reads a merchant.
#[utoipa::path(
    get, path = "/v1/merchants/{id}", operation_id = "getMerchant", tag = "Merchants",
    params(("id" = Uuid, Path, description = "Id of the merchant")),
    responses((status = 200, description = "The merchant.", body = MerchantView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<axum::Json<MerchantView>, ApiError> {
    let found = merchants::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(axum::Json(MerchantView::of(&app, &found).await?))
}

/// Changes a merchant, or adds providers to it.
#[utoipa::path(
    patch, path = "/v1/merchants/{id}", operation_id = "updateMerchant", tag = "Merchants",
    params(("id" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = MerchantChanges, content_type = "application/json"),
    responses((status = 200, description = "The merchant after the change.", body = MerchantView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<axum::Json<MerchantView>, ApiError> {
    let id = path_id(&id)?;
    merchants::find(&app, caller.client_id, id).await?;
    let (changes, added) = request::read_changes(&body, &app)?;
    let changed = merchants::change(&app, (&caller, &request_id), id, (&changes, &added)).await?;
    Ok(axum::Json(MerchantView::of(&app, &changed).await?))
}

/// Deletes a merchant. Its charges stay readable; new ones are refused.
#[utoipa::path(
    delete, path = "/v1/merchants/{id}", operation_id = "deleteMerchant", tag = "Merchants",
    params(("id" = Uuid, Path, description = "Id of the merchant")),
    responses((status = 204, description = "The merchant was deleted."),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    merchants::delete(&app, (&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
