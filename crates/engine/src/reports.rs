//! Reports: charges of a period as files, for people (`docs/interface/reports.md`). [`rows`] reads charges as they were at the moment of a
//! report and makes rows of them, [`write()`] is the job that makes files of the rows, [`mail()`] the one that
//! tells whoever they are for, [`open_page`] is what fetches one.

mod facts;
mod mail;
pub mod rows;
mod write;

use std::time::Duration;

use regente_domain::id::{ClientId, ReportId};
use regente_domain::report::{
    KEPT_FOR, NewReport, RUNNING_MAX, ReportLanguage, ReportStatus, SETTLES_AFTER, Step, Zone,
};
use regente_domain::time::{Timestamp, later_of};
use regente_store::Batch;
use regente_store::reports as stored;
use regente_store::reports::{Progress, ReportOrder, StoredReport};
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

pub use mail::{Mailed, mail};
pub use write::{Written, write};

use crate::app::App;
use crate::audit::Author;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};
use crate::report_files::{Page, PageName};
use crate::vault::{Binding, FileKey, Purpose};
use crate::{audit, queue};

/// `businessCode` of a report more than may be under way.
pub const TOO_MANY: &str = "reports_limit_reached";
/// When it is worth asking again.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// The rule of `sendTo` where not everybody is mailed to.
const NOT_MAILED_TO: &str = "must be an address at a domain to which this service sends mail";
/// The message of a file that is gone.
const FILE_EXPIRED: &str = "File has expired";

/// What is sealed of a report.
#[derive(Serialize, Deserialize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
struct Private {
    send_to: String,
    file_key: String,
}

/// A report as answers show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The row.
    pub stored: StoredReport,
    /// Who gets the mail.
    pub send_to: String,
}

impl Report {
    /// When its files are deleted.
    pub fn expires_at(&self) -> Timestamp {
        expires_at(&self.stored)
    }
}

fn expires_at(report: &StoredReport) -> Timestamp {
    report.id.created_at() + KEPT_FOR
}

/// A new report, and the batch that writes it, with its job.
///
/// # Errors
/// [`Error::Invalid`] for a recipient who is not mailed to; [`Error::TooManyAtOnce`] when as many are under way as may be.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewReport,
    (language, zone): (ReportLanguage, &Zone),
) -> Result<(Batch, Report), Error> {
    let client_id = caller.client_id;
    if app.mailer.as_ref().is_some_and(|mailer| !mailer.mails_to(&new.send_to)) {
        return Err(Error::invalid("sendTo", NOT_MAILED_TO));
    }
    // Of two who take the same place, the index refuses one, and that one looks again.
    let taken = stored::slots(&app.store, client_id).await?;
    let slot = (1..=RUNNING_MAX).find(|slot| !taken.contains(slot)).ok_or_else(too_many)?;
    let id: ReportId = app.chance.id(app.clock.of(client_id));
    let private = Private {
        send_to: new.send_to.clone(),
        file_key: FileKey::random(&app.chance).expose_text().to_string(),
    };
    let bytes = serde_json::to_vec(&private).map(Zeroizing::new).map_err(Error::internal)?;
    let report = StoredReport {
        id,
        client_id,
        status: ReportStatus::Created.after(Step::Stored).unwrap_or(ReportStatus::Pending),
        slot: Some(slot),
        order: ReportOrder {
            report_type: new.report_type,
            columns: new.columns.clone(),
            filters: new.filters.clone(),
            language,
            timezone: zone.name().to_owned(),
        },
        progress: Progress::default(),
        unknown: serde_json::Map::new(),
        private: app.vault.seal(binding(client_id, id), &bytes),
        version: 1,
        updated_at: id.created_at(),
    };
    let mut batch = Batch::new(client_id);
    stored::insert(&mut batch, &report)?;
    queue::reports::write(app, &mut batch, id, id.created_at() + SETTLES_AFTER);
    audit::record(app, &mut batch, caller, request_id, "report.created", id.uuid());
    Ok((batch, Report { stored: report, send_to: new.send_to.clone() }))
}

fn too_many() -> Error {
    Error::TooManyAtOnce {
        business_code: TOO_MANY,
        message: format!("{RUNNING_MAX} reports are being made: wait until one of them has ended").into(),
        retry_after: RETRY_AFTER,
    }
}

/// A report of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: ReportId) -> Result<Report, Error> {
    let stored = stored::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    open(app, stored).await
}

/// A page of the reports of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Report>, u64), Error> {
    let total = stored::count(&app.store, client_id).await?;
    let mut found = Vec::new();
    for report in stored::list(&app.store, client_id, limit, offset).await? {
        found.push(open(app, report).await?);
    }
    Ok((found, total))
}

/// Opens a file of a report, from 1. That it was fetched is noted in the audit trail: it holds personal data.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Gone`] once its time is over.
pub async fn open_page(app: &App, reader: &Author<'_>, id: ReportId, number: u32) -> Result<Page, Error> {
    let client_id = reader.client_id;
    races::change(|| async {
        let report = stored::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
        let is_over = report.status.has_files() && app.clock.of(client_id) >= expires_at(&report);
        if is_over || report.status == ReportStatus::Expired {
            return Err(Error::Gone(FILE_EXPIRED));
        }
        if !report.status.has_files() || !(1..=report.progress.pages).contains(&number) {
            return Err(Error::NotFound);
        }
        let key = file_key(app, &report).await?;
        let page = PageName { client_id, report_id: id, number };
        let opened =
            app.report_files.open(page, key, app.clock.deployment()).await.map_err(Error::internal)?;
        let file =
            opened.ok_or_else(|| Error::internal(format!("the file {number} of report {id} is missing")))?;
        let mut batch = Batch::new(client_id);
        reader.record(app, &mut batch, "report.fetched", id.uuid());
        if let Some(status) = report.status.after(Step::FileFetched) {
            stored::update(&mut batch, &moved(app, &report, status))?;
        }
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, file))
    })
    .await
}

/// Ends a report that cannot be made, and deletes what there is of its files.
pub async fn fail(app: &App, client_id: ClientId, id: ReportId) -> Result<(), Error> {
    end(app, client_id, id, Step::Failed).await
}

/// Deletes the files of a report whose time is over.
pub async fn expire(app: &App, client_id: ClientId, id: ReportId) -> Result<(), Error> {
    end(app, client_id, id, Step::TimeOver).await
}

/// Takes a step that ends a report. Its files go last, so that none is promised that is gone; a repetition deletes what was left.
async fn end(app: &App, client_id: ClientId, id: ReportId, step: Step) -> Result<(), Error> {
    let pages = races::change(|| async {
        let Some(report) = stored::find(&app.store, client_id, id).await? else {
            return Ok(Changed::Already(0));
        };
        let pages = report.progress.pages;
        let Some(status) = report.status.after(step) else { return Ok(Changed::Already(pages)) };
        let mut batch = Batch::new(client_id);
        stored::update(&mut batch, &moved(app, &report, status))?;
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, pages))
    })
    .await?;
    app.report_files.remove((client_id, id), pages, app.clock.deployment()).await.map_err(Error::internal)
}

/// A report in another status, still at the version that was read.
fn moved(app: &App, report: &StoredReport, status: ReportStatus) -> StoredReport {
    let slot = report.slot.filter(|_| status.is_running());
    let updated_at = later_of(app.clock.of(report.client_id), report.updated_at);
    StoredReport { status, slot, updated_at, ..report.clone() }
}

async fn open(app: &App, stored: StoredReport) -> Result<Report, Error> {
    let send_to = private(app, &stored).await?.send_to.clone();
    Ok(Report { stored, send_to })
}

async fn file_key(app: &App, report: &StoredReport) -> Result<FileKey, Error> {
    FileKey::parse(&private(app, report).await?.file_key)
        .ok_or_else(|| Error::internal("a report without the key of its files"))
}

async fn private(app: &App, report: &StoredReport) -> Result<Private, Error> {
    let bytes = app.vault.open(binding(report.client_id, report.id), &report.private).await?;
    serde_json::from_slice(&bytes).map_err(Error::internal)
}

fn binding(client_id: ClientId, id: ReportId) -> Binding {
    Binding::new(Purpose::ReportData, client_id, id.uuid())
}
