//! Charges that are paid by boleto (`docs/interface/charges.md#boleto`): created, shown, replayed and listed.

mod crashes;
mod paid;
mod reversed;

use regente_domain::boleto::Barcode;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, with_late_charges};
use crate::support::charges::single_merchant;
use crate::support::providers::sandbox;
use crate::support::read::{announced, newest, text};

stories! {
    a_boleto_is_answered_with_its_line,
    what_was_sent_is_echoed,
    what_nobody_filled_in_counts_as_not_sent,
    a_boleto_falls_due_in_a_week,
    the_day_is_that_of_sao_paulo,
    a_boleto_needs_a_payer_and_right_terms,
    a_repeated_key_is_answered_when_the_due_date_has_passed,
    no_boleto_of_too_much,
    no_provider_takes_it,
}

async fn a_boleto_is_answered_with_its_line(app: TestApp) {
    let app = app.reachable().await;
    let body = boleto_body(&single_merchant(&app).await, described(jose()));
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    let charge = first.expect(201);
    let id = text(&charge["id"]);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("pending"), &json!(15000)), "{charge:#}");
    assert_eq!(charge["paymentSource"]["sourceType"], "customer");
    assert_eq!(charge["paymentSource"]["customerId"], charge["customerId"]);
    let method = &charge["paymentMethod"];
    let members: Vec<&String> = method.as_object().unwrap().keys().collect();
    assert_eq!(members, ["paymentType", "expiresDate", "barcodeData", "barcodeImageUrl"]);
    assert_eq!((&method["paymentType"], &method["expiresDate"]), (&json!("boleto"), &json!("2026-03-30")));
    let line = text(&method["barcodeData"]);
    assert_eq!(line.len(), 47);
    let said = Barcode::parse_line(line).unwrap().facts("2026-03-23".parse().unwrap());
    assert_eq!((said.amount.minor_units(), said.due), (15000, Some("2026-03-30".parse().unwrap())));
    let path = text(&method["barcodeImageUrl"]).strip_prefix(ADDRESS).expect("an address of this deployment");
    assert!(path.starts_with("/boleto/") && path.ends_with(".pdf"), "{path}");

    let requests = charge["transactionRequests"].as_array().unwrap();
    assert_eq!(requests.len(), 1);
    let request = newest(&charge);
    assert_eq!((&request["requestType"], &request["requestStatus"]), (&json!("pending"), &json!("success")));
    assert_eq!(text(&request["transactionId"]).len(), 11, "the bank's number: {request:#}");
    let mut instructions = method.clone();
    instructions.as_object_mut().unwrap().shift_remove("paymentType");
    assert_eq!(request["boleto"], instructions, "the method shows the same line");
    assert_eq!(request.get("pix"), None);

    assert_eq!(announced(&app, id).await, ["pending"], "announced once, with its line");
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge);
    let page = app.get("/v1/charges?paymentType=boleto&status=pending").await.expect(200);
    assert_eq!((&page["meta"]["totalItems"], &page["items"][0]), (&json!(1), &charge));
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    let app = app.restart().await;
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge, "and it is still there");
    assert_eq!(app.books.effects().await.unwrap(), 0, "nothing was paid");
}

async fn what_was_sent_is_echoed(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    let item = json!({ "id": "1", "title": "Shoe", "unitPrice": 150, "quantity": "1", "colour": "red" });
    let terms = [
        (json!({ "days": 1, "amount": 100 }), json!({ "days": 2, "percentage": 2 })),
        (json!({ "days": 0, "percentage": 1.5 }), json!({ "days": 365, "amount": 200 })),
    ];
    for (interest, fine) in terms {
        body = with_late_charges(body, interest.clone(), fine.clone());
        body["paymentMethod"]["instructions"] = json!("Pay at any bank.\nNot after 30 days.");
        body["paymentMethod"]["items"] = json!([item]);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let method = &charge["paymentMethod"];
        assert_eq!((&method["interest"], &method["fine"]), (&interest, &fine));
        assert_eq!(method["instructions"], "Pay at any bank.\nNot after 30 days.");
        assert_eq!(method["items"], json!([item]));
        assert_eq!(app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200), charge);
    }
    body["paymentMethod"]["items"] = item.clone();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["paymentMethod"]["items"], json!([item]), "one item may stand without an array");
}

async fn what_nobody_filled_in_counts_as_not_sent(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let empty = [
        Value::Null,
        json!({}),
        json!({ "days": 0, "amount": 0, "percentage": 0 }),
        json!({ "days": 3, "amount": 0 }),
    ];
    for sent in empty {
        let mut body =
            with_late_charges(boleto_body(&merchant, described(jose())), sent.clone(), sent.clone());
        body["paymentMethod"]["instructions"] = Value::Null;
        let charge = app.post("/v1/charges", &body).await.expect(201);
        for member in ["interest", "fine", "instructions"] {
            assert_eq!(charge["paymentMethod"].get(member), None, "{sent}");
        }
    }
}

async fn a_boleto_falls_due_in_a_week(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["paymentMethod"].as_object_mut().unwrap().shift_remove("expiresDate");
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["paymentMethod"]["expiresDate"], "2026-03-30");
}

async fn the_day_is_that_of_sao_paulo(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["paymentMethod"]["expiresDate"] = json!("2026-03-23");
    let path = "/v1/charges";
    // One second to midnight in São Paulo, which is three hours behind UTC.
    app.clock.set(Timestamp::parse("2026-03-24T02:59:59Z").unwrap());
    app.post(path, &body).await.expect(201);
    app.clock.set(Timestamp::parse("2026-03-24T03:00:00Z").unwrap());
    let refused = app.post(path, &body).await;
    assert_eq!(refused.details(400), ["paymentMethod.expiresDate must not be in the past"]);
    assert_eq!(app.get(path).await.expect(200)["meta"]["totalItems"], 1);
}

async fn a_boleto_needs_a_payer_and_right_terms(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cases = [
        ("expiresDate", json!("30/03/2026"), "expiresDate must be a valid ISO 8601 date string"),
        ("expiresDate", json!("2026-02-30"), "expiresDate must be a valid ISO 8601 date string"),
        ("expiresDate", json!("2026-03-22"), "expiresDate must not be in the past"),
        ("expiresDate", json!("2041-04-14"), "expiresDate must not be later than 2041-04-13"),
        ("instructions", json!(""), "instructions should not be empty"),
        (
            "instructions",
            json!("x".repeat(256)),
            "instructions must be shorter than or equal to 255 characters",
        ),
        ("interest", json!(5), "interest must be an object"),
        (
            "interest",
            json!({ "days": 1 }),
            "interest.amount should not be empty where there is no percentage",
        ),
        (
            "interest",
            json!({ "days": 1, "amount": 1, "percentage": 1 }),
            "interest.percentage must be absent where there is an amount",
        ),
        ("interest", json!({ "days": -1, "amount": 1 }), "interest.days must not be less than 0"),
        ("interest", json!({ "days": 366, "amount": 1 }), "interest.days must not be greater than 365"),
        ("interest", json!({ "amount": -1 }), "interest.amount must not be less than 0"),
        ("fine", json!({ "percentage": 100.01 }), "fine.percentage must not be greater than 100"),
        (
            "fine",
            json!({ "percentage": 1.005 }),
            "fine.percentage must be a number conforming to the specified constraints",
        ),
        ("fine", json!({ "days": 366, "percentage": 1 }), "fine.days must not be greater than 365"),
        ("items", json!("shoe"), "items must be an object"),
        ("items", json!({ "unitPrice": "dear" }), "items.unitPrice must be a number of 0 or more"),
        ("items", json!([{ "quantity": "few" }]), "items[0].quantity must be a number of 0 or more"),
    ];
    for (member, value, problem) in cases {
        let mut body = boleto_body(&merchant, described(jose()));
        body["paymentMethod"][member] = value;
        let details = app.post("/v1/charges", &body).await.details(400);
        assert_eq!(details, [format!("paymentMethod.{problem}")]);
    }
    let by_card = boleto_body(&merchant, json!({ "sourceType": "card", "cardId": merchant }));
    let details = app.post("/v1/charges", &by_card).await.details(400);
    assert_eq!(details, ["paymentSource.sourceType must be one of the following values: customer"]);
    assert_eq!(app.get("/v1/customers").await.expect(200)["meta"]["totalItems"], 0, "no payer was stored");
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_repeated_key_is_answered_when_the_due_date_has_passed(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["paymentMethod"]["expiresDate"] = json!("2026-03-23");
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    first.expect(201);
    app.later(super::pix::paid::HOUR * 20).await;
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
}

async fn no_boleto_of_too_much(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["amount"] = json!(10_000_000_000_i64);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "failed");
    let reason = &newest(&charge)["providerError"]["networkDeniedReason"];
    assert_eq!(reason, "sandbox amount too large for a boleto");
    assert_eq!(charge["paymentMethod"].get("barcodeData"), None);
}

async fn no_provider_takes_it(app: TestApp) {
    let mut only_pix = sandbox("Pix", 1);
    only_pix["options"] = json!({ "type": "SANDBOX", "supports": { "paymentTypes": ["pix"] } });
    let merchant = app.merchant_with(json!([only_pix])).await;
    let refused = app.post("/v1/charges", &boleto_body(&merchant, described(jose()))).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType boleto");
}
