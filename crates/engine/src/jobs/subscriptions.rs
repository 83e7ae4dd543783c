//! The job of subscriptions: does what is due of one.

use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::queue::Ended;
use crate::queue::subscriptions::{key_of_moment, parse};
use crate::subscriptions::drive::{self, NextRun};

/// Does what is due of the subscription of the job. What falls due later has a job of its own; the job of that very moment, which has run
/// before it, waits for it.
pub(super) async fn run(app: &App, job: &Job) -> Result<Ended, Error> {
    let Some((id, charge_id)) = parse(&job.payload) else {
        return Ok(Ended::GiveUp { why: format!("job {} names no subscription", job.key) });
    };
    Ok(match drive::run(app, job.client_id, id, charge_id).await? {
        NextRun::Until(at) if job.key == key_of_moment(id, at) => Ended::Again { at },
        NextRun::Until(_) | NextRun::Idle => Ended::Finished,
        NextRun::Again(at) => Ended::Again { at },
    })
}
