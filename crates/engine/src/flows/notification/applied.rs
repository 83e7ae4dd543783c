//! Applies one event of a notification to the request that it names. An outcome meets that of a probe in one place,
//! [`reported`].

use regente_domain::actor::Actor;
use regente_providers::notification::{EventKind, EventSubject, ProviderEvent};
use regente_providers::outcome::Finding;
use regente_store::provider_notifications::ProviderNotification;
use regente_store::transaction_requests::{self, StoredRequest};

use crate::app::App;
use crate::error::Error;
use crate::flows::attempt::Found;
use crate::flows::finding::NOTIFICATION;
use crate::flows::reported;

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
        EventKind::Outcome(finding) => outcome(app, stored, finding.clone()).await,
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

async fn outcome(app: &App, stored: StoredRequest, finding: Finding) -> Result<Applied, Error> {
    let request = &stored.request;
    if app.in_flight.contains(request.id) {
        return Ok(Applied::InFlight);
    }
    let _admission = app.store.admit_waiting().await?;
    let found = Found::of(request, finding);
    reported::apply(app, &stored, found, &Actor::Job(NOTIFICATION)).await?;
    Ok(Applied::Yes)
}
