//! Notifications. The provider does not sign them; it authenticates itself with the user and the password that the
//! merchant has set at the webhook (RFC 7617). It names no time of sending, so an old one is as good as a new one: it
//! has the id of its event, and what it says of a charge is applied once.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use crate::outcome::Finding;

use super::reference::{Mark, Reference};
use super::tell;
use super::wire::told::{Charge, ChargeStatus, Order, PaymentMethod, TransactionStatus};

/// Members of the credentials: what the merchant has entered at the provider's webhook.
const USER: &str = "webhookUser";
const PASSWORD: &str = "webhookPassword";

// The parser's own message could repeat parts of the body.
const NOT_AN_EVENT: NotificationRefusal = NotificationRefusal::NotReadable("it is not the JSON of an event");
const NOT_A_CHARGE: NotificationRefusal = NotificationRefusal::NotReadable("its data is not a charge");
const NOT_AN_ORDER: NotificationRefusal = NotificationRefusal::NotReadable("its data is not an order");
const NO_TIME: NotificationRefusal = NotificationRefusal::NotReadable("its time cannot be read");

/// Kinds that say what became of a charge.
const OF_CHARGES: [&str; 10] = [
    "charge.paid",
    "charge.payment_failed",
    "charge.pending",
    "charge.overpaid",
    "charge.underpaid",
    "charge.refunded",
    "charge.partial_canceled",
    "charge.chargedback",
    "charge.antifraud_approved",
    "charge.antifraud_reproved",
];
/// Kinds that say it of the charges of an order.
const OF_ORDERS: [&str; 3] = ["order.paid", "order.payment_failed", "order.canceled"];
/// Kinds without news.
const SILENT: [&str; 8] = [
    "charge.created",
    "charge.updated",
    "charge.processing",
    "charge.antifraud_pending",
    "charge.antifraud_manual",
    "order.created",
    "order.updated",
    "order.closed",
];

/// The body.
#[derive(Deserialize)]
struct Message {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    data: Value,
}

/// The id alone: whoever may not be the provider is read no further.
#[derive(Deserialize)]
struct MessageId {
    id: String,
}

/// Compares user and password in constant time, so that the duration does not reveal how much of them is right.
pub(super) fn authenticate(request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
    verify(request).ok_or(NotificationRefusal::NotAuthentic)?;
    let message: Option<MessageId> = serde_json::from_slice(request.body).ok();
    Ok(Authentic { id: message.map(|message| message.id), kept_headers: &[] })
}

fn verify(request: &NotificationRequest<'_>) -> Option<()> {
    let known = |member| request.credentials.expose(member).filter(|text| !text.is_empty());
    let expected = Zeroizing::new(format!("{}:{}", known(USER)?, known(PASSWORD)?));
    let (scheme, sent) = request.headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("Basic") {
        return None;
    }
    let sent = Zeroizing::new(STANDARD.decode(sent.trim()).ok()?);
    // Digests have one length, whatever was sent.
    let [expected, sent] = [expected.as_bytes(), &sent].map(|pair| digest(&SHA256, pair));
    verify_slices_are_equal(expected.as_ref(), sent.as_ref()).ok()
}

/// Reads the events. Charges that are not ours have none: other systems may use the merchant's account too.
pub(super) fn events(notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let message: Message = serde_json::from_slice(notification.body).map_err(|_| NOT_AN_EVENT)?;
    let kind = message.kind.as_str();
    if SILENT.contains(&kind) {
        return Ok(Vec::new());
    }
    let charges = if OF_CHARGES.contains(&kind) {
        let charge = Charge::deserialize(&message.data).map_err(|_| NOT_A_CHARGE)?;
        let of_order = charge.order.as_ref().and_then(|order| order.code.clone());
        vec![(of_order.or_else(|| charge.code.clone()), charge)]
    } else if OF_ORDERS.contains(&kind) {
        let order = Order::deserialize(&message.data).map_err(|_| NOT_AN_ORDER)?;
        let code = order.code;
        order.charges.unwrap_or_default().into_iter().map(|charge| (code.clone(), charge)).collect()
    } else {
        return Err(NotificationRefusal::UnknownKind(message.kind));
    };
    let occurred_at = tell::time(&message.created_at).ok_or(NO_TIME)?;
    let mut events = Vec::new();
    for (code, charge) in charges {
        let Some(reference) = code.as_deref().and_then(Reference::parse) else { continue };
        for (key, what) in news(&charge, reference) {
            let about = EventSubject::Call { object_id: reference.object_id, key };
            let id = format!("{} {}", message.id, events.len());
            events.push(ProviderEvent { id, occurred_at, about, what });
        }
    }
    Ok(events)
}

/// What a charge says of the calls that made it what it is, each named by its key. What it says does not depend on the
/// kind of the notification: those of one charge come in any order, and each has the state of its own time.
fn news(charge: &Charge, reference: Reference) -> Vec<(Uuid, EventKind)> {
    match charge.status {
        ChargeStatus::Canceled => {
            let canceled = done_elsewhere(charge).map(|deed| (reference.key, deed));
            voids(charge).into_iter().chain(canceled).collect()
        }
        ChargeStatus::Chargedback => {
            vec![(reference.key, EventKind::Reversal(tell::chargeback(charge)))]
        }
        ChargeStatus::Pending
        | ChargeStatus::Paid
        | ChargeStatus::Overpaid
        | ChargeStatus::Underpaid
        | ChargeStatus::Processing
        | ChargeStatus::Failed
        | ChargeStatus::Other => {
            let outcome =
                tell::finding(charge, None).map(|finding| (reference.key, EventKind::Outcome(finding)));
            let refunded = done_elsewhere(charge).map(|deed| (reference.key, deed));
            let come_back = come_back(charge).map(|reversal| (reference.key, reversal));
            outcome.into_iter().chain(come_back).chain(voids(charge)).chain(refunded).collect()
        }
    }
}

/// That the merchant has the money of a card, which may have been charged back before.
fn come_back(charge: &Charge) -> Option<EventKind> {
    let is_card = match charge.payment_method {
        PaymentMethod::CreditCard | PaymentMethod::DebitCard | PaymentMethod::Voucher => true,
        PaymentMethod::Pix | PaymentMethod::Boleto | PaymentMethod::Other => false,
    };
    let is_paid = charge.status == ChargeStatus::Paid && is_card;
    is_paid.then(|| EventKind::Reversal(tell::come_back(charge)))
}

/// What was canceled or refunded in all. Where our own voids, which are told first, come to less, the merchant has done the
/// rest at the provider's dashboard.
fn done_elsewhere(charge: &Charge) -> Option<EventKind> {
    let last = charge.last_transaction.as_ref()?;
    let kind = match last.status? {
        TransactionStatus::Refunded | TransactionStatus::PartialRefunded => DeedKind::Refunded,
        TransactionStatus::Voided => DeedKind::Released,
        TransactionStatus::AuthorizedPendingCapture
        | TransactionStatus::WaitingCapture
        | TransactionStatus::Captured
        | TransactionStatus::PartialCapture
        | TransactionStatus::NotAuthorized
        | TransactionStatus::Failed
        | TransactionStatus::WithError
        | TransactionStatus::PartialVoid
        | TransactionStatus::PendingRefund
        | TransactionStatus::WaitingPayment
        | TransactionStatus::Generated
        | TransactionStatus::Viewed
        | TransactionStatus::Paid
        | TransactionStatus::Other => return None,
    };
    let much = match charge.status {
        ChargeStatus::Canceled => Much::Everything,
        ChargeStatus::Pending
        | ChargeStatus::Paid
        | ChargeStatus::Overpaid
        | ChargeStatus::Underpaid
        | ChargeStatus::Processing
        | ChargeStatus::Failed
        | ChargeStatus::Chargedback
        | ChargeStatus::Other => Much::UpTo(charge.canceled_amount?),
    };
    let id = last.id.clone().unwrap_or_else(|| format!("canceled {}", charge.id));
    Some(EventKind::DoneElsewhere(Deed { kind, id, much, currency: charge.currency() }))
}

/// The void that has made the canceled amount what it is. A void that was refused leaves a mark too, and one for the same sum
/// may come after it: the newest has done it, since a void is only asked for when the one before it has ended.
fn voids(charge: &Charge) -> Vec<(Uuid, EventKind)> {
    let Some(metadata) = charge.metadata.as_ref() else { return Vec::new() };
    let of_sum = Mark::all(metadata).filter(|(_, mark)| mark.sum() == charge.canceled_amount);
    let newest = of_sum.max_by_key(|(_, mark)| mark.at);
    newest
        .map(|(key, _)| (key, EventKind::Outcome(Finding::Approved(tell::done(charge)))))
        .into_iter()
        .collect()
}
