//! Deliveries of a webhook: what was sent and what came of it, sending it again, and a test event. An extension of the
//! published interface.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use regente_domain::id::{DeliveryId, Id, of};
use regente_domain::webhook::DeliveryStatus;
use regente_store::deliveries::{self, Delivery};
use regente_store::{Batch, Commit, events};

use super::super::error::ApiError;
use super::super::page::{LIMIT_DEFAULT, Page};
use super::super::path_id;
use super::super::query::Query;
use super::super::request_id::RequestId;
use super::error::{WebhookError, WebhookErrors};
use super::find as find_webhook;
use super::view::{AttemptView, DeliveryView};
use crate::access::Caller;
use crate::app::App;
use crate::audit;
use crate::webhooks::replay::{Replayed, replay as replay_delivery};

/// Lists the deliveries of a webhook, newest first, each with its attempts.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}/deliveries", operation_id = "listDeliveries", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook"),
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 15 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of deliveries.", body = Page<DeliveryView>), WebhookErrors),
    security(("client_id" = [], "api_key" = [])),
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

async fn with_attempts(
    app: &App,
    caller: &Caller,
    found: &[Delivery],
) -> Result<Vec<DeliveryView>, ApiError> {
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
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn replay(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path((id, delivery_id)): Path<(String, String)>,
) -> Result<(StatusCode, axum::Json<DeliveryView>), WebhookError> {
    let webhook = find_webhook(&app, &caller, path_id(&id)?).await?;
    let delivery_id = path_id(&delivery_id).map_err(|_| WebhookError::NoDelivery)?;
    let _admission = app.store.admit()?;
    let record = |batch: &mut Batch| {
        audit::record(&app, batch, &caller, &request_id, "delivery.replayed", delivery_id.uuid());
    };
    match replay_delivery(&app, caller.client_id, webhook.id, delivery_id, record).await? {
        Replayed::Due(delivery) => {
            let view = with_attempts(&app, &caller, &[*delivery]).await?.pop();
            Ok((StatusCode::ACCEPTED, axum::Json(view.ok_or(WebhookError::NoDelivery)?)))
        }
        Replayed::UnderWay => Err(WebhookError::UnderWay),
        Replayed::NoDelivery => Err(WebhookError::NoDelivery),
    }
}

/// Sends a test event, `ping`, whatever the webhook asks for.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/ping", operation_id = "pingWebhook", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the webhook")),
    responses((status = 202, description = "The delivery of the test event.", body = DeliveryView), WebhookErrors),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn ping(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<(StatusCode, axum::Json<DeliveryView>), WebhookError> {
    let webhook = find_webhook(&app, &caller, path_id(&id)?).await?;
    let now = app.clock.now();
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
    let _admission = app.store.admit()?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok((StatusCode::ACCEPTED, axum::Json(DeliveryView::of(&delivery, Vec::new())))),
        Commit::Refused(_) | Commit::Unknown => Err(ApiError::busy().into()),
    }
}
