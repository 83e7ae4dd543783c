//! The jobs of sessions: count a charge, give back what a session did not take, switch a session off, and end what is
//! under way for a canceled one.

use regente_domain::actor::Actor;
use regente_domain::charge::reservation::LOOK_AGAIN_AFTER;
use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::id::{ChargeId, SessionId};
use regente_store::jobs::Job;
use regente_store::sessions::payments;
use regente_store::{Batch, Commit, charges, sessions};

use crate::app::App;
use crate::error::Error;
use crate::flows::charge::Created;
use crate::flows::follow_up::{self, NewFollowUp};
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
    let Ok(charge_id) = job.key.parse::<ChargeId>() else { return Ok(nothing(job)) };
    let found = charges::find(&app.store, job.client_id, charge_id).await?;
    let Some(charge) = found.map(|stored| stored.charge) else { return Ok(Ended::Finished) };
    match charge.state {
        ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. } => {}
        ChargeState::CapturePending { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. } => return Ok(look_again(app, job)),
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::Failed { .. }
        | ChargeState::Canceled { .. }
        | ChargeState::Voided { .. }
        | ChargeState::ChargedBack { .. } => return Ok(Ended::Finished),
    }
    let void = NewFollowUp {
        client_id: job.client_id,
        charge_id,
        operation: FollowUpKind::Void,
        amount: None,
        delay_to_compose: None,
        purchase: None,
        claim: None,
        actor: actor(Kind::ReturnPayment),
        seed: None,
    };
    match app.in_flight.run(follow_up::create(app.clone(), void)).await {
        Ok(Created::Ran(ran)) if ran.charge.state.open_operation().is_some() => Ok(look_again(app, job)),
        // The provider refuses: it is asked again, later each time, until the job becomes a dead letter.
        Ok(Created::Ran(ran))
            if matches!(
                ran.charge.state,
                ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. }
            ) =>
        {
            Err(Error::unavailable())
        }
        Ok(Created::Ran(_) | Created::Answered(_)) => Ok(Ended::Finished),
        Err(Error::Processing { .. }) => Ok(look_again(app, job)),
        Err(error) => Err(error),
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

fn look_again(app: &App, job: &Job) -> Ended {
    Ended::Again { at: app.clock.of(job.client_id) + LOOK_AGAIN_AFTER }
}
