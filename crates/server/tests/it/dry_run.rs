//! `X-Dry-Run` (`docs/interface/charges.md#dry-run`): what a charge would do, and that nothing of it is done.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::anti_fraud::{APPROVED_RISK, analysed, analysing};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::Reply;
use crate::support::flows::{Shop, balance};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::sessions::{by_card, create, session_body};
use crate::support::splits::shop;

stories! {
    a_dry_run_tells_the_route_and_does_nothing,
    the_key_draws_as_it_does_for_the_charge,
    a_buyer_does_not_become_a_customer,
    a_division_is_told_to_the_cent,
    an_analysis_is_told_in_its_place,
    what_would_be_refused_is_refused,
    nothing_else_can_be_tried,
}

const CHARGES: &str = "/v1/charges";

async fn tried(app: &TestApp, key: &str, body: &Value) -> Reply {
    let headers = [("x-dry-run", "true"), ("x-idempotency-key", key)];
    app.call(&app.client, Method::POST, CHARGES, &headers, Some(body)).await
}

/// The requests of an answer: whom, what, when.
fn requests(answer: &Value) -> Vec<[&str; 3]> {
    answer["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| [text(&request["name"]), text(&request["requestType"]), text(&request["when"])])
        .collect()
}

async fn total(app: &TestApp, path: &str) -> Value {
    app.get(path).await.expect(200)["meta"]["totalItems"].clone()
}

async fn a_dry_run_tells_the_route_and_does_nothing(app: TestApp) {
    let mut only_usd = sandbox("B", 2);
    only_usd["options"] = json!({ "type": "SANDBOX", "supports": { "currencies": ["USD"] } });
    let shop = Shop::with(&app, [sandbox("A", 1), only_usd, sandbox("C", 3)]).await;
    let token = app.card_token(APPROVED).await;
    let mut body = Charge::by_card(&shop.merchant, APPROVED).with("statementDescriptor", "SHOP").body();
    body["paymentSource"] = json!({ "sourceType": "token", "tokenId": token });
    let told = tried(&app, "one", &body).await.expect(200);
    assert_eq!(requests(&told), [["A", "authorization", "first"], ["C", "authorization", "after_refusal"]]);
    let skipped: Vec<&Value> =
        told["providers"].as_array().unwrap().iter().map(|provider| &provider["skipped"]).collect();
    assert_eq!(skipped, [&Value::Null, &json!("currency"), &Value::Null]);
    assert_eq!(
        told["requests"][0],
        json!({
            "providerId": shop.id("A"), "providerType": "SANDBOX", "name": "A", "requestType": "authorization",
            "when": "first", "amount": body["amount"], "currency": "BRL", "installments": 1,
            "statementDescriptor": "SHOP",
            "card": { "first6digits": "491674", "last4digits": "4124", "brand": "Visa" },
        })
    );
    assert_eq!(
        (&told["flow"], &told["splitRules"], &told["division"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(app.books.effects().await.unwrap(), 0, "no provider was called");
    assert_eq!((total(&app, CHARGES).await, total(&app, "/v1/cards").await), (json!(0), json!(0)));
    // Neither the key nor the token is used up.
    let charge = app.post_with_key(CHARGES, "one", &body).await.expect(201);
    assert_eq!((&charge["status"], shop.asked(&charge)), (&json!("authorized"), vec!["A"]));
}

async fn the_key_draws_as_it_does_for_the_charge(app: TestApp) {
    let shop = Shop::new(&app).await;
    let ways = [json!([shop.node("A")]), json!([shop.node("B")])];
    let flow = shop.publish(&app, json!([balance([json!(50), json!(50)], ways)])).await;
    let body = charge_body(&shop.merchant, APPROVED);
    let mut taken = Vec::new();
    for number in 0..8 {
        let key = format!("key {number}");
        let told = tried(&app, &key, &body).await.expect(200);
        assert_eq!(told["flow"]["id"], flow["id"]);
        let [[name, ..]] = requests(&told)[..] else { panic!("{told}") };
        let charge = app.post_with_key(CHARGES, &key, &body).await.expect(201);
        assert_eq!(shop.asked(&charge), [name]);
        taken.push(name.to_owned());
    }
    assert!(taken.contains(&"A".to_owned()) && taken.contains(&"B".to_owned()), "{taken:?}");
}

async fn a_buyer_does_not_become_a_customer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for body in [pix_body(&merchant, described(jose())), boleto_body(&merchant, described(jose()))] {
        let told = tried(&app, "one", &body).await.expect(200);
        assert_eq!((&told["customerId"], &told["createsCustomer"]), (&Value::Null, &json!(true)));
        assert_eq!(
            (&told["requests"][0]["card"], &told["requests"][0]["when"]),
            (&Value::Null, &json!("first"))
        );
    }
    assert_eq!(total(&app, "/v1/customers").await, 0);
    let charge = charged(&app, &pix_body(&merchant, described(jose()))).await;
    let told = tried(&app, "two", &pix_body(&merchant, described(jose()))).await.expect(200);
    assert_eq!((&told["customerId"], &told["createsCustomer"]), (&charge["customerId"], &json!(false)));
    assert_eq!(total(&app, "/v1/customers").await, 1);
}

async fn a_division_is_told_to_the_cent(app: TestApp) {
    let (merchant, [one, other]) = shop(&app).await;
    let rules =
        json!([{ "sellerId": one["id"], "percentage": 33 }, { "sellerId": other["id"], "percentage": 25 }]);
    let body = Charge::by_card(&merchant, APPROVED).amount(1001).with("splitRules", rules).body();
    let told = tried(&app, "one", &body).await.expect(200);
    let division = &told["division"];
    assert_eq!(told["splitRules"].as_array().unwrap().len(), 2);
    assert_eq!(
        division["sellers"][1],
        json!({ "sellerId": other["id"], "amount": 250 }),
        "a quarter, rounded down"
    );
    let parts: i64 = [
        &division["sellers"][0]["amount"],
        &division["sellers"][1]["amount"],
        &division["merchant"],
        &division["platform"],
    ]
    .map(|part| part.as_i64().unwrap())
    .iter()
    .sum();
    assert_eq!(parts, 1001);
    assert_eq!(app.books.effects().await.unwrap(), 0);
}

async fn an_analysis_is_told_in_its_place(app: TestApp) {
    for (before, expected) in [
        (true, [["Risk", "anti_fraud", "first"], ["Only", "authorization", "after_success"]]),
        (false, [["Only", "pre_authorization", "first"], ["Risk", "anti_fraud", "after_success"]]),
    ] {
        let merchant = analysing(&app, &json!({ "runBeforeCharge": before })).await;
        let told = tried(&app, if before { "one" } else { "two" }, &analysed(&merchant, APPROVED_RISK, true))
            .await
            .expect(200);
        assert_eq!(requests(&told), expected);
    }
}

async fn what_would_be_refused_is_refused(app: TestApp) {
    let shop = Shop::new(&app).await;
    let mut body = charge_body(&shop.merchant, APPROVED);
    body["amount"] = json!(-1);
    tried(&app, "one", &body).await.expect(400);
    let body = Charge::by_card(&shop.merchant, APPROVED).with("currency", "XXX").body();
    tried(&app, "two", &body).await.expect(400);
    let body = charge_body("00000000-0000-4000-8000-000000000000", APPROVED);
    tried(&app, "three", &body).await.expect(404);
}

async fn nothing_else_can_be_tried(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let effects = app.books.effects().await.unwrap();
    let session = create(&app, &session_body(&merchant)).await;
    let refused = async |client, path: &str, value, body: Value| {
        let headers = [("x-dry-run", value), ("x-idempotency-key", "any")];
        app.call(client, Method::POST, path, &headers, Some(&body)).await.details(400)
    };
    let absent = "X-Dry-Run must be absent: only POST /v1/charges can be tried";
    let void = format!("{CHARGES}/{}/void", text(&charge["id"]));
    assert_eq!(refused(&app.client, &void, "true", json!({})).await, [absent]);
    let pays = format!("/v1/sessions/{}/charge", text(&session["id"]));
    assert_eq!(refused(&app.client, &pays, "true", by_card(APPROVED)).await, [absent]);
    let unclear = refused(&app.client, CHARGES, "1", charge_body(&merchant, APPROVED)).await;
    assert_eq!(unclear, ["X-Dry-Run must be true or false"]);
    let token = app.client_token(json!(["charges"])).await;
    let public = refused(&token, CHARGES, "true", charge_body(&merchant, APPROVED)).await;
    assert_eq!(public, ["X-Dry-Run must not be sent with a public key"]);
    assert_eq!(app.books.effects().await.unwrap(), effects, "nothing was charged or given back");
    let headers = [("x-dry-run", "false"), ("x-idempotency-key", "made")];
    let body = charge_body(&merchant, APPROVED);
    app.call(&app.client, Method::POST, CHARGES, &headers, Some(&body)).await.expect(201);
}
