//! Ends the subscriptions of a person: there is nobody to charge any more.

use regente_domain::actor::Actor;
use regente_domain::id::SubscriptionId;
use regente_domain::subscription::{Refusal, SubscriptionStatus, Trigger};
use regente_store::subscriptions::{self, SubscriptionFilter};
use regente_store::{Batch, Commit};

use super::apply;
use super::pages::ROWS_MAX;
use super::person::Person;
use crate::app::App;
use crate::error::Error;
use crate::queue::Kind;
use crate::races;
use crate::subscriptions::known::{GoesOn, Known};

/// Cancels the subscriptions of the person, with their events; answers how many it were.
pub(super) async fn subscriptions(app: &App, person: &Person) -> Result<usize, Error> {
    let words = SubscriptionStatus::WORDS.iter().map(|(_, status)| *status);
    let alive = words.filter(|status| status.on(Trigger::Cancel).is_some());
    let filter = SubscriptionFilter {
        customers: Some(vec![person.customer_id]),
        statuses: Some(alive.collect()),
        ..SubscriptionFilter::default()
    };
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
