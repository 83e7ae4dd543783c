//! Stores vendors. Of each its reference, unique among the live vendors of a client, and one sealed value with everything
//! else. A deleted vendor keeps its row alone.

use regente_domain::id::{ClientId, VendorId};
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "v.id, v.client_id, v.reference_id, v.private, v.key_id, v.version, v.updated_at"
    };
}

sql! {
    /// Adds a vendor; the unique index refuses a second one with the same reference.
    pub INSERT_VENDOR = "
        INSERT INTO vendors (id, client_id, reference_id, private, key_id, version, updated_at)
        VALUES (:id, :client_id, :reference_id, :private, :key_id, :version, :updated_at)";
    /// Changes a vendor.
    pub UPDATE_VENDOR = "
        UPDATE vendors SET reference_id = :reference_id, private = :private, key_id = :key_id,
            version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Deletes a vendor: erases what is known of it, and keeps the row for the charges that name it.
    pub DELETE_VENDOR = "
        UPDATE vendors SET reference_id = NULL, private = NULL, version = version + 1, updated_at = :updated_at,
            deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// One live vendor.
    pub FIND_VENDOR = concat!("SELECT ", columns!(), " FROM vendors v
        WHERE v.id = :id AND v.client_id = :client_id AND v.deleted_at IS NULL");
    /// The live vendor with a reference.
    pub FIND_VENDOR_BY_REFERENCE = concat!("SELECT ", columns!(), " FROM vendors v
        WHERE v.client_id = :client_id AND v.reference_id = :reference_id AND v.deleted_at IS NULL");
    /// A page of vendors, newest first.
    pub LIST_VENDORS = concat!("SELECT ", columns!(), " FROM vendors v
        WHERE v.client_id = :client_id AND v.deleted_at IS NULL ORDER BY v.id DESC LIMIT :limit OFFSET :offset");
    /// Counts the vendors.
    pub COUNT_VENDORS = "
        SELECT COUNT(*) AS n FROM vendors WHERE client_id = :client_id AND deleted_at IS NULL";
}

/// A live vendor as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVendor {
    /// Its id; the time of creation is the id's own.
    pub id: VendorId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The client's own reference.
    pub reference_id: String,
    /// What is known of it, sealed.
    pub private: Sealed,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// Adds a vendor.
pub fn insert(batch: &mut Batch, vendor: &StoredVendor) {
    batch.push(
        &INSERT_VENDOR,
        args! {
            id: vendor.id,
            client_id: vendor.client_id,
            reference_id: vendor.reference_id.clone(),
            private: vendor.private.bytes.as_slice(),
            key_id: vendor.private.key_id,
            version: vendor.version,
            updated_at: vendor.updated_at,
        },
    );
}

/// Writes `vendor`; the batch is refused when it has changed since the version in `vendor`.
pub fn update(batch: &mut Batch, vendor: &StoredVendor) {
    batch.guard(
        &UPDATE_VENDOR,
        args! {
            id: vendor.id,
            client_id: vendor.client_id,
            version: vendor.version,
            reference_id: vendor.reference_id.clone(),
            private: vendor.private.bytes.as_slice(),
            key_id: vendor.private.key_id,
            updated_at: vendor.updated_at,
        },
    );
}

/// Deletes `vendor` at the version that was read, and erases what is known of it.
pub fn delete(batch: &mut Batch, vendor: &StoredVendor, now: Timestamp) {
    let (id, client_id, version) = (vendor.id, vendor.client_id, vendor.version);
    batch.guard(&DELETE_VENDOR, args! { id, client_id, version, updated_at: now });
}

/// A live vendor.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when nothing is known of it.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: VendorId,
) -> Result<Option<StoredVendor>, StoreError> {
    store.row(&FIND_VENDOR, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The live vendor with this reference.
///
/// # Errors
/// As [`find`].
pub async fn find_by_reference(
    store: &Store,
    client_id: ClientId,
    reference_id: &str,
) -> Result<Option<StoredVendor>, StoreError> {
    let row = store
        .row(&FIND_VENDOR_BY_REFERENCE, args! { client_id, reference_id: reference_id.to_owned() })
        .await?;
    row.as_ref().map(from_row).transpose()
}

/// A page of the live vendors, newest first: `limit` after the first `offset`.
///
/// # Errors
/// As [`find`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredVendor>, StoreError> {
    let rows = store.rows(&LIST_VENDORS, args! { client_id, limit, offset }).await?;
    rows.iter().map(from_row).collect()
}

/// Counts the live vendors of a client.
///
/// # Errors
/// As [`Store::rows`].
pub async fn count(store: &Store, client_id: ClientId) -> Result<u64, StoreError> {
    let row = store.row(&COUNT_VENDORS, args! { client_id }).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

fn from_row(row: &Row) -> Result<StoredVendor, StoreError> {
    let id: VendorId = row.get("id")?;
    let (reference_id, private): (Option<String>, Option<Vec<u8>>) =
        (row.get("reference_id")?, row.get("private")?);
    let (Some(reference_id), Some(bytes)) = (reference_id, private) else {
        return Err(StoreError::Corrupt(format!("vendors.private of {id}")));
    };
    Ok(StoredVendor {
        id,
        client_id: row.get("client_id")?,
        reference_id,
        private: Sealed { key_id: row.get("key_id")?, bytes },
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
