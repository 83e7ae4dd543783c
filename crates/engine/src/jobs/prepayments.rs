//! The job of prepayments: ends those that nobody has committed, and pays those that were.

use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::prepayments::{self, NextLook};
use crate::queue::Ended;

/// Does what is due of the prepayment of the job.
pub(super) async fn run(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no prepayment", job.payload) });
    };
    Ok(match prepayments::look(app, job.client_id, id).await? {
        NextLook::Never => Ended::Finished,
        NextLook::At(at) => Ended::Again { at },
    })
}
