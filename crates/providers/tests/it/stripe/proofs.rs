//! What an answer proves: nothing is refused, absent or undone on the strength of an answer that does not prove that no
//! money has moved (`docs/providers/what-an-answer-proves.md`).

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use regente_domain::capture_mode::CaptureMode;
use regente_providers::http_client::Incoming;
use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::request::OperationKind;
use regente_providers::stripe::{ABSENCE_PROVES_AFTER, tell};
use serde_json::{Value, json};

use super::faults::{answered, intent};
use super::loopback::{Loopback, Reply};
use super::{AUTHORIZATION, charge, error, inquiry, providers, recorded, with};
use crate::support::{at, declined};

const PROVIDER_FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);

fn page(status: u16, content_type: Option<&'static str>, body: &str) -> Incoming {
    let mut page = super::answer(status, &Value::Null);
    page.headers.extend(content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
    Incoming { body: body.as_bytes().to_vec(), ..page }
}

#[test]
fn a_page_of_somebody_in_between_refuses_nothing() {
    let own = error(json!({ "type": "invalid_request_error", "code": "rate_limit" })).to_string();
    for status in [400, 401, 402, 403, 404, 429] {
        for (content_type, body) in [
            (Some("text/html"), "<html>Access denied</html>"),
            (None, "<html>Access denied</html>"),
            (None, ""),
            (Some("application/json"), "{}"),
            (Some("application/json"), r#"{"message":"Forbidden"}"#),
            (Some("application/json"), r#"{"error":"forbidden"}"#),
            (Some("application/json"), r#"{"error":{"message":"forbidden"}}"#),
            (Some("text/html"), own.as_str()),
        ] {
            let page = page(status, content_type, body);
            let shown = format!("{status} {body}");
            assert_eq!(tell::authorization(&page, CaptureMode::Automatic), PROVIDER_FAILED, "{shown}");
            assert_eq!(tell::verification(&page), PROVIDER_FAILED, "{shown}");
            assert_eq!(tell::refund(&page), PROVIDER_FAILED, "{shown}");
            assert_eq!(tell::payment(&page, None), Probe::Unknown, "{shown}");
        }
        let own = page(status, Some("application/json; charset=utf-8"), &own);
        declined(tell::authorization(&own, CaptureMode::Automatic));
    }
    // What the provider does not document.
    for status in [405, 410, 412, 422, 451] {
        let own = page(status, Some("application/json"), &own);
        assert_eq!(tell::authorization(&own, CaptureMode::Automatic), PROVIDER_FAILED, "{status}");
    }
    let no_word = error(json!({ "type": "invalid_request_error" }));
    let limited = super::answer(429, &no_word);
    assert_eq!(tell::authorization(&limited, CaptureMode::Automatic), PROVIDER_FAILED);
}

#[test]
fn a_refusal_whose_payment_holds_money_is_none() {
    for (status, is_refused) in [
        ("requires_payment_method", true),
        ("canceled", true),
        ("succeeded", false),
        ("requires_capture", false),
        ("processing", false),
        ("a_state_of_tomorrow", false),
    ] {
        let intent = with(recorded("payment_intent"), json!({ "status": status }));
        let body = error(json!({ "type": "card_error", "code": "card_declined", "payment_intent": intent }));
        let answer = tell::authorization(&super::answer(402, &body), CaptureMode::Automatic);
        assert_eq!(matches!(answer, Answer::Declined(_)), is_refused, "{status}: {answer:?}");
        assert!(is_refused || answer == PROVIDER_FAILED, "{status}: {answer:?}");
    }
}

#[test]
fn an_authorization_is_no_approval_of_what_is_captured_at_once() {
    for method in [json!("automatic"), json!("manual"), Value::Null] {
        let members = json!({ "status": "requires_capture", "capture_method": method });
        let answer = super::answer(200, &with(recorded("payment_intent"), members));
        assert_eq!(tell::authorization(&answer, CaptureMode::Automatic), PROVIDER_FAILED, "{method}");
        assert_eq!(tell::payment(&answer, Some(CaptureMode::Automatic)), Probe::Unknown, "{method}");
        let by_hand = tell::payment(&answer, Some(CaptureMode::Manual));
        assert!(matches!(by_hand, Probe::Found(Finding::Approved(_))), "{method}: {by_hand:?}");
        // A notification knows what the payment says alone.
        let told = matches!(tell::payment(&answer, None), Probe::Found(Finding::Approved(_)));
        assert_eq!(told, method == "manual", "{method}");
    }
    for open in ["processing", "requires_confirmation"] {
        let answer = super::answer(200, &with(recorded("payment_intent"), json!({ "status": open })));
        assert_eq!(tell::authorization(&answer, CaptureMode::Automatic), PROVIDER_FAILED, "{open}");
    }
}

#[tokio::test]
async fn only_a_whole_list_of_the_provider_proves_that_there_is_no_payment() {
    let empty = |members: Value| Reply::Json(200, with(json!({ "data": [] }), members));
    let list = || empty(json!({ "object": "list", "has_more": false }));
    let unreadable = || Reply::Page(200);
    for (listed, searched, expected) in [
        (list(), unreadable(), Probe::Absent),
        (unreadable(), empty(json!({ "object": "search_result", "has_more": false })), Probe::Absent),
        (unreadable(), Reply::Page(404), Probe::Unknown),
        (unreadable(), empty(json!({})), Probe::Unknown),
        (unreadable(), empty(json!({ "object": "charges" })), Probe::Unknown),
        (unreadable(), empty(json!({ "object": "search_result", "has_more": true })), Probe::Unknown),
        (empty(json!({})), unreadable(), Probe::Unknown),
    ] {
        let asked = inquiry(OperationKind::Authorization, AUTHORIZATION, None);
        let asked = regente_providers::request::Inquiry { at: at() + ABSENCE_PROVES_AFTER, ..asked };
        let server = Loopback::start([listed, searched]).await;
        assert_eq!(providers(server.url()).probe(asked).await, expected);
    }
}

#[tokio::test]
async fn an_answer_that_reserves_what_is_captured_at_once_is_looked_up() {
    let reserved = intent(json!({ "status": "requires_capture" }));
    assert_eq!(answered(charge(), [reserved]).await.0, PROVIDER_FAILED);
}
