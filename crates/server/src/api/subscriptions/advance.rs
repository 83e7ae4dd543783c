//! `POST /v1/subscriptions/{id}/advance`: lets what a subscription has due next fall due, in the sandbox only
//! (`docs/interface/subscriptions.md#advancing`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::SubscriptionId;
use regente_engine::account_clocks;
use regente_engine::app::Answer;
use regente_engine::audit::Author;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::events::subscription::SubscriptionView;
use regente_engine::idempotency::Planned;
use regente_engine::{jobs, subscriptions};

use super::view_for;
use crate::api::fields::Body;
use crate::api::idempotency::commit_once_then;
use crate::api::path::{Path, path_id};
use crate::api::sandbox_clock::WAIT_MAX;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Advances the time of the account to what the subscription has due next.
///
/// To its next charge, whether of a new cycle or of one that was refused, to the end of its trial or to its own end. It is the clock of
/// `/v1/sandbox/clock`, so whatever else the account has due on the way is done too. In production there is no such operation.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/advance", operation_id = "advanceSubscription", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    responses(
        (status = 200, description = "The subscription, when that was done.", body = SubscriptionView),
        (status = 202, description = "The clock is on its way; the subscription as it is now.", body = SubscriptionView),
        (status = 404, description = "There is no such subscription, or this is production.", body = ErrorEnvelope),
        (status = 409, description = "The clock is being advanced, or the idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "Nothing falls due by itself: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn advance(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id: SubscriptionId = path_id(&id)?;
    let client_id = caller.client_id;
    account_clocks::find(&app, client_id).await?;
    subscriptions::find(&app, client_id, id).await?;
    let author = Author::of(&caller, &request_id);
    let plan = || async {
        let (batch, moves_time_to) = subscriptions::plan_advance(&app, author, id).await?;
        let shown = subscriptions::find(&app, client_id, id).await?;
        let planned =
            Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view_for(&app, &caller, &shown))?;
        Ok(Planned { moves_time_to, ..planned })
    };
    let then = |_: Answer| async {
        let stored = jobs::advance_within(&app, client_id, WAIT_MAX).await?;
        let status = if stored.clock.is_advancing() { StatusCode::ACCEPTED } else { StatusCode::OK };
        let shown = subscriptions::find(&app, client_id, id).await?;
        let view = serde_json::to_vec(&view_for(&app, &caller, &shown)).map_err(Error::internal)?;
        Ok(Answer { status: status.as_u16(), bytes: view })
    };
    let route = format!("POST /v1/subscriptions/{id}/advance");
    commit_once_then(&app, &caller, &headers, &route, &body, plan, then).await
}
