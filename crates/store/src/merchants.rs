//! Stores merchants, read together with their live providers. A deleted merchant keeps its row, because its charges
//! stay readable; no query here finds it.

use regente_domain::id::{ClientId, MerchantId};
use regente_domain::mcc::Mcc;
use regente_domain::merchant::MerchantStatus;
use regente_domain::platform_fee::Fees;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::Batch;
use crate::providers::{self, Provider};
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

/// The columns of a merchant and, with a prefix, those of one of its providers.
macro_rules! columns {
    () => {
        "m.id, m.client_id, m.status, m.doc, m.version, m.updated_at, p.id AS provider_id, p.provider_type, \
         p.priority, p.credentials, p.key_id, p.doc AS provider_doc, p.version AS provider_version, \
         p.updated_at AS provider_updated_at"
    };
}

macro_rules! with_live_providers {
    () => {
        " LEFT JOIN providers p
            ON p.client_id = :client_id AND p.merchant_id = m.id AND p.deleted_at IS NULL"
    };
}

sql! {
    /// Adds a merchant.
    pub INSERT_MERCHANT = "
        INSERT INTO merchants (id, client_id, status, doc, version, updated_at)
        VALUES (:id, :client_id, :status, :doc, :version, :updated_at)";
    /// Changes the details of a merchant.
    pub UPDATE_MERCHANT = "
        UPDATE merchants SET doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Deletes a merchant; its row stays.
    pub DELETE_MERCHANT = "
        UPDATE merchants SET status = :status, version = version + 1, updated_at = :updated_at,
            deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// One merchant with its providers, one row for each provider.
    pub FIND_MERCHANT = concat!("SELECT ", columns!(), " FROM merchants m", with_live_providers!(), "
        WHERE m.id = :id AND m.client_id = :client_id AND m.deleted_at IS NULL ORDER BY p.id");
    /// A page of merchants with their providers, newest first.
    pub LIST_MERCHANTS = concat!("SELECT ", columns!(), " FROM (
            SELECT id, client_id, status, doc, version, updated_at FROM merchants
            WHERE client_id = :client_id AND deleted_at IS NULL ORDER BY id DESC LIMIT :limit OFFSET :offset
        ) m", with_live_providers!(), " ORDER BY m.id DESC, p.id");
    /// Merchants by their ids, also deleted ones.
    pub MERCHANTS_EVER = "SELECT id, doc FROM merchants WHERE client_id = :client_id AND id IN EACH_UUID(:ids)";
    /// Counts the merchants.
    pub COUNT_MERCHANTS = "
        SELECT COUNT(*) AS n FROM merchants WHERE client_id = :client_id AND deleted_at IS NULL";
}

/// A merchant.
#[derive(Clone, Debug, PartialEq)]
pub struct Merchant {
    /// Its id; the time of creation is the id's own.
    pub id: MerchantId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// Its status.
    pub status: MerchantStatus,
    /// Its details.
    pub details: MerchantDetails,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The details of a merchant that callers set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MerchantDetails {
    /// The category code registered with the providers.
    pub mcc: Mcc,
    /// The name in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name shown when a buyer is authenticated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_name: Option<String>,
    /// The address shown when a buyer is authenticated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_url: Option<String>,
    /// What the platform keeps of its charges.
    #[serde(default, skip_serializing_if = "is_default")]
    pub platform_fee: Fees,
    /// Members of the document that this release does not know; kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl MerchantDetails {
    /// What payers and sellers know the merchant as.
    pub fn shown_name(&self) -> Option<&str> {
        self.merchant_name.as_deref().or(self.name.as_deref())
    }
}

fn is_default(fees: &Fees) -> bool {
    *fees == Fees::default()
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

/// The members of a merchant without a column.
#[derive(Serialize, Deserialize)]
struct Doc<D> {
    format: u32,
    #[serde(flatten)]
    details: D,
}

/// A merchant and its live providers, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct MerchantWithProviders {
    /// The merchant.
    pub merchant: Merchant,
    /// Its providers, oldest first. Routing sorts them by priority, then by age.
    pub providers: Vec<Provider>,
}

/// Adds a merchant.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, merchant: &Merchant) -> Result<(), StoreError> {
    batch.push(
        &INSERT_MERCHANT,
        args! {
            id: merchant.id,
            client_id: merchant.client_id,
            status: merchant.status.word(),
            doc: document(&merchant.details)?,
            version: merchant.version,
            updated_at: merchant.updated_at,
        },
    );
    Ok(())
}

/// Writes the details of `merchant`; the batch is refused when it has changed since the version in `merchant`.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn update(batch: &mut Batch, merchant: &Merchant) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_MERCHANT,
        args! {
            id: merchant.id,
            client_id: merchant.client_id,
            version: merchant.version,
            doc: document(&merchant.details)?,
            updated_at: merchant.updated_at,
        },
    );
    Ok(())
}

/// Deletes `merchant` at the version that was read. Its providers stay, because the outcomes of its charges may still
/// have to be probed.
pub fn delete(batch: &mut Batch, merchant: &Merchant, now: Timestamp) {
    batch.guard(
        &DELETE_MERCHANT,
        args! {
            id: merchant.id,
            client_id: merchant.client_id,
            version: merchant.version,
            status: MerchantStatus::Deleted.word(),
            updated_at: now,
        },
    );
}

/// A live merchant with its live providers, in one query.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`] when a document cannot be read.
pub async fn with_providers(
    store: &Store,
    client_id: ClientId,
    id: MerchantId,
) -> Result<Option<MerchantWithProviders>, StoreError> {
    let rows = store.rows(&FIND_MERCHANT, args! { id, client_id }).await?;
    Ok(from_rows(&rows)?.pop())
}

/// A page of the live merchants, newest first: `limit` after the first `offset`.
///
/// # Errors
/// As [`with_providers`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<Vec<MerchantWithProviders>, StoreError> {
    from_rows(&store.rows(&LIST_MERCHANTS, args! { client_id, limit, offset }).await?)
}

/// The names of these merchants, also of deleted ones.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`].
pub async fn names_ever(
    store: &Store,
    client_id: ClientId,
    ids: &[MerchantId],
) -> Result<Vec<(MerchantId, Option<String>)>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    let rows = store.rows(&MERCHANTS_EVER, args! { client_id, ids }).await?;
    rows.iter()
        .map(|row| {
            let id: MerchantId = row.get("id")?;
            let doc: Doc<MerchantDetails> = serde_json::from_str(row.get("doc")?)
                .map_err(|error| StoreError::Corrupt(format!("merchants.doc of {id}: {error}")))?;
            Ok((id, doc.details.name))
        })
        .collect()
}

/// Counts the live merchants of a client.
///
/// # Errors
/// As [`Store::rows`].
pub async fn count(store: &Store, client_id: ClientId) -> Result<u64, StoreError> {
    let row = store.row(&COUNT_MERCHANTS, args! { client_id }).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// Rows of the same merchant are adjacent, one for each provider.
fn from_rows(rows: &[Row]) -> Result<Vec<MerchantWithProviders>, StoreError> {
    let mut merchants: Vec<MerchantWithProviders> = Vec::new();
    for row in rows {
        let id: MerchantId = row.get("id")?;
        if merchants.last().is_none_or(|last| last.merchant.id != id) {
            merchants.push(MerchantWithProviders { merchant: from_row(id, row)?, providers: Vec::new() });
        }
        if let (Some(last), Some(provider)) = (merchants.last_mut(), providers::from_joined_row(row)?) {
            last.providers.push(provider);
        }
    }
    Ok(merchants)
}

fn from_row(id: MerchantId, row: &Row) -> Result<Merchant, StoreError> {
    let status: &str = row.get("status")?;
    let doc: Doc<MerchantDetails> = serde_json::from_str(row.get("doc")?)
        .map_err(|error| StoreError::Corrupt(format!("merchants.doc of {id}: {error}")))?;
    if doc.format != FORMAT {
        return Err(StoreError::Corrupt(format!("merchants.doc of {id}: format {}", doc.format)));
    }
    Ok(Merchant {
        id,
        client_id: row.get("client_id")?,
        status: MerchantStatus::parse(status)
            .ok_or_else(|| StoreError::Corrupt(format!("merchants.status {status}")))?,
        details: doc.details,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}

fn document(details: &MerchantDetails) -> Result<Json, StoreError> {
    Json::of(&Doc { format: FORMAT, details })
}
