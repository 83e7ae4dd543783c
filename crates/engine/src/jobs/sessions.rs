//! The jobs of sessions: count a charge, give back what a session did not take, switch a session off, and end what is
//! under way for a canceled one.

use regente_domain::actor::Actor;
use regente_domain::charge::ChargeState;
use regente_domain::id::{ChargeId, SessionId};
use regente_store::jobs::Job;
use regente_store::sessions::payments;
use regente_store::{Batch, Commit, sessions};

use super::void::{Voided, void};
use crate::app::App;
use crate::error::Error;
use crate::flows::{finding, session};
use crate::queue::{Ended, Kind};

/// Counts the charge of the job.
pub(super) async fn count(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(charge_id) = job.payload.parse::<ChargeId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    session::count(app, job.client_id, charge_id, &actor(Kind::CountPayment)).await?;
    Ok(Ended::Finished)
}

/// Gives the payment of the job back.
pub(super) async fn give_back(app: &App, job: &Job) -> Result<Ended, Error> {
    let is_held = |state: &ChargeState| {
        matches!(state, ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. })
    };
    match void(app, job, Kind::ReturnPayment, is_held).await? {
        Voided::Ended(ended) => Ok(ended),
        // The provider is asked again, later each time, until the job becomes a dead letter.
        Voided::Refused(_) => Err(Error::unavailable()),
    }
}

/// Switches the session of the job off, unless its due date has changed: then another job will.
pub(super) async fn expire(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<SessionId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    let Some(before) = sessions::find(&app.store, job.client_id, id).await? else {
        return Ok(Ended::Finished);
    };
    let Some(advance) = before.expire(app.clock.of(job.client_id)) else { return Ok(Ended::Finished) };
    let mut batch = Batch::new(job.client_id);
    session::write(app, &mut batch, &before, &advance, &actor(Kind::ExpireSession))?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(Ended::Finished),
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}

/// Ends the instructions that buyers of a canceled session have. What they pay nevertheless is given back.
pub(super) async fn close(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<SessionId>() else { return Ok(nothing(job)) };
    let _admission = app.store.admit_waiting().await?;
    for charge_id in payments::open(&app.store, job.client_id, id).await? {
        finding::withdraw(app, job.client_id, charge_id, &actor(Kind::CloseSession)).await?;
    }
    Ok(Ended::Finished)
}

const fn actor(kind: Kind) -> Actor {
    Actor::Job(kind.word())
}

fn nothing(job: &Job) -> Ended {
    Ended::GiveUp { why: format!("job {} names nothing", job.key) }
}
