//! Notifications: what the provider has signed is taken, and each event leads back to its request.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_providers::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Finding, Reversal, ReversalKind};
use regente_providers::provider::Providers;
use regente_providers::request::Credentials;
use serde_json::{Map, Value, json};

use super::calls::{HMAC_KEY, charge_id, credentials};
use super::faults::providers as at;
use crate::support::{key, object};

type Read = Result<Vec<ProviderEvent>, NotificationRefusal>;

const EXAMPLES: &str = include_str!("recorded/webhooks.json");
const PAYMENT: &str = "01980000000070008000000000000009-01980000000070008000000000000001-authorization";
const CAPTURE: &str = "01980000000070008000000000000009-01980000000070008000000000000002-capture";
const VOID: &str = "01980000000070008000000000000009-01980000000070008000000000000003-void";

pub(super) fn examples() -> Vec<Value> {
    serde_json::from_str(EXAMPLES).unwrap()
}

fn providers() -> Providers {
    at("http://127.0.0.1:9".parse().unwrap())
}

/// A notification with one item.
fn item(event_code: &str, reference: &str, members: Value) -> Value {
    let mut item = json!({
        "eventCode": event_code, "success": "true", "pspReference": "QFQTPCQ8HXSKGK82",
        "originalReference": "993617895204576J", "merchantAccountCode": "TestMerchant",
        "merchantReference": reference, "amount": { "currency": "BRL", "value": 1500 },
        "eventDate": "2026-01-01T01:00:00+01:00", "paymentMethod": "visa", "reason": "",
    });
    for (name, value) in object(members) {
        item[name] = value;
    }
    item
}

fn batch(items: impl IntoIterator<Item = Value>) -> Value {
    let items: Vec<Value> =
        items.into_iter().map(|item| json!({ "NotificationRequestItem": item })).collect();
    json!({ "live": "false", "notificationItems": items })
}

fn signature(of: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &hex::decode(HMAC_KEY).unwrap());
    STANDARD.encode(hmac::sign(&key, of.as_bytes()))
}

/// The item with its signature.
fn signed(mut item: Value) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let covered: Vec<String> = [
        &item["pspReference"],
        &item["originalReference"],
        &item["merchantAccountCode"],
        &item["merchantReference"],
        &item["amount"]["value"],
        &item["amount"]["currency"],
        &item["eventCode"],
        &item["success"],
    ]
    .map(text)
    .to_vec();
    item["additionalData"] = json!({ "hmacSignature": signature(&covered.join(":")) });
    item
}

pub(super) fn authenticated(
    credentials: &Credentials,
    headers: &HeaderMap,
    body: &str,
) -> Result<Authentic, NotificationRefusal> {
    let request = NotificationRequest {
        headers,
        body: body.as_bytes(),
        credentials,
        options: &Map::new(),
        now: Timestamp::from_millis(1_767_225_600_000),
    };
    providers().authenticate(ProviderType::Adyen, &request)
}

fn taken(body: &Value) -> Result<Authentic, NotificationRefusal> {
    authenticated(&credentials(), &HeaderMap::new(), &body.to_string())
}

pub(super) fn read(body: &Value) -> Read {
    let body = body.to_string();
    providers()
        .events(ProviderType::Adyen, &Notification { headers: &HeaderMap::new(), body: body.as_bytes() })
}

/// What one item says, and of which call.
fn says(item: Value) -> (EventSubject, Vec<EventKind>) {
    let events = read(&batch([item])).unwrap();
    (events[0].about.clone(), events.into_iter().map(|event| event.what).collect())
}

fn call(number: u128) -> EventSubject {
    EventSubject::Call { object_id: charge_id(), key: key(number) }
}

fn approved(what: &[EventKind]) -> Option<String> {
    match what {
        [EventKind::Outcome(Finding::Approved(approval))] => approval.transaction_id.clone(),
        [EventKind::Outcome(Finding::Paid(payments))] => payments[0].reference.transaction_id.clone(),
        _ => None,
    }
}

fn declined(what: &[EventKind]) -> Option<(DeclinedCode, Option<String>)> {
    match what {
        [
            EventKind::Outcome(Finding::Declined(decline))
            | EventKind::Revoked(decline)
            | EventKind::CaptureFailed { decline, .. },
        ] => Some((decline.code, decline.network_denied_message.clone())),
        _ => None,
    }
}

/// With the provider's id of the event.
fn reversal(kind: ReversalKind) -> EventKind {
    let (id, amount) = ("QFQTPCQ8HXSKGK82".to_owned(), Amount::new(1500));
    EventKind::Reversal(Reversal { currency: Some(Currency::BRL), ..Reversal::new(kind, id, amount) })
}

#[test]
fn the_published_example_is_authentic() {
    let item = json!({
        "pspReference": "7914073381342284", "merchantAccountCode": "TestMerchant",
        "merchantReference": "TestPayment-1407325143704", "amount": { "value": 1130, "currency": "EUR" },
        "eventCode": "AUTHORISATION", "success": "true", "eventDate": "2019-05-06T17:15:34.121+02:00",
        "additionalData": { "hmacSignature": "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=" },
    });
    // It is years old: no time is signed.
    let authentic = taken(&batch([item])).unwrap();
    assert_eq!(authentic.id.as_deref(), Some("AUTHORISATION:7914073381342284::1130:true"));
}

#[test]
fn what_is_signed_cannot_be_changed() {
    let genuine = signed(item("REFUND", VOID, json!({})));
    assert!(taken(&batch([genuine.clone()])).is_ok());
    for (name, value) in [
        ("pspReference", json!("QFQTPCQ8HXSKGK83")),
        ("originalReference", json!("993617895204576K")),
        ("merchantAccountCode", json!("OtherMerchant")),
        ("merchantReference", json!(PAYMENT)),
        ("amount", json!({ "currency": "BRL", "value": 15000 })),
        ("amount", json!({ "currency": "USD", "value": 1500 })),
        ("eventCode", json!("CAPTURE")),
        ("success", json!("false")),
    ] {
        let mut changed = genuine.clone();
        changed[name] = value;
        assert_eq!(taken(&batch([changed])), Err(NotificationRefusal::NotAuthentic), "{name}");
    }
    for (name, value) in [("reason", json!("another")), ("success", json!(true))] {
        let mut told_otherwise = genuine.clone();
        told_otherwise[name] = value;
        assert!(taken(&batch([told_otherwise])).is_ok(), "{name}");
    }
}

/// Whoever has a signed item can send it with other words beside it.
#[test]
fn what_is_not_signed_decides_nothing() {
    let forged = json!({
        "paymentMethod": "pix", "reason": "Contactless fallback", "operations": ["REFUND"],
        "additionalData": {
            "defendable": "true", "refusalReasonRaw": "51", "merchantAdviceCode": "03", "disputeStatus": "Won",
        },
    });
    let decides = |event_code, reference, success, unsigned: Value| {
        let mut members = json!({ "success": success });
        for (name, value) in object(unsigned) {
            members[name] = value;
        }
        let (about, what) = says(item(event_code, reference, members));
        let what = what.into_iter().map(|what| match what {
            EventKind::Outcome(Finding::Paid(paid)) => format!("paid {:?}", paid[0].amount),
            EventKind::Outcome(Finding::Declined(decline)) => format!("declined, {}", decline.retryable),
            EventKind::Outcome(Finding::Approved(_)) => "approved".to_owned(),
            EventKind::Outcome(Finding::Accepted(_)) => "accepted".to_owned(),
            EventKind::Revoked(_) | EventKind::CaptureFailed { .. } => "revoked".to_owned(),
            other @ (EventKind::Outcome(_)
            | EventKind::Reversal(_)
            | EventKind::DoneElsewhere(_)
            | EventKind::Seller(_)) => format!("{other:?}"),
        });
        (about, what.collect::<Vec<_>>())
    };
    for event_code in [
        "AUTHORISATION",
        "OFFER_CLOSED",
        "CAPTURE",
        "CAPTURE_FAILED",
        "CANCELLATION",
        "CANCEL_OR_REFUND",
        "TECHNICAL_CANCEL",
        "REFUND",
        "POSTPONED_REFUND",
        "REFUND_FAILED",
        "REFUNDED_REVERSED",
        "NOTIFICATION_OF_CHARGEBACK",
        "CHARGEBACK",
        "CHARGEBACK_REVERSED",
        "SECOND_CHARGEBACK",
    ] {
        for reference in [PAYMENT, CAPTURE, VOID] {
            for success in ["true", "false"] {
                let signed_alone = json!({ "paymentMethod": "visa", "success": success });
                if read(&batch([item(event_code, reference, signed_alone)])).is_err() {
                    continue;
                }
                let honest = decides(event_code, reference, success, json!({ "paymentMethod": "visa" }));
                let told_otherwise = decides(event_code, reference, success, forged.clone());
                assert_eq!(told_otherwise, honest, "{event_code} {reference} {success}");
            }
        }
    }
}

#[test]
fn what_is_not_signed_is_not_taken() {
    let genuine = signed(item("REFUND", VOID, json!({})));
    let unsigned = item("REFUND", VOID, json!({}));
    let refused = Err(NotificationRefusal::NotAuthentic);
    assert_eq!(taken(&batch([unsigned.clone()])), refused);
    assert_eq!(taken(&batch([genuine.clone(), unsigned])), refused, "one of two");
    assert_eq!(taken(&batch([])), refused);
    assert_eq!(taken(&json!("text")), refused);
    let body = batch([genuine]).to_string();
    for key in ["", "zz", &"00".repeat(32), &HMAC_KEY[2..]] {
        let credentials = Credentials::new(object(json!({ "webhookHmacKey": key })));
        assert_eq!(authenticated(&credentials, &HeaderMap::new(), &body), refused, "{key}");
    }
    let none = Credentials::new(Map::new());
    assert_eq!(authenticated(&none, &HeaderMap::new(), &body), refused);
}

#[test]
fn a_repetition_has_the_same_id_and_another_event_has_another() {
    let id =
        |event_code, members| taken(&batch([signed(item(event_code, VOID, members))])).unwrap().id.unwrap();
    let first = id("REFUND", json!({}));
    assert_eq!(id("REFUND", json!({ "eventDate": "2026-02-01T01:00:00+01:00" })), first);
    for other in [
        id("REFUND_FAILED", json!({})),
        id("REFUND", json!({ "success": "false" })),
        id("REFUND", json!({ "pspReference": "QFQTPCQ8HXSKGK83" })),
    ] {
        assert_ne!(other, first);
    }
}

#[test]
fn a_batch_tells_of_several_requests() {
    let items = [
        item("REPORT_AVAILABLE", "", json!({})),
        item("CAPTURE", CAPTURE, json!({})),
        item("REFUND", VOID, json!({})),
        item("REFUND", "order 7", json!({})),
    ];
    let body = batch(items.clone().map(signed));
    assert_eq!(taken(&body).unwrap().id, None, "a repetition has the same body");
    let about: Vec<_> = read(&body).unwrap().into_iter().map(|event| event.about).collect();
    let payment = EventSubject::Reference("993617895204576J".to_owned());
    assert_eq!(about, [call(2), call(3), payment]);
}

#[test]
fn an_authorization_whose_answer_was_lost_is_told() {
    let (about, what) = says(item("AUTHORISATION", PAYMENT, json!({ "reason": "044925:1111:03/2030" })));
    assert_eq!(about, call(1));
    assert_eq!(approved(&what).as_deref(), Some("QFQTPCQ8HXSKGK82"));
    let (_, what) =
        says(item("AUTHORISATION", PAYMENT, json!({ "success": "false", "reason": "CVC Declined" })));
    assert_eq!(declined(&what), Some((DeclinedCode::InvalidCvv, Some("CVC Declined".to_owned()))));
    let event = &read(&batch([item("AUTHORISATION", PAYMENT, json!({}))])).unwrap()[0];
    assert_eq!(event.occurred_at, Timestamp::from_millis(1_767_225_600_000));
}

#[test]
fn a_paid_pix_tells_its_amount() {
    for method in ["pix", "boletobancario_santander", "visa", ""] {
        let (_, what) = says(item(
            "AUTHORISATION",
            PAYMENT,
            json!({ "paymentMethod": method, "amount": { "currency": "BRL", "value": 1400 } }),
        ));
        let [EventKind::Outcome(Finding::Paid(payments))] = &what[..] else { panic!("{what:?}") };
        assert_eq!(payments[0].amount, Amount::new(1400).unwrap());
        assert_eq!(payments[0].reference.transaction_id.as_deref(), Some("QFQTPCQ8HXSKGK82"));
    }
}

#[test]
fn a_payment_that_nobody_completes_is_refused() {
    let (about, what) = says(item("OFFER_CLOSED", PAYMENT, json!({})));
    assert_eq!(about, call(1));
    assert_eq!(declined(&what).map(|(code, _)| code), Some(DeclinedCode::Generic));
    let still_open = read(&batch([item("OFFER_CLOSED", PAYMENT, json!({ "success": "false" }))]));
    assert_eq!(still_open, Err(NotificationRefusal::UnknownKind("OFFER_CLOSED".to_owned())));
}

#[test]
fn a_capture_ends_by_notification() {
    let (about, what) = says(item("CAPTURE", CAPTURE, json!({})));
    assert_eq!(about, call(2));
    assert_eq!(approved(&what).as_deref(), Some("QFQTPCQ8HXSKGK82"));
    let (_, what) =
        says(item("CAPTURE", CAPTURE, json!({ "success": "false", "reason": "Insufficient balance" })));
    assert_eq!(declined(&what), Some((DeclinedCode::Generic, Some("Insufficient balance".to_owned()))));
}

#[test]
fn a_capture_that_fails_later_is_refused() {
    let (about, what) = says(item("CAPTURE_FAILED", CAPTURE, json!({ "reason": "Capture Failed" })));
    assert_eq!(about, call(2));
    assert!(declined(&what).is_some(), "{what:?}");
    let (about, what) = says(item("CAPTURE_FAILED", PAYMENT, json!({})));
    assert_eq!((about, declined(&what).is_some()), (call(1), true), "captured by itself");
    let [EventKind::CaptureFailed { decline, payment }] = &what[..] else { panic!("{what:?}") };
    assert_eq!(payment.as_deref(), Some("993617895204576J"));
    assert_eq!(decline.transaction_id.as_deref(), Some("QFQTPCQ8HXSKGK82"), "the capture");
    let (about, what) = says(item("CAPTURE_FAILED", "order 7", json!({})));
    assert_eq!(about, EventSubject::Reference("993617895204576J".to_owned()), "of another system");
    assert!(declined(&what).is_some(), "{what:?}");
}

#[test]
fn a_cancellation_or_a_refund_ends_by_notification() {
    for event_code in ["CANCELLATION", "CANCEL_OR_REFUND", "TECHNICAL_CANCEL", "REFUND"] {
        let (about, what) = says(item(event_code, VOID, json!({})));
        assert_eq!(about, call(3), "{event_code}");
        assert!(approved(&what).is_some(), "{event_code}");
        let reason = "Transaction hasn't been captured, refund not possible";
        let (_, what) = says(item(event_code, VOID, json!({ "success": "false", "reason": reason })));
        assert_eq!(declined(&what).and_then(|(_, message)| message).as_deref(), Some(reason), "{event_code}");
    }
    let (_, what) = says(item("POSTPONED_REFUND", VOID, json!({})));
    assert!(matches!(what[..], [EventKind::Outcome(Finding::Accepted(_))]), "{what:?}");
}

#[test]
fn a_payment_cancelled_by_our_reference_takes_no_money() {
    let (about, what) = says(item("TECHNICAL_CANCEL", PAYMENT, json!({})));
    assert_eq!(about, call(1));
    assert!(declined(&what).is_some(), "{what:?}");
}

#[test]
fn a_refund_can_come_back() {
    for event_code in ["REFUND_FAILED", "REFUNDED_REVERSED"] {
        let (about, what) = says(item(event_code, VOID, json!({})));
        assert_eq!((about, what), (call(3), vec![reversal(ReversalKind::RefundReverted)]), "{event_code}");
    }
}

#[test]
fn a_dispute_is_followed_to_its_end() {
    use ReversalKind::{ChargedBack, DisputeLost, DisputeOpened, DisputeWon};
    for (event_code, defendable, kind) in [
        ("NOTIFICATION_OF_CHARGEBACK", None, DisputeOpened),
        ("CHARGEBACK", Some("true"), ChargedBack),
        ("CHARGEBACK", Some("false"), ChargedBack),
        ("CHARGEBACK", None, ChargedBack),
        ("CHARGEBACK_REVERSED", None, DisputeWon),
        ("ISSUER_RESPONSE_TIMEFRAME_EXPIRED", None, DisputeWon),
        ("SECOND_CHARGEBACK", None, DisputeLost),
        ("DISPUTE_DEFENSE_PERIOD_ENDED", None, DisputeLost),
        ("PREARBITRATION_OPEN", None, DisputeOpened),
        ("PREARBITRATION_WON", None, DisputeWon),
        ("PREARBITRATION_ISSUER_WITHDRAWN", None, DisputeWon),
        ("PREARBITRATION_LOST", None, DisputeLost),
        ("PREARBITRATION_ACCEPTED", None, DisputeLost),
        ("SCHEME_ARBITRATION", None, DisputeOpened),
        ("SCHEME_ARBITRATION_WON", None, DisputeWon),
        ("SCHEME_ARBITRATION_LOST", None, DisputeLost),
    ] {
        let (about, what) =
            says(item(event_code, PAYMENT, json!({ "additionalData": { "defendable": defendable } })));
        assert_eq!((about, what), (call(1), vec![reversal(kind)]), "{event_code}");
    }
}

#[test]
fn each_dispute_has_its_own_id_unless_the_payment_alone_is_named() {
    let id = |what: Vec<EventKind>| match &what[..] {
        [EventKind::Reversal(told)] => told.id.clone(),
        _ => panic!("{what:?}"),
    };
    for code in ["NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK", "CHARGEBACK_REVERSED"] {
        let of_dispute = item(code, PAYMENT, json!({ "pspReference": "DISPUTE2" }));
        assert_eq!(id(says(of_dispute).1), "DISPUTE2", "{code}");
        let names = json!({ "pspReference": "993617895204576J", "originalReference": "" });
        assert_eq!(id(says(item(code, PAYMENT, names)).1), "993617895204576J", "{code}");
    }
}

#[test]
fn an_amount_is_in_our_minor_units() {
    let pesos = json!({ "amount": { "currency": "CLP", "value": 150_000 } });
    let (_, what) = says(item("NOTIFICATION_OF_CHARGEBACK", PAYMENT, pesos));
    let [EventKind::Reversal(told)] = &what[..] else { panic!("{what:?}") };
    assert_eq!((told.amount, told.currency), (Amount::new(1500), Currency::parse("CLP")));
    for wrong in [
        json!({ "currency": "CLP", "value": 150_050 }),
        json!({ "currency": "XXX", "value": 1 }),
        json!(null),
    ] {
        let read = read(&batch([item("NOTIFICATION_OF_CHARGEBACK", PAYMENT, json!({ "amount": wrong }))]));
        assert!(matches!(read, Err(NotificationRefusal::NotReadable(_))), "{read:?}");
    }
}

#[test]
fn an_event_of_another_operation_changes_nothing() {
    for (event_code, reference) in [
        ("REFUND", CAPTURE),
        ("CANCELLATION", CAPTURE),
        ("AUTHORISATION", CAPTURE),
        ("OFFER_CLOSED", VOID),
        ("CAPTURE_FAILED", VOID),
    ] {
        assert_eq!(
            read(&batch([item(event_code, reference, json!({}))])),
            Err(NotificationRefusal::UnknownKind(event_code.to_owned())),
            "{reference}"
        );
    }
}

#[test]
fn what_is_done_by_hand_or_by_another_system_is_told_of_the_payment() {
    let by_id = EventSubject::Reference("993617895204576J".to_owned());
    let all = Amount::new(1500).unwrap();
    for (event_code, kind, much) in [
        ("CAPTURE", DeedKind::Captured, Much::This(all)),
        ("REFUND", DeedKind::Refunded, Much::This(all)),
        ("CANCELLATION", DeedKind::Released, Much::Everything),
        ("CANCEL_OR_REFUND", DeedKind::Released, Much::Everything),
    ] {
        let (id, currency) = ("QFQTPCQ8HXSKGK82".to_owned(), Some(Currency::BRL));
        let deed = EventKind::DoneElsewhere(Deed { kind, id, much, currency });
        // By hand the reference of the payment is repeated.
        assert_eq!(says(item(event_code, PAYMENT, json!({}))), (call(1), vec![deed.clone()]), "{event_code}");
        assert_eq!(says(item(event_code, "order 7", json!({}))), (by_id.clone(), vec![deed]), "{event_code}");
        for reference in [PAYMENT, "order 7"] {
            let failed = item(event_code, reference, json!({ "success": "false" }));
            assert!(read(&batch([failed])).is_err(), "{event_code}: nothing was done");
        }
        let nameless = item(event_code, "order 7", json!({ "originalReference": "" }));
        assert!(matches!(read(&batch([nameless])), Err(NotificationRefusal::NotReadable(_))));
    }
    let (about, _) = says(item("REFUND_FAILED", "order 7", json!({})));
    assert_eq!(
        about,
        EventSubject::Reference("QFQTPCQ8HXSKGK82".to_owned()),
        "the refund, if it was counted"
    );
}

#[test]
fn what_is_not_understood_is_kept() {
    assert_eq!(
        read(&batch([item("REPORT_AVAILABLE", PAYMENT, json!({}))])),
        Err(NotificationRefusal::UnknownKind("REPORT_AVAILABLE".to_owned()))
    );
    for unreadable in [
        batch([item("AUTHORISATION", "order 7", json!({}))]),
        batch([item("REFUND", VOID, json!({ "eventDate": "" }))]),
    ] {
        assert!(matches!(read(&unreadable), Err(NotificationRefusal::NotReadable(_))));
    }
    assert!(matches!(read(&json!({ "notificationItems": [] })), Err(NotificationRefusal::NotReadable(_))));
}

#[test]
fn a_notification_of_another_family_is_signed_over_its_body() {
    let body = examples().swap_remove(0);
    assert_eq!(body["type"], "ach.notificationOfChange");
    let text = body.to_string();
    let with = |signature: String| {
        let header = (HeaderName::from_static("hmacsignature"), HeaderValue::from_str(&signature).unwrap());
        authenticated(&credentials(), &[header].into_iter().collect(), &text)
    };
    assert_eq!(with(signature(&text)).map(|authentic| authentic.id), Ok(None));
    assert_eq!(with(signature("other")), Err(NotificationRefusal::NotAuthentic));
    assert_eq!(taken(&body), Err(NotificationRefusal::NotAuthentic));
    let kind = "ach.notificationOfChange".to_owned();
    assert_eq!(read(&body), Err(NotificationRefusal::UnknownKind(kind)));
}

/// Every example of the published description is read, with our reference in the place of the example's.
#[test]
fn every_published_example_is_read() {
    let mut told = Vec::new();
    for example in examples() {
        let original = read(&example);
        let Some(wrapper) = example["notificationItems"].get(0) else {
            assert!(matches!(original, Err(NotificationRefusal::UnknownKind(_))), "{original:?}");
            continue;
        };
        let item = wrapper["NotificationRequestItem"].clone();
        let event_code = item["eventCode"].as_str().unwrap().to_owned();
        let is_about_ours = |event: &ProviderEvent| matches!(event.about, EventSubject::Call { .. });
        assert!(!original.is_ok_and(|told| told.iter().any(is_about_ours)), "a reference of somebody else");
        let reference = match event_code.as_str() {
            "CAPTURE" | "CAPTURE_FAILED" => CAPTURE,
            "CANCELLATION" | "CANCEL_OR_REFUND" | "TECHNICAL_CANCEL" | "REFUND" | "REFUND_FAILED"
            | "REFUNDED_REVERSED" | "POSTPONED_REFUND" => VOID,
            _ => PAYMENT,
        };
        let mut ours = item;
        ours["merchantReference"] = json!(reference);
        match read(&batch([ours])) {
            Ok(events) => {
                told.push((event_code, events.iter().map(|event| event.what.word()).collect::<Vec<_>>()))
            }
            Err(refusal) => assert_eq!(refusal, NotificationRefusal::UnknownKind(event_code)),
        }
    }
    let words: Vec<String> =
        told.iter().map(|(code, words)| format!("{code}: {}", words.join(" "))).collect();
    assert_eq!(
        words,
        [
            "AUTHORISATION: outcome",
            "CANCELLATION: outcome",
            "CANCEL_OR_REFUND: outcome",
            "CAPTURE: outcome",
            "CAPTURE_FAILED: revoked",
            "CHARGEBACK: charged_back",
            "CHARGEBACK_REVERSED: dispute_won",
            "DISPUTE_DEFENSE_PERIOD_ENDED: dispute_lost",
            "ISSUER_RESPONSE_TIMEFRAME_EXPIRED: dispute_won",
            "NOTIFICATION_OF_CHARGEBACK: dispute_opened",
            "OFFER_CLOSED: outcome",
            "POSTPONED_REFUND: outcome",
            "PREARBITRATION_LOST: dispute_lost",
            "PREARBITRATION_WON: dispute_won",
            "REFUND: outcome",
            "REFUNDED_REVERSED: refund_reverted",
            "REFUND_FAILED: refund_reverted",
            "SECOND_CHARGEBACK: dispute_lost",
            "TECHNICAL_CANCEL: outcome",
        ]
    );
}
