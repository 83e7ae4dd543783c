//! Notifications of the provider: signed with a secret of the merchant's endpoint, one event each.

use std::time::Duration;

use aws_lc_rs::hmac;
use http::{HeaderMap, HeaderName};
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::time::Timestamp;
use serde::de::DeserializeOwned;

use super::wire::{
    CaptureMethod, Charge, Dispute, DisputeStatus, Event, Metadata, PaymentIntent, Refund, RefundStatus,
    SetupIntent, member,
};
use super::{currency, tell};
use crate::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use crate::outcome::{Finding, Reversal, ReversalKind};

/// The header with the time and the signatures: `t=<seconds>,v1=<hexadecimal>,v1=…`.
const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("stripe-signature");
/// How far the time of a signature may be from that of its arrival.
const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(5 * 60);
/// The member of the credentials with the secrets of the endpoint, separated by commas: two while one replaces the other.
pub(super) const WEBHOOK_SECRET: &str = "webhookSecret";

// The parser's own message could repeat parts of the body.
const NOT_AN_EVENT: NotificationRefusal = NotificationRefusal::NotReadable("it is not the JSON of an event");
const NOT_ITS_OBJECT: NotificationRefusal = NotificationRefusal::NotReadable("its object is not of its kind");
const NO_TIME: NotificationRefusal = NotificationRefusal::NotReadable("its time is none");
const NO_CURRENCY: NotificationRefusal = NotificationRefusal::NotReadable("its currency is none");
const NO_PAYMENT: NotificationRefusal = NotificationRefusal::NotReadable("its dispute names no payment");

/// Checks the signature in constant time, with each secret, and its age.
pub(super) fn authenticate(request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
    verify(request).ok_or(NotificationRefusal::NotAuthentic)?;
    let event: Option<Event> = serde_json::from_slice(request.body).ok();
    Ok(Authentic { id: event.map(|event| event.id), kept_headers: &[] })
}

fn verify(request: &NotificationRequest<'_>) -> Option<()> {
    let Signed { at, seconds, signatures } = Signed::of(request.headers)?;
    let distance = request.now.since(at).max(at.since(request.now));
    if distance > SIGNATURE_AGE_MAX {
        return None;
    }
    let mut signed = format!("{seconds}.").into_bytes();
    signed.extend_from_slice(request.body);
    let secrets = request.credentials.expose(WEBHOOK_SECRET)?.split(',').map(str::trim);
    let is_signed = secrets.filter(|secret| !secret.is_empty()).any(|secret| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        signatures.iter().any(|signature| hmac::verify(&key, &signed, signature).is_ok())
    });
    is_signed.then_some(())
}

/// What the header says.
struct Signed<'a> {
    at: Timestamp,
    /// As it is signed.
    seconds: &'a str,
    signatures: Vec<Vec<u8>>,
}

impl<'a> Signed<'a> {
    fn of(headers: &'a HeaderMap) -> Option<Self> {
        let members = headers.get(SIGNATURE_HEADER)?.to_str().ok()?.split(',');
        let members: Vec<_> = members.filter_map(|member| member.trim().split_once('=')).collect();
        let (_, seconds) = members.iter().find(|(name, _)| *name == "t")?;
        let at = Timestamp::from_seconds(seconds.parse().ok()?)?;
        let signatures = members.iter().filter(|(scheme, _)| *scheme == "v1");
        Some(Self {
            at,
            seconds,
            signatures: signatures.filter_map(|(_, hex)| hex::decode(hex).ok()).collect(),
        })
    }
}

/// Reads the events. A notification about something that another system of the merchant has made says nothing to us.
pub(super) fn events(notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let event: Event = serde_json::from_slice(notification.body).map_err(|_| NOT_AN_EVENT)?;
    let said = match event.kind.as_str() {
        "payment_intent.succeeded" => taken(&read(&event)?),
        "payment_intent.amount_capturable_updated"
        | "payment_intent.payment_failed"
        | "payment_intent.requires_action" => vec![authorized(&read(&event)?)],
        "payment_intent.canceled" => vec![canceled(&event, &read(&event)?)],
        "payment_intent.created" | "payment_intent.processing" | "payment_intent.partially_funded" => {
            Vec::new()
        }
        "setup_intent.succeeded" | "setup_intent.setup_failed" => vec![checked(&read(&event)?)],
        "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
            vec![refunded(&read(&event)?)]
        }
        "charge.refunded" => {
            let charge: Charge = read(&event)?;
            charge.refunds.iter().flat_map(|refunds| &refunds.data).map(refunded).collect()
        }
        "charge.dispute.created" | "charge.dispute.closed" => vec![disputed(&event, &read(&event)?)?],
        "charge.dispute.updated" | "charge.dispute.funds_withdrawn" | "charge.dispute.funds_reinstated" => {
            Vec::new()
        }
        _ => return Err(NotificationRefusal::UnknownKind(event.kind)),
    };
    let occurred_at = Timestamp::from_seconds(event.created).ok_or(NO_TIME)?;
    let of_ours = said.into_iter().flatten();
    let numbered = of_ours.enumerate().map(|(number, (about, what))| {
        // A charge is told with all of its refunds.
        let id = if number == 0 { event.id.clone() } else { format!("{}-{number}", event.id) };
        ProviderEvent { id, occurred_at, about, what }
    });
    Ok(numbered.collect())
}

/// Whom an event is about and what it says; `None` when it is not ours or says nothing yet.
type Said = Option<(EventSubject, EventKind)>;

fn read<T: DeserializeOwned>(event: &Event) -> Result<T, NotificationRefusal> {
    T::deserialize(&event.data.object).map_err(|_| NOT_ITS_OBJECT)
}

/// The call that has this member for its key.
fn call(metadata: &Metadata, key: &str) -> Option<EventSubject> {
    let object_id = metadata.uuid(member::OBJECT_ID)?;
    Some(EventSubject::Call { object_id, key: metadata.uuid(key)? })
}

/// The money is taken, at once or by a capture, of ours or by hand.
fn taken(intent: &PaymentIntent) -> Vec<Said> {
    match call(&intent.metadata, member::CAPTURE_KEY) {
        Some(capture) => {
            vec![Some((capture, EventKind::Outcome(Finding::Approved(tell::approval(intent)))))]
        }
        None => vec![authorized(intent), captured_elsewhere(intent)],
    }
}

/// What was reserved for us is captured, and none of our captures has done it.
fn captured_elsewhere(intent: &PaymentIntent) -> Said {
    call(&intent.metadata, member::KEY)?;
    let amount = intent.amount_received.filter(|_| intent.capture_method == Some(CaptureMethod::Manual))?;
    let (amount, currency) =
        (currency::received(amount, &intent.currency)?, Some(currency::parse(&intent.currency)?));
    let id = format!("captured {}", intent.id);
    let deed = Deed { kind: DeedKind::Captured, id, much: Much::This(amount), currency };
    Some((EventSubject::Reference(intent.id.clone()), EventKind::DoneElsewhere(deed)))
}

fn authorized(intent: &PaymentIntent) -> Said {
    let about = call(&intent.metadata, member::KEY)?;
    let finding = tell::finding(intent, None)?;
    // Only a probe sees whether the issuer is liable, and gives the money back where it is not.
    if intent.metadata.requires_shift() && matches!(finding, Finding::Approved(_)) {
        return None;
    }
    Some((about, EventKind::Outcome(finding)))
}

/// A void of ours, or an end without us.
fn canceled(event: &Event, intent: &PaymentIntent) -> Said {
    let object_id = intent.metadata.uuid(member::OBJECT_ID)?;
    match event.caused_by() {
        Some(key) => {
            let outcome = EventKind::Outcome(Finding::Approved(tell::approval(intent)));
            Some((EventSubject::Call { object_id, key }, outcome))
        }
        None => authorized(intent),
    }
}

fn checked(setup: &SetupIntent) -> Said {
    Some((call(&setup.metadata, member::KEY)?, EventKind::Outcome(tell::checked(setup)?)))
}

fn refunded(refund: &Refund) -> Said {
    match call(&refund.metadata, member::KEY) {
        Some(about) => Some((about, EventKind::Outcome(tell::refunded(refund)?))),
        None => refunded_elsewhere(refund),
    }
}

/// A refund that nobody here has asked for: it names the payment by the provider's id. One that fails is named by its own,
/// since it counts only where the refund was counted.
fn refunded_elsewhere(refund: &Refund) -> Said {
    if refund.metadata.uuid(member::UNDONE_KEY).is_some() {
        return None;
    }
    let (id, amount) = (refund.id.clone(), currency::received(refund.amount, &refund.currency)?);
    let currency = Some(currency::parse(&refund.currency)?);
    match refund.status? {
        RefundStatus::Succeeded => {
            let deed = Deed { kind: DeedKind::Refunded, id, much: Much::This(amount), currency };
            Some((EventSubject::Reference(refund.payment_intent.clone()?), EventKind::DoneElsewhere(deed)))
        }
        RefundStatus::Failed | RefundStatus::Canceled => {
            let about = EventSubject::Reference(id.clone());
            let reverted = Reversal::new(ReversalKind::RefundReverted, id, Some(amount));
            Some((about, EventKind::Reversal(Reversal { currency, ..reverted })))
        }
        RefundStatus::Pending | RefundStatus::RequiresAction | RefundStatus::Other => None,
    }
}

/// A dispute has no metadata of the payment: it names the payment by the provider's id.
fn disputed(event: &Event, dispute: &Dispute) -> Result<Said, NotificationRefusal> {
    let kind = match (event.kind.as_str(), dispute.status) {
        ("charge.dispute.created", _) => ReversalKind::DisputeOpened,
        (_, DisputeStatus::Won | DisputeStatus::WarningClosed) => ReversalKind::DisputeWon,
        (_, DisputeStatus::Lost) => ReversalKind::DisputeLost,
        (_, DisputeStatus::Other) => return Err(NotificationRefusal::UnknownKind(event.kind.clone())),
    };
    let about = EventSubject::Reference(dispute.payment_intent.clone().ok_or(NO_PAYMENT)?);
    let amount = currency::received(dispute.amount, &dispute.currency);
    let currency = Some(currency::parse(&dispute.currency).ok_or(NO_CURRENCY)?);
    let reversal = Reversal { currency, ..Reversal::new(kind, dispute.id.clone(), amount) };
    Ok(Some((about, EventKind::Reversal(reversal))))
}
