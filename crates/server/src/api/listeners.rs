//! `/v1/listeners`: events that are fetched in place of being sent (`docs/interface/webhooks.md#listeners`), for
//! `regente webhooks listen` on machines that nobody can call. An extension of the published interface.

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use deserr::Deserr;
use regente_domain::id::{DeliveryId, WebhookId};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_domain::webhook::EventFilter;
use regente_domain::wire::{Integer, List};
use regente_engine::caller::Caller;
use regente_engine::deliveries::listeners::{self, EVENTS_MAX, ListenError, ListenedEvent};
use regente_engine::deliveries::signature::to_pem;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Longest wait for events, in seconds. A server that stops lets requests end first.
pub const WAIT_SECONDS_MAX: i64 = 10;

type Told = List<DeliveryId, 0, EVENTS_MAX>;
type WaitSeconds = Integer<0, WAIT_SECONDS_MAX>;

/// What is listened to.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewListener, example = json!({ "event": "*" }))]
pub struct NewListener {
    /// One name of an event, or `*`, as for webhooks; `*` by default.
    #[deserr(default)]
    event: Option<EventFilter>,
}

/// Who listens.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Listener)]
pub struct ListenerView {
    /// Id of the listener.
    pub id: WebhookId,
    /// The event that it asks for, or `*`.
    #[schema(value_type = EventFilter, example = "*")]
    pub event: String,
    /// The key that signatures of its events are verified with, in PEM.
    pub public_key: String,
}

/// What was dealt with, and how long events are waited for.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = ListenerProgress, rename_all = "camelCase", example = json!({
    "told": ["01a22ede-ca1e-7000-8f58-e4d6a3bb2f10"], "waitSeconds": 0
}))]
pub struct Progress {
    /// `deliveryId` of events that came before and are dealt with: they come no more. Whatever is not named comes again.
    #[deserr(default)]
    told: Option<Told>,
    /// How long events are waited for while there are none; 0 by default.
    #[deserr(default)]
    wait_seconds: Option<WaitSeconds>,
}

/// The next events, in the order of their deliveries.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = HeardEvents)]
pub struct HeardView {
    /// At most 100; none when none came.
    pub events: Vec<HeardEventView>,
}

/// An event as a webhook is sent it.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeardEvent)]
pub struct HeardEventView {
    /// What is named in `told`.
    delivery_id: DeliveryId,
    /// Name of the event.
    #[schema(value_type = words::SentEventName, example = "transaction.authorized")]
    event: String,
    /// What the event is about.
    object_id: Uuid,
    /// When it happened.
    happened_at: Timestamp,
    /// The headers, signatures among them.
    headers: Vec<HeaderView>,
    /// The body, to the byte.
    body: String,
}

/// A header of the request that a webhook is sent.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = HeardEventHeader)]
struct HeaderView {
    #[schema(example = "webhook-id")]
    name: String,
    value: String,
}

impl HeardEventView {
    fn of(heard: ListenedEvent) -> Self {
        let ListenedEvent { delivery_id, event, object_id, happened_at, headers, body } = heard;
        let headers = headers.into_iter().map(|(name, value)| HeaderView { name, value }).collect();
        Self { delivery_id, event, object_id, happened_at, headers, body }
    }

    /// The event that was shown.
    pub fn into_event(self) -> ListenedEvent {
        let Self { delivery_id, event, object_id, happened_at, headers, body } = self;
        let headers = headers.into_iter().map(|HeaderView { name, value }| (name, value)).collect();
        ListenedEvent { delivery_id, event, object_id, happened_at, headers, body }
    }
}

/// Begins to listen to events from now on.
///
/// A listener whose events nobody fetches for two minutes is over.
#[utoipa::path(
    post, path = "/v1/listeners", operation_id = "createListener", tag = "Webhooks",
    request_body(content = NewListener, content_type = "application/json"),
    responses((status = 201, description = "The listener.", body = ListenerView),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let NewListener { event } = body.read_as()?;
    let event = event.unwrap_or(EventFilter::Everything);
    let plan = || async {
        let (batch, listener) = listeners::plan(&app, caller.client_id, event).await?;
        let public_key = to_pem(&listener.public_key);
        let view = ListenerView { id: listener.id, event: event.word().to_owned(), public_key };
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/listeners", &body, plan).await
}

/// Goes on listening: says what was dealt with, and fetches the next events.
#[utoipa::path(
    patch, path = "/v1/listeners/{id}", operation_id = "listen", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the listener")),
    request_body(content = Progress, content_type = "application/json"),
    responses((status = 200, description = "The next events.", body = HeardView),
        (status = 404, description = "There is no such listener, or it is over.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn listen(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<HeardView>, ApiError> {
    let id: WebhookId = path_id(&id)?;
    let Progress { told, wait_seconds } = body.read_as()?;
    let told = told.map(List::into_vec).unwrap_or_default();
    let seconds = wait_seconds.map_or(0, |seconds| seconds.get().unsigned_abs());
    let wait = Duration::from_secs(seconds);
    let heard = listeners::hear_within(&app, caller.client_id, id, &told, wait).await.map_err(not_there)?;
    Ok(Json(HeardView { events: heard.into_iter().map(HeardEventView::of).collect() }))
}

/// Ends a listener. What it has not fetched is dropped.
#[utoipa::path(
    delete, path = "/v1/listeners/{id}", operation_id = "deleteListener", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the listener")),
    responses((status = 204, description = "The listener is over."),
        (status = 404, description = "There is no such listener.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id: WebhookId = path_id(&id)?;
    if !listeners::exists(&app, caller.client_id, id).await? {
        return Err(Error::NotFound.into());
    }
    listeners::end(&app, caller.client_id, id, &[]).await.map_err(not_there)?;
    Ok(StatusCode::NO_CONTENT)
}

fn not_there(error: ListenError) -> Error {
    match error {
        ListenError::Over => Error::NotFound,
        ListenError::Failed(error) => error,
    }
}
