//! Shows the transaction log, and shows and changes the fault plan.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use regente_domain::time::Timestamp;
use regente_providers::sandbox::http::{
    ENTRIES_LIMIT_MAX, EntryPage, EntryView, HOLDINGS_LIMIT_MAX, HoldingPage, HoldingView, TotalView,
};
use regente_providers::sandbox::{Filter, Holdings, Order, Sandbox};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::Simulator;
use super::error::Refusal;

/// Entries and holdings on a page by default.
const LIMIT_DEFAULT: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EntriesQuery {
    key: Option<Uuid>,
    authorization_key: Option<Uuid>,
    since: Option<Timestamp>,
    after: Option<u64>,
    limit: Option<usize>,
    order: Option<OrderWord>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum OrderWord {
    Asc,
    Desc,
}

pub(super) async fn entries(
    State(simulator): State<Simulator>,
    query: Result<Query<EntriesQuery>, QueryRejection>,
) -> Result<Json<EntryPage>, Refusal> {
    let Query(query) = query.map_err(|rejection| Refusal::bad_request(rejection.body_text()))?;
    let limit = limit(query.limit, ENTRIES_LIMIT_MAX)?;
    let filter = Filter { key: query.key, authorization_key: query.authorization_key, since: query.since };
    let order = match query.order {
        Some(OrderWord::Asc) | None => Order::OldestFirst,
        Some(OrderWord::Desc) => Order::NewestFirst,
    };
    let mut stored = simulator.sandbox.transaction_log().page(filter, order, query.after, limit + 1).await?;
    let has_more = stored.len() > limit;
    stored.truncate(limit);
    let next = stored.last().filter(|_| has_more).map(|last| last.sequence);
    Ok(Json(EntryPage { items: stored.iter().map(EntryView::from).collect(), next }))
}

pub(super) async fn entry(
    State(simulator): State<Simulator>,
    key: Result<Path<Uuid>, PathRejection>,
) -> Result<Json<EntryView>, Refusal> {
    let Path(key) = key.map_err(|rejection| Refusal::bad_request(rejection.body_text()))?;
    let filter = Filter { key: Some(key), ..Filter::default() };
    let stored = simulator.sandbox.transaction_log().page(filter, Order::OldestFirst, None, 1).await?;
    let no_entry = || Refusal::new(StatusCode::NOT_FOUND, "no_entry", "the books have no entry for this key");
    stored.first().map(|stored| Json(EntryView::from(stored))).ok_or_else(no_entry)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BalancesQuery {
    authorization_key: Option<Uuid>,
    after: Option<Uuid>,
    limit: Option<usize>,
}

pub(super) async fn balances(
    State(simulator): State<Simulator>,
    query: Result<Query<BalancesQuery>, QueryRejection>,
) -> Result<Json<HoldingPage>, Refusal> {
    let Query(query) = query.map_err(|rejection| Refusal::bad_request(rejection.body_text()))?;
    let limit = limit(query.limit, HOLDINGS_LIMIT_MAX)?;
    let all = all_holdings(&simulator.sandbox).await?;
    let totals = TotalView::of(&all);
    let mut items: Vec<HoldingView> = all
        .into_iter()
        .filter(|item| query.authorization_key.is_none_or(|key| key == item.authorization_key))
        .filter(|item| query.after.is_none_or(|after| item.authorization_key > after))
        .take(limit + 1)
        .collect();
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| has_more).map(|last| last.authorization_key);
    Ok(Json(HoldingPage { items, totals, next }))
}

/// The holdings, summed from the first entry of the log at each request and never cached.
pub(super) async fn all_holdings(sandbox: &Sandbox) -> Result<Vec<HoldingView>, Refusal> {
    let entries = sandbox.transaction_log().entries().await?;
    Ok(Holdings::of(&entries).iter().map(|(key, holding)| HoldingView::of(key, &holding)).collect())
}

#[derive(Serialize)]
pub(super) struct Faults {
    faults: Value,
}

pub(super) async fn faults(State(simulator): State<Simulator>) -> Json<Faults> {
    Json(Faults { faults: simulator.sandbox.plan() })
}

pub(super) async fn set_faults(
    State(simulator): State<Simulator>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Faults>, Refusal> {
    let plan: Value = serde_json::from_slice(&body?)
        .map_err(|error| Refusal::bad_request(format!("the plan is no JSON: {error}")))?;
    simulator.sandbox.set_plan(plan, "faults")?;
    tracing::info!("the plan was changed");
    Ok(Json(Faults { faults: simulator.sandbox.plan() }))
}

pub(super) async fn drop_faults(State(simulator): State<Simulator>) -> Result<StatusCode, Refusal> {
    simulator.sandbox.set_plan(Value::Array(Vec::new()), "faults")?;
    tracing::info!("the plan was dropped");
    Ok(StatusCode::NO_CONTENT)
}

fn limit(asked: Option<usize>, max: usize) -> Result<usize, Refusal> {
    match asked.unwrap_or(LIMIT_DEFAULT) {
        limit if (1..=max).contains(&limit) => Ok(limit),
        _ => Err(Refusal::bad_request(format!("limit must be 1 to {max}"))),
    }
}
