//! The deliveries of a webhook: the list, replays, and test events. An extension of the published interface.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::DeliveryId;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::deliveries::{ping as pings, replay as replays};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::webhooks;
use regente_store::deliveries::{self, Delivery};

use super::super::fields::Body;
use super::super::idempotency::commit_once;
use super::super::page::{LIMIT_DEFAULT, Page};
use super::super::path::{Path, path_id};
use super::super::query::Query;
use super::error::{WebhookError, WebhookErrors};
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
    let webhook = webhooks::find(&app, caller.client_id, path_id(&id)?).await?;
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
    let webhook = webhooks::find(&app, caller.client_id, path_id(&id)?).await?;
    let delivery_id: DeliveryId = path_id(&delivery_id).map_err(|_| WebhookError::NoDelivery)?;
    let route = format!("POST /v1/webhooks/{}/deliveries/{delivery_id}/replay", webhook.id);
    let actor = caller.actor();
    let plan = || async {
        let by = (&actor, Some(&request_id));
        let planned = replays::plan(&app, caller.client_id, by, webhook.id, delivery_id).await?;
        let (batch, delivery) = planned;
        let view = with_attempts(&app, &caller, &[delivery]).await?.pop().ok_or(Error::NotFound)?;
        Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view)
    };
    match commit_once(&app, &caller, &headers, &route, &body?, plan).await {
        Ok(response) => Ok(response),
        Err(ApiError::Engine(Error::NotFound)) => Err(WebhookError::NoDelivery),
        Err(ApiError::Engine(Error::Conflict { .. })) => Err(WebhookError::UnderWay),
        Err(error) => Err(error.into()),
    }
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
    let webhook = webhooks::find(&app, caller.client_id, path_id(&id)?).await?;
    let route = format!("POST /v1/webhooks/{}/ping", webhook.id);
    let plan = || async {
        let (batch, delivery) = pings::plan(&app, &caller, &webhook);
        let view = DeliveryView::of(&delivery, Vec::new());
        Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view)
    };
    Ok(commit_once(&app, &caller, &headers, &route, &body?, plan).await?)
}
