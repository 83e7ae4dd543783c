//! Stores documents that prove refunds: each issue with its sealed file, once for the same refunds, type and language.

use regente_domain::id::{ChargeId, ClientId, ReceiptId};
use regente_domain::receipt::{ReceiptFormat, ReceiptLanguage, ReceiptType};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::expiring::{self, Expiring};
use crate::row::Row;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, client_id, charge_id, receipt_type, language, refunds, format, expires_at"
    };
}

sql! {
    /// Adds an issue; the unique index refuses a second one of the same refunds.
    pub INSERT_RECEIPT = "
        INSERT INTO receipts (id, client_id, charge_id, receipt_type, language, refunds, format, expires_at, key_id, file)
        VALUES (:id, :client_id, :charge_id, :receipt_type, :language, :refunds, :format, :expires_at, :key_id, :file)";
    /// The issue of these refunds, without its file.
    pub FIND_RECEIPT_OF_REFUNDS = concat!("SELECT ", columns!(), " FROM receipts
        WHERE client_id = :client_id AND charge_id = :charge_id AND receipt_type = :receipt_type
          AND language = :language AND refunds = :refunds");
    /// One issue, without its file.
    pub FIND_RECEIPT = concat!("SELECT ", columns!(), " FROM receipts WHERE id = :id AND client_id = :client_id");
    /// The file of an issue.
    pub FILE_OF_RECEIPT = "SELECT file, key_id FROM receipts WHERE id = :id AND client_id = :client_id";
    /// Issues of a client after one, without their files.
    RECEIPTS_AFTER = concat!("SELECT ", columns!(), " FROM receipts
        WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit");
    /// Deletes an issue, if it is still there.
    pub DELETE_RECEIPT = "DELETE FROM receipts WHERE id = :id AND client_id = :client_id";
    /// The clients of the first issues that have been kept long enough, except some.
    CLIENTS_WITH_EXPIRED_RECEIPTS =
        expiring::clients_of_first!("receipts", "REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart)");
    /// One client, if it has such issues.
    CLIENT_WITH_EXPIRED_RECEIPTS = expiring::clients_of_first!("receipts", "client_id = :client_id");
    /// Deletes such issues of a client, a bounded number at once.
    PURGE_RECEIPTS = "
        DELETE FROM receipts WHERE client_id = :client_id AND id IN (
            SELECT id FROM receipts WHERE client_id = :client_id AND expires_at <= :now LIMIT :limit)";
}

/// Issues that have been kept long enough.
pub static EXPIRING: Expiring = Expiring {
    all_but: &CLIENTS_WITH_EXPIRED_RECEIPTS,
    one: &CLIENT_WITH_EXPIRED_RECEIPTS,
    purge: &PURGE_RECEIPTS,
};

/// An issue as stored, without its file. Its id's own time is when it was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredReceipt {
    /// Its id.
    pub id: ReceiptId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The charge.
    pub charge_id: ChargeId,
    /// Which document it is.
    pub receipt_type: ReceiptType,
    /// Its language.
    pub language: ReceiptLanguage,
    /// The digest of the refunds that it proves.
    pub refunds: Uuid,
    /// What its file is.
    pub format: ReceiptFormat,
    /// Until when it is kept.
    pub expires_at: Timestamp,
}

/// What one issue is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The charge.
    pub charge_id: ChargeId,
    /// Which document.
    pub receipt_type: ReceiptType,
    /// Its language.
    pub language: ReceiptLanguage,
    /// The digest of the refunds.
    pub refunds: Uuid,
}

/// Adds an issue with its file; the batch is refused when there is one of the same refunds.
pub fn insert(batch: &mut Batch, receipt: &StoredReceipt, file: Sealed) {
    batch.push(
        &INSERT_RECEIPT,
        args! {
            id: receipt.id, client_id: receipt.client_id, charge_id: receipt.charge_id,
            receipt_type: receipt.receipt_type.word(), language: receipt.language.word(), refunds: receipt.refunds,
            format: receipt.format.word(), expires_at: receipt.expires_at, key_id: file.key_id, file: file.bytes,
        },
    );
}

/// Deletes an issue, if it is still there.
pub fn delete(batch: &mut Batch, id: ReceiptId) {
    let client_id = batch.client_id();
    batch.push_at_most_one(&DELETE_RECEIPT, args! { id, client_id });
}

/// The issue of these refunds.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find_of(
    store: &Store,
    client_id: ClientId,
    subject: Subject,
) -> Result<Option<StoredReceipt>, StoreError> {
    let Subject { charge_id, receipt_type, language, refunds } = subject;
    let args = args! {
        client_id, charge_id, receipt_type: receipt_type.word(), language: language.word(), refunds,
    };
    store.row(&FIND_RECEIPT_OF_REFUNDS, args).await?.as_ref().map(from_row).transpose()
}

/// An issue of a client.
///
/// # Errors
/// As [`find_of`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: ReceiptId,
) -> Result<Option<StoredReceipt>, StoreError> {
    store.row(&FIND_RECEIPT, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The file of an issue.
///
/// # Errors
/// As [`Store::row`].
pub async fn file(store: &Store, client_id: ClientId, id: ReceiptId) -> Result<Option<Sealed>, StoreError> {
    let row = store.row(&FILE_OF_RECEIPT, args! { id, client_id }).await?;
    row.map(|row| Ok(Sealed { bytes: row.get("file")?, key_id: row.get("key_id")? })).transpose()
}

/// Issues of a client after `after`, oldest first.
///
/// # Errors
/// As [`find_of`].
pub async fn after(
    store: &Store,
    client_id: ClientId,
    after: ReceiptId,
    limit: i64,
) -> Result<Vec<StoredReceipt>, StoreError> {
    store.rows(&RECEIPTS_AFTER, args! { client_id, after, limit }).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredReceipt, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("receipts.{what}"));
    Ok(StoredReceipt {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        charge_id: row.get("charge_id")?,
        receipt_type: ReceiptType::parse(row.get("receipt_type")?).ok_or_else(|| corrupt("receipt_type"))?,
        language: ReceiptLanguage::parse(row.get("language")?).ok_or_else(|| corrupt("language"))?,
        refunds: row.get("refunds")?,
        format: ReceiptFormat::parse(row.get("format")?).ok_or_else(|| corrupt("format"))?,
        expires_at: row.get("expires_at")?,
    })
}
