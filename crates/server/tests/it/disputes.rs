//! What happens to a payment after it was taken (`docs/interface/charges.md#disputes`): it is disputed, charged back, or a
//! refund of it comes back. It happens at the simulator, which notifies it; the charge and the simulator's books agree.

mod books;
mod cases;
mod crashes;
mod faults;
mod status;
mod table;

use std::time::Duration;

use regente_providers::staged::{Staged, StagedEvent};
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::charges::{capture, captured, void};
use crate::support::disputes::{REVERTED, read, told_of};
use crate::support::notifications::{request_of, states};
use crate::support::purchases;
use crate::support::read::{announced, is, text, told};
use crate::support::receiver::Receiver;
use crate::support::webhooks::webhook;

stories! {
    the_merchant_wins_a_dispute,
    the_merchant_loses_a_dispute,
    a_charge_back_needs_no_dispute,
    refunds_that_come_back_raise_the_amount,
    a_disputed_charge_can_be_refunded,
    a_webhook_tells_what_was_so_at_the_time,
    a_purchase_stays_paid_when_a_card_of_it_is_charged_back,
    what_is_staged_twice_happens_once,
    a_timeline_tells_of_it,
}

pub async fn agrees(app: &TestApp) {
    nothing_is_open(app).await;
    let charges = all_charges(app).await;
    agree_on_all(&app.books, &charges).await;
    ledger_agrees(app, &charges).await;
}

async fn total(app: &TestApp, filter: &str) -> Value {
    app.get(&format!("/v1/charges?{filter}")).await.expect(200)["meta"]["totalItems"].clone()
}

async fn the_merchant_wins_a_dispute(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    let disputed = told_of(&app, &id, Staged::DisputeOpened).await;
    assert_eq!(told(&disputed), is("authorized", 100, 100, ("dispute", "success", 100)));
    assert_eq!(disputed["isDispute"], true, "{disputed:#}");
    let request = &disputed["transactionRequests"][0];
    assert!(request["transactionId"].is_string() && request["idempotencyKey"].is_null(), "{request:#}");
    let listed = app.get("/v1/charges?status=authorized").await.expect(200);
    assert_eq!(listed["items"][0], disputed);
    let won = told_of(&app, &id, Staged::DisputeWon).await;
    assert_eq!(told(&won), is("authorized", 100, 100, ("dispute_closed", "success", 100)));
    assert_eq!(won["isDispute"], false);
    let case = |place: usize| &won["transactionRequests"][place]["transactionId"];
    assert_eq!(case(0), case(1), "one case");
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "dispute_closed"]);
    assert_eq!(states(&app).await, ["applied"; 2]);
    agrees(&app).await;
    // Another dispute is another case.
    let again = told_of(&app, &id, Staged::DisputeOpened).await;
    assert_eq!(again["isDispute"], true);
    assert_ne!(again["transactionRequests"][0]["transactionId"], *case(0));
}

async fn the_merchant_loses_a_dispute(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    told_of(&app, &id, Staged::DisputeOpened).await;
    let lost = told_of(&app, &id, Staged::DisputeLost).await;
    assert_eq!(told(&lost), is("charged_back", 100, 100, ("charge_back", "success", 100)));
    assert_eq!(lost["isDispute"], false);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "charged_back"]);
    agrees(&app).await;
}

async fn a_charge_back_needs_no_dispute(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    let taken = told_of(&app, &id, Staged::ChargedBack).await;
    assert_eq!(told(&taken), is("charged_back", 70, 100, ("charge_back", "success", 70)));
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "voided", "charged_back"]);
    assert_eq!(
        (total(&app, "status=charged_back").await, total(&app, "status=authorized").await),
        (json!(1), json!(0))
    );
    for (refused, word) in
        [(void(&app, &id, json!({})).await, "voided"), (capture(&app, &id, json!({})).await, "captured")]
    {
        let message = format!("charge cannot be {word} in status charged_back");
        assert_eq!(refused.expect(400)["error"]["message"], json!(message));
    }
    assert_eq!(read(&app, &id).await, taken);
    agrees(&app).await;
}

async fn refunds_that_come_back_raise_the_amount(app: TestApp) {
    let app = app.reachable().await;
    // 100 → refund 10 → refund 90 → 10 come back.
    let id = captured(&app).await;
    void(&app, &id, json!({ "amount": 10 })).await.expect(201);
    let voided = void(&app, &id, json!({ "amount": 90 })).await.expect(201);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    let reverted = told_of(&app, &id, REVERTED(10)).await;
    assert_eq!(told(&reverted), is("authorized", 10, 100, ("revert_void", "success", 10)));
    let events = ["pending", "authorized", "voided", "voided", "revert_void"];
    assert_eq!(announced(&app, &id).await, events);
    agrees(&app).await;
    // What has come back can be refunded, and come back, again.
    let voided = void(&app, &id, json!({})).await.expect(201);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    let all = told_of(&app, &id, Staged::RefundReverted { amount: None }).await;
    assert_eq!(told(&all), is("authorized", 100, 100, ("revert_void", "success", 100)));
    agrees(&app).await;
    // 100 → 90 → 70 → 80.
    let id = captured(&app).await;
    for part in [10, 20] {
        void(&app, &id, json!({ "amount": part })).await.expect(201);
    }
    let reverted = told_of(&app, &id, REVERTED(10)).await;
    assert_eq!(told(&reverted), is("authorized", 80, 100, ("revert_void", "success", 10)));
    agrees(&app).await;
}

async fn a_disputed_charge_can_be_refunded(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    told_of(&app, &id, Staged::DisputeOpened).await;
    let part = void(&app, &id, json!({ "amount": 40 })).await.expect(201);
    assert_eq!(told(&part), is("authorized", 60, 100, ("void", "success", 40)));
    assert_eq!(part["isDispute"], true, "the bank decides all the same");
    let voided = void(&app, &id, json!({})).await.expect(201);
    assert_eq!((&voided["status"], &voided["isDispute"]), (&json!("voided"), &json!(true)));
    let won = told_of(&app, &id, Staged::DisputeWon).await;
    assert_eq!(told(&won), is("voided", 0, 100, ("dispute_closed", "success", 100)));
    assert_eq!(won["isDispute"], false);
    agrees(&app).await;
}

async fn a_webhook_tells_what_was_so_at_the_time(app: TestApp) {
    let app = app.reachable().await;
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/all").await;
    webhook(&app, &receiver, "transaction.dispute", "/disputes").await;
    let id = captured(&app).await;
    for what in [Staged::DisputeOpened, Staged::DisputeWon] {
        told_of(&app, &id, what).await;
    }
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    for what in [REVERTED(10), Staged::DisputeOpened, Staged::DisputeLost] {
        told_of(&app, &id, what).await;
    }
    app.later(Duration::from_secs(5)).await;
    let received = receiver.received();
    let told: Vec<(String, Value)> = received
        .iter()
        .filter(|got| got.path == "/all")
        .map(|got| (got.event(), got.json()["data"].clone()))
        .collect();
    let shown: Vec<(&str, &str, i64, bool)> = told
        .iter()
        .map(|(event, data)| {
            let amount = data["amount"].as_i64().unwrap();
            (event.as_str(), text(&data["status"]), amount, data["isDispute"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("transaction.pending", "pending", 100, false),
            ("transaction.authorized", "authorized", 100, false),
            ("transaction.dispute", "authorized", 100, true),
            ("transaction.dispute_closed", "authorized", 100, false),
            ("transaction.voided", "authorized", 70, false),
            ("transaction.revert_void", "authorized", 80, false),
            ("transaction.dispute", "authorized", 80, true),
            ("transaction.charged_back", "charged_back", 80, false),
        ]
    );
    let newest: Vec<&str> =
        told.iter().skip(2).map(|(_, data)| text(&data["transactionRequests"][0]["requestType"])).collect();
    assert_eq!(newest, ["dispute", "dispute_closed", "void", "revert_void", "dispute", "charge_back"]);
    assert_eq!(received.iter().filter(|got| got.path == "/disputes").count(), 2);
}

async fn a_purchase_stays_paid_when_a_card_of_it_is_charged_back(app: TestApp) {
    let app = app.reachable().await;
    let id = purchases::accepted(&app, &app.merchant().await, &[APPROVED, APPROVED], true).await;
    app.later(Duration::from_secs(1)).await;
    let paid = purchases::read(&app, &id).await;
    assert_eq!(paid["status"], "paid", "{paid:#}");
    let card = text(&paid["payments"][0]["chargeId"]);
    let disputed = told_of(&app, card, Staged::DisputeOpened).await;
    assert_eq!(disputed["isDispute"], true);
    assert_eq!(purchases::read(&app, &id).await["status"], "paid");
    let taken = told_of(&app, card, Staged::DisputeLost).await;
    assert_eq!(taken["status"], "charged_back");
    app.later(Duration::from_secs(60)).await;
    let after = purchases::read(&app, &id).await;
    assert_eq!(after["status"], "paid", "{after:#}");
    let other = read(&app, text(&paid["payments"][1]["chargeId"])).await;
    assert_eq!(other["status"], "authorized", "the other card is not given back for it");
    agrees(&app).await;
}

async fn what_is_staged_twice_happens_once(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    let nothing = async |what| {
        let request = request_of(&app, &id).await;
        let event = StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what };
        app.app.providers.stage(request.provider_type, event).await.unwrap_err();
        assert!(app.wire.notices().is_empty());
    };
    for what in [Staged::DisputeWon, Staged::DisputeLost, REVERTED(1)] {
        nothing(what).await;
    }
    for what in [Staged::DisputeOpened, Staged::DisputeLost] {
        let once = told_of(&app, &id, what).await;
        assert_eq!(told_of(&app, &id, what).await, once);
    }
    for what in [Staged::DisputeWon, REVERTED(1), Staged::DisputeOpened] {
        nothing(what).await;
    }
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "charged_back"]);
    agrees(&app).await;
}

async fn a_timeline_tells_of_it(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    for what in [REVERTED(10), Staged::DisputeOpened, Staged::DisputeWon, Staged::ChargedBack] {
        told_of(&app, &id, what).await;
    }
    let explained = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    let lines = text(&explained["text"]).lines();
    let told: Vec<&str> =
        lines.filter_map(|line| line.split_once(" reported ")).map(|(_, what)| what).collect();
    assert_eq!(
        told,
        [
            "that BRL 0.10 which were given back have come back.",
            "that the payer disputes BRL 0.80.",
            "that the dispute was decided for the merchant.",
            "a chargeback of BRL 0.80.",
        ]
    );
}
