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
use uuid::Uuid;

use super::fields::Body;
use super::idempotency::{commit_once, commit_once_and_complete, is_replay};
use super::path::{Path, path_id};
use super::schema::words;
use crate::access::Gate;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::idempotency_key;
use error::{PurchaseError, PurchaseErrorEnvelope, PurchaseErrors};
use view::EntryView;

/// The `Retry-After` for polling a purchase, in seconds.
const LOOK_AGAIN_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// A purchase.
#[derive(ToSchema)]
#[schema(as = NewPurchase, rename_all = "camelCase", example = json!({
    "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 30000, "currency": "BRL", "capture": true,
    "orderId": "order-77", "statementDescriptor": "LOJA JOAO",
    "payments": [
        { "cardId": "148d5db0-f1c3-439f-902d-f1f268086e1d", "amount": 10000, "installments": 1 },
        { "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00", "amount": 20000, "installments": 3 }
    ]
}))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewPurchaseBody {
    /// The merchant whose providers process it.
    merchant_id: Uuid,
    /// The sum of the payments, in cents.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: i64,
    /// `BRL` alone.
    #[schema(value_type = Option<words::PurchaseCurrency>, default = "BRL")]
    currency: Option<String>,
    /// Whether every card is captured once all of them are reserved; otherwise that is asked for later.
    #[schema(default = false)]
    capture: Option<bool>,
    /// The merchant's own reference; not unique.
    #[schema(max_length = 255)]
    order_id: Option<String>,
    /// Free text.
    #[schema(max_length = 2048)]
    description: Option<String>,
    /// Text on the buyer's statements.
    #[schema(max_length = 255)]
    statement_descriptor: Option<String>,
    /// The buyer.
    customer_id: Option<Uuid>,
    /// Free data of the merchant, at most 50 members.
    #[schema(value_type = Option<Object>)]
    metadata: Option<()>,
    /// Data for risk analysis; stored sealed, part of each charge.
    #[schema(value_type = Option<Object>)]
    fraud_analysis: Option<()>,
    /// Traceability: `platform`, `device`, `system`.
    #[schema(value_type = Option<Object>)]
    app_info: Option<()>,
    payment_flow: Option<super::charges::PaymentFlowBody>,
    /// The cards, in the order in which they are charged.
    #[schema(min_items = 2, max_items = 3)]
    payments: Vec<NewPaymentBody>,
}

/// One card of a purchase: `cardId` or `tokenId`. Other members are refused.
#[derive(ToSchema)]
#[schema(as = NewPurchasePayment, rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewPaymentBody {
    /// A stored card.
    card_id: Option<Uuid>,
    /// A card token.
    token_id: Option<Uuid>,
    /// Its part of the sum, in cents; 100 at least, unless the operator has set another minimum.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: i64,
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
    /// Security code of a stored card, when the buyer is present.
    #[schema(pattern = "^[0-9]{3,4}$")]
    card_cvv: Option<String>,
    /// A CVV token instead of `cardCvv`; it wins.
    token_cvv: Option<Uuid>,
}

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
    request_body(content = NewPurchaseBody, content_type = "application/json"),
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
