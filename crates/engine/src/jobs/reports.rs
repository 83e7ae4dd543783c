//! The jobs of reports: one writes the files, one mails the links to them, one deletes them.

use regente_domain::backoff;
use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::queue::Ended;
use crate::reports::{self, Mailed, Written};

/// Writes the next file of the report of the job. What fails again and again ends the report.
pub(super) async fn write(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.key.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no report", job.key) });
    };
    match reports::write(app, job.client_id, id).await {
        Ok(Written::Part) => Ok(Ended::Again { at: app.clock.of(job.client_id) }),
        Ok(Written::All) => Ok(Ended::Finished),
        Err(error) if backoff::JOBS.is_over(job.attempts + 1) => {
            tracing::error!(report = %id, error = ?error, "a report could not be made");
            reports::fail(app, job.client_id, id).await?;
            Ok(Ended::Finished)
        }
        Err(error) => Err(error),
    }
}

/// Mails the links to the files of the report of the job.
pub(super) async fn mail(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.key.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no report", job.key) });
    };
    Ok(match reports::mail(app, job.client_id, id).await? {
        Mailed::Done => Ended::Finished,
        Mailed::Refused(refused) => {
            tracing::warn!(report = %id, %refused, "whoever a report is for cannot be mailed to");
            Ended::Finished
        }
        Mailed::NoAddress => Ended::GiveUp { why: "a mail has no link without `server.base_url`".to_owned() },
    })
}

/// Deletes the files of the report of the job.
pub(super) async fn expire(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.key.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no report", job.key) });
    };
    reports::expire(app, job.client_id, id).await?;
    Ok(Ended::Finished)
}
