//! The jobs of sessions. Each change enqueues its own, so that the end of one job does not lose another change.

use std::time::Duration;

use regente_domain::backoff;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::ChargeId;
use regente_domain::session::Session;
use regente_domain::session::cards::Try;
use regente_domain::session::payment::PaymentState;
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::sessions::{payments, tries};

use super::Kind;
use crate::app::App;

/// Follows a charge in the batch that changes it, with the outcome of `ended`: gives the place of its card back, records
/// where the payment of its session stands, and enqueues the job by which the session counts it (decision 23). Of a refund
/// that comes back in parts, each has to be seen.
pub fn wake(
    app: &App,
    batch: &mut Batch,
    before: &Charge,
    after: &Charge,
    ended: Option<&TransactionRequest>,
) {
    let Some(session_id) = after.session_id else { return };
    match Try::by(before, after, ended) {
        Some(Try::Begins) => tries::begin_again(batch, session_id, after.id.uuid()),
        Some(Try::GoesOnRefused) => tries::refuse(batch, session_id, after.id.uuid()),
        Some(Try::Ends(refused)) => tries::end(batch, session_id, after.id.uuid(), refused),
        None => {}
    }
    if PaymentState::of(before) == PaymentState::of(after) && before.amount >= after.amount {
        return;
    }
    payments::follow(batch, after);
    let key = format!("{}/{}", after.id, after.version);
    let now = app.clock.of(after.client_id);
    super::enqueue(app, batch, Kind::CountPayment, &key, &after.id.to_string(), now);
}

/// A payment that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The payment.
    pub charge_id: ChargeId,
    /// How often a refund of it came back.
    pub reverted: i64,
}

impl Return {
    /// The key of its job. Each refund that comes back enqueues its own.
    fn key(self) -> String {
        match self.reverted {
            0 => self.charge_id.to_string(),
            reverted => format!("{}/{reverted}", self.charge_id),
        }
    }

    /// The inverse of [`Self::key`].
    pub fn parse(key: &str) -> Option<Self> {
        let (charge_id, reverted) = key.split_once('/').unwrap_or((key, "0"));
        Some(Self { charge_id: charge_id.parse().ok()?, reverted: reverted.parse().ok()? })
    }
}

/// Enqueues the job that gives a payment back: at once, or some time after its refund came back.
pub fn give_back(app: &App, batch: &mut Batch, payment: Return) {
    let is_new_try = payment.reverted > 0 && !backoff::REFUNDS.is_over(payment.reverted);
    let wait = if is_new_try { backoff::REFUNDS.wait(payment.reverted) } else { Duration::ZERO };
    let run_at = app.clock.of(batch.client_id()) + wait;
    super::enqueue(app, batch, Kind::ReturnPayment, &payment.key(), super::NO_PAYLOAD, run_at);
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
