//! Ends the subscriptions of a person, since there is nobody to charge any more, and takes the texts of their merchants out of all of
//! them, their events and the answers of webhooks. Prices and states stay.

use regente_domain::actor::Actor;
use regente_domain::id::SubscriptionId;
use regente_domain::subscription::{Refusal, Subscription, SubscriptionStatus, Trigger};
use regente_store::events::{self, Snapshot};
use regente_store::subscriptions::{self, SubscriptionFilter};
use regente_store::{Batch, Commit, deliveries};
use serde_json::Value;

use super::apply;
use super::pages::ROWS_MAX;
use super::person::{Person, empty_subscription_texts};
use crate::app::App;
use crate::error::Error;
use crate::queue::Kind;
use crate::races;
use crate::subscriptions::known::{GoesOn, Known};

/// Cancels the subscriptions of the person, with their events, and takes the texts out of all that they ever had; answers how many were
/// canceled.
pub(super) async fn subscriptions(app: &App, person: &Person) -> Result<usize, Error> {
    let canceled = cancel_all(app, person).await?;
    erase_texts(app, person).await?;
    Ok(canceled)
}

async fn cancel_all(app: &App, person: &Person) -> Result<usize, Error> {
    let words = SubscriptionStatus::WORDS.iter().map(|(_, status)| *status);
    let alive = words.filter(|status| status.on(Trigger::Cancel).is_some());
    let filter = SubscriptionFilter { statuses: Some(alive.collect()), ..of(person) };
    let mut canceled = 0;
    loop {
        // What is canceled leaves the page, so the next one begins at the start again.
        let page = subscriptions::page(&app.store, person.client_id, &filter, ROWS_MAX, 0).await?;
        if page.is_empty() {
            return Ok(canceled);
        }
        for subscription in page {
            cancel(app, person, subscription.id).await?;
            canceled += 1;
        }
    }
}

async fn erase_texts(app: &App, person: &Person) -> Result<(), Error> {
    let mut offset = 0;
    loop {
        let page = subscriptions::page(&app.store, person.client_id, &of(person), ROWS_MAX, offset).await?;
        if page.is_empty() {
            return Ok(());
        }
        offset += ROWS_MAX;
        for subscription in page {
            erase_texts_of(app, person, subscription).await?;
        }
    }
}

fn of(person: &Person) -> SubscriptionFilter {
    SubscriptionFilter { customers: Some(vec![person.customer_id]), ..SubscriptionFilter::default() }
}

async fn erase_texts_of(app: &App, person: &Person, found: Subscription) -> Result<(), Error> {
    let (client_id, id) = (person.client_id, found.id);
    let mut next = Some(found);
    for _ in races::tries() {
        let Some(subscription) = next.take() else { return Ok(()) };
        let mut batch = Batch::new(client_id);
        let without = subscription.without_free_text();
        if without != subscription {
            subscriptions::erase_texts(&mut batch, &without)?;
        }
        for snapshot in events::snapshots_of(&app.store, client_id, id.uuid()).await? {
            let mut told: Value = serde_json::from_str(&snapshot.data).map_err(Error::internal)?;
            if empty_subscription_texts(&mut told)? {
                events::replace_snapshot(&mut batch, Snapshot { data: told.to_string(), ..snapshot });
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        deliveries::erase_answers(&mut batch, id.uuid());
        match apply(app, batch).await? {
            Commit::Applied => return Ok(()),
            // What was under way has come to its end, or the texts may be gone.
            Commit::Refused(_) | Commit::Unknown => {
                next = subscriptions::find(&app.store, client_id, id).await?;
            }
        }
    }
    Err(Error::busy())
}

async fn cancel(app: &App, person: &Person, id: SubscriptionId) -> Result<(), Error> {
    for _ in races::tries() {
        let Some(known) = Known::find(app, person.client_id, id, None).await? else { return Ok(()) };
        let now = app.clock.of(person.client_id);
        let after = match known.subscription.cancel(&known.cycles, now) {
            Ok(after) => after,
            Err(Refusal::Behind) => {
                known.take_step(app).await?;
                continue;
            }
            // It has ended meanwhile.
            Err(Refusal::InvalidState(_)) => return Ok(()),
            Err(
                refusal @ (Refusal::AlreadyStarted
                | Refusal::StartInThePast
                | Refusal::TrialNotAhead
                | Refusal::CancellationInThePast
                | Refusal::FewerCyclesThanMade(_)
                | Refusal::AmountTooHigh),
            ) => return Err(Error::internal(format!("a cancellation was refused: {refusal:?}"))),
        };
        let mut batch = Batch::new(person.client_id);
        let actor = Actor::Job(Kind::EraseCustomer.word());
        known.write(app, &mut batch, &after, GoesOn::TheJob, &actor).await?;
        match apply(app, batch).await? {
            Commit::Applied => return Ok(()),
            // It has changed meanwhile, or may be canceled: look again.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}
