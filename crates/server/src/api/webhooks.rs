//! `/v1/webhooks`: endpoints for events, each with its own key pair (`docs/interface/webhooks.md#resource`).
//! `regente_engine::deliveries` delivers the events.

pub mod deliveries;
mod error;
mod view;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::WebhookId;
use regente_domain::webhook::{NewWebhook, WebhookChanges};
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::webhooks;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page};
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::ApiError;

pub use error::{WebhookError, WebhookErrorBody, WebhookErrorDetail, WebhookErrors, in_own_envelope};
pub use view::{AttemptView, DeletedWebhookView, DeliveryView, WebhookView};

/// Creates a webhook with a key pair of its own.
#[utoipa::path(
    post, path = "/v1/webhooks", operation_id = "createWebhook", tag = "Webhooks",
    request_body(content = NewWebhook, content_type = "application/json"),
    responses((status = 201, description = "The webhook.", body = WebhookView), WebhookErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, WebhookError> {
    let body = body?;
    let new: NewWebhook = body.read_as()?;
    let address = webhooks::accept(&app, &new.endpoint).await?;
    let plan = || async {
        let (batch, webhook) = webhooks::plan_creation(&app, (&caller, &request_id), &new, &address).await?;
        let view = WebhookView::of(&webhook, app.clock.of(caller.client_id));
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/webhooks", &body, plan).await.map_err(duplicate)
}

/// Lists the webhooks, newest first.
#[utoipa::path(
    get, path = "/v1/webhooks", operation_id = "listWebhooks", tag = "Webhooks",
    params(("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 15 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of webhooks.", body = Page<WebhookView>), WebhookErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<Page<WebhookView>>, WebhookError> {
    let request = query.read(|parameters| parameters.page(LIMIT_DEFAULT))?;
    let (limit, offset) = (i64::from(request.limit), request.offset());
    let (found, total) = webhooks::list(&app, caller.client_id, limit, offset).await?;
    let now = app.clock.of(caller.client_id);
    let items = found.iter().map(|webhook| WebhookView::of(webhook, now)).collect();
    Ok(axum::Json(Page::new(request, items, total)))
}

/// Reads a webhook.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}", operation_id = "getWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    responses((status = 200, description = "The webhook.", body = WebhookView), WebhookErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<axum::Json<WebhookView>, WebhookError> {
    let webhook = webhooks::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(axum::Json(WebhookView::of(&webhook, app.clock.of(caller.client_id))))
}

/// Changes a webhook. What is on its way to the former address is sent to the new one.
#[utoipa::path(
    patch, path = "/v1/webhooks/{id}", operation_id = "updateWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    request_body(content = WebhookChanges, content_type = "application/json"),
    responses((status = 200, description = "The webhook after the change.", body = WebhookView), WebhookErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Result<Body, ApiError>,
) -> Result<axum::Json<WebhookView>, WebhookError> {
    let id = path_id(&id)?;
    webhooks::find(&app, caller.client_id, id).await?;
    let changes: WebhookChanges = body?.read_as()?;
    let webhook = webhooks::change(&app, (&caller, &request_id), id, &changes).await.map_err(duplicate)?;
    Ok(axum::Json(WebhookView::of(&webhook, app.clock.of(caller.client_id))))
}

/// Deletes a webhook. What is on its way to it is dropped.
#[utoipa::path(
    delete, path = "/v1/webhooks/{id}", operation_id = "deleteWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    responses((status = 200, description = "The webhook was deleted.", body = DeletedWebhookView), WebhookErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<axum::Json<DeletedWebhookView>, WebhookError> {
    let id: WebhookId = path_id(&id)?;
    webhooks::delete(&app, (&caller, &request_id), id).await?;
    Ok(axum::Json(DeletedWebhookView { id: id.uuid() }))
}

/// A conflict of webhooks has a text of its own: two use one endpoint.
fn duplicate(error: impl Into<ApiError>) -> WebhookError {
    let error = error.into();
    let is_conflict = matches!(error, ApiError::Engine(Error::Conflict { .. }));
    if is_conflict { WebhookError::Duplicate } else { error.into() }
}
