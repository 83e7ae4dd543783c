//! Answers that do not prove that no money has moved: nobody else is asked, and the money is found where it is.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::{Elsewhere, Said, body, notify, with_providers};
use crate::support::agreement::{ledger_is_right, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::read;
use crate::support::providers::{pagarme, stripe};
use crate::support::read::{announced, text};
use crate::support::three_d_secure::requests;

stories! {
    an_order_of_which_nothing_certain_is_answered_is_found_and_nobody_else_is_asked,
    what_is_captured_at_once_is_authorized_when_it_is_captured,
}

const ORDER: &str = include_str!("../../../../providers/tests/it/pagarme_v5/bodies/order_card.json");
const FIREWALL: &str = "<html><body>Request blocked</body></html>";

/// What is answered to an order.
type Answered = Box<dyn Fn(&Value) -> (u16, Value) + Send + Sync>;

/// What the provider says of the order that was sent, with these members of its charge and of its last transaction.
fn order(sent: &Value, status: &str, transaction: &Value) -> Value {
    let mut order = body(ORDER);
    for place in ["", "/charges/0"] {
        let part = order.pointer_mut(place).unwrap();
        part["code"] = sent["code"].clone();
        part["amount"] = sent["items"][0]["amount"].clone();
    }
    let charge = &mut order["charges"][0];
    charge["status"] = json!(status);
    charge["paid_amount"] = if status == "paid" { charge["amount"].clone() } else { Value::Null };
    for (name, value) in transaction.as_object().unwrap() {
        charge["last_transaction"][name] = value.clone();
    }
    order
}

/// The order that was sent last before this request, or with it.
fn sent_order(said: &Said) -> Value {
    let is_order = |said: &&Said| said.method == Method::POST && said.path == "/pagarme_v5/orders";
    if is_order(&said) {
        return said.json();
    }
    said.earlier.iter().rfind(is_order).map(Said::json).unwrap_or_default()
}

/// The provider answers the order so, and its list too.
fn answers(elsewhere: &Elsewhere, answer: impl Fn(&Value) -> (u16, Value) + Send + Sync + 'static) {
    elsewhere.answers(move |said| {
        let (status, order) = answer(&sent_order(said));
        match (said.method.as_str(), said.path.as_str()) {
            ("POST", "/pagarme_v5/orders") => Some((status, order)),
            ("GET", "/pagarme_v5/orders") if status == 200 => Some((200, json!({ "data": [order] }))),
            ("GET", "/pagarme_v5/orders") => Some((status, order)),
            _ => None,
        }
    });
}

fn count(elsewhere: &Elsewhere, path: &str) -> usize {
    elsewhere.all().iter().filter(|said| said.method == Method::POST && said.path == path).count()
}

async fn an_order_of_which_nothing_certain_is_answered_is_found_and_nobody_else_is_asked(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |_| None).await;
    let merchant = app.merchant_with(json!([pagarme(1), stripe(2)])).await;
    let failed = |gateway: Value| {
        let transaction = json!({
            "status": "with_error", "success": false, "gateway_response": gateway,
            "acquirer_return_code": null, "acquirer_auth_code": null,
        });
        move |sent: &Value| (200_u16, order(sent, "failed", &transaction))
    };
    let page = |status: u16| move |_: &Value| (status, json!(FIREWALL));
    // Fewer than make a circuit open.
    let all: [Answered; 4] = [
        Box::new(failed(json!({ "code": "500" }))),
        Box::new(failed(Value::Null)),
        Box::new(page(403)),
        Box::new(page(400)),
    ];
    for (number, answered) in (1..).zip(all) {
        answers(&elsewhere, answered);
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        assert_eq!(
            (text(&charge["status"]), requests(&charge).len()),
            ("pending", 1),
            "{number}: {charge:#}"
        );
        // The same again and again proves nothing more, and the list of a firewall is none.
        for _ in 0..3 {
            app.later(Duration::from_secs(20 * 60)).await;
        }
        let waiting = read(&app, &charge).await;
        assert_eq!(waiting["status"], "pending", "{number}: {waiting:#}");
        answers(&elsewhere, |sent| (200, order(sent, "paid", &json!({ "status": "captured" }))));
        app.later(Duration::from_secs(4 * 60 * 60)).await;
        let done = read(&app, &charge).await;
        assert_eq!(
            (text(&done["status"]), text(&done["responsibleProviderType"])),
            ("authorized", "PAGARME_V5"),
            "{number}: {done:#}"
        );
        assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized"]);
        assert_eq!(count(&elsewhere, "/pagarme_v5/orders"), number, "each is sent once");
    }
    assert_eq!(count(&elsewhere, "/stripe/v1/payment_intents"), 0, "nobody else is asked");
    nothing_is_open(&app).await;
    ledger_is_right(&app).await;
}

/// The provider has the issuer's word, and has yet to analyse and to capture.
async fn what_is_captured_at_once_is_authorized_when_it_is_captured(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |_| None).await;
    let new = json!({ "mcc": "5812", "providers": [pagarme(1), stripe(2)] });
    let merchant = app.post("/v1/merchants", &new).await.expect(201);
    let address = format!("/providers/{}/notifications", text(&merchant["providers"][0]["id"]));
    let reproved = json!({ "status": "reproved", "return_code": "4" });
    for (number, kind, status, transaction, expected) in [
        (1, "charge.paid", "paid", json!({ "status": "captured" }), "authorized"),
        (
            2,
            "charge.antifraud_reproved",
            "failed",
            json!({ "status": "not_authorized", "success": false, "antifraud_response": reproved }),
            "failed",
        ),
    ] {
        let reserved = json!({ "status": "authorized_pending_capture" });
        answers(&elsewhere, move |sent| (200, order(sent, "pending", &reserved)));
        let sent = charge_body(text(&merchant["id"]), APPROVED);
        let charge = app.post("/v1/charges", &sent).await.expect(201);
        app.later(Duration::from_secs(60)).await;
        let waiting = read(&app, &charge).await;
        assert_eq!((text(&waiting["status"]), requests(&waiting).len()), ("pending", 1), "{waiting:#}");
        let ended = order(&elsewhere.said("POST", "/pagarme_v5/orders").json(), status, &transaction);
        let message = json!({
            "id": format!("hook_{number}"), "type": kind, "created_at": "2026-09-01T12:00:02Z",
            "data": ended["charges"][0],
        });
        assert_eq!(notify(&app, &address, "regente:a secret", &message).await, 200);
        app.run_jobs().await;
        let done = read(&app, &charge).await;
        assert_eq!(done["status"], expected, "{done:#}");
        assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", expected]);
    }
    assert_eq!(count(&elsewhere, "/stripe/v1/payment_intents"), 0, "nobody else is asked");
    nothing_is_open(&app).await;
    ledger_is_right(&app).await;
}
