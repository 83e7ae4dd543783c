//! `/v1/cards`: stored cards (`docs/interface/tokens-and-cards.md#cards`).

pub mod view;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use regente_domain::card::record::{Card, Unchecked};
use regente_domain::id::{MerchantId, TokenId};
use regente_domain::problems::Problems;
use regente_domain::session::Session;
use regente_engine::audit::Openings;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::cards::{self, NewCheckedCard, Stored};
use regente_engine::error::Error;
use regente_engine::events::card::CardView;
use regente_engine::idempotency::{Planned, created};
use regente_engine::{customers, sessions};
use utoipa::ToSchema;

use super::customers::CustomerView;
use super::fields::Body;
use super::idempotency::{self, KeyLookup, body_response, commit_once, is_replay, json_response};
use super::page::Page;
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::sandbox_seed;
use crate::http::peer::PeerAddress;
use crate::human_check::{Operation, must_pass};
use view::CardWithCustomer;

/// Cards on a page by default (`docs/interface/conventions.md#lists`).
const LIMIT_DEFAULT: u32 = 15;

/// A card from a token.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewCard, rename_all = "camelCase",
    example = json!({ "tokenId": "82aba896-9e37-45b6-aa90-d510c9050596" }))]
pub struct NewCardBody {
    /// A card token; it is used up.
    token_id: TokenId,
    /// A merchant with a provider that can check a card with a zero amount.
    #[deserr(default)]
    merchant_id: Option<MerchantId>,
    /// Whether the card is checked; needs `merchantId`.
    #[deserr(default)]
    cvv_check: Option<bool>,
    /// The same two members, nested; they win.
    #[deserr(default)]
    zero_dollar: Option<ZeroDollarBody>,
}

/// Where and whether a card is checked.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = ZeroDollar, rename_all = "camelCase")]
struct ZeroDollarBody {
    /// The merchant.
    #[deserr(default)]
    merchant_id: Option<MerchantId>,
    /// Whether the card is checked.
    #[deserr(default)]
    cvv_check: Option<bool>,
}

/// Whether the card is to be checked.
enum CheckWanted {
    /// By a provider of this merchant.
    At(MerchantId),
    No(Unchecked),
}

impl NewCardBody {
    fn check(&self) -> CheckWanted {
        let nested = self.zero_dollar.as_ref();
        let cvv_check = nested.and_then(|nested| nested.cvv_check).or(self.cvv_check);
        match (cvv_check, nested.and_then(|nested| nested.merchant_id).or(self.merchant_id)) {
            (Some(true), Some(merchant_id)) => CheckWanted::At(merchant_id),
            (Some(true), None) => CheckWanted::No(Unchecked::WithoutMerchant),
            (Some(false) | None, _) => CheckWanted::No(Unchecked::NotAskedFor),
        }
    }
}

/// Stores a card.
///
/// The token is used up. With `cvvCheck` and `merchantId` a provider checks the card with a zero amount: it is then
/// `active` or `failed`; without a check it is `pending` until its first charge.
#[utoipa::path(
    post,
    path = "/v1/cards",
    operation_id = "createCard",
    tag = "Cards",
    params(
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = NewCardBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The card.", body = CardWithCustomer),
        (status = 404, description = "`merchantId` is not one of the account.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        (status = 424, description = "The card could not be checked; there is no card.", body = ErrorEnvelope),
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
    store(app, caller, request_id, peer, headers, body, None).await
}

/// Stores a card, with the key of this session, if it is one of a session.
pub(super) async fn store(
    app: App,
    caller: Caller,
    request_id: RequestId,
    peer: PeerAddress,
    headers: HeaderMap,
    body: Body,
    session: Option<&Session>,
) -> Result<Response, ApiError> {
    let attempt = app.limiters.card_testing.begin(&caller, peer)?;
    let new: NewCardBody = body.read_as()?;
    let seed = sandbox_seed(&headers)?;
    match new.check() {
        CheckWanted::At(merchant_id) => {
            let claim = match idempotency::read(&app, &caller, &headers, "POST /v1/cards", &body).await? {
                KeyLookup::New(claim) => claim,
                KeyLookup::Answered(finished) => return body_response(finished),
            };
            // What a provider says of a card is told to people alone. A card that is stored without a check tells nothing.
            if let Some(session) = session {
                sessions::must_try_card(session, app.clock.of(caller.client_id))?;
                must_pass(&*app.human_check, &app, (&caller, &headers), session, Operation::Card).await?;
            }
            let check = NewCheckedCard { token_id: new.token_id, merchant_id, claim, seed };
            let lets_try = |card: &Card| attempt.lets_try(card);
            match cards::store_checked(&app, (&caller, &request_id), check, lets_try).await? {
                Stored::Checked(card) => json_response(created(&card)?),
                Stored::Answered(finished) => body_response(finished),
            }
        }
        CheckWanted::No(why) => {
            let openings = Openings::of(&app, &caller, &request_id);
            let plan = || async {
                let (by, from) = ((&caller, &request_id), (new.token_id, why));
                let (batch, card) = cards::plan_creation(&app, by, from, &openings).await?;
                Planned::showing(batch, StatusCode::CREATED.as_u16(), &card)
            };
            let answer = commit_once(&app, &caller, &headers, "POST /v1/cards", &body, plan).await?;
            if !is_replay(&answer) {
                openings.written();
            }
            Ok(answer)
        }
    }
}

/// Lists cards.
///
/// Newest first. Public keys need the scope `*`.
#[utoipa::path(
    get,
    path = "/v1/cards",
    operation_id = "listCards",
    tag = "Cards",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Cards on a page; 15 by default."),
    ),
    responses((status = 200, description = "A page of cards.", body = Page<CardWithCustomer>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let request = query.read(|parameters| parameters.page(LIMIT_DEFAULT))?;
    let (limit, offset) = (i64::from(request.limit), request.offset());
    let (found, total) = cards::list(&app, caller.client_id, limit, offset).await?;
    Ok(axum::Json(Page::new(request, found, total.unsigned_abs())).into_response())
}

/// Reads a card.
///
/// With its buyer, when it is linked to one. A public key is not told who that is.
#[utoipa::path(
    get,
    path = "/v1/cards/{id}",
    operation_id = "getCard",
    tag = "Cards",
    params(("id" = Uuid, Path, description = "The card.")),
    responses(
        (status = 200, description = "The card.", body = CardWithCustomer),
        (status = 404, description = "There is no such card.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read_one(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let stored = cards::visible(&app, &caller, path_id(&id)?).await?;
    let holder_name = cards::holder_name(&app, &stored).await?;
    if caller.is_public_key() {
        return Ok(axum::Json(CardView::read_by_public_key(&stored.card, holder_name)).into_response());
    }
    let customer = match stored.card.link {
        Some(link) => match customers::find(&app, &caller, link.customer_id).await {
            Ok(customer) => Some(CustomerView::of(&customer)),
            Err(Error::NotFound) => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let card = CardView::listed(&stored.card, holder_name);
    Ok(axum::Json(CardWithCustomer { card, customer }).into_response())
}

/// Deletes a card.
///
/// An addition to the published interface: the number and the name are erased, charges that used the card keep its id.
#[utoipa::path(
    delete,
    path = "/v1/cards/{id}",
    operation_id = "deleteCard",
    tag = "Cards",
    params(("id" = Uuid, Path, description = "The card.")),
    responses(
        (status = 204, description = "The card is deleted."),
        (status = 404, description = "There is no such card.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    cards::delete(&app, (&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
