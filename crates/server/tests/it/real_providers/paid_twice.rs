//! Payers who pay one Pix twice, at a provider that tells of each payment.

use std::time::Duration;

use serde_json::json;

use super::later::{receives, send, shop, told};
use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::providers::adyen;
use crate::support::read::text;
use crate::support::three_d_secure::requests;

stories! {
    two_payments_that_are_heard_at_once_are_two,
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Nobody knows yet that there is a code: each of the two would be the outcome of the request.
async fn two_payments_that_are_heard_at_once_are_two(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    shop.elsewhere.answers(|said| match said.path.as_str() {
        "/adyen/payments" => Some((500, json!({}))),
        _ => receives(said),
    });
    let sent = pix_body(&shop.merchant, described(jose()));
    let charge = app.post("/v1/charges", &sent).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    let now = text(&json!(app.clock.deployment())).to_owned();
    for psp in ["FIRST", "SECOND"] {
        let message = told(&shop, "/adyen/payments", ("AUTHORISATION", true), (psp, &now));
        assert_eq!(send(&app, &shop, "unused", "", &message).await, 200);
    }
    app.run_jobs().await;
    app.later(HOUR).await;
    let paid = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &sent["amount"]), "{paid:#}");
    let authorized = |told: &&(&str, &str)| **told == ("authorization", "success");
    assert_eq!(requests(&paid).iter().filter(authorized).count(), 2, "{paid:#}");
    let given_back = shop.elsewhere.all();
    let given_back = given_back.iter().filter(|said| said.path.ends_with("/refunds"));
    assert_eq!(given_back.count(), 1, "one of them is given back");
    ledger_is_right(&app).await;
}
