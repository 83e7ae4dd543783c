//! Providers of a merchant: how answers show them, and `PATCH /v1/providers/{id}`
//! (`docs/interface/merchants-and-providers.md#providers`). [`super::merchants`] creates them.
//!
//! Credentials are sealed as one value and never shown in full; the domain defines the credentials of each type.

mod request;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use regente_domain::id::ProviderId;
use regente_domain::merchant::ProviderChanges;
use regente_domain::provider_type::mask_credentials;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::providers::{self, notification_address, open_credentials};
use regente_store::providers::Provider;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::Body;
use super::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
pub use request::{accepted, look_at};

/// A provider as the interface shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Provider)]
pub struct ProviderView {
    /// Id of the provider.
    pub id: Uuid,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// When it was deleted; null while it is used.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub deleted_at: Option<Timestamp>,
    /// Always null.
    #[schema(required = true)]
    pub idempotency_key: Option<String>,
    /// Always null.
    #[schema(required = true)]
    pub request_id: Option<String>,
    /// A free label.
    #[schema(example = "Main")]
    pub name: String,
    /// 1 is asked first; equal priorities go by age.
    #[schema(example = 1)]
    pub priority: i64,
    /// How the merchant is known to the provider. Of everything but `type`, e-mail addresses and ids, at most the last
    /// four characters are shown.
    #[schema(value_type = Object, example = json!({ "type": "SANDBOX", "apiKey": "****" }))]
    pub credentials: Map<String, Value>,
    /// Options, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub options: Option<Map<String, Value>>,
    /// Ids at the acquirer, as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub acquirer: Option<Map<String, Value>>,
    /// Where the provider is to send its notifications; absent where the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        example = "https://pay.example.com/providers/2f0b5d1c-6a0e-4a3f-9a3e-1f9a4f7f1a11/notifications"
    )]
    pub notification_url: Option<String>,
}

impl ProviderView {
    /// The view of a provider; its credentials are opened only to mask them.
    ///
    /// # Errors
    /// [`Error::Internal`] when they do not open.
    pub async fn of(app: &App, provider: &Provider) -> Result<Self, Error> {
        let mut credentials = open_credentials(app, provider).await?;
        credentials.insert("type".to_owned(), provider.provider_type.shown().into());
        Ok(Self {
            id: provider.id.uuid(),
            created_at: provider.id.created_at(),
            updated_at: provider.updated_at,
            deleted_at: None,
            idempotency_key: None,
            request_id: None,
            name: provider.name.clone(),
            priority: provider.priority,
            credentials: mask_credentials(&credentials),
            options: provider.options.clone(),
            acquirer: provider.acquirer.clone(),
            notification_url: notification_address(app, provider).map(|address| address.to_string()),
        })
    }
}

/// Changes a provider.
///
/// Changes of credentials or options affect the charges that come after it.
#[utoipa::path(
    patch, path = "/v1/providers/{id}", operation_id = "updateProvider", tag = "Providers",
    params(("id" = Uuid, Path, description = "Id of the provider")),
    request_body(content = ProviderChanges, content_type = "application/json"),
    responses((status = 200, description = "The provider was changed; the body is empty."),
        (status = 404, description = "There is no such provider.", body = ErrorEnvelope),
        (status = 409, description = "A request is open at the account of the present credentials.",
            body = ErrorEnvelope), CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let id: ProviderId = path_id(&id)?;
    let before = providers::find(&app, caller.client_id, id).await?;
    let stored = open_credentials(&app, &before).await?;
    let changes = request::read_changes(&body, before.provider_type, &stored, &app.providers)?;
    providers::change(&app, (&caller, &request_id), id, &changes).await?;
    Ok(StatusCode::OK)
}
