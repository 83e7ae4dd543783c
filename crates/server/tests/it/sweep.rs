//! The crash sweep: the process stops after every write and around every provider call of each flow, one step after the
//! other, until the flow completes. After a restart and all due jobs, the charge agrees with the simulator's
//! transaction log: authorized with one effect, or failed with none, and no outcome is unknown.

mod status;

use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::anti_fraud;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, charge_body};
use crate::support::crashes::{stopped_at, stopped_while};
use crate::support::flows::FLOWS;
use crate::support::platform_fees::keep;
use crate::support::providers::{lying, sandbox};
use crate::support::read::{announced, text};
use crate::support::splits::{books, divided, shop};
use crate::support::wallets::open_patient_shop;

stories! {
    while_a_charge_is_made,
    while_a_charge_goes_on_to_the_next_provider,
    while_a_charge_goes_on_in_the_branch_of_its_flow,
    while_a_reserved_charge_is_analysed_and_captured,
    while_a_reserved_charge_is_analysed_and_voided,
    while_a_charge_is_analysed_first,
    while_an_analysed_charge_is_recovered,
    while_a_charge_is_not_answered,
    while_a_charge_is_captured,
    while_a_part_is_captured,
    while_a_reservation_is_voided,
    while_a_charge_is_refunded,
    while_a_part_is_refunded,
    while_a_charge_is_recovered,
    while_a_refund_is_recovered,
    while_a_charge_is_repeated_at_once,
    while_a_refund_is_repeated_at_once,
    while_an_orphan_is_given_back,
    while_a_wallet_is_charged,
    while_a_wallet_goes_on_to_the_next_provider,
    while_a_divided_charge_is_made,
    while_a_part_of_a_divided_charge_is_refunded,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(60 * 60);
/// By then a denied authorization was looked at again, and voided.
const SECOND_LOOK_AND_VOID: Duration = Duration::from_secs(180);
/// Every look at a denied authorization is over by then.
const DAY: Duration = Duration::from_secs(25 * 60 * 60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

/// The request that is interrupted.
struct Interrupted {
    path: String,
    body: Value,
    /// What it does to the charge.
    operation: Operation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// An authorization that a provider approves.
    Authorize,
    /// An authorization that no provider answers or carries out.
    AuthorizeUnanswered,
    Capture,
    Void,
}

impl Operation {
    /// The `requestType` of its requests.
    const fn request_types(self) -> &'static [&'static str] {
        match self {
            Self::Authorize | Self::AuthorizeUnanswered => &["authorization", "pre_authorization"],
            Self::Capture => &["capture"],
            Self::Void => &["void"],
        }
    }
}

/// Stops the process at each step of the request that `prepare` makes, until it completes.
async fn sweep(app: TestApp, prepare: impl AsyncFn(&TestApp) -> Interrupted, steps_min: u64) {
    sweep_with(app, prepare, steps_min, Recovery::Undisturbed).await;
}

/// What happens during the recovery.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovery {
    /// Nothing.
    Undisturbed,
    /// The process stops again, one step later each time.
    Interrupted,
    /// The caller sends the request again without waiting.
    Repeated,
}

/// The deployment after all due jobs.
async fn recovered(
    mut app: TestApp,
    recovery: Recovery,
    Interrupted { path, body, .. }: &Interrupted,
    key: &str,
) -> TestApp {
    match recovery {
        Recovery::Undisturbed => {}
        Recovery::Interrupted => {
            // However often it stops, no more time passes than without: answers are kept for a day.
            let end = app.clock.deployment() + LATER;
            for steps in 0.. {
                assert!(steps < STEPS_MAX, "the recovery does not end");
                let is_done;
                (app, is_done) = stopped_while(app, steps, async |app| {
                    app.later(end.since(app.clock.deployment())).await;
                })
                .await;
                if is_done {
                    break;
                }
            }
        }
        Recovery::Repeated => {
            let again = app.post_with_key(path, key, body).await;
            // 201 if the first try had not claimed the key; otherwise it is under way or just answered.
            assert!(matches!(again.status.as_u16(), 201 | 409), "{}", again.status);
            let is_conflict = again.status == 409;
            assert!(!is_conflict || again.header("retry-after").is_some(), "under way: {}", again.json());
        }
    }
    app.later(LATER).await;
    app
}

async fn sweep_with(
    mut app: TestApp,
    prepare: impl AsyncFn(&TestApp) -> Interrupted,
    steps_min: u64,
    recovery: Recovery,
) {
    let mut done = 0;
    for steps in 0..STEPS_MAX {
        let interrupted = prepare(&app).await;
        let key = format!("key {steps}");
        let Interrupted { path, body, operation } = &interrupted;
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, path, &key, body).await;
        app = recovered(app, recovery, &interrupted, &key).await;
        nothing_is_open(&app).await;
        let found = all_charges(&app).await;
        agree_on_all(&app.books, &found).await;
        // A retried key has one answer, whether or not the first try had claimed it.
        let answer = app.post_with_key(path, &key, body).await;
        let answer = answer.expect(201);
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        books::all_alike(&app, &charges).await;
        assert_eq!(charges.len() as u64, steps + 1, "one charge for one key, after {steps} steps");
        let read = app.get(&format!("/v1/charges/{}", text(&answer["id"]))).await.expect(200);
        assert_eq!(read, answer, "after {steps} steps");
        let was_stopped = !is_answered && found.contains(&answer);
        assert_done(&answer, *operation, was_stopped);
        done += successes(&answer, *operation);
        if is_answered {
            assert!(
                steps >= steps_min,
                "the flow has {steps} steps: writes and calls are missing from the sweep"
            );
            let is_possible = *operation != Operation::AuthorizeUnanswered;
            assert_eq!(done > 1, is_possible, "{done} of {steps} interrupted operations were carried out");
            return;
        }
    }
    panic!("the flow does not end");
}

/// The operation was carried out once. Only an authorization may fail instead: one that was stopped, or one that no
/// provider answers.
fn assert_done(charge: &Value, operation: Operation, was_stopped: bool) {
    let may_fail = match operation {
        Operation::Authorize => was_stopped,
        Operation::AuthorizeUnanswered => true,
        Operation::Capture | Operation::Void => false,
    };
    let has_failed = charge["status"] == "failed";
    assert!(may_fail || !has_failed, "it failed although nothing stopped it: {charge:#}");
    assert_eq!(successes(charge, operation), usize::from(!has_failed), "{charge:#}");
}

/// How many requests of this operation succeeded.
fn successes(charge: &Value, operation: Operation) -> usize {
    let requests = charge["transactionRequests"].as_array().unwrap().iter();
    let own = requests.filter(|request| operation.request_types().contains(&text(&request["requestType"])));
    own.filter(|request| request["requestStatus"] == "success").count()
}

/// The creation of a charge.
fn made_by(merchant: &str, card: (&str, &str), capture: CaptureMode) -> Interrupted {
    let body = Charge::by_card(merchant, card).with("capture", capture == CaptureMode::Automatic).body();
    let operation = if card == TIMED_OUT { Operation::AuthorizeUnanswered } else { Operation::Authorize };
    Interrupted { path: "/v1/charges".to_owned(), body, operation }
}

async fn while_a_charge_is_made(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |_: &TestApp| made_by(&merchant, APPROVED, CaptureMode::Automatic), 6).await;
}

async fn while_a_wallet_is_charged(app: TestApp) {
    let merchant = app.merchant().await;
    sweep_wallet(app, &merchant, 6).await;
}

/// What the wallet has handed out is gone with the process: the next provider is asked by the same process or not at all.
async fn while_a_wallet_goes_on_to_the_next_provider(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    sweep_wallet(app, &merchant, 10).await;
}

async fn sweep_wallet(app: TestApp, merchant: &str, steps_min: u64) {
    let (app, shop) = open_patient_shop(app).await;
    let prepare = async |app: &TestApp| Interrupted {
        path: "/v1/charges".to_owned(),
        body: shop.charge(app, merchant),
        operation: Operation::Authorize,
    };
    sweep(app, prepare, steps_min).await;
}

async fn while_a_charge_goes_on_to_the_next_provider(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    sweep(app, async |_: &TestApp| made_by(&merchant, APPROVED, CaptureMode::Manual), 10).await;
}

/// The branch depends on the key, so that each of the two is stopped at some of its steps.
async fn while_a_charge_goes_on_in_the_branch_of_its_flow(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let shown = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    let node = |place: usize| json!({ "rule": "provider", "id": shown["providers"][place]["id"] });
    let branches = json!([{ "root": [node(0), node(1)] }, { "root": [node(1), node(0)] }]);
    let root = json!([{ "rule": "balance", "strategy": "learned", "branches": branches }]);
    let flow = json!({ "merchantId": merchant, "paymentMethod": "credit", "flow": { "version": "0.0.0", "root": root } });
    app.post(FLOWS, &flow).await.expect(201);
    sweep(app, async |_: &TestApp| made_by(&merchant, APPROVED, CaptureMode::Automatic), 6).await;
}

/// The creation of a charge that is analysed.
fn analysed_by(merchant: &str, identity: &str) -> Interrupted {
    let body = anti_fraud::analysed(merchant, identity, true);
    Interrupted { path: "/v1/charges".to_owned(), body, operation: Operation::Authorize }
}

async fn while_a_reserved_charge_is_analysed_and_captured(app: TestApp) {
    let merchant = anti_fraud::analysing(&app, &json!({ "captureOnApproved": true })).await;
    sweep(app, async |_: &TestApp| analysed_by(&merchant, anti_fraud::APPROVED_RISK), 14).await;
}

async fn while_a_reserved_charge_is_analysed_and_voided(app: TestApp) {
    let merchant = anti_fraud::analysing(&app, &json!({ "refundOnReproved": true })).await;
    sweep(app, async |_: &TestApp| analysed_by(&merchant, anti_fraud::REPROVED), 14).await;
}

async fn while_a_charge_is_analysed_first(app: TestApp) {
    let merchant = anti_fraud::analysing(&app, &json!({ "runBeforeCharge": true })).await;
    sweep(app, async |_: &TestApp| analysed_by(&merchant, anti_fraud::APPROVED_RISK), 10).await;
}

async fn while_an_analysed_charge_is_recovered(app: TestApp) {
    let merchant = anti_fraud::analysing(&app, &json!({ "captureOnApproved": true })).await;
    let prepare = async |_: &TestApp| analysed_by(&merchant, anti_fraud::APPROVED_RISK);
    sweep_with(app, prepare, 14, Recovery::Interrupted).await;
}

async fn while_a_charge_is_not_answered(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Alone", 1)])).await;
    sweep(app, async |_: &TestApp| made_by(&merchant, TIMED_OUT, CaptureMode::Automatic), 7).await;
}

/// The capture of a new charge.
async fn capture(app: &TestApp, merchant: &str, body: Value) -> Interrupted {
    let path = format!("{}/capture", new_charge(app, merchant, CaptureMode::Manual).await);
    Interrupted { path, body, operation: Operation::Capture }
}

/// The void of a new charge.
async fn void(app: &TestApp, merchant: &str, of: CaptureMode, body: Value) -> Interrupted {
    let path = format!("{}/void", new_charge(app, merchant, of).await);
    Interrupted { path, body, operation: Operation::Void }
}

/// The path of a new charge.
async fn new_charge(app: &TestApp, merchant: &str, capture: CaptureMode) -> String {
    let Interrupted { path, body, .. } = made_by(merchant, APPROVED, capture);
    format!("{path}/{}", text(&app.post(&path, &body).await.expect(201)["id"]))
}

async fn while_a_charge_is_captured(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| capture(app, &merchant, json!({})).await, 6).await;
}

async fn while_a_part_is_captured(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| capture(app, &merchant, json!({ "amount": 60 })).await, 6).await;
}

async fn while_a_reservation_is_voided(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| void(app, &merchant, CaptureMode::Manual, json!({})).await, 6).await;
}

async fn while_a_charge_is_refunded(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| void(app, &merchant, CaptureMode::Automatic, json!({})).await, 6).await;
}

async fn while_a_part_is_refunded(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| void(app, &merchant, CaptureMode::Automatic, json!({ "amount": 40 })).await, 6)
        .await;
}

fn fee() -> Value {
    json!([{ "paymentMethod": "default", "percentage": 7.5, "fixedAmount": 3 }])
}

async fn while_a_divided_charge_is_made(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([{ "sellerId": sellers[0]["id"], "percentage": 33 }, { "sellerId": sellers[1]["id"], "percentage": 1 }]);
    keep(&app, &merchant, &fee()).await;
    let body = divided(&merchant, 1001, &rules);
    let prepare = async |_: &TestApp| Interrupted {
        path: "/v1/charges".to_owned(),
        body: body.clone(),
        operation: Operation::Authorize,
    };
    sweep(app, prepare, 6).await;
}

async fn while_a_part_of_a_divided_charge_is_refunded(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([{ "sellerId": sellers[0]["id"], "amount": 300 }]);
    keep(&app, &merchant, &fee()).await;
    let returns = json!({ "amount": 100, "splitRules": [{ "sellerId": sellers[0]["id"], "amount": 90 }] });
    let prepare = async |app: &TestApp| {
        let charge = app.post("/v1/charges", &divided(&merchant, 1000, &rules)).await.expect(201);
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        Interrupted { path, body: returns.clone(), operation: Operation::Void }
    };
    sweep(app, prepare, 6).await;
}

async fn while_a_charge_is_recovered(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |_: &TestApp| made_by(&merchant, APPROVED, CaptureMode::Automatic);
    sweep_with(app, prepare, 6, Recovery::Interrupted).await;
}

async fn while_a_refund_is_recovered(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare =
        async |app: &TestApp| void(app, &merchant, CaptureMode::Automatic, json!({ "amount": 40 })).await;
    sweep_with(app, prepare, 6, Recovery::Interrupted).await;
}

async fn while_a_charge_is_repeated_at_once(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |_: &TestApp| made_by(&merchant, APPROVED, CaptureMode::Automatic);
    sweep_with(app, prepare, 6, Recovery::Repeated).await;
}

async fn while_a_refund_is_repeated_at_once(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare =
        async |app: &TestApp| void(app, &merchant, CaptureMode::Automatic, json!({ "amount": 40 })).await;
    sweep_with(app, prepare, 6, Recovery::Repeated).await;
}

/// A provider admits what it had denied, after the charge has gone on to the next one.
async fn while_an_orphan_is_given_back(mut app: TestApp) {
    let merchant = app.merchant_with(json!([lying(&[]), sandbox("Honest", 2)])).await;
    for steps in 0..2 * STEPS_MAX {
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        let id = text(&charge["id"]);
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| app.later(SECOND_LOOK_AND_VOID).await).await;
        app.later(DAY).await;
        nothing_is_open(&app).await;
        agree_on_all(&app.books, &all_charges(&app).await).await;
        let after = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        let requests = after["transactionRequests"].as_array().unwrap();
        assert_eq!((requests.len(), text(&requests[0]["requestType"])), (3, "void"), "after {steps} steps");
        let told = announced(&app, id).await;
        assert_eq!(told, ["pending", "authorized", "probe_void"], "after {steps} steps");
        if is_done {
            assert!(steps >= 8, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}
