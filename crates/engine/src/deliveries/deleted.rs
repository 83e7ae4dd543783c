//! What is on its way to a deleted webhook: deleting only marks the webhook, and jobs drop its deliveries in pages, so that
//! a large backlog holds up nobody's commits.

use std::time::Duration;

use regente_domain::id::WebhookId;
use regente_domain::time::Timestamp;
use regente_store::jobs::Job;
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit, deliveries};

use super::attempt::apply;
use crate::app::App;
use crate::error::Error;
use crate::queue::{self, Ended, Kind};

/// Most deliveries of one batch.
const ROWS_MAX: i64 = 500;
/// Most batches of one run.
const PAGES_MAX: usize = 8;
/// When the deliveries are looked for again: a batch that saw the webhook before it was deleted may add some until then. A
/// commit is given up far sooner.
const LATE: Duration = Duration::from_secs(2 * 60);

/// Deletes a webhook and orders that its deliveries be dropped. Guards the batch by the version that was read.
pub fn delete(app: &App, batch: &mut Batch, webhook: &Webhook, now: Timestamp) {
    webhooks::delete(batch, webhook, now);
    // The time of the change may be a little ahead of the clock.
    let due_at = app.clock.of(webhook.client_id);
    let id = webhook.id.to_string();
    queue::enqueue(app, batch, Kind::DropDeliveries, &id, &id, due_at);
    queue::enqueue(app, batch, Kind::DropDeliveries, &format!("{id} late"), &id, due_at + LATE);
}

/// Runs the job that drops what is on its way to a deleted webhook.
pub(crate) async fn drop_deliveries(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<WebhookId>() else {
        return Ok(Ended::GiveUp { why: "the payload names no webhook".to_owned() });
    };
    for _ in 0..PAGES_MAX {
        let ids = deliveries::pending(&app.store, job.client_id, id, ROWS_MAX).await?;
        if ids.is_empty() {
            return Ok(Ended::Finished);
        }
        let mut batch = Batch::new(job.client_id);
        deliveries::drop_pending(&mut batch, &ids, app.clock.of(job.client_id));
        match apply(app, batch).await? {
            // The next page shows what is left.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Ok(Ended::Again { at: app.clock.of(job.client_id) })
}
