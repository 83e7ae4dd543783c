//! Stores flows. A version is never changed but for its status, and never deleted, since charges refer to it; of each merchant and
//! method one is active at most, which a unique index holds.

use regente_domain::flow::{FlowMethod, FlowStatus};
use regente_domain::id::{ClientId, FlowId, MerchantId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "f.id, f.client_id, f.merchant_id, f.payment_method, f.status, f.doc"
    };
}

macro_rules! of_method {
    () => {
        " AND (:payment_method = '' OR f.payment_method = :payment_method)"
    };
}

sql! {
    /// Adds a version; the unique index refuses a second active one.
    pub INSERT_FLOW = "
        INSERT INTO flows (id, client_id, merchant_id, payment_method, status, doc)
        VALUES (:id, :client_id, :merchant_id, :payment_method, :status, :doc)";
    /// Archives the active version.
    pub ARCHIVE_FLOW = "
        UPDATE flows SET status = 'archived' WHERE id = :id AND client_id = :client_id AND status = 'active'";
    /// One version.
    pub FIND_FLOW = concat!("SELECT ", columns!(), " FROM flows f WHERE f.id = :id AND f.client_id = :client_id");
    /// The active versions of a merchant.
    pub ACTIVE_FLOWS = concat!("SELECT ", columns!(), " FROM flows f
        WHERE f.client_id = :client_id AND f.merchant_id = :merchant_id AND f.status = 'active'
        ORDER BY f.payment_method");
    /// A page of the versions of an account, newest first.
    pub LIST_FLOWS = concat!("SELECT ", columns!(), " FROM flows f WHERE f.client_id = :client_id", of_method!(), "
        ORDER BY f.id DESC LIMIT :limit OFFSET :offset");
    /// Counts them.
    pub COUNT_FLOWS = concat!("SELECT COUNT(*) AS n FROM flows f WHERE f.client_id = :client_id", of_method!());
    /// A page of the versions of a merchant, newest first.
    pub LIST_FLOWS_OF_MERCHANT = concat!("SELECT ", columns!(), " FROM flows f
        WHERE f.client_id = :client_id AND f.merchant_id = :merchant_id", of_method!(), "
        ORDER BY f.id DESC LIMIT :limit OFFSET :offset");
    /// Counts them.
    pub COUNT_FLOWS_OF_MERCHANT = concat!("SELECT COUNT(*) AS n FROM flows f
        WHERE f.client_id = :client_id AND f.merchant_id = :merchant_id", of_method!());
}

/// A version of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowVersion {
    /// Its id; the time of publication is the id's own.
    pub id: FlowId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant that it applies to.
    pub merchant_id: MerchantId,
    /// The method that it applies to.
    pub method: FlowMethod,
    /// Whether new charges follow it.
    pub status: FlowStatus,
    /// What was published.
    pub details: FlowDetails,
}

/// What was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowDetails {
    /// The label in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tree, as sent.
    pub flow: Map<String, Value>,
    /// The version that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<FlowId>,
    /// The version that it restores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<FlowId>,
}

/// Which versions a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowFilter {
    /// Those of this merchant.
    pub merchant_id: Option<MerchantId>,
    /// Those of this method.
    pub method: Option<FlowMethod>,
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Doc<D> {
    format: u32,
    #[serde(flatten)]
    details: D,
}

/// Adds a version.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, version: &FlowVersion) -> Result<(), StoreError> {
    batch.push(
        &INSERT_FLOW,
        args! {
            id: version.id,
            client_id: version.client_id,
            merchant_id: version.merchant_id,
            payment_method: version.method.word(),
            status: version.status.word(),
            doc: Json::of(&Doc { format: FORMAT, details: &version.details })?,
        },
    );
    Ok(())
}

/// Archives an active version; the batch is refused when it is not active any more.
pub fn archive(batch: &mut Batch, version: &FlowVersion) {
    batch.guard(&ARCHIVE_FLOW, args! { id: version.id, client_id: version.client_id });
}

/// A version.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when its document cannot be read.
pub async fn find(store: &Store, client_id: ClientId, id: FlowId) -> Result<Option<FlowVersion>, StoreError> {
    store.row(&FIND_FLOW, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The active versions of a merchant, one for each method at most.
///
/// # Errors
/// As [`find`].
pub async fn active(
    store: &Store,
    client_id: ClientId,
    merchant_id: MerchantId,
) -> Result<Vec<FlowVersion>, StoreError> {
    store.rows(&ACTIVE_FLOWS, args! { client_id, merchant_id }).await?.iter().map(from_row).collect()
}

/// A page of versions, newest first, and how many there are.
///
/// # Errors
/// As [`find`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    filter: FlowFilter,
    (limit, offset): (i64, i64),
) -> Result<(Vec<FlowVersion>, u64), StoreError> {
    let payment_method = filter.method.map_or("", FlowMethod::word);
    let (rows, count) = match filter.merchant_id {
        None => (
            store.rows(&LIST_FLOWS, args! { client_id, payment_method, limit, offset }).await?,
            store.row(&COUNT_FLOWS, args! { client_id, payment_method }).await?,
        ),
        Some(merchant_id) => (
            store
                .rows(
                    &LIST_FLOWS_OF_MERCHANT,
                    args! { client_id, merchant_id, payment_method, limit, offset },
                )
                .await?,
            store.row(&COUNT_FLOWS_OF_MERCHANT, args! { client_id, merchant_id, payment_method }).await?,
        ),
    };
    let total = count.map_or(Ok(0), |row| row.get("n"))?;
    Ok((rows.iter().map(from_row).collect::<Result<_, _>>()?, total))
}

fn from_row(row: &Row) -> Result<FlowVersion, StoreError> {
    let id: FlowId = row.get("id")?;
    let (method, status): (&str, &str) = (row.get("payment_method")?, row.get("status")?);
    let corrupt = |what: &dyn std::fmt::Display| StoreError::Corrupt(format!("flow {id}: {what}"));
    let doc: Doc<FlowDetails> = serde_json::from_str(row.get("doc")?).map_err(|error| corrupt(&error))?;
    if doc.format != FORMAT {
        return Err(corrupt(&format_args!("format {}", doc.format)));
    }
    Ok(FlowVersion {
        id,
        client_id: row.get("client_id")?,
        merchant_id: row.get("merchant_id")?,
        method: FlowMethod::parse(method).ok_or_else(|| corrupt(&method))?,
        status: FlowStatus::parse(status).ok_or_else(|| corrupt(&status))?,
        details: doc.details,
    })
}
