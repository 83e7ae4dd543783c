//! `/v1/subscriptions`: what a customer is charged at each due date (`docs/interface/subscriptions.md`). The engine decides and
//! charges.

pub mod advance;
pub mod card_link;
pub mod cycles;
pub mod list;
pub mod preview;
pub mod settings;
pub mod status;

use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::subscription::data::{read_changes, read_new};
use regente_domain::subscription::{SubscriptionChanges, SubscriptionData};
use regente_engine::caller::{Caller, RequestId};
use regente_engine::events::subscription::SubscriptionView;
use regente_engine::idempotency::Planned;
use regente_engine::subscriptions::{self, Shown};
use regente_providers::request::Mode;

use super::fields::Body;
use super::idempotency::{commit_once, is_replay};
use super::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Creates a subscription.
///
/// It is charged on each due date, the first time today unless `recurrence.startAt` or a trial says otherwise. Events tell what comes
/// of it. The answer waits for that only where a security code came for the first charge.
#[utoipa::path(
    post, path = "/v1/subscriptions", operation_id = "createSubscription", tag = "Subscriptions",
    request_body(content = SubscriptionData, content_type = "application/json"),
    responses(
        (status = 201, description = "The subscription.", body = SubscriptionView),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The platform fee would leave nothing to divide.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new = read_new(body.members(), is_live(&app))?;
    let made = Mutex::new(None);
    let plan = || async {
        let (batch, shown) = subscriptions::plan_creation(&app, (&caller, &request_id), &new).await?;
        let planned = Planned::showing(batch, StatusCode::CREATED.as_u16(), &view_for(&app, &caller, &shown));
        *made.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown.subscription);
        planned
    };
    let route = "POST /v1/subscriptions";
    let answer = commit_once(&app, &caller, &headers, route, &body, plan).await?;
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(subscription) = made.filter(|_| !is_replay(&answer)) {
        subscriptions::begin_with_code(&app, &subscription, &new).await;
    }
    Ok(answer)
}

/// Reads a subscription with its newest cycle.
#[utoipa::path(
    get, path = "/v1/subscriptions/{id}", operation_id = "getSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "The subscription.", body = SubscriptionView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let shown = subscriptions::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(view_for(&app, &caller, &shown)).into_response())
}

/// Changes a subscription, from the next cycle on.
///
/// What is absent stays. A cycle that is made keeps its amount; another card is charged from the next attempt on.
#[utoipa::path(
    put, path = "/v1/subscriptions/{id}", operation_id = "updateSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    request_body(content = SubscriptionChanges, content_type = "application/json"),
    responses(
        (status = 200, description = "The subscription after the change.", body = SubscriptionView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 422, description = "It has ended, or its first cycle is made and `startAt` would change: `subscription_invalid_state`.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    let id = path_id(&id)?;
    subscriptions::find(&app, caller.client_id, id).await?;
    let changes = read_changes(body.members(), is_live(&app))?;
    let shown = subscriptions::change(&app, (&caller, &request_id), id, &changes).await?;
    Ok(Json(view_for(&app, &caller, &shown)).into_response())
}

/// Whether subscriptions are made outside of the sandbox.
fn is_live(app: &App) -> bool {
    app.settings.mode == Mode::Production
}

fn view_for(app: &App, caller: &Caller, shown: &Shown) -> SubscriptionView {
    let now = app.clock.of(caller.client_id);
    let view = SubscriptionView::of(&shown.subscription, shown.last_cycle.as_ref(), now);
    if caller.is_public_key() { view.for_others() } else { view }
}
