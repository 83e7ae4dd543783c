//! Files of reports that may name a person: nobody can tell which do, so all of the account that show something personal go.

use regente_domain::report::{Column, KEPT_FOR, ReportStatus, Step};
use regente_domain::time::later_of;
use regente_store::reports::{self, Progress, StoredReport};
use regente_store::{Batch, Commit};

use super::apply;
use super::person::Person;
use crate::app::App;
use crate::error::Error;
use crate::races;

/// Reports that are read at once.
const PAGE: i64 = 100;

/// Deletes the files of the account's reports, and has those that are being made begin anew: without the person, who is hidden by now.
pub(super) async fn reports(app: &App, person: &Person) -> Result<(), Error> {
    let client_id = person.client_id;
    for page in 0.. {
        let found = reports::list(&app.store, client_id, PAGE, page * PAGE).await?;
        for report in &found {
            if report.order.columns.iter().copied().any(Column::is_personal) {
                erase(app, report).await?;
            }
        }
        let now = app.clock.of(client_id);
        if found.last().is_none_or(|oldest| oldest.id.created_at() + KEPT_FOR < now) {
            break;
        }
    }
    Ok(())
}

async fn erase(app: &App, report: &StoredReport) -> Result<(), Error> {
    let (client_id, id) = (report.client_id, report.id);
    for () in races::tries() {
        let Some(report) = reports::find(&app.store, client_id, id).await? else { return Ok(()) };
        let updated_at = later_of(app.clock.of(client_id), report.updated_at);
        let after = match report.status {
            ReportStatus::Processing => {
                StoredReport { progress: Progress::default(), updated_at, ..report.clone() }
            }
            status @ (ReportStatus::Uploaded | ReportStatus::Sent | ReportStatus::Opened) => {
                let status = status.after(Step::TimeOver).unwrap_or(ReportStatus::Expired);
                StoredReport { status, updated_at, ..report.clone() }
            }
            ReportStatus::Created
            | ReportStatus::Pending
            | ReportStatus::Expired
            | ReportStatus::Error
            | ReportStatus::Empty => return Ok(()),
        };
        let mut batch = Batch::new(client_id);
        reports::update(&mut batch, &after)?;
        match apply(app, batch).await? {
            Commit::Applied if after.status == ReportStatus::Expired => {
                let (pages, now) = (after.progress.pages, app.clock.deployment());
                let removed = app.report_files.remove((client_id, id), pages, now).await;
                return removed.map_err(Error::internal);
            }
            Commit::Applied => return Ok(()),
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}
