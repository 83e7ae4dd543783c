//! Stores prepayments. Their items are in the document; the orders of payouts that they are of name the prepayment once it is
//! committed ([`crate::payouts::prepaid`]).

use jiff::civil::Date;
use regente_domain::id::{ClientId, PrepaymentId, SellerId};
use regente_domain::prepayment::{Item, PrepaymentStatus, Rates, Selection};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

sql! {
    /// Adds a prepayment.
    pub INSERT_PREPAYMENT = "
        INSERT INTO prepayments (id, client_id, seller_id, status, expires_at, doc, version, updated_at)
        VALUES (:id, :client_id, :seller_id, :status, :expires_at, :doc, :version, :updated_at)";
    /// Changes a prepayment; guarded by the version.
    pub UPDATE_PREPAYMENT = "
        UPDATE prepayments SET status = :status, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// One prepayment.
    pub FIND_PREPAYMENT = "
        SELECT id, client_id, seller_id, status, expires_at, doc, version, updated_at FROM prepayments
        WHERE id = :id AND client_id = :client_id";
}

/// A prepayment as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPrepayment {
    /// Its id; the time of creation is the id's own.
    pub id: PrepaymentId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// Whose receivables; those of the account itself without one.
    pub seller_id: Option<SellerId>,
    /// Where it stands.
    pub status: PrepaymentStatus,
    /// From then on it cannot be committed.
    pub expires_at: Timestamp,
    /// When it is paid once it is committed.
    pub payment_date: Date,
    /// What was asked for.
    pub selection: Selection,
    /// The rates at which it was simulated.
    pub rates: Rates,
    /// The receivables, by the day on which they would be settled.
    pub items: Vec<Item>,
    /// Members of the document that this release does not know; kept unchanged.
    pub unknown: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The document. It does not change.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    payment_date: Date,
    selection: Selection,
    rates: Rates,
    items: Vec<Item>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a prepayment.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, prepayment: &StoredPrepayment) -> Result<(), StoreError> {
    let StoredPrepayment { payment_date, selection, rates, items, unknown, .. } = prepayment.clone();
    let doc = Json::of(&Doc { format: FORMAT, payment_date, selection, rates, items, unknown })?;
    batch.push(
        &INSERT_PREPAYMENT,
        args! {
            id: prepayment.id,
            client_id: prepayment.client_id,
            seller_id: prepayment.seller_id,
            status: prepayment.status.word(),
            expires_at: prepayment.expires_at,
            doc,
            version: prepayment.version,
            updated_at: prepayment.updated_at,
        },
    );
    Ok(())
}

/// Writes the status of `prepayment` to its next version; the batch is refused when it has changed since the version in `prepayment`.
pub fn update(batch: &mut Batch, prepayment: &StoredPrepayment) {
    batch.guard(
        &UPDATE_PREPAYMENT,
        args! {
            id: prepayment.id,
            client_id: prepayment.client_id,
            version: prepayment.version,
            status: prepayment.status.word(),
            updated_at: prepayment.updated_at,
        },
    );
}

/// A prepayment of a client.
///
/// # Errors
/// As [`Store::row`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: PrepaymentId,
) -> Result<Option<StoredPrepayment>, StoreError> {
    store.row(&FIND_PREPAYMENT, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

fn from_row(row: &Row) -> Result<StoredPrepayment, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("prepayments.{what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|_| corrupt("doc"))?;
    let status: String = row.get("status")?;
    Ok(StoredPrepayment {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        seller_id: row.get("seller_id")?,
        status: PrepaymentStatus::parse(&status).ok_or_else(|| corrupt("status"))?,
        expires_at: row.get("expires_at")?,
        payment_date: doc.payment_date,
        selection: doc.selection,
        rates: doc.rates,
        items: doc.items,
        unknown: doc.unknown,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
