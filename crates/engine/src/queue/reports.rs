//! The jobs of reports.

use regente_domain::id::ReportId;
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::{Kind, NO_PAYLOAD};
use crate::app::App;

/// Enqueues the job that writes the files of a report.
pub fn write(app: &App, batch: &mut Batch, id: ReportId, at: Timestamp) {
    super::enqueue(app, batch, Kind::Report, &id.to_string(), NO_PAYLOAD, at);
}

/// Enqueues the job that mails the links to the files of a report.
pub fn mail(app: &App, batch: &mut Batch, id: ReportId, at: Timestamp) {
    super::enqueue(app, batch, Kind::MailReport, &id.to_string(), NO_PAYLOAD, at);
}

/// Enqueues the job that deletes the files of a report.
pub fn expire(app: &App, batch: &mut Batch, id: ReportId, at: Timestamp) {
    super::enqueue(app, batch, Kind::ExpireReport, &id.to_string(), NO_PAYLOAD, at);
}
