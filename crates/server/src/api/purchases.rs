//! `/v1/purchases`: orders paid with two or three cards (`docs/interface/purchases.md`). A request records the purchase
//! or operation, a job carries it out, and callers poll until it has ended.

pub mod error;
mod pan;
pub mod request;
pub mod view;

use std::future::ready;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use deserr::Deserr;
use futures_util::future::Either;
use regente_domain::charge::FollowUpKind;
use regente_domain::money::Amount;
use regente_domain::money::PositiveAmount;
use regente_domain::problems::Problems;
use regente_domain::purchase::SentPurchase;
use regente_engine::app::Answer;
use regente_engine::audit::Openings;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::events::purchase::PurchaseView;
use regente_engine::idempotency::Planned;
use regente_engine::purchases::{NewPurchase, Source, accept, operations};
use regente_store::purchases;
use serde_json::{Value, json};
use tower::{Service, service_fn};
use utoipa::ToSchema;

use super::fields::Body;
use super::idempotency::{commit_once, commit_once_and_complete, is_replay};
use super::path::{Path, path_id};
use crate::access::Gate;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::idempotency_key;
use error::{PurchaseError, PurchaseErrorEnvelope, PurchaseErrors};
use view::EntryView;

/// The `Retry-After` for polling a purchase, in seconds.
const LOOK_AGAIN_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// What an operation is about.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewPurchaseOperation, example = json!({}))]
pub struct OperationBody {
    /// The whole amount, if anything: a purchase is captured and voided as a whole.
    #[deserr(default)]
    amount: Option<PositiveAmount>,
}

/// Makes a purchase: one order, two or three cards, all of them charged or none.
///
/// The answer is 202 with `status: pending`. Every card is reserved before any is captured; when one is refused, the
/// others are released. Look at the purchase until it is `paid`, `failed` or `cancelled`, or every card `pre_authorized`.
/// Each card is a charge of its own.
#[utoipa::path(
    post,
    path = "/v1/purchases",
    operation_id = "createPurchase",
    tag = "Purchases",
    request_body(content = SentPurchase, content_type = "application/json"),
    responses(
        (status = 202, description = "The purchase; look again after `Retry-After` seconds.", body = PurchaseView),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = PurchaseErrorEnvelope),
        PurchaseErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, PurchaseError> {
    let body = body?;
    let request = request::read(&body, &app.settings)?;
    let openings = Openings::of(&app, &caller, &request_id);
    let plan = || async {
        let (batch, view) = accept(&app, &caller, &request, &openings).await?;
        Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view)
    };
    let complete = |answer| with_tokens(answer, &request);
    let route = "POST /v1/purchases";
    let answer = commit_once_and_complete(&app, &caller, &headers, route, &body, plan, complete).await?;
    if !is_replay(&answer) {
        openings.written();
    }
    Ok(look_again(answer))
}

/// Shows the tokens that were sent in place of the cards that were made of them. Their ids are not stored.
fn with_tokens(answer: Answer, request: &NewPurchase) -> Result<Answer, Error> {
    let mut shown: Value = serde_json::from_slice(&answer.bytes).map_err(Error::internal)?;
    let payments = shown.get_mut("payments").and_then(Value::as_array_mut);
    for (shown, sent) in payments.into_iter().flatten().zip(&request.payments) {
        if let Source::Token(token_id) = sent.source {
            shown["cardId"] = Value::Null;
            shown["tokenId"] = json!(token_id);
        }
    }
    Ok(Answer { bytes: serde_json::to_vec(&shown).map_err(Error::internal)?, ..answer })
}

/// Reads a purchase.
#[utoipa::path(
    get,
    path = "/v1/purchases/{id}",
    operation_id = "getPurchase",
    tag = "Purchases",
    params(("id" = Uuid, Path, description = "The purchase.")),
    responses((status = 200, description = "The purchase.", body = PurchaseView), PurchaseErrors),
)]
pub async fn read_one(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, PurchaseError> {
    Ok(axum::Json(operations::show(&app, caller.client_id, path_id(&id)?).await?).into_response())
}

/// Lists what happened to a purchase, oldest first.
#[utoipa::path(
    get,
    path = "/v1/purchases/{id}/history",
    operation_id = "getPurchaseHistory",
    tag = "Purchases",
    params(("id" = Uuid, Path, description = "The purchase.")),
    responses((status = 200, description = "What happened.", body = Vec<EntryView>), PurchaseErrors),
)]
pub async fn history(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, PurchaseError> {
    let purchase = operations::find(&app, caller.client_id, path_id(&id)?).await?.purchase;
    let entries = purchases::history(&app.store, caller.client_id, purchase.id).await;
    let entries = entries.map_err(ApiError::from)?;
    let views: Vec<EntryView> = entries.into_iter().map(|entry| EntryView::of(&purchase, entry)).collect();
    Ok(axum::Json(views).into_response())
}

/// Captures a purchase whose cards are all reserved.
///
/// The answer is 202; look at the purchase until it is `paid`, or `failed` when a card could not be captured and the
/// others were given back.
#[utoipa::path(
    post,
    path = "/v1/purchases/{id}/capture",
    operation_id = "capturePurchase",
    tag = "Purchases",
    params(("id" = Uuid, Path, description = "The purchase.")),
    request_body(content = OperationBody, content_type = "application/json"),
    responses(
        (status = 202, description = "The purchase; look again after `Retry-After` seconds.", body = PurchaseView),
        (status = 409, description = "Another operation is under way, or the idempotency key is in use.",
            body = PurchaseErrorEnvelope),
        (status = 422, description = "The purchase cannot be captured, or not by a request.",
            body = PurchaseErrorEnvelope),
        PurchaseErrors,
    ),
)]
pub async fn capture(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, PurchaseError> {
    operate(&app, &caller, &id, &headers, body, FollowUpKind::Capture).await
}

/// Voids a purchase: releases what is reserved, or gives back what was taken.
///
/// The answer is 202; look at the purchase until it is `cancelled`. When a provider refuses, its status stays.
#[utoipa::path(
    post,
    path = "/v1/purchases/{id}/void",
    operation_id = "voidPurchase",
    tag = "Purchases",
    params(("id" = Uuid, Path, description = "The purchase.")),
    request_body(content = OperationBody, content_type = "application/json"),
    responses(
        (status = 202, description = "The purchase; look again after `Retry-After` seconds.", body = PurchaseView),
        (status = 409, description = "Another operation is under way, or the idempotency key is in use.",
            body = PurchaseErrorEnvelope),
        (status = 422, description = "The purchase has ended, or a part of it was asked for.",
            body = PurchaseErrorEnvelope),
        PurchaseErrors,
    ),
)]
pub async fn void(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Result<Response, PurchaseError> {
    operate(&app, &caller, &id, &headers, body, FollowUpKind::Void).await
}

async fn operate(
    app: &App,
    caller: &Caller,
    id: &str,
    headers: &HeaderMap,
    body: Result<Body, ApiError>,
    operation: FollowUpKind,
) -> Result<Response, PurchaseError> {
    let body = body?;
    let OperationBody { amount } = body.read_as()?;
    let id = path_id(id)?;
    let route = match operation {
        FollowUpKind::Capture => format!("POST /v1/purchases/{id}/capture"),
        FollowUpKind::Void => format!("POST /v1/purchases/{id}/void"),
    };
    let plan = || async move {
        let (batch, view) = operations::plan(app, caller, id, operation, amount.map(Amount::from)).await?;
        Planned::showing(batch, StatusCode::ACCEPTED.as_u16(), &view)
    };
    let answer = commit_once(app, caller, headers, &route, &body, plan).await?;
    Ok(look_again(answer))
}

/// The layer in front of each POST of purchases: without an idempotency key it is refused.
pub fn demand_key(route: Route) -> impl Gate {
    service_fn(move |request: Request| match key_is_there(request.headers()) {
        Ok(()) => Either::Left(route.clone().call(request)),
        Err(error) => Either::Right(ready(Ok(error.into_response()))),
    })
}

fn key_is_there(headers: &HeaderMap) -> Result<(), PurchaseError> {
    match idempotency_key(headers)? {
        Some(_) => Ok(()),
        None => Err(Problems::one("X-Idempotency-Key", "should not be empty").into()),
    }
}

fn look_again(mut answer: Response) -> Response {
    answer.headers_mut().insert(header::RETRY_AFTER, LOOK_AGAIN_AFTER_SECONDS);
    answer
}
