//! Charges that are paid by Pix (`docs/interface/charges.md#pix`): created, shown, replayed and listed.

pub(crate) mod crashes;
pub(crate) mod notified;
pub(crate) mod paid;
mod refunds;
mod reversed;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, payer, pix_body};
use crate::support::charges::single_merchant;
use crate::support::client::Client;
use crate::support::providers::sandbox;
use crate::support::read::{announced, newest, text};

stories! {
    a_pix_is_answered_with_its_code,
    what_was_sent_is_echoed,
    a_payer_in_the_body_is_found_or_created,
    equal_payers_at_once_are_one_customer,
    a_public_key_gets_an_alias,
    a_payment_uses_what_was_sent_with_its_alias,
    a_payer_who_differs_from_the_buyer_is_refused_and_not_stored,
    a_pix_needs_a_payer_and_a_time,
    no_provider_takes_it,
}

async fn customers(app: &TestApp) -> i64 {
    app.get("/v1/customers").await.expect(200)["meta"]["totalItems"].as_i64().unwrap()
}

async fn a_pix_is_answered_with_its_code(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    let charge = first.expect(201);
    let id = text(&charge["id"]);
    let customer = app.get("/v1/customers").await.expect(200)["items"][0]["id"].clone();
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("pending"), &json!(150)), "{charge:#}");
    assert_eq!(charge["responsibleProviderType"], "SANDBOX");
    assert_eq!(charge["paymentSource"], json!({ "sourceType": "customer", "customerId": customer }));
    assert_eq!(charge["customerId"], customer);
    let method = &charge["paymentMethod"];
    assert_eq!((&method["paymentType"], &method["expiresIn"]), (&json!("pix"), &json!(3600)));
    assert!(text(&method["qrCodeData"]).starts_with("000201"), "{method:#}");
    assert_eq!(method["qrCodeImageUrl"], Value::Null, "the service does not know its own address");

    let requests = charge["transactionRequests"].as_array().unwrap();
    assert_eq!(requests.len(), 1);
    let request = newest(&charge);
    assert_eq!((&request["requestType"], &request["requestStatus"]), (&json!("pending"), &json!("success")));
    assert_eq!((&request["providerType"], &request["amount"]), (&json!("SANDBOX"), &json!(150)));
    assert!(request["transactionId"].is_string(), "the provider's own id: {request:#}");
    let mut instructions = method.clone();
    instructions.as_object_mut().unwrap().shift_remove("paymentType");
    assert_eq!(request["pix"], instructions, "the method shows the same code");

    assert_eq!(announced(&app, id).await, ["pending"], "announced once, with its code");
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge);
    let page = app.get("/v1/charges?paymentType=pix&status=pending").await.expect(200);
    assert_eq!((&page["meta"]["totalItems"], &page["items"][0]), (&json!(1), &charge));
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let app = app.restart().await;
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge, "and it is still there");
    assert_eq!(app.books.effects().await.unwrap(), 0, "nothing was paid");
}

async fn what_was_sent_is_echoed(app: TestApp) {
    let mut body = pix_body(&single_merchant(&app).await, described(jose()));
    let info = json!([{ "name": "Loja", "value": "Joao" }]);
    let items = json!([
        { "id": "1", "title": "Shoe", "unitPrice": 150, "quantity": 1 },
        { "id": "2", "title": "Sock", "unitPrice": "75.5", "quantity": "2", "colour": "red" },
    ]);
    body["paymentMethod"]["additionalInfo"] = info.clone();
    body["paymentMethod"]["items"] = items.clone();
    body["capture"] = json!(false);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["paymentMethod"]["additionalInfo"], info);
    assert_eq!(charge["paymentMethod"]["items"], items);
    assert_eq!((&charge["capture"], &charge["status"]), (&json!(false), &json!("pending")));
    assert_eq!(app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200), charge);
}

async fn a_payer_in_the_body_is_found_or_created(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = async |payer: Value| {
        app.post("/v1/charges", &pix_body(&merchant, described(payer))).await.expect(201)
    };
    let first = charge(jose()).await;
    let customer = text(&first["customerId"]);
    let stored = app.get(&format!("/v1/customers/{customer}")).await.expect(200);
    assert_eq!(stored["name"], "Jose Bonifacio");
    let mut other_mail = payer("other@example.com", "729.120.530-13");
    other_mail["name"] = json!("Jose B");
    assert_eq!(charge(other_mail).await["customerId"], customer, "the document decides");
    assert_eq!(app.get(&format!("/v1/customers/{customer}")).await.expect(200), stored, "unchanged");
    // What shipped checkouts send for what they do not know.
    let blank = json!({ "email": "jose@example.com", "phoneNumber": " ", "address": {},
        "document": { "type": "noDocument" } });
    assert_eq!(charge(blank).await["customerId"], customer, "the address decides without a document");
    let named = json!({ "sourceType": "customer", "customerId": customer });
    let by_id = app.post("/v1/charges", &pix_body(&merchant, named)).await.expect(201);
    assert_eq!(by_id["customerId"], customer);
    assert_eq!(customers(&app).await, 1);
    let unknown = json!({ "sourceType": "customer", "customerId": merchant });
    let answer = app.post("/v1/charges", &pix_body(&merchant, unknown)).await;
    assert_eq!(answer.details(404), ["paymentSource.customerId was not found"]);
}

async fn equal_payers_at_once_are_one_customer(app: TestApp) {
    const AT_ONCE: usize = 64;
    let merchant = single_merchant(&app).await;
    let body = pix_body(&merchant, described(jose()));
    let path = "/v1/charges";
    let charging = (0..AT_ONCE).map(|_| app.post(path, &body));
    let charges = futures_util::future::join_all(charging).await;
    let mut seen: Vec<String> =
        charges.iter().map(|charge| text(&charge.expect(201)["customerId"]).to_owned()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), customers(&app).await), (1, 1));
}

async fn a_public_key_gets_an_alias(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let page: Client = app.client_token(json!(["charges"])).await;
    let body = pix_body(&merchant, described(jose()));
    let charge = app.call(&page, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    let (id, alias) = (text(&charge["id"]), text(&charge["customerId"]));
    assert_eq!(charge["paymentSource"]["customerId"], alias);
    let seen = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    let customer = text(&seen["customerId"]);
    assert_ne!(alias, customer, "a public key learns no id that it did not have");
    assert_eq!(seen["paymentSource"]["customerId"], customer);
    let again = app.call(&page, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    assert_ne!(again["customerId"], alias, "another alias of the same customer");
    assert_eq!(customers(&app).await, 1);
}

async fn a_payment_uses_what_was_sent_with_its_alias(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let page: Client = app.client_token(json!(["customers", "charges"])).await;
    let sent = app.call(&page, Method::POST, "/v1/customers", &[], Some(&jose())).await.expect(201);
    let source = json!({ "sourceType": "customer", "customerId": sent["id"] });
    let body = pix_body(&merchant, source);
    let charge = app.call(&page, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    assert_eq!((&charge["status"], &charge["customerId"]), (&json!("pending"), &sent["id"]));
    let seen = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_ne!(seen["customerId"], sent["id"], "a secret key sees the customer");
}

async fn a_payer_who_differs_from_the_buyer_is_refused_and_not_stored(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let ana = app.post("/v1/customers", &payer("ana@example.com", "97055503019")).await.expect(201);
    let mut body = pix_body(&merchant, described(jose()));
    body["customerId"] = ana["id"].clone();
    let refused = app.post("/v1/charges", &body).await;
    assert_eq!(refused.details(400), ["customerId must be the customer of paymentSource"]);
    assert_eq!(customers(&app).await, 1, "the payer was not stored");
    body["paymentSource"] = described(payer("ana@example.com", "97055503019"));
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["customerId"], ana["id"]);
    let bia = app.post("/v1/customers", &payer("bia@example.com", "11144477735")).await.expect(201);
    body["paymentSource"] = json!({ "sourceType": "customer", "customerId": bia["id"] });
    let refused = app.post("/v1/charges", &body).await;
    assert_eq!(refused.details(400), ["customerId must be the customer of paymentSource"]);
}

async fn a_pix_needs_a_payer_and_a_time(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cases = [
        ("/paymentMethod/expiresIn", Value::Null, "paymentMethod.expiresIn should not be empty"),
        ("/paymentMethod/expiresIn", json!(0), "paymentMethod.expiresIn must not be less than 1"),
        (
            "/paymentMethod/expiresIn",
            json!(2_147_483_648_i64),
            "paymentMethod.expiresIn must not be greater than 2147483647",
        ),
        ("/paymentMethod/expiresIn", json!("3600"), "paymentMethod.expiresIn must be a number"),
        ("/paymentMethod/expiresIn", json!(3600.5), "paymentMethod.expiresIn must be an integer number"),
        (
            "/paymentMethod/additionalInfo",
            json!([{}]),
            "paymentMethod.additionalInfo[0].name should not be empty",
        ),
        (
            "/paymentMethod/items",
            json!([{ "unitPrice": "dear" }]),
            "paymentMethod.items[0].unitPrice must be a number of 0 or more",
        ),
        (
            "/paymentSource",
            json!({ "sourceType": "card", "cardId": merchant }),
            "paymentSource.sourceType must be one of the following values: customer",
        ),
        ("/paymentSource/customer/email", json!("nobody"), "paymentSource.customer.email must be an email"),
        (
            "/paymentSource/customer/phoneNumber",
            Value::Null,
            "paymentSource.customer.phoneNumber should not be empty",
        ),
        (
            "/paymentSource/customer/document/number",
            json!("1"),
            "paymentSource.customer.document.number must have 11 digits",
        ),
    ];
    for (pointer, value, problem) in cases {
        let mut body = pix_body(&merchant, described(jose()));
        body["paymentMethod"]["additionalInfo"] = json!([]);
        body["paymentMethod"]["items"] = json!([]);
        *body.pointer_mut(pointer).unwrap() = value;
        let details = app.post("/v1/charges", &body).await.details(400);
        assert!(details.iter().any(|detail| detail == problem), "{problem}: {details:?}");
    }
    assert_eq!(customers(&app).await, 0);
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn no_provider_takes_it(app: TestApp) {
    let mut only_cards = sandbox("Cards", 1);
    only_cards["options"] = json!({ "type": "SANDBOX", "supports": { "paymentTypes": ["credit"] } });
    let merchant = app.merchant_with(json!([only_cards])).await;
    let refused = app.post("/v1/charges", &pix_body(&merchant, described(jose()))).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType pix");
    assert_eq!(customers(&app).await, 0, "the payer was not stored");
}
