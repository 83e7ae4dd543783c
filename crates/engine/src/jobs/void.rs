//! Voids the whole charge of a job: a reservation that was not captured, a payment that its session did not take.

use regente_domain::actor::Actor;
use regente_domain::charge::reservation::LOOK_AGAIN_AFTER;
use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::id::ChargeId;
use regente_store::charges;
use regente_store::jobs::Job;

use crate::app::App;
use crate::captures_and_voids::{self, NewFollowUp};
use crate::charges::create::Created;
use crate::error::Error;
use crate::queue::{Ended, Kind};

/// How a void went.
pub(super) enum Voided {
    /// The job ends so.
    Ended(Ended),
    /// The provider has refused, and the charge is as it was.
    Refused,
}

/// Voids the charge of the job if it is in a state that is to be voided. While another operation is open, the job looks
/// again later.
pub(super) async fn void(
    app: &App,
    job: &Job,
    kind: Kind,
    charge_id: ChargeId,
    is_to_be_voided: fn(&ChargeState) -> bool,
) -> Result<Voided, Error> {
    let finished = Voided::Ended(Ended::Finished);
    let found = charges::find(&app.store, job.client_id, charge_id).await?;
    let Some(charge) = found.map(|stored| stored.charge) else { return Ok(finished) };
    if !is_to_be_voided(&charge.state) {
        return Ok(if is_under_way(&charge.state) { look_again(app, job) } else { finished });
    }
    let void = NewFollowUp {
        client_id: job.client_id,
        charge_id,
        operation: FollowUpKind::Void,
        amount: None,
        delay_to_compose: None,
        returns: Vec::new(),
        purchase: None,
        claim: None,
        actor: Actor::Job(kind.word()),
        seed: None,
    };
    match app.in_flight.run(captures_and_voids::create(app.clone(), void)).await {
        Ok(Created::Ran(ran)) if ran.charge.state.open_operation().is_some() => Ok(look_again(app, job)),
        Ok(Created::Ran(ran)) if is_to_be_voided(&ran.charge.state) => Ok(Voided::Refused),
        Ok(Created::Ran(_) | Created::Answered(_)) => Ok(finished),
        Err(Error::Processing { .. }) => Ok(look_again(app, job)),
        Err(error) => Err(error),
    }
}

const fn is_under_way(state: &ChargeState) -> bool {
    match state {
        ChargeState::CapturePending { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. } => true,
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::PreAuthorized { .. }
        | ChargeState::Authorized { .. }
        | ChargeState::Failed { .. }
        | ChargeState::Canceled { .. }
        | ChargeState::Voided { .. }
        | ChargeState::ChargedBack { .. } => false,
    }
}

fn look_again(app: &App, job: &Job) -> Voided {
    Voided::Ended(Ended::Again { at: app.clock.of(job.client_id) + LOOK_AGAIN_AFTER })
}
