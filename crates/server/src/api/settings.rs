//! `/v1/settings`: what payment links of an account or of one of its merchants look like (`docs/interface/settings.md`).

pub mod assets;
mod form;
mod request;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::MerchantId;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::link_settings::{self, MERCHANT};
use regente_store::settings::Settings;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use self::form::Form;
use super::idempotency::commit_once;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::{MERCHANT_ID, single};
use regente_domain::wire::uuid;

pub use request::{SettingsBody, SettingsForm};

/// Settings as the interface shows them.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Settings)]
pub struct SettingsView {
    /// Id of the settings.
    pub id: Uuid,
    /// The account.
    pub client_id: Uuid,
    /// The merchant whose settings these are; null for those of the account.
    #[schema(required = true)]
    pub merchant_id: Option<Uuid>,
    /// The address of the logo.
    #[schema(
        required = true,
        example = "https://pay.example.com/v1/settings/assets/zAseQSk2RcWUf5WZX_zc.png"
    )]
    pub logo: Option<String>,
    /// The main colour.
    #[schema(required = true, example = "#344383")]
    pub main_color: Option<String>,
    /// The second colour.
    #[schema(required = true)]
    pub secondary_color: Option<String>,
    /// For warnings.
    #[schema(required = true)]
    pub attention_color: Option<String>,
    /// For errors.
    #[schema(required = true)]
    pub error_color: Option<String>,
    /// For what went well.
    #[schema(required = true)]
    pub success_color: Option<String>,
    /// Behind everything.
    #[schema(required = true)]
    pub background_color: Option<String>,
    /// The address of the company, with or without a scheme.
    #[schema(required = true, example = "https://www.example.com")]
    pub company_url: Option<String>,
    /// The origins of the pages to which buyers may come back, apart by commas; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "https://shop.example,https://app.shop.example")]
    pub redirect_origins: Option<String>,
    /// The id of the company in the card scheme's Click to Pay.
    #[schema(required = true)]
    pub mastercard_click_to_pay_dpaid: Option<String>,
}

impl SettingsView {
    /// Settings with the address of their logo.
    pub fn of(app: &App, settings: &Settings) -> Self {
        let details = &settings.details;
        let colors = details.colors.clone();
        Self {
            id: settings.id.uuid(),
            client_id: settings.client_id.uuid(),
            merchant_id: settings.merchant_id.map(MerchantId::uuid),
            logo: details.logo.and_then(|logo| link_settings::logo_url(app, settings.client_id, logo)),
            main_color: colors.main_color.map(Into::into),
            secondary_color: colors.secondary_color.map(Into::into),
            attention_color: colors.attention_color.map(Into::into),
            error_color: colors.error_color.map(Into::into),
            success_color: colors.success_color.map(Into::into),
            background_color: colors.background_color.map(Into::into),
            company_url: details.company_url.clone(),
            redirect_origins: details.redirect_origins.clone(),
            mastercard_click_to_pay_dpaid: details.mastercard_click_to_pay_dpaid.clone(),
        }
    }
}

/// Creates the settings of the account, or of a merchant.
///
/// The body is a form, or JSON without a logo. Empty texts are as good as absent ones.
#[utoipa::path(
    post, path = "/v1/settings", operation_id = "createSettings", tag = "Settings",
    params(("X-Merchant-Id" = Option<Uuid>, Header, description = "The merchant whose settings these are")),
    request_body(content((SettingsBody = "application/json"), (SettingsForm = "multipart/form-data"))),
    responses((status = 201, description = "The settings.", body = SettingsView),
        (status = 404, description = "There is no such merchant.", body = ErrorEnvelope),
        (status = 409, description = "There are settings already, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, ApiError> {
    let merchant_id = merchant_in(&headers)?;
    let new = form.read(&app).await?;
    let plan = || async {
        let by = (&caller, &request_id);
        let (batch, settings) = link_settings::plan_creation(&app, by, merchant_id, &new).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &SettingsView::of(&app, &settings))
    };
    let route = match merchant_id {
        Some(merchant_id) => format!("POST /v1/settings {merchant_id}"),
        None => "POST /v1/settings".to_owned(),
    };
    commit_once(&app, &caller, &headers, &route, &form.body, plan).await
}

/// Reads the settings of the account, or those that count for a merchant: its own, else those of the account.
#[utoipa::path(
    get, path = "/v1/settings", operation_id = "getSettings", tag = "Settings",
    params(("X-Merchant-Id" = Option<Uuid>, Header, description = "The merchant for which they count")),
    responses((status = 200, description = "The settings.", body = SettingsView),
        (status = 404, description = "There is no such merchant, or there are no settings.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<axum::Json<SettingsView>, ApiError> {
    let merchant_id = merchant_in(&headers)?;
    let found = link_settings::find(&app, caller.client_id, merchant_id).await?;
    Ok(axum::Json(SettingsView::of(&app, &found)))
}

/// Changes the settings of the account, or those of exactly the merchant.
///
/// Empty texts are ignored; what is absent stays. A new logo takes the place of the former one, whose address ends.
#[utoipa::path(
    patch, path = "/v1/settings", operation_id = "updateSettings", tag = "Settings",
    params(("X-Merchant-Id" = Option<Uuid>, Header, description = "The merchant whose settings these are")),
    request_body(content((SettingsBody = "application/json"), (SettingsForm = "multipart/form-data"))),
    responses((status = 200, description = "The settings after the change.", body = SettingsView),
        (status = 404, description = "There is no such merchant, or it has no settings of its own.",
            body = ErrorEnvelope),
        (status = 422, description = "Nothing would change: no field that counts, and no logo.",
            body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    form: Form,
) -> Result<axum::Json<SettingsView>, ApiError> {
    let merchant_id = merchant_in(&headers)?;
    let changes = form.read(&app).await?;
    let settings = link_settings::change(&app, (&caller, &request_id), merchant_id, &changes).await?;
    Ok(axum::Json(SettingsView::of(&app, &settings)))
}

/// The merchant that `X-Merchant-Id` names.
fn merchant_in(headers: &HeaderMap) -> Result<Option<MerchantId>, Error> {
    let text = single(headers, MERCHANT_ID).map_err(|fault| Error::invalid(MERCHANT, fault))?;
    let read = |text| uuid(text).ok_or_else(|| Error::invalid(MERCHANT, "must be a UUID"));
    Ok(text.map(read).transpose()?.map(MerchantId::new))
}
