//! Customers in charges, and what a public key may see of them.

use axum::http::Method;
use regente::http::rates::Rate;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::Client;

stories! {
    a_buyer_in_the_body_pays_with_the_default_card_of_the_customer_who_fits,
    a_buyer_who_fits_nobody_has_no_card_and_is_not_stored,
    a_public_key_does_not_describe_a_payer,
    a_card_linked_by_an_alias_does_not_lead_to_the_person,
    the_same_key_with_force_is_another_operation,
    secret_keys_are_limited_when_an_operator_says_so,
}

const CPF: &str = "97055503019";

fn ana() -> Value {
    json!({
        "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": CPF },
    })
}

async fn customer_with_card(app: &TestApp) -> (String, String) {
    let customer = app.post("/v1/customers", &ana()).await.expect(201)["id"].as_str().unwrap().to_owned();
    let card = app.card(APPROVED).await;
    let path = format!("/v1/customers/{customer}/cards");
    assert_eq!(app.post(&path, &json!({ "cardId": card })).await.status, 204);
    (customer, card)
}

async fn a_buyer_in_the_body_pays_with_the_default_card_of_the_customer_who_fits(app: TestApp) {
    let merchant = app.merchant().await;
    let (customer, _) = customer_with_card(&app).await;
    let described = json!({
        "sourceType": "customer",
        "customer": { "email": "other@example.com", "phoneNumber": "1", "document": { "type": "CPF", "number": "970.555.030-19" } },
    });
    let charged = app.post("/v1/charges", &Charge::by_source(&merchant, described).body()).await.expect(201);
    assert_eq!(charged["status"], "authorized");
    assert_eq!(charged["paymentSource"], json!({ "sourceType": "customer", "customerId": customer }));
    assert_eq!(charged["customerId"], customer);
}

async fn a_buyer_who_fits_nobody_has_no_card_and_is_not_stored(app: TestApp) {
    let merchant = app.merchant().await;
    let described = json!({ "sourceType": "customer", "customer": ana() });
    let refused = app.post("/v1/charges", &Charge::by_source(&merchant, described).body()).await;
    assert_eq!(refused.details(400), ["paymentSource.customer: customer has no card that can be charged"]);
    assert_eq!(app.get("/v1/customers").await.expect(200)["meta"]["totalItems"], 0);
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_public_key_does_not_describe_a_payer(app: TestApp) {
    let merchant = app.merchant().await;
    customer_with_card(&app).await;
    let page = app.client_token(json!(["charges"])).await;
    let body = Charge::by_source(&merchant, json!({ "sourceType": "customer", "customer": ana() })).body();
    let refused = app.call(&page, Method::POST, "/v1/charges", &[], Some(&body)).await;
    assert_eq!(
        refused.details(400),
        ["paymentSource.customer must be given as customerId with a public key, when his card is charged"]
    );
    // Nobody's card is charged by a Pix.
    let pix = pix_body(&merchant, described(jose()));
    assert_eq!(app.call(&page, Method::POST, "/v1/charges", &[], Some(&pix)).await.status, 201);
}

async fn a_card_linked_by_an_alias_does_not_lead_to_the_person(app: TestApp) {
    let (customer, _) = customer_with_card(&app).await;
    let page: Client = app.client_token(json!(["cards", "customers", "tokens"])).await;
    let stranger = json!({
        "name": "X", "email": "x@example.com", "phoneNumber": "1", "document": { "type": "cpf", "number": CPF },
    });
    let alias = app.call(&page, Method::POST, "/v1/customers", &[], Some(&stranger)).await.expect(201);
    let alias = alias["id"].as_str().unwrap();
    let own = app.card(APPROVED).await;
    let path = format!("/v1/customers/{alias}/cards");
    let linked = app.call(&page, Method::POST, &path, &[], Some(&json!({ "cardId": own }))).await;
    assert_eq!(linked.status, 204);

    let seen = app.call(&page, Method::GET, &format!("/v1/cards/{own}"), &[], None).await.expect(200);
    assert_eq!(seen["customerId"], Value::Null);
    assert_eq!(seen.get("customer"), None);
    assert!(!seen.to_string().contains(&customer));
    // A secret key sees the customer.
    assert_eq!(app.get(&format!("/v1/cards/{own}")).await.expect(200)["customer"]["id"], customer);
}

async fn the_same_key_with_force_is_another_operation(app: TestApp) {
    let first = app.post_with_key("/v1/customers", "buyer-1", &ana()).await.expect(201);
    let forced = app.post_with_key("/v1/customers?force=true", "buyer-1", &ana()).await;
    assert_eq!(forced.header("idempotent-replayed"), None);
    assert_eq!(forced.expect(201)["id"], first["id"]);
    let again = app.post_with_key("/v1/customers", "buyer-1", &ana()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

async fn secret_keys_are_limited_when_an_operator_says_so(app: TestApp) {
    let app = app.with_limits(|limits| limits.rates.secret_key_requests = Rate::per_second(2)).await;
    let mut refused = None;
    for _ in 0..50 {
        let reply = app.get("/v1/charges").await;
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("a limit of two requests a second is reached by fifty at once");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.json()["error"]["message"], "Too many requests");
}
