//! What payers do: they pay in time, late, twice, another amount, or not at all (`docs/interface/charges.md#pix`).

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::reconciliation::GRACE;
use regente_domain::provider_type::ProviderType;
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::charges::payers::{
    found_with_its_instructions, has_expired, is_paid, nothing_is_kept, pays_after_a_withdrawal,
    pays_another_amount, pays_late, pays_twice,
};
use crate::support::agreement::agree_on_all;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::charges::{read, single_merchant};
use crate::support::client::{Reply, request};
use crate::support::payers::{PAYS, awaiting, happens, requests, set, stored, void, without_instructions};
use crate::support::read::{announced, newest, text};
use crate::support::time::MINUTE;

stories! {
    a_payment_is_found_by_a_probe,
    another_amount_is_what_the_merchant_has,
    nobody_pays_and_the_charge_expires,
    a_payment_after_the_expiry_counts,
    what_is_paid_twice_is_given_back_once,
    what_is_paid_twice_before_the_answer_is_known_is_given_back_once,
    what_is_paid_twice_is_not_taken_back,
    a_refund_is_answered_alike_although_another_is_accepted_meanwhile,
    what_is_paid_after_a_withdrawal_is_given_back,
    what_is_paid_after_it_was_failed_by_hand_is_given_back,
    what_is_paid_of_withdrawn_instructions_that_nobody_saw_is_given_back,
    a_lost_answer_is_found_with_its_code,
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) const PAYS_AGAIN: Staged = Staged::FurtherPayment { amount: None };

/// The simulator's books hold what the charge says, and nothing besides.
pub(crate) async fn agrees(app: &TestApp, charge: &Value) {
    agree_on_all(&app.books, &[without_instructions(charge)]).await;
}

async fn a_payment_is_found_by_a_probe(app: TestApp) {
    let charge = awaiting(&app).await;
    app.later(MINUTE).await;
    assert_eq!(read(&app, &charge).await, charge, "a payer who is away changes nothing");
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(5 * MINUTE).await;
    let paid = is_paid(&app, &charge).await;
    assert!(text(&newest(&paid)["transactionId"]).starts_with('E'), "the payment has an id of its own");
    assert_eq!(newest(&paid)["responseTs"], Value::Null);
    app.later(2 * HOUR).await;
    assert_eq!(read(&app, &charge).await, paid);
}

async fn another_amount_is_what_the_merchant_has(app: TestApp) {
    for (amount, rest) in [(149, 139), (175, 165)] {
        let charge = awaiting(&app).await;
        pays_another_amount(&app, &charge, amount).await;
        void(&app, &charge, json!({ "amount": amount + 1 })).await.expect(400);
        void(&app, &charge, json!({ "amount": 10 })).await.expect(201);
        happens(&app, &charge, 2, Staged::Refund).await;
        app.later(MINUTE).await;
        assert_eq!(read(&app, &charge).await["amount"], rest);
    }
}

async fn nobody_pays_and_the_charge_expires(app: TestApp) {
    let charge = awaiting(&app).await;
    app.later(HOUR - Duration::from_secs(1)).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(Duration::from_secs(1)).await;
    has_expired(&app, &charge).await;
}

async fn a_payment_after_the_expiry_counts(app: TestApp) {
    let charge = awaiting(&app).await;
    app.later(HOUR + MINUTE).await;
    pays_late(&app, &charge).await;
}

async fn what_is_paid_twice_is_given_back_once(app: TestApp) {
    let charge = awaiting(&app).await;
    // Found by the looks until the code expires; the void is sent by the reconcile job, and accepted.
    pays_twice(&app, &charge, 2 * HOUR, "processing").await;
    happens(&app, &charge, 3, Staged::Refund).await;
    app.later(24 * HOUR).await;
    let given_back = read(&app, &charge).await;
    assert_eq!((&given_back["status"], &given_back["amount"]), (&json!("authorized"), &json!(150)));
    assert_eq!(requests(&given_back)[0], ("void", "success", 150));
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    agrees(&app, &given_back).await;
    // What the first payment has brought can be refunded.
    let refund = void(&app, &charge, json!({})).await.expect(201);
    assert_eq!(refund["status"], "refund_pending");
    happens(&app, &charge, 5, Staged::Refund).await;
    app.later(MINUTE).await;
    let voided = read(&app, &charge).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)), "{voided:#}");
    agrees(&app, &voided).await;
}

async fn what_is_paid_twice_before_the_answer_is_known_is_given_back_once(app: TestApp) {
    let mut body = pix_body(&single_merchant(&app).await, described(jose()));
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [
        { "when": { "operation": "authorization" }, "then": { "timeout": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": [1] },
    ] } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(requests(&charge), [("authorization", "running", 150)], "its code is not known");
    let amount = regente_domain::money::Amount::new(151);
    happens(&app, &charge, 0, Staged::Payment { amount }).await;
    happens(&app, &charge, 0, PAYS_AGAIN).await;
    app.later(MINUTE).await;
    let twice = read(&app, &charge).await;
    assert_eq!((&twice["status"], &twice["amount"]), (&json!("authorized"), &json!(151)), "{twice:#}");
    let given_back =
        [("void", "processing", 150), ("authorization", "success", 150), ("authorization", "success", 151)];
    assert_eq!(requests(&twice), given_back);
    happens(&app, &charge, 2, Staged::Refund).await;
    app.later(HOUR).await;
    let given_back = read(&app, &charge).await;
    assert_eq!((&given_back["status"], &given_back["amount"]), (&json!("authorized"), &json!(151)));
    agrees(&app, &given_back).await;
    // A refund of the payment that counts is not taken for one of the other.
    void(&app, &charge, json!({})).await.expect(201);
    happens(&app, &charge, 4, Staged::Refund).await;
    app.later(HOUR).await;
    let voided = read(&app, &charge).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)), "{voided:#}");
    agrees(&app, &voided).await;
}

async fn what_is_paid_twice_is_not_taken_back(app: TestApp) {
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, PAYS_AGAIN).await;
    let key = stored(&app, &charge).await.remove(0).provider_key();
    for what in [Staged::DisputeOpened, Staged::ChargedBack] {
        let event = StagedEvent { key, at: app.clock.deployment(), what };
        let refused = app.app.providers.stage(ProviderType::Sandbox, event).await;
        assert_eq!(refused, Err(StageRefusal::NothingWaits), "the books cannot tell which payment is meant");
    }
}

async fn a_refund_is_answered_alike_although_another_is_accepted_meanwhile(app: TestApp) {
    let app = app.with_sandbox_deadline(HOUR).await;
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    is_paid_again(&app, &charge).await;
    // The merchant refunds the first payment while the second is about to be given back.
    app.clock.advance(MINUTE);
    let under_way = refund_under_way(&app, &charge).await;
    app.later(HOUR + GRACE - MINUTE / 2).await;
    let voids = |refund| [("void", refund, 150), ("void", "processing", 150)];
    assert_eq!(requests(&read(&app, &charge).await)[..2], voids("running"));
    app.wire.let_go();
    let first = under_way.await.unwrap();
    assert_eq!(requests(&first.expect(201))[..2], voids("processing"));
    assert_eq!(app.send(refund(&app, &charge)).await.bytes, first.bytes);

    // The second payment is found while the first is being refunded.
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    let under_way = refund_under_way(&app, &charge).await;
    is_paid_again(&app, &charge).await;
    app.wire.let_go();
    let first = under_way.await.unwrap();
    let newest = [("void", "running", 150), ("authorization", "success", 150), ("void", "processing", 150)];
    assert_eq!(requests(&first.expect(201))[..3], newest);
    assert_eq!(app.send(refund(&app, &charge)).await.bytes, first.bytes);
}

async fn is_paid_again(app: &TestApp, charge: &Value) {
    happens(app, charge, 0, PAYS_AGAIN).await;
    let instructed = stored(app, charge).await.remove(0);
    notify(app, &instructed).await;
}

fn refund(app: &TestApp, charge: &Value) -> Request<Body> {
    let path = format!("/v1/charges/{}/void", text(&charge["id"]));
    request(&app.client, Method::POST, &path, &[("X-Idempotency-Key", "refund")], Some(&json!({})))
}

/// A refund that the simulator gets when it is let go.
async fn refund_under_way(app: &TestApp, charge: &Value) -> JoinHandle<Reply> {
    app.wire.hold_a_void();
    let under_way = app.begin(refund(app, charge));
    while app.wire.expects_a_void() {
        tokio::task::yield_now().await;
    }
    under_way
}

async fn what_is_paid_after_a_withdrawal_is_given_back(app: TestApp) {
    let charge = awaiting(&app).await;
    let key = pays_after_a_withdrawal(&app, &charge, "processing").await;
    happens(&app, &charge, 3, Staged::Refund).await;
    app.later(24 * HOUR).await;
    nothing_is_kept(&app, key).await;
}

/// A node asks before the payer pays, and its answer arrives when another node has recorded the payment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_from_before_the_payment_takes_nothing_back() {
    // Only the wire ends the look-up, however busy the machine is: the other node would take up the notification.
    let app = TestApp::postgres().await.with_sandbox_deadline(HOUR).await.reachable().await;
    let charge = awaiting(&app).await;
    app.prepare().await;
    happens(&app, &charge, 0, Staged::Withdrawal).await;
    // This one is lost.
    app.wire.notices();
    app.clock.advance(MINUTE);
    let another = app.another_worker().await;
    app.wire.hold_a_look_up();
    let asking = tokio::spawn(async move { another.round().await });
    app.wire.look_up_is_held().await;

    happens(&app, &charge, 0, PAYS).await;
    let notices = app.wire.notices();
    assert_eq!(notices.len(), 1, "one notification about one payment");
    app.deliver(&notices[0]).await.expect(200);
    app.run_jobs().await;
    assert_eq!(read(&app, &charge).await["status"], "authorized");
    app.wire.let_go();
    asking.await.unwrap().unwrap();
    app.later(HOUR).await;
    is_paid(&app, &charge).await;
}

/// Nobody is notified: the provider is asked until the code has expired, and for as long after that as a bank may take.
async fn what_is_paid_after_it_was_failed_by_hand_is_given_back(app: TestApp) {
    for after in [MINUTE, 30 * HOUR] {
        let charge = awaiting(&app).await;
        set(&app, &charge, "failed").await.expect(200);
        app.later(after).await;
        happens(&app, &charge, 0, PAYS).await;
        app.later(30 * HOUR).await;
        let late = read(&app, &charge).await;
        assert_eq!(late["status"], "failed");
        assert_eq!(requests(&late)[0], ("void", "processing", 150), "{late:#}");
    }
}

/// The answer with the instructions is lost, and the provider withdraws them before it can be asked: the charge fails. The payer
/// has the code from the provider, and pays it once, or twice, of which nobody is notified.
async fn what_is_paid_of_withdrawn_instructions_that_nobody_saw_is_given_back(app: TestApp) {
    for (after, payments) in [(MINUTE, 1), (MINUTE, 2), (30 * HOUR, 1)] {
        let mut body = pix_body(&single_merchant(&app).await, described(jose()));
        body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [
            { "when": { "operation": "authorization" }, "then": { "timeout": "after_effect" } },
            { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": [1] },
        ] } });
        let charge = app.post("/v1/charges", &body).await.expect(201);
        happens(&app, &charge, 0, Staged::Withdrawal).await;
        app.later(after).await;
        let failed = read(&app, &charge).await;
        assert_eq!(failed["status"], "failed");
        assert_eq!(requests(&failed), [("authorization", "failed", 150)], "its code was never known");
        happens(&app, &charge, 0, PAYS).await;
        for _ in 1..payments {
            happens(&app, &charge, 0, PAYS_AGAIN).await;
        }
        let key = stored(&app, &charge).await.remove(0).provider_key();
        app.later(30 * HOUR).await;
        let late = read(&app, &charge).await;
        let voids = requests(&late).into_iter().filter(|of| *of == ("void", "processing", 150)).count();
        assert_eq!((&late["status"], voids), (&json!("failed"), payments), "{late:#}");
        for place in 1..=payments {
            happens(&app, &charge, place, Staged::Refund).await;
        }
        app.later(24 * HOUR).await;
        nothing_is_kept(&app, key).await;
    }
}

/// The provider notifies the service of what has become of a request.
pub(crate) async fn notify(app: &TestApp, request: &TransactionRequest) {
    use regente_engine::charges::late_answer;
    use regente_engine::transaction_requests::call;
    let providers = regente_store::providers::find(&app.app.store, request.client_id, request.provider_id);
    let provider = providers.await.unwrap().unwrap();
    let absent = regente_domain::charge::attempt::never_arrived();
    let overrides = call::SimulatorOverrides::default();
    let found =
        call::find_out(&app.app, &provider, request, &overrides, call::LookUp::PROBE, absent).await.unwrap();
    late_answer::notified(&app.app, request, found).await.unwrap();
}

async fn a_lost_answer_is_found_with_its_code(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    let found = found_with_its_instructions(&app, body).await;
    assert!(text(&found["paymentMethod"]["qrCodeData"]).starts_with("000201"), "{found:#}");
    happens(&app, &found, 0, PAYS).await;
    app.later(10 * MINUTE).await;
    assert_eq!(read(&app, &found).await["status"], "authorized");
}
