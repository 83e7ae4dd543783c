//! Applies one event of a notification to the request that it names. An outcome meets that of a probe in one place,
//! [`provider_report`].

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, ToldBy};
use regente_domain::charge::elsewhere::Deed;
use regente_domain::charge::reversal::ReversalReason;
use regente_domain::charge::{FailedCapture, failed_capture};
use regente_domain::decline::Decline;
use regente_domain::id::Id;
use regente_providers::notification::{EventKind, EventSubject, ProviderEvent};
use regente_providers::outcome::{Finding, Reversal};
use regente_store::provider_notifications::ProviderNotification;
use regente_store::transaction_requests::{self, ObjectKind, StoredRequest};
use uuid::Uuid;

use crate::app::App;
use crate::captures_and_voids::done_elsewhere;
use crate::charges::approval_revoked::{self, Confirmed, Refused};
use crate::charges::late_answer::NOTIFICATION;
use crate::charges::provider_report;
use crate::charges::stored::{self, Ran};
use crate::error::Error;
use crate::transaction_requests::call::ProviderReport;
use crate::{disputes, sellers};

const NO_MONEY: &str = "the check of a card takes no money";

/// Whether an event is part of the records.
pub(super) enum Applied {
    Yes,
    /// It changes nothing, for this reason.
    Kept(String),
    /// It is applied once something else is known about this object.
    TooEarly(ReversalReason, Uuid),
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
    if let EventKind::Seller(_) = &event.what {
        return seller(app, notification, &event.about).await;
    }
    let Some(stored) = request_of(app, notification, &event.about).await? else {
        return Ok(Applied::Unmatched);
    };
    match &event.what {
        EventKind::Outcome(finding) => {
            let found = told(app, &stored, finding.clone(), event);
            outcome(app, stored, found, Refused::At(event.occurred_at)).await
        }
        EventKind::Revoked(decline) => {
            let found = told(app, &stored, Finding::Declined(decline.clone()), event);
            outcome(app, stored, found, Refused::AfterApproval).await
        }
        EventKind::CaptureFailed { decline, payment } => {
            capture_failed(app, stored, (decline, payment.as_deref()), event).await
        }
        EventKind::Reversal(what) => {
            let occurred_at = what.occurred_at.or(Some(event.occurred_at));
            reversal(app, stored, &Reversal { occurred_at, ..what.clone() }).await
        }
        EventKind::DoneElsewhere(deed) => done_elsewhere(app, stored, deed).await,
        EventKind::Seller(_) => Ok(Applied::Kept("it is about a seller".to_owned())),
    }
}

/// The object with which something is said to have happened after it was taken; `None` for other events.
pub(super) async fn happens_to(
    app: &App,
    notification: &ProviderNotification,
    event: &ProviderEvent,
) -> Result<Option<Uuid>, Error> {
    Ok(match event.what {
        EventKind::Reversal(_) => {
            request_of(app, notification, &event.about).await?.map(|stored| stored.request.object_id)
        }
        EventKind::Outcome(_)
        | EventKind::Revoked(_)
        | EventKind::CaptureFailed { .. }
        | EventKind::DoneElsewhere(_)
        | EventKind::Seller(_) => None,
    })
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
            transaction_requests::by_reference(&app.store, client_id, provider_id, reference).await?
        }
    })
}

/// A seller stands differently: the job of its registration asks the provider how, since notifications come in any order.
async fn seller(
    app: &App,
    notification: &ProviderNotification,
    about: &EventSubject,
) -> Result<Applied, Error> {
    let (client_id, provider_id) = (notification.client_id, notification.provider_id);
    let EventSubject::Call { object_id, key } = about else { return Ok(Applied::Unmatched) };
    let _admission = app.store.admit_waiting().await?;
    let is_known = sellers::look_again(app, client_id, Id::new(*object_id), (provider_id, *key)).await?;
    Ok(if is_known { Applied::Yes } else { Applied::Unmatched })
}

fn told(app: &App, stored: &StoredRequest, finding: Finding, event: &ProviderEvent) -> ProviderReport {
    ProviderReport {
        occurred_at: Some(event.occurred_at),
        told_by: Some(ToldBy::Notification),
        ..ProviderReport::of(app, &stored.request, finding)
    }
}

async fn outcome(
    app: &App,
    stored: StoredRequest,
    mut found: ProviderReport,
    refused: Refused,
) -> Result<Applied, Error> {
    let request = &stored.request;
    if app.in_flight.contains(request.id) {
        return Ok(Applied::InFlight);
    }
    let _admission = app.store.admit_waiting().await?;
    let mut takes_back = None;
    if let (ObjectKind::Charge, Outcome::Declined(decline)) = (stored.object_kind, &found.outcome) {
        match approval_revoked::confirm(app, request, decline, refused).await? {
            Confirmed::AsTold { takes_back: approval } => takes_back = approval,
            Confirmed::Says { found: says, takes_back: approval } => {
                (found, takes_back) = (*says, Some(approval));
            }
            Confirmed::No(why) => return Ok(Applied::Kept(why.to_owned())),
            Confirmed::Denied => {
                return Ok(Applied::TooEarly(ReversalReason::Unconfirmed, request.object_id));
            }
            Confirmed::Unanswered => {
                return Ok(Applied::TooEarly(ReversalReason::UnderWay, request.object_id));
            }
        }
    }
    Ok(match provider_report::apply(app, &stored, found, takes_back, &Actor::Job(NOTIFICATION)).await? {
        provider_report::Applied::Yes => Applied::Yes,
        provider_report::Applied::TooEarly => Applied::TooEarly(ReversalReason::UnderWay, request.object_id),
        provider_report::Applied::LeftToOperator(status) => {
            Applied::Kept(format!("it refuses what was approved, and the charge is {}", status.word()))
        }
    })
}

/// Of a capture by hand there is a request, once it was told as done; of one that the provider has made by itself there is
/// none, and the payment is refused.
async fn capture_failed(
    app: &App,
    stored: StoredRequest,
    (decline, payment): (&Decline, Option<&str>),
    event: &ProviderEvent,
) -> Result<Applied, Error> {
    if stored.object_kind == ObjectKind::Card {
        return Ok(Applied::Kept(NO_MONEY.to_owned()));
    }
    let Ran { requests, .. } = stored::whole_of(app, &stored.request).await?;
    let (stored, decline) =
        match failed_capture(&requests, &stored.request, decline.transaction_id.as_deref()) {
            FailedCapture::Recorded(capture) => {
                (StoredRequest { request: capture.clone(), ..stored }, decline.clone())
            }
            FailedCapture::ByItself => {
                let transaction_id = payment.map(str::to_owned).or_else(|| decline.transaction_id.clone());
                (stored, Decline { transaction_id, ..decline.clone() })
            }
            FailedCapture::NotTold => {
                return Ok(Applied::TooEarly(ReversalReason::State, stored.request.object_id));
            }
        };
    let found = told(app, &stored, Finding::Declined(decline), event);
    outcome(app, stored, found, Refused::AfterApproval).await
}

async fn done_elsewhere(app: &App, stored: StoredRequest, deed: &Deed) -> Result<Applied, Error> {
    let request = &stored.request;
    if app.in_flight.contains(request.id) {
        return Ok(Applied::InFlight);
    }
    if stored.object_kind == ObjectKind::Card {
        return Ok(Applied::Kept(NO_MONEY.to_owned()));
    }
    let _admission = app.store.admit_waiting().await?;
    Ok(match done_elsewhere::apply(app, request, deed, &Actor::Job(NOTIFICATION)).await? {
        disputes::Applied::Yes => Applied::Yes,
        disputes::Applied::TooEarly(reason) => Applied::TooEarly(reason, request.object_id),
        disputes::Applied::Refused(reason) => {
            Applied::Kept(format!("{} is refused: {}", deed.kind.word(), reason.word()))
        }
    })
}

async fn reversal(app: &App, stored: StoredRequest, what: &Reversal) -> Result<Applied, Error> {
    let request = &stored.request;
    if app.in_flight.contains(request.id) {
        return Ok(Applied::InFlight);
    }
    if stored.object_kind == ObjectKind::Card {
        return Ok(Applied::Kept(NO_MONEY.to_owned()));
    }
    let _admission = app.store.admit_waiting().await?;
    Ok(match disputes::apply(app, request, what, &Actor::Job(NOTIFICATION)).await? {
        disputes::Applied::Yes => Applied::Yes,
        disputes::Applied::TooEarly(reason) => Applied::TooEarly(reason, request.object_id),
        disputes::Applied::Refused(reason) => {
            Applied::Kept(format!("{} is refused: {}", what.kind.word(), reason.word()))
        }
    })
}
