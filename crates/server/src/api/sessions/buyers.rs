//! What the page of a session calls besides paying (`docs/interface/sessions.md#session-key`): tokens, cards and
//! customers, as on their own routes, with the key of the session.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use regente_domain::customer::NewCustomer;
use regente_domain::id::MerchantId;
use regente_domain::problems::Problems;
use regente_domain::session::{Session, SessionStatus};
use regente_domain::token::NewToken;
use regente_engine::caller::{Authority, Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::sessions as flow;
use serde_json::{Map, Value};

use crate::api::cards::view::CardWithCustomer;
use crate::api::cards::{self, NewCardBody};
use crate::api::customer_cards::{self, CardLinkBody};
use crate::api::customers::{self, CustomerView};
use crate::api::fields::Body;
use crate::api::path::Path;
use crate::api::query::Query;
use crate::api::tokens::{self, Token};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::peer::PeerAddress;

/// The member of a new card with the check of it.
const ZERO_DOLLAR: &str = "zeroDollar";

/// Makes a token with the key of a session, as `POST /v1/tokens` does.
#[utoipa::path(
    post, path = "/v1/sessions/tokens", operation_id = "createSessionToken", tag = "Sessions",
    params(
        ("X-Captcha-Token" = Option<String>, Header,
            description = "Proves that a person asks, where the session of the key has `captchaEnabled`"),
    ),
    request_body(content = NewToken, content_type = "application/json"),
    responses(
        (status = 201, description = "The token.", body = Token,
            example = json!({ "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" })),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The session takes no cards any more, or asks for `X-Captcha-Token`.",
            body = ErrorEnvelope, headers(("X-Captcha-Challenge" = Option<String>,
                description = "What that token starts with, where the request has an idempotency key"))),
        CommonErrors,
    ),
)]
pub async fn create_token(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session = takes_cards(&app, &caller, &body).await?;
    tokens::make(&app, &caller, peer, &headers, &body, session.as_ref()).await
}

/// Stores a card with the key of a session, as `POST /v1/cards` does.
#[utoipa::path(
    post, path = "/v1/sessions/cards", operation_id = "createSessionCard", tag = "Sessions",
    params(
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
        ("X-Captcha-Token" = Option<String>, Header,
            description = "Proves that a person has a card checked, where the session of the key has `captchaEnabled`"),
    ),
    request_body(content = NewCardBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The card.", body = CardWithCustomer),
        (status = 404, description = "`merchantId` is not one of the account.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The session takes no cards any more, or asks for `X-Captcha-Token`.",
            body = ErrorEnvelope, headers(("X-Captcha-Challenge" = Option<String>,
                description = "What that token starts with, where the request has an idempotency key"))),
        (status = 424, description = "The card could not be checked; there is no card.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create_card(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session = takes_cards(&app, &caller, &body).await?;
    sells(session.as_ref())?;
    cards::store(app, caller, request_id, peer, headers, body, session.as_ref()).await
}

/// Creates or finds a customer with the key of a session, as `POST /v1/customers` does.
#[utoipa::path(
    post, path = "/v1/sessions/customers", operation_id = "createSessionCustomer", tag = "Sessions",
    params(("force" = Option<bool>, Query, description = "Answer with a customer whatever is already stored")),
    request_body(content = NewCustomer, content_type = "application/json"),
    responses(
        (status = 201, description = "The customer.", body = CustomerView),
        (status = 404, description = "The idempotency key made a customer who was erased since.", body = ErrorEnvelope),
        (status = 409, description = "The e-mail address or the document is another customer's, or the idempotency \
            key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The buyers of the session have made as many customers as they may.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create_customer(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request_id: Extension<RequestId>,
    Extension(peer): Extension<PeerAddress>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    sells(session_takes_buyers(&app, &caller).await?.as_ref())?;
    app.limiters.card_testing.begin(&caller, peer)?;
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
)]
pub async fn read_customer(
    app: State<App>,
    caller: Extension<Caller>,
    id: Path<String>,
) -> Result<Response, ApiError> {
    session_is_alive(&app, &caller).await?;
    Ok(customers::read(app, caller, id).await?.into_response())
}

/// Links a card to a customer with the key of a session, as `POST /v1/customers/{id}/cards` does.
#[utoipa::path(
    post, path = "/v1/sessions/customers/{id}/cards", operation_id = "linkSessionCard", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The customer, or an alias of one.")),
    request_body(content = CardLinkBody, content_type = "application/json"),
    responses(
        (status = 204, description = "The card is linked."),
        (status = 404, description = "There is no such customer, or no such card.", body = ErrorEnvelope),
        (status = 409, description = "The card belongs to another customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
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
    if let Some(session) = session_is_alive(&app, &caller).await?
        && !session.takes_buyers(app.clock.of(caller.client_id))
        && session.tally.paid == 0
    {
        return Err(ApiError::Forbidden);
    }
    customer_cards::link(State(app), Extension(caller), request_id, id, headers, body).await
}

/// Lists the cards of a customer with the key of a session. An alias has none.
#[utoipa::path(
    get, path = "/v1/sessions/customers/{id}/cards", operation_id = "listSessionCards", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The customer.")),
    responses(
        (status = 200, description = "The cards.", body = Vec<CardWithCustomer>),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn list_cards(
    app: State<App>,
    caller: Extension<Caller>,
    id: Path<String>,
) -> Result<Response, ApiError> {
    session_is_alive(&app, &caller).await?;
    customer_cards::list(app, caller, id).await
}

/// Refuses the key of a session that was canceled or given back.
async fn session_is_alive(app: &App, caller: &Caller) -> Result<Option<Session>, ApiError> {
    let session = session_of(app, caller).await?;
    sells(session.as_ref())?;
    match session.as_ref().map(|session| session.status) {
        Some(SessionStatus::Canceled | SessionStatus::Voided) => Err(ApiError::Forbidden),
        Some(SessionStatus::Created | SessionStatus::Paid) | None => Ok(session),
    }
}

/// Refuses the key of a session that takes a card for a subscription: of all this it needs tokens alone.
fn sells(session: Option<&Session>) -> Result<(), ApiError> {
    match session.is_none_or(|session| session.card_wanted.is_none()) {
        true => Ok(()),
        false => Err(ApiError::Forbidden),
    }
}

/// Refuses the key of a session that nobody can pay now.
async fn session_takes_buyers(app: &App, caller: &Caller) -> Result<Option<Session>, ApiError> {
    let (session, now) = (session_of(app, caller).await?, app.clock.of(caller.client_id));
    match session.as_ref().is_none_or(|session| session.takes_buyers(now)) {
        true => Ok(session),
        false => Err(ApiError::Forbidden),
    }
}

/// Refuses the key of a session that takes no card any more, and a check of a card at another merchant.
async fn takes_cards(app: &App, caller: &Caller, body: &Body) -> Result<Option<Session>, ApiError> {
    let Some(session) = session_takes_buyers(app, caller).await? else { return Ok(None) };
    flow::must_take_cards(&session)?;
    let mut problems = Problems::new();
    must_be_at_the_merchant(body.members(), "", &session, &mut problems);
    match body.members().get(ZERO_DOLLAR) {
        Some(Value::Object(nested)) => {
            must_be_at_the_merchant(nested, "zeroDollar.", &session, &mut problems);
        }
        Some(Value::Null) | None => {}
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            problems.add(ZERO_DOLLAR, "must be an object");
        }
    }
    problems.into_result()?;
    Ok(Some(session))
}

fn must_be_at_the_merchant(
    members: &Map<String, Value>,
    at: &str,
    session: &Session,
    problems: &mut Problems,
) {
    let named = members.get("merchantId").and_then(Value::as_str);
    let merchant: Option<MerchantId> = named.and_then(|named| named.parse().ok());
    if merchant.is_some_and(|merchant| merchant != session.merchant_id) {
        problems.add(format_args!("{at}merchantId"), "must be the merchant of the session");
    }
}

/// The session of the key, if it is one of a session.
async fn session_of(app: &App, caller: &Caller) -> Result<Option<Session>, Error> {
    match caller.authority {
        Authority::SessionKey { session_id } => flow::find(app, caller.client_id, session_id).await.map(Some),
        Authority::SecretKey | Authority::ClientToken { .. } | Authority::Member { .. } => Ok(None),
    }
}
