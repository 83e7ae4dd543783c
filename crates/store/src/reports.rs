//! Stores reports: what was asked for, how far the files are, and sealed the key of the files and who gets the mail. The files are
//! elsewhere.

use regente_domain::id::{ChargeId, ClientId, ReportId};
use regente_domain::report::{Column, Filters, ReportLanguage, ReportStatus, ReportType};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

macro_rules! columns {
    () => {
        "id, client_id, status, slot, doc, private, key_id, version, updated_at"
    };
}

sql! {
    /// Adds a report; the unique index refuses a second one in the same place.
    pub INSERT_REPORT = "
        INSERT INTO reports (id, client_id, status, slot, doc, private, key_id, version, updated_at)
        VALUES (:id, :client_id, :status, :slot, :doc, :private, :key_id, :version, :updated_at)";
    /// Changes a report; guarded by the version.
    pub UPDATE_REPORT = "
        UPDATE reports SET status = :status, slot = :slot, doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// One report.
    pub FIND_REPORT = concat!("SELECT ", columns!(), " FROM reports WHERE id = :id AND client_id = :client_id");
    /// A page of reports, newest first.
    pub LIST_REPORTS = concat!("SELECT ", columns!(), " FROM reports
        WHERE client_id = :client_id ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// Counts the reports.
    pub COUNT_REPORTS = "SELECT COUNT(*) AS n FROM reports WHERE client_id = :client_id";
    /// The places that are taken by reports under way.
    pub REPORTS_UNDER_WAY = "SELECT slot FROM reports WHERE client_id = :client_id AND slot IS NOT NULL";
}

/// A report as stored. Its id's own time is the moment that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReport {
    /// Its id.
    pub id: ReportId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// Where it stands.
    pub status: ReportStatus,
    /// Its place among those of the account that are under way.
    pub slot: Option<i64>,
    /// What was asked for.
    pub order: ReportOrder,
    /// How far its files are.
    pub progress: Progress,
    /// Members of the document that this release does not know; kept unchanged.
    pub unknown: Map<String, Value>,
    /// The key of its files and who gets the mail, sealed.
    pub private: Sealed,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// What a report shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportOrder {
    /// What its rows are.
    pub report_type: ReportType,
    /// Its columns, as they were asked for.
    pub columns: Vec<Column>,
    /// What it is about.
    pub filters: Filters,
    /// The language of its titles.
    pub language: ReportLanguage,
    /// The time zone of its dates, by its name in the tz database.
    pub timezone: String,
}

/// How far the files of a report are: whole ones alone count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The files that are there.
    pub pages: u32,
    /// Their rows.
    pub rows: u64,
    /// Where the next row is.
    pub cursor: ReportCursor,
}

/// A place between two rows of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportCursor {
    /// The last charge all of whose rows lie before; at first none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ChargeId>,
    /// Rows of the charges behind it that lie before, too.
    #[serde(default)]
    pub skip: usize,
}

/// The document.
#[derive(Serialize, Deserialize)]
struct Doc {
    format: u32,
    order: ReportOrder,
    progress: Progress,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a report.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, report: &StoredReport) -> Result<(), StoreError> {
    batch.push(
        &INSERT_REPORT,
        args! {
            id: report.id,
            client_id: report.client_id,
            status: report.status.word(),
            slot: report.slot,
            doc: document(report)?,
            private: report.private.bytes.as_slice(),
            key_id: report.private.key_id,
            version: report.version,
            updated_at: report.updated_at,
        },
    );
    Ok(())
}

/// Writes `report` to its next version; the batch is refused when it has changed since the version in `report`. What is sealed stays.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn update(batch: &mut Batch, report: &StoredReport) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_REPORT,
        args! {
            id: report.id,
            client_id: report.client_id,
            version: report.version,
            status: report.status.word(),
            slot: report.slot,
            doc: document(report)?,
            updated_at: report.updated_at,
        },
    );
    Ok(())
}

/// A report of a client.
///
/// # Errors
/// As [`Store::row`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: ReportId,
) -> Result<Option<StoredReport>, StoreError> {
    store.row(&FIND_REPORT, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// A page of the reports of a client, newest first: `limit` after the first `offset`.
///
/// # Errors
/// As [`Store::rows`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredReport>, StoreError> {
    store.rows(&LIST_REPORTS, args! { client_id, limit, offset }).await?.iter().map(from_row).collect()
}

/// Counts the reports of a client.
///
/// # Errors
/// As [`Store::row`].
pub async fn count(store: &Store, client_id: ClientId) -> Result<u64, StoreError> {
    store.row(&COUNT_REPORTS, args! { client_id }).await?.map_or(Ok(0), |row| row.get("n"))
}

/// The places that reports under way have taken.
///
/// # Errors
/// As [`Store::rows`].
pub async fn slots(store: &Store, client_id: ClientId) -> Result<Vec<i64>, StoreError> {
    let rows = store.rows(&REPORTS_UNDER_WAY, args! { client_id }).await?;
    rows.iter().map(|row| row.get("slot")).collect()
}

fn document(report: &StoredReport) -> Result<Json, StoreError> {
    let StoredReport { order, progress, unknown, .. } = report.clone();
    Json::of(&Doc { format: FORMAT, order, progress, unknown })
}

fn from_row(row: &Row) -> Result<StoredReport, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("reports.{what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|_| corrupt("doc"))?;
    let status: String = row.get("status")?;
    Ok(StoredReport {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        status: ReportStatus::parse(&status).ok_or_else(|| corrupt("status"))?,
        slot: row.get("slot")?,
        order: doc.order,
        progress: doc.progress,
        unknown: doc.unknown,
        private: Sealed { key_id: row.get("key_id")?, bytes: row.get("private")? },
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
