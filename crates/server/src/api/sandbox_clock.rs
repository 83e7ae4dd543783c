//! `/v1/sandbox/clock`: the time of the account, which its owner moves, in the sandbox only
//! (`docs/interface/sandbox.md#clock`).

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use deserr::Deserr;
use regente_domain::account_clock::{AccountClock, AdvanceStatus, NewAdvance, Running, Then};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_engine::account_clocks::{self, Frozen};
use regente_engine::app::Answer;
use regente_engine::audit::Author;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::jobs;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::fields::Body;
use super::idempotency::commit_once_then;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// How long an advance is waited for before it is answered with its progress.
pub const WAIT_MAX: Duration = Duration::from_secs(6);

/// The clock of the account.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Clock)]
pub struct ClockView {
    /// The account's time.
    pub now: Timestamp,
    /// Whether it stands until it is advanced or goes on again; while it is being advanced: whether it will stand afterwards.
    pub frozen: bool,
    /// The last advance since the clock was reset; null without one.
    #[schema(required = true)]
    pub advance: Option<AdvanceView>,
}

/// An advance of the clock.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClockAdvance)]
pub struct AdvanceView {
    /// Where it began.
    pub from: Timestamp,
    /// Where it ends.
    pub to: Timestamp,
    /// How far it has come.
    pub reached: Timestamp,
    /// What has become of it.
    pub status: AdvanceStatus,
    /// What was done on the way.
    pub done: Vec<DoneView>,
}

/// How often something was done on the way of an advance.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClockAdvanceDone)]
pub struct DoneView {
    /// The kind of a job, `outcome` for an outcome that was found, or `delivery` for an attempt to deliver to a webhook.
    #[schema(example = "expire_session")]
    pub what: String,
    /// How often.
    pub times: u64,
}

impl ClockView {
    /// A clock when the deployment's time is `deployment`.
    pub fn of(clock: &AccountClock, deployment: Timestamp) -> Self {
        let frozen = match clock.running {
            Running::GoesOn { .. } | Running::Advancing { then: Then::GoesOn, .. } => false,
            Running::Frozen { .. } | Running::Advancing { then: Then::Stands, .. } => true,
        };
        let advance = clock.advance.as_ref().map(|advance| AdvanceView {
            from: advance.from,
            to: advance.to,
            reached: advance.reached,
            status: advance.status,
            done: advance
                .done
                .iter()
                .map(|(what, times)| DoneView { what: what.clone(), times: *times })
                .collect(),
        });
        Self { now: clock.running.now(deployment), frozen, advance }
    }
}

/// Whether the clock stands.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = ClockChanges, example = json!({ "frozen": true }))]
pub struct ChangesBody {
    frozen: bool,
}

/// Reads the time of the account.
///
/// With the progress of an advance that is under way. In production there is no such operation.
#[utoipa::path(
    get, path = "/v1/sandbox/clock", operation_id = "getClock", tag = "Sandbox",
    responses((status = 200, description = "The clock.", body = ClockView),
        (status = 404, description = "This is production.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ClockView>, ApiError> {
    let stored = account_clocks::find(&app, caller.client_id).await?;
    Ok(Json(ClockView::of(&stored.clock, app.clock.deployment())))
}

/// Advances the time of the account.
///
/// What falls due on the way is done in the order of time, each at its own. Either `by` or `to` says how far, at most five
/// years ahead. An advance that takes longer than some seconds goes on by itself, and reading the clock shows how far it is.
/// In production there is no such operation.
#[utoipa::path(
    post, path = "/v1/sandbox/clock", operation_id = "advanceClock", tag = "Sandbox",
    request_body(content = NewAdvance, content_type = "application/json"),
    responses((status = 200, description = "The clock has reached the time.", body = ClockView),
        (status = 202, description = "The clock is on its way.", body = ClockView),
        (status = 404, description = "This is production.", body = ErrorEnvelope),
        (status = 409, description = "The clock is being advanced, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn advance(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let client_id = caller.client_id;
    account_clocks::find(&app, client_id).await?;
    let new: NewAdvance = body.read_as()?;
    let author = Author::of(&caller, &request_id);
    let plan = || async {
        let (batch, stored) = account_clocks::plan_advance(&app, author, &new).await?;
        let view = ClockView::of(&stored.clock, app.clock.deployment());
        let planned = Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view)?;
        Ok(Planned { moves_time_to: stored.clock.advance.as_ref().map(|advance| advance.to), ..planned })
    };
    let then = |_: Answer| async {
        let stored = jobs::advance_within(&app, client_id, WAIT_MAX).await?;
        let status = if stored.clock.is_advancing() { StatusCode::ACCEPTED } else { StatusCode::OK };
        let view = ClockView::of(&stored.clock, app.clock.deployment());
        Ok(Answer { status: status.as_u16(), bytes: serde_json::to_vec(&view).map_err(Error::internal)? })
    };
    commit_once_then(&app, &caller, &headers, "POST /v1/sandbox/clock", &body, plan, then).await
}

/// Lets the time of the account stand, or go on.
///
/// What lies ahead of a clock that stands does not come due until it is advanced or goes on. Freezing stops an advance where
/// it is. In production there is no such operation.
#[utoipa::path(
    patch, path = "/v1/sandbox/clock", operation_id = "updateClock", tag = "Sandbox",
    request_body(content = ChangesBody, content_type = "application/json"),
    responses((status = 200, description = "The clock.", body = ClockView),
        (status = 404, description = "This is production.", body = ErrorEnvelope),
        (status = 409, description = "The clock is being advanced, so it cannot go on.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    body: Body,
) -> Result<Json<ClockView>, ApiError> {
    account_clocks::find(&app, caller.client_id).await?;
    let ChangesBody { frozen } = body.read_as()?;
    let frozen = if frozen { Frozen::Yes } else { Frozen::No };
    let author = Author::of(&caller, &request_id);
    let stored = account_clocks::set_frozen(&app, author, frozen).await?;
    Ok(Json(ClockView::of(&stored.clock, app.clock.deployment())))
}

/// Gives the account the time of the deployment again.
///
/// Its time goes back. What was made ahead of it keeps its times, and what is due then comes due when the deployment's time gets
/// there. An advance ends where it is. In production there is no such operation.
#[utoipa::path(
    delete, path = "/v1/sandbox/clock", operation_id = "resetClock", tag = "Sandbox",
    responses((status = 200, description = "The clock.", body = ClockView),
        (status = 404, description = "This is production.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn reset(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
) -> Result<Json<ClockView>, ApiError> {
    let author = Author::of(&caller, &request_id);
    let stored = account_clocks::reset(&app, author).await?;
    Ok(Json(ClockView::of(&stored.clock, app.clock.deployment())))
}
