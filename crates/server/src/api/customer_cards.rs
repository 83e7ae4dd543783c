//! `/v1/customers/{id}/cards`: the cards of a buyer (`docs/interface/tokens-and-cards.md#linking`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use regente_domain::id::{CardId, CustomerId};
use regente_domain::problems::Problems;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::cards::listed;
use regente_engine::customers::cards;
use regente_engine::idempotency::Planned;
use serde_json::Value;
use utoipa::ToSchema;

use super::cards::view::CardWithCustomer;
use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The card to link.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = CardLink, rename_all = "camelCase",
    example = json!({ "cardId": "148d5db0-f1c3-439f-902d-f1f268086e1d" }))]
pub struct CardLinkBody {
    /// A stored card that belongs to nobody else.
    card_id: CardId,
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
    let CardLinkBody { card_id } = body.read_as()?;
    let route = format!("POST /v1/customers/{customer_id}/cards");
    let plan = || async {
        let batch = cards::plan_link(&app, (&caller, &request_id), customer_id, card_id).await?;
        Planned::showing(batch, StatusCode::NO_CONTENT.as_u16(), &Value::Null)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
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
        (status = 200, description = "The cards.", body = Vec<CardWithCustomer>),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let mut views = Vec::new();
    for stored in cards::list(&app, &caller, path_id(&id)?).await? {
        views.push(listed(&app, &stored).await?);
    }
    Ok(axum::Json(views).into_response())
}
