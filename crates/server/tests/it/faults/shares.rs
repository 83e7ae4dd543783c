//! One account whose provider hangs leaves places to the others and to the workers.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::client::{Client, request};
use crate::support::providers::sandbox;
use crate::support::purchases::{accepted, read};
use crate::support::read::text;

stories! {
    an_account_whose_provider_hangs_leaves_places_to_the_others,
    jobs_go_on_when_every_place_of_callers_is_taken,
}

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_secs(30);
const A_WHILE: Duration = Duration::from_millis(5);
const PLACES: usize = 10;
/// 80 percent of them.
const SHARE: usize = 8;

/// A deployment with few places, in which the account has charges under way at a provider that does not answer until
/// the wire lets go.
async fn hanging(app: TestApp, charges: usize) -> TestApp {
    let app = app.with_places(PLACES).await.with_sandbox_deadline(FOR_EVER).await;
    let mut silent = sandbox("Silent", 1);
    let faults =
        json!([{ "when": { "operation": "authorization" }, "then": { "timeout": "before_effect" } }]);
    silent["options"] = json!({ "type": "SANDBOX", "faults": faults });
    let merchant = app.merchant_with(json!([silent])).await;
    for number in 0..charges {
        let body = Charge::by_card(&merchant, APPROVED).with("orderId", format!("hangs {number}")).body();
        // Nobody waits for the answer.
        drop(app.begin(request(&app.client, Method::POST, "/v1/charges", &[], Some(&body))));
    }
    let taken = charges.min(SHARE);
    let waiting = async {
        while app.app.in_flight.len() < taken {
            tokio::time::sleep(A_WHILE).await;
        }
    };
    assert!(tokio::time::timeout(SOON, waiting).await.is_ok(), "{taken} calls hang");
    app
}

async fn charged(app: &TestApp, client: &Client) -> u16 {
    let merchant = json!({ "mcc": "5812", "providers": [sandbox("Healthy", 1)] });
    let made = app.call(client, Method::POST, "/v1/merchants", &[], Some(&merchant)).await;
    if made.status != 201 {
        return made.status.as_u16();
    }
    let body = charge_body(text(&made.json()["id"]), APPROVED);
    app.call(client, Method::POST, "/v1/charges", &[], Some(&body)).await.status.as_u16()
}

async fn an_account_whose_provider_hangs_leaves_places_to_the_others(app: TestApp) {
    let app = hanging(app, 2 * PLACES).await;
    let other = app.another_client().await;
    for _ in 0..3 {
        assert_eq!(charged(&app, &other).await, 201, "the other account is served");
    }
    assert_eq!(app.app.in_flight.len(), SHARE, "the account has its share");
    assert_eq!(charged(&app, &app.client).await, 503, "and no more");
    assert_eq!(charged(&app, &other).await, 201);
}

async fn jobs_go_on_when_every_place_of_callers_is_taken(app: TestApp) {
    let app = app.with_places(1).await;
    let merchant = app.merchant().await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let taken = app.app.store.admit(app.client_id()).unwrap();
    assert_eq!(charged(&app, &app.client).await, 503);
    let ran = tokio::time::timeout(SOON, app.run_jobs()).await;
    assert!(ran.is_ok(), "jobs do not wait for callers");
    assert_eq!(read(&app, &id).await["status"], "paid");
    drop(taken);
}
