//! Circuits: a provider that does not answer is skipped for a while, probed by one charge at a time, and never skipped
//! when it is the only one.

use std::time::Duration;

use regente_domain::circuit::OPEN_FOR;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::{CircuitNote, Explanation, Skipped};
use regente_store::charges;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, TIMED_OUT, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::request;
use crate::support::providers::books::FileBooks;
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    a_silent_provider_is_left_out_until_a_trial_is_answered,
    one_charge_at_a_time_tries_it,
    a_failed_trial_leaves_it_out_for_longer,
    the_only_provider_is_asked_all_the_same,
    time_outs_without_effect_count,
    time_outs_that_a_request_asks_for_do_not_count,
    refusals_and_unanswered_checks_are_told_apart,
    switched_off_it_leaves_nobody_out,
}

/// Unanswered charges that open a circuit.
const FAILURES: usize = 5;

/// A deployment whose simulator can lose its transaction log, and with it every answer.
async fn ill(app: TestApp) -> (TestApp, FileBooks) {
    let file = FileBooks::new();
    // A missing log fails at once; once it is back, a busy machine may need this long.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    (app, file)
}

async fn explanation(app: &TestApp, charge: &Value) -> Explanation {
    let id = text(&charge["id"]).parse().unwrap();
    charges::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap().charge.explanation
}

/// For each provider: why it was skipped, and the note of its circuit.
async fn told(app: &TestApp, charge: &Value) -> Vec<(Option<Skipped>, Option<CircuitNote>)> {
    let explanation = explanation(app, charge).await;
    explanation.considered.iter().map(|considered| (considered.skipped, considered.circuit)).collect()
}

const LEFT_OUT: (Option<Skipped>, Option<CircuitNote>) = (Some(Skipped::CircuitOpen), None);
const TRIED: (Option<Skipped>, Option<CircuitNote>) = (None, Some(CircuitNote::Probe));
const NO_OTHER: (Option<Skipped>, Option<CircuitNote>) = (None, Some(CircuitNote::OpenButNoOther));
const USABLE: (Option<Skipped>, Option<CircuitNote>) = (None, None);

fn asked(charge: &Value) -> usize {
    charge["transactionRequests"].as_array().unwrap().len()
}

/// Makes charges with unknown outcomes until the first provider's circuit is open.
async fn silence(app: &TestApp, file: &FileBooks, merchant: &str) {
    file.lose();
    let open_before = app.app.circuits.open_of(ProviderType::Sandbox);
    for _ in 0..FAILURES {
        assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), open_before);
        let charge = charged(app, &charge_body(merchant, APPROVED)).await;
        assert_eq!((&charge["status"], asked(&charge)), (&json!("pending"), 1));
    }
    assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), open_before + 1);
}

async fn a_silent_provider_is_left_out_until_a_trial_is_answered(app: TestApp) {
    let (app, file) = ill(app).await;
    let merchant = app.merchant().await;
    silence(&app, &file, &merchant).await;
    file.find();

    let around = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!((&around["status"], asked(&around)), (&json!("authorized"), 1));
    assert_eq!(told(&app, &around).await, [LEFT_OUT, USABLE]);
    let providers = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200)["providers"].clone();
    let spare = providers.as_array().unwrap().iter().find(|provider| provider["name"] == "Spare").unwrap();
    assert_eq!(around["transactionRequests"][0]["providerId"], spare["id"]);

    app.clock.advance_machine(OPEN_FOR);
    let circuit_probe = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(told(&app, &circuit_probe).await, [TRIED, USABLE]);
    assert_eq!((&circuit_probe["status"], asked(&circuit_probe)), (&json!("authorized"), 1));
    assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), 0);
    let after = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(told(&app, &after).await, [USABLE, USABLE]);
}

async fn one_charge_at_a_time_tries_it(app: TestApp) {
    let (app, file) = ill(app).await;
    let merchant = app.merchant().await;
    silence(&app, &file, &merchant).await;
    file.find();
    app.clock.advance_machine(OPEN_FOR);
    // The log is locked: a charge waits for its answer and holds its circuit probe meanwhile.
    let occupied = file.occupy();
    let body = charge_body(&merchant, APPROVED);
    let post = || app.begin(request(&app.client, axum::http::Method::POST, "/v1/charges", &[], Some(&body)));
    let running = [post(), post(), post(), post()];
    while app.app.in_flight.len() < running.len() {
        tokio::task::yield_now().await;
    }
    drop(occupied);
    let mut firsts = Vec::new();
    for running in running {
        let charge = running.await.unwrap().expect(201);
        assert_eq!(charge["status"], "authorized");
        firsts.push(told(&app, &charge).await[0]);
    }
    firsts.sort_by_key(|told| told.0.is_some());
    assert_eq!(firsts, [TRIED, LEFT_OUT, LEFT_OUT, LEFT_OUT]);
}

async fn a_failed_trial_leaves_it_out_for_longer(app: TestApp) {
    let (app, file) = ill(app).await;
    let merchant = app.merchant().await;
    silence(&app, &file, &merchant).await;
    app.clock.advance_machine(OPEN_FOR);
    let circuit_probe = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(
        (told(&app, &circuit_probe).await, &circuit_probe["status"]),
        (vec![TRIED, USABLE], &json!("pending"))
    );
    file.find();
    app.clock.advance_machine(OPEN_FOR);
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(told(&app, &charge).await, [LEFT_OUT, USABLE], "twice as long as at first");
    app.clock.advance_machine(OPEN_FOR);
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(told(&app, &charge).await, [TRIED, USABLE]);
}

async fn the_only_provider_is_asked_all_the_same(app: TestApp) {
    let (app, file) = ill(app).await;
    let merchant = single_merchant(&app).await;
    silence(&app, &file, &merchant).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!((told(&app, &charge).await, asked(&charge)), (vec![NO_OTHER], 1));
    file.find();
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!((told(&app, &charge).await, &charge["status"]), (vec![NO_OTHER], &json!("authorized")));
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(told(&app, &charge).await, [USABLE], "its answer has closed the circuit");

    // When no provider answers, all are called in the order of their priority.
    let both = app.merchant().await;
    silence(&app, &file, &both).await;
    for _ in 0..FAILURES {
        charged(&app, &charge_body(&both, APPROVED)).await;
    }
    file.find();
    let charge = charged(&app, &charge_body(&both, APPROVED)).await;
    assert!(told(&app, &charge).await.iter().all(|(skipped, _)| skipped.is_none()));
}

/// A time-out counts even where a probe proved that it had no effect: the buyer waited.
async fn time_outs_without_effect_count(app: TestApp) {
    let mut ill = sandbox("Ill", 1);
    let fault = json!({ "when": { "operation": "authorization" }, "then": { "timeout": "before_effect" } });
    ill["options"] = json!({ "type": "SANDBOX", "faults": [fault] });
    let merchant = app.merchant_with(json!([ill, sandbox("Well", 2)])).await;
    for _ in 0..FAILURES {
        let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
        assert_eq!((&charge["status"], asked(&charge)), (&json!("authorized"), 2));
    }
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!((told(&app, &charge).await, asked(&charge)), (vec![LEFT_OUT, USABLE], 1));
    let path = format!("/v1/charges/{}/explanation", text(&charge["id"]));
    let explained = app.get(&path).await.expect(200);
    assert_eq!(explained["providers"][0]["skipped"], "circuit_open");
    assert!(text(&explained["text"]).contains(
        "- Ill (SANDBOX, priority 1) was skipped: it had stopped answering, and another provider was left.\n"
    ));
}

async fn time_outs_that_a_request_asks_for_do_not_count(app: TestApp) {
    let merchant = app.merchant().await;
    let mut with_faults = charge_body(&merchant, APPROVED);
    let fault = json!({ "when": { "operation": "authorization" }, "then": { "timeout": "before_effect" } });
    with_faults["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [fault] } });
    for body in [charge_body(&merchant, TIMED_OUT), with_faults] {
        for _ in 0..FAILURES + 2 {
            let charge = charged(&app, &body).await;
            assert_eq!((&charge["status"], asked(&charge)), (&json!("failed"), 2));
            assert_eq!(told(&app, &charge).await, [USABLE, USABLE]);
        }
    }
    assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), 0);
}

async fn refusals_and_unanswered_checks_are_told_apart(app: TestApp) {
    let (app, file) = ill(app).await;
    let merchant = app.fallback_merchant().await;
    for _ in 0..2 * FAILURES {
        charged(&app, &charge_body(&merchant, APPROVED)).await;
    }
    assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), 0, "a refusal is an answer");
    let merchant = app.merchant().await;
    file.lose();
    for _ in 0..FAILURES {
        let token = app.card_token(APPROVED).await;
        let body = json!({ "tokenId": token, "cvvCheck": true, "merchantId": merchant });
        app.post("/v1/cards", &body).await.expect(424);
    }
    assert_eq!(app.app.circuits.open_of(ProviderType::Sandbox), 1, "every call to a provider is heard of");
}

async fn switched_off_it_leaves_nobody_out(app: TestApp) {
    let (app, file) = ill(app).await;
    let app = app.with_settings(|settings| settings.circuits = None).await;
    let merchant = app.merchant().await;
    file.lose();
    for _ in 0..FAILURES + 2 {
        let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
        assert_eq!(told(&app, &charge).await, [USABLE, USABLE]);
    }
}
