//! Opens the books of the charges that there were before the ledger.

use crate::accounts;
use crate::app::App;
use crate::error::Error;
use crate::ledger::{Repair, compare};
use crate::queue::Ended;

/// Goes through the charges of all accounts. What is posted already stays as it is, so that an interrupted run begins anew.
pub(super) async fn open(app: &App) -> Result<Ended, Error> {
    for client_id in accounts::all(&app.store).await? {
        let found = compare(app, client_id, Repair::Post).await?;
        if found.posted > 0 || found.busy > 0 {
            let (posted, busy) = (found.posted, found.busy);
            tracing::info!(%client_id, posted, busy, "the books of an account were opened");
        }
    }
    Ok(Ended::Finished)
}
