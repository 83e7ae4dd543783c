//! Payment sources (`docs/interface/charges.md#payment-sources`): every one ends as a stored card.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, charge_body, token_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::Client;
use crate::support::providers::sandbox;
use crate::support::read::{newest, text};

stories! {
    a_stored_card_is_charged_without_its_security_code,
    a_stored_card_is_charged_with_a_security_code,
    a_cvv_token_wins_over_a_security_code,
    a_cvv_token_is_used_once,
    an_inline_card_is_stored,
    an_inline_card_needs_no_code_without_its_buyer,
    a_card_token_is_stored_and_used_once,
    a_customer_pays_with_the_card_linked_last,
    a_customer_without_a_usable_card_cannot_pay,
    the_buyer_may_be_named_beside_the_source,
    two_different_buyers_are_refused,
    an_alias_serves_the_secret_key_and_no_public_key,
    a_failed_card_is_refused,
    a_deleted_card_is_not_found,
    a_source_of_another_client_does_not_exist,
}

const CPF: &str = "97055503019";
const OTHER_CPF: &str = "72912053013";

fn buyer(email: &str, number: &str) -> Value {
    json!({ "name": "Ana Souza", "email": email, "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": number } })
}

async fn customer(app: &TestApp, email: &str, number: &str) -> String {
    text(&app.post("/v1/customers", &buyer(email, number)).await.expect(201)["id"]).to_owned()
}

async fn link(app: &TestApp, customer: &str, card: &str) {
    app.post(&format!("/v1/customers/{customer}/cards"), &json!({ "cardId": card })).await.expect(204);
}

async fn cvv_token(app: &TestApp, cvv: &str) -> String {
    text(&app.post("/v1/tokens", &json!({ "cvvUpdate": cvv })).await.expect(201)["tokenId"]).to_owned()
}

fn stored(card: &str) -> Value {
    json!({ "sourceType": "card", "cardId": card })
}

fn declined_code(charge: &Value) -> &Value {
    &newest(charge)["providerError"]["declinedCode"]
}

async fn status_of_card(app: &TestApp, card: &str) -> Value {
    app.get(&format!("/v1/cards/{card}")).await.expect(200)["status"].clone()
}

async fn a_stored_card_is_charged_without_its_security_code(app: TestApp) {
    let merchant = single_merchant(&app).await;
    // The token's code was wrong and is deleted: a charge without a code is decided by the number alone.
    let card = app.card((APPROVED.0, "321")).await;
    let charge = charged(&app, &Charge::by_source(&merchant, stored(&card)).body()).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["paymentSource"], stored(&card));
    assert_eq!(status_of_card(&app, &card).await, "active");
}

async fn a_stored_card_is_charged_with_a_security_code(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let mut source = stored(&card);
    source["cardCvv"] = json!("560");
    let charge = charged(&app, &Charge::by_source(&merchant, source.clone()).body()).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["paymentSource"], stored(&card), "the code is not echoed");
    source["cardCvv"] = json!("561");
    let charge = charged(&app, &Charge::by_source(&merchant, source).body()).await;
    assert_eq!(declined_code(&charge), "invalid_cvv");
    assert_eq!(status_of_card(&app, &card).await, "active", "a later refusal does not change the card");
}

async fn a_cvv_token_wins_over_a_security_code(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let mut source = stored(&card);
    for (token_cvv, card_cvv, expected) in [("120", "321", "authorized"), ("321", "120", "failed")] {
        source["tokenCvv"] = json!(cvv_token(&app, token_cvv).await);
        source["cardCvv"] = json!(card_cvv);
        let charge = charged(&app, &Charge::by_source(&merchant, source.clone()).body()).await;
        assert_eq!(charge["status"], expected);
        assert_eq!(charge["paymentSource"], stored(&card));
    }
}

async fn a_cvv_token_is_used_once(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let mut source = stored(&card);
    source["tokenCvv"] = json!(cvv_token(&app, "120").await);
    charged(&app, &Charge::by_source(&merchant, source.clone()).body()).await;
    let again = app.post("/v1/charges", &Charge::by_source(&merchant, source).body()).await.expect(400);
    assert_eq!(again["error"]["type"], "invalid_request_error");
    assert_eq!(again["error"]["message"], "token not found or expired");
}

async fn an_inline_card_is_stored(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let card = text(&charge["paymentSource"]["cardId"]).to_owned();
    assert_eq!(charge["paymentSource"], stored(&card));
    let read = app.get(&format!("/v1/cards/{card}")).await.expect(200);
    assert_eq!(
        (&read["status"], &read["statusReason"], &read["cvvChecked"], &read["cardHolderName"]),
        (&json!("active"), &Value::Null, &json!(true), &json!("JOAO DA SILVA"))
    );
    assert_eq!(
        charged(&app, &Charge::by_source(&merchant, stored(&card)).body()).await["status"],
        "authorized"
    );
    assert_eq!(app.get("/v1/cards").await.expect(200)["meta"]["totalItems"], 1);
}

async fn an_inline_card_needs_no_code_without_its_buyer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let with = |recurrence: Value, code: Value| {
        let mut body = charge_body(&merchant, APPROVED);
        body["paymentMethod"]["recurrence"] = recurrence;
        body["paymentSource"]["card"] = token_body(APPROVED);
        body["paymentSource"]["card"]["cardCvv"] = code;
        body
    };
    for recurrence in ["subsequent", "unscheduled"] {
        let charge = charged(&app, &with(json!(recurrence), Value::Null)).await;
        assert_eq!(charge["status"], "authorized", "{recurrence}");
        let card = text(&charge["paymentSource"]["cardId"]);
        let card = app.get(&format!("/v1/cards/{card}")).await.expect(200);
        assert_eq!((&card["status"], &card["cvvChecked"]), (&json!("active"), &json!(false)));
        let wrong = app.post("/v1/charges", &with(json!(recurrence), json!("12"))).await;
        assert_eq!(wrong.details(400), ["paymentSource.card.cardCvv must be 3 or 4 digits"]);
    }
    for recurrence in [json!("initial"), Value::Null] {
        let refused = app.post("/v1/charges", &with(recurrence, Value::Null)).await;
        assert_eq!(refused.details(400), ["paymentSource.card.cardCvv should not be empty"]);
    }
}

async fn a_card_token_is_stored_and_used_once(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = app.card_token(APPROVED).await;
    let source = json!({ "sourceType": "token", "tokenId": token });
    let charge = charged(&app, &Charge::by_source(&merchant, source.clone()).body()).await;
    let card = text(&charge["paymentSource"]["cardId"]);
    assert_eq!(charge["paymentSource"], json!({ "sourceType": "card", "cardId": card, "tokenId": token }));
    assert_eq!(status_of_card(&app, card).await, "active");
    let again = app.post("/v1/charges", &Charge::by_source(&merchant, source).body()).await.expect(400);
    assert_eq!(again["error"]["message"], "token not found or expired");
    assert_eq!(app.books.effects().await.unwrap(), 1);
}

async fn a_customer_pays_with_the_card_linked_last(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    let (first, second) = (app.card(APPROVED).await, app.card(("5214254988499590", "220")).await);
    link(&app, &ana, &second).await;
    app.clock.advance(std::time::Duration::from_secs(1));
    link(&app, &ana, &first).await;
    let body = Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": ana })).body();
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["customerId"], ana);
    assert_eq!(charge["paymentSource"], json!({ "sourceType": "customer", "customerId": ana }));
    assert_eq!(status_of_card(&app, &first).await, "active");
    assert_eq!(status_of_card(&app, &second).await, "pending", "it was not used");

    // A failed card is never the default, even when it was linked last.
    let failed = app.card(BLOCKED).await;
    let mut source = stored(&failed);
    source["cardCvv"] = json!(BLOCKED.1);
    charged(&app, &Charge::by_source(&merchant, source).body()).await;
    assert_eq!(status_of_card(&app, &failed).await, "failed");
    app.clock.advance(std::time::Duration::from_secs(1));
    link(&app, &ana, &failed).await;
    let mut with_code = body.clone();
    with_code["paymentSource"]["cardCvv"] = json!("560");
    assert_eq!(charged(&app, &with_code).await["status"], "authorized");
    with_code["paymentSource"]["cardCvv"] = json!("561");
    assert_eq!(declined_code(&charged(&app, &with_code).await), "invalid_cvv");
    with_code["paymentSource"]["tokenCvv"] = json!(cvv_token(&app, "560").await);
    assert_eq!(charged(&app, &with_code).await["status"], "authorized");

    app.delete(&format!("/v1/cards/{first}")).await.expect(204);
    charged(&app, &body).await;
    assert_eq!(status_of_card(&app, &second).await, "active", "the next one is the default now");
}

async fn a_customer_without_a_usable_card_cannot_pay(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    let body = Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": ana })).body();
    let answer = app.post("/v1/charges", &body).await.expect(400);
    assert_eq!(answer["error"]["type"], "invalid_request_error");
    assert_eq!(answer["error"]["message"], "customer has no card that can be charged");
    let unknown =
        Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": merchant })).body();
    let answer = app.post("/v1/charges", &unknown).await;
    assert_eq!(answer.details(404), ["paymentSource.customerId was not found"]);
}

async fn the_buyer_may_be_named_beside_the_source(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    let mut body = Charge::by_card(&merchant, APPROVED).with("customerId", json!(ana)).body();
    let charge = charged(&app, &body).await;
    assert_eq!(charge["customerId"], ana);
    let card = text(&charge["paymentSource"]["cardId"]).to_owned();
    let read = app.get(&format!("/v1/cards/{card}")).await.expect(200);
    assert_eq!(read["customerId"], Value::Null, "a charge links no card");
    link(&app, &ana, &card).await;
    body["paymentSource"] = json!({ "sourceType": "customer", "customerId": ana });
    assert_eq!(charged(&app, &body).await["customerId"], ana, "named twice, and the same");
    body["customerId"] = json!(merchant);
    assert_eq!(app.post("/v1/charges", &body).await.details(404), ["customerId was not found"]);
}

async fn two_different_buyers_are_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    let bia = customer(&app, "bia@example.com", OTHER_CPF).await;
    let card = app.card(APPROVED).await;
    link(&app, &ana, &card).await;
    let body = Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": ana }))
        .with("customerId", json!(bia))
        .body();
    let answer = app.post("/v1/charges", &body).await;
    assert_eq!(answer.details(400), ["customerId must be the customer of paymentSource"]);
    assert_eq!(status_of_card(&app, &card).await, "pending");
}

async fn an_alias_serves_the_secret_key_and_no_public_key(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    let card = app.card(APPROVED).await;
    link(&app, &ana, &card).await;
    let public: Client = app.client_token(json!(["customers", "charges"])).await;
    let post = async |path: &str, body: &Value| app.call(&public, Method::POST, path, &[], Some(body)).await;
    let found = post("/v1/customers", &buyer("ana@example.com", CPF)).await.expect(201);
    let alias = text(&found["id"]).to_owned();
    assert_ne!(alias, ana, "a public key learns no id that it did not have");
    let body = Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": alias })).body();
    let refused = post("/v1/charges", &body).await;
    assert_eq!(refused.details(400), ["paymentSource.customerId must be a customer whose cards may be used"]);

    // A described buyer pays with a card in the body and stays hidden behind the alias.
    let inline = Charge::by_card(&merchant, APPROVED).with("customerId", json!(alias)).body();
    let charge = post("/v1/charges", &inline).await.expect(201);
    assert_eq!(charge["customerId"], alias);
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    assert_eq!(app.call(&public, Method::GET, &path, &[], None).await.expect(200)["customerId"], alias);
    assert_eq!(app.get(&path).await.expect(200)["customerId"], ana, "the merchant sees who it was");

    let charge = charged(&app, &body).await;
    assert_eq!((&charge["customerId"], &charge["paymentSource"]["customerId"]), (&json!(ana), &json!(ana)));
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    let seen = app.call(&public, Method::GET, &path, &[], None).await;
    assert!(!String::from_utf8(seen.bytes).unwrap().contains(&ana), "a public key sees the alias alone");
}

async fn a_failed_card_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, BLOCKED)).await;
    let card = text(&charge["paymentSource"]["cardId"]).to_owned();
    let answer =
        app.post("/v1/charges", &Charge::by_source(&merchant, stored(&card)).body()).await.expect(400);
    assert_eq!(answer["error"]["type"], "invalid_request_error");
    assert_eq!(answer["error"]["message"], "card cannot be used in status failed");
}

async fn a_deleted_card_is_not_found(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    app.delete(&format!("/v1/cards/{card}")).await.expect(204);
    let answer = app.post("/v1/charges", &Charge::by_source(&merchant, stored(&card)).body()).await;
    assert_eq!(answer.details(404), ["paymentSource.cardId was not found"]);
}

async fn a_source_of_another_client_does_not_exist(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let token = app.card_token(APPROVED).await;
    let ana = customer(&app, "ana@example.com", CPF).await;
    link(&app, &ana, &card).await;
    let other = app.another_client().await;
    let post = async |path: &str, body: &Value| app.call(&other, Method::POST, path, &[], Some(body)).await;
    let theirs = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
    let theirs = post("/v1/merchants", &theirs).await.expect(201);
    let theirs = text(&theirs["id"]);
    let cases = [
        (stored(&card), "paymentSource.cardId was not found"),
        (json!({ "sourceType": "customer", "customerId": ana }), "paymentSource.customerId was not found"),
    ];
    for (source, detail) in cases {
        assert_eq!(
            post("/v1/charges", &Charge::by_source(theirs, source).body()).await.details(404),
            [detail]
        );
    }
    let by_token = Charge::by_source(theirs, json!({ "sourceType": "token", "tokenId": token })).body();
    let answer = post("/v1/charges", &by_token).await.expect(400);
    assert_eq!(answer["error"]["message"], "token not found or expired");
    let answer = post("/v1/charges", &charge_body(&merchant, APPROVED)).await;
    assert_eq!(answer.details(404), ["merchantId was not found"]);
    assert_eq!(app.books.entries().await.unwrap(), []);
    let charge = charged(
        &app,
        &Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": token })).body(),
    )
    .await;
    assert_eq!(charge["status"], "authorized", "the others have used nothing up");
}
