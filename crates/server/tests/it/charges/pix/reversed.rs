//! What happens to a Pix after it was paid (`docs/interface/charges.md#disputes`): a probe tells of it as long as the provider
//! is asked, and so does a notification.

use std::time::Duration;

use regente_domain::money::Amount;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::paid::{HOUR, agrees};
use crate::support::app::{TestApp, stories};
use crate::support::charges::read;
use crate::support::payers::{PAYS, awaiting, happens, requests};
use crate::support::read::{announced, text};
use crate::support::time::MINUTE;

stories! {
    a_probe_finds_what_nobody_has_notified,
    a_probe_and_a_notification_say_the_same,
    what_was_taken_back_before_it_was_found_is_found_with_it,
    a_charge_back_waits_for_a_refund_that_is_confirmed_later,
    a_confirmed_refund_comes_back,
}

async fn paid(app: &TestApp) -> Value {
    let charge = awaiting(app).await;
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    let charge = read(app, &charge).await;
    assert_eq!(charge["status"], "authorized");
    charge
}

async fn events(app: &TestApp, charge: &Value) -> Vec<String> {
    announced(app, text(&charge["id"])).await
}

async fn a_probe_finds_what_nobody_has_notified(app: TestApp) {
    for (what, status, event) in [
        (Staged::DisputeOpened, "authorized", "dispute"),
        (Staged::ChargedBack, "charged_back", "charged_back"),
    ] {
        let charge = paid(&app).await;
        happens(&app, &charge, 0, what).await;
        app.later(HOUR).await;
        let found = read(&app, &charge).await;
        assert_eq!(found["status"], status, "{found:#}");
        assert_eq!(found["isDispute"], status == "authorized");
        assert_eq!(events(&app, &charge).await, ["pending", "authorized", event]);
        app.later(3 * HOUR).await;
        assert_eq!(read(&app, &charge).await, found, "once");
    }
}

async fn a_probe_and_a_notification_say_the_same(app: TestApp) {
    let app = app.reachable().await;
    let charge = paid(&app).await;
    drop(app.wire.notices());
    happens(&app, &charge, 0, Staged::DisputeOpened).await;
    happens(&app, &charge, 0, Staged::DisputeLost).await;
    let notices = app.wire.notices();
    assert_eq!(notices.len(), 2);
    app.deliver(&notices[1]).await.expect(200);
    app.later(HOUR).await;
    let found = read(&app, &charge).await;
    assert_eq!(found["status"], "charged_back");
    for notice in &notices {
        app.deliver(notice).await.expect(200);
    }
    app.later(Duration::from_secs(5)).await;
    assert_eq!(read(&app, &charge).await, found);
    agrees(&app, &found).await;
}

async fn what_was_taken_back_before_it_was_found_is_found_with_it(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    for what in [PAYS, Staged::ChargedBack] {
        happens(&app, &charge, 0, what).await;
    }
    // That it was taken back comes first, and waits for the payment.
    let notices = app.wire.notices();
    app.deliver(&notices[1]).await.expect(200);
    app.prepare().await;
    app.worker.round().await.unwrap();
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(HOUR).await;
    let found = read(&app, &charge).await;
    assert_eq!(found["status"], "charged_back", "{found:#}");
    assert_eq!(events(&app, &charge).await, ["pending", "authorized", "charged_back"]);
    agrees(&app, &found).await;
}

async fn a_charge_back_waits_for_a_refund_that_is_confirmed_later(app: TestApp) {
    let app = app.reachable().await;
    for (result, status, amount) in
        [(Staged::Refund, "charged_back", 100), (Staged::RefundRefusal, "charged_back", 150)]
    {
        let charge = paid(&app).await;
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        let pending = app.post(&path, &json!({ "amount": 50 })).await.expect(201);
        assert_eq!(pending["status"], "refund_pending");
        drop(app.wire.notices());
        happens(&app, &charge, 2, result).await;
        let of_the_refund = app.wire.notices();
        happens(&app, &charge, 0, Staged::ChargedBack).await;
        for notice in app.wire.notices() {
            app.deliver(&notice).await.expect(200);
        }
        app.prepare().await;
        app.worker.round().await.unwrap();
        assert_eq!(read(&app, &charge).await["status"], "refund_pending");
        for notice in of_the_refund {
            app.deliver(&notice).await.expect(200);
        }
        app.later(HOUR).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!(status), &json!(amount)), "{after:#}");
        assert_eq!(requests(&after)[0], ("charge_back", "success", amount));
    }
}

async fn a_confirmed_refund_comes_back(app: TestApp) {
    let charge = paid(&app).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    let voided = app.post(&path, &json!({ "status": "voided" })).await.expect(200);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    happens(&app, &charge, 0, Staged::RefundReverted { amount: Amount::new(60) }).await;
    app.later(HOUR).await;
    let back = read(&app, &charge).await;
    assert_eq!((&back["status"], &back["amount"]), (&json!("authorized"), &json!(60)), "{back:#}");
    assert_eq!(requests(&back)[0], ("revert_void", "success", 60));
    agrees(&app, &back).await;
}
