//! Voids reservations that were not captured: the acquirer releases them after about a week, so the charge is voided at
//! the provider and ends as `canceled` (`docs/interface/charges.md#reservations`).

use regente_domain::actor::Actor;
use regente_domain::charge::reservation::LOOK_AGAIN_AFTER;
use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::id::ChargeId;
use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::flows::charge::Created;
use crate::flows::follow_up::{self, NewFollowUp};
use crate::queue::{Ended, Kind};

/// Voids the charge of the job if it is still reserved.
pub(super) async fn expire(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(charge_id) = job.key.parse::<ChargeId>() else {
        return Ok(Ended::GiveUp { why: format!("{} is no charge", job.key) });
    };
    let found = regente_store::charges::find(&app.store, job.client_id, charge_id).await?;
    let Some(charge) = found.map(|stored| stored.charge) else { return Ok(Ended::Finished) };
    match charge.state {
        ChargeState::PreAuthorized { .. } => {}
        ChargeState::CapturePending { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. } => {
            return Ok(look_again(app, job));
        }
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::Authorized { .. }
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
        actor: Actor::Job(Kind::ExpireReservation.word()),
        seed: None,
    };
    match app.in_flight.run(follow_up::create(app.clone(), void)).await {
        Ok(Created::Ran(ran)) if ran.charge.state.open_operation().is_some() => Ok(look_again(app, job)),
        Ok(Created::Ran(ran)) if matches!(ran.charge.state, ChargeState::PreAuthorized { .. }) => {
            Ok(Ended::GiveUp {
                why: format!("the provider does not let go of the reservation of charge {charge_id}"),
            })
        }
        Ok(Created::Ran(_) | Created::Answered(_)) => Ok(Ended::Finished),
        Err(Error::Processing { .. }) => Ok(look_again(app, job)),
        Err(error) => Err(error),
    }
}

fn look_again(app: &App, job: &Job) -> Ended {
    Ended::Again { at: app.clock.of(job.client_id) + LOOK_AGAIN_AFTER }
}
