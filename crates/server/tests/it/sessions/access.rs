//! The key of a session: what it opens, and when (`docs/interface/sessions.md#session-key`).

use axum::http::Method;
use regente::http::card_testing::Bounds;
use regente::http::rates::Rate;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::jose;
use crate::support::bodies::{APPROVED, token_body};
use crate::support::client::Client;
use crate::support::document::Document;
use crate::support::document::doors::OPEN_TO_ALL;
use crate::support::read::text;
use crate::support::sessions::{buyer, by_card, create, pay, session_body};

stories! {
    the_key_of_a_session_opens_its_session_alone,
    a_checkout_pays_as_shipped_clients_do,
    the_key_of_each_session_has_a_limit,
}

async fn the_key_of_a_session_opens_its_session_alone(app: TestApp) {
    let merchant = app.merchant().await;
    let (own, other) =
        (create(&app, &session_body(&merchant)).await, create(&app, &session_body(&merchant)).await);
    let key = buyer(&own);
    for (method, end) in
        [(Method::GET, ""), (Method::GET, "/link"), (Method::POST, "/charge"), (Method::POST, "/card")]
    {
        let body = (method == Method::POST).then(|| by_card(APPROVED));
        let path = format!("/v1/sessions/{}{end}", text(&other["id"]));
        assert_eq!(app.call(&key, method, &path, &[], body.as_ref()).await.status, 404, "{path}");
    }
    const OPEN: [&str; 10] = [
        "GET /v1/sessions/{id}",
        "GET /v1/sessions/{id}/link",
        "POST /v1/sessions/{id}/charge",
        "POST /v1/sessions/{id}/card",
        "POST /v1/sessions/tokens",
        "POST /v1/sessions/cards",
        "POST /v1/sessions/customers",
        "GET /v1/sessions/customers/{id}",
        "GET /v1/sessions/customers/{id}/cards",
        "POST /v1/sessions/customers/{id}/cards",
    ];
    for operation in Document::current().operations.iter().filter(|found| found.path.starts_with("/v1/")) {
        if OPEN_TO_ALL.contains(&operation.path.as_str()) {
            continue;
        }
        let ids = vec![text(&own["id"]); operation.parameters()];
        let path = operation.path_with(&ids);
        let answer = app.call(&key, operation.method.clone(), &path, &[], Some(&json!({}))).await;
        let is_open = OPEN.contains(&operation.name().as_str());
        assert_eq!(answer.status != 403, is_open, "{}: {answer:?}", operation.name());
    }
    // The key is worth nothing at another account.
    let stranger = app.another_client().await;
    let path = format!("/v1/sessions/{}", text(&own["id"]));
    let mixed = Client { id: stranger.id.clone(), key: key.key.clone() };
    assert_eq!(app.call(&mixed, Method::GET, &path, &[], None).await.status, 403);
    assert_eq!(app.call(&stranger, Method::GET, &path, &[], None).await.status, 404);
}

async fn a_checkout_pays_as_shipped_clients_do(app: TestApp) {
    let session = create(&app, &session_body(&app.merchant().await)).await;
    let key = buyer(&session);
    let post = async |path: &str, body| app.call(&key, Method::POST, path, &[], Some(&body)).await;
    let customer = post("/v1/sessions/customers?force=true", jose()).await.expect(201);
    let alias = text(&customer["id"]);
    let token = post("/v1/sessions/tokens", token_body(APPROVED)).await.expect(201);
    let card = post("/v1/sessions/cards", json!({ "tokenId": token["tokenId"] })).await.expect(201);
    let body = json!({
        "paymentMethod": { "paymentType": "credit", "installments": 2 }, "customerId": alias,
        "paymentSource": { "sourceType": "card", "cardId": card["id"], "cardCvv": APPROVED.1 },
        "paymentFlow": { "metadata": {} }, "splitRules": [], "appInfo": null,
        "fraudAnalysis": { "customer": jose(), "cart": { "items": [
            { "name": "Shoe", "sku": "Shoe", "unitPrice": 75, "quantity": 2, "risk": "Low" } ] } },
    });
    let paid = pay(&app, &session, &body).await.expect(201);
    assert_eq!((&paid["status"], &paid["customerId"]), (&json!("authorized"), &json!(alias)));
    let link = format!("/v1/sessions/customers/{alias}/cards");
    assert_eq!(post(&link, json!({ "cardId": paid["paymentSource"]["cardId"] })).await.status, 204);

    // The alias reads nothing; the id that the merchant knows does.
    let get = async |path: &str| app.call(&key, Method::GET, path, &[], None).await;
    assert_eq!(get(&format!("/v1/sessions/customers/{alias}")).await.status, 404);
    assert_eq!(get(&link).await.expect(200), json!([]));
    let known = app.get("/v1/customers").await.expect(200)["items"][0]["id"].clone();
    assert_eq!(get(&format!("/v1/sessions/customers/{}", text(&known))).await.expect(200)["id"], known);
    let cards = get(&format!("/v1/sessions/customers/{}/cards", text(&known))).await.expect(200);
    assert_eq!(cards[0]["id"], card["id"]);

    // Paid: the page still shows it, and makes nothing any more.
    assert_eq!(
        get(&format!("/v1/sessions/{}/link", text(&session["id"]))).await.expect(201)["status"],
        "paid"
    );
    for (path, body) in [
        ("/v1/sessions/tokens", token_body(APPROVED)),
        ("/v1/sessions/cards", json!({ "tokenId": token["tokenId"] })),
        ("/v1/sessions/customers", jose()),
    ] {
        assert_eq!(post(path, body).await.status, 403, "{path}");
    }
}

async fn the_key_of_each_session_has_a_limit(app: TestApp) {
    let bounds = Bounds { requests: Rate::per_minute(2), ..Bounds::default() };
    let app = app.with_limits(|limits| limits.card_testing.session = bounds).await;
    let merchant = app.merchant().await;
    let (own, other) =
        (create(&app, &session_body(&merchant)).await, create(&app, &session_body(&merchant)).await);
    let mut limited = false;
    for _ in 0..40 {
        let body = token_body(APPROVED);
        let answer = app.call(&buyer(&own), Method::POST, "/v1/sessions/tokens", &[], Some(&body)).await;
        limited |= answer.status == 429;
    }
    assert!(limited, "two a minute are reached by forty at once");
    assert_eq!(pay(&app, &other, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}
