//! Tells anti-fraud providers of charges that ended without an analysis.

use regente_domain::actor::Actor;
use regente_domain::id::{ChargeId, Id};
use regente_store::jobs::Job;

use crate::anti_fraud::feeding::{self, Fed};
use crate::app::App;
use crate::error::Error;
use crate::queue::{Ended, Kind};

/// Tells the provider of the charge of the job.
pub(super) async fn feed(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(charge_id) = job.key.parse::<ChargeId>() else {
        return Ok(Ended::GiveUp { why: format!("{} is no charge", job.key) });
    };
    let actor = Actor::Job(Kind::FeedAntiFraud.word());
    let _admission = app.store.admit_waiting().await?;
    match feeding::feed(app, (job.client_id, charge_id), Id::new(job.id.uuid()), &actor).await? {
        Fed::Done => Ok(Ended::Finished),
        Fed::NoAdapter => {
            Ok(Ended::GiveUp { why: "this release has no adapter for the anti-fraud provider".to_owned() })
        }
    }
}
