//! Sessions through HTTP: what a merchant creates, reads and changes, and what a buyer pays
//! (`docs/interface/sessions.md`).

mod access;
mod bounds;
mod crashes;
mod payments;
mod terms;
mod underpaid;

use axum::http::Method;
use regente_domain::money::Amount;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::read::{announced, text};
use crate::support::sessions::{buyer, by_card, create, history, pay, session_body};

stories! {
    a_session_is_created_and_read_by_both_keys,
    the_link_has_the_key_and_the_settings,
    lists_have_every_filter,
    what_is_wrong_is_named,
}

async fn a_session_is_created_and_read_by_both_keys(app: TestApp) {
    let app = app.reachable().await;
    let body = session_body(&app.merchant().await);
    let made = app.post_with_key("/v1/sessions", "order-77", &body).await;
    let session = made.expect(200);
    let id = text(&session["id"]);
    for (member, value) in [
        ("status", json!("created")),
        ("isActive", json!(true)),
        ("captchaEnabled", json!(false)),
        ("clientId", json!(app.client.id)),
        ("amount", json!(150)),
        ("currency", json!("BRL")),
        ("capture", json!(true)),
        ("paymentMethods", body["paymentMethods"].clone()),
        ("paymentLink", json!(format!("{}/pay/{id}", ADDRESS))),
        (
            "multiplePayments",
            json!({ "allow": false, "maxPayments": null, "paymentCount": 0, "pendingCount": 0, "status": "active" }),
        ),
    ] {
        assert_eq!(session[member], value, "{member}");
    }
    assert_eq!(session.get("dueDate"), None);
    let item = text(&session["items"][0]["id"]).to_owned();
    assert_eq!(made.bytes, app.post_with_key("/v1/sessions", "order-77", &body).await.bytes);
    for key in [&app.client, &buyer(&session)] {
        let seen = app.call(key, Method::GET, &format!("/v1/sessions/{id}"), &[], None).await.expect(200);
        assert_eq!(seen, session);
        assert_eq!(seen["items"][0]["id"], *item);
    }
    let other = create(&app, &body).await;
    assert_ne!(other["publicKey"], session["publicKey"]);
    assert_ne!(other["items"][0]["id"], session["items"][0]["id"]);
    assert_eq!(history(&app, &session).await, ["created: statusChanged"]);
    assert_eq!(announced(&app, id).await, ["created"]);
}

async fn the_link_has_the_key_and_the_settings(app: TestApp) {
    let session = create(&app, &session_body(&app.merchant().await)).await;
    let path = format!("/v1/sessions/{}/link", text(&session["id"]));
    for key in [&app.client, &buyer(&session)] {
        let mut link = app.call(key, Method::GET, &path, &[], None).await.expect(201);
        let settings = link.as_object_mut().unwrap().shift_remove("settings").unwrap();
        assert_eq!(settings["clientId"], session["clientId"]);
        assert_eq!(settings["mainColor"], Value::Null);
        assert_eq!(link, session);
    }
}

async fn lists_have_every_filter(app: TestApp) {
    let merchant = app.merchant().await;
    let mut body = session_body(&merchant);
    let first = create(&app, &body).await;
    body["orderId"] = "order-78".into();
    body["isActive"] = false.into();
    let second = create(&app, &body).await;
    app.post(&format!("/v1/sessions/{}/cancel", text(&second["id"])), &json!({})).await.expect(201);
    let third = create(&app, &session_body(&merchant)).await;
    let (first, second, third) = (text(&first["id"]), text(&second["id"]), text(&third["id"]));
    for (query, found) in [
        ("", vec![third, second, first]),
        ("?order=asc&limit=2", vec![third, second]),
        ("?page=2&limit=2", vec![first]),
        (&format!("?id={first},{second}"), vec![second, first]),
        ("?status=canceled", vec![second]),
        ("?status=created,paid&isActive=true", vec![third, first]),
        ("?isActive=false", vec![second]),
        ("?orderId=order-78", vec![second]),
        (&format!("?merchantId={merchant}"), vec![third, second, first]),
        ("?multiplePayments.status=active", vec![third, first]),
        ("?multiplePayments.status=canceled,disabled", vec![second]),
        ("?created.gt=2030-01-01", vec![]),
        ("?created.lt=2030-01-01&status=created", vec![third, first]),
    ] {
        let listed = app.get(&format!("/v1/sessions{query}")).await.expect(200);
        let ids: Vec<&str> =
            listed["items"].as_array().unwrap().iter().map(|item| text(&item["id"])).collect();
        assert_eq!(ids, found, "{query}");
    }
    assert_eq!(app.get("/v1/sessions").await.expect(200)["meta"]["itemsPerPage"], 10);
    assert_eq!(app.get("/v1/sessions?orderId=x").await.status, 400);
}

async fn what_is_wrong_is_named(app: TestApp) {
    let merchant = app.merchant().await;
    let good = session_body(&merchant);
    let item = good["items"][0].clone();
    for (member, value, problem) in [
        ("merchantId", json!("x"), "merchantId must be a UUID"),
        ("paymentMethods", json!([]), "paymentMethods must contain at least 1 elements"),
        (
            "paymentMethods",
            json!([{ "paymentType": "picpay" }]),
            "paymentMethods[0].paymentType must be one of",
        ),
        (
            "paymentMethods",
            json!([{ "paymentType": "credit" }]),
            "paymentMethods[0].installments should not be empty",
        ),
        (
            "paymentMethods",
            json!([{ "paymentType": "pix" }]),
            "paymentMethods[0].expiresIn should not be empty",
        ),
        (
            "paymentMethods",
            json!([{ "paymentType": "pix", "expiresIn": 1 }, { "paymentType": "pix", "expiresIn": 2 }]),
            "paymentMethods[1].paymentType must not be there twice",
        ),
        ("items", json!([]), "items must contain at least 1 elements"),
        (
            "items",
            json!([{ "name": "Shoe", "unitPrice": -1, "quantity": 1 }]),
            "items[0].unitPrice must not be less",
        ),
        (
            "items",
            json!([{ "name": "Shoe", "unitPrice": 1, "quantity": 0 }]),
            "items[0].quantity must not be less",
        ),
        ("amount", json!(-1), "amount must not be less than 0"),
        ("currency", json!("XXX"), "currency must be one of"),
        ("statementDescriptor", json!("ab"), "statementDescriptor must be longer"),
        // The end of today in São Paulo, where the day has hours left.
        ("dueDate", json!("2026-03-23"), "dueDate must not be before 2026-03-24"),
        ("dueDate", json!("2026-03-24T02:59:59Z"), "dueDate must not be before 2026-03-24"),
        ("dueDate", json!("soon"), "dueDate must be a valid ISO 8601 date string"),
        ("maxPayments", json!(0), "maxPayments must not be 0"),
        ("maxPayments", json!(-2), "maxPayments must not be less than -1"),
        ("maxPayments", json!(100_000), "maxPayments must not be greater than 99999"),
        ("splitRules", json!([{ "sellerId": "x", "amount": 1 }]), "splitRules[0].sellerId must be a UUID"),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let details = app.post("/v1/sessions", &body).await.details(400);
        assert!(details[0].starts_with(problem), "{member}: {details:?}");
    }
    let mut unknown = good.clone();
    unknown["merchantId"] = "3f1c1b1e-2a7b-4a57-9d35-000000000000".into();
    assert_eq!(app.post("/v1/sessions", &unknown).await.status, 404);
    let mut limited = good.clone();
    limited["maxPayments"] = 2.into();
    let refused = app.post("/v1/sessions", &limited).await.expect(422);
    assert_eq!(refused["error"]["businessCode"], "pix_boleto_multiple_payments_not_allowed");

    // A date is its last second in São Paulo; without an amount the items are summed.
    let mut body = good.clone();
    body["dueDate"] = "2026-03-24".into();
    body["items"] = json!([item, { "name": "Lace", "unitPrice": 5, "quantity": 3 }]);
    body.as_object_mut().unwrap().shift_remove("amount");
    let session = create(&app, &body).await;
    assert_eq!(session["dueDate"], "2026-03-25T02:59:59.000Z");
    assert_eq!(session["amount"], 165);
    let paid = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(paid["amount"], json!(Amount::new(165).unwrap()));
}
