//! What the simulator sends by itself: only what it signed, byte for byte, is taken.

use http::{HeaderMap, HeaderValue};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_providers::notification::{
    Authentic, EventKind, EventSubject, NOTIFICATION_BYTES_MAX, Notification, NotificationRefusal,
    NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Approval, Finding, Reversal, ReversalKind};
use regente_providers::request::Credentials;
use regente_providers::sandbox::{SIGNATURE_AGE_MAX, SIGNATURE_HEADER, SigningKey, TransactionLog};
use serde_json::{Map, Value, json};

use crate::support::{key, object, providers};

type Read = Result<Vec<ProviderEvent>, NotificationRefusal>;

fn credentials(api_key: &str) -> Credentials {
    Credentials::new(object(json!({ "type": "SANDBOX", "apiKey": api_key })))
}

/// When every notification arrives.
fn now() -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000)
}

fn signed(body: &[u8], api_key: &str) -> HeaderMap {
    signed_at(now(), body, api_key)
}

fn signed_at(at: Timestamp, body: &[u8], api_key: &str) -> HeaderMap {
    let signature = SigningKey::of(&credentials(api_key)).unwrap().sign(at, body);
    HeaderMap::from_iter([(SIGNATURE_HEADER, HeaderValue::from_str(&signature).unwrap())])
}

/// As it arrives at the registration with the key "mine".
fn receive(headers: &HeaderMap, body: &[u8]) -> Read {
    receive_at(ProviderType::Sandbox, &credentials("mine"), headers, body)
}

fn receive_at(
    provider_type: ProviderType,
    credentials: &Credentials,
    headers: &HeaderMap,
    body: &[u8],
) -> Read {
    let request = NotificationRequest { headers, body, credentials, options: &Map::new(), now: now() };
    let providers = providers(&TransactionLog::memory());
    let Authentic { id, .. } = providers.authenticate(provider_type, &request)?;
    let events = providers.events(provider_type, &Notification { headers: &HeaderMap::new(), body });
    if let Ok(events) = &events {
        assert_eq!(id.as_ref(), events.first().map(|event| &event.id), "the id of the notification");
    }
    events
}

fn message(kind: &str, data: Value) -> Vec<u8> {
    let message = json!({ "id": "event 1", "kind": kind, "occurredAt": "2026-01-01T00:00:00.000Z",
        "objectId": key(9), "key": key(1), "data": data });
    serde_json::to_vec(&message).unwrap()
}

fn outcome(finding: &Finding) -> Vec<u8> {
    message("payment.outcome", serde_json::to_value(finding).unwrap())
}

fn approved() -> Finding {
    Finding::Approved(Approval { transaction_id: Some("t".to_owned()), ..Approval::default() })
}

#[test]
fn a_signed_outcome_is_an_event() {
    let pending: Finding = serde_json::from_value(json!({ "pending": {
        "reference": { "transactionId": "t" }, "instructions": { "kind": "qrCode", "data": "00020126" },
        "expiresAt": "2026-01-02T00:00:00.000Z" } }))
    .unwrap();
    assert!(matches!(pending, Finding::Pending(_)));
    for finding in [approved(), pending] {
        let body = outcome(&finding);
        let event = ProviderEvent {
            id: "event 1".to_owned(),
            occurred_at: Timestamp::from_millis(1_767_225_600_000),
            about: EventSubject::Call { object_id: key(9), key: key(1) },
            what: EventKind::Outcome(finding),
        };
        assert_eq!(receive(&signed(&body, "mine"), &body), Ok(vec![event]));
    }
}

#[test]
fn what_happened_to_a_payment_is_an_event() {
    for (word, kind) in [
        ("payment.charged_back", ReversalKind::ChargedBack),
        ("dispute.opened", ReversalKind::DisputeOpened),
        ("dispute.won", ReversalKind::DisputeWon),
        ("dispute.lost", ReversalKind::DisputeLost),
        ("refund.reverted", ReversalKind::RefundReverted),
    ] {
        let read = |data| {
            let body = message(word, data);
            receive(&signed(&body, "mine"), &body).map(|mut events| events.remove(0).what)
        };
        let of = |id: &str, amount| EventKind::Reversal(Reversal::new(kind, id.to_owned(), amount));
        assert_eq!(read(json!({ "id": "case", "amount": 70 })), Ok(of("case", Amount::new(70))));
        assert_eq!(read(json!({ "id": "case" })), Ok(of("case", None)));
        // The notifications of releases before had no data: each is a case of its own.
        assert_eq!(read(Value::Null), Ok(of("event 1", None)));
        for bad in [json!({}), json!({ "id": 1 }), json!({ "id": "case", "amount": -1 }), json!("case")] {
            assert!(matches!(read(bad), Err(NotificationRefusal::NotReadable(_))));
        }
    }
}

#[test]
fn a_signature_is_good_for_some_minutes() {
    let body = outcome(&approved());
    let at = |at| receive(&signed_at(at, &body, "mine"), &body);
    for good in [now() - SIGNATURE_AGE_MAX, now() + SIGNATURE_AGE_MAX] {
        assert!(at(good).is_ok());
        let moved = signed_at(good, &body, "mine")[SIGNATURE_HEADER].to_str().unwrap().replace("t=1", "t=2");
        let moved = HeaderMap::from_iter([(SIGNATURE_HEADER, HeaderValue::from_str(&moved).unwrap())]);
        assert_eq!(receive(&moved, &body), Err(NotificationRefusal::NotAuthentic), "the time is signed too");
    }
    let moment = std::time::Duration::from_millis(1);
    for bad in [now() - SIGNATURE_AGE_MAX - moment, now() + SIGNATURE_AGE_MAX + moment] {
        assert_eq!(at(bad), Err(NotificationRefusal::NotAuthentic));
    }
}

#[test]
fn what_the_provider_did_not_sign_is_not_authentic() {
    let body = outcome(&approved());
    let genuine = signed(&body, "mine");
    let with = |signature: &str| {
        HeaderMap::from_iter([(SIGNATURE_HEADER, HeaderValue::from_str(signature).unwrap())])
    };
    let text = genuine[SIGNATURE_HEADER].to_str().unwrap();
    let flipped = if text.ends_with('0') { '1' } else { '0' };
    let changed = format!("{}{flipped}", &text[..text.len() - 1]);
    for (forged, headers) in [
        ("by nobody", HeaderMap::new()),
        ("with another key", signed(&body, "theirs")),
        ("for another body", signed(b"{}", "mine")),
        ("in one digit", with(&changed)),
        ("cut off", with(&text[..32])),
        ("empty", with("")),
        ("not in hexadecimal", with("signature")),
    ] {
        assert_eq!(receive(&headers, &body), Err(NotificationRefusal::NotAuthentic), "{forged}");
    }
    assert!(receive(&genuine, &body).is_ok());

    let mut tampered = body.clone();
    tampered.push(b' ');
    assert_eq!(receive(&genuine, &tampered), Err(NotificationRefusal::NotAuthentic));
}

#[test]
fn a_registration_without_a_key_takes_nothing() {
    let body = outcome(&approved());
    for credentials in [Credentials::new(object(json!({ "type": "SANDBOX" }))), credentials("")] {
        assert_eq!(SigningKey::of(&credentials), None);
        let read = receive_at(ProviderType::Sandbox, &credentials, &signed(&body, "mine"), &body);
        assert_eq!(read, Err(NotificationRefusal::NotAuthentic));
    }
}

#[test]
fn a_body_of_more_than_the_limit_is_not_looked_at() {
    let mut body = outcome(&approved());
    body.resize(NOTIFICATION_BYTES_MAX, b' ');
    assert!(receive(&signed(&body, "mine"), &body).is_ok(), "exactly as long as may be");
    body.push(b' ');
    assert_eq!(receive(&signed(&body, "mine"), &body), Err(NotificationRefusal::TooLong));
    assert_eq!(receive(&HeaderMap::new(), &body), Err(NotificationRefusal::TooLong));
}

#[test]
fn what_is_signed_and_not_understood_is_refused() {
    let refusal = |body: &[u8]| receive(&signed(body, "mine"), body).unwrap_err();
    assert_eq!(
        refusal(&message("payment.vanished", Value::Null)).to_string(),
        "the notification is of the unknown kind `payment.vanished`"
    );
    for body in [b"".as_slice(), b"{", b"[]", b"{\"kind\":\"payment.outcome\"}"] {
        assert!(matches!(refusal(body), NotificationRefusal::NotReadable(_)));
    }
    let secret = message("payment.outcome", json!("4916745120294124"));
    assert!(matches!(refusal(&secret), NotificationRefusal::NotReadable(_)));
    assert!(!refusal(&secret).to_string().contains("4916745120294124"), "what was sent is not repeated");
}

#[test]
fn a_type_without_an_adapter_sends_nothing() {
    let body = outcome(&approved());
    let read = receive_at(ProviderType::Cielo, &credentials("mine"), &signed(&body, "mine"), &body);
    assert_eq!(read, Err(NotificationRefusal::NotSupported));
}
