//! Takes a person out of the stored bodies of providers' notifications: of those about their charges and cards, and of those that name
//! them. Their rows stay, so that a repetition is known.

use regente_providers::notification::EventSubject;
use regente_store::provider_notifications::{self, ProviderNotification, State};
use regente_store::{Batch, Commit, transaction_requests};
use serde_json::Value;
use uuid::Uuid;

use super::person::Person;
use super::{UnderWay, apply};
use crate::app::App;
use crate::error::Error;
use crate::notifications::stored::{body_of, events_in};
use crate::vault::{Binding, Purpose};

/// Rows that one query reads: a body has up to 256 KiB.
const ROWS_MAX: i64 = 64;
/// What a body says afterwards.
const ERASED: &[u8] = b"{}";

/// Erases the bodies of settled notifications that tell of the person; answers how many did. One that is not settled is left to
/// the job.
pub(super) async fn notifications(app: &App, person: &Person, left: &mut UnderWay) -> Result<usize, Error> {
    let (client_id, mut after, mut erased) = (person.client_id, Uuid::nil(), 0);
    loop {
        let page = provider_notifications::page(&app.store, client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(erased) };
        after = last.id;
        let mut batch = Batch::new(client_id);
        for stored in page {
            if !tells_of(app, person, &stored).await? {
                continue;
            }
            match stored.state {
                State::Waiting => left.notifications += 1,
                State::Applied | State::Kept | State::Unmatched => {
                    let binding = Binding::new(Purpose::ProviderNotification, client_id, stored.id);
                    provider_notifications::erase(&mut batch, stored.id, app.vault.seal(binding, ERASED));
                    erased += 1;
                }
            }
        }
        if !batch.is_empty() {
            match apply(app, batch).await? {
                // Nothing in it can be refused; the job looks for what an unknown commit has left.
                Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
            }
        }
    }
}

async fn tells_of(app: &App, person: &Person, stored: &ProviderNotification) -> Result<bool, Error> {
    let body = body_of(app, stored).await?;
    if body.as_slice() == ERASED {
        return Ok(false);
    }
    let says: Option<Value> = serde_json::from_slice(&body).ok();
    if says.is_some_and(|says| person.is_in(&says)) {
        return Ok(true);
    }
    // Of what this release does not understand nobody can tell whom it is about.
    for event in events_in(app, stored, &body).unwrap_or_default() {
        let about = match &event.about {
            EventSubject::Call { object_id, .. } => Some(*object_id),
            EventSubject::Reference(reference) => {
                let (client_id, provider_id) = (stored.client_id, stored.provider_id);
                let found =
                    transaction_requests::by_reference(&app.store, client_id, provider_id, reference).await?;
                found.map(|found| found.request.object_id)
            }
        };
        if about.is_some_and(|about| person.has(about)) {
            return Ok(true);
        }
    }
    Ok(false)
}
