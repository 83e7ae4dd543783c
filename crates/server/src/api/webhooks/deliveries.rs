//! The deliveries of a webhook: the list, replays, and test events. An extension of the published interface.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::{DeliveryId, Id, of};
use regente_domain::webhook::DeliveryStatus;
use regente_engine::audit;
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_store::deliveries::{self, Delivery};
use regente_store::webhooks::Webhook;
use regente_store::{Batch, events};

use super::super::fields::Body;
use super::super::idempotency::commit_once;
use super::super::page::{LIMIT_DEFAULT, Page};
use super::super::path::{Path, path_id};
use super::super::query::Query;
use super::error::{WebhookError, WebhookErrors};
use super::find as find_webhook;
use super::view::{AttemptView, DeliveryView};
use crate::app::App;
use crate::http::error::ApiError;

/// Lists the deliveries of a webhook, newest first, each with its attempts.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}/deliveries", operation_id = "listDeliveries", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook"),
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 15 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of deliveries.", body = Page<DeliveryView>), WebhookErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
) -> Result<axum::Json<Page<DeliveryView>>, WebhookError> {
    let webhook = find_webhook(&app, &caller, path_id(&id)?).await?;
    let request = query.read(|parameters| parameters.page(LIMIT_DEFAULT))?;
    let total = deliveries::count(&app.store, caller.client_id, webhook.id).await?;
    let (limit, offset) = (i64::from(request.limit), request.offset());
    let found = deliveries::list(&app.store, caller.client_id, webhook.id, limit, offset).await?;
    let items = with_attempts(&app, &caller, &found).await?;
    Ok(axum::Json(Page::new(request, items, total)))
}

async fn with_attempts(app: &App, caller: &Caller, found: &[Delivery]) -> Result<Vec<DeliveryView>, Error> {
    let ids: Vec<DeliveryId> = found.iter().map(|delivery| delivery.id).collect();
    let mut attempts: HashMap<DeliveryId, Vec<AttemptView>> = HashMap::new();
    for (id, attempt) in deliveries::attempts_of(&app.store, caller.client_id, &ids).await? {
        attempts.entry(id).or_default().push(AttemptView::of(&attempt));
    }
    let view =
        |delivery: &Delivery| DeliveryView::of(delivery, attempts.remove(&delivery.id).unwrap_or_default());
    Ok(found.iter().map(view).collect())
}

/// Sends a delivery again, at once and then by the whole schedule. The event keeps its id.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/deliveries/{deliveryId}/replay", operation_id = "replayDelivery",
    tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook"),
        ("deliveryId" = Uuid, Path, description = "Id of the delivery")),
    responses((status = 202, description = "The delivery, due now.", body = DeliveryView), WebhookErrors),
)]
pub async fn replay(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path((id, delivery_id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, WebhookError> {
    let webhook = find_webhook(&app, &caller, path_id(&id)?).await?;
    let delivery_id: DeliveryId = path_id(&delivery_id).map_err(|_| WebhookError::NoDelivery)?;
    let route = format!("POST /v1/webhooks/{}/deliveries/{delivery_id}/replay", webhook.id);
    let plan = || plan_replay(&app, &caller, &request_id, &webhook, delivery_id);
    match commit_once(&app, &caller, &headers, &route, &body?, plan).await {
        Ok(response) => Ok(response),
        Err(ApiError::Engine(Error::NotFound)) => Err(WebhookError::NoDelivery),
        Err(ApiError::Engine(Error::Conflict { .. })) => Err(WebhookError::UnderWay),
        Err(error) => Err(error.into()),
    }
}

async fn plan_replay(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    webhook: &Webhook,
    id: DeliveryId,
) -> Result<Planned, Error> {
    let found = deliveries::find(&app.store, caller.client_id, webhook.id, id).await?;
    let before = found.ok_or(Error::NotFound)?;
    if before.began_at.is_some() {
        return Err(Error::conflict(Vec::new()));
    }
    let mut batch = Batch::new(caller.client_id);
    let delivery = deliveries::replay(&mut batch, &before, app.clock.of(caller.client_id));
    audit::record(app, &mut batch, caller, request_id, "delivery.replayed", id.uuid());
    let view = with_attempts(app, caller, &[delivery]).await?.pop().ok_or(Error::NotFound)?;
    accepted(batch, &view)
}

fn accepted(batch: Batch, view: &DeliveryView) -> Result<Planned, Error> {
    let body = serde_json::to_value(view).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::ACCEPTED.as_u16(), body })
}

/// Sends a test event, `ping`, whatever the webhook asks for.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/ping", operation_id = "pingWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    responses((status = 202, description = "The delivery of the test event.", body = DeliveryView), WebhookErrors),
)]
pub async fn ping(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, WebhookError> {
    let webhook = find_webhook(&app, &caller, path_id(&id)?).await?;
    let route = format!("POST /v1/webhooks/{}/ping", webhook.id);
    let plan = || async { plan_ping(&app, &caller, &webhook) };
    Ok(commit_once(&app, &caller, &headers, &route, &body?, plan).await?)
}

fn plan_ping(app: &App, caller: &Caller, webhook: &Webhook) -> Result<Planned, Error> {
    let now = app.clock.of(caller.client_id);
    let event_id: Id<of::Event> = app.chance.id(now);
    let delivery = Delivery {
        id: app.chance.id(now),
        client_id: caller.client_id,
        webhook_id: webhook.id,
        event_id,
        event: events::PING.to_owned(),
        object_id: event_id.uuid(),
        object_version: events::PING_VERSION,
        ordinal: 0,
        api_version: webhook.api_version,
        status: DeliveryStatus::Pending,
        attempts: 0,
        tries: 0,
        due_at: Some(now),
        began_at: None,
        updated_at: now,
    };
    let mut batch = Batch::new(caller.client_id);
    events::ping(&mut batch, event_id, &caller.actor());
    deliveries::insert(&mut batch, &delivery);
    accepted(batch, &DeliveryView::of(&delivery, Vec::new()))
}
