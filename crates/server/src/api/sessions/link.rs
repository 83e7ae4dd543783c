//! `GET /v1/sessions/{id}/link`: what the page of a session shows (`docs/interface/sessions.md#link`).

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::id::ClientId;
use regente_domain::session::Session;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::link_settings;
use regente_engine::sessions::access::view_of;
use regente_store::clients::{self, Client};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::find;
use super::view::ShownSession;
use crate::api::path::Path;
use crate::api::settings::SettingsView;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// How the page of a session looks. What nobody has set is null.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionLinkSettings)]
pub struct LinkSettings {
    #[schema(required = true)]
    id: Option<Uuid>,
    /// Of the account's first contact.
    #[schema(required = true)]
    email: Option<String>,
    /// Always null.
    #[schema(required = true)]
    phone: Option<String>,
    /// Always null.
    #[schema(required = true)]
    statement_description: Option<String>,
    #[schema(required = true)]
    logo: Option<String>,
    #[schema(required = true)]
    main_color: Option<String>,
    #[schema(required = true)]
    secondary_color: Option<String>,
    #[schema(required = true)]
    attention_color: Option<String>,
    #[schema(required = true)]
    error_color: Option<String>,
    #[schema(required = true)]
    success_color: Option<String>,
    #[schema(required = true)]
    background_color: Option<String>,
    /// The name of the account.
    #[schema(required = true)]
    company_name: Option<String>,
    client_id: ClientId,
    /// Always null.
    #[schema(required = true)]
    document_number: Option<String>,
    /// Of the account, such as `pt-BR`.
    #[schema(required = true)]
    language: Option<String>,
    /// With a scheme, also when it was set without one.
    #[schema(required = true)]
    company_url: Option<String>,
    #[schema(required = true)]
    mastercard_click_to_pay_dpaid: Option<String>,
    /// The merchant whose settings these are; null for those of the account.
    #[schema(required = true)]
    merchant_id: Option<Uuid>,
}

/// Reads what the page of a session shows.
///
/// The session with its key and the settings of its page, also when it can be paid no longer.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/link", operation_id = "getSessionLink", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 201, description = "The session with its settings.", body = ShownSession),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = find(&app, &caller, &id).await?;
    Ok((StatusCode::CREATED, axum::Json(view(&app, &session).await?)).into_response())
}

/// What the page of a session shows.
pub async fn view(app: &App, session: &Session) -> Result<ShownSession, Error> {
    let settings = Some(settings_of(app, session).await?);
    Ok(ShownSession { session: view_of(app, session).await?, settings })
}

/// The settings that count for the session's merchant, with what is known of the account.
pub async fn settings_of(app: &App, session: &Session) -> Result<LinkSettings, Error> {
    let client_id = session.client_id;
    let account = clients::find(&app.store, client_id).await?;
    let found = link_settings::in_force(app, client_id, Some(session.merchant_id)).await?;
    let looks = found.as_ref().map(|found| SettingsView::of(app, found));
    let (email, company_name, language) = match account {
        Some(Client { contacts, name, language, .. }) => {
            (contacts.into_iter().next().map(|contact| contact.email), Some(name), Some(language))
        }
        None => (None, None, None),
    };
    let from = |member: fn(SettingsView) -> Option<String>| looks.clone().and_then(member);
    Ok(LinkSettings {
        id: looks.as_ref().map(|looks| looks.id),
        email,
        phone: None,
        statement_description: None,
        logo: from(|looks| looks.logo),
        main_color: from(|looks| looks.main_color),
        secondary_color: from(|looks| looks.secondary_color),
        attention_color: from(|looks| looks.attention_color),
        error_color: from(|looks| looks.error_color),
        success_color: from(|looks| looks.success_color),
        background_color: from(|looks| looks.background_color),
        company_name,
        client_id,
        document_number: None,
        language,
        company_url: from(|looks| looks.company_url).map(|url| link_settings::company_link(&url)),
        mastercard_click_to_pay_dpaid: from(|looks| looks.mastercard_click_to_pay_dpaid),
        merchant_id: looks.and_then(|looks| looks.merchant_id),
    })
}
