//! `/v1/customers/{id}/cards`: the cards of a buyer (`docs/interface/tokens-and-cards.md#linking`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::card::record::{CardState, Linked};
use regente_domain::id::{CardId, CustomerId};
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::cards::{listed, visible};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::{audit, customers};
use regente_store::{Batch, cards};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::cards::view::CardSchema;
use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The card to link.
#[derive(ToSchema)]
#[schema(as = CardLink, rename_all = "camelCase",
    example = json!({ "cardId": "148d5db0-f1c3-439f-902d-f1f268086e1d" }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct CardLinkBody {
    /// A stored card that belongs to nobody else.
    card_id: Uuid,
}

/// Links a card to a customer.
///
/// The latest link is the customer's default card. To link again what is linked already changes nothing.
#[utoipa::path(
    post,
    path = "/v1/customers/{id}/cards",
    operation_id = "linkCard",
    tag = "Customers",
    params(("id" = Uuid, Path, description = "The customer, or an alias of one.")),
    request_body(content = CardLinkBody, content_type = "application/json"),
    responses(
        (status = 204, description = "The card is linked."),
        (status = 404, description = "There is no such customer, or no such card.", body = ErrorEnvelope),
        (status = 409, description = "The card belongs to another customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn link(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let customer_id: CustomerId = path_id(&id)?;
    let card_id: CardId = body.read(|fields| fields.required("cardId").id())?;
    let route = format!("POST /v1/customers/{customer_id}/cards");
    commit_once(&app, &caller, &headers, &route, &body, || async {
        plan_link(&app, &caller, &request_id, customer_id, card_id).await
    })
    .await
}

async fn plan_link(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    customer_id: CustomerId,
    card_id: CardId,
) -> Result<Planned, Error> {
    let customer =
        customers::resolve_customer(app, caller.client_id, customer_id).await?.ok_or(Error::NotFound)?;
    let card = match visible(app, caller, card_id).await {
        Err(Error::NotFound) => return Err(Error::ReferenceNotFound("cardId")),
        found => found?.card,
    };
    let now = app.clock.of(caller.client_id);
    let mut batch = Batch::new(caller.client_id);
    match card.link(customer.real_id, now) {
        Linked::Already => {}
        Linked::ToAnother => {
            return Err(Error::conflict(vec!["cardId is linked to another customer".to_owned()]));
        }
        Linked::Now(linked) => {
            cards::update(&mut batch, &card, &linked)?;
            audit::record(app, &mut batch, caller, request_id, "card.linked", card.id.uuid());
        }
    }
    Ok(Planned { batch, status: StatusCode::NO_CONTENT.as_u16(), body: Value::Null })
}

/// Lists the cards of a customer.
///
/// A plain array, the default card first. An alias has none.
#[utoipa::path(
    get,
    path = "/v1/customers/{id}/cards",
    operation_id = "listCustomerCards",
    tag = "Customers",
    params(("id" = Uuid, Path, description = "The customer.")),
    responses(
        (status = 200, description = "The cards.", body = Vec<CardSchema>),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let customer =
        customers::resolve_customer(&app, caller.client_id, path_id(&id)?).await?.ok_or(Error::NotFound)?;
    let mut views = Vec::new();
    // A public key must not see the cards of the customer behind an alias: it may have sent anybody's data.
    if !(customer.via_alias && caller.is_public_key()) {
        for stored in cards::of_customer(&app.store, caller.client_id, customer.real_id).await? {
            if stored.card.state != CardState::Verifying {
                views.push(listed(&app, &stored).await?);
            }
        }
    }
    Ok(axum::Json(views).into_response())
}
