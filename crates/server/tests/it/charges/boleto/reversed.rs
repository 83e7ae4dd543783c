//! The payer's bank takes a settlement back (`docs/interface/charges.md#boleto`), and statuses that a tester sets at the
//! simulator (`docs/interface/sandbox.md#status`).

use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use serde_json::{Value, json};

use super::super::payers::{nothing_else_is_set, statuses_are_refused, statuses_are_set};
use super::super::pix::notified::{arrive, notices};
use super::super::pix::paid::{HOUR, PAYS_AGAIN, agrees};
use super::paid::awaiting;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose};
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{PAYS, agrees_with, happens, requests, set, stored};
use crate::support::read::{announced, text};
use crate::support::time::MINUTE;

stories! {
    a_reversal_is_found_by_a_probe,
    a_reversal_is_notified_and_counts_once,
    a_reversal_that_is_told_before_the_payment_counts_as_well,
    only_what_settled_the_boleto_is_taken_back,
    what_was_not_paid_is_not_taken_back,
    what_is_paid_and_taken_back_before_the_answer_is_known_is_voided,
    every_status_of_a_boleto_is_set_at_the_simulator,
    a_boleto_is_charged_back_or_taken_back,
    what_is_charged_back_by_hand_is_not_charged_back_once_more,
    a_boleto_that_fails_at_the_same_moment_is_charged_back_once,
    statuses_at_the_same_moment_are_conflicts,
    a_status_that_cannot_be_set_is_refused,
}

/// The charge is voided by the bank, once.
async fn is_reversed(app: &TestApp, charge: &Value) {
    let reversed = read(app, charge).await;
    assert_eq!((&reversed["status"], &reversed["amount"]), (&json!("voided"), &json!(0)), "{reversed:#}");
    let all =
        [("void", "success", 15000), ("authorization", "success", 15000), ("pending", "success", 15000)];
    assert_eq!(requests(&reversed), all);
    let void = &reversed["transactionRequests"][0];
    assert_eq!(void["responseTs"], Value::Null, "nobody called the bank");
    assert!(void["transactionId"].is_string(), "the bank's id of the reversal: {void:#}");
    assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "authorized", "voided"]);
    agrees(app, &reversed).await;
    app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(400);
}

async fn a_reversal_is_found_by_a_probe(app: TestApp) {
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "authorized");
    happens(&app, &charge, 0, Staged::TakenBack).await;
    happens(&app, &charge, 0, Staged::TakenBack).await;
    app.later(HOUR).await;
    is_reversed(&app, &charge).await;
    app.later(400 * HOUR).await;
    is_reversed(&app, &charge).await;
}

async fn what_is_paid_and_taken_back_before_the_answer_is_known_is_voided(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [
        { "when": { "operation": "authorization" }, "then": { "timeout": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": [1] },
    ] } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(requests(&charge), [("authorization", "running", 15000)], "its line is not known");
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, Staged::TakenBack).await;
    app.later(HOUR).await;
    let voided = read(&app, &charge).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)), "{voided:#}");
    assert_eq!(requests(&voided), [("void", "success", 15000), ("authorization", "success", 15000)]);
    agrees(&app, &voided).await;
}

async fn a_reversal_is_notified_and_counts_once(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    let [paid] = notices(&app);
    arrive(&app, &[&paid]).await;
    assert_eq!(read(&app, &charge).await["status"], "authorized");
    happens(&app, &charge, 0, Staged::TakenBack).await;
    let [reversed] = notices(&app);
    arrive(&app, &[&reversed, &reversed, &paid]).await;
    is_reversed(&app, &charge).await;
}

async fn a_reversal_that_is_told_before_the_payment_counts_as_well(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, Staged::TakenBack).await;
    let [paid, reversed] = notices(&app);
    arrive(&app, &[&reversed]).await;
    is_reversed(&app, &charge).await;
    arrive(&app, &[&paid]).await;
    is_reversed(&app, &charge).await;
}

async fn only_what_settled_the_boleto_is_taken_back(app: TestApp) {
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, PAYS_AGAIN).await;
    happens(&app, &charge, 0, Staged::TakenBack).await;
    app.later(HOUR).await;
    let after = read(&app, &charge).await;
    assert_eq!((&after["status"], &after["amount"]), (&json!("voided"), &json!(0)), "{after:#}");
    let voids = requests(&after).into_iter().filter(|request| *request == ("void", "success", 15000));
    assert_eq!(voids.count(), 2, "one payment was taken back, the other one given back: {after:#}");
    agrees(&app, &after).await;
}

async fn what_was_not_paid_is_not_taken_back(app: TestApp) {
    let charge = awaiting(&app).await;
    let request = stored(&app, &charge).await.remove(0);
    let event =
        StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what: Staged::TakenBack };
    let refused = app.app.providers.stage(request.provider_type, event).await;
    assert_eq!(refused, Err(StageRefusal::NothingWaits));
}

async fn every_status_of_a_boleto_is_set_at_the_simulator(app: TestApp) {
    let statuses = [
        ("authorized", 15000, ("authorization", "success", 15000)),
        ("voided", 0, ("void", "success", 15000)),
        ("charged_back", 15000, ("charge_back", "success", 15000)),
        ("failed", 15000, ("authorization", "failed", 15000)),
    ];
    statuses_are_set(&app, awaiting, &statuses).await;
    let charge = awaiting(&app).await;
    set(&app, &charge, "authorized").await.expect(200);
    let voided = set(&app, &charge, "voided").await.expect(200);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    agrees_with(&app, &voided).await;
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "voided"]);
}

async fn a_status_that_cannot_be_set_is_refused(app: TestApp) {
    let charge = awaiting(&app).await;
    statuses_are_refused(&app, &charge, &["refund_pending"]).await;
    nothing_else_is_set(&app, awaiting, 20 * 24 * HOUR).await;
}

async fn a_boleto_is_charged_back_or_taken_back(app: TestApp) {
    for statuses in [["voided", "charged_back"], ["charged_back", "voided"]].repeat(3) {
        let charge = awaiting(&app).await;
        set(&app, &charge, "authorized").await.expect(200);
        let sets = statuses.map(|status| set(&app, &charge, status));
        let replies = futures_util::future::join_all(sets).await;
        let mut made = replies.iter().zip(statuses).filter(|(reply, _)| reply.status == 200);
        let (_, status) = made.next().expect("one of them");
        assert_eq!(made.count(), 0, "and only one");
        let ended = read(&app, &charge).await;
        assert_eq!(ended["status"], status, "{ended:#}");
        let last =
            |request: &Value| request["requestType"] == "void" || request["requestType"] == "charge_back";
        let all = ended["transactionRequests"].as_array().unwrap();
        assert_eq!(all.iter().filter(|request| last(request)).count(), 1, "{ended:#}");
        assert!(all[0]["transactionId"].is_string(), "it happened at the simulator: {ended:#}");
        agrees_with(&app, &ended).await;
    }
}

/// How often the charge was charged back.
fn charge_backs(charge: &Value) -> usize {
    let all = charge["transactionRequests"].as_array().unwrap();
    all.iter().filter(|request| request["requestType"] == "charge_back").count()
}

async fn what_is_charged_back_by_hand_is_not_charged_back_once_more(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    set(&app, &charge, "authorized").await.expect(200);
    let [_paid] = notices(&app);
    // The bank takes it back at the simulator; before anybody is told, testers set two statuses by hand.
    happens(&app, &charge, 0, Staged::ChargedBack).await;
    let [told] = notices(&app);
    assert_eq!(set(&app, &charge, "failed").await.expect(200)["status"], "failed");
    assert_eq!(set(&app, &charge, "charged_back").await.expect(200)["status"], "charged_back");
    arrive(&app, &[&told]).await;
    let ended = read(&app, &charge).await;
    assert_eq!((&ended["status"], charge_backs(&ended)), (&json!("charged_back"), 1), "{ended:#}");
    agrees_with(&app, &ended).await;
}

async fn a_boleto_that_fails_at_the_same_moment_is_charged_back_once(app: TestApp) {
    for _ in 0..5 {
        let charge = awaiting(&app).await;
        let statuses = ["failed", "charged_back"].repeat(3);
        let sets = statuses.iter().map(|status| set(&app, &charge, status));
        for reply in futures_util::future::join_all(sets).await {
            assert!([200, 400, 409].contains(&reply.status.as_u16()), "{}", reply.status);
        }
        let ended = read(&app, &charge).await;
        assert!(charge_backs(&ended) <= 1, "{ended:#}");
    }
}

async fn statuses_at_the_same_moment_are_conflicts(app: TestApp) {
    for _ in 0..3 {
        let charge = awaiting(&app).await;
        let statuses = ["authorized", "voided", "charged_back", "authorized", "voided", "charged_back"];
        let sets = statuses.map(|status| set(&app, &charge, status));
        for reply in futures_util::future::join_all(sets).await {
            assert!([200, 400, 409].contains(&reply.status.as_u16()), "{}", reply.status);
        }
        agrees_with(&app, &read(&app, &charge).await).await;
    }
}
