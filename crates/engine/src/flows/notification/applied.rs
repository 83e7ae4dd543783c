//! Applies one event of a notification to the request that it names. An outcome meets the answer of a late call and that
//! of a probe in one place: [`finding`] for authorizations, [`follow_up`] for captures and voids.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, RequestType};
use regente_domain::money::Amount;
use regente_providers::notification::{EventKind, EventSubject, ProviderEvent};
use regente_providers::outcome::Finding;
use regente_store::provider_notifications::ProviderNotification;
use regente_store::transaction_requests::{self, ObjectKind, StoredRequest};

use crate::app::App;
use crate::error::Error;
use crate::flows::finding::NOTIFICATION;
use crate::flows::{card_check, finding, follow_up};

/// Whether an event is part of the records.
pub(super) enum Applied {
    Yes,
    /// This release does not know what to do about it.
    Kept(String),
    /// This process waits for the answer to the request.
    InFlight,
    /// It names no known request of its provider.
    Unmatched,
}

pub(super) async fn apply(
    app: &App,
    notification: &ProviderNotification,
    event: &ProviderEvent,
) -> Result<Applied, Error> {
    let Some(stored) = request_of(app, notification, &event.about).await? else {
        return Ok(Applied::Unmatched);
    };
    match &event.what {
        EventKind::Outcome { finding, settled } => outcome(app, stored, finding.clone(), *settled).await,
        EventKind::ChargedBack
        | EventKind::DisputeOpened
        | EventKind::DisputeWon
        | EventKind::DisputeLost
        | EventKind::RefundReverted => {
            Ok(Applied::Kept(format!("this release does not apply {}", event.what.word())))
        }
    }
}

/// The request that an event names, of the provider that sent it and of no other.
async fn request_of(
    app: &App,
    notification: &ProviderNotification,
    about: &EventSubject,
) -> Result<Option<StoredRequest>, Error> {
    let (client_id, provider_id) = (notification.client_id, notification.provider_id);
    Ok(match about {
        EventSubject::Call { object_id, key } => {
            let requests = transaction_requests::of_object(&app.store, client_id, *object_id).await?;
            requests.into_iter().find(|stored| {
                stored.request.provider_id == provider_id && stored.request.provider_key() == *key
            })
        }
        EventSubject::Reference(reference) => {
            transaction_requests::instructed(&app.store, client_id, provider_id, reference).await?
        }
    })
}

async fn outcome(
    app: &App,
    stored: StoredRequest,
    found: Finding,
    settled: Option<Amount>,
) -> Result<Applied, Error> {
    let request = &stored.request;
    if app.in_flight.contains(request.id) {
        return Ok(Applied::InFlight);
    }
    if let (Finding::Approved(_), Some(settled)) = (&found, settled)
        && settled != request.amount
    {
        let (settled, asked) = (settled.minor_units(), request.amount.minor_units());
        return Ok(Applied::Kept(format!("{settled} was paid instead of {asked}")));
    }
    let outcome = match found {
        Finding::Approved(approval) => Outcome::Approved(approval),
        Finding::Declined(decline) => Outcome::Declined(decline),
        Finding::Pending(pending) if request.request_type.is_authorization() => Outcome::Pending(pending),
        // A capture or a void has no payer: it is sent again until its outcome is known.
        Finding::Pending(_) => return Ok(Applied::Yes),
    };
    let ended = |outcome| request.end(outcome, None, app.clock.of(request.client_id));
    match (stored.object_kind, request.request_type) {
        (ObjectKind::Charge, RequestType::Authorization | RequestType::PreAuthorization) => {
            finding::notified(app, request, outcome).await?;
        }
        (ObjectKind::Charge, RequestType::Capture | RequestType::Void) => {
            let _admission = app.store.admit_waiting().await?;
            follow_up::recover(app, ended(outcome), &Actor::Job(NOTIFICATION)).await?;
        }
        (ObjectKind::Card, _) if request.outcome == Outcome::Open => {
            let _admission = app.store.admit_waiting().await?;
            card_check::recover(app, &stored, ended(outcome), &Actor::Job(NOTIFICATION)).await?;
        }
        (ObjectKind::Card, _) => {}
        (ObjectKind::Charge, RequestType::ZeroDollar | RequestType::ChargeBack) => {
            return Ok(Applied::Kept(format!("a {} has no outcome of its own", request.request_type.word())));
        }
    }
    Ok(Applied::Yes)
}
