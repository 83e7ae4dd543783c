//! Charges whose cardholder is authenticated and whose risk is analysed: first the cardholder, then the risk.

use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::anti_fraud::{APPROVED_RISK, REPROVED, requests, risk};
use crate::support::app::{TestApp, stories};
use crate::support::providers::sandbox;
use crate::support::three_d_secure::{
    CHALLENGE_PASSES, FRICTIONLESS, HOSTED_CHALLENGE, decided, held, hosted_body, own_body,
};

stories! {
    the_cardholder_comes_before_the_risk,
    a_reproved_risk_ends_an_authenticated_charge,
}

const SETUP: &str = "3DS_authentication_setup success";
const ENROLL: &str = "3DS_authentication_enroll success";
const VALIDATE: &str = "3DS_authentication_validate success";

/// How the cardholder is authenticated.
#[derive(Clone, Copy, Debug)]
enum Way {
    WithoutChallenge,
    Challenge,
    AtTheProvider,
}

/// A merchant whose charges are analysed before or after the charge.
async fn merchant(app: &TestApp, is_before: bool) -> String {
    let options =
        json!({ "captureOnApproved": true, "refundOnReproved": true, "runBeforeCharge": is_before });
    app.merchant_with(json!([sandbox("Only", 1), risk(&options)])).await
}

/// A charge that the cardholder has answered, if they were asked.
async fn made(app: &TestApp, merchant: &str, way: Way, identity: &str) -> Value {
    let mut body = match way {
        Way::WithoutChallenge => own_body(app, merchant, FRICTIONLESS).await,
        Way::Challenge => own_body(app, merchant, CHALLENGE_PASSES).await,
        Way::AtTheProvider => hosted_body(merchant, HOSTED_CHALLENGE),
    };
    body["fraudAnalysis"] = json!({ "customer": { "name": "Ana", "identity": identity } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    match &charge["status"] {
        status if status == "pending" => decided(app, &charge, "approve").await,
        _ => charge,
    }
}

async fn the_cardholder_comes_before_the_risk(app: TestApp) {
    let app = app.reachable().await;
    let (before, after) = (merchant(&app, true).await, merchant(&app, false).await);
    let analysis = "anti_fraud success approved";
    let reserved = [SETUP, ENROLL, "pre_authorization success", analysis, "capture success"];
    let challenged = [SETUP, ENROLL, VALIDATE, "pre_authorization success", analysis, "capture success"];
    let by_provider = ["pending success", "pre_authorization success", analysis, "capture success"];
    for (merchant, way, expected) in [
        (&after, Way::WithoutChallenge, &reserved[..]),
        (&after, Way::Challenge, &challenged[..]),
        (&after, Way::AtTheProvider, &by_provider[..]),
        (&before, Way::WithoutChallenge, &[SETUP, ENROLL, analysis, "authorization success"][..]),
        (&before, Way::Challenge, &[SETUP, ENROLL, VALIDATE, analysis, "authorization success"][..]),
        (&before, Way::AtTheProvider, &[analysis, "pending success", "authorization success"][..]),
    ] {
        let charge = made(&app, merchant, way, APPROVED_RISK).await;
        assert_eq!(charge["status"], "authorized", "{way:?}: {charge:#}");
        let mut made = requests(&charge);
        made.reverse();
        assert_eq!(made, expected, "{way:?}");
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_reproved_risk_ends_an_authenticated_charge(app: TestApp) {
    let app = app.reachable().await;
    for (is_before, way, status) in [
        (true, Way::WithoutChallenge, "failed"),
        (true, Way::Challenge, "failed"),
        (false, Way::WithoutChallenge, "canceled"),
        (false, Way::Challenge, "canceled"),
        (false, Way::AtTheProvider, "canceled"),
    ] {
        let charge = made(&app, &merchant(&app, is_before).await, way, REPROVED).await;
        assert_eq!(charge["status"], status, "{is_before} {way:?}: {charge:#}");
        assert_eq!(held(&app).await, 0, "no security code is kept");
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}
