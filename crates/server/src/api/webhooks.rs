//! `/v1/webhooks`: endpoints for events, each with its own key pair (`docs/interface/webhooks.md#resource`).
//! `regente_engine::deliveries` delivers the events.

pub mod deliveries;
mod error;
mod request;
mod view;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::WebhookId;
use regente_domain::time::later_of;
use regente_domain::webhook::EventFilter;
use regente_engine::audit;
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::deliveries::deleted;
use regente_engine::deliveries::signature::SigningKey;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::races;
use regente_engine::settings::EndpointUse;
use regente_engine::vault::{Binding, Purpose};
use regente_store::webhooks::{self, KeyPair, Webhook};
use regente_store::{Batch, Commit};

use super::deletion;
use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page};
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::ApiError;
use request::{NewWebhook, new_webhook, webhook_changes};

pub use error::{WebhookError, WebhookErrorBody, WebhookErrorDetail, WebhookErrors, in_own_envelope};
pub use request::{NewWebhookBody, VersionBody, WebhookChangesBody};
pub use view::{AttemptView, DeletedWebhookView, DeliveryView, WebhookView};

/// Creates a webhook with a key pair of its own.
#[utoipa::path(
    post, path = "/v1/webhooks", operation_id = "createWebhook", tag = "Webhooks",
    request_body(content = NewWebhookBody, content_type = "application/json"),
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
    let new = body.read(new_webhook)?;
    let address = accept(&app, &new.endpoint).await?;
    let plan = || plan_creation(&app, &caller, &request_id, &new, &address);
    match commit_once(&app, &caller, &headers, "POST /v1/webhooks", &body, plan).await {
        Ok(response) => Ok(response),
        Err(ApiError::Engine(Error::Conflict { .. })) => Err(WebhookError::Duplicate),
        Err(error) => Err(error.into()),
    }
}

/// Checks that the address may be called, and returns it as it is called.
async fn accept(app: &App, endpoint: &str) -> Result<String, Error> {
    let accepted = app.outbound.accept(endpoint).await;
    accepted.map(|address| address.as_str().to_owned()).map_err(|rule| Error::invalid("endpoint", rule))
}

async fn plan_creation(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: &NewWebhook,
    address: &str,
) -> Result<Planned, Error> {
    if is_duplicate(app, caller, new.event, address, None).await? {
        return Err(Error::conflict(Vec::new()));
    }
    let now = app.clock.of(caller.client_id);
    let id: WebhookId = app.chance.id(now);
    let key = SigningKey::generate(&app.chance).map_err(Error::internal)?;
    let binding = Binding::new(Purpose::WebhookKey, caller.client_id, id.uuid());
    let webhook = Webhook {
        id,
        client_id: caller.client_id,
        event: new.event,
        endpoint: address.to_owned(),
        sent_endpoint: Some(new.endpoint.clone()),
        partial_refund: new.partial_refund,
        api_version: new.version,
        active: new.status,
        key: KeyPair { public: key.public(), private: app.vault.seal(binding, key.seed()) },
        next_key: None,
        lost_in_a_row: 0,
        version: 1,
        updated_at: id.created_at(),
        listens_until: None,
    };
    let mut batch = Batch::new(caller.client_id);
    webhooks::insert(&mut batch, &webhook);
    audit::record(app, &mut batch, caller, request_id, "webhook.created", id.uuid());
    let body = serde_json::to_value(WebhookView::of(&webhook, now)).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::CREATED.as_u16(), body })
}

/// Whether another webhook of the client uses the same endpoint (`docs/interface/webhooks.md#resource`).
async fn is_duplicate(
    app: &App,
    caller: &Caller,
    event: EventFilter,
    endpoint: &str,
    own: Option<WebhookId>,
) -> Result<bool, Error> {
    let registered = webhooks::of_endpoint(&app.store, caller.client_id, endpoint).await?;
    let mut others = registered.iter().filter(|(id, _)| Some(*id) != own);
    Ok(match app.settings.webhooks.endpoints {
        EndpointUse::Once => others.next().is_some(),
        EndpointUse::OncePerEvent => others.any(|(_, word)| word == event.word()),
    })
}

async fn refuse_duplicate(
    app: &App,
    caller: &Caller,
    event: EventFilter,
    endpoint: &str,
    own: Option<WebhookId>,
) -> Result<(), WebhookError> {
    match is_duplicate(app, caller, event, endpoint, own).await? {
        true => Err(WebhookError::Duplicate),
        false => Ok(()),
    }
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
    let total = webhooks::count(&app.store, caller.client_id).await?;
    let found =
        webhooks::list(&app.store, caller.client_id, i64::from(request.limit), request.offset()).await?;
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
    let webhook = find(&app, &caller, path_id(&id)?).await?;
    Ok(axum::Json(WebhookView::of(&webhook, app.clock.of(caller.client_id))))
}

/// Changes a webhook. What is on its way to the former address is sent to the new one.
#[utoipa::path(
    patch, path = "/v1/webhooks/{id}", operation_id = "updateWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    request_body(content = WebhookChangesBody, content_type = "application/json"),
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
    find(&app, &caller, id).await?;
    let changes = body?.read(webhook_changes)?;
    let address = match &changes.endpoint {
        Some(endpoint) => Some(accept(&app, endpoint).await?),
        None => None,
    };
    for _ in races::tries() {
        let before = find(&app, &caller, id).await?;
        let mut webhook = before.clone();
        webhook.event = changes.event.unwrap_or(webhook.event);
        if let Some(address) = &address {
            webhook.endpoint.clone_from(address);
            webhook.sent_endpoint.clone_from(&changes.endpoint);
        }
        webhook.api_version = changes.version.unwrap_or(webhook.api_version);
        webhook.active = changes.status.unwrap_or(webhook.active);
        webhook.partial_refund = changes.partial_refund.unwrap_or(webhook.partial_refund);
        if webhook == before {
            return Ok(axum::Json(WebhookView::of(&webhook, app.clock.of(caller.client_id))));
        }
        // An unchanged event and endpoint are not checked again: the rules may have become stricter.
        if (webhook.event, &webhook.endpoint) != (before.event, &before.endpoint) {
            refuse_duplicate(&app, &caller, webhook.event, &webhook.endpoint, Some(id)).await?;
        }
        webhook.updated_at = later_of(app.clock.of(caller.client_id), webhook.updated_at);
        let mut batch = Batch::new(caller.client_id);
        webhooks::update(&mut batch, &webhook);
        audit::record(&app, &mut batch, &caller, &request_id, "webhook.updated", id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => {
                return Ok(axum::Json(WebhookView::of(&webhook, app.clock.of(caller.client_id))));
            }
            // Lost to another change, or perhaps written: what is stored by then tells which.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy().into())
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
    deletion::delete(|| async {
        let webhook = find(&app, &caller, id).await?;
        let now = later_of(app.clock.of(caller.client_id), webhook.updated_at);
        let mut batch = Batch::new(caller.client_id);
        deleted::delete(&app, &mut batch, &webhook, now);
        audit::record(&app, &mut batch, &caller, &request_id, "webhook.deleted", id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok::<_, WebhookError>(app.store.apply(batch).await?)
    })
    .await?;
    Ok(axum::Json(DeletedWebhookView { id: id.uuid() }))
}

async fn find(app: &App, caller: &Caller, id: WebhookId) -> Result<Webhook, WebhookError> {
    webhooks::find(&app.store, caller.client_id, id).await?.ok_or(WebhookError::NoWebhook)
}
