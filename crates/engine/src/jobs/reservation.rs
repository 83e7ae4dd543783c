//! Voids reservations that were not captured: the acquirer releases them after about a week, so the charge is voided at
//! the provider and ends as `canceled` (`docs/interface/charges.md#reservations`).

use regente_domain::charge::ChargeState;
use regente_domain::id::ChargeId;
use regente_store::jobs::Job;

use super::void::{Voided, void};
use crate::app::App;
use crate::error::Error;
use crate::queue::{Ended, Kind};

/// Voids the charge of the job if it is still reserved.
pub(super) async fn expire(app: &App, job: &Job) -> Result<Ended, Error> {
    let is_reserved = |state: &ChargeState| matches!(state, ChargeState::PreAuthorized { .. });
    let Ok(charge_id) = job.key.parse::<ChargeId>() else {
        return Ok(Ended::GiveUp { why: format!("{} is no charge", job.key) });
    };
    Ok(match void(app, job, Kind::ExpireReservation, charge_id, is_reserved).await? {
        Voided::Ended(ended) => ended,
        Voided::Refused => Ended::GiveUp {
            why: format!("the provider does not let go of the reservation of charge {charge_id}"),
        },
    })
}
