//! What a merchant learns at the registration of a provider, and an operator by `regente providers check`.

use axum::body::Body;
use axum::http::{Method, Request};
use regente::admin::{Answer, Check, Command, Verdict, run};
use serde_json::{Value, json};

use super::later::signed_at;
use super::{Said, body, with_providers};
use crate::support::app::{TestApp, stories};
use crate::support::providers::{sandbox, stripe};
use crate::support::read::text;

stories! {
    a_wrong_key_is_told_at_once,
    a_provider_that_does_not_answer_refuses_nothing,
    the_check_says_what_works,
    the_check_says_that_nothing_is_known,
    the_check_waits_for_nothing_that_cannot_come,
    the_check_waits_for_a_notification_about_its_own_payment,
}

const RESERVED: &str = include_str!("../../../../providers/tests/it/stripe/bodies/payment_intent.json");

async fn a_wrong_key_is_told_at_once(app: TestApp) {
    let (app, _elsewhere) = with_providers(app, |said: &Said| {
        let is_right = said.headers["authorization"] == "Bearer sk_test_1234567890";
        (said.path == "/stripe/v1/balance" && !is_right).then(|| (401, json!({ "error": {} })))
    })
    .await;
    let mut wrong = stripe(1);
    wrong["credentials"]["secretKey"] = json!("sk_test_wrong");
    let new = json!({ "mcc": "5812", "providers": [stripe(2), wrong] });
    let details = app.post("/v1/merchants", &new).await.details(400);
    assert_eq!(details, ["providers[1].credentials.secretKey is not accepted by the provider"]);
    let made =
        app.post("/v1/merchants", &json!({ "mcc": "5812", "providers": [stripe(1)] })).await.expect(201);
    let path = format!("/v1/providers/{}", text(&made["providers"][0]["id"]));
    let change = json!({ "credentials": { "type": "STRIPE", "secretKey": "sk_test_wrong" } });
    let details = app.patch(&path, &change).await.details(400);
    assert_eq!(details, ["credentials.secretKey is not accepted by the provider"]);
}

async fn a_provider_that_does_not_answer_refuses_nothing(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |_| None).await;
    elsewhere.stop().await;
    app.merchant_with(json!([stripe(1)])).await;
}

async fn the_check_says_what_works(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |said: &Said| reserve(said)).await;
    let made =
        app.post("/v1/merchants", &json!({ "mcc": "5812", "providers": [stripe(1)] })).await.expect(201);
    let provider_id = text(&made["providers"][0]["id"]).parse().unwrap();
    let check = async || {
        let command = Command::ProvidersCheck { provider_id, wait_seconds: 0 };
        let Ok(Answer::ProviderChecked(report)) =
            run(&app.app, &regente::config::Config::default(), command).await
        else {
            panic!("no report");
        };
        let told = report.checks.iter().map(|check| (check.name.clone(), check.verdict));
        told.collect::<Vec<(String, Verdict)>>()
    };
    let named = |verdicts: &[(&str, Verdict)]| {
        verdicts.iter().map(|(name, verdict)| ((*name).to_owned(), *verdict)).collect::<Vec<_>>()
    };
    let (ok, warning, failure) = (Verdict::Ok, Verdict::Warning, Verdict::Failure);
    let wanted = [
        ("adapter", ok),
        ("credentials", ok),
        ("authorization", ok),
        ("void", ok),
        ("notification", warning),
    ];
    assert_eq!(check().await, named(&wanted));
    elsewhere.answers(|_| Some((401, json!({ "error": { "type": "invalid_request_error" } }))));
    let wanted = [("adapter", ok), ("credentials", failure)];
    assert_eq!(check().await, named(&wanted));
}

async fn checked(app: &TestApp, provider: &Value, wait_seconds: u64) -> Vec<Check> {
    let command = Command::ProvidersCheck { provider_id: text(provider).parse().unwrap(), wait_seconds };
    let answer = run(&app.app, &regente::config::Config::default(), command).await;
    let Ok(Answer::ProviderChecked(report)) = answer else { panic!("no report") };
    report.checks
}

/// Whether a provider knows the credentials is not known while it is not there, or fails.
async fn the_check_says_that_nothing_is_known(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |said: &Said| reserve(said)).await;
    let new = json!({ "mcc": "5812", "providers": [stripe(1)] });
    let made = app.post("/v1/merchants", &new).await.expect(201);
    let id = &made["providers"][0]["id"];
    let is_unknown = async |why: &str| {
        let checks = checked(&app, id, 0).await;
        let last = checks.last().unwrap();
        assert_eq!((checks.len(), &*last.name, last.verdict), (2, "credentials", Verdict::Failure), "{why}");
        assert!(
            last.found.contains(why) && last.found.ends_with("nothing is known of them"),
            "{}",
            last.found
        );
    };
    elsewhere.answers(|_| Some((503, json!({}))));
    is_unknown("not able to answer").await;
    elsewhere.stop().await;
    is_unknown("not reached").await;
}

/// The simulator notifies of what happens later: a card that it has answered is none of that.
async fn the_check_waits_for_nothing_that_cannot_come(app: TestApp) {
    let app = app.reachable().await;
    let new = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
    let made = app.post("/v1/merchants", &new).await.expect(201);
    let checks = checked(&app, &made["providers"][0]["id"], 5).await;
    let told: Vec<(&str, Verdict)> = checks.iter().map(|check| (&*check.name, check.verdict)).collect();
    let names = ["adapter", "credentials", "authorization", "void", "notification"];
    assert_eq!(told, names.map(|name| (name, Verdict::Ok)));
    assert!(checks[4].found.starts_with("none is waited for"), "{}", checks[4].found);
}

async fn the_check_waits_for_a_notification_about_its_own_payment(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |said: &Said| reserve(said)).await;
    let made =
        app.post("/v1/merchants", &json!({ "mcc": "5812", "providers": [stripe(1)] })).await.expect(201);
    let provider_id = text(&made["providers"][0]["id"]);
    let check = async |wait_seconds| {
        let command = Command::ProvidersCheck { provider_id: provider_id.parse().unwrap(), wait_seconds };
        let answer = run(&app.app, &regente::config::Config::default(), command).await;
        let Ok(Answer::ProviderChecked(report)) = answer else { panic!("no report") };
        report.checks.last().unwrap().verdict
    };
    let notify = async |id: &str, object_id: &str| {
        let mut intent = body(RESERVED);
        (intent["status"], intent["capture_method"]) = (json!("requires_capture"), json!("manual"));
        intent["metadata"] =
            json!({ "regente_object_id": object_id, "regente_key": "00000000-0000-0000-0000-000000000001" });
        let now = app.clock.deployment().as_millis() / 1000;
        let message = json!({ "id": id, "object": "event", "type": "payment_intent.amount_capturable_updated",
            "created": now, "data": { "object": intent } });
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/providers/{provider_id}/notifications"))
            .header("Stripe-Signature", signed_at(now, &message));
        app.send(request.body(Body::from(message.to_string())).unwrap()).await.expect(200);
    };
    notify("evt_1", "00000000-0000-0000-0000-000000000002").await;
    assert_eq!(check(0).await, Verdict::Warning, "it is about another payment");
    let asked = elsewhere.all().len();
    let own = async {
        let authorized = loop {
            let all = elsewhere.all();
            let new = all[asked..].iter().find(|said| said.path == "/stripe/v1/payment_intents");
            match new {
                Some(said) => break said.form(),
                None => tokio::task::yield_now().await,
            }
        };
        notify("evt_2", &authorized["metadata[regente_object_id]"]).await;
    };
    let (verdict, ()) = tokio::join!(check(30), own);
    assert_eq!(verdict, Verdict::Ok);
}

/// A provider that reserves what it is asked for, and releases it.
fn reserve(said: &Said) -> Option<(u16, Value)> {
    let intent = |status: &str| {
        let mut intent = body(RESERVED);
        intent["status"] = json!(status);
        intent["amount_received"] = json!(0);
        intent
    };
    match (said.method.as_str(), said.path.as_str()) {
        ("POST", "/stripe/v1/payment_intents") => Some((200, intent("requires_capture"))),
        ("GET", path) if path.starts_with("/stripe/v1/payment_intents/") => {
            Some((200, intent("requires_capture")))
        }
        ("POST", path) if path.ends_with("/cancel") => Some((200, intent("canceled"))),
        _ => None,
    }
}
