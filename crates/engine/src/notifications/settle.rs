//! Settles a stored notification: what it says is applied, or kept where this release does not know what to do about it.
//! A notification that names no known request waits: the provider may be faster than the batch with its answer.

use std::time::Duration;

use regente_domain::charge::reversal::ReversalReason;
use regente_domain::time::Timestamp;
use regente_providers::notification::NotificationRefusal;
use regente_store::jobs::Job;
use regente_store::provider_notifications::{self, ProviderNotification, State, Wait};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::metrics::{self, NotificationOutcome};
use crate::notifications::apply::{Applied, apply, happens_to};
use crate::notifications::stored::events_of;
use crate::queue::Ended;

/// How soon a notification is tried again while this process waits for the answer to the very request.
const IN_FLIGHT_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The shortest and the longest wait of a notification that names no known request, or comes too early.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60 * 60));
/// How long a notification may name no known request before it is put aside.
const UNMATCHED_FOR_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Most notifications that are settled before a later one. The others have their own jobs.
const EARLIER_MAX: i64 = 16;
/// How long a notification may wait for a payment or a refund that is under way.
const UNDER_WAY_FOR_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a notification may wait in all: for what is under way, and for what follows it.
const WAITS_FOR_MAX: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// The job of one notification. It is idempotent: a notification that was applied before its process died is applied
/// again, without effect.
pub async fn settle(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: "the payload names no notification".to_owned() });
    };
    let Some(stored) = provider_notifications::find(&app.store, job.client_id, id).await? else {
        return Ok(Ended::Finished);
    };
    if stored.state != State::Waiting {
        return Ok(Ended::Finished);
    }
    let now = app.clock.of(job.client_id);
    settle_earlier(app, &stored).await?;
    let (state, why) = match take_in(app, &stored).await? {
        Taken::Settled(state, why) => (state, why),
        Taken::InFlight => return Ok(Ended::Again { at: now + IN_FLIGHT_AGAIN_AFTER }),
        Taken::Unmatched if now.since(stored.received_at) < UNMATCHED_FOR_MAX => {
            return Ok(again(&stored, now));
        }
        Taken::Unmatched => (State::Unmatched, Some("it names no request of the provider".to_owned())),
        Taken::TooEarly(early) => {
            let wait = early.wait(&stored, now);
            if !has_waited_in_vain(&stored, &wait, now) {
                note_wait(app, &stored, &wait).await?;
                return Ok(again(&stored, now));
            }
            give_up(&stored, &wait);
            (State::Kept, Some(format!("it has waited in vain: {}", wait.reason.word())))
        }
    };
    note(app, &stored, state, why.as_deref()).await?;
    Ok(Ended::Finished)
}

/// What became of a notification.
enum Taken {
    Settled(State, Option<String>),
    /// This process waits for the answer to the very request, which says the same.
    InFlight,
    /// One of its events names no known request.
    Unmatched,
    /// One of its events follows something that is not known yet.
    TooEarly(Early),
}

/// An event that comes too early.
struct Early {
    reason: ReversalReason,
    object_id: Uuid,
    occurred_at: Timestamp,
}

impl Early {
    /// What its notification waits for now: since this moment, unless it has waited for the same.
    fn wait(&self, stored: &ProviderNotification, now: Timestamp) -> Wait {
        let Self { reason, object_id, occurred_at } = *self;
        let since = stored.waits.filter(|(before, _)| *before == reason).map_or(now, |(_, since)| since);
        Wait { reason, since, object_id, occurred_at }
    }
}

/// What waits about the same object and happened before is settled first, so that the history has it in order.
async fn settle_earlier(app: &App, stored: &ProviderNotification) -> Result<(), Error> {
    let Ok(events) = events_of(app, stored).await? else { return Ok(()) };
    for event in &events {
        let Some(object_id) = happens_to(app, stored, event).await? else { continue };
        let before = event.occurred_at;
        let earlier =
            provider_notifications::waiting(&app.store, stored.client_id, object_id, before, EARLIER_MAX);
        for id in earlier.await? {
            let found = provider_notifications::find(&app.store, stored.client_id, id).await?;
            let Some(earlier) = found.filter(|earlier| earlier.state == State::Waiting) else { continue };
            if let Taken::Settled(state, why) = take_in(app, &earlier).await? {
                note(app, &earlier, state, why.as_deref()).await?;
            }
        }
    }
    Ok(())
}

async fn take_in(app: &App, stored: &ProviderNotification) -> Result<Taken, Error> {
    let events = match events_of(app, stored).await? {
        Ok(events) => events,
        Err(NotificationRefusal::UnknownKind(_)) => {
            return Ok(Taken::Settled(State::Kept, Some("its kind is unknown".to_owned())));
        }
        Err(
            refusal @ (NotificationRefusal::NotSupported
            | NotificationRefusal::NotAuthentic
            | NotificationRefusal::TooLong
            | NotificationRefusal::NotReadable(_)),
        ) => return Ok(Taken::Settled(State::Kept, Some(refusal.to_string()))),
    };
    let mut settled = Taken::Settled(State::Applied, None);
    let mut waits = None;
    for event in events {
        match apply(app, stored, &event).await? {
            Applied::Yes => {}
            Applied::Kept(why) => settled = Taken::Settled(State::Kept, Some(why)),
            Applied::InFlight => return Ok(Taken::InFlight),
            Applied::Unmatched => waits = Some(Taken::Unmatched),
            Applied::TooEarly(reason, object_id) => {
                let occurred_at = event.occurred_at;
                waits = Some(Taken::TooEarly(Early { reason, object_id, occurred_at }));
            }
        }
    }
    Ok(waits.unwrap_or(settled))
}

/// A notification waits as long again as it has waited, whatever for: a provider that gives two answers in turns would be asked
/// all the time otherwise.
fn again(stored: &ProviderNotification, now: Timestamp) -> Ended {
    let (shortest, longest) = WAITS;
    Ended::Again { at: now + now.since(stored.received_at).clamp(shortest, longest) }
}

/// Whether it has waited long enough for the same, or for one thing after the other.
fn has_waited_in_vain(stored: &ProviderNotification, wait: &Wait, now: Timestamp) -> bool {
    now.since(wait.since) >= too_early_for_max(wait.reason) || now.since(stored.received_at) >= WAITS_FOR_MAX
}

/// How long a notification waits for what it follows.
const fn too_early_for_max(reason: ReversalReason) -> Duration {
    match reason {
        ReversalReason::UnderWay => UNDER_WAY_FOR_MAX,
        ReversalReason::NoSuchDispute
        | ReversalReason::State
        | ReversalReason::OtherPayment
        | ReversalReason::MoreThanRefunded
        | ReversalReason::MoreThanTaken
        | ReversalReason::OtherCurrency
        | ReversalReason::CapturedBefore
        | ReversalReason::Unconfirmed => UNMATCHED_FOR_MAX,
    }
}

/// What a provider has told of a charge does not show in it: the operator must look.
fn give_up(stored: &ProviderNotification, wait: &Wait) {
    metrics::provider_report_given_up();
    tracing::error!(
        alert = "provider_report_given_up", notification = %stored.id, provider = %stored.provider_id,
        client = %stored.client_id, object = %wait.object_id, reason = wait.reason.word(),
        "what a provider has told of a payment has waited in vain: the operator must look"
    );
}

async fn note_wait(app: &App, stored: &ProviderNotification, wait: &Wait) -> Result<(), Error> {
    if stored.waits == Some((wait.reason, wait.since)) {
        return Ok(());
    }
    let _admission = app.store.admit_waiting().await?;
    let mut batch = Batch::new(stored.client_id);
    provider_notifications::wait(&mut batch, stored.id, wait);
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // The job runs again and notes it.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}

async fn note(
    app: &App,
    stored: &ProviderNotification,
    state: State,
    why: Option<&str>,
) -> Result<(), Error> {
    let _admission = app.store.admit_waiting().await?;
    let mut batch = Batch::new(stored.client_id);
    let now = app.clock.of(stored.client_id);
    provider_notifications::settle(&mut batch, stored.id, state, why, now);
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // The job runs again and settles it.
        Commit::Refused(_) | Commit::Unknown => return Err(Error::unavailable()),
    }
    let outcome = match state {
        State::Waiting | State::Applied => NotificationOutcome::Applied,
        State::Kept => NotificationOutcome::Kept,
        State::Unmatched => NotificationOutcome::Unmatched,
    };
    metrics::provider_notification(stored.provider_type, outcome);
    if let Some(why) = why {
        tracing::warn!(
            notification = %stored.id, provider = %stored.provider_id, client = %stored.client_id,
            state = state.word(), why, "a notification of a provider changed nothing"
        );
    }
    Ok(())
}
