//! Notifications: who sends them, what they say, and of which call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::currency::Currency;
use regente_domain::time::Timestamp;
use regente_providers::http_client::{HttpClient, HttpOptions};
use regente_providers::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Finding, Reversal, ReversalKind};
use regente_providers::pagarme_v5;
use regente_providers::provider::Providers;
use serde_json::Map;

use super::*;

fn providers() -> Providers {
    Providers::with([pagarme_v5::adapter(HttpClient::new(HttpOptions::default()), None)])
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

fn authenticate(
    authorization: Option<&str>,
    credentials: &Credentials,
    body: &[u8],
) -> Result<Authentic, NotificationRefusal> {
    let mut headers = HeaderMap::new();
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, HeaderValue::from_str(authorization).unwrap());
    }
    let (options, now) = (Map::new(), support::at());
    let request = NotificationRequest { headers: &headers, body, credentials, options: &options, now };
    providers().authenticate(ProviderType::PagarmeV5, &request)
}

/// What the adapter reads from a notification of this kind with this data.
pub(super) fn events(kind: &str, data: Value) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let mut body: Value = serde_json::from_str(include_str!("bodies/hook_order_paid.json")).unwrap();
    body["type"] = json!(kind);
    body["data"] = data;
    events_of(&body)
}

pub(super) fn events_of(body: &Value) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let (headers, body) = (HeaderMap::new(), body.to_string().into_bytes());
    providers().events(ProviderType::PagarmeV5, &Notification { headers: &headers, body: &body })
}

#[test]
fn the_provider_is_known_by_its_user_and_password() {
    let right = basic("regente", "sésamo: abre");
    let body = br#"{ "id": "hook_1", "type": "a.new_kind" }"#;
    let authentic = authenticate(Some(&right), &credentials("sk_test_1"), body).unwrap();
    assert_eq!(authentic.id.as_deref(), Some("hook_1"), "a repetition has it too");
    assert!(authentic.kept_headers.is_empty(), "the header is a secret");
    let lower = right.replacen("Basic", "basic", 1);
    assert!(authenticate(Some(&lower), &credentials("sk_test_1"), body).is_ok());
    assert_eq!(authenticate(Some(&right), &credentials("sk_test_1"), b"{}").unwrap().id, None);
}

#[test]
fn anyone_else_is_refused() {
    let refused = Err(NotificationRefusal::NotAuthentic);
    let known = credentials("sk_test_1");
    let wrong = [
        basic("regente", "sésamo: abrE"),
        basic("regente", ""),
        basic("", "sésamo: abre"),
        basic("Regente", "sésamo: abre"),
        "Basic !".to_owned(),
        "Basic".to_owned(),
        basic("regente", "sésamo: abre").replacen("Basic", "Bearer", 1),
    ];
    for authorization in wrong {
        assert_eq!(authenticate(Some(&authorization), &known, b"{}"), refused, "{authorization}");
    }
    assert_eq!(authenticate(None, &known, b"{}"), refused);
}

#[test]
fn without_a_user_and_a_password_no_notification_is_accepted() {
    let refused = Err(NotificationRefusal::NotAuthentic);
    let sets = [
        json!({ "secretKey": "sk_test_1" }),
        json!({ "webhookUser": "", "webhookPassword": "" }),
        json!({ "webhookUser": "regente" }),
        json!({ "webhookPassword": "x" }),
    ];
    for members in sets {
        let credentials = Credentials::new(object(members.clone()));
        for authorization in [basic("", ""), basic("regente", ""), basic("", "x")] {
            assert_eq!(authenticate(Some(&authorization), &credentials, b"{}"), refused, "{members}");
        }
    }
}

#[test]
fn a_notification_leads_back_to_its_call() {
    let by_call = EventSubject::Call { object_id: OBJECT, key: KEY };
    let [event, _] = events("order.paid", order_card()).unwrap().try_into().unwrap();
    assert_eq!(event.about, by_call);
    assert_eq!(event.id, "hook_RyEKQO789TRpZjv5 0");
    assert_eq!(Some(event.occurred_at), Timestamp::parse("2026-09-01T12:00:02Z"));
    assert!(matches!(event.what, EventKind::Outcome(Finding::Approved(_))), "{:?}", event.what);
    let [event, _] = events("charge.paid", charge_of(&order_card(), json!({}))).unwrap().try_into().unwrap();
    assert_eq!(event.about, by_call);
    let renamed = charge_of(&order_card(), json!({ "code": "7", "order": { "id": "or_1", "code": CODE } }));
    let [event, _] = events("charge.paid", renamed).unwrap().try_into().unwrap();
    assert_eq!(event.about, by_call);
}

#[test]
fn what_others_sell_with_the_same_account_is_no_news() {
    let others = charge_of(&order_card(), json!({ "code": "1303724" }));
    assert_eq!(events("charge.paid", others), Ok(vec![]));
    assert_eq!(events("charge.paid", charge_of(&order_card(), json!({ "code": null }))), Ok(vec![]));
}

#[test]
fn each_kind_says_what_became_of_the_charge() {
    let what = |kind: &str, charge: Value| {
        let [event] = events(kind, charge).unwrap().try_into().unwrap();
        event.what
    };
    let pix = |members| charge_of(&order_pix(), members);
    let card = |members| charge_of(&order_card(), members);
    let pending = what("charge.pending", pix(json!({})));
    assert!(matches!(pending, EventKind::Outcome(Finding::Pending(_))), "{pending:?}");
    let paid = |status: &str| {
        pix(json!({ "status": status, "paid_amount": 1400, "last_transaction": { "status": status } }))
    };
    for status in ["paid", "overpaid", "underpaid"] {
        let told = what(&format!("charge.{status}"), paid(status));
        let EventKind::Outcome(Finding::Paid(payments)) = told else { panic!("{told:?}") };
        assert_eq!(payments[0].amount, cents(1400));
    }
    let failed = json!({ "status": "failed", "last_transaction": { "status": "not_authorized", "acquirer_return_code": "51" } });
    for kind in ["charge.payment_failed", "charge.antifraud_reproved"] {
        let told = what(kind, card(failed.clone()));
        assert!(matches!(told, EventKind::Outcome(Finding::Declined(_))), "{told:?}");
    }
    let charged_back = what("charge.chargedback", card(json!({ "status": "chargedback" })));
    let id = "chargeback ch_K2rJ5nlHwTE4qRDP".to_owned();
    let reversal = Reversal::new(ReversalKind::ChargedBack, id, None);
    let reversal = Reversal { currency: Some(Currency::BRL), ..reversal };
    assert_eq!(charged_back, EventKind::Reversal(reversal.clone()));
    let [_, paid] = events("charge.paid", card(json!({}))).unwrap().try_into().unwrap();
    let reversal = Reversal { kind: ReversalKind::ChargeBackReversed, ..reversal };
    assert_eq!(paid.what, EventKind::Reversal(reversal), "it may have been charged back before");
}

#[test]
fn a_refund_is_the_outcome_of_the_void_that_has_marked_it() {
    let (first, second) = (Uuid::from_u128(7), Uuid::from_u128(8));
    let metadata = json!({
        "regente_void_AAAAAAAAAAAAAAAAAAAABw": "0+400@1",
        "regente_void_AAAAAAAAAAAAAAAAAAAACA": "400+1100@1",
        "of the merchant": "x",
    });
    // What the state and the canceled amount say is told besides, in other tests.
    let refunded = |status: &str, canceled: i64| {
        let last = json!({ "status": "captured" });
        let members = json!({
            "status": status, "canceled_amount": canceled, "metadata": metadata, "last_transaction": last,
        });
        let mut events = events("charge.refunded", charge_of(&order_card(), members)).unwrap();
        events.retain(|event| matches!(event.what, EventKind::Outcome(_)));
        let approved = |event: &ProviderEvent| matches!(event.what, EventKind::Outcome(Finding::Approved(_)));
        assert!(events.iter().all(approved), "{events:?}");
        events.into_iter().map(|event| event.about).collect::<Vec<_>>()
    };
    let void = |key| EventSubject::Call { object_id: OBJECT, key };
    assert_eq!(refunded("paid", 400), [void(KEY), void(first)]);
    assert_eq!(refunded("canceled", 1500), [void(second)]);
    assert_eq!(refunded("canceled", 1400), [], "given back by others");
}

#[test]
fn what_is_canceled_in_all_is_told_beside_the_void() {
    let told = |status: &str, last: &str| {
        let last = json!({ "id": "tran_9", "status": last });
        let members = json!({ "status": status, "canceled_amount": 400, "last_transaction": last });
        let events = events("charge.refunded", charge_of(&order_card(), members)).unwrap();
        let deeds = events.into_iter().filter_map(|event| match event.what {
            EventKind::DoneElsewhere(deed) => Some((event.about, deed)),
            EventKind::Outcome(_)
            | EventKind::Revoked(_)
            | EventKind::CaptureFailed { .. }
            | EventKind::Reversal(_)
            | EventKind::Seller(_) => None,
        });
        deeds.collect::<Vec<_>>()
    };
    let deed = |kind, much| {
        let (id, currency) = ("tran_9".to_owned(), Some(Currency::BRL));
        vec![(of_call(KEY), Deed { kind, id, much, currency })]
    };
    assert_eq!(told("paid", "partial_refunded"), deed(DeedKind::Refunded, Much::UpTo(cents(400))));
    assert_eq!(told("canceled", "refunded"), deed(DeedKind::Refunded, Much::Everything));
    assert_eq!(told("canceled", "voided"), deed(DeedKind::Released, Much::Everything));
    assert_eq!(told("paid", "captured"), [], "an earlier state");
}

#[test]
fn of_two_marks_of_one_sum_the_newest_is_done() {
    let metadata = json!({
        "regente_void_AAAAAAAAAAAAAAAAAAAABw": "0+400@2",
        "regente_void_AAAAAAAAAAAAAAAAAAAACA": "0+400@1",
    });
    let members = json!({ "status": "paid", "canceled_amount": 400, "metadata": metadata });
    let told = events("charge.refunded", charge_of(&order_card(), members)).unwrap();
    let voids: Vec<_> =
        told.into_iter().map(|event| event.about).filter(|about| *about != of_call(KEY)).collect();
    assert_eq!(voids, [of_call(Uuid::from_u128(7))], "the other one was refused before");
}

fn of_call(key: Uuid) -> EventSubject {
    EventSubject::Call { object_id: OBJECT, key }
}

#[test]
fn other_kinds_are_kept() {
    for kind in ["charge.created", "charge.processing", "charge.antifraud_pending", "order.created"] {
        assert_eq!(events(kind, json!({})), Ok(vec![]), "{kind}");
    }
    let unknown = events("charge.teleported", json!({}));
    assert_eq!(unknown, Err(NotificationRefusal::UnknownKind("charge.teleported".to_owned())));
    for (kind, data) in [("charge.paid", json!(7)), ("order.paid", json!("x")), ("charge.paid", json!({}))] {
        assert!(matches!(events(kind, data), Err(NotificationRefusal::NotReadable(_))), "{kind}");
    }
    assert!(matches!(events_of(&json!([])), Err(NotificationRefusal::NotReadable(_))));
}
