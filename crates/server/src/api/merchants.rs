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
use regente_domain::id::MerchantId;
use regente_domain::mcc::Mcc;
use regente_domain::merchant::MerchantStatus;
use regente_domain::time::{Timestamp, later_of};
use regente_engine::audit;
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::queue;
use regente_engine::races;
use regente_engine::sellers::takes_sellers;
use regente_store::merchants::{self, Merchant, MerchantWithProviders};
use regente_store::providers::{self as provider_rows, Provider};
use regente_store::{Batch, Commit, settings};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::deletion;
use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page};
use super::path::{Path, path_id};
use super::providers::{NewProvider, ProviderView};
use super::query::Query;
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use platform_fee::RuleView;
use request::{NewMerchant, merchant_changes, new_merchant};

pub use request::{MccBody, MerchantChangesBody, NewMerchantBody, PROVIDERS_MAX};

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
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
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
    #[schema(value_type = words::MerchantStatus, example = "active")]
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
    request_body(content = NewMerchantBody, content_type = "application/json"),
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
    let new = body.read(|fields| new_merchant(fields, &app))?;
    NewProvider::check_credentials(&app, &new.providers).await?;
    let plan = || plan_creation(&app, &caller, &request_id, &new);
    commit_once(&app, &caller, &headers, "POST /v1/merchants", &body, plan).await
}

async fn plan_creation(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: &NewMerchant,
) -> Result<Planned, Error> {
    let now = app.clock.of(caller.client_id);
    let id: MerchantId = app.chance.id(now);
    let merchant = Merchant {
        id,
        client_id: caller.client_id,
        status: MerchantStatus::Active,
        details: new.details.clone(),
        version: 1,
        updated_at: id.created_at(),
    };
    if !merchant.details.mcc.is_listed() {
        // An unlisted code is accepted: shipped integrations use such codes
        // (`docs/interface/merchants-and-providers.md#category-codes`).
        tracing::info!(merchant = %id, mcc = merchant.details.mcc.digits(), "the category code is not in the list");
    }
    let mut batch = Batch::new(caller.client_id);
    merchants::insert(&mut batch, &merchant)?;
    audit::record(app, &mut batch, caller, request_id, "merchant.created", id.uuid());
    let records = records_of(app, caller, id, &new.providers)?;
    add_providers(app, caller, request_id, &mut batch, &records)?;
    let view = MerchantView::of(app, &MerchantWithProviders { merchant, providers: records }).await?;
    let body = serde_json::to_value(view).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::CREATED.as_u16(), body })
}

fn records_of(
    app: &App,
    caller: &Caller,
    merchant_id: MerchantId,
    new: &[NewProvider],
) -> Result<Vec<Provider>, Error> {
    let now = app.clock.of(caller.client_id);
    new.iter().map(|provider| provider.to_record(app, caller.client_id, merchant_id, now)).collect()
}

fn add_providers(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    batch: &mut Batch,
    records: &[Provider],
) -> Result<(), Error> {
    for provider in records {
        provider_rows::insert(batch, provider)?;
        audit::record(app, batch, caller, request_id, "provider.created", provider.id.uuid());
    }
    Ok(())
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
    let total = merchants::count(&app.store, caller.client_id).await?;
    let found =
        merchants::list(&app.store, caller.client_id, i64::from(request.limit), request.offset()).await?;
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
    let found = find(&app, &caller, path_id(&id)?).await?;
    Ok(axum::Json(MerchantView::of(&app, &found).await?))
}

/// Changes a merchant, or adds providers to it.
#[utoipa::path(
    patch, path = "/v1/merchants/{id}", operation_id = "updateMerchant", tag = "Merchants",
    params(("id" = Uuid, Path, description = "Id of the merchant")),
    request_body(content = MerchantChangesBody, content_type = "application/json"),
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
    find(&app, &caller, id).await?;
    let changes = body.read(|fields| merchant_changes(fields, &app))?;
    NewProvider::check_credentials(&app, &changes.providers).await?;
    let added = records_of(&app, &caller, id, &changes.providers)?;
    for _ in races::tries() {
        let mut found = find(&app, &caller, id).await?;
        let is_written = added.iter().any(|new| found.providers.iter().any(|known| known.id == new.id));
        if is_written {
            return Ok(axum::Json(MerchantView::of(&app, &found).await?));
        }
        if found.providers.len() + added.len() > PROVIDERS_MAX {
            let rule = format!("must contain no more than {PROVIDERS_MAX} elements with those that exist");
            return Err(Error::invalid("providers", rule).into());
        }
        let before = found.merchant.details.clone();
        changes.apply(&mut found.merchant.details);
        if found.merchant.details == before && added.is_empty() {
            return Ok(axum::Json(MerchantView::of(&app, &found).await?));
        }
        found.merchant.updated_at = later_of(app.clock.of(caller.client_id), found.merchant.updated_at);
        let mut batch = Batch::new(caller.client_id);
        merchants::update(&mut batch, &found.merchant)?;
        audit::record(&app, &mut batch, &caller, &request_id, "merchant.updated", id.uuid());
        add_providers(&app, &caller, &request_id, &mut batch, &added)?;
        for provider in added.iter().filter(|provider| takes_sellers(&app, provider)) {
            queue::sellers::link(&app, &mut batch, id, provider.id);
        }
        let _admission = app.store.admit(caller.client_id)?;
        match app.change(batch, |app| app.merchants.forget()).await? {
            Commit::Applied => {
                found.providers.extend(added);
                return Ok(axum::Json(MerchantView::of(&app, &found).await?));
            }
            // Another change came first, or the commit's outcome is unknown: the stored record tells which.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy().into())
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
    let id = path_id(&id)?;
    deletion::delete(|| async {
        let merchant = find(&app, &caller, id).await?.merchant;
        let mut batch = Batch::new(caller.client_id);
        let now = later_of(app.clock.of(caller.client_id), merchant.updated_at);
        merchants::delete(&mut batch, &merchant, now);
        let levels = settings::levels(&app.store, caller.client_id, Some(id)).await?;
        if let Some(of_merchant) = &levels.of_merchant {
            settings::delete(&mut batch, of_merchant);
        }
        audit::record(&app, &mut batch, &caller, &request_id, "merchant.deleted", id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok::<_, ApiError>(app.change(batch, |app| app.merchants.forget()).await?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn find(app: &App, caller: &Caller, id: MerchantId) -> Result<MerchantWithProviders, Error> {
    merchants::with_providers(&app.store, caller.client_id, id).await?.ok_or(Error::NotFound)
}
