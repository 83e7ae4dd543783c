//! Writes the files of a report, one in each run of its job. A file is whole before the row says so, and the place behind its last row is
//! stored with it: a run that is repeated writes the same file again.

use regente_domain::id::{ClientId, ReportId};
use regente_domain::report::{REACHES, ReportStatus, Step};
use regente_store::reports::{self as stored, Progress, StoredReport};
use regente_store::{Batch, Commit};

use super::rows::Rows;
use super::{expires_at, file_key, moved};
use crate::app::App;
use crate::error::Error;
use crate::queue;
use crate::report_files::{Draft, PageName};

/// Pages of charges without a row after which the place is stored: a filter that matches few must not begin anew after each crash.
const PAGES_WITHOUT_ROWS_MAX: usize = 200;

/// What a run has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A part: there is more.
    Part,
    /// Everything.
    All,
}

/// Writes the next file of a report.
///
/// # Errors
/// The database, the vault or the folder fails; the same run may succeed later.
pub async fn write(app: &App, client_id: ClientId, id: ReportId) -> Result<Written, Error> {
    let Some(report) = stored::find(&app.store, client_id, id).await? else { return Ok(Written::All) };
    let (pages, now) = (report.progress.pages, app.clock.deployment());
    match report.status {
        ReportStatus::Created | ReportStatus::Pending => begin(app, &report).await,
        ReportStatus::Processing => write_file(app, &report).await,
        // The process has stopped before the drafts of others were deleted.
        ReportStatus::Uploaded | ReportStatus::Sent | ReportStatus::Opened => {
            app.report_files.remove_drafts((client_id, id), pages, now).await.map_err(Error::internal)?;
            Ok(Written::All)
        }
        ReportStatus::Error | ReportStatus::Empty => {
            app.report_files.remove((client_id, id), pages, now).await.map_err(Error::internal)?;
            Ok(Written::All)
        }
        ReportStatus::Expired => Ok(Written::All),
    }
}

async fn begin(app: &App, report: &StoredReport) -> Result<Written, Error> {
    let mut batch = Batch::new(report.client_id);
    stored::update(&mut batch, &moved(app, report, ReportStatus::Processing))?;
    // Whoever came first has begun.
    let _ = apply(app, batch).await?;
    Ok(Written::Part)
}

async fn write_file(app: &App, report: &StoredReport) -> Result<Written, Error> {
    let (client_id, id, before) = (report.client_id, report.id, report.progress);
    let mut rows = Rows::of(client_id, &report.order, id.created_at() + REACHES)?;
    let rows_max = app.settings.report_rows_per_file;
    let (mut cursor, mut written, mut without_rows) = (before.cursor, 0, 0);
    let mut draft: Option<Draft> = None;
    let is_last = loop {
        app.vault.keep_current().await?;
        let chunk = rows.next(app, cursor, rows_max - written).await?;
        cursor = chunk.cursor;
        written += chunk.rows;
        if chunk.rows > 0 {
            let begun = match &mut draft {
                Some(begun) => begun,
                None => {
                    let page = PageName { client_id, report_id: id, number: before.pages + 1 };
                    let key = file_key(app, report).await?;
                    let mut begun =
                        app.report_files.begin(&app.chance, page, key).await.map_err(Error::internal)?;
                    begun.write(&app.chance, &rows.header()?).await.map_err(Error::internal)?;
                    draft.insert(begun)
                }
            };
            begun.write(&app.chance, &chunk.csv).await.map_err(Error::internal)?;
        } else {
            without_rows += 1;
        }
        let is_enough = written == rows_max || (draft.is_none() && without_rows == PAGES_WITHOUT_ROWS_MAX);
        if chunk.is_last || is_enough {
            break chunk.is_last;
        }
    };
    let pages = before.pages + u32::from(draft.is_some());
    if let Some(draft) = draft {
        draft.finish(&app.chance, app.clock.deployment()).await.map_err(Error::internal)?;
    }
    let rows = before.rows + u64::try_from(written).unwrap_or(0);
    let progress = Progress { pages, rows, cursor };
    store(app, report, progress, is_last).await
}

async fn store(
    app: &App,
    report: &StoredReport,
    progress: Progress,
    is_last: bool,
) -> Result<Written, Error> {
    let step = if progress.pages == 0 { Step::NothingFound } else { Step::FilesStored };
    let status = if is_last { report.status.after(step) } else { None };
    let mut batch = Batch::new(report.client_id);
    let after = StoredReport { progress, ..moved(app, report, status.unwrap_or(report.status)) };
    stored::update(&mut batch, &after)?;
    if after.status.has_files() {
        queue::reports::expire(app, &mut batch, report.id, expires_at(report));
        if app.mailer.is_some() {
            queue::reports::mail(app, &mut batch, report.id, after.updated_at);
        }
    }
    // Whether it was written or another worker came first: the next run reads how far the report is, and deletes the drafts of others.
    let _ = apply(app, batch).await?;
    Ok(Written::Part)
}

async fn apply(app: &App, batch: Batch) -> Result<Commit, Error> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}
