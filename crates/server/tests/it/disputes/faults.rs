//! Notifications of disputes that come twice, late, in another order, forged or never.

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::agrees;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::void;
use crate::support::disputes::{REVERTED, happens, hear, read};
use crate::support::notifications;
use crate::support::notifications::{API_KEY, request_of, states};
use crate::support::providers::{losing, sandbox};
use crate::support::read::{announced, is, text, told};

stories! {
    what_is_notified_twice_has_one_effect,
    what_is_forged_is_refused,
    what_is_late_is_applied_when_it_comes,
    what_is_lost_is_told_with_what_comes_next,
    a_charge_back_overtakes_the_opening_of_its_dispute,
    the_end_of_a_dispute_waits_for_its_opening,
    a_charge_back_waits_for_the_refund_that_came_back,
    refunds_that_come_back_in_any_order_add_up,
    a_charge_back_waits_for_a_refund_under_way,
    two_workers_settle_one_report_at_once,
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A charge of 100 whose notifications meet this fault.
async fn with_fault(app: &TestApp, then: Value) -> String {
    let merchant = app.merchant_with(json!([sandbox("One", 1)])).await;
    let fault = json!({ "when": { "operation": "notification" }, "then": then });
    let body = Charge::by_card(&merchant, APPROVED)
        .amount(100)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": [fault] } }))
        .body();
    text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
}

async fn what_is_notified_twice_has_one_effect(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "duplicate": true })).await;
    for (what, event) in [(Staged::DisputeOpened, "dispute"), (Staged::DisputeLost, "charged_back")] {
        let notices = happens(&app, &id, what).await;
        assert_eq!(notices.len(), 2);
        hear(&app, &notices).await;
        assert_eq!(announced(&app, &id).await.last().map(String::as_str), Some(event));
    }
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "charged_back"]);
    assert_eq!(read(&app, &id).await["transactionRequests"].as_array().unwrap().len(), 3);
    agrees(&app).await;
}

async fn what_is_forged_is_refused(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "forge": true })).await;
    let before = read(&app, &id).await;
    for notice in happens(&app, &id, Staged::DisputeOpened).await {
        app.deliver(&notice).await.expect(401);
    }
    app.later(HOUR).await;
    assert_eq!(read(&app, &id).await, before);
    assert!(states(&app).await.is_empty(), "nothing of it is kept");
}

async fn what_is_late_is_applied_when_it_comes(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "delay_ms": 1500 })).await;
    let notices = happens(&app, &id, Staged::DisputeOpened).await;
    assert_eq!(notices[0].delay, Duration::from_millis(1500));
    // Refunded meanwhile, in part.
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    app.later(40 * 24 * HOUR).await;
    hear(&app, &notices).await;
    let disputed = read(&app, &id).await;
    assert_eq!(told(&disputed), is("authorized", 70, 100, ("dispute", "success", 100)));
    assert_eq!(disputed["isDispute"], true);
    agrees(&app).await;
}

async fn what_is_lost_is_told_with_what_comes_next(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "lose": true })).await;
    let before = read(&app, &id).await;
    assert!(happens(&app, &id, Staged::DisputeOpened).await.is_empty());
    app.later(24 * HOUR).await;
    assert_eq!(read(&app, &id).await, before, "nobody asks about a card charge that was taken");
    // A tester's status asks the simulator, which tells all that has happened.
    let body = json!({ "status": "charged_back" });
    let after = app.post(&format!("/v1/charges/{id}"), &body).await.expect(200);
    assert_eq!(told(&after), is("charged_back", 100, 100, ("charge_back", "success", 100)));
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "charged_back"]);
    agrees(&app).await;
}

async fn a_charge_back_overtakes_the_opening_of_its_dispute(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "delay_ms": 1 })).await;
    let opened = happens(&app, &id, Staged::DisputeOpened).await;
    let lost = happens(&app, &id, Staged::DisputeLost).await;
    for notices in [&lost, &opened] {
        hear(&app, notices).await;
        let charge = read(&app, &id).await;
        assert_eq!(told(&charge), is("charged_back", 100, 100, ("charge_back", "success", 100)));
        assert_eq!(charge["isDispute"], false);
    }
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "charged_back"]);
    assert_eq!(states(&app).await, ["applied"; 2]);
    agrees(&app).await;
}

async fn the_end_of_a_dispute_waits_for_its_opening(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "delay_ms": 1 })).await;
    let before = read(&app, &id).await;
    let opened = happens(&app, &id, Staged::DisputeOpened).await;
    let won = happens(&app, &id, Staged::DisputeWon).await;
    hear(&app, &won).await;
    assert_eq!((read(&app, &id).await, states(&app).await), (before, vec!["waiting".to_owned()]));
    app.later(HOUR).await;
    hear(&app, &opened).await;
    app.later(2 * HOUR).await;
    assert_eq!(read(&app, &id).await["isDispute"], false);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "dispute_closed"]);
    assert_eq!(states(&app).await, ["applied"; 2]);
    agrees(&app).await;
}

async fn a_charge_back_waits_for_the_refund_that_came_back(app: TestApp) {
    let app = app.reachable().await;
    let id = with_fault(&app, json!({ "delay_ms": 1 })).await;
    void(&app, &id, json!({})).await.expect(201);
    let before = read(&app, &id).await;
    let back = happens(&app, &id, Staged::RefundReverted { amount: None }).await;
    let taken = happens(&app, &id, Staged::ChargedBack).await;
    hear(&app, &taken).await;
    assert_eq!((read(&app, &id).await, states(&app).await), (before, vec!["waiting".to_owned()]));
    hear(&app, &back).await;
    app.later(2 * HOUR).await;
    assert_eq!(
        announced(&app, &id).await,
        ["pending", "authorized", "voided", "revert_void", "charged_back"]
    );
    assert_eq!(states(&app).await, ["applied"; 2]);
    agrees(&app).await;
}

async fn refunds_that_come_back_in_any_order_add_up(app: TestApp) {
    let app = app.reachable().await;
    for is_reversed in [false, true] {
        let id = with_fault(&app, json!({ "duplicate": true })).await;
        void(&app, &id, json!({})).await.expect(201);
        let mut notices = Vec::new();
        for part in [10, 20, 30] {
            notices.extend(happens(&app, &id, REVERTED(part)).await);
        }
        if is_reversed {
            notices.reverse();
        }
        hear(&app, &notices).await;
        let charge = read(&app, &id).await;
        assert_eq!((&charge["status"], &charge["amount"]), (&json!("authorized"), &json!(60)), "{charge:#}");
        let events = announced(&app, &id).await;
        assert_eq!(events[3..], ["revert_void", "revert_void", "revert_void"]);
    }
    agrees(&app).await;
}

async fn a_charge_back_waits_for_a_refund_under_way(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant_with(json!([losing(&["void"])])).await;
    for (refund, status, amount) in [(40, "charged_back", 60), (100, "voided", 0)] {
        let body = Charge::by_card(&merchant, APPROVED).amount(100).body();
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let id = text(&charge["id"]);
        // The bank takes the rest before anybody knows what became of the refund.
        let pending = void(&app, id, json!({ "amount": refund })).await.expect(201);
        assert_eq!(pending["status"], "refund_pending");
        let of_the_refund = app.wire.notices();
        let request = request_of(&app, id).await;
        let told = notifications::message(&request, id, "payment.charged_back", &json!({ "id": "case" }));
        let key = API_KEY;
        assert_eq!(notifications::send(&app, &request, &told, key).await, 200);
        app.prepare().await;
        app.worker.round().await.unwrap();
        assert_eq!(read(&app, id).await["status"], "refund_pending");
        hear(&app, &of_the_refund).await;
        app.later(SECOND).await;
        app.later(HOUR).await;
        let after = read(&app, id).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!(status), &json!(amount)), "{after:#}");
    }
    // A refund that came back would leave something to take; none did.
    for _ in 0..24 {
        app.later(HOUR).await;
    }
    let ended = states(&app).await;
    assert_eq!(
        ended.iter().filter(|state| *state == "kept").count(),
        1,
        "nothing was left to take: {ended:?}"
    );
}

async fn two_workers_settle_one_report_at_once(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant().await;
    for _ in 0..8 {
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        let id = text(&charge["id"]);
        for what in [Staged::DisputeOpened, Staged::DisputeLost] {
            for notice in happens(&app, id, what).await {
                app.deliver(&notice).await.expect(200);
            }
        }
        app.prepare().await;
        let (one, other) = tokio::join!(app.worker.round(), app.worker.round());
        one.unwrap();
        other.unwrap();
        app.later(60 * SECOND).await;
        assert_eq!(read(&app, id).await["status"], "charged_back");
        let events = announced(&app, id).await;
        assert_eq!(events.iter().filter(|event| *event == "charged_back").count(), 1);
        assert!(events.iter().filter(|event| *event == "dispute").count() <= 1);
    }
    agrees(&app).await;
}
