//! Each operation, step by step, and each fault in each of its steps: the table of `docs/providers/stripe.md`.

use regente_domain::decline::DeclinedCode;
use regente_providers::outcome::{Answer, UnknownReason};
use regente_providers::request::{Call, Credentials, FollowUp, Mode, Operation, Verification};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::loopback::{Loopback, Reply};
use super::{
    APPROVED, AUTHORIZATION, VOID, call, charge, currency, error, follow_up, providers, recorded, with,
};
use crate::support::{approved, card, declined, key, object};

pub(super) const PROVIDER_FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
const UNREADABLE: Answer = Answer::Unknown(UnknownReason::Unreadable);
const LOST: Answer = Answer::Unknown(UnknownReason::ConnectionLost);
const TIMED_OUT: Answer = Answer::Unknown(UnknownReason::TimedOut);

pub(super) const CREATE: &str = "POST /v1/payment_intents";
const READ: &str = "GET /v1/payment_intents/pi_3SQ";
const CAPTURE: &str = "POST /v1/payment_intents/pi_3SQ/capture";
pub(super) const CANCEL: &str = "POST /v1/payment_intents/pi_3SQ/cancel";
const REFUNDS: &str = "GET /v1/refunds";
pub(super) const REFUND: &str = "POST /v1/refunds";

fn verification() -> Call {
    let card = card(APPROVED, Some("123"));
    call(
        AUTHORIZATION,
        Operation::VerifyCard(Verification { currency: currency("BRL"), card, merchant_mcc: None }),
    )
}

fn capture(amount: i64) -> Call {
    call(VOID, Operation::Capture(follow_up(amount)))
}

fn void(amount: i64) -> Call {
    call(VOID, Operation::Void(follow_up(amount)))
}

fn taken() -> Reply {
    Reply::Json(200, recorded("payment_intent"))
}

pub(super) fn intent(changes: Value) -> Reply {
    Reply::Json(200, with(recorded("payment_intent"), changes))
}

fn reserved() -> Reply {
    intent(json!({ "status": "requires_capture", "amount_capturable": 1500 }))
}

pub(super) fn canceled() -> Reply {
    intent(json!({ "status": "canceled" }))
}

/// The payment after the capture with this key.
fn captured(number: u128) -> Reply {
    intent(json!({ "metadata": { "regente_capture_key": key(number) } }))
}

fn no_refunds() -> Reply {
    refunds(&[])
}

fn refunds(made: &[Value]) -> Reply {
    Reply::Json(200, json!({ "object": "list", "data": made, "has_more": false }))
}

fn wrong_state() -> Reply {
    let members = json!({ "type": "invalid_request_error", "code": "payment_intent_unexpected_state" });
    Reply::Json(400, error(members))
}

pub(super) fn fault() -> Reply {
    Reply::Json(500, error(json!({ "type": "api_error", "message": "An unknown error occurred" })))
}

fn limited() -> Reply {
    Reply::Json(429, error(json!({ "type": "invalid_request_error", "code": "rate_limit" })))
}

fn in_use() -> Reply {
    Reply::Json(409, error(json!({ "type": "invalid_request_error", "code": "idempotency_key_in_use" })))
}

pub(super) fn wrong_key() -> Reply {
    Reply::Json(401, error(json!({ "type": "invalid_request_error", "message": "Invalid API Key" })))
}

/// The answer to a call, and the requests that it took.
pub(super) async fn answered(call: Call, replies: impl IntoIterator<Item = Reply>) -> (Answer, Vec<String>) {
    let server = Loopback::start(replies).await;
    let answer = providers(server.url()).call(call).await;
    (answer, server.lines())
}

#[tokio::test]
async fn a_request_says_who_asks_and_by_which_key() {
    let server = Loopback::start([taken()]).await;
    approved(providers(server.url()).call(charge()).await);
    let got = server.got();
    let [got] = got.as_slice() else { panic!("not one: {got:?}") };
    assert_eq!(got.line, CREATE);
    assert_eq!(got.header("authorization"), Some("Bearer sk_test_regente"));
    assert_eq!(got.header("idempotency-key"), Some(key(AUTHORIZATION).to_string().as_str()));
    assert_eq!(got.header("stripe-version"), Some("2026-10-28.endive"));
    assert_eq!(got.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(got.member("payment_method_data[card][number]").as_deref(), Some(APPROVED));
    assert_eq!(got.member("metadata[regente_key]"), Some(key(AUTHORIZATION).to_string()));
}

#[tokio::test]
async fn an_authorization_that_is_not_answered_is_unknown() {
    for (reply, expected) in [
        (Reply::Cut, LOST),
        (fault(), PROVIDER_FAILED),
        (Reply::Text(502, "<html>bad gateway"), PROVIDER_FAILED),
        (Reply::Text(200, "not json"), UNREADABLE),
        (in_use(), PROVIDER_FAILED),
        (Reply::Json(400, error(json!({ "type": "idempotency_error" }))), PROVIDER_FAILED),
        (Reply::Page(400), PROVIDER_FAILED),
        (Reply::Page(403), PROVIDER_FAILED),
        (Reply::Page(429), PROVIDER_FAILED),
    ] {
        assert_eq!(answered(charge(), [reply]).await, (expected, vec![CREATE.to_owned()]));
    }
}

#[tokio::test]
async fn an_authorization_that_takes_too_long_is_unknown() {
    assert_eq!(answered(charge(), [Reply::Silence]).await.0, TIMED_OUT);
}

#[tokio::test]
async fn an_authorization_that_was_not_looked_at_is_refused() {
    let (answer, _) = answered(charge(), [limited()]).await;
    assert_eq!((declined(answer).code), DeclinedCode::TryAgain);
    let (answer, _) = answered(charge(), [wrong_key()]).await;
    let decline = declined(answer);
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::InvalidMerchant, true));
}

#[tokio::test]
async fn nothing_is_sent_to_a_provider_that_is_not_there() {
    // Nobody else gets the port, and nobody listens there.
    let port = TcpSocket::new_v4().unwrap();
    port.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let gone = Url::parse(&format!("http://{}/", port.local_addr().unwrap())).unwrap();
    for call in [charge(), verification(), capture(400), void(400)] {
        let answer = providers(gone.clone()).call(call).await;
        assert_eq!(answer, Answer::NotSent);
    }
}

#[tokio::test]
async fn a_key_of_the_other_environment_is_never_used() {
    for (mode, secret) in
        [(Mode::Sandbox, "sk_live_x"), (Mode::Sandbox, "rk_live_x"), (Mode::Production, "sk_test_x")]
    {
        let credentials = Credentials::new(object(json!({ "secretKey": secret })));
        let (answer, lines) = answered(Call { mode, credentials, ..charge() }, []).await;
        assert_eq!((declined(answer).code, lines), (DeclinedCode::InvalidMerchant, Vec::new()));
        // An earlier repetition may have been sent with another key.
        for follow_up in [capture(400), void(400)] {
            let credentials = Credentials::new(object(json!({ "secretKey": secret })));
            let (answer, lines) = answered(Call { mode, credentials, ..follow_up }, []).await;
            assert_eq!((answer, lines), (Answer::NotSent, Vec::new()));
        }
    }
}

#[tokio::test]
async fn the_check_of_a_card_is_like_an_authorization() {
    let (answer, lines) = answered(verification(), [Reply::Json(200, recorded("setup_intent"))]).await;
    approved(answer);
    assert_eq!(lines, ["POST /v1/setup_intents"]);
    for (reply, expected) in [(Reply::Cut, LOST), (fault(), PROVIDER_FAILED), (in_use(), PROVIDER_FAILED)] {
        assert_eq!(answered(verification(), [reply]).await.0, expected);
    }
    assert_eq!(answered(verification(), [Reply::Silence]).await.0, TIMED_OUT);
    assert_eq!(declined(answered(verification(), [limited()]).await.0).code, DeclinedCode::TryAgain);
}

#[tokio::test]
async fn a_capture_is_one_request() {
    let (answer, lines) = answered(capture(400), [captured(VOID)]).await;
    assert_eq!(approved(answer).transaction_id.as_deref(), Some("pi_3SQ"));
    assert_eq!(lines, [CAPTURE]);
}

#[tokio::test]
async fn a_capture_that_is_not_answered_is_unknown() {
    assert_eq!(answered(capture(400), [Reply::Cut]).await, (LOST, vec![CAPTURE.to_owned()]));
    assert_eq!(answered(capture(400), [Reply::Silence]).await.0, TIMED_OUT);
    // It is sent again, and nobody is told that the reservation could not be captured.
    assert_eq!(answered(capture(400), [limited()]).await.0, PROVIDER_FAILED);
}

#[tokio::test]
async fn a_capture_that_failed_over_there_is_looked_up() {
    for (failed, unknown) in [
        (fault(), PROVIDER_FAILED),
        (in_use(), PROVIDER_FAILED),
        (Reply::Page(403), PROVIDER_FAILED),
        (Reply::Text(200, "not json"), UNREADABLE),
    ] {
        let looked: Vec<String> = [CAPTURE, READ].map(str::to_owned).to_vec();
        let (answer, lines) = answered(capture(400), [failed.clone(), captured(VOID)]).await;
        approved(answer);
        assert_eq!(lines, looked);
        // Nothing is known while the reservation is as it was, or cannot be read.
        assert_eq!(answered(capture(400), [failed.clone(), reserved()]).await, (unknown, looked.clone()));
        assert_eq!(answered(capture(400), [failed, Reply::Cut]).await, (PROVIDER_FAILED, looked));
    }
}

#[tokio::test]
async fn a_capture_is_found_again_when_its_key_is_forgotten() {
    let (answer, lines) = answered(capture(400), [wrong_state(), captured(VOID)]).await;
    approved(answer);
    assert_eq!(lines, [CAPTURE, READ]);
    // Somebody else has captured: the money is taken, and how much of it nobody here knows.
    let (answer, _) = answered(capture(400), [wrong_state(), captured(7)]).await;
    assert_eq!(answer, PROVIDER_FAILED);
    let (answer, _) = answered(capture(400), [wrong_state(), canceled()]).await;
    assert_eq!(declined(answer).network_denied_reason.as_deref(), Some("canceled"));
}

#[tokio::test]
async fn a_capture_that_the_provider_refuses_is_refused() {
    let too_large = error(json!({ "type": "invalid_request_error", "code": "amount_too_large" }));
    let (answer, lines) = answered(capture(9_999), [Reply::Json(400, too_large), reserved()]).await;
    assert_eq!(declined(answer).code, DeclinedCode::InvalidAmount);
    assert_eq!(lines, [CAPTURE, READ]);
    // An earlier repetition may have had its effect while the key was good, and while the payment cannot be read.
    assert_eq!(answered(capture(400), [wrong_key()]).await.0, PROVIDER_FAILED);
    assert_eq!(answered(capture(400), [wrong_state(), Reply::Cut]).await.0, PROVIDER_FAILED);
}

#[tokio::test]
async fn a_void_releases_what_is_reserved() {
    let server = Loopback::start([reserved(), canceled()]).await;
    let approval = approved(providers(server.url()).call(void(1_500)).await);
    assert_eq!(approval.transaction_id.as_deref(), Some("pi_3SQ"));
    assert_eq!(server.lines(), [READ, CANCEL]);
    assert_eq!(server.got()[1].header("idempotency-key"), Some(key(VOID).to_string().as_str()));
}

#[tokio::test]
async fn a_void_ends_what_waits_for_its_payer() {
    for waiting in ["requires_action", "requires_payment_method", "requires_confirmation"] {
        let (answer, lines) = answered(void(1_500), [intent(json!({ "status": waiting })), canceled()]).await;
        approved(answer);
        assert_eq!(lines, [READ, CANCEL]);
    }
}

#[tokio::test]
async fn a_void_of_what_is_released_is_done() {
    let (answer, lines) = answered(void(1_500), [canceled()]).await;
    approved(answer);
    assert_eq!(lines, [READ]);
}

#[tokio::test]
async fn a_reservation_is_not_lowered() {
    let (answer, lines) = answered(void(400), [reserved()]).await;
    let decline = declined(answer);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("reservation_cannot_be_lowered"));
    assert_eq!((decline.retryable, lines), (false, vec![READ.to_owned()]));
}

#[tokio::test]
async fn a_void_gives_back_what_was_taken() {
    let server = Loopback::start([taken(), no_refunds(), Reply::Json(200, recorded("refund"))]).await;
    let approval = approved(providers(server.url()).call(void(400)).await);
    assert_eq!(approval.transaction_id.as_deref(), Some("re_3SQ"));
    assert_eq!(server.lines(), [READ, REFUNDS, REFUND]);
    let refund = &server.got()[2];
    assert_eq!(refund.member("amount").as_deref(), Some("400"));
    assert_eq!(refund.header("idempotency-key"), Some(format!("{}-refund", key(VOID)).as_str()));
}

#[tokio::test]
async fn a_refund_that_was_made_is_not_made_again() {
    // The provider has forgotten the idempotency key, and several refunds were made.
    let other = with(recorded("refund"), json!({ "id": "re_2SQ", "metadata": { "regente_key": key(7) } }));
    let (answer, lines) = answered(void(400), [taken(), refunds(&[other, recorded("refund")])]).await;
    assert_eq!(approved(answer).transaction_id.as_deref(), Some("re_3SQ"));
    assert_eq!(lines, [READ, REFUNDS]);
    let pending = with(recorded("refund"), json!({ "status": "pending" }));
    assert!(matches!(answered(void(400), [taken(), refunds(&[pending])]).await.0, Answer::Accepted(_)));
}

#[tokio::test]
async fn a_refund_is_not_asked_for_while_the_earlier_ones_are_not_known() {
    let many = Reply::Json(200, json!({ "object": "list", "data": [], "has_more": true }));
    for (refunds, unknown) in [
        (many, PROVIDER_FAILED),
        (fault(), PROVIDER_FAILED),
        (limited(), PROVIDER_FAILED),
        (Reply::Text(200, "not json"), UNREADABLE),
    ] {
        let (answer, lines) = answered(void(400), [taken(), refunds]).await;
        assert_eq!((answer, lines), (unknown, vec![READ.to_owned(), REFUNDS.to_owned()]));
    }
}

#[tokio::test]
async fn a_void_that_is_not_answered_is_unknown() {
    for (steps, unanswered) in [
        (Vec::new(), [Reply::Cut, fault(), limited(), Reply::Page(404)]),
        (vec![reserved()], [Reply::Cut, fault(), in_use(), Reply::Page(400)]),
        (vec![taken(), no_refunds()], [Reply::Cut, fault(), in_use(), Reply::Page(400)]),
    ] {
        let expected = [LOST, PROVIDER_FAILED, PROVIDER_FAILED, PROVIDER_FAILED];
        for (reply, expected) in unanswered.into_iter().zip(expected) {
            let replies = steps.iter().cloned().chain([reply]);
            assert_eq!(answered(void(1_500), replies).await.0, expected);
        }
    }
    for steps in [Vec::new(), vec![reserved()], vec![taken(), no_refunds()]] {
        let replies = steps.into_iter().chain([Reply::Silence]);
        assert_eq!(answered(void(1_500), replies).await.0, TIMED_OUT);
        tokio::time::resume();
    }
    // The provider is about to take it.
    assert_eq!(answered(void(1_500), [intent(json!({ "status": "processing" }))]).await.0, PROVIDER_FAILED);
}

#[tokio::test]
async fn a_void_that_the_provider_refuses_is_refused() {
    let disputed = error(json!({ "type": "invalid_request_error", "code": "charge_disputed" }));
    let (answer, _) = answered(void(400), [taken(), no_refunds(), Reply::Json(400, disputed)]).await;
    assert_eq!(declined(answer).network_denied_reason.as_deref(), Some("charge_disputed"));
    assert_eq!(answered(void(400), [wrong_key()]).await.0, PROVIDER_FAILED);
    let missing = error(json!({ "type": "invalid_request_error", "code": "resource_missing" }));
    declined(answered(void(400), [Reply::Json(404, missing)]).await.0);
}

#[tokio::test]
async fn a_release_that_came_by_itself_is_a_release() {
    let ended = with(recorded("payment_intent"), json!({ "status": "canceled" }));
    let members = json!({
        "type": "invalid_request_error", "code": "payment_intent_unexpected_state", "payment_intent": ended,
    });
    let (answer, _) = answered(void(1_500), [reserved(), Reply::Json(400, error(members))]).await;
    approved(answer);
    assert_eq!(
        declined(answered(void(1_500), [reserved(), wrong_state()]).await.0).code,
        DeclinedCode::TransactionNotAllowed
    );
}

#[tokio::test]
async fn a_payment_without_an_id_is_searched_by_its_key() {
    let without_id = || FollowUp { transaction_id: None, ..follow_up(1_500) };
    let found = Reply::Json(200, json!({ "object": "search_result", "data": [recorded("payment_intent")] }));
    let none = Reply::Json(200, json!({ "object": "search_result", "data": [] }));
    let server = Loopback::start([found, reserved(), canceled()]).await;
    approved(providers(server.url()).call(call(VOID, Operation::Void(without_id()))).await);
    assert_eq!(server.lines(), ["GET /v1/payment_intents/search", READ, CANCEL]);
    let query = format!("query=metadata['regente_key']:'{}'&expand[]=data.latest_charge", key(AUTHORIZATION));
    assert_eq!(server.got()[0].query, query);
    // The search may show it later.
    let (answer, _) = answered(call(VOID, Operation::Void(without_id())), [none.clone()]).await;
    assert_eq!(answer, PROVIDER_FAILED);
    let (answer, _) = answered(call(VOID, Operation::Capture(without_id())), [none]).await;
    assert_eq!(answer, PROVIDER_FAILED);
}
