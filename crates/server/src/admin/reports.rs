//! The rows of a report for `regente reports make`, a part at a time, where the database is. Whoever asks writes the file.

use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_domain::report::SETTLES_AFTER;
use regente_domain::time::Timestamp;
use regente_engine::audit;
use regente_engine::reports::rows::Rows;
use regente_store::reports::{ReportCursor, ReportOrder};
use regente_store::{Batch, Commit, clients};
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use crate::access::AccessError;
use crate::app::App;

/// Rows of one answer.
const ROWS_MAX: usize = 2_000;

/// Asks for a part of a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportsCommand {
    /// The account.
    pub client_id: ClientId,
    /// What the report shows.
    pub order: ReportOrder,
    /// Where the part before has ended; nowhere for the first one.
    pub after: Option<(Timestamp, ReportCursor)>,
}

/// A part of a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportPart {
    /// CSV, of the first part with the titles.
    pub csv: String,
    /// How many rows it has.
    pub rows: usize,
    /// Where the next part begins; `None` at the end.
    pub next: Option<(Timestamp, ReportCursor)>,
}

/// The next part. The first one chooses the moment of the report, and is noted in the audit trail.
pub(super) async fn run(app: &App, command: ReportsCommand) -> Result<ReportPart, CommandError> {
    let ReportsCommand { client_id, order, after } = command;
    let (mut csv, moment, cursor) = match after {
        Some((moment, cursor)) => (Vec::new(), moment, cursor),
        None => {
            if clients::find(&app.store, client_id).await?.is_none() {
                return Err(AccessError::UnknownClient(client_id).into());
            }
            note(app, client_id).await?;
            let moment = app.clock.of(client_id) - SETTLES_AFTER;
            (Rows::of(client_id, &order, moment)?.header()?, moment, ReportCursor::default())
        }
    };
    let mut rows = Rows::of(client_id, &order, moment)?;
    let chunk = rows.next(app, cursor, ROWS_MAX).await?;
    csv.extend(chunk.csv);
    let next = (!chunk.is_last).then_some((moment, chunk.cursor));
    Ok(ReportPart { csv: String::from_utf8_lossy(&csv).into_owned(), rows: chunk.rows, next })
}

async fn note(app: &App, client_id: ClientId) -> Result<(), CommandError> {
    let mut batch = Batch::new(client_id);
    audit::record_of(app, &mut batch, (&Actor::Operator, None), "report.printed", client_id.uuid());
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) | Commit::Unknown => Err(CommandError::Unknown),
    }
}
