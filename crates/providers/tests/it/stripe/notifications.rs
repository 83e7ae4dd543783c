//! What the provider reports by itself. The signatures are made by its official package.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_providers::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Finding, Reversal, ReversalKind};
use regente_providers::request::Credentials;
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::judges::installed;
use super::{AUTHORIZATION, CHARGE, VOID, credentials, providers, recorded, with};
use crate::support::{at, key, object};

const HOST: &str = "http://127.0.0.1:1/";

fn event(kind: &str, of: Value) -> Value {
    json!({
        "id": "evt_1SQ", "object": "event", "api_version": "2024-06-20", "created": 1_767_225_600, "livemode": false,
        "pending_webhooks": 1, "type": kind, "data": { "object": of },
        "request": { "id": null, "idempotency_key": null },
    })
}

/// The header that the official package makes.
fn signed(body: &str, secret: &str, at: Timestamp) -> String {
    let mut node = Command::new("node");
    node.arg(installed().join("sign.mjs")).arg(secret).arg((at.as_millis() / 1_000).to_string());
    let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn authenticated(
    header: Option<&str>,
    body: &str,
    credentials: &Credentials,
    now: Timestamp,
) -> Result<Authentic, NotificationRefusal> {
    let mut headers = HeaderMap::new();
    if let Some(header) = header {
        headers.insert("stripe-signature", HeaderValue::from_str(header).unwrap());
    }
    let (body, options) = (body.as_bytes(), &Map::new());
    let request = NotificationRequest { headers: &headers, body, credentials, options, now };
    providers(Url::parse(HOST).unwrap()).authenticate(ProviderType::Stripe, &request)
}

#[test]
fn what_the_official_package_signs_is_authentic() {
    let body = event("payment_intent.succeeded", recorded("payment_intent")).to_string();
    for secret in ["whsec_old", "whsec_new"] {
        let header = signed(&body, secret, at());
        let authentic = authenticated(Some(&header), &body, &credentials(), at()).unwrap();
        assert_eq!(authentic, Authentic { id: Some("evt_1SQ".to_owned()), kept_headers: &[] });
        // A repetition has the same id.
        let again = authenticated(Some(&signed(&body, secret, at())), &body, &credentials(), at()).unwrap();
        assert_eq!(again, authentic);
    }
}

#[test]
fn one_good_signature_among_several_is_enough() {
    let body = event("payment_intent.succeeded", recorded("payment_intent")).to_string();
    let header = signed(&body, "whsec_new", at());
    let (time, good) = header.split_once(',').unwrap();
    let wrong = "0".repeat(64);
    for header in [
        format!("{time},v1={wrong},{good},v0={wrong}"),
        format!("{time}, {good}"),
        format!("{good},{time}"),
        format!("{time},v1=no hexadecimal,{good}"),
    ] {
        authenticated(Some(&header), &body, &credentials(), at()).unwrap();
    }
}

#[test]
fn what_is_changed_or_old_is_not() {
    let body = event("payment_intent.succeeded", recorded("payment_intent")).to_string();
    let header = signed(&body, "whsec_new", at());
    let refused = |header: Option<&str>, body: &str, credentials: &Credentials, now| {
        let refusal = authenticated(header, body, credentials, now).unwrap_err();
        assert_eq!(refusal, NotificationRefusal::NotAuthentic);
    };
    let good = credentials();
    refused(None, &body, &good, at());
    refused(Some(&header), &body.replace("1500", "1501"), &good, at());
    refused(Some(&header), &format!("{body} "), &good, at());
    let (time, signature) = header.split_once(',').unwrap();
    for header in [
        format!("t=1767225601,{signature}"),
        format!("{time},{}", signature.replace("v1=", "v0=")),
        format!("{time},v1="),
        time.to_owned(),
        signature.to_owned(),
        format!("t=now,{signature}"),
        String::new(),
    ] {
        refused(Some(&header), &body, &good, at());
    }
    let tolerance = Duration::from_secs(5 * 60);
    let moment = Duration::from_millis(1);
    for now in [at() + tolerance, at() - tolerance] {
        authenticated(Some(&header), &body, &good, now).unwrap();
    }
    for now in [at() + tolerance + moment, at() - tolerance - moment] {
        refused(Some(&header), &body, &good, now);
    }
    for secret in [
        json!({}),
        json!({ "webhookSecret": "" }),
        json!({ "webhookSecret": " , " }),
        json!({ "webhookSecret": "whsec_other" }),
    ] {
        refused(Some(&header), &body, &Credentials::new(object(secret)), at());
    }
    // An empty secret signs nothing.
    refused(Some(&signed(&body, "whsec_other", at())), &body, &good, at());
}

fn events(body: &Value) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let body = body.to_string();
    let notification = Notification { headers: &HeaderMap::new(), body: body.as_bytes() };
    providers(Url::parse(HOST).unwrap()).events(ProviderType::Stripe, &notification)
}

#[track_caller]
fn one(body: &Value) -> (EventSubject, EventKind) {
    let mut events = events(body).unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    let ProviderEvent { id, occurred_at, about, what } = events.remove(0);
    assert_eq!((id.as_str(), occurred_at), ("evt_1SQ", at()));
    (about, what)
}

fn about(number: u128) -> EventSubject {
    EventSubject::Call { object_id: key(CHARGE), key: key(number) }
}

#[track_caller]
fn approved(what: &EventKind) -> &str {
    let EventKind::Outcome(Finding::Approved(approval)) = what else { panic!("not approved: {what:?}") };
    approval.transaction_id.as_deref().unwrap()
}

/// A payment as events have it: without the charge.
fn intent(changes: Value) -> Value {
    with(with(recorded("payment_intent"), json!({ "latest_charge": "ch_3SQ" })), changes)
}

/// The references of the payment, and further members.
fn metadata(further: Value) -> Value {
    with(recorded("payment_intent")["metadata"].clone(), further)
}

#[test]
fn a_payment_leads_back_to_its_authorization() {
    let (subject, what) = one(&event("payment_intent.succeeded", intent(json!({}))));
    assert_eq!((subject, approved(&what)), (about(AUTHORIZATION), "pi_3SQ"));
    let reserved = intent(json!({ "status": "requires_capture", "capture_method": "manual" }));
    let (subject, what) = one(&event("payment_intent.amount_capturable_updated", reserved));
    assert_eq!((subject, approved(&what)), (about(AUTHORIZATION), "pi_3SQ"));
    let failed = recorded("card_declined")["error"]["payment_intent"].clone();
    let (subject, what) = one(&event("payment_intent.payment_failed", failed));
    assert_eq!(subject, about(AUTHORIZATION));
    assert!(matches!(what, EventKind::Outcome(Finding::Declined(_))));
    let (subject, what) = one(&event("payment_intent.requires_action", recorded("redirect")));
    assert_eq!(subject, about(AUTHORIZATION));
    assert!(matches!(what, EventKind::Outcome(Finding::Pending(_))));
}

#[test]
fn a_capture_has_an_event_of_its_own() {
    let captured = intent(json!({ "metadata": metadata(json!({ "regente_capture_key": key(VOID) })) }));
    let (subject, what) = one(&event("payment_intent.succeeded", captured));
    assert_eq!((subject, approved(&what)), (about(VOID), "pi_3SQ"));
}

#[test]
fn a_release_leads_back_to_its_void() {
    let canceled = || intent(json!({ "status": "canceled" }));
    let request = json!({ "request": { "id": "req_1", "idempotency_key": key(VOID) } });
    let (subject, what) = one(&with(event("payment_intent.canceled", canceled()), request));
    assert_eq!((subject, approved(&what)), (about(VOID), "pi_3SQ"));
    // The provider has let it go by itself, or somebody at its dashboard.
    let (subject, what) = one(&event("payment_intent.canceled", canceled()));
    assert_eq!(subject, about(AUTHORIZATION));
    assert!(matches!(what, EventKind::Outcome(Finding::Declined(_))));
}

#[test]
fn only_a_probe_tells_whether_the_issuer_is_liable() {
    let demanding = metadata(json!({ "regente_liability_shift": "required" }));
    let taken = event("payment_intent.succeeded", intent(json!({ "metadata": demanding })));
    assert_eq!(events(&taken), Ok(Vec::new()));
}

#[test]
fn a_refund_leads_back_to_its_void() {
    for kind in ["refund.created", "refund.updated", "charge.refund.updated"] {
        let (subject, what) = one(&event(kind, recorded("refund")));
        assert_eq!((subject, approved(&what)), (about(VOID), "re_3SQ"), "{kind}");
    }
    let pending = with(recorded("refund"), json!({ "status": "pending" }));
    let (_, what) = one(&event("refund.updated", pending));
    assert!(matches!(what, EventKind::Outcome(Finding::Accepted(_))));
    let (subject, what) =
        one(&event("refund.failed", with(recorded("refund"), json!({ "status": "failed" }))));
    assert_eq!(subject, about(VOID));
    let EventKind::Outcome(Finding::Reversed { reversals, .. }) = what else {
        panic!("not reversed: {what:?}")
    };
    let amount = Amount::new(400);
    let reversal = Reversal::new(ReversalKind::RefundReverted, "re_3SQ".to_owned(), amount);
    assert_eq!(reversals, [Reversal { currency: Some(Currency::BRL), ..reversal }]);
}

#[test]
fn older_interfaces_tell_refunds_with_their_charge() {
    let other = with(
        recorded("refund"),
        json!({ "id": "re_2SQ", "metadata": { "regente_object_id": key(CHARGE), "regente_key": key(7) } }),
    );
    let foreign = with(recorded("refund"), json!({ "metadata": {} }));
    let refunds = json!({ "object": "list", "data": [recorded("refund"), foreign, other] });
    let told = events(&event("charge.refunded", json!({ "id": "ch_3SQ", "refunds": refunds }))).unwrap();
    let told: Vec<_> = told.iter().map(|event| (event.id.as_str(), &event.about)).collect();
    let payment = EventSubject::Reference("pi_3SQ".to_owned());
    assert_eq!(told, [("evt_1SQ", &about(VOID)), ("evt_1SQ-1", &payment), ("evt_1SQ-2", &about(7))]);
    assert_eq!(events(&event("charge.refunded", json!({ "id": "ch_3SQ" }))), Ok(Vec::new()));
}

#[test]
fn a_refund_of_somebody_else_names_the_payment_by_its_id() {
    let told = |members: Value| {
        let refund = with(with(recorded("refund"), json!({ "metadata": {} })), members);
        events(&event("refund.updated", refund)).unwrap()
    };
    let [made] = told(json!({})).try_into().unwrap();
    assert_eq!(made.about, EventSubject::Reference("pi_3SQ".to_owned()));
    let (id, much) = ("re_3SQ".to_owned(), Much::This(Amount::new(400).unwrap()));
    let deed = Deed { kind: DeedKind::Refunded, id, much, currency: Some(Currency::BRL) };
    assert_eq!(made.what, EventKind::DoneElsewhere(deed));
    let [failed] = told(json!({ "status": "failed" })).try_into().unwrap();
    assert_eq!(failed.about, EventSubject::Reference("re_3SQ".to_owned()), "it was counted, or it was not");
    let EventKind::Reversal(reverted) = failed.what else { panic!("{failed:?}") };
    assert_eq!((reverted.kind, reverted.amount), (ReversalKind::RefundReverted, Amount::new(400)));
    for nothing in [
        json!({ "status": "pending" }),
        json!({ "payment_intent": null }),
        json!({ "metadata": { "regente_undone_key": key(7) } }),
    ] {
        assert_eq!(told(nothing.clone()), [], "{nothing}");
    }
}

#[test]
fn a_dispute_names_the_payment_by_its_id() {
    let amount = Amount::new(1_500);
    for (kind, status, expected) in [
        ("charge.dispute.created", "needs_response", ReversalKind::DisputeOpened),
        ("charge.dispute.created", "warning_needs_response", ReversalKind::DisputeOpened),
        ("charge.dispute.closed", "won", ReversalKind::DisputeWon),
        ("charge.dispute.closed", "warning_closed", ReversalKind::DisputeWon),
        ("charge.dispute.closed", "lost", ReversalKind::DisputeLost),
    ] {
        let (subject, what) = one(&event(kind, with(recorded("dispute"), json!({ "status": status }))));
        assert_eq!(subject, EventSubject::Reference("pi_3SQ".to_owned()));
        let reversal = Reversal::new(expected, "du_1SQ".to_owned(), amount);
        let reversal = Reversal { currency: Some(Currency::BRL), ..reversal };
        assert_eq!(what, EventKind::Reversal(reversal));
    }
    let dollars = with(recorded("dispute"), json!({ "currency": "usd" }));
    let (_, what) = one(&event("charge.dispute.created", dollars));
    let EventKind::Reversal(told) = what else { panic!("{what:?}") };
    assert_eq!(told.currency, Currency::parse("USD"));
    let unlisted = with(recorded("dispute"), json!({ "currency": "xxx" }));
    let refusal = events(&event("charge.dispute.created", unlisted)).unwrap_err();
    assert!(matches!(refusal, NotificationRefusal::NotReadable(_)), "nor is it ours: {refusal:?}");
    for kind in
        ["charge.dispute.updated", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"]
    {
        assert_eq!(events(&event(kind, recorded("dispute"))), Ok(Vec::new()), "{kind}");
    }
    let nameless = with(recorded("dispute"), json!({ "payment_intent": null }));
    let refusal = events(&event("charge.dispute.created", nameless)).unwrap_err();
    assert!(matches!(refusal, NotificationRefusal::NotReadable(_)));
}

#[test]
fn the_check_of_a_card_is_told_too() {
    let (subject, what) = one(&event("setup_intent.succeeded", recorded("setup_intent")));
    assert_eq!((subject, approved(&what)), (about(AUTHORIZATION), "seti_1SQ"));
}

#[test]
fn what_another_system_has_done_says_nothing() {
    for metadata in [json!({}), json!([]), Value::Null, json!({ "regente_key": "7", "regente_object_id": 7 })]
    {
        let foreign = intent(json!({ "metadata": metadata }));
        for kind in ["payment_intent.succeeded", "payment_intent.canceled"] {
            assert_eq!(events(&event(kind, foreign.clone())), Ok(Vec::new()));
        }
    }
}

#[test]
fn unknown_kinds_are_kept() {
    for kind in ["charge.succeeded", "payout.paid", "a.kind.of.tomorrow"] {
        let refusal = events(&event(kind, json!({}))).unwrap_err();
        assert_eq!(refusal, NotificationRefusal::UnknownKind(kind.to_owned()));
    }
    for unreadable in [json!({}), json!("text"), event("payment_intent.succeeded", json!({ "id": 7 }))] {
        let refusal = events(&unreadable).unwrap_err();
        assert!(matches!(refusal, NotificationRefusal::NotReadable(_)));
    }
}

/// What is kept of an event is the time as a text.
#[test]
fn a_time_that_cannot_be_written_is_none() {
    for created in [9_007_199_254_740_991_i64, i64::MAX, i64::MIN] {
        let event = with(
            event("payment_intent.succeeded", recorded("payment_intent")),
            json!({ "created": created }),
        );
        let refusal = events(&event).unwrap_err();
        assert!(matches!(refusal, NotificationRefusal::NotReadable(_)), "{created}: {refusal:?}");
    }
}
