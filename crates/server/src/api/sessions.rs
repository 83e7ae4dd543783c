//! `/v1/sessions`: orders that buyers pay by a link or in a shop (`docs/interface/sessions.md`). [`buyers`] has what the
//! page of a buyer calls besides, [`card`] what one calls that
//! takes a card for a subscription, [`link`] what it reads.

pub mod buyers;
pub mod card;
pub mod link;
pub mod list;
pub mod request;
pub mod view;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::id::SessionId;
use regente_domain::session::sent::{NewSession, SessionPayment};
use regente_domain::session::{Patch, Session, SessionStatus};
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::sessions::access::{view_for, visible, visible_opened};
use regente_engine::sessions::{change, create as creation, must_take_payments};
use regente_store::sessions;
use serde::Serialize;
use utoipa::ToSchema;

use super::charges;
use super::charges::view::ChargeView;
use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use super::split_rules::note_both_fees;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use view::{EntryView, ShownSession};

/// The most entries of a history in an answer; older ones are left out.
const HISTORY_MAX: i64 = 1000;

/// Creates a session.
///
/// An order that a buyer pays at its `paymentLink`, or in a page of the shop with its `publicKey`.
#[utoipa::path(
    post, path = "/v1/sessions", operation_id = "createSession", tag = "Sessions",
    request_body(content = NewSession, content_type = "application/json"),
    responses(
        (status = 200, description = "The session.", body = ShownSession),
        (status = 404, description = "`merchantId` is not one of the account.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The payment methods do not go with `maxPayments`, or a platform fee would leave nothing.", body = ErrorEnvelope),
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
    let new = request::read(&body, app.settings.mode)?;
    let plan = || async {
        let (batch, opened) = creation::plan_creation(&app, (&caller, &request_id), &new).await?;
        Planned::showing(batch, StatusCode::OK.as_u16(), &view_for(&app, &caller, &opened).await?)
    };
    commit_once(&app, &caller, &headers, "POST /v1/sessions", &body, plan).await
}

/// A session that the caller may see.
pub async fn find(app: &App, caller: &Caller, id: &str) -> Result<Session, Error> {
    visible(app, caller, path_id(id)?).await
}

/// Reads a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", operation_id = "getSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 200, description = "The session.", body = ShownSession),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read_one(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let opened = visible_opened(&app, &caller, path_id(&id)?).await?;
    Ok(axum::Json(view_for(&app, &caller, &opened).await?).into_response())
}

/// What is left of a session after a change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangedSession,
    example = json!({ "id": "c1db83fa-723c-4e1f-9722-bc19d1be6791", "isActive": false }))]
pub struct ChangedView {
    id: SessionId,
    is_active: bool,
}

/// Switches a session on or off, and changes its due date, its limit and how it is divided among sellers.
///
/// A paid, canceled or voided session stays as it is, and one that is past its due date needs another one.
#[utoipa::path(
    patch, path = "/v1/sessions/{id}", operation_id = "updateSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    request_body(content = Patch, content_type = "application/json"),
    responses(
        (status = 200, description = "The session was changed.", body = ChangedView),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        (status = 422, description = "A session that Pix or boleto has paid, its limit or its split cannot be changed so.",
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
    let session = find(&app, &caller, &id).await?;
    let changes: Patch = body.read_as()?;
    changes.split_rules.as_deref().into_iter().for_each(note_both_fees);
    let shown = ChangedView { id: session.id, is_active: changes.is_active };
    change::change(&app, (&caller, &request_id), session, changes).await?;
    Ok(axum::Json(shown).into_response())
}

/// What is left of a session that was canceled.
#[derive(Serialize, ToSchema)]
#[schema(as = CanceledSession,
    example = json!({ "id": "c1db83fa-723c-4e1f-9722-bc19d1be6791", "status": "canceled" }))]
pub struct CanceledView {
    id: SessionId,
    /// Always `canceled`.
    status: SessionStatus,
}

/// Cancels a session.
///
/// Nobody can pay it any more; what a buyer was asked to pay ends as `failed`, and what they pay nevertheless is given
/// back. To cancel again what is canceled changes nothing.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/cancel", operation_id = "cancelSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 201, description = "The session is canceled.", body = CanceledView),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn cancel(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session_id: SessionId = path_id(&id)?;
    let route = format!("POST /v1/sessions/{session_id}/cancel");
    let plan = || async {
        let batch = change::plan_cancel(&app, (&caller, &request_id), session_id).await?;
        let view = CanceledView { id: session_id, status: SessionStatus::Canceled };
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}

/// Pays a session.
///
/// The buyer says with what; merchant, amount and terms are the session's. The answer is that of `POST /v1/charges`. Of
/// two buyers who pay a session at once that is paid once, one is refused with `session_disabled`.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/charge", operation_id = "chargeSession", tag = "Sessions",
    params(
        ("id" = Uuid, Path, description = "The session."),
        ("X-Captcha-Token" = Option<String>, Header,
            description = "Proves that a person pays, where the session has `captchaEnabled` and the key is public"),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = SessionPayment, content_type = "application/json"),
    responses(
        (status = 201, description = "The charge, also when it was refused.", body = ChargeView),
        (status = 404, description = "There is no such session, card or customer.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        (status = 422, description = "The session cannot be paid, takes no cards any more, takes a card for a subscription instead, or asks for `X-Captcha-Token`.",
            body = ErrorEnvelope, headers(("X-Captcha-Challenge" = Option<String>,
                description = "What that token starts with, where the request has an idempotency key"))),
        CommonErrors,
    ),
)]
pub async fn charge(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let opened = Box::new(visible_opened(&app, &caller, path_id(&id)?).await?);
    must_take_payments(&opened.session)?;
    charges::make(app, caller, request, Some(opened)).await
}

/// Reads the history of a session, newest first.
///
/// A plain array of at most 1000 entries.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/history", operation_id = "getSessionHistory", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 200, description = "The history.", body = Vec<EntryView>),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn history(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = find(&app, &caller, &id).await?;
    let entries = sessions::history(&app.store, caller.client_id, session.id, HISTORY_MAX).await?;
    let views: Vec<EntryView> = entries.into_iter().map(|entry| EntryView::of(&session, entry)).collect();
    Ok(axum::Json(views).into_response())
}
