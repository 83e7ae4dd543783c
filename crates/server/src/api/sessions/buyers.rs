//! What the page of a session calls besides paying (`docs/interface/sessions.md#session-key`): tokens, cards and
//! customers, as on their own routes, with the key of the session.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use regente_domain::session::{Session, SessionStatus};
use regente_engine::caller::{Authority, Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::flows::session as flow;

use crate::api::cards::view::CardSchema;
use crate::api::cards::{self, NewCardBody};
use crate::api::customer_cards::{self, CardLinkBody};
use crate::api::customers::{self, CustomerView, NewCustomerBody};
use crate::api::fields::Body;
use crate::api::path::Path;
use crate::api::query::Query;
use crate::api::tokens::{self, NewTokenBody, Token};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::peer::PeerAddress;

/// Makes a token with the key of a session, as `POST /v1/tokens` does.
#[utoipa::path(
    post, path = "/v1/sessions/tokens", operation_id = "createSessionToken", tag = "Sessions",
    params(("X-Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        pattern = "^[!-~]([ -~]*[!-~])?$",
        description = "The same key and body give the same answer again for 24 hours")),
    request_body(content = NewTokenBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The token.", body = Token,
            example = json!({ "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" })),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn create_token(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    session_takes_buyers(&app, &caller).await?;
    tokens::create(State(app), Extension(caller), Extension(peer), headers, body).await
}

/// Stores a card with the key of a session, as `POST /v1/cards` does.
#[utoipa::path(
    post, path = "/v1/sessions/cards", operation_id = "createSessionCard", tag = "Sessions",
    params(
        ("X-Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
            pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "The same key and body give the same answer again for 24 hours"),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = NewCardBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The card.", body = CardSchema),
        (status = 404, description = "`merchantId` is not one of the account.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 424, description = "The card could not be checked; there is no card.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn create_card(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request_id: Extension<RequestId>,
    peer: Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    session_takes_buyers(&app, &caller).await?;
    cards::create(State(app), Extension(caller), request_id, peer, headers, body).await
}

/// Creates or finds a customer with the key of a session, as `POST /v1/customers` does.
#[utoipa::path(
    post, path = "/v1/sessions/customers", operation_id = "createSessionCustomer", tag = "Sessions",
    params(
        ("force" = Option<bool>, Query, description = "Answer with a customer whatever is already stored"),
        ("X-Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
            pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "The same key and body give the same answer again for 24 hours"),
    ),
    request_body(content = NewCustomerBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The customer.", body = CustomerView),
        (status = 404, description = "The idempotency key made a customer who was erased since.", body = ErrorEnvelope),
        (status = 409, description = "The e-mail address or the document is another customer's, or the idempotency \
            key is in use.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn create_customer(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request_id: Extension<RequestId>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    session_takes_buyers(&app, &caller).await?;
    customers::create(State(app), Extension(caller), request_id, query, headers, body).await
}

/// Reads a customer with the key of a session.
///
/// By the id that only the merchant's server gives out; an alias is not found.
#[utoipa::path(
    get, path = "/v1/sessions/customers/{id}", operation_id = "getSessionCustomer", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The customer.")),
    responses(
        (status = 200, description = "The customer.", body = CustomerView),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn read_customer(
    app: State<App>,
    caller: Extension<Caller>,
    id: Path<String>,
) -> Result<Response, ApiError> {
    Ok(customers::read(app, caller, id).await?.into_response())
}

/// Links a card to a customer with the key of a session, as `POST /v1/customers/{id}/cards` does.
#[utoipa::path(
    post, path = "/v1/sessions/customers/{id}/cards", operation_id = "linkSessionCard", tag = "Sessions",
    params(
        ("id" = Uuid, Path, description = "The customer, or an alias of one."),
        ("X-Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
            pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "The same key and body give the same answer again for 24 hours"),
    ),
    request_body(content = CardLinkBody, content_type = "application/json"),
    responses(
        (status = 204, description = "The card is linked."),
        (status = 404, description = "There is no such customer, or no such card.", body = ErrorEnvelope),
        (status = 409, description = "The card belongs to another customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn link_card(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request_id: Extension<RequestId>,
    id: Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    // Shipped checkouts link the card when it has paid.
    match session_of(&app, &caller).await?.map(|session| session.status) {
        Some(SessionStatus::Canceled | SessionStatus::Voided) => return Err(ApiError::Forbidden),
        Some(SessionStatus::Created | SessionStatus::Paid) | None => {}
    }
    customer_cards::link(State(app), Extension(caller), request_id, id, headers, body).await
}

/// Lists the cards of a customer with the key of a session. An alias has none.
#[utoipa::path(
    get, path = "/v1/sessions/customers/{id}/cards", operation_id = "listSessionCards", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The customer.")),
    responses(
        (status = 200, description = "The cards.", body = Vec<CardSchema>),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn list_cards(
    app: State<App>,
    caller: Extension<Caller>,
    id: Path<String>,
) -> Result<Response, ApiError> {
    customer_cards::list(app, caller, id).await
}

/// Refuses the key of a session that nobody can pay now.
async fn session_takes_buyers(app: &App, caller: &Caller) -> Result<(), ApiError> {
    let now = app.clock.of(caller.client_id);
    match session_of(app, caller).await?.is_none_or(|session| session.takes_buyers(now)) {
        true => Ok(()),
        false => Err(ApiError::Forbidden),
    }
}

/// The session of the key, if it is one of a session.
async fn session_of(app: &App, caller: &Caller) -> Result<Option<Session>, Error> {
    match caller.authority {
        Authority::SessionKey { session_id } => flow::find(app, caller.client_id, session_id).await.map(Some),
        Authority::SecretKey | Authority::ClientToken { .. } => Ok(None),
    }
}
