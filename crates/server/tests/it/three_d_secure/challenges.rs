//! The own flow: the eight test numbers, challenges passed, refused and abandoned, and who comes back from them.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_engine::calls::returns::LOOK_UPS_MAX;
use regente_engine::settings::Mode;
use serde_json::{Value, json};

use super::{challenged, refusal};
use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::charges::read;
use crate::support::read::{announced, text};
use crate::support::three_d_secure::{
    CHALLENGE_FAILS, CHALLENGE_PASSES, ERROR, FRICTIONLESS, HOSTED_CHALLENGE, HOSTED_FRICTIONLESS,
    NOT_ENROLLED, REDIRECT, REFUSED, answer, decided, fields, held, merchant, own_body, post_form, requests,
    visit,
};

stories! {
    each_test_number_ends_as_documented,
    a_challenge_is_the_answer_of_the_key,
    a_challenge_that_is_passed_leads_to_the_authorization,
    a_challenge_that_is_refused_leads_to_no_authorization,
    a_challenge_that_is_abandoned_ends_after_fifteen_minutes,
    whoever_passes_and_does_not_come_back_is_charged_by_the_job,
    coming_back_again_changes_nothing,
    coming_back_asks_the_server_so_often_and_no_more,
    an_address_that_is_not_signed_leads_nowhere,
    a_signed_address_is_good_for_an_hour,
    the_pages_are_for_browsers,
    the_pages_are_in_no_production,
}

const MINUTE: Duration = Duration::from_secs(60);

/// The requests of a charge that the 3DS server let go on, newest first.
const AUTHORIZED: [(&str, &str); 3] = [
    ("authorization", "success"),
    ("3DS_authentication_enroll", "success"),
    ("3DS_authentication_setup", "success"),
];
/// The requests of a charge that it did not.
const NOT_AUTHENTICATED: [(&str, &str); 2] =
    [("3DS_authentication_enroll", "failed"), ("3DS_authentication_setup", "success")];

async fn each_test_number_ends_as_documented(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    let charge = async |card| {
        let body = own_body(&app, &merchant, card).await;
        app.post("/v1/charges", &body).await.expect(201)
    };
    for card in [FRICTIONLESS, HOSTED_FRICTIONLESS] {
        let charge = charge(card).await;
        assert_eq!(charge["status"], "authorized", "{charge:#}");
        assert_eq!(requests(&charge), AUTHORIZED);
        let requests = charge["transactionRequests"].as_array().unwrap();
        assert_eq!(requests[0]["threeds"], json!({ "authenticated": true }));
        assert_eq!(requests[1]["threeds"], json!({ "cardEnrolled": true, "challenged": false }));
        for request in &requests[1..] {
            assert_eq!((&request["providerId"], &request["responseTs"]), (&Value::Null, &Value::Null));
            assert_eq!(request["idempotencyKey"], requests[2]["idempotencyKey"]);
            assert_eq!(request["providerType"], "SANDBOX");
        }
        let shown = &charge["threeDSecure2"];
        for (member, value) in [
            ("authenticated", json!(true)),
            ("liabilityShift", json!(true)),
            ("cardEnrolled", json!(true)),
            ("challenged", json!(false)),
            ("offeredType", json!("Frictionless")),
            ("version", json!("2.2.0")),
            ("redirectURL", json!(REDIRECT)),
            ("requiresLiabilityShift", json!(false)),
        ] {
            assert_eq!(shown[member], value, "{member}");
        }
        assert_eq!(shown["billingAddress"]["streetNumber"], "205");
        assert!(shown.get("authData").is_none(), "{shown:#}");
    }
    for (card, reason) in [(REFUSED, "failed_authentication"), (ERROR, "authentication_error")] {
        let charge = charge(card).await;
        assert_eq!(charge["status"], "failed");
        assert_eq!(requests(&charge), NOT_AUTHENTICATED);
        assert_eq!(refusal(&charge), ("transaction_not_allowed", reason));
    }
    let without = charge(NOT_ENROLLED).await;
    assert_eq!(without["status"], "authorized", "nobody demands the shift");
    assert_eq!(without["threeDSecure2"]["cardEnrolled"], false);
    assert_eq!(without["transactionRequests"][0]["threeds"], json!({ "authenticated": false }));
    for (card, status) in
        [(CHALLENGE_PASSES, "authorized"), (HOSTED_CHALLENGE, "authorized"), (CHALLENGE_FAILS, "failed")]
    {
        let waiting = charge(card).await;
        assert_eq!(waiting["status"], "pending");
        assert_eq!(decided(&app, &waiting, "approve").await["status"], status, "{card:?}");
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_challenge_is_the_answer_of_the_key(app: TestApp) {
    let app = app.reachable().await;
    let body = own_body(&app, &merchant(&app).await, CHALLENGE_PASSES).await;
    let first = app.post_with_key("/v1/charges", "key", &body).await;
    let charge = first.expect(201);
    let shown = &charge["threeDSecure2"];
    assert_eq!((&shown["challenged"], &shown["authenticated"]), (&json!(true), &json!(false)));
    assert_eq!(shown["offeredType"], "Unknown");
    assert_eq!(shown["networkTransactionId"], Value::Null);
    let data = &shown["authData"];
    assert_eq!((&data["action"], &data["responseType"]), (&json!("REDIRECT"), &json!("AUTHENTICATION")));
    assert_eq!(data["response"]["stepUrl"], format!("{ADDRESS}/3ds/step-up"));
    assert_eq!(requests(&charge)[0], ("3DS_authentication_enroll", "success"));
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending"]);
    let token = text(&data["response"]["token"]);
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    for member in ["jti", "iat", "iss", "exp", "Payload", "ReturnUrl"] {
        assert!(claims.get(member).is_some(), "{claims:#}");
    }
    assert!(!claims.to_string().contains(&CHALLENGE_PASSES.0[12..]), "no card data: {claims:#}");
    assert_eq!(held(&app).await, 1);
    let done = decided(&app, &charge, "approve").await;
    assert_eq!(done["status"], "authorized");
    let again = app.post_with_key("/v1/charges", "key", &body).await;
    assert_eq!(again.bytes, first.bytes, "the version that was answered");
}

async fn a_challenge_that_is_passed_leads_to_the_authorization(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let done = decided(&app, &charge, "approve").await;
    assert_eq!(done["status"], "authorized", "{done:#}");
    let expected = [
        ("authorization", "success"),
        ("3DS_authentication_validate", "success"),
        ("3DS_authentication_enroll", "success"),
        ("3DS_authentication_setup", "success"),
    ];
    assert_eq!(requests(&done), expected);
    let requests = done["transactionRequests"].as_array().unwrap();
    assert_eq!(requests[1]["threeds"], json!({ "liabilityShift": true }));
    assert_eq!(requests[2]["threeds"], json!({ "cardEnrolled": true, "challenged": true }));
    let shown = &done["threeDSecure2"];
    assert_eq!((&shown["authenticated"], &shown["liabilityShift"]), (&json!(true), &json!(true)));
    assert_eq!(shown["offeredType"], "Challenge");
    assert!(shown["networkTransactionId"].is_string() && shown.get("authData").is_none(), "{shown:#}");
    assert_eq!(held(&app).await, 0, "the security code is gone once it was used");
    assert_eq!(announced(&app, text(&done["id"])).await, ["pending", "authorized"]);
    assert_eq!(app.wire.payers().codes(), [true], "the provider was sent the security code");
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &[done]).await;
}

async fn a_challenge_that_is_refused_leads_to_no_authorization(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let done = decided(&app, &charge, "refuse").await;
    assert_eq!(done["status"], "failed");
    assert_eq!(requests(&done)[0], ("3DS_authentication_validate", "failed"));
    assert_eq!(refusal(&done), ("transaction_not_allowed", "failed_authentication"));
    assert_eq!(held(&app).await, 0);
    assert_eq!(app.books.effects().await.unwrap(), 0);
    let late = answer(&app, &charge, "approve").await;
    visit(&app, &late).await;
    assert_eq!(read(&app, &charge).await, done, "the first answer counts");
}

async fn a_challenge_that_is_abandoned_ends_after_fifteen_minutes(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    app.later(14 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    assert_eq!(held(&app).await, 1);
    app.later(2 * MINUTE).await;
    let done = read(&app, &charge).await;
    assert_eq!(done["status"], "failed");
    assert_eq!(requests(&done)[0], ("3DS_authentication_validate", "failed"));
    assert_eq!(refusal(&done), ("transaction_not_allowed", "cardholder_not_complete_authentication"));
    assert_eq!(held(&app).await, 0);
    assert_eq!(announced(&app, text(&done["id"])).await, ["pending", "failed"]);
    assert_eq!(app.books.effects().await.unwrap(), 0);
    nothing_is_open(&app).await;
}

async fn whoever_passes_and_does_not_come_back_is_charged_by_the_job(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    answer(&app, &charge, "approve").await;
    app.later(14 * MINUTE).await;
    let done = read(&app, &charge).await;
    assert_eq!(done["status"], "authorized");
    assert_eq!(held(&app).await, 0);
    agree_on_all(&app.books, &[done]).await;
}

async fn coming_back_again_changes_nothing(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let path = answer(&app, &charge, "approve").await;
    let (one, other) = tokio::join!(visit(&app, &path), post_form(&app, &path, &[]));
    assert_eq!((one.status.as_u16(), other.status.as_u16()), (303, 303));
    let done = read(&app, &charge).await;
    assert_eq!(done["status"], "authorized", "{done:#}");
    assert_eq!(requests(&done).len(), 4, "{done:#}");
    assert_eq!(visit(&app, &path).await.header("location"), one.header("location"));
    assert_eq!(read(&app, &charge).await, done);
    assert_eq!(app.books.effects().await.unwrap(), 1);
}

/// Whoever holds the address needs no key, and each look-up is a call.
async fn coming_back_asks_the_server_so_often_and_no_more(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    // The address is known from the challenge itself, before the cardholder has answered.
    let token = text(&charge["threeDSecure2"]["authData"]["response"]["token"]);
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    let path = text(&claims["ReturnUrl"]).strip_prefix(ADDRESS).unwrap();
    let before = app.wire.questions_of_3ds();
    for _ in 0..3 * LOOK_UPS_MAX {
        assert_eq!(visit(&app, path).await.status, 303);
    }
    assert_eq!(app.wire.questions_of_3ds() - before, LOOK_UPS_MAX);
    assert_eq!(read(&app, &charge).await["status"], "pending");
    // The job is not kept from asking.
    answer(&app, &charge, "approve").await;
    app.later(14 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "authorized");
    let asked = app.wire.questions_of_3ds();
    assert_eq!(visit(&app, path).await.status, 303);
    assert_eq!(app.wire.questions_of_3ds(), asked, "a challenge that has ended is not looked up");
}

async fn an_address_that_is_not_signed_leads_nowhere(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let other = challenged(&app, CHALLENGE_PASSES).await;
    let path = answer(&app, &charge, "approve").await;
    let stranger = app.another_client().await;
    let (base, query) = path.split_once('?').unwrap();
    let hash = query.split_once("hash=").unwrap().1.split_once('&').unwrap().0;
    let other_first = if hash.starts_with('A') { 'B' } else { 'A' };
    for wrong in [
        base.to_owned(),
        format!("{base}?hash={hash}"),
        format!("{base}?clientId={}", app.client.id),
        format!("{base}?hash=&clientId={}", app.client.id),
        format!("{base}?hash={other_first}{}&clientId={}", &hash[1..], app.client.id),
        format!("{base}?hash={hash}&clientId={}", stranger.id),
        path.replace(text(&charge["id"]), text(&other["id"])),
        path.replace(text(&charge["id"]), "no-id"),
    ] {
        assert_eq!(visit(&app, &wrong).await.status, 404, "{wrong}");
    }
    assert_eq!(read(&app, &charge).await["status"], "pending");
    assert_eq!(visit(&app, &path).await.status, 303);
}

async fn a_signed_address_is_good_for_an_hour(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let path = answer(&app, &charge, "approve").await;
    app.later(59 * MINUTE).await;
    assert_eq!(visit(&app, &path).await.status, 303);
    app.later(2 * MINUTE).await;
    assert_eq!(visit(&app, &path).await.status, 404);
}

async fn the_pages_are_for_browsers(app: TestApp) {
    let app = app.reachable().await;
    let charge = challenged(&app, CHALLENGE_PASSES).await;
    let page = post_form(&app, "/3ds/step-up", &fields(&charge)).await;
    let html = String::from_utf8(page.bytes.clone()).unwrap();
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'none'"), "{policy}");
    for part in ["lang=\"en\"", "Loja &lt;João&gt;", "1.50", "Approve", "Refuse"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let setup = own_body(&app, &merchant(&app).await, FRICTIONLESS).await;
    assert!(setup["threeDSecure2"]["setupId"].is_string());
    let forged = [("JWT", "a.b.c".to_owned())];
    for path in ["/3ds/step-up", "/3ds/collect"] {
        assert_eq!(post_form(&app, path, &forged).await.status, 400);
        assert_eq!(visit(&app, path).await.status, 400);
    }
    // The token of a challenge is none of a setup, and the other way round.
    assert_eq!(post_form(&app, "/3ds/collect", &fields(&charge)).await.status, 400);
    app.clock.advance(16 * MINUTE);
    assert_eq!(post_form(&app, "/3ds/step-up", &fields(&charge)).await.status, 400, "it is too old");
}

async fn the_pages_are_in_no_production(app: TestApp) {
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    for path in ["/3ds/step-up", "/3ds/collect"] {
        assert_eq!(visit(&app, path).await.status, 404);
        assert_eq!(post_form(&app, path, &[]).await.status, 404);
    }
}
