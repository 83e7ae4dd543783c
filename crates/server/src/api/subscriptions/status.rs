//! Cancels, pauses and resumes subscriptions (`docs/interface/subscriptions.md#changing-the-status`). Each is a PATCH, and the same by POST for older
//! clients; a POST takes an idempotency key.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::SubscriptionId;
use regente_domain::subscription::{Subscription, SubscriptionStatus};
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::subscriptions::{self, Move};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::fields::Body;
use crate::api::idempotency::commit_once;
use crate::api::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::peer::PeerAddress;

/// What is left of a subscription after a change of its status.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionStatusChange)]
pub struct ChangedView {
    id: SubscriptionId,
    status: SubscriptionStatus,
    /// For people.
    #[schema(example = "Subscription canceled")]
    message: &'static str,
    updated_at: Timestamp,
}

impl ChangedView {
    fn of(subscription: &Subscription, wish: Move) -> Self {
        Self {
            id: subscription.id,
            status: subscription.status(),
            message: match wish {
                Move::Cancel => "Subscription canceled",
                Move::Pause => "Subscription paused",
                Move::Resume => "Subscription resumed",
            },
            updated_at: subscription.updated_at,
        }
    }
}

/// By PATCH.
async fn patched(app: &App, by: (&Caller, &RequestId), id: &str, wish: Move) -> Result<Response, ApiError> {
    let subscription = subscriptions::carry_out(app, by, path_id(id)?, wish).await?;
    Ok(Json(ChangedView::of(&subscription, wish)).into_response())
}

/// By POST.
async fn posted(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: &str,
    (headers, body): (&HeaderMap, &Body),
    wish: Move,
) -> Result<Response, ApiError> {
    let id: SubscriptionId = path_id(id)?;
    let route = format!("POST /v1/subscriptions/{id}/{}", wish.word());
    let plan = || async {
        let (batch, subscription) = subscriptions::plan(app, (caller, request_id), id, wish).await?;
        Planned::showing(batch, StatusCode::OK.as_u16(), &ChangedView::of(&subscription, wish))
    };
    commit_once(app, caller, headers, &route, body, plan).await
}

/// Cancels a subscription now.
///
/// Nothing more is charged. The outcome of a charge that is under way still counts, and nothing is given back by itself.
#[utoipa::path(
    patch, path = "/v1/subscriptions/{id}/cancel", operation_id = "cancelSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It is canceled.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 422, description = "It has ended already: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn cancel(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    patched(&app, (&caller, &request_id), &id, Move::Cancel).await
}

/// Cancels a subscription now, for clients that send a POST.
///
/// As the PATCH of this path.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/cancel", operation_id = "cancelSubscriptionByPost", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It is canceled.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "It has ended already: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn cancel_by_post(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    posted(&app, (&caller, &request_id), &id, (&headers, &body), Move::Cancel).await
}

/// Pauses a subscription.
///
/// What falls due meanwhile is not charged, and not billed later.
#[utoipa::path(
    patch, path = "/v1/subscriptions/{id}/pause", operation_id = "pauseSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It is paused.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 422, description = "It is neither created nor active: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn pause(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    patched(&app, (&caller, &request_id), &id, Move::Pause).await
}

/// Pauses a subscription, for clients that send a POST.
///
/// As the PATCH of this path.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/pause", operation_id = "pauseSubscriptionByPost", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It is paused.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "It is neither created nor active: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn pause_by_post(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    posted(&app, (&caller, &request_id), &id, (&headers, &body), Move::Pause).await
}

/// Resumes a subscription.
///
/// One that was paused goes on with the next due date. Of an unpaid one the failed cycle is tried once more, at once.
#[utoipa::path(
    patch, path = "/v1/subscriptions/{id}/resume", operation_id = "resumeSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It goes on.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 422, description = "It is neither paused nor unpaid: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn resume(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<PeerAddress>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    // It may charge a card at once.
    app.limiters.card_testing.begin(&caller, peer)?;
    patched(&app, (&caller, &request_id), &id, Move::Resume).await
}

/// Resumes a subscription, for clients that send a POST.
///
/// As the PATCH of this path.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/resume", operation_id = "resumeSubscriptionByPost", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "It goes on.", body = ChangedView),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "It is neither paused nor unpaid: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn resume_by_post(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<PeerAddress>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    // It may charge a card at once.
    app.limiters.card_testing.begin(&caller, peer)?;
    posted(&app, (&caller, &request_id), &id, (&headers, &body), Move::Resume).await
}
