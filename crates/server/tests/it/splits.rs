//! Charges that are divided among sellers, through HTTP (`docs/interface/charges.md#split`), compared with what the
//! simulator was told ([`books`]).

mod sessions;

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{capture, single_merchant, void};
use crate::support::payers::{PAYS, happens, requests};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::sellers::made;
use crate::support::settlement::settles;
use crate::support::splits::books::{alike, in_books};
use crate::support::splits::{divided, seller, seller_body, shop};
use crate::support::time::MINUTE;

const HOUR: Duration = Duration::from_secs(3600);

stories! {
    a_charge_is_divided_and_given_back,
    a_refund_is_divided_although_another_is_accepted_meanwhile,
    a_part_is_captured,
    the_fee_of_a_part_that_is_captured_is_settled_to_the_cent,
    wrong_rules_are_named,
    sellers_who_may_not_take_part_are_named,
    only_providers_where_every_seller_is_active_are_asked,
    the_simulator_refuses_sellers_that_it_does_not_know,
}

fn by_percentage(sellers: &[Value; 2]) -> Value {
    json!([{ "sellerId": sellers[0]["id"], "percentage": 33 }, { "sellerId": sellers[1]["id"], "percentage": 33 }])
}

async fn charged(app: &TestApp, body: &Value) -> Value {
    app.post("/v1/charges", body).await.expect(201)
}

async fn a_charge_is_divided_and_given_back(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let mut rules = by_percentage(&sellers);
    rules[0]["liable"] = json!(true);
    rules[0]["fares"] = json!({ "mdr": 2, "fee": 100 });
    let charge = charged(&app, &divided(&merchant, 1001, &rules)).await;
    assert_eq!(charge["status"], "authorized", "{charge:#}");
    let [first, second] = [&charge["splitRules"][0], &charge["splitRules"][1]];
    assert_eq!((&first["sellerId"], &first["percentage"]), (&sellers[0]["id"], &json!(33)));
    assert_eq!(
        [&first["amount"], &first["liable"], &first["fareMdr"], &first["fareFee"], &first["processingFee"]],
        [&json!(null), &json!(true), &json!("2.00"), &json!(100), &json!(null)]
    );
    assert_eq!((&first["createdAt"], &first["updatedAt"]), (&charge["createdAt"], &charge["createdAt"]));
    assert_ne!(first["id"], second["id"]);
    assert!(charge.get("platformFee").is_none());
    // 330.33, 330.33 and 340.34 of 1001.
    let id = text(&charge["id"]);
    assert_eq!(in_books(&app, id).await, [330, 330]);
    alike(&app, id).await;

    // A seller with an amount of their own; the merchant gives back the rest.
    let returns = json!({ "amount": 300, "splitRules": [{ "sellerId": sellers[1]["id"], "amount": 130 }] });
    void(&app, id, returns).await.expect(201);
    assert_eq!(in_books(&app, id).await, [330, 200]);
    // In proportion to what is left: 330, 200 and 171 of 701.
    void(&app, id, json!({ "amount": 100 })).await.expect(201);
    assert_eq!(in_books(&app, id).await, [283, 171]);
    alike(&app, id).await;
    for (body, detail) in [
        (
            json!([{ "sellerId": merchant, "amount": 1 }]),
            "splitRules[0].sellerId must be a seller of the charge, each once",
        ),
        (
            json!([{ "sellerId": sellers[0]["id"], "amount": 284 }]),
            "splitRules[0].amount must not be greater than 283, what is left to the seller",
        ),
        (
            json!([{ "sellerId": sellers[0]["id"], "amount": 283 }, { "sellerId": sellers[1]["id"], "amount": 171 }]),
            "splitRules must not give back more than is voided",
        ),
        (
            json!([{ "sellerId": sellers[0]["id"], "amount": 1 }]),
            "splitRules must give back at least 153 together: the merchant has only the rest",
        ),
        (json!([{ "sellerId": sellers[0]["id"] }]), "splitRules[0].amount should not be empty"),
    ] {
        let details = void(&app, id, json!({ "amount": 300, "splitRules": body })).await.details(400);
        assert_eq!(details, [detail]);
    }
    void(&app, id, json!({})).await.expect(201);
    assert_eq!(in_books(&app, id).await, [0, 0]);
    alike(&app, id).await;

    let plain = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert!(plain.get("splitRules").is_none());
    let details = void(
        &app,
        text(&plain["id"]),
        json!({ "splitRules": [{ "sellerId": sellers[0]["id"], "amount": 1 }] }),
    );
    assert_eq!(
        details.await.details(400),
        ["splitRules[0].sellerId must be a seller of the charge, each once"]
    );
    let listed = async |filter: &str| {
        let page = app.get(&format!("/v1/charges?{filter}")).await.expect(200);
        let ids =
            page["items"].as_array().unwrap().iter().map(|charge| charge["id"].clone()).collect::<Vec<_>>();
        (page["meta"]["totalItems"].clone(), ids)
    };
    assert_eq!(listed("splitRules=true").await, (json!(1), vec![charge["id"].clone()]));
    assert_eq!(listed("splitRules=true&status=failed").await, (json!(0), vec![]));
    assert_eq!(listed("splitRules=false").await.0, 2);
}

/// The payer pays again while a refund is carried out; what they paid again is given back, and concerns no seller.
async fn a_refund_is_divided_although_another_is_accepted_meanwhile(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let mut body = pix_body(&merchant, described(jose()));
    body["splitRules"] = by_percentage(&sellers);
    let charge = charged(&app, &body).await;
    let id = text(&charge["id"]);
    happens(&app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    void(&app, id, json!({ "amount": 30 })).await.expect(201);
    happens(&app, &charge, 0, Staged::FurtherPayment { amount: None }).await;
    app.later(HOUR).await;
    let given_back = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    assert_eq!(requests(&given_back)[0], ("void", "processing", 150), "{given_back:#}");
    for accepted in [2, 4] {
        happens(&app, &charge, accepted, Staged::Refund).await;
    }
    app.later(HOUR).await;
    // 49.5 of 150 each, of which a fifth is given back.
    assert_eq!(in_books(&app, id).await, [40, 39]);
    alike(&app, id).await;
    settles(&app).await;
}

async fn a_part_is_captured(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let mut body = divided(&merchant, 1000, &by_percentage(&sellers));
    body["capture"] = json!(false);
    let charge = charged(&app, &body).await;
    capture(&app, text(&charge["id"]), json!({ "amount": 100 })).await.expect(201);
    assert_eq!(in_books(&app, text(&charge["id"])).await, [33, 33]);
    alike(&app, text(&charge["id"])).await;

    body["splitRules"] = json!([{ "sellerId": sellers[0]["id"], "amount": 300 }, { "sellerId": sellers[1]["id"], "amount": 200 }]);
    let charge = charged(&app, &body).await;
    let id = text(&charge["id"]);
    assert_eq!(
        (&charge["splitRules"][0]["amount"], &charge["splitRules"][0]["percentage"]),
        (&json!(300), &json!(null))
    );
    let details = capture(&app, id, json!({ "amount": 499 })).await.details(400);
    assert_eq!(details, ["amount must not give the sellers more than 499 together"]);
    capture(&app, id, json!({ "amount": 500 })).await.expect(201);
    assert_eq!(in_books(&app, id).await, [300, 200]);
    alike(&app, id).await;
}

/// The seller has 50 of the 60 that are captured, and bears as much of the fee.
async fn the_fee_of_a_part_that_is_captured_is_settled_to_the_cent(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([{ "sellerId": sellers[0]["id"], "amount": 5_000, "processingFee": true }]);
    let mut body = divided(&merchant, 10_000, &rules);
    body["capture"] = json!(false);
    let id = text(&charged(&app, &body).await["id"]).to_owned();
    capture(&app, &id, json!({ "amount": 6_000 })).await.expect(201);
    settles(&app).await;
    let seller = text(&sellers[0]["id"]);
    let balances = app.get(&format!("/v1/ledger/balances?sellerId={seller}")).await.expect(200);
    let of = |purpose: &str| {
        let items = balances["items"].as_array().unwrap();
        items.iter().find(|of| of["purpose"] == purpose).map_or(0, |of| of["balance"].as_i64().unwrap())
    };
    // 2.99 % of 60.00 is 1.79, of which 50/60 are 1.49.
    assert_eq!((of("seller_payable"), of("provider_fee"), of("payout")), (5_000, 149, 4_851), "{balances:#}");
}

async fn wrong_rules_are_named(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let [one, two] = [&sellers[0]["id"], &sellers[1]["id"]];
    for (rules, details) in [
        (json!([{ "sellerId": one }]), vec!["splitRules[0] must have either percentage or amount"]),
        (
            json!([{ "sellerId": one, "percentage": 1, "amount": 1 }]),
            vec!["splitRules[0] must have either percentage or amount"],
        ),
        (
            json!([{ "percentage": 101, "sellerId": "x", "liable": 1, "fares": { "mdr": -1, "fee": "1" } }]),
            vec![
                "splitRules[0].sellerId must be a UUID",
                "splitRules[0].percentage must not be greater than 100",
                "splitRules[0].fares.mdr must not be less than 0",
                "splitRules[0].fares.fee must be a number conforming to the specified constraints",
                "splitRules[0].liable must be a boolean",
            ],
        ),
        (
            json!([{ "sellerId": one, "percentage": 1 }, { "sellerId": two, "amount": 1 }]),
            vec!["splitRules must not mix percentage and amount"],
        ),
        (
            json!([{ "sellerId": one, "percentage": 60 }, { "sellerId": two, "percentage": 41 }]),
            vec!["splitRules must not be more than 100 percent together"],
        ),
        (
            json!([{ "sellerId": one, "percentage": 1 }, { "sellerId": one, "percentage": 1 }]),
            vec!["splitRules[1].sellerId must not be there twice"],
        ),
        (
            json!([{ "sellerId": one, "amount": 100 }, { "sellerId": two, "amount": 51 }]),
            vec!["splitRules must not give the sellers more than 150 together"],
        ),
        (json!({ "sellerId": one }), vec!["splitRules must be an array"]),
    ] {
        let told = app.post("/v1/charges", &divided(&merchant, 150, &rules)).await.details(400);
        let mut told: Vec<&str> = told.iter().map(String::as_str).collect();
        let mut details = details;
        told.sort_unstable();
        details.sort_unstable();
        assert_eq!(told, details);
    }
}

async fn sellers_who_may_not_take_part_are_named(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let foreign = seller(&app, &single_merchant(&app).await, 1).await;
    let blocked = made(&app, &seller_body(&merchant, 3, "1000004")).await;
    app.patch(&format!("/v1/sellers/{}", text(&sellers[1]["id"])), &json!({ "status": "inactive" }))
        .await
        .expect(200);
    let told = |seller: &Value, what: &str| format!("seller {} {what}", text(&seller["id"]));
    for (seller, detail) in [
        (&foreign, told(&foreign, "was not found")),
        (&json!({ "id": merchant }), format!("seller {merchant} was not found")),
        (&blocked, told(&blocked, "is blocked")),
        (&sellers[1], told(&sellers[1], "is inactive")),
    ] {
        let rules = json!([{ "sellerId": sellers[0]["id"], "percentage": 1 }, { "sellerId": seller["id"], "percentage": 1 }]);
        let refused = app.post("/v1/charges", &divided(&merchant, 150, &rules)).await.expect(400);
        assert_eq!(
            (&refused["error"]["type"], &refused["error"]["details"]),
            (&json!("invalid_request_error"), &json!([detail]))
        );
    }
    let other = app.another_client().await;
    let rules = json!([{ "sellerId": sellers[0]["id"], "percentage": 1 }]);
    let body = divided(&merchant, 150, &rules);
    app.call(&other, axum::http::Method::POST, "/v1/charges", &[], Some(&body)).await.expect(404);
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0, "nothing is stored");
}

async fn only_providers_where_every_seller_is_active_are_asked(app: TestApp) {
    let first = json!({ "name": "No split", "priority": 1, "credentials": { "type": "CIELO", "merchantKey": "k", "merchantId": "m" } });
    let merchant = app.merchant_with(json!([first, sandbox("Main", 3)])).await;
    let one = seller(&app, &merchant, 1).await;
    // Its sellers are registered in the background, which has not begun.
    let path = format!("/v1/merchants/{merchant}");
    let added = json!({ "providers": [sandbox("New", 2)] });
    app.patch(&path, &added).await.expect(200);
    let rules = json!([{ "sellerId": one["id"], "percentage": 10 }]);
    let charge = charged(&app, &divided(&merchant, 150, &rules)).await;
    assert_eq!(charge["status"], "authorized", "{charge:#}");
    let explained = app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200);
    let skipped: Vec<&Value> =
        explained["providers"].as_array().unwrap().iter().map(|provider| &provider["skipped"]).collect();
    assert_eq!(skipped, [&json!("split"), &json!("seller"), &Value::Null], "{explained:#}");
}

async fn the_simulator_refuses_sellers_that_it_does_not_know(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    // The simulator starts anew.
    let app = app.with_books(regente_providers::sandbox::TransactionLog::memory()).await;
    let charge = charged(&app, &divided(&merchant, 150, &by_percentage(&sellers))).await;
    assert_eq!(charge["status"], "failed");
    let error = &charge["transactionRequests"][0]["providerError"];
    assert_eq!(
        (&error["declinedCode"], &error["networkDeniedReason"]),
        (&json!("transaction_not_allowed"), &json!("sandbox no such seller"))
    );
}
