//! `/v1/subacquirer/prepayment`: receivables of the platform's own provider that are paid early (`docs/interface/prepayment.md`).

pub mod error;
mod view;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use regente_domain::id::PrepaymentId;
use regente_domain::prepayment::NewPrepayment;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::prepayments;

use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::ApiError;
use error::{CommitErrors, ReadErrors, ReceivablesErrors, SimulationErrors};
pub use view::{PrepaymentView, ReceivablesView};

/// Lists the receivables that can be paid early.
///
/// Those of captures by card at the platform's own provider that are settled later than what is committed now would be paid. All of
/// them, without pages, by the day on which they are settled.
#[utoipa::path(
    get, path = "/v1/subacquirer/prepayment/receivables", operation_id = "listReceivables", tag = "Prepayment",
    params(("sellerId" = Option<Uuid>, Query, description = "Those of a seller; those of the account itself without one.")),
    responses((status = 200, description = "The receivables.", body = ReceivablesView,
            example = json!({ "summary": { "availableAmount": 25000, "receivableCount": 3 }, "receivables": [
                { "id": "019d6afe-c505-70a9-8df0-d052b578b35a", "settlementDate": "2026-06-15", "paymentArrangement": "vcc",
                    "amount": 12000 },
                { "id": "019d6afe-c505-70a9-8df0-d052b578b35b", "settlementDate": "2026-06-15", "paymentArrangement": "vcc",
                    "amount": 8000 },
                { "id": "019d6afe-c505-70a9-8df0-d052b578b35c", "settlementDate": "2026-06-20", "paymentArrangement": "mcc",
                    "amount": 5000 }] })),
        ReceivablesErrors),
)]
pub async fn receivables(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Json<ReceivablesView>, ApiError> {
    let seller = query.read(|parameters| parameters.id("sellerId"))?;
    let found = prepayments::receivables(&app, caller.client_id, seller).await?;
    Ok(Json(ReceivablesView::of(&found)))
}

/// Simulates a prepayment.
///
/// What it would cost to have receivables paid on the next business day. The offer stands until 15:00 in Brasilia of this business
/// day; one that is made later, or on no business day, counts as made on the next one.
#[utoipa::path(
    post, path = "/v1/subacquirer/prepayment", operation_id = "createPrepayment", tag = "Prepayment",
    request_body(content = NewPrepayment, content_type = "application/json"),
    responses((status = 201, description = "The offer.", body = PrepaymentView),
        SimulationErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewPrepayment = body.read_as()?;
    let plan = || async {
        let (batch, made) = prepayments::plan_simulation(&app, (&caller, &request_id), &new).await?;
        let view = PrepaymentView::of(&made, app.clock.of(caller.client_id));
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/subacquirer/prepayment", &body, plan).await
}

/// Reads a prepayment.
#[utoipa::path(
    get, path = "/v1/subacquirer/prepayment/{id}", operation_id = "getPrepayment", tag = "Prepayment",
    params(("id" = Uuid, Path, description = "Id of the prepayment")),
    responses((status = 200, description = "The prepayment.", body = PrepaymentView),
        ReadErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<PrepaymentView>, ApiError> {
    let found = prepayments::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(PrepaymentView::of(&found, app.clock.of(caller.client_id))))
}

/// Commits a prepayment: what was offered is paid on its day.
#[utoipa::path(
    post, path = "/v1/subacquirer/prepayment/{id}/commit", operation_id = "commitPrepayment", tag = "Prepayment",
    params(("id" = Uuid, Path, description = "Id of the prepayment")),
    responses((status = 200, description = "It is committed.", body = PrepaymentView), CommitErrors),
)]
pub async fn commit(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id: PrepaymentId = path_id(&id)?;
    let route = format!("POST /v1/subacquirer/prepayment/{id}/commit");
    let plan = || async {
        let (batch, committed) = prepayments::plan_commit(&app, (&caller, &request_id), id).await?;
        let view = PrepaymentView::of(&committed, app.clock.of(caller.client_id));
        Planned::showing(batch, StatusCode::OK.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}
