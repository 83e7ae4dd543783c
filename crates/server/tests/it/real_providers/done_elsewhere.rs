//! The merchant captures, cancels and refunds at a provider's own page, or by another system of theirs.

use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regente_store::provider_notifications;
use regente_store::provider_notifications::State;
use serde_json::{Value, json};

use super::later::{Shop, charged, read, send, shop, shown, signed_at};
use super::revoked::posted;
use super::{SUCCEEDED, Said, body};
use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::charges::void;
use crate::support::providers::{adyen, pagarme, stripe};
use crate::support::read::{announced, text};
use crate::support::three_d_secure::requests;

stories! {
    what_is_refunded_by_hand_is_counted_once_in_any_order,
    a_reservation_is_captured_or_released_by_hand,
    a_further_capture_by_hand_is_told_to_the_operator,
    a_capture_by_hand_that_fails_leaves_the_reservation,
    each_of_two_disputes_takes_and_gives_back_its_own_sum,
    two_disputes_are_told_apart_by_their_sums,
    a_capture_at_the_dashboard_is_counted,
    a_refund_at_the_dashboard_can_fail,
    a_charge_says_how_much_was_refunded_in_all,
    a_charge_that_is_paid_again_after_its_charge_back_is_not_charged_back,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
/// The provider's id of the payment.
const PAYMENT: &str = "JLCMPCQ8HXSKGK82";
const ORDER: &str = include_str!("../../../../providers/tests/it/pagarme_v5/bodies/order_card.json");

/// The provider tells twice of a request that was made under this reference, by hand or by another system.
async fn tells(app: &TestApp, shop: &Shop, code: &str, psp: &str, reference: &str, value: i64) {
    tells_of(app, shop, (code, "2026-03-23T16:00:00+01:00"), (psp, PAYMENT), (reference, value)).await;
}

/// The same with a date, and with the provider's ids of what was done and of the payment.
async fn tells_of(
    app: &TestApp,
    shop: &Shop,
    (code, date): (&str, &str),
    (psp, original): (&str, &str),
    (reference, value): (&str, i64),
) {
    let signed = format!("{psp}:{original}:Shop:{reference}:{value}:BRL:{code}:true");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &[0x44; 32]);
    let signature = STANDARD.encode(hmac::sign(&key, signed.as_bytes()).as_ref());
    let item = json!({
        "eventCode": code, "success": "true", "pspReference": psp, "originalReference": original,
        "merchantAccountCode": "Shop", "merchantReference": reference, "eventDate": date,
        "amount": { "currency": "BRL", "value": value }, "additionalData": { "hmacSignature": signature },
    });
    for _ in 0..2 {
        let items = json!([{ "NotificationRequestItem": item }]);
        let message = json!({ "live": "false", "notificationItems": items });
        assert_eq!(send(app, shop, "unused", "", &message).await, 200);
        app.run_jobs().await;
    }
}

/// The release that we have asked for last is done.
pub(super) async fn tells_released(app: &TestApp, shop: &Shop) {
    tells(app, shop, "CANCELLATION", "cancel 9", &reference(shop, "/cancels"), 150).await;
}

/// Our reference of the newest request to an address that ends so.
fn reference(shop: &Shop, end: &str) -> String {
    let all = shop.elsewhere.all();
    let sent = all.iter().rfind(|said| said.path.ends_with(end)).expect("such a request").json();
    text(&sent["reference"]).to_owned()
}

async fn what_is_refunded_by_hand_is_counted_once_in_any_order(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let payment = reference(&shop, "/adyen/payments");
    tells(&app, &shop, "REFUND", "refund 1", &payment, 40).await;
    let refunded = read(&app, &id).await;
    assert_eq!(shown(&refunded), ("authorized", 110), "{refunded:#}");
    assert_eq!(requests(&refunded), [("void", "success"), ("authorization", "success")]);
    tells(&app, &shop, "REFUND", "refund 2", "order 7", 30).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 80), "of another system");
    // One of ours is under way: which of the two is meant is known when it has ended.
    void(&app, &id, json!({ "amount": 20 })).await.expect(201);
    tells(&app, &shop, "REFUND", "refund 3", &payment, 10).await;
    assert_eq!(shown(&read(&app, &id).await), ("refund_pending", 80));
    let ours = reference(&shop, "/refunds");
    tells(&app, &shop, "REFUND", "refund 4", &ours, 20).await;
    app.later(HOUR).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 50));
    // More than is left is told to the operator, and kept.
    tells(&app, &shop, "REFUND", "refund 5", &payment, 51).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 50));
    tells(&app, &shop, "REFUND", "refund 6", &payment, 50).await;
    assert_eq!(shown(&read(&app, &id).await), ("voided", 0));
    let events = announced(&app, &id).await;
    assert_eq!(events[2..], ["voided", "voided", "refund_pending", "voided", "voided", "voided"]);
    ledger_is_right(&app).await;
}

async fn a_reservation_is_captured_or_released_by_hand(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    let payment = reference(&shop, "/adyen/payments");
    tells(&app, &shop, "CAPTURE", "capture 1", &payment, 100).await;
    let captured = read(&app, &id).await;
    assert_eq!(shown(&captured), ("authorized", 100), "{captured:#}");
    assert_eq!(requests(&captured)[0], ("capture", "success"));
    let id = charged(&app, &shop, false).await;
    tells(&app, &shop, "CANCELLATION", "cancel 1", &reference(&shop, "/adyen/payments"), 150).await;
    let released = read(&app, &id).await;
    assert_eq!(released["status"], "canceled", "{released:#}");
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "canceled"]);
    ledger_is_right(&app).await;
}

/// A charge is captured once: what another capture has taken the charge cannot show.
async fn a_further_capture_by_hand_is_told_to_the_operator(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    let payment = reference(&shop, "/adyen/payments");
    tells(&app, &shop, "CAPTURE", "capture 1", &payment, 100).await;
    tells(&app, &shop, "CAPTURE", "capture 2", &payment, 50).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 100));
    let later = app.clock.deployment() + HOUR;
    let left = provider_notifications::left(&app.app.store, later).await.unwrap();
    let left: Vec<_> = left.iter().map(|left| (left.state, left.count)).collect();
    assert_eq!(left, [(State::Kept, 1)], "it is kept, and not said to be applied");
    ledger_is_right(&app).await;
}

async fn a_capture_by_hand_that_fails_leaves_the_reservation(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    let payment = reference(&shop, "/adyen/payments");
    // Its failure is heard first, and waits.
    tells(&app, &shop, "CAPTURE_FAILED", "capture 1", &payment, 100).await;
    assert_eq!(shown(&read(&app, &id).await), ("pre_authorized", 150), "nothing was captured");
    tells(&app, &shop, "CAPTURE", "capture 1", &payment, 100).await;
    app.later(HOUR).await;
    assert_eq!(shown(&read(&app, &id).await), ("pre_authorized", 150));
    // By another system, once more.
    tells(&app, &shop, "CAPTURE", "capture 2", "order 7", 120).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 120));
    tells(&app, &shop, "CAPTURE_FAILED", "capture 2", "order 7", 120).await;
    let reserved = read(&app, &id).await;
    assert_eq!(shown(&reserved), ("pre_authorized", 150), "{reserved:#}");
    assert_eq!(requests(&reserved)[..2], [("capture", "failed"), ("capture", "success")]);
    let events = announced(&app, &id).await;
    assert_eq!(events[2..], ["authorized", "pre_authorized", "authorized", "pre_authorized"]);
    ledger_is_right(&app).await;
}

async fn each_of_two_disputes_takes_and_gives_back_its_own_sum(app: TestApp) {
    two_disputes(app, |dispute| (dispute.to_owned(), PAYMENT)).await;
}

/// What begins a dispute names it; what follows names the payment alone in some accounts.
async fn two_disputes_are_told_apart_by_their_sums(app: TestApp) {
    two_disputes(app, |_| (PAYMENT.to_owned(), "")).await;
}

/// Two disputes of two sums, which are told in another order than they happened. `names` are the ids in all that follows the
/// beginning of one.
async fn two_disputes(app: TestApp, names: impl Fn(&str) -> (String, &'static str)) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let payment = reference(&shop, "/adyen/payments");
    let told = async |minute: u32, code: &str, (dispute, value): (&str, i64)| {
        let begins = code == "CHARGEBACK";
        let (psp, original) = if begins { (dispute.to_owned(), PAYMENT) } else { names(dispute) };
        let date = format!("2026-04-01T12:{minute:02}:00Z");
        tells_of(&app, &shop, (code, &date), (&psp, original), (&payment, value)).await;
        let status = text(&read(&app, &id).await["status"]).to_owned();
        (status, posted(&app).await.1)
    };
    let is = |status: &str, kept: i64| (status.to_owned(), kept);
    let (one, two) = (("DISPUTE1", 40), ("DISPUTE2", 60));
    assert_eq!(told(1, "CHARGEBACK", one).await, is("charged_back", 110));
    assert_eq!(told(2, "CHARGEBACK", two).await, is("charged_back", 50));
    assert_eq!(told(5, "SECOND_CHARGEBACK", two).await, is("charged_back", 50));
    assert_eq!(told(3, "CHARGEBACK_REVERSED", one).await, is("charged_back", 90), "one has come back");
    assert_eq!(told(4, "CHARGEBACK_REVERSED", two).await, is("charged_back", 90), "it is older");
    assert_eq!(told(6, "SECOND_CHARGEBACK", one).await, is("charged_back", 50));
    assert_eq!(told(7, "PREARBITRATION_WON", two).await, is("charged_back", 110));
    assert_eq!(told(8, "PREARBITRATION_WON", one).await, is("authorized", 150));
    ledger_is_right(&app).await;
}

/// A shop whose provider takes what is captured at once, and reserves the rest.
async fn takes(app: TestApp) -> (TestApp, Shop) {
    let (app, shop) = shop(app, stripe(1)).await;
    shop.elsewhere.answers(|said| (said.path == "/stripe/v1/payment_intents").then(|| (200, intent(said))));
    (app, shop)
}

/// The payment as the provider has it after the request.
fn intent(said: &Said) -> Value {
    let (sent, mut intent) = (said.form(), body(SUCCEEDED));
    (intent["amount"], intent["amount_received"]) = (json!(150), json!(150));
    if sent.get("capture_method").is_some_and(|method| method == "manual") {
        (intent["status"], intent["capture_method"]) = (json!("requires_capture"), json!("manual"));
        (intent["amount_received"], intent["amount_capturable"]) = (json!(0), json!(150));
    }
    for name in ["regente_key", "regente_object_id"] {
        intent["metadata"][name] = json!(sent[&format!("metadata[{name}]")]);
    }
    intent
}

async fn a_capture_at_the_dashboard_is_counted(app: TestApp) {
    let (app, shop) = takes(app).await;
    let id = charged(&app, &shop, false).await;
    assert_eq!(shown(&read(&app, &id).await), ("pre_authorized", 150));
    let mut intent = intent(&shop.elsewhere.said("POST", "/stripe/v1/payment_intents"));
    (intent["status"], intent["amount_received"]) = (json!("succeeded"), json!(100));
    let now = app.clock.deployment().as_millis() / 1000;
    for event in ["evt_1", "evt_1", "evt_2"] {
        let message = json!({
            "id": event, "object": "event", "type": "payment_intent.succeeded", "created": now,
            "data": { "object": intent },
        });
        assert_eq!(send(&app, &shop, "Stripe-Signature", &signed_at(now, &message), &message).await, 200);
        app.run_jobs().await;
        let captured = read(&app, &id).await;
        assert_eq!(shown(&captured), ("authorized", 100), "{captured:#}");
    }
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "authorized"]);
    ledger_is_right(&app).await;
}

async fn a_refund_at_the_dashboard_can_fail(app: TestApp) {
    let (app, shop) = takes(app).await;
    let id = charged(&app, &shop, true).await;
    let paid = read(&app, &id).await;
    let payment = text(&paid["transactionRequests"][0]["transactionId"]).to_owned();
    let tells = async |event: &str, refund: &str, status: &str, amount: i64| {
        let now = app.clock.deployment().as_millis() / 1000;
        let refund = json!({
            "id": refund, "object": "refund", "status": status, "amount": amount, "currency": "brl",
            "payment_intent": payment, "metadata": {},
        });
        let kind = "refund.updated";
        let message = json!({
            "id": event, "object": "event", "type": kind, "created": now, "data": { "object": refund },
        });
        assert_eq!(send(&app, &shop, "Stripe-Signature", &signed_at(now, &message), &message).await, 200);
        app.run_jobs().await;
        read(&app, &id).await
    };
    // Its failure comes first, and waits for what it follows.
    assert_eq!(shown(&tells("evt_1", "re_1", "failed", 50).await), ("authorized", 150));
    assert_eq!(shown(&tells("evt_2", "re_2", "succeeded", 60).await), ("authorized", 90));
    assert_eq!(shown(&tells("evt_3", "re_2", "succeeded", 60).await), ("authorized", 90), "told again");
    assert_eq!(shown(&tells("evt_4", "re_1", "succeeded", 50).await), ("authorized", 40));
    app.later(HOUR).await;
    let done = read(&app, &id).await;
    assert_eq!(shown(&done), ("authorized", 90), "{done:#}");
    assert_eq!(announced(&app, &id).await[2..], ["voided", "voided", "revert_void"]);
    ledger_is_right(&app).await;
}

/// A charge of a provider that tells what it is now, with that charge as the provider has it.
async fn paid(app: TestApp) -> (TestApp, Shop, String, Value) {
    let (app, shop) = shop(app, pagarme(1)).await;
    shop.elsewhere.answers(|said| (said.path == "/pagarme_v5/orders").then(|| (200, ordered(&said.json()))));
    let id = charged(&app, &shop, true).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 150));
    let charge = ordered(&shop.elsewhere.said("POST", "/pagarme_v5/orders").json())["charges"][0].clone();
    (app, shop, id, charge)
}

/// The provider tells that the charge was this at a time.
async fn is_told(app: &TestApp, shop: &Shop, event: &str, at: &str, charge: &Value) {
    let message = json!({ "id": event, "type": "charge.paid", "created_at": at, "data": charge });
    let user = format!("Basic {}", STANDARD.encode("regente:a secret"));
    assert_eq!(send(app, shop, "Authorization", &user, &message).await, 200);
    app.run_jobs().await;
}

async fn a_charge_that_is_paid_again_after_its_charge_back_is_not_charged_back(app: TestApp) {
    let (app, shop, id, charge) = paid(app).await;
    let tells = async |event: &str, day: u32, status: &str| {
        let mut charge = charge.clone();
        charge["status"] = json!(status);
        is_told(&app, &shop, event, &format!("2026-09-{day:02}T12:00:00Z"), &charge).await;
        text(&read(&app, &id).await["status"]).to_owned()
    };
    assert_eq!(tells("hook_1", 1, "paid").await, "authorized");
    assert_eq!(tells("hook_2", 9, "chargedback").await, "charged_back");
    assert_eq!(tells("hook_3", 8, "paid").await, "charged_back", "it is older");
    assert_eq!(tells("hook_4", 20, "paid").await, "authorized");
    assert_eq!(tells("hook_5", 21, "paid").await, "authorized");
    assert_eq!(tells("hook_6", 9, "chargedback").await, "authorized", "it is older");
    assert_eq!(announced(&app, &id).await[2..], ["charged_back", "dispute_closed"]);
    ledger_is_right(&app).await;
}

async fn a_charge_says_how_much_was_refunded_in_all(app: TestApp) {
    let (app, shop, id, charge) = paid(app).await;
    let tells = async |event: &str, status: &str, last: &str, canceled: i64| {
        let mut charge = charge.clone();
        (charge["status"], charge["canceled_amount"]) = (json!(status), json!(canceled));
        (charge["last_transaction"]["id"], charge["last_transaction"]["status"]) =
            (json!(event), json!(last));
        is_told(&app, &shop, event, "2026-09-01T12:00:02Z", &charge).await;
        let charge = read(&app, &id).await;
        (text(&charge["status"]).to_owned(), charge["amount"].as_i64().unwrap())
    };
    let is = |status: &str, amount| (status.to_owned(), amount);
    assert_eq!(tells("hook_1", "paid", "partial_refunded", 70).await, is("authorized", 80));
    assert_eq!(
        tells("hook_2", "paid", "partial_refunded", 50).await,
        is("authorized", 80),
        "an earlier state"
    );
    assert_eq!(tells("hook_3", "canceled", "refunded", 150).await, is("voided", 0));
    assert_eq!(tells("hook_4", "canceled", "refunded", 150).await, is("voided", 0));
    assert_eq!(announced(&app, &id).await[2..], ["voided", "voided"]);
    ledger_is_right(&app).await;
}

/// The order as the provider answers it: paid, with the reference and the amount that were sent.
fn ordered(sent: &Value) -> Value {
    let mut order = body(ORDER);
    for place in ["", "/charges/0"] {
        let part = order.pointer_mut(place).unwrap();
        part["code"] = sent["code"].clone();
        part["amount"] = sent["items"][0]["amount"].clone();
    }
    order["charges"][0]["paid_amount"] = sent["items"][0]["amount"].clone();
    order
}
