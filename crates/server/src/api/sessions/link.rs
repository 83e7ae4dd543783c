//! `GET /v1/sessions/{id}/link`: what the page of a session shows (`docs/interface/sessions.md#link`).

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::session::Session;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::events::session::SessionView;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::SessionSchema;
use super::{find, view_of};
use crate::api::path::Path;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// A session with the settings of its page.
#[derive(Serialize)]
pub struct LinkView {
    #[serde(flatten)]
    session: SessionView,
    settings: LinkSettings,
}

/// How the page of a session looks. What nobody has set is null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionLinkSettings)]
pub struct LinkSettings {
    #[schema(required = true)]
    id: Option<Uuid>,
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
    #[schema(value_type = Uuid)]
    client_id: ClientId,
    #[schema(required = true)]
    company_url: Option<String>,
    #[schema(required = true)]
    mastercard_click_to_pay_dpaid: Option<String>,
    #[schema(value_type = Uuid)]
    merchant_id: MerchantId,
}

/// Reads what the page of a session shows.
///
/// The session with its key and the settings of its page, also when it can be paid no longer.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/link", operation_id = "getSessionLink", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 201, description = "The session with its settings.", body = SessionSchema),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
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
pub async fn view(app: &App, session: &Session) -> Result<LinkView, Error> {
    Ok(LinkView { session: view_of(app, session).await?, settings: settings_of(app, session).await? })
}

/// The settings of the session's merchant, else those of the account. This release has none yet.
async fn settings_of(_app: &App, session: &Session) -> Result<LinkSettings, Error> {
    Ok(LinkSettings {
        id: None,
        logo: None,
        main_color: None,
        secondary_color: None,
        attention_color: None,
        error_color: None,
        success_color: None,
        background_color: None,
        client_id: session.client_id,
        company_url: None,
        mastercard_click_to_pay_dpaid: None,
        merchant_id: session.merchant_id,
    })
}
