//! Stores sellers. What is personal is one sealed value; what splits and routing read is in the clear. A seller is found by
//! keyed digests of its e-mail addresses, and no merchant has two with one document.

mod list;

use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::seller::{Link, ReasonType, Seller, Switch, Transfers};
use regente_domain::split::Bears;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::list::{SellerFilter, count, page};
use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

// What each charge that is divided reads: nothing of what is sealed.
macro_rules! seller_columns {
    () => {
        "id, client_id, merchant_id, doc, version, updated_at"
    };
}

macro_rules! columns {
    () => {
        "id, client_id, merchant_id, document_key, owner_email_key, business_email_key, business_name, doc, private, \
         key_id, version, updated_at"
    };
}
use columns;

sql! {
    /// Adds a seller; the unique index refuses a second one of the merchant with the same document.
    pub INSERT_SELLER = "
        INSERT INTO sellers (id, client_id, merchant_id, status, document_key, owner_email_key, business_email_key,
            business_name, doc, private, key_id, version, updated_at)
        VALUES (:id, :client_id, :merchant_id, :status, :document_key, :owner_email_key, :business_email_key,
            :business_name, :doc, :private, :key_id, :version, :updated_at)";
    /// Changes a seller and its data.
    pub UPDATE_SELLER = "
        UPDATE sellers SET merchant_id = :merchant_id, status = :status, document_key = :document_key,
            owner_email_key = :owner_email_key, business_email_key = :business_email_key,
            business_name = :business_name, doc = :doc, private = :private, key_id = :key_id, version = :version,
            updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND deleted_at IS NULL";
    /// Changes a seller, and leaves what is sealed as it is.
    pub MOVE_SELLER = "
        UPDATE sellers SET status = :status, doc = :doc, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND deleted_at IS NULL";
    /// Deletes a seller: erases its data and digests, and keeps the row for what refers to it.
    pub DELETE_SELLER = "
        UPDATE sellers SET document_key = NULL, owner_email_key = NULL, business_email_key = NULL,
            business_name = NULL, private = NULL, doc = :doc, version = version + 1, updated_at = :updated_at,
            deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND deleted_at IS NULL";
    /// One live seller.
    pub FIND_SELLER = concat!("SELECT ", columns!(), " FROM sellers
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL");
    /// The live seller of a merchant with a document.
    pub SELLER_OF_DOCUMENT = "
        SELECT id FROM sellers WHERE client_id = :client_id AND merchant_id = :merchant_id
            AND document_key = :document_key AND deleted_at IS NULL";
    /// The live sellers of these ids.
    pub FIND_SELLERS = concat!("SELECT ", seller_columns!(), " FROM sellers
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND deleted_at IS NULL");
    /// The sellers of these ids, also deleted ones.
    pub FIND_SELLERS_EVER = concat!("SELECT ", seller_columns!(), " FROM sellers
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids)");
    /// The live sellers of a merchant, by id.
    pub SELLERS_OF_MERCHANT = concat!("SELECT ", seller_columns!(), " FROM sellers
        WHERE client_id = :client_id AND merchant_id = :merchant_id AND id > :after AND deleted_at IS NULL
        ORDER BY id LIMIT :limit");
}

/// A keyed digest by which a seller is found.
pub type LookupKey = [u8; 32];

/// By what a seller is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerKeys {
    /// Digest of the document under which it is registered.
    pub document: LookupKey,
    /// Digest of the owner's e-mail address.
    pub owner_email: LookupKey,
    /// Digest of the company's e-mail address.
    pub business_email: Option<LookupKey>,
    /// The name of the company in lower case.
    pub business_name: Option<String>,
}

/// A live seller as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSeller {
    /// What is in the clear.
    pub seller: Seller,
    /// By what it is found.
    pub keys: SellerKeys,
    /// Its data, sealed.
    pub private: Sealed,
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

/// The members of a seller without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    switch: Switch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason_type: Option<ReasonType>,
    bears: Bears,
    #[serde(default)]
    transfers: Transfers,
    links: Vec<Link>,
    data_version: i64,
}

/// Adds a seller.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, stored: &StoredSeller) -> Result<(), StoreError> {
    let StoredSeller { seller, keys, private } = stored;
    batch.push(
        &INSERT_SELLER,
        args! {
            id: seller.id, client_id: seller.client_id, merchant_id: seller.merchant_id,
            status: seller.status().word(), document_key: keys.document, owner_email_key: keys.owner_email,
            business_email_key: keys.business_email, business_name: keys.business_name.clone(),
            doc: document(seller)?, private: private.bytes.as_slice(), key_id: private.key_id,
            version: seller.version, updated_at: seller.updated_at,
        },
    );
    Ok(())
}

/// Writes a seller with its data, which was at the version before its own; else the batch is refused.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn update(batch: &mut Batch, stored: &StoredSeller) -> Result<(), StoreError> {
    let StoredSeller { seller, keys, private } = stored;
    batch.guard(
        &UPDATE_SELLER,
        args! {
            id: seller.id, client_id: seller.client_id, merchant_id: seller.merchant_id,
            status: seller.status().word(), document_key: keys.document, owner_email_key: keys.owner_email,
            business_email_key: keys.business_email, business_name: keys.business_name.clone(),
            doc: document(seller)?, private: private.bytes.as_slice(), key_id: private.key_id,
            version: seller.version, version_before: seller.version - 1, updated_at: seller.updated_at,
        },
    );
    Ok(())
}

/// Writes what is in the clear of a seller, which was at the version before its own; else the batch is refused.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn advance(batch: &mut Batch, seller: &Seller) -> Result<(), StoreError> {
    batch.guard(
        &MOVE_SELLER,
        args! {
            id: seller.id, client_id: seller.client_id, status: seller.status().word(), doc: document(seller)?,
            version: seller.version, version_before: seller.version - 1, updated_at: seller.updated_at,
        },
    );
    Ok(())
}

/// Deletes a seller at the version that was read, and erases its data and what was written about it.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn delete(batch: &mut Batch, seller: &Seller, now: Timestamp) -> Result<(), StoreError> {
    let (id, client_id, version_before) = (seller.id, seller.client_id, seller.version);
    let doc = document(&seller.without_words())?;
    batch.guard(&DELETE_SELLER, args! { id, client_id, version_before, doc, updated_at: now });
    Ok(())
}

/// A live seller.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: SellerId,
) -> Result<Option<StoredSeller>, StoreError> {
    let row = store.row(&FIND_SELLER, args! { id, client_id }).await?;
    row.as_ref().map(from_row).transpose()
}

/// The live sellers of these ids, in no order; an id of a deleted or unknown one is left out.
///
/// # Errors
/// As [`find`].
pub async fn find_many(
    store: &Store,
    client_id: ClientId,
    ids: &[SellerId],
) -> Result<Vec<Seller>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    let rows = store.rows(&FIND_SELLERS, args! { client_id, ids }).await?;
    rows.iter().map(seller_from_row).collect()
}

/// The sellers of these ids, also deleted ones, in no order: a charge keeps the sellers among whom it was divided.
///
/// # Errors
/// As [`find`].
pub async fn find_many_ever(
    store: &Store,
    client_id: ClientId,
    ids: &[SellerId],
) -> Result<Vec<Seller>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    let rows = store.rows(&FIND_SELLERS_EVER, args! { client_id, ids }).await?;
    rows.iter().map(seller_from_row).collect()
}

/// The live seller of a merchant that is registered under a document.
///
/// # Errors
/// As [`Store::row`].
pub async fn of_document(
    store: &Store,
    client_id: ClientId,
    merchant_id: MerchantId,
    document_key: LookupKey,
) -> Result<Option<SellerId>, StoreError> {
    let row = store.row(&SELLER_OF_DOCUMENT, args! { client_id, merchant_id, document_key }).await?;
    row.map(|row| row.get("id")).transpose()
}

/// The next live sellers of a merchant after an id.
///
/// # Errors
/// As [`find`].
pub async fn of_merchant(
    store: &Store,
    client_id: ClientId,
    merchant_id: MerchantId,
    after: SellerId,
    limit: i64,
) -> Result<Vec<Seller>, StoreError> {
    let rows = store.rows(&SELLERS_OF_MERCHANT, args! { client_id, merchant_id, after, limit }).await?;
    rows.iter().map(seller_from_row).collect()
}

fn seller_from_row(row: &Row) -> Result<Seller, StoreError> {
    let id: SellerId = row.get("id")?;
    let doc: Doc = serde_json::from_str(row.get("doc")?)
        .map_err(|error| StoreError::Corrupt(format!("sellers.doc of {id}: {error}")))?;
    if doc.format != FORMAT {
        return Err(StoreError::Corrupt(format!("sellers.doc of {id}: format {}", doc.format)));
    }
    Ok(Seller {
        id,
        client_id: row.get("client_id")?,
        merchant_id: row.get("merchant_id")?,
        switch: doc.switch,
        status_reason: doc.status_reason,
        reason_type: doc.reason_type,
        bears: doc.bears,
        transfers: doc.transfers,
        links: doc.links,
        data_version: doc.data_version,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}

fn from_row(row: &Row) -> Result<StoredSeller, StoreError> {
    let seller = seller_from_row(row)?;
    let corrupt = |what: &str| StoreError::Corrupt(format!("sellers.{what} of {}", seller.id));
    let private: Option<Vec<u8>> = row.get("private")?;
    let document: Option<LookupKey> = row.get("document_key")?;
    let owner_email: Option<LookupKey> = row.get("owner_email_key")?;
    Ok(StoredSeller {
        keys: SellerKeys {
            document: document.ok_or_else(|| corrupt("document_key"))?,
            owner_email: owner_email.ok_or_else(|| corrupt("owner_email_key"))?,
            business_email: row.get("business_email_key")?,
            business_name: row.get("business_name")?,
        },
        private: Sealed { key_id: row.get("key_id")?, bytes: private.ok_or_else(|| corrupt("private"))? },
        seller,
    })
}

fn document(seller: &Seller) -> Result<Json, StoreError> {
    Json::of(&Doc {
        format: FORMAT,
        switch: seller.switch,
        status_reason: seller.status_reason.clone(),
        reason_type: seller.reason_type,
        bears: seller.bears,
        transfers: seller.transfers,
        links: seller.links.clone(),
        data_version: seller.data_version,
    })
}
