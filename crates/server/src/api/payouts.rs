//! `/v1/payouts`: what receivers are due and were paid by the platform's own provider (`docs/interface/payouts.md`).

pub mod batches;
pub mod orders;

use axum::extract::State;
use axum::{Extension, Json};
use regente_domain::id::SellerId;
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::payouts;
use regente_store::charges::Direction;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::PageRequest;
use super::query::{Parameters, Query, SortOrder};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors};

/// The `limit` of the lists by default.
const LIMIT: u32 = 10;

/// What a receiver has.
#[derive(Serialize, ToSchema)]
#[schema(as = PayoutBalance, example = json!({ "available": 1_500_000, "receivable": 320_000 }))]
pub struct BalanceView {
    /// Due and not paid yet, less what the receiver owes, in cents; negative for a debt.
    available: i64,
    /// Due on later days, in cents.
    receivable: i64,
}

/// Reads what a receiver has.
///
/// Of a seller, or without `sellerId` of the account itself: the parts of its merchants and its platform fees.
#[utoipa::path(
    get, path = "/v1/payouts/balance", operation_id = "getPayoutBalance", tag = "Payouts",
    params(("sellerId" = Option<Uuid>, Query, description = "A seller; without it, the account itself.")),
    responses((status = 200, description = "What the receiver has.", body = BalanceView), CommonErrors),
)]
pub async fn balance(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Json<BalanceView>, ApiError> {
    let receiver = query.read(|parameters| parameters.id("sellerId"))?;
    let payouts::Balance { available, receivable } =
        payouts::balance(&app, caller.client_id, receiver).await?;
    Ok(Json(BalanceView { available, receivable }))
}

/// The page and the order of a list.
fn page(parameters: &Parameters<'_>) -> (PageRequest, Direction) {
    let direction = match parameters.choice("order", &SortOrder::LOWER_CASE).unwrap_or_default() {
        SortOrder::Ascending => Direction::Ascending,
        SortOrder::Descending => Direction::Descending,
    };
    (parameters.page(LIMIT), direction)
}

/// `limit` and `offset` of a page.
fn slice(page: PageRequest) -> (i64, i64) {
    (i64::from(page.limit), page.offset())
}

/// `startDate` and `endDate`, as the first moment and the first one after.
fn created(parameters: &Parameters<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    (parameters.moment("startDate"), parameters.end("endDate"))
}

/// The receiver that `sellerId` names; anybody without it.
fn receiver(parameters: &Parameters<'_>) -> Option<Option<SellerId>> {
    parameters.id("sellerId").map(Some)
}
