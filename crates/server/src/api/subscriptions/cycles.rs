//! The cycles of a subscription (`docs/interface/subscriptions.md#cycles`).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::SubscriptionId;
use regente_engine::caller::Caller;
use regente_engine::events::subscription::{CycleView, ListedCycleView};
use regente_engine::subscriptions;

use crate::api::page::Page;
use crate::api::path::{Path, path_id};
use crate::api::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Cycles on a page by default.
const LIMIT_DEFAULT: u32 = 10;

/// Lists the cycles of a subscription, newest first.
#[utoipa::path(
    get, path = "/v1/subscriptions/{id}/cycles", operation_id = "listSubscriptionCycles", tag = "Subscriptions",
    params(
        ("id" = Uuid, Path, description = "The subscription."),
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Cycles on a page; 10 by default."),
    ),
    responses(
        (status = 200, description = "A page of cycles.", body = Page<ListedCycleView>),
        (status = 404, description = "There is no such subscription.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, ApiError> {
    let id: SubscriptionId = path_id(&id)?;
    let page = query.read(|parameters| parameters.page(LIMIT_DEFAULT))?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = subscriptions::cycles(&app, caller.client_id, id, limit, offset).await?;
    let shown = found.iter().map(ListedCycleView::of).collect();
    Ok(Json(Page::new(page, shown, total.unsigned_abs())).into_response())
}

/// Reads a cycle with its payment history.
#[utoipa::path(
    get, path = "/v1/subscriptions/{id}/cycles/{cycleId}", operation_id = "getSubscriptionCycle",
    tag = "Subscriptions",
    params(
        ("id" = Uuid, Path, description = "The subscription."),
        ("cycleId" = Uuid, Path, description = "One of its cycles."),
    ),
    responses(
        (status = 200, description = "The cycle.", body = CycleView),
        (status = 404, description = "There is no such subscription, or it has no such cycle.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path((id, cycle_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (id, cycle_id) = (path_id(&id)?, path_id(&cycle_id)?);
    let cycle = subscriptions::cycle(&app, caller.client_id, id, cycle_id).await?;
    Ok(Json(CycleView::of(&cycle)).into_response())
}
