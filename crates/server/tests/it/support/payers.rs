//! What payers who follow instructions do, and what has become of their charges.

use regente_domain::charge::attempt::TransactionRequest;
use regente_providers::staged::{Staged, StagedEvent};
use regente_store::transaction_requests;
use serde_json::{Value, json};

use crate::support::agreement::agree;
use crate::support::app::{ADDRESS, TestApp};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::charges::single_merchant;
use crate::support::client::Reply;
use crate::support::read::text;
use crate::support::three_d_secure::post_form;

/// A tester sets the status of a charge.
pub async fn set(app: &TestApp, charge: &Value, status: &str) -> Reply {
    app.post(&format!("/v1/charges/{}", text(&charge["id"])), &json!({ "status": status })).await
}

/// A merchant voids a charge.
pub async fn void(app: &TestApp, charge: &Value, body: Value) -> Reply {
    app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &body).await
}

/// Why no further provider was asked, as the explanation says.
pub async fn stopped(app: &TestApp, charge: &Value) -> Value {
    let path = format!("/v1/charges/{}/explanation", text(&charge["id"]));
    app.get(&path).await.expect(200)["stopped"].clone()
}

/// A Pix of 150 that awaits its payer.
pub async fn awaiting(app: &TestApp) -> Value {
    let body = pix_body(&single_merchant(app).await, described(jose()));
    app.post("/v1/charges", &body).await.expect(201)
}

/// The stored requests of a charge.
pub async fn stored(app: &TestApp, charge: &Value) -> Vec<TransactionRequest> {
    let id = text(&charge["id"]).parse().unwrap();
    let stored = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    stored.into_iter().map(|stored| stored.request).collect()
}

/// Something happens at the simulator to the request with this place.
pub async fn happens(app: &TestApp, charge: &Value, place: usize, what: Staged) {
    let request = stored(app, charge).await.remove(place);
    let event = StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what };
    app.app.providers.stage(request.provider_type, event).await.unwrap();
}

/// The payer pays what was asked for.
pub const PAYS: Staged = Staged::Payment { amount: None };

/// Type, status and amount of each request, newest first.
pub fn requests(charge: &Value) -> Vec<(&str, &str, i64)> {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let told = |request: &'_ Value| request["amount"].as_i64().unwrap();
    requests
        .iter()
        .map(|request| (text(&request["requestType"]), text(&request["requestStatus"]), told(request)))
        .collect()
}

/// The simulator's books hold what the charge says.
pub async fn agrees_with(app: &TestApp, charge: &Value) {
    agree(&app.books, &without_instructions(charge)).await;
}

/// The charge without the request that gave the payer instructions, whose key the payments have too.
pub fn without_instructions(charge: &Value) -> Value {
    let mut charge = charge.clone();
    let requests = charge["transactionRequests"].as_array_mut().unwrap();
    requests.retain(|request| request["requestType"] != "pending");
    charge
}

/// The address of the page that a payer of a NuPay was given.
pub fn nupay_page(charge: &Value) -> &str {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let given = requests.iter().find(|request| request["requestType"] == "pending").expect("instructions");
    text(&given["nupay"]["paymentUrl"])
}

/// The path of a page of this deployment.
pub fn path(page: &str) -> &str {
    page.strip_prefix(ADDRESS).expect("a page of this deployment")
}

/// A payer decides on the page.
pub async fn decides(app: &TestApp, page: &str, decision: &str) -> Reply {
    post_form(app, path(page), &[("decision", decision.to_owned())]).await
}

/// What the simulator notifies arrives and is applied. Nobody probes.
pub async fn notifications_arrive(app: &TestApp) {
    for notice in app.wire.notices() {
        app.deliver(&notice).await.expect(200);
    }
    app.prepare().await;
    assert_eq!(app.worker.round().await.unwrap().resolved, 0);
}
