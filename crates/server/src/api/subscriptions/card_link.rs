//! `POST /v1/subscriptions/{id}/card-link`: a page at which the buyer gives another card
//! (`docs/interface/subscriptions.md#another-card`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::SubscriptionId;
use regente_domain::session::sent::NewCardLink;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::sessions::access::view_for;
use regente_engine::subscriptions;
use regente_engine::subscriptions::card_links;

use crate::api::fields::Body;
use crate::api::idempotency::commit_once;
use crate::api::path::{Path, path_id};
use crate::api::sessions::view::ShownSession;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Makes a link at which the buyer of a subscription gives another card.
///
/// A session that takes no payment: its `paymentLink` is a page for one card. The page, or another one with the key of the session, gives it
/// by `POST /v1/sessions/{id}/card`, once.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/card-link", operation_id = "createCardLink", tag = "Subscriptions",
    params(("id" = Uuid, Path, description = "The subscription.")),
    request_body(content = NewCardLink, content_type = "application/json"),
    responses(
        (status = 200, description = "The session, with `subscriptionId`.", body = ShownSession),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "It has ended: `subscription_invalid_state`.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id: SubscriptionId = path_id(&id)?;
    subscriptions::find(&app, caller.client_id, id).await?;
    let link: NewCardLink = body.read_as()?;
    let route = format!("POST /v1/subscriptions/{id}/card-link");
    let plan = || async {
        let (batch, opened) = card_links::plan_link(&app, (&caller, &request_id), id, &link).await?;
        Planned::showing(batch, StatusCode::OK.as_u16(), &view_for(&app, &caller, &opened).await?)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}
