//! Stores the files that show who sellers are. The bytes are sealed, and read by whoever sends them to a provider alone.

use regente_domain::id::{ClientId, SellerDocumentId, SellerId};
use regente_domain::seller::document::{
    DocumentKind, DocumentStage, DocumentStatus, FileFormat, SellerDocument,
};
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::customers::{Order, Slice};
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, client_id, kind, format, status, seller_id, sent_at, offered, version"
    };
}

// What has expired is not listed, also before it is deleted. PostgreSQL cannot guess the type of an argument that is only
// compared with NULL, hence the casts.
macro_rules! filtered {
    () => {
        " FROM seller_documents WHERE client_id = :client_id AND id >= :from \
           AND (status <> 'uploaded' OR expires_at > :now) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:kinds AS JSONB) IS NULL OR kind IN EACH_TEXT(:kinds))"
    };
}

sql! {
    /// Adds a file.
    pub INSERT_SELLER_DOCUMENT = "
        INSERT INTO seller_documents (id, client_id, kind, format, status, seller_id, sent_at, expires_at, offered,
            version, key_id, file)
        VALUES (:id, :client_id, :kind, :format, :status, :seller_id, :sent_at, :expires_at, :offered, 1, :key_id,
            :file)";
    /// Changes where a file stands; guarded by the version.
    pub MOVE_SELLER_DOCUMENT = "
        UPDATE seller_documents SET status = :status, seller_id = :seller_id, sent_at = :sent_at, offered = :offered,
            version = :version
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Deletes a file; guarded by the version.
    pub DELETE_SELLER_DOCUMENT = "
        DELETE FROM seller_documents WHERE id = :id AND client_id = :client_id AND version = :version";
    /// Deletes the files of a seller.
    pub DELETE_DOCUMENTS_OF_SELLER = "
        DELETE FROM seller_documents WHERE client_id = :client_id AND seller_id = :seller_id";
    /// One file without its bytes.
    pub FIND_SELLER_DOCUMENT = concat!("SELECT ", columns!(), " FROM seller_documents
        WHERE id = :id AND client_id = :client_id");
    /// Files without their bytes.
    pub FIND_SELLER_DOCUMENTS = concat!("SELECT ", columns!(), " FROM seller_documents
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids)");
    /// The files of a seller without their bytes, oldest first.
    pub DOCUMENTS_OF_SELLER = concat!("SELECT ", columns!(), " FROM seller_documents
        WHERE client_id = :client_id AND seller_id = :seller_id ORDER BY id LIMIT :limit");
    /// The bytes of a file.
    pub FILE_OF_SELLER_DOCUMENT = "
        SELECT file, key_id FROM seller_documents WHERE id = :id AND client_id = :client_id";
    /// A page of files, newest first.
    LIST_SELLER_DOCUMENTS_DESC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// A page of files, oldest first.
    LIST_SELLER_DOCUMENTS_ASC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY id ASC LIMIT :limit OFFSET :offset");
    /// Counts them.
    COUNT_SELLER_DOCUMENTS = concat!("SELECT COUNT(*) AS n", filtered!());
}

/// Adds a file.
pub fn insert(batch: &mut Batch, document: &SellerDocument, file: Sealed) {
    let (seller_id, sent_at) = holder(document);
    batch.push(
        &INSERT_SELLER_DOCUMENT,
        args! {
            id: document.id, client_id: document.client_id, kind: document.kind.word(),
            format: document.format.word(), status: document.status().word(), seller_id, sent_at,
            expires_at: document.expires_at(), offered: offered(document), key_id: file.key_id, file: file.bytes,
        },
    );
}

/// Writes where a file stands, which was at the version before its own; else the batch is refused.
pub fn advance(batch: &mut Batch, document: &SellerDocument) {
    let (seller_id, sent_at) = holder(document);
    batch.guard(
        &MOVE_SELLER_DOCUMENT,
        args! {
            id: document.id, client_id: document.client_id, status: document.status().word(), seller_id, sent_at,
            offered: offered(document), version: document.version, version_before: document.version - 1,
        },
    );
}

/// The seller that has a file, and since when a provider has it.
const fn holder(document: &SellerDocument) -> (Option<SellerId>, Option<Timestamp>) {
    match document.place {
        DocumentStage::Uploaded => (None, None),
        DocumentStage::Attached(seller_id) => (Some(seller_id), None),
        DocumentStage::Sent(seller_id, at) => (Some(seller_id), Some(at)),
    }
}

/// Deletes a file at the version that was read; else the batch is refused.
pub fn delete(batch: &mut Batch, document: &SellerDocument) {
    let SellerDocument { id, client_id, version, .. } = document;
    batch.guard(&DELETE_SELLER_DOCUMENT, args! { id: *id, client_id: *client_id, version: *version });
}

/// Deletes the files of a seller.
pub fn delete_of(batch: &mut Batch, seller_id: SellerId) {
    let client_id = batch.client_id();
    batch.push_any(&DELETE_DOCUMENTS_OF_SELLER, args! { client_id, seller_id });
}

/// A file without its bytes, also one that has expired.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: SellerDocumentId,
) -> Result<Option<SellerDocument>, StoreError> {
    let row = store.row(&FIND_SELLER_DOCUMENT, args! { id, client_id }).await?;
    row.as_ref().map(from_row).transpose()
}

/// The files of these ids, in no order and without their bytes, also those that have expired.
///
/// # Errors
/// As [`find`].
pub async fn find_many(
    store: &Store,
    client_id: ClientId,
    ids: &[SellerDocumentId],
) -> Result<Vec<SellerDocument>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    store.rows(&FIND_SELLER_DOCUMENTS, args! { client_id, ids }).await?.iter().map(from_row).collect()
}

/// The files of a seller, without their bytes.
///
/// # Errors
/// As [`find`].
pub async fn of_seller(
    store: &Store,
    client_id: ClientId,
    seller_id: SellerId,
    limit: i64,
) -> Result<Vec<SellerDocument>, StoreError> {
    store
        .rows(&DOCUMENTS_OF_SELLER, args! { client_id, seller_id, limit })
        .await?
        .iter()
        .map(from_row)
        .collect()
}

/// The bytes of a file.
///
/// # Errors
/// As [`Store::row`].
pub async fn file(
    store: &Store,
    client_id: ClientId,
    id: SellerDocumentId,
) -> Result<Option<Sealed>, StoreError> {
    let row = store.row(&FILE_OF_SELLER_DOCUMENT, args! { id, client_id }).await?;
    row.map(|row| Ok(Sealed { bytes: row.get("file")?, key_id: row.get("key_id")? })).transpose()
}

/// The filter of a list. An absent member means all.
#[derive(Clone, Debug)]
pub struct DocumentFilter {
    /// Statuses.
    pub statuses: Option<Vec<DocumentStatus>>,
    /// Kinds.
    pub kinds: Option<Vec<DocumentKind>>,
    /// From this upload on.
    pub from: SellerDocumentId,
    /// The time at which what has expired is left out.
    pub now: Timestamp,
}

impl DocumentFilter {
    fn args(&self, client_id: ClientId) -> Args {
        args! {
            client_id, from: self.from, now: self.now,
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            kinds: Json::list(self.kinds.as_deref(), |kind| kind.word().to_owned()),
        }
    }
}

/// A page of the files of a client.
///
/// # Errors
/// As [`find`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &DocumentFilter,
    slice: Slice,
) -> Result<Vec<SellerDocument>, StoreError> {
    let args = filter.args(client_id).with("limit", slice.limit).with("offset", slice.offset);
    let list = match slice.order {
        Order::NewestFirst => &LIST_SELLER_DOCUMENTS_DESC,
        Order::OldestFirst => &LIST_SELLER_DOCUMENTS_ASC,
    };
    store.rows(list, args).await?.iter().map(from_row).collect()
}

/// How many files of a client match.
///
/// # Errors
/// As [`Store::row`].
pub async fn count(store: &Store, client_id: ClientId, filter: &DocumentFilter) -> Result<u64, StoreError> {
    let found = store.row(&COUNT_SELLER_DOCUMENTS, filter.args(client_id)).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}

fn offered(document: &SellerDocument) -> Option<Json> {
    Json::list(Some(&document.offered), ToString::to_string)
}

fn from_row(row: &Row) -> Result<SellerDocument, StoreError> {
    let id: SellerDocumentId = row.get("id")?;
    let corrupt = |what: &str| StoreError::Corrupt(format!("seller_documents.{what} of {id}"));
    let (seller_id, sent_at): (Option<SellerId>, Option<Timestamp>) =
        (row.get("seller_id")?, row.get("sent_at")?);
    let status = DocumentStatus::parse(row.get("status")?).ok_or_else(|| corrupt("status"))?;
    let place = match (status, seller_id, sent_at) {
        (DocumentStatus::Uploaded, None, None) => DocumentStage::Uploaded,
        (DocumentStatus::Attached, Some(seller_id), None) => DocumentStage::Attached(seller_id),
        (DocumentStatus::Sent, Some(seller_id), Some(at)) => DocumentStage::Sent(seller_id, at),
        (DocumentStatus::Uploaded | DocumentStatus::Attached | DocumentStatus::Sent, _, _) => {
            return Err(corrupt("status"));
        }
    };
    Ok(SellerDocument {
        id,
        client_id: row.get("client_id")?,
        kind: DocumentKind::parse(row.get("kind")?).ok_or_else(|| corrupt("kind"))?,
        format: FileFormat::parse(row.get("format")?).ok_or_else(|| corrupt("format"))?,
        place,
        offered: serde_json::from_str(row.get("offered")?).map_err(|_| corrupt("offered"))?,
        version: row.get("version")?,
    })
}
