//! `POST /v1/sessions/{id}/card`: another card for the subscription of a session (`docs/interface/subscriptions.md#another-card`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use deserr::Deserr;
use regente_domain::id::TokenId;
use regente_domain::problems::Problems;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::subscriptions::card_links::{self, GivenView, SentCard};
use tokio::sync::OnceCell;
use utoipa::ToSchema;

use super::find;
use crate::api::charges::guard::AtTheDoor;
use crate::api::fields::Body;
use crate::api::idempotency::{commit_once_and_complete, is_replay, key_of};
use crate::api::path::Path;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::sandbox_seed;
use crate::http::peer::PeerAddress;
use crate::human_check::Operation;

/// A card for the subscription of a session.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewCardOfSession, rename_all = "camelCase",
    example = json!({ "tokenId": "82aba896-9e37-45b6-aa90-d510c9050596" }))]
pub struct NewCardOfSessionBody {
    /// A card token; it is used up.
    token_id: TokenId,
}

/// Gives the subscription of a session another card.
///
/// The card is stored for the customer of the subscription, checked where the merchant has a provider that can, and charged from the next
/// attempt on. An unpaid subscription tries its failed cycle once more, at once. The session ends with it; a card that is refused
/// when it is checked changes nothing.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/card", operation_id = "giveSessionCard", tag = "Sessions",
    params(
        ("id" = Uuid, Path, description = "A session of `POST /v1/subscriptions/{id}/card-link`."),
        ("X-Captcha-Token" = Option<String>, Header,
            description = "Proves that a person gives the card, where the session has `captchaEnabled` and the key is public"),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = NewCardOfSessionBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The card, also when it was refused.", body = GivenView),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The session takes no card, or none any more, its subscription has ended, or it asks for `X-Captcha-Token`.",
            body = ErrorEnvelope, headers(("X-Captcha-Challenge" = Option<String>,
                description = "What that token starts with, where the request has an idempotency key"))),
        (status = 424, description = "The card could not be checked; there is no card.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn give(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<PeerAddress>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session = find(&app, &caller, &id).await?;
    let attempt = app.limiters.card_testing.begin(&caller, peer)?;
    let NewCardOfSessionBody { token_id } = body.read_as()?;
    let route = format!("POST /v1/sessions/{}/card", session.id);
    let sent =
        SentCard { token_id, key: key_of(&headers, route.clone(), &body)?, seed: sandbox_seed(&headers)? };
    let guard = AtTheDoor {
        app: app.clone(),
        caller: caller.clone(),
        headers: headers.clone(),
        attempt,
        operation: Operation::Card,
    };
    let stored = OnceCell::new();
    let plan = || async {
        let by = (&caller, &request_id);
        let (batch, view) = card_links::plan_card(&app, by, session.id, &sent, &stored, &guard).await?;
        Ok::<_, ApiError>(Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)?)
    };
    let answer = commit_once_and_complete(&app, &caller, &headers, &route, &body, plan, Ok).await?;
    if !is_replay(&answer)
        && let Some(stored) = stored.get()
    {
        stored.written();
    }
    Ok(answer)
}
