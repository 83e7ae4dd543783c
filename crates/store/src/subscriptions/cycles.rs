//! The cycles of subscriptions. Each is written in the batch that moves its subscription, whose version guards it.

use regente_domain::id::{ClientId, CycleId, SubscriptionId};
use regente_domain::subscription::Cycle;

use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a cycle.
    pub INSERT_CYCLE = "
        INSERT INTO subscription_cycles (subscription_id, number, client_id, id, open, doc)
        VALUES (:subscription_id, :number, :client_id, :id, :open, :doc)";
    /// Changes a cycle.
    pub UPDATE_CYCLE = "
        UPDATE subscription_cycles SET open = :open, doc = :doc
        WHERE subscription_id = :subscription_id AND number = :number AND client_id = :client_id";
    /// The cycles to which something may still happen by itself, oldest first.
    pub OPEN_CYCLES = "
        SELECT doc FROM subscription_cycles
        WHERE subscription_id = :subscription_id AND client_id = :client_id AND open = 1 ORDER BY number";
    /// One cycle of a subscription.
    pub FIND_CYCLE = "
        SELECT doc FROM subscription_cycles
        WHERE client_id = :client_id AND id = :id AND subscription_id = :subscription_id";
    /// A page of the cycles of a subscription, newest first.
    pub LIST_CYCLES = "
        SELECT doc FROM subscription_cycles
        WHERE subscription_id = :subscription_id AND client_id = :client_id
        ORDER BY number DESC LIMIT :limit OFFSET :offset";
    /// Counts the cycles of a subscription.
    pub COUNT_CYCLES = "
        SELECT COUNT(*) AS n FROM subscription_cycles
        WHERE subscription_id = :subscription_id AND client_id = :client_id";
}

pub(super) fn insert(
    batch: &mut Batch,
    subscription_id: SubscriptionId,
    cycle: &Cycle,
) -> Result<(), StoreError> {
    let client_id = batch.client_id();
    let (number, open, doc) = (cycle.number, cycle.is_open(), Json::of(cycle)?);
    batch.push(&INSERT_CYCLE, args! { subscription_id, number, client_id, id: cycle.id, open, doc });
    Ok(())
}

pub(super) fn update(
    batch: &mut Batch,
    subscription_id: SubscriptionId,
    cycle: &Cycle,
) -> Result<(), StoreError> {
    let client_id = batch.client_id();
    let (number, open, doc) = (cycle.number, cycle.is_open(), Json::of(cycle)?);
    batch.push(&UPDATE_CYCLE, args! { subscription_id, number, client_id, open, doc });
    Ok(())
}

/// The cycles to which something may still happen by itself, oldest first.
pub async fn open(
    store: &Store,
    client_id: ClientId,
    subscription_id: SubscriptionId,
) -> Result<Vec<Cycle>, StoreError> {
    let rows = store.rows(&OPEN_CYCLES, args! { subscription_id, client_id }).await?;
    rows.iter().map(from_row).collect()
}

/// One cycle of a subscription.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    subscription_id: SubscriptionId,
    id: CycleId,
) -> Result<Option<Cycle>, StoreError> {
    let found = store.row(&FIND_CYCLE, args! { subscription_id, client_id, id }).await?;
    found.as_ref().map(from_row).transpose()
}

/// A page of the cycles of a subscription, newest first.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    subscription_id: SubscriptionId,
    limit: i64,
    offset: i64,
) -> Result<Vec<Cycle>, StoreError> {
    let rows = store.rows(&LIST_CYCLES, args! { subscription_id, client_id, limit, offset }).await?;
    rows.iter().map(from_row).collect()
}

/// The cycle of a subscription with the highest number.
pub async fn newest(
    store: &Store,
    client_id: ClientId,
    subscription_id: SubscriptionId,
) -> Result<Option<Cycle>, StoreError> {
    Ok(page(store, client_id, subscription_id, 1, 0).await?.pop())
}

/// How many cycles a subscription has.
pub async fn count(
    store: &Store,
    client_id: ClientId,
    subscription_id: SubscriptionId,
) -> Result<i64, StoreError> {
    let found = store.row(&COUNT_CYCLES, args! { subscription_id, client_id }).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}

fn from_row(row: &Row) -> Result<Cycle, StoreError> {
    serde_json::from_str(row.get("doc")?)
        .map_err(|_| StoreError::Corrupt("subscription_cycles.doc".to_owned()))
}
