//! The jobs of sessions: count a charge, give back what a session did not take, switch a session off, and end what is
//! under way for a canceled one.

use regente_domain::actor::Actor;
use regente_domain::backoff;
use regente_domain::charge::ChargeState;
use regente_domain::charge::reversal::refunds_reverted;
use regente_domain::id::{ChargeId, SessionId};
use regente_store::jobs::Job;
use regente_store::sessions::{self as rows, payments};
use regente_store::{Batch, Commit, charges};

use super::void::{Voided, void};
use crate::app::App;
use crate::charges::late_answer;
use crate::error::Error;
use crate::queue::sessions::Return;
use crate::queue::{Ended, Kind};
use crate::sessions;

/// Counts the charge of the job.
pub(super) async fn count(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(charge_id) = job.payload.parse::<ChargeId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    sessions::count(app, job.client_id, charge_id, &actor(Kind::CountPayment)).await?;
    Ok(Ended::Finished)
}

/// Gives the payment of the job back. When its refunds came back as often as the schedule says, the operator must look.
pub(super) async fn give_back(app: &App, job: &Job) -> Result<Ended, Error> {
    let Some(Return { charge_id, reverted }) = Return::parse(&job.key) else { return Ok(nothing(job)) };
    let found = charges::find_with_requests(&app.store, job.client_id, charge_id).await?;
    let Some((stored, requests)) = found else { return Ok(Ended::Finished) };
    // The last refund that came back has a job of its own.
    if refunds_reverted(requests.iter().map(|stored| &stored.request)) > reverted {
        return Ok(Ended::Finished);
    }
    let is_held = |state: &ChargeState| {
        matches!(state, ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. })
    };
    if backoff::REFUNDS.is_over(reverted) && is_held(&stored.charge.state) {
        let why = format!(
            "the refund of charge {charge_id} came back {reverted} times: it is not given back again"
        );
        return Ok(Ended::GiveUp { why });
    }
    match void(app, job, Kind::ReturnPayment, charge_id, is_held).await? {
        Voided::Ended(ended) => Ok(ended),
        // The provider is asked again, later each time, until the job becomes a dead letter.
        Voided::Refused => Err(Error::unavailable()),
    }
}

/// Switches the session of the job off, unless its due date has changed: then another job will.
pub(super) async fn expire(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<SessionId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    let Some(before) = rows::find(&app.store, job.client_id, id).await? else {
        return Ok(Ended::Finished);
    };
    let Some(advance) = before.expire(app.clock.of(job.client_id)) else { return Ok(Ended::Finished) };
    let mut batch = Batch::new(job.client_id);
    sessions::write(app, &mut batch, &before, &advance, &actor(Kind::ExpireSession))?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(Ended::Finished),
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}

/// Ends the instructions that buyers of a canceled session have. What they pay nevertheless is given back, and so is what
/// one of them has paid too little.
pub(super) async fn close(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<SessionId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    for charge_id in payments::open(&app.store, job.client_id, id).await? {
        late_answer::withdraw(app, job.client_id, charge_id, &actor(Kind::CloseSession)).await?;
        sessions::count(app, job.client_id, charge_id, &actor(Kind::CloseSession)).await?;
    }
    Ok(Ended::Finished)
}

const fn actor(kind: Kind) -> Actor {
    Actor::Job(kind.word())
}

fn nothing(job: &Job) -> Ended {
    Ended::GiveUp { why: format!("job {} names nothing", job.key) }
}
