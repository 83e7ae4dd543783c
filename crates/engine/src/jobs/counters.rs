//! Folds counters of charges and balances of the ledger into spans, by the hours that have ended: account by account, a
//! limited number at once. Totals are the
//! same before and after each batch, so it matters to nobody when the job runs, but reading many unfolded counters is
//! dear.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::id::ClientId;
use regente_domain::ledger::Account;
use regente_store::fold::{self, Summed};
use regente_store::{Batch, counters};

use super::{DEPLOYMENT, apply};
use crate::app::App;
use crate::error::Error;
use crate::queue::Ended;

/// How often the job runs.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// When it runs again while an account has more to fold.
const SOON: Duration = Duration::from_secs(1);
/// Most accounts that are looked for at once.
const CLIENTS_MAX: i64 = 100;
/// Accounts whose sums are folded concurrently.
const CLIENTS_AT_ONCE: usize = 4;
/// Most rows of one batch. Charges wait while it is written; decision 12 has what it takes.
const ROWS_MAX: i64 = 100;
/// Most batches of an account in one run.
const BATCHES_MAX: usize = 40;

/// Whether there is more to fold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HoursLeft {
    Nothing,
    Something,
}

/// Folds what is summed in hours that have ended by the time of the deployment. An account whose clock is behind may still
/// be in such an hour: then its sums are folded more than once.
pub(super) async fn fold_sums(app: &App) -> Result<Ended, Error> {
    let now = app.clock.deployment();
    let charges = fold_all::<counters::Kind>(app, now.hour()).await?;
    let balances = fold_all::<Account>(app, now.hour()).await?;
    let wait = if [charges, balances].contains(&HoursLeft::Something) { SOON } else { EVERY };
    Ok(Ended::Again { at: now + wait })
}

async fn fold_all<K: Summed>(app: &App, hour: i64) -> Result<HoursLeft, Error> {
    let (mut after, mut left) = (DEPLOYMENT, HoursLeft::Nothing);
    loop {
        let clients = fold::clients_with_unfolded::<K>(&app.store, hour, after, CLIENTS_MAX).await?;
        let Some(last) = clients.last().copied() else { return Ok(left) };
        let folding = clients.into_iter().map(|client_id| fold_client::<K>(app, client_id, hour));
        let of_clients: Vec<HoursLeft> =
            stream::iter(folding).buffer_unordered(CLIENTS_AT_ONCE).try_collect().await?;
        if of_clients.contains(&HoursLeft::Something) {
            left = HoursLeft::Something;
        }
        after = last;
    }
}

/// Folds batch after batch of an account, a bounded number of them.
async fn fold_client<K: Summed>(app: &App, client_id: ClientId, hour: i64) -> Result<HoursLeft, Error> {
    for _ in 0..BATCHES_MAX {
        let unfolded = fold::unfolded::<K>(&app.store, client_id, hour, ROWS_MAX).await?;
        let mut batch = Batch::new(client_id);
        fold::fold(&mut batch, &unfolded);
        // Nothing in it can be refused; after an unknown commit the next look shows what is left.
        let _ = apply(app, batch).await?;
        if i64::try_from(unfolded.len()).is_ok_and(|rows| rows < ROWS_MAX) {
            return Ok(HoursLeft::Nothing);
        }
    }
    Ok(HoursLeft::Something)
}
