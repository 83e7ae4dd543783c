//! Providers that take their word back about what they had approved (`docs/interface/charges.md#word-taken-back`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use regente::metrics::Endpoint;
use serde_json::{Value, json};

use super::body;
use super::later::{Shop, charged, read, send, shop, shown, signed_at, tells, tells_with};
use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::charges::{capture, void};
use crate::support::metrics::metric;
use crate::support::providers::elsewhere::Said;
use crate::support::providers::{adyen, stripe};
use crate::support::read::{announced, text};
use crate::support::three_d_secure::requests;

stories! {
    a_payment_that_is_refused_after_its_approval_fails,
    a_reservation_that_is_refused_after_its_approval_is_released,
    a_refusal_that_is_older_or_of_another_payment_changes_nothing,
    a_capture_that_fails_after_it_was_confirmed_leaves_the_reservation,
    a_payment_that_was_captured_by_itself_fails_with_its_capture,
    a_capture_that_has_failed_when_it_is_confirmed_leaves_the_reservation,
    a_payment_that_is_refused_before_its_approval_is_heard_fails,
    what_was_refunded_before_it_is_refused_is_left_to_the_operator,
    a_refused_refund_has_moved_no_money,
    a_refusal_counts_when_the_provider_that_is_asked_confirms_it,
    a_refusal_that_the_provider_does_not_show_at_once_is_asked_about_again,
    a_refusal_that_is_never_confirmed_is_told_to_the_operator,
    a_refusal_that_is_denied_and_unanswered_in_turns_is_asked_about_less_and_less,
}

/// The provider's id of each payment.
const PAYMENT: &str = "JLCMPCQ8HXSKGK82";
const GIVEN_UP: &str = "regente_provider_reports_given_up_total";
const HOUR: Duration = Duration::from_secs(60 * 60);
const REVOKED: &str = "regente_payments_revoked_total";
const INTENT: &str = include_str!("../../../../providers/tests/it/stripe/bodies/payment_intent.json");

/// A moment from now, as the provider writes it.
fn soon(app: &TestApp) -> String {
    app.clock.advance(Duration::from_secs(60));
    text(&json!(app.clock.deployment())).to_owned()
}

/// Refuses the payment that it has approved.
pub(super) async fn refuses(app: &TestApp, shop: &Shop) {
    let at = soon(app);
    tells_with(app, shop, "/adyen/payments", ("AUTHORISATION", false), (PAYMENT, &at)).await;
}

/// What the books say that the provider has reserved and owes.
pub(super) async fn posted(app: &TestApp) -> (i64, i64) {
    let entries = app.get("/v1/ledger/entries?limit=100").await.expect(200);
    let sum = |purpose: &str| -> i64 {
        let of = |entry: &Value| {
            let amount = entry["amount"].as_i64().unwrap();
            let side = |side: &str| if entry[side] == purpose { amount } else { 0 };
            side("debit") - side("credit")
        };
        entries["items"].as_array().unwrap().iter().map(of).sum()
    };
    (sum("hold"), sum("provider_receivable"))
}

async fn a_payment_that_is_refused_after_its_approval_fails(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let before = metric(endpoint.address(), REVOKED).await;
    let id = charged(&app, &shop, true).await;
    assert_eq!(posted(&app).await, (0, 150));
    refuses(&app, &shop).await;
    let failed = read(&app, &id).await;
    assert_eq!(shown(&failed), ("failed", 150), "{failed:#}");
    assert_eq!(requests(&failed), [("authorization", "failed"), ("authorization", "success")]);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "failed"]);
    assert_eq!(posted(&app).await, (0, 0), "the books have no money that nobody took");
    ledger_is_right(&app).await;
    assert!(metric(endpoint.address(), REVOKED).await > before, "an operator is told");
    void(&app, &id, json!({})).await.expect(400);
}

async fn a_reservation_that_is_refused_after_its_approval_is_released(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    assert_eq!(posted(&app).await, (150, 0));
    refuses(&app, &shop).await;
    let released = read(&app, &id).await;
    assert_eq!(shown(&released), ("canceled", 0), "{released:#}");
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "canceled"]);
    assert_eq!(posted(&app).await, (0, 0));
    ledger_is_right(&app).await;
}

/// The provider cannot be asked: what it told before is a repetition, or about another try.
async fn a_refusal_that_is_older_or_of_another_payment_changes_nothing(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let before = read(&app, &id).await;
    let old = "2020-01-01T00:00:00Z";
    tells_with(&app, &shop, "/adyen/payments", ("AUTHORISATION", false), (PAYMENT, old)).await;
    assert_eq!(read(&app, &id).await, before, "it is older");
    let at = soon(&app);
    tells_with(&app, &shop, "/adyen/payments", ("AUTHORISATION", false), ("ANOTHER", &at)).await;
    assert_eq!(read(&app, &id).await, before, "it is about another payment");
}

async fn a_capture_that_fails_after_it_was_confirmed_leaves_the_reservation(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    capture(&app, &id, json!({ "amount": 100 })).await.expect(201);
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    let captured = read(&app, &id).await;
    assert_eq!(shown(&captured), ("authorized", 100));
    assert_eq!(posted(&app).await, (0, 100));
    let (psp, at) = (text(&captured["transactionRequests"][0]["transactionId"]), soon(&app));
    tells_with(&app, &shop, "/captures", ("CAPTURE_FAILED", true), (psp, &at)).await;
    let reserved = read(&app, &id).await;
    assert_eq!(shown(&reserved), ("pre_authorized", 150), "{reserved:#}");
    assert_eq!(requests(&reserved)[..2], [("capture", "failed"), ("capture", "success")]);
    let events = ["pending", "pre_authorized", "authorized", "pre_authorized"];
    assert_eq!(announced(&app, &id).await, events);
    assert_eq!(posted(&app).await, (150, 0));
    ledger_is_right(&app).await;
    // It can be captured again, and all of that may come back.
    capture(&app, &id, json!({})).await.expect(201);
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    void(&app, &id, json!({ "amount": 60 })).await.expect(201);
    tells(&app, &shop, "/refunds", "REFUND", true).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 90));
    tells(&app, &shop, "/refunds", "REFUND_FAILED", true).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 150));
    assert_eq!(posted(&app).await, (0, 150));
    ledger_is_right(&app).await;
}

/// What the provider tells comes late: it has failed long before it is known to be done.
async fn a_capture_that_has_failed_when_it_is_confirmed_leaves_the_reservation(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    capture(&app, &id, json!({ "amount": 100 })).await.expect(201);
    let failed_at = soon(&app);
    app.later(Duration::from_secs(60 * 60)).await;
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    let captured = read(&app, &id).await;
    assert_eq!(shown(&captured), ("authorized", 100));
    let psp = text(&captured["transactionRequests"][0]["transactionId"]);
    tells_with(&app, &shop, "/captures", ("CAPTURE_FAILED", true), (psp, &failed_at)).await;
    let reserved = read(&app, &id).await;
    assert_eq!(shown(&reserved), ("pre_authorized", 150), "{reserved:#}");
    assert_eq!(posted(&app).await, (150, 0));
    ledger_is_right(&app).await;
}

/// The capture has an id of its own at the provider, and no request here.
async fn a_payment_that_was_captured_by_itself_fails_with_its_capture(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let at = soon(&app);
    let capture = ("CAPTURE_FAILED", true);
    tells_with(&app, &shop, "/adyen/payments", capture, ("QFQTPCQ8HXSKGK82", &at)).await;
    let failed = read(&app, &id).await;
    assert_eq!(shown(&failed), ("failed", 150), "{failed:#}");
    assert_eq!(requests(&failed), [("authorization", "failed"), ("authorization", "success")]);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "failed"]);
    assert_eq!(posted(&app).await, (0, 0));
    ledger_is_right(&app).await;
}

/// The approval comes an hour late: what the provider says of a moment between the two is newer than it.
async fn a_payment_that_is_refused_before_its_approval_is_heard_fails(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    shop.elsewhere.answers(|said| (said.path == "/adyen/payments").then(|| (500, json!({}))));
    let id = charged(&app, &shop, true).await;
    assert_eq!(shown(&read(&app, &id).await), ("pending", 150));
    let (approved_at, refused_at) = (soon(&app), soon(&app));
    app.clock.advance(Duration::from_secs(60 * 60));
    tells_with(&app, &shop, "/adyen/payments", ("AUTHORISATION", true), (PAYMENT, &approved_at)).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 150));
    tells_with(&app, &shop, "/adyen/payments", ("AUTHORISATION", false), (PAYMENT, &refused_at)).await;
    assert_eq!(shown(&read(&app, &id).await), ("failed", 150));
    assert_eq!(posted(&app).await, (0, 0));
    ledger_is_right(&app).await;
}

async fn what_was_refunded_before_it_is_refused_is_left_to_the_operator(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let id = charged(&app, &shop, true).await;
    void(&app, &id, json!({ "amount": 50 })).await.expect(201);
    tells(&app, &shop, "/refunds", "REFUND", true).await;
    let before = read(&app, &id).await;
    assert_eq!(shown(&before), ("authorized", 100));
    let told = metric(endpoint.address(), REVOKED).await;
    refuses(&app, &shop).await;
    assert_eq!(read(&app, &id).await, before, "nothing is guessed");
    assert!(metric(endpoint.address(), REVOKED).await > told, "an operator is told");
}

/// Of what it has not captured the provider can refund nothing.
async fn a_refused_refund_has_moved_no_money(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    capture(&app, &id, json!({ "amount": 100 })).await.expect(201);
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    let psp = text(&read(&app, &id).await["transactionRequests"][0]["transactionId"]).to_owned();
    let received = void(&app, &id, json!({ "amount": 40 })).await.expect(201);
    assert_eq!(shown(&received), ("refund_pending", 100), "{received:#}");
    let at = soon(&app);
    tells_with(&app, &shop, "/captures", ("CAPTURE_FAILED", true), (&psp, &at)).await;
    assert_eq!(shown(&read(&app, &id).await), ("refund_pending", 100), "the refund is waited for");
    tells(&app, &shop, "/refunds", "REFUND", false).await;
    app.later(Duration::from_secs(60 * 60)).await;
    app.run_jobs().await;
    let reserved = read(&app, &id).await;
    assert_eq!(shown(&reserved), ("pre_authorized", 150), "{reserved:#}");
    assert_eq!(posted(&app).await, (150, 0));
    ledger_is_right(&app).await;
}

/// A provider that can be asked is asked: an old message is a message like any other.
async fn a_refusal_counts_when_the_provider_that_is_asked_confirms_it(app: TestApp) {
    let (app, shop, is_canceled) = asked(app).await;
    let id = charged(&app, &shop, true).await;
    for (event, status) in [("evt_1", "authorized"), ("evt_2", "failed")] {
        is_canceled.store(status == "failed", Ordering::SeqCst);
        cancels(&app, &shop, &id, event).await;
        assert_eq!(read(&app, &id).await["status"], status, "{event}");
    }
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "failed"]);
    ledger_is_right(&app).await;
}

/// What a provider shows may be behind what it notifies.
async fn a_refusal_that_the_provider_does_not_show_at_once_is_asked_about_again(app: TestApp) {
    let (app, shop, is_canceled) = asked(app).await;
    let id = charged(&app, &shop, true).await;
    cancels(&app, &shop, &id, "evt_1").await;
    app.later(HOUR).await;
    assert_eq!(read(&app, &id).await["status"], "authorized", "it is not confirmed");
    is_canceled.store(true, Ordering::SeqCst);
    app.later(2 * HOUR).await;
    assert_eq!(read(&app, &id).await["status"], "failed");
    assert_eq!(posted(&app).await, (0, 0));
    ledger_is_right(&app).await;
}

async fn a_refusal_that_is_never_confirmed_is_told_to_the_operator(app: TestApp) {
    let (app, shop, is_canceled) = asked(app).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let id = charged(&app, &shop, true).await;
    let before = metric(endpoint.address(), GIVEN_UP).await;
    cancels(&app, &shop, &id, "evt_1").await;
    app.later(26 * HOUR).await;
    assert!(metric(endpoint.address(), GIVEN_UP).await > before, "an operator is told");
    is_canceled.store(true, Ordering::SeqCst);
    app.later(26 * HOUR).await;
    assert_eq!(read(&app, &id).await["status"], "authorized", "nobody asks any more");
    ledger_is_right(&app).await;
}

/// Nobody asks a provider that denies its refusal and does not answer in turns every second, or for ever.
async fn a_refusal_that_is_denied_and_unanswered_in_turns_is_asked_about_less_and_less(app: TestApp) {
    let (app, shop, _) = asked(app).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let id = charged(&app, &shop, true).await;
    let before = metric(endpoint.address(), GIVEN_UP).await;
    let looks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looks);
    shop.elsewhere.answers(move |said| {
        let is_unanswered = count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        if is_unanswered { Some((503, json!({}))) } else { payment(said, false) }
    });
    cancels(&app, &shop, &id, "evt_1").await;
    app.later(24 * HOUR).await;
    let on_the_first_day = looks.load(Ordering::SeqCst);
    assert!((24..100).contains(&on_the_first_day), "{on_the_first_day}");
    app.later(31 * 24 * HOUR).await;
    assert!(metric(endpoint.address(), GIVEN_UP).await > before, "an operator is told");
    let until_it_was_given_up = looks.load(Ordering::SeqCst);
    app.later(26 * HOUR).await;
    assert_eq!(looks.load(Ordering::SeqCst), until_it_was_given_up, "nobody asks any more");
    assert_eq!(read(&app, &id).await["status"], "authorized");
    ledger_is_right(&app).await;
}

/// A shop whose provider shows what it has taken, and as canceled once that is set.
async fn asked(app: TestApp) -> (TestApp, Shop, Arc<AtomicBool>) {
    let (app, shop) = shop(app, stripe(1)).await;
    let is_canceled = Arc::new(AtomicBool::new(false));
    let canceled = Arc::clone(&is_canceled);
    shop.elsewhere.answers(move |said| payment(said, canceled.load(Ordering::SeqCst)));
    (app, shop, is_canceled)
}

/// What the provider answers who makes a payment or asks about it.
fn payment(said: &Said, is_canceled: bool) -> Option<(u16, Value)> {
    let asked = said.path.strip_prefix("/stripe/v1/payment_intents")?;
    let sent = said.earlier.iter().find(|said| said.path == "/stripe/v1/payment_intents");
    let sent = if asked.is_empty() { said.form() } else { sent?.form() };
    let mut intent = body(INTENT);
    (intent["status"], intent["amount"]) = (json!("succeeded"), json!(150));
    intent["amount_received"] = json!(150);
    for name in ["regente_key", "regente_object_id"] {
        intent["metadata"][name] = json!(sent[&format!("metadata[{name}]")]);
    }
    if !asked.is_empty() && is_canceled {
        intent["status"] = json!("canceled");
    }
    Some((200, intent))
}

/// The provider notifies that it has canceled what it had taken.
async fn cancels(app: &TestApp, shop: &Shop, id: &str, event: &str) {
    let charge = read(app, id).await;
    assert_eq!(shown(&charge), ("authorized", 150), "{charge:#}");
    let mut intent = body(INTENT);
    let sent = shop.elsewhere.said("POST", "/stripe/v1/payment_intents").form();
    intent["status"] = json!("canceled");
    intent["id"] = charge["transactionRequests"][0]["transactionId"].clone();
    for name in ["regente_key", "regente_object_id"] {
        intent["metadata"][name] = json!(sent[&format!("metadata[{name}]")]);
    }
    let now = app.clock.deployment().as_millis() / 1000;
    let message = json!({
        "id": event, "object": "event", "type": "payment_intent.canceled", "created": now,
        "data": { "object": intent },
    });
    assert_eq!(send(app, shop, "Stripe-Signature", &signed_at(now, &message), &message).await, 200);
    app.run_jobs().await;
}
