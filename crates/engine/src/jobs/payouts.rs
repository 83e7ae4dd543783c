//! The jobs of payouts: one writes the orders of a charge, one pays out a day, one follows a transfer.

use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::payouts::transfers::{self, Next};
use crate::payouts::{orders, payday};
use crate::queue::Ended;

/// Writes the orders of the charge of the job.
pub(super) async fn write_orders(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(charge_id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no charge", job.payload) });
    };
    orders::write(app, job.client_id, charge_id).await?;
    Ok(Ended::Finished)
}

/// Makes the batches of what is due in the account of the job.
pub(super) async fn pay_out(app: &App, job: &Job) -> Result<Ended, Error> {
    payday::pay_out(app, job.client_id).await?;
    Ok(Ended::Finished)
}

/// Does what is to be done about the transfer of the job.
pub(super) async fn transfer(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no payment batch", job.payload) });
    };
    Ok(match transfers::drive(app, job.client_id, id).await? {
        Next::Done => Ended::Finished,
        Next::At(at) => Ended::Again { at },
    })
}
