//! Refunds of a Pix: accepted first, confirmed or refused later (`docs/interface/charges.md#refunds-that-are-confirmed-later`),
//! and statuses that a tester sets at the simulator (`docs/interface/sandbox.md#status`).

use regente_domain::money::Amount;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::paid::{HOUR, agrees};
use crate::charges::payers::{nothing_else_is_set, statuses_are_set};
use crate::support::app::{TestApp, stories};
use crate::support::charges::read;
use crate::support::payers::{PAYS, agrees_with, awaiting, happens, requests, set, void};
use crate::support::read::{announced, newest, text};
use crate::support::time::MINUTE;

stories! {
    a_refund_is_pending_until_it_is_confirmed,
    a_part_is_refunded_and_then_the_rest,
    a_refused_refund_changes_nothing,
    an_accepted_refund_answers_its_key_and_is_not_sent_again,
    one_refund_at_a_time,
    every_status_of_a_pix_is_set_at_the_simulator,
    a_status_that_cannot_be_set_is_refused,
}

async fn paid(app: &TestApp) -> Value {
    let charge = awaiting(app).await;
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    read(app, &charge).await
}

async fn a_refund_is_pending_until_it_is_confirmed(app: TestApp) {
    let charge = paid(&app).await;
    let pending = void(&app, &charge, json!({})).await.expect(201);
    assert_eq!(
        (&pending["status"], &pending["amount"]),
        (&json!("refund_pending"), &json!(150)),
        "{pending:#}"
    );
    assert_eq!(requests(&pending)[0], ("void", "processing", 150));
    assert_eq!(read(&app, &charge).await, pending);
    app.later(HOUR).await;
    assert_eq!(read(&app, &charge).await, pending, "it stays so");
    let page = app.get("/v1/charges?status=refund_pending").await.expect(200);
    assert_eq!(page["meta"]["totalItems"], 1);
    happens(&app, &charge, 2, Staged::Refund).await;
    app.later(2 * HOUR).await;
    let voided = read(&app, &charge).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    assert_eq!(requests(&voided)[..2], [("void", "success", 150), ("void", "processing", 150)]);
    assert_eq!(voided["transactionRequests"][1], pending["transactionRequests"][0], "it stays what it was");
    let events = ["pending", "authorized", "refund_pending", "voided"];
    assert_eq!(announced(&app, text(&charge["id"])).await, events);
    agrees(&app, &voided).await;
}

async fn a_part_is_refunded_and_then_the_rest(app: TestApp) {
    let charge = paid(&app).await;
    for (place, part, rest, status) in
        [(2, 50, 100, "authorized"), (4, 30, 70, "authorized"), (6, 70, 0, "voided")]
    {
        let pending = void(&app, &charge, json!({ "amount": part })).await.expect(201);
        assert_eq!(pending["status"], "refund_pending");
        assert_eq!(requests(&pending)[0], ("void", "processing", part));
        happens(&app, &charge, place, Staged::Refund).await;
        app.later(HOUR).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!(status), &json!(rest)), "{after:#}");
        agrees(&app, &after).await;
    }
    let events = announced(&app, text(&charge["id"])).await;
    assert_eq!(
        events.iter().filter(|event| *event == "voided").count(),
        3,
        "each confirmed part: {events:?}"
    );
    void(&app, &charge, json!({})).await.expect(400);
}

async fn a_refused_refund_changes_nothing(app: TestApp) {
    let charge = paid(&app).await;
    void(&app, &charge, json!({ "amount": 50 })).await.expect(201);
    happens(&app, &charge, 2, Staged::RefundRefusal).await;
    app.later(HOUR).await;
    let after = read(&app, &charge).await;
    assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(150)));
    assert_eq!(requests(&after)[..2], [("void", "failed", 50), ("void", "processing", 50)]);
    agrees(&app, &after).await;
    // The simulator refuses this amount at once.
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, Staged::Payment { amount: Amount::new(2000) }).await;
    app.later(MINUTE).await;
    let refused = void(&app, &charge, json!({ "amount": 991 })).await.expect(201);
    assert_eq!((&refused["status"], requests(&refused)[0]), (&json!("authorized"), ("void", "failed", 991)));
}

async fn an_accepted_refund_answers_its_key_and_is_not_sent_again(app: TestApp) {
    let charge = paid(&app).await;
    let path = format!("/v1/charges/{}/void", text(&charge["id"]));
    let body = json!({ "amount": 50 });
    let first = app.post_with_key(&path, "a key", &body).await;
    assert_eq!(first.expect(201)["status"], "refund_pending");
    let entries = app.books.entries().await.unwrap().len();
    app.later(24 * HOUR).await;
    let again = app.post_with_key(&path, "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(app.books.entries().await.unwrap().len(), entries, "asked about, and not sent again");
    happens(&app, &charge, 2, Staged::Refund).await;
    app.later(24 * HOUR).await;
    assert_eq!(read(&app, &charge).await["amount"], 100);
    let again = app.post_with_key(&path, "a key", &body).await;
    assert_eq!(again.bytes, first.bytes, "what was answered first is answered again");
}

async fn one_refund_at_a_time(app: TestApp) {
    let charge = paid(&app).await;
    void(&app, &charge, json!({ "amount": 50 })).await.expect(201);
    let refused = void(&app, &charge, json!({ "amount": 50 })).await.expect(400);
    assert_eq!(refused["error"]["message"], "charge cannot be voided in status refund_pending");
}

async fn every_status_of_a_pix_is_set_at_the_simulator(app: TestApp) {
    let statuses = [
        ("authorized", 150, ("authorization", "success", 150)),
        ("voided", 0, ("void", "success", 150)),
        ("refund_pending", 150, ("void", "processing", 150)),
        ("charged_back", 150, ("charge_back", "success", 150)),
        ("failed", 150, ("authorization", "failed", 150)),
    ];
    for after in statuses_are_set(&app, awaiting, &statuses).await {
        assert_eq!(newest(&after)["responseTs"].is_null(), after["status"] != "refund_pending");
    }
    let charge = awaiting(&app).await;
    set(&app, &charge, "authorized").await.expect(200);
    void(&app, &charge, json!({ "amount": 50 })).await.expect(201);
    let confirmed = set(&app, &charge, "voided").await.expect(200);
    assert_eq!((&confirmed["status"], &confirmed["amount"]), (&json!("authorized"), &json!(100)), "a part");
    agrees_with(&app, &confirmed).await;
    void(&app, &charge, json!({})).await.expect(201);
    let refused = set(&app, &charge, "authorized").await.expect(200);
    assert_eq!((&refused["status"], &refused["amount"]), (&json!("authorized"), &json!(100)), "refused");
    let voided = set(&app, &charge, "voided").await.expect(200);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    agrees_with(&app, &voided).await;
}

async fn a_status_that_cannot_be_set_is_refused(app: TestApp) {
    nothing_else_is_set(&app, awaiting, 2 * HOUR).await;
}
