//! Cards by what 3DS does with them, bodies with 3DS, and what the cardholder's browser does.

use axum::body::Body;
use axum::http::{Method, Request};
use regente_store::{args, sql};
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use crate::support::app::{ADDRESS, TestApp};
use crate::support::bodies::{Charge, token_body};
use crate::support::charges::read;
use crate::support::client::Reply;
use crate::support::providers::sandbox;
use crate::support::read::text;

sql! {
    HELD = "SELECT COUNT(*) AS n FROM held_security_codes WHERE client_id = :client_id";
}

/// The test numbers, each with a good security code.
pub const CHALLENGE_PASSES: (&str, &str) = ("4000000000002503", "120");

pub const CHALLENGE_FAILS: (&str, &str) = ("4000000000002370", "120");

pub const FRICTIONLESS: (&str, &str) = ("4000000000001000", "120");

pub const REFUSED: (&str, &str) = ("5200000000001013", "120");

pub const HOSTED_CHALLENGE: (&str, &str) = ("4212345678910006", "120");

pub const HOSTED_FRICTIONLESS: (&str, &str) = ("5201281505129736", "120");

pub const NOT_ENROLLED: (&str, &str) = ("4199350000000002", "120");

pub const ERROR: (&str, &str) = ("5201282999005515", "120");

/// Where the merchant wants the buyer back.
pub const REDIRECT: &str = "https://shop.example/return?order=1";

/// `threeDSecure2` with all of its members but `setupId` and `mpi`.
pub fn three_d_secure() -> Value {
    let address = json!({
        "city": "Rio de Janeiro", "country": "BR", "streetNumber": 205, "zipCode": "25650011", "state": "RJ",
        "street": "Av Geraldo Cardoso",
    });
    json!({
        "dataOnly": false, "requiresLiabilityShift": "false", "redirectURL": REDIRECT,
        "requestorURL": "https://shop.example", "billingAddress": address, "shippingAddress": address,
        "browser": {
            "acceptHeader": "*/*", "colorDepth": 24, "javaEnabled": false, "javaScriptEnabled": true,
            "language": "pt-BR", "screenHeight": 1080, "screenWidth": 1920, "timeZoneOffset": "180",
            "userAgent": "Mozilla/5.0", "ip": "203.0.113.9", "acceptBrowserValue": "*/*", "acceptContent": "*/*",
        },
        "cardHolder": { "email": "buyer@example.com", "mobilePhone": "5511999998888" },
    })
}

/// The body of a charge of this card whose cardholder the payment provider authenticates.
pub fn hosted_body(merchant: &str, card: (&str, &str)) -> Value {
    Charge::by_card(merchant, card).with("threeDSecure2", three_d_secure()).body()
}

/// The body of a charge of this card that a 3DS server authenticates: by a token, which the setup leaves alone.
pub async fn own_body(app: &TestApp, merchant: &str, card: (&str, &str)) -> Value {
    own(app, hosted_body(merchant, card), card).await
}

/// The same body, for a 3DS server.
pub async fn own(app: &TestApp, mut body: Value, card: (&str, &str)) -> Value {
    let source = json!({ "sourceType": "token", "tokenId": app.card_token(card).await });
    let setup = app.post("/v1/charges/3ds/setup", &source).await.expect(201);
    body["paymentSource"] = source;
    body["threeDSecure2"]["setupId"] = setup["id"].clone();
    body
}

/// A merchant with a name and one simulator.
pub async fn merchant(app: &TestApp) -> String {
    let body = json!({ "mcc": "5812", "merchantName": "Loja <João>", "providers": [sandbox("Main", 1)] });
    text(&app.post("/v1/merchants", &body).await.expect(201)["id"]).to_owned()
}

/// What the browser posts: the fields of a challenge.
pub fn fields(charge: &Value) -> Vec<(&'static str, String)> {
    let response = &charge["threeDSecure2"]["authData"]["response"];
    let field = |name: &str| text(&response[name]).to_owned();
    match response.get("token") {
        Some(_) => vec![("JWT", field("token"))],
        None => vec![("MD", field("md")), ("PaReq", field("paReq")), ("TermUrl", field("termUrl"))],
    }
}

/// Sends a form, as a browser does: without credentials.
pub async fn post_form(app: &TestApp, path: &str, fields: &[(&str, String)]) -> Reply {
    let body = Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Accept-Language", "en-US,en;q=0.9");
    app.send(request.body(Body::from(body)).unwrap()).await
}

/// Goes to an address without credentials.
pub async fn visit(app: &TestApp, path: &str) -> Reply {
    app.send(Request::builder().uri(path).body(Body::empty()).unwrap()).await
}

/// The cardholder answers the challenge; returns the path to which the page leads.
pub async fn answer(app: &TestApp, charge: &Value, decision: &str) -> String {
    answer_in_time(app, charge, decision).await.expect("a page that is still good")
}

/// As [`answer`]; `None` when the page is no longer good.
pub async fn answer_in_time(app: &TestApp, charge: &Value, decision: &str) -> Option<String> {
    let mut fields = fields(charge);
    fields.push(("decision", decision.to_owned()));
    let page = post_form(app, "/3ds/step-up", &fields).await;
    let html = String::from_utf8(page.bytes).unwrap();
    if page.status == 400 {
        assert!(html.contains("no longer good"), "{html}");
        return None;
    }
    assert_eq!(page.status, 200, "{html}");
    let (_, rest) = html.split_once("content=\"0; url=").expect("a way back");
    let url = rest.split_once('"').unwrap().0.replace("&amp;", "&");
    Some(url.strip_prefix(ADDRESS).expect("a page of this deployment").to_owned())
}

/// The cardholder answers the challenge and comes back; returns the charge.
pub async fn decided(app: &TestApp, charge: &Value, decision: &str) -> Value {
    let path = answer(app, charge, decision).await;
    let back = visit(app, &path).await;
    assert_eq!(back.status, 303, "{}", String::from_utf8_lossy(&back.bytes));
    assert_eq!(back.header("location").unwrap(), format!("{REDIRECT}&chargeId={}", text(&charge["id"])));
    read(app, charge).await
}

pub async fn held(app: &TestApp) -> i64 {
    let rows = app.app.store.rows(&HELD, args! { client_id: app.client_id() }).await.unwrap();
    rows[0].get("n").unwrap()
}

/// Type and status of each request, newest first.
pub fn requests(charge: &Value) -> Vec<(&str, &str)> {
    let requests = charge["transactionRequests"].as_array().unwrap();
    requests.iter().map(|request| (text(&request["requestType"]), text(&request["requestStatus"]))).collect()
}

/// An inline card.
pub fn inline(card: (&str, &str)) -> Value {
    json!({ "sourceType": "card", "card": token_body(card) })
}
