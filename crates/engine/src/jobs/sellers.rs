//! The jobs of sellers: register one at a provider and look after it, register all at a provider that was added, and delete
//! files that nobody needs any more.

use regente_domain::id::ProviderId;
use regente_store::jobs::Job;

use crate::app::App;
use crate::error::Error;
use crate::queue::Ended;
use crate::queue::sellers::About;
use crate::sellers::registration::{self, NextLook};
use crate::sellers::{documents, reviews};

/// Asks the provider of the job about the seller of the job.
pub(super) async fn register(app: &App, job: &Job) -> Result<Ended, Error> {
    let Some(about) = About::parse(&job.key) else {
        return Ok(Ended::GiveUp { why: format!("{} names no seller at a provider", job.key) });
    };
    Ok(match registration::look(app, job.client_id, about).await? {
        NextLook::Gone => Ended::Finished,
        NextLook::Until(at) => Ended::Again { at },
    })
}

/// Links the sellers of a merchant to the provider of the job.
pub(super) async fn link(app: &App, job: &Job) -> Result<Ended, Error> {
    let (Ok(merchant_id), Ok(provider_id)) = (job.payload.parse(), job.key.parse::<ProviderId>()) else {
        return Ok(Ended::GiveUp { why: format!("{} names no provider", job.key) });
    };
    registration::link_all(app, job.client_id, merchant_id, provider_id).await?;
    Ok(Ended::Finished)
}

/// Deletes the file of the job, unless somebody still needs it.
pub(super) async fn end_document(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.key.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no file", job.key) });
    };
    Ok(match documents::end(app, job.client_id, id).await? {
        Some(at) => Ended::Again { at },
        None => Ended::Finished,
    })
}

/// Does what is due of the review of the job.
pub(super) async fn review(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.key.parse() else {
        return Ok(Ended::GiveUp { why: format!("{} names no review", job.key) });
    };
    Ok(match reviews::look(app, job.client_id, id).await? {
        Some(at) => Ended::Again { at },
        None => Ended::Finished,
    })
}
