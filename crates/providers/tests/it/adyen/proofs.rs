//! What an answer proves: nothing is refused on the strength of an answer that does not prove that no money has moved
//! (`docs/providers/what-an-answer-proves.md`).

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use regente_providers::adyen::ask::Expects;
use regente_providers::adyen::tell::{answer, found};
use regente_providers::http_client::Incoming;
use regente_providers::outcome::{Answer, Probe, UnknownReason};

use super::calls::{incoming, inquiry};

const FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
const INVALID: &str = include_str!("recorded/invalid.json");

fn page(status: u16, content_type: Option<&'static str>, body: &str) -> Incoming {
    let mut page = incoming(status, body);
    page.headers.extend(content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
    page
}

#[test]
fn a_page_of_somebody_in_between_refuses_nothing() {
    for status in [400, 401, 403, 404, 422, 429] {
        for (content_type, body) in [
            (Some("text/html"), "<html>Access denied</html>"),
            (None, "<html>Access denied</html>"),
            (None, ""),
            (Some("application/json"), "{}"),
            (Some("application/json"), r#"{"message":"Forbidden"}"#),
            (Some("application/json"), r#"{"errorCode":""}"#),
            (Some("text/html"), r#"{"errorCode":"101","errorType":"validation"}"#),
            // Of another answer.
            (Some("application/json"), r#"{"status":418,"errorCode":"101","errorType":"validation"}"#),
        ] {
            for expects in [Expects::Card { return_url: None }, Expects::Receipt] {
                let page = page(status, content_type, body);
                assert_eq!(answer(&expects, &page), FAILED, "{status} {body}");
                let inquiry = inquiry(&[("redirectResult", "X6XtfGC3!Y")]);
                assert_eq!(found(&inquiry, &page), Probe::Unknown, "{status} {body}");
            }
        }
    }
    let own = page(422, Some("application/json;charset=UTF-8"), INVALID);
    assert!(matches!(answer(&Expects::Card { return_url: None }, &own), Answer::Declined(_)));
}

#[test]
fn an_error_within_the_provider_is_no_refusal() {
    for status in [400, 401, 403, 404, 422, 429] {
        for error in [
            r#"{"errorCode":"101","message":"Invalid card number","errorType":"internal"}"#,
            r#"{"errorCode":"903","message":"Internal error"}"#,
            r#"{"errorCode":"904","message":"Unable To Process"}"#,
            r#"{"errorCode":"704","message":"request already processed or in progress","errorType":"validation"}"#,
        ] {
            for expects in [Expects::Card { return_url: None }, Expects::Receipt] {
                assert_eq!(answer(&expects, &incoming(status, error)), FAILED, "{status} {error}");
            }
        }
    }
}
