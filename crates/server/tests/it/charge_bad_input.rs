//! Invalid charges: every problem is named with its path, nothing is stored, and the idempotency key stays unused
//! (`docs/interface/charges.md#creating`).

mod sources;

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::{Reply, request};
use crate::support::read::text;

stories! {
    a_body_that_is_no_json_object_is_refused,
    several_problems_are_reported_together,
    a_missing_member_is_named,
    wrong_types_are_named,
    amounts_are_whole_positive_and_exact,
    currencies_outside_the_list_are_refused,
    payment_methods_have_bounds,
    a_body_over_the_limit_is_refused,
    odd_content_types_are_read_as_json,
    credentials_are_needed_once,
    the_character_u_0000_is_refused,
    free_form_objects_are_bounded,
    ids_of_charges_that_are_not_there_are_not_found,
}

const KEY: &str = "the key of every try";

/// Sends an invalid body under the key that must stay unused.
async fn refused(app: &TestApp, body: &Value) -> Reply {
    app.post_with_key("/v1/charges", KEY, body).await
}

/// The details of a 400 answer of the validation.
#[track_caller]
fn problems(reply: &Reply) -> Vec<String> {
    let error = reply.expect(400)["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("bad_request"), &json!(400)));
    assert_eq!(error["message"], "Bad Request");
    reply.details(400)
}

/// Nothing was stored, no provider was called, and the key is unused.
async fn nothing_happened(app: &TestApp, merchant: &str) {
    for list in ["/v1/charges", "/v1/cards"] {
        assert_eq!(app.get(list).await.expect(200)["meta"]["totalItems"], 0, "{list}");
    }
    assert_eq!(app.books.entries().await.unwrap(), []);
    let reply = app.post_with_key("/v1/charges", KEY, &charge_body(merchant, APPROVED)).await;
    assert_eq!(reply.expect(201)["status"], "authorized");
    assert_eq!(reply.header("idempotent-replayed"), None);
}

fn with(merchant: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut body = charge_body(merchant, APPROVED);
    change(&mut body);
    body
}

async fn raw(app: &TestApp, bytes: impl Into<Body>, headers: &[(&str, &str)]) -> Reply {
    let mut request = request(&app.client, Method::POST, "/v1/charges", headers, None);
    *request.body_mut() = bytes.into();
    app.send(request).await
}

async fn a_body_that_is_no_json_object_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for bytes in ["{", "[]", "null", "\"text\"", "1", "{\"a\":1}x", "{'a':1}", "\u{1F4A9}"] {
        let reply = raw(&app, bytes, &[("X-Idempotency-Key", KEY)]).await;
        assert!(problems(&reply)[0].starts_with("body must be "), "{bytes}");
    }
    let reply = raw(&app, vec![b'{', 0xff, b'}'], &[("X-Idempotency-Key", KEY)]).await;
    assert_eq!(problems(&reply), ["body must be valid UTF-8"]);
    let deep = format!("{}{}", "{\"a\":".repeat(200), "1".to_owned() + &"}".repeat(200));
    assert!(problems(&raw(&app, deep, &[("X-Idempotency-Key", KEY)]).await)[0].contains("nested"));
    nothing_happened(&app, &merchant).await;
}

async fn several_problems_are_reported_together(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = json!({
        "merchantId": "m", "amount": 0, "currency": "brl", "capture": "yes", "description": 1, "orderId": [],
        "statementDescriptor": {}, "customerId": "c", "providerReferenceKey": true,
        "paymentMethod": { "paymentType": "credit", "installments": 25, "recurrence": "monthly" },
        "paymentSource": { "sourceType": "card", "card": { "cardNumber": "4", "cardCvv": "1", "cardExpirationDate": "1" } },
        "paymentFlow": {}, "appInfo": "x", "fraudAnalysis": { "sla": -1, "cart": { "items": [1] } },
    });
    let problems = problems(&refused(&app, &body).await);
    let mut paths: Vec<&str> = problems.iter().map(|problem| problem.split_once(' ').unwrap().0).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "amount",
            "appInfo",
            "capture",
            "currency",
            "customerId",
            "description",
            "fraudAnalysis.cart.items[0]",
            "fraudAnalysis.sla",
            "merchantId",
            "orderId",
            "paymentFlow.metadata",
            "paymentMethod.installments",
            "paymentMethod.recurrence",
            "paymentSource.card.cardCvv",
            "paymentSource.card.cardExpirationDate",
            "paymentSource.card.cardHolderName",
            "paymentSource.card.cardNumber",
            "providerReferenceKey",
            "statementDescriptor",
        ],
        "each once"
    );
    nothing_happened(&app, &merchant).await;
}

async fn a_missing_member_is_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let empty = problems(&refused(&app, &json!({})).await);
    let required = ["merchantId", "amount", "paymentMethod", "paymentSource"];
    assert_eq!(empty, required.map(|name| format!("{name} should not be empty")));
    assert_eq!(problems(&raw(&app, Body::empty(), &[("X-Idempotency-Key", KEY)]).await), empty);
    for empty in [Value::Null, json!({})] {
        let reply = refused(&app, &with(&merchant, |body| body["paymentSource"] = empty.clone())).await;
        assert!(problems(&reply)[0].starts_with("paymentSource"), "{empty}");
    }
    nothing_happened(&app, &merchant).await;
}

async fn wrong_types_are_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for name in [
        "merchantId",
        "amount",
        "currency",
        "capture",
        "description",
        "orderId",
        "paymentMethod",
        "paymentSource",
    ] {
        for wrong in [json!([1]), json!({ "a": 1 }), json!(1.5)] {
            let reply = refused(&app, &with(&merchant, |body| body[name] = wrong.clone())).await;
            assert!(problems(&reply)[0].starts_with(name), "{name} {wrong}");
        }
    }
    nothing_happened(&app, &merchant).await;
}

async fn amounts_are_whole_positive_and_exact(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (wrong, rule) in [
        ("0", "amount must be greater than 0"),
        ("-1", "amount must be greater than 0"),
        ("-0.0", "amount must be greater than 0"),
        ("1.5", "amount must be an integer number"),
        ("\"150\"", "amount must be an integer number"),
        ("true", "amount must be an integer number"),
        ("9007199254740992", "amount must not be greater than 9007199254740991"),
        ("9223372036854775808", "amount must not be greater than 9007199254740991"),
        ("1e30", "amount must not be greater than 9007199254740991"),
    ] {
        let body = charge_body(&merchant, APPROVED)
            .to_string()
            .replace("\"amount\":150", &format!("\"amount\":{wrong}"));
        let reply = raw(&app, body, &[("X-Idempotency-Key", KEY)]).await;
        assert_eq!(problems(&reply), [rule], "{wrong}");
    }
    nothing_happened(&app, &merchant).await;
    for right in [1_i64, 9_007_199_254_740_991] {
        let charge = charged(&app, &with(&merchant, |body| body["amount"] = json!(right))).await;
        assert_eq!((&charge["amount"], &charge["originalAmount"]), (&json!(right), &json!(right)));
    }
}

async fn currencies_outside_the_list_are_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for wrong in ["brl", "BR", "", "XXX", "BTC", "BRL ", "BYN"] {
        let reply = refused(&app, &with(&merchant, |body| body["currency"] = json!(wrong))).await;
        assert!(problems(&reply)[0].starts_with("currency must be one of"), "{wrong}");
    }
    nothing_happened(&app, &merchant).await;
}

async fn payment_methods_have_bounds(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (member, wrong, path) in [
        ("paymentType", json!("cash"), "paymentMethod.paymentType"),
        ("paymentType", json!("CREDIT"), "paymentMethod.paymentType"),
        ("paymentType", Value::Null, "paymentMethod.paymentType"),
        ("installments", json!(0), "paymentMethod.installments"),
        ("installments", json!(25), "paymentMethod.installments"),
        ("installments", json!("2"), "paymentMethod.installments"),
        ("installments", json!(1.5), "paymentMethod.installments"),
        ("recurrence", json!("Initial"), "paymentMethod.recurrence"),
    ] {
        let reply =
            refused(&app, &with(&merchant, |body| body["paymentMethod"][member] = wrong.clone())).await;
        let problems = problems(&reply);
        assert!(problems.len() == 1 && problems[0].starts_with(path), "{wrong}: {problems:?}");
    }
    let voucher = json!({ "paymentType": "voucher", "items": "x", "customer": [] });
    let reply = refused(&app, &with(&merchant, |body| body["paymentMethod"] = voucher)).await;
    assert_eq!(
        problems(&reply),
        ["paymentMethod.items must be an array", "paymentMethod.customer must be an object"]
    );
    nothing_happened(&app, &merchant).await;
}

async fn a_body_over_the_limit_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let large = with(&merchant, |body| body["description"] = json!("x".repeat(1024 * 1024)));
    assert_eq!(
        refused(&app, &large).await.expect(413)["error"]["details"],
        json!(["body must not be larger than 1048576 bytes"])
    );
    let long = with(&merchant, |body| body["description"] = json!("x".repeat(2049)));
    assert_eq!(
        problems(&refused(&app, &long).await),
        ["description must be shorter than or equal to 2048 characters"]
    );
    nothing_happened(&app, &merchant).await;
}

async fn odd_content_types_are_read_as_json(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED).to_string();
    for content_type in ["application/json; charset=utf-8", "text/plain", "APPLICATION/JSON", "nonsense", ""]
    {
        let request = Request::builder()
            .method(Method::POST)
            .uri("/v1/charges")
            .header("x-client-id", &app.client.id)
            .header("X-API-KEY", &app.client.key)
            .header("Content-Type", content_type);
        let reply = app.send(request.body(Body::from(body.clone())).unwrap()).await;
        assert_eq!(reply.expect(201)["status"], "authorized", "{content_type}");
    }
}

async fn credentials_are_needed_once(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED);
    let post = async |headers: &[(&str, &str)]| {
        let mut request =
            Request::builder().method(Method::POST).uri("/v1/charges").header("X-Idempotency-Key", KEY);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        app.send(request.body(Body::from(body.to_string())).unwrap()).await
    };
    let (id, key) = (("X-Client-Id", app.client.id.as_str()), ("X-Api-Key", app.client.key.as_str()));
    for headers in
        [&[][..], &[key], &[("X-Client-Id", ""), key], &[("X-Client-Id", "x"), key], &[id, id, key]]
    {
        assert_eq!(
            post(headers).await.expect(401),
            json!({ "error": { "type": "unauthorized", "code": 401, "message": "Unauthorized", "details": ["unauthorized"] } }),
            "{headers:?}"
        );
    }
    for headers in [&[id][..], &[id, ("X-Api-Key", "")], &[id, ("X-Api-Key", "wrong")], &[id, key, key]] {
        assert_eq!(post(headers).await.expect(403), json!({ "message": "Forbidden" }), "{headers:?}");
    }
    let other = app.another_client().await;
    assert_eq!(post(&[id, ("X-Api-Key", &other.key)]).await.expect(403), json!({ "message": "Forbidden" }));
    nothing_happened(&app, &merchant).await;
}

async fn the_character_u_0000_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = with(&merchant, |body| {
        body["description"] = json!("a\u{0}b");
        body["paymentFlow"] = json!({ "metadata": { "deep": ["\u{0}"], "na\u{0}me": 1 } });
    });
    let problems = problems(&refused(&app, &body).await);
    assert_eq!(
        problems,
        [
            "description must not contain the character U+0000",
            "paymentFlow.metadata.deep[0] must not contain the character U+0000",
            "paymentFlow.metadata must not have a member name with the character U+0000",
        ]
    );
    nothing_happened(&app, &merchant).await;
}

async fn free_form_objects_are_bounded(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (name, value, path) in [
        ("paymentFlow", json!({ "metadata": { "a": "x".repeat(16 * 1024) } }), "paymentFlow.metadata"),
        ("paymentFlow", json!({ "metadata": [] }), "paymentFlow.metadata"),
        ("appInfo", json!({ "a": "x".repeat(16 * 1024) }), "appInfo"),
        ("fraudAnalysis", json!({ "a": "x".repeat(64 * 1024) }), "fraudAnalysis"),
        ("fraudAnalysis", json!([]), "fraudAnalysis"),
    ] {
        let problems = problems(&refused(&app, &with(&merchant, |body| body[name] = value.clone())).await);
        assert!(problems.len() == 1 && problems[0].starts_with(&format!("{path} ")), "{name}: {problems:?}");
    }
    nothing_happened(&app, &merchant).await;
}

async fn ids_of_charges_that_are_not_there_are_not_found(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let other = app.another_client().await;
    let theirs = format!("/v1/charges/{}", text(&charge["id"]));
    let not_found = json!({ "error": { "type": "invalid_request_error", "code": 404,
        "message": "Resource not found", "details": [] } });
    assert_eq!(app.call(&other, Method::GET, &theirs, &[], None).await.expect(404), not_found);
    for id in ["x", "00000000-0000-4000-8000-000000000000", &theirs[12..47], "%00", "1e5"] {
        assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(404), not_found, "{id}");
    }
}
