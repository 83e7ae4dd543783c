//! Notifications of the provider (standard webhooks): what is signed, and which events an item tells of. What is not signed
//! decides nothing about money: texts of it are kept.

use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::money::Amount;

use super::currency;
use super::declines::{self, Refusal};
use super::reference::Reference;
use crate::notification::{EventKind, EventSubject, Notification, NotificationRefusal, ProviderEvent};
use crate::outcome::{Approval, Finding, PayerPayment, Reversal, ReversalKind};
use crate::request::OperationKind;
use message::{Item, Message};

mod message;
mod signature;

pub(super) use signature::{authenticate, has_valid_key};

// The parser's own message could repeat parts of the body.
const NOT_A_MESSAGE: NotificationRefusal =
    NotificationRefusal::NotReadable("it is not the JSON of a notification");
const NOT_OURS: NotificationRefusal =
    NotificationRefusal::NotReadable("its reference is of no request of ours");
const NO_DATE: NotificationRefusal = NotificationRefusal::NotReadable("it has no date");
const NO_AMOUNT: NotificationRefusal = NotificationRefusal::NotReadable("its amount is none");

/// What an event code says.
#[derive(Clone, Copy)]
enum Says {
    /// How an authorization ended.
    Authorization,
    /// Nobody can complete the payment any more.
    Closed,
    /// How a capture ended.
    Capture,
    /// A capture that had succeeded has failed.
    CaptureFailed,
    /// How a cancellation or refund ended.
    Void,
    /// A refund waits for the capture.
    Postponed,
    /// Money was refunded and is back.
    RefundReverted,
    /// A dispute went on.
    Dispute(ReversalKind),
}

/// The codes that say something of a charge; all others are kept and change nothing.
const CODES: [(&str, Says); 25] = [
    ("AUTHORISATION", Says::Authorization),
    ("OFFER_CLOSED", Says::Closed),
    ("CAPTURE", Says::Capture),
    ("CAPTURE_FAILED", Says::CaptureFailed),
    ("CANCELLATION", Says::Void),
    ("CANCEL_OR_REFUND", Says::Void),
    ("TECHNICAL_CANCEL", Says::Void),
    ("REFUND", Says::Void),
    ("POSTPONED_REFUND", Says::Postponed),
    ("REFUND_FAILED", Says::RefundReverted),
    ("REFUNDED_REVERSED", Says::RefundReverted),
    ("NOTIFICATION_OF_CHARGEBACK", Says::Dispute(ReversalKind::DisputeOpened)),
    // The money is away, whether or not the merchant can defend themselves, which is not signed. It comes back if they win.
    ("CHARGEBACK", Says::Dispute(ReversalKind::ChargedBack)),
    ("CHARGEBACK_REVERSED", Says::Dispute(ReversalKind::DisputeWon)),
    ("ISSUER_RESPONSE_TIMEFRAME_EXPIRED", Says::Dispute(ReversalKind::DisputeWon)),
    ("SECOND_CHARGEBACK", Says::Dispute(ReversalKind::DisputeLost)),
    ("DISPUTE_DEFENSE_PERIOD_ENDED", Says::Dispute(ReversalKind::DisputeLost)),
    ("PREARBITRATION_OPEN", Says::Dispute(ReversalKind::DisputeOpened)),
    ("PREARBITRATION_WON", Says::Dispute(ReversalKind::DisputeWon)),
    ("PREARBITRATION_ISSUER_WITHDRAWN", Says::Dispute(ReversalKind::DisputeWon)),
    ("PREARBITRATION_LOST", Says::Dispute(ReversalKind::DisputeLost)),
    ("PREARBITRATION_ACCEPTED", Says::Dispute(ReversalKind::DisputeLost)),
    ("SCHEME_ARBITRATION", Says::Dispute(ReversalKind::DisputeOpened)),
    ("SCHEME_ARBITRATION_WON", Says::Dispute(ReversalKind::DisputeWon)),
    ("SCHEME_ARBITRATION_LOST", Says::Dispute(ReversalKind::DisputeLost)),
];

/// Reads the events. Of several items those that say nothing are left out; a notification without any event is refused for
/// the reason of its first item.
pub(super) fn events(notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let message = Message::read(notification.body).ok_or(NOT_A_MESSAGE)?;
    let items = match message {
        Message::Standard(items) => items,
        Message::Other { kind } => return Err(NotificationRefusal::UnknownKind(kind)),
    };
    let (mut events, mut refusal) = (Vec::new(), None);
    for item in &items {
        match events_of(item) {
            Ok(told) => events.extend(told),
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    match (events.is_empty(), refusal) {
        (true, Some(refusal)) => Err(refusal),
        (true, None) | (false, _) => Ok(events),
    }
}

fn events_of(item: &Item) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let unknown = || NotificationRefusal::UnknownKind(item.event_code.clone());
    let (_, says) = CODES.iter().find(|(code, _)| *code == item.event_code).ok_or_else(unknown)?;
    let Some(named) = item.merchant_reference.as_deref().and_then(Reference::parse) else {
        return done_elsewhere(item, *says);
    };
    let (pays, gives_back) = match named.operation {
        OperationKind::Authorization | OperationKind::ZeroDollar => (true, false),
        OperationKind::Capture => (false, false),
        OperationKind::Void => (false, true),
    };
    let takes = named.operation == OperationKind::Capture;
    let outcome = |finding| Ok(vec![EventKind::Outcome(finding)]);
    let told = match says {
        Says::Authorization if pays => outcome(authorization(item, named.operation)?),
        Says::Closed if pays && item.success => outcome(Finding::Declined(closed(item))),
        Says::Capture if takes => outcome(done(item)),
        // Also after it was confirmed.
        Says::CaptureFailed if takes => Ok(vec![EventKind::Revoked(failed(item))]),
        Says::CaptureFailed if pays => Ok(vec![capture_failed(item)]),
        Says::Void if gives_back => outcome(done(item)),
        // Cancelled by our reference of the payment: it takes no money any more.
        Says::Void if pays && item.event_code == "TECHNICAL_CANCEL" && item.success => {
            outcome(Finding::Declined(of_payment(item, closed(item))))
        }
        // By hand, in the Customer Area: it repeats the reference of the payment.
        Says::Capture | Says::Void if pays && item.success => Ok(vec![deed(item, *says)?]),
        Says::Postponed if gives_back => outcome(Finding::Accepted(approval(item))),
        Says::RefundReverted if gives_back || pays => Ok(vec![reversal(item, ReversalKind::RefundReverted)?]),
        Says::Dispute(kind) if item.success => Ok(vec![reversal(item, *kind)?]),
        Says::Authorization
        | Says::Closed
        | Says::Capture
        | Says::CaptureFailed
        | Says::Void
        | Says::Postponed
        | Says::RefundReverted
        | Says::Dispute(_) => Err(unknown()),
    }?;
    let about = EventSubject::Call { object_id: named.object_id, key: named.key };
    told.into_iter().map(|what| event(item, about.clone(), what)).collect()
}

fn event(item: &Item, about: EventSubject, what: EventKind) -> Result<ProviderEvent, NotificationRefusal> {
    let occurred_at = item.occurred_at().ok_or(NO_DATE)?;
    Ok(ProviderEvent { id: item.id(), occurred_at, about, what })
}

/// What another system of the merchant has done, under a reference of its own: a payment of ours is named by the provider's
/// id alone.
fn done_elsewhere(item: &Item, says: Says) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let named = |id: &Option<String>| id.clone().filter(|id| !id.is_empty()).ok_or(NOT_OURS);
    let (about, what) = match says {
        Says::Capture | Says::Void if item.success => (named(&item.original_reference)?, deed(item, says)?),
        Says::CaptureFailed => (named(&item.original_reference)?, capture_failed(item)),
        // It counts only where the refund was counted.
        Says::RefundReverted => (named(&item.psp_reference)?, reversal(item, ReversalKind::RefundReverted)?),
        Says::Capture
        | Says::Void
        | Says::Authorization
        | Says::Closed
        | Says::Postponed
        | Says::Dispute(_) => return Err(NOT_OURS),
    };
    Ok(vec![event(item, EventSubject::Reference(about), what)?])
}

/// A capture, a cancellation or a refund that nobody here has asked for.
fn deed(item: &Item, says: Says) -> Result<EventKind, NotificationRefusal> {
    let (amount, currency) = money(item)?;
    let (kind, much) = match (says, item.event_code.as_str()) {
        (Says::Capture, _) => (DeedKind::Captured, Much::This(amount)),
        (_, "REFUND") => (DeedKind::Refunded, Much::This(amount)),
        _ => (DeedKind::Released, Much::Everything),
    };
    let id = item.psp_reference.clone().unwrap_or_default();
    Ok(EventKind::DoneElsewhere(Deed { kind, id, much, currency: Some(currency) }))
}

/// Whoever pays a Pix or a boleto may pay another amount than was asked for. How it was paid is not signed, so the amount of
/// every payment is told. Nor is it signed why one was refused: that does not decide whether another provider is asked.
fn authorization(item: &Item, operation: OperationKind) -> Result<Finding, NotificationRefusal> {
    if !item.success {
        let decline = declines::refused(Refusal {
            code: None,
            text: item.reason.as_deref(),
            raw: item.data("refusalReasonRaw"),
            advice: item.data("merchantAdviceCode"),
            psp_reference: item.psp_reference.as_deref(),
        });
        return Ok(Finding::Declined(Decline { retryable: false, ..decline }));
    }
    let approval = Approval {
        authorization_code: item.data("authCode").map(str::to_owned),
        authorization_nsu: item.data("acquirerReference").map(str::to_owned),
        network_transaction_id: item.data("networkTxReference").map(str::to_owned),
        ..approval(item)
    };
    if operation == OperationKind::ZeroDollar {
        return Ok(Finding::Approved(approval));
    }
    Ok(Finding::Paid(vec![PayerPayment { reference: approval, amount: amount(item)?, taken_back: None }]))
}

fn done(item: &Item) -> Finding {
    if item.success { Finding::Approved(approval(item)) } else { Finding::Declined(failed(item)) }
}

fn approval(item: &Item) -> Approval {
    Approval { transaction_id: item.psp_reference.clone(), ..Approval::default() }
}

/// A capture, a cancellation or a refund that the provider could not carry out.
fn failed(item: &Item) -> Decline {
    let message = item.reason.as_deref().unwrap_or_default();
    declines::not_taken_up(&item.event_code, message, item.psp_reference.as_deref())
}

/// By hand, or by the provider itself: it names the payment.
fn capture_failed(item: &Item) -> EventKind {
    EventKind::CaptureFailed { decline: failed(item), payment: payment(item) }
}

/// The payment that an item is about, and not what was done with it, which has an id of its own.
fn payment(item: &Item) -> Option<String> {
    item.original_reference.clone().filter(|id| !id.is_empty())
}

/// A refusal of that payment.
fn of_payment(item: &Item, decline: Decline) -> Decline {
    Decline { transaction_id: payment(item).or_else(|| decline.transaction_id.clone()), ..decline }
}

/// A payment that nobody has completed, and nobody can complete any more.
fn closed(item: &Item) -> Decline {
    let decline = Decline::of(DeclinedCode::Generic);
    let message = decline.message.clone();
    let transaction_id = item.psp_reference.clone();
    Decline { retryable: false, transaction_id, ..decline.with_network(item.event_code.clone(), message) }
}

/// A case: a dispute with its own id, or with that of the payment where an item names the payment alone, as the account is
/// set up; a refund that came back with that of the refund.
fn reversal(item: &Item, kind: ReversalKind) -> Result<EventKind, NotificationRefusal> {
    let id = item.psp_reference.clone().unwrap_or_default();
    let (amount, currency) = money(item)?;
    let reversal = Reversal::new(kind, id, Some(amount));
    Ok(EventKind::Reversal(Reversal { currency: Some(currency), ..reversal }))
}

fn amount(item: &Item) -> Result<Amount, NotificationRefusal> {
    money(item).map(|(amount, _)| amount)
}

fn money(item: &Item) -> Result<(Amount, Currency), NotificationRefusal> {
    let sent = item.amount.as_ref().ok_or(NO_AMOUNT)?;
    let currency = Currency::parse(&sent.currency).ok_or(NO_AMOUNT)?;
    let amount = currency::from_provider(sent.value, currency).ok_or(NO_AMOUNT)?;
    Ok((amount, currency))
}
