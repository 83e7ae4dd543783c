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
use regente_engine::charges::Unguarded;
use regente_engine::events::subscription::SubscriptionView;
use regente_engine::idempotency::Planned;
use regente_engine::subscriptions::{self, Shown};
use regente_providers::request::Mode;

use super::charges::guard::AtTheDoor;
use super::fields::Body;
use super::idempotency::{commit_once_and_complete, is_replay};
use super::path::{Path, path_id};
use crate::app::App;
use crate::http::card_testing::Attempt;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::peer::PeerAddress;
use crate::human_check::Operation;

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
    Extension(peer): Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let attempt = app.limiters.card_testing.begin(&caller, peer)?;
    let new = read_new(body.members(), is_live(&app))?;
    let guard = guard(&app, &caller, &headers, attempt);
    let made = Mutex::new(None);
    let plan = || async {
        let by = (&caller, &request_id);
        let (batch, shown, hears) = subscriptions::plan_creation(&app, by, &new, &guard).await?;
        let planned = Planned::showing(batch, StatusCode::CREATED.as_u16(), &view_for(&app, &caller, &shown));
        *made.lock().unwrap_or_else(PoisonError::into_inner) = Some((shown.subscription, hears));
        Ok::<_, ApiError>(planned?)
    };
    let route = "POST /v1/subscriptions";
    let answer = commit_once_and_complete(&app, &caller, &headers, route, &body, plan, Ok).await?;
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((subscription, hears)) = made.filter(|_| !is_replay(&answer)) {
        subscriptions::begin_with_code(&app, &subscription, &new, hears).await;
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
    Extension(peer): Extension<PeerAddress>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id = path_id(&id)?;
    subscriptions::find(&app, caller.client_id, id).await?;
    let changes = read_changes(body.members(), is_live(&app))?;
    let by = (&caller, &request_id);
    let shown = match names_card(&changes) {
        false => subscriptions::change(&app, by, id, &changes, &Unguarded).await?,
        true => {
            let attempt = app.limiters.card_testing.begin(&caller, peer)?;
            let guard = guard(&app, &caller, &headers, attempt);
            subscriptions::change(&app, by, id, &changes, &guard).await?
        }
    };
    Ok(Json(view_for(&app, &caller, &shown)).into_response())
}

/// What a public key must pass before a subscription charges a card.
fn guard(app: &App, caller: &Caller, headers: &HeaderMap, attempt: Attempt) -> AtTheDoor {
    let (app, caller, headers) = (app.clone(), caller.clone(), headers.clone());
    AtTheDoor { app, caller, headers, attempt, operation: Operation::Charge }
}

fn names_card(changes: &SubscriptionChanges) -> bool {
    changes.payment_method.card.is_some()
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
