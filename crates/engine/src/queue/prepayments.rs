//! The jobs of prepayments. Each moment at which one is looked at has a job of its own, since an existing one is only ever brought
//! forward.

use regente_domain::id::{PaymentBatchId, PrepaymentId};
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::Kind;
use crate::app::App;

/// Enqueues the job that looks at a prepayment at this moment.
pub fn look_at(app: &App, batch: &mut Batch, id: PrepaymentId, at: Timestamp) {
    let key = format!("{id}@{}", at.as_millis());
    super::enqueue(app, batch, Kind::Prepayment, &key, &id.to_string(), at);
}

/// Enqueues a look at a prepayment now that a batch of it is paid, which may have been the last one. Each batch has a job of its own: the job
/// of another one, of the same moment, may have looked already.
pub fn look_after(app: &App, batch: &mut Batch, id: PrepaymentId, paid: PaymentBatchId) {
    let (now, key) = (app.clock.of(batch.client_id()), format!("{id}@{paid}"));
    super::enqueue(app, batch, Kind::Prepayment, &key, &id.to_string(), now);
}
