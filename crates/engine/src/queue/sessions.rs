//! The jobs of sessions. Each change enqueues its own, so that the end of one job does not lose another change.

use regente_domain::charge::Charge;
use regente_domain::session::Session;
use regente_domain::session::payment::PaymentState;
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::sessions::payments;

use super::Kind;
use crate::app::App;

/// Follows a charge in the batch that changes it: records where the payment of its session stands, and enqueues the job
/// by which the session counts it (decision 23).
pub fn wake(app: &App, batch: &mut Batch, before: &Charge, after: &Charge) {
    if after.session_id.is_none() || PaymentState::of(before) == PaymentState::of(after) {
        return;
    }
    payments::follow(batch, after);
    let key = format!("{}/{}", after.id, after.version);
    let now = app.clock.of(after.client_id);
    super::enqueue(app, batch, Kind::CountPayment, &key, &after.id.to_string(), now);
}

/// Enqueues the job that gives a payment back.
pub fn give_back(app: &App, batch: &mut Batch, charge: &Charge) {
    let key = charge.id.to_string();
    let now = app.clock.of(charge.client_id);
    super::enqueue(app, batch, Kind::ReturnPayment, &key, super::NO_PAYLOAD, now);
}

/// Enqueues the job that switches a session off, if it has a due date.
pub fn expire_when_due(app: &App, batch: &mut Batch, session: &Session) {
    if let Some(due_at) = session.due_at {
        enqueue(app, batch, Kind::ExpireSession, session, due_at.max(app.clock.of(session.client_id)));
    }
}

/// Enqueues the job that ends what is under way for a canceled session.
pub fn close(app: &App, batch: &mut Batch, session: &Session) {
    enqueue(app, batch, Kind::CloseSession, session, app.clock.of(session.client_id));
}

fn enqueue(app: &App, batch: &mut Batch, kind: Kind, session: &Session, run_at: Timestamp) {
    let key = format!("{}/{}", session.id, session.version);
    super::enqueue(app, batch, kind, &key, &session.id.to_string(), run_at);
}
