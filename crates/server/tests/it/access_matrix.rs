//! Access to every operation of the document: without a key, with a wrong key, another account's key, a key without the
//! scope, and with ids of another account's records.

use std::collections::BTreeSet;
use std::time::Duration;

use Demand::{Everything, Scope, SecretKey};
use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::client::{Client, Reply};
use crate::support::document::doors::OPEN_TO_ALL;
use crate::support::document::{Document, Operation};
use crate::support::payouts::{BATCHES, ORDERS};
use crate::support::prepayments::{PREPAYMENT, RECEIVABLES};
use crate::support::receipts::RECEIPT;
use crate::support::records::{Call, Records, fresh_key, put};
use crate::support::splits;

stories! {
    without_a_known_account_every_operation_answers_401,
    without_a_good_key_every_operation_answers_403,
    a_client_token_may_call_what_its_scopes_open_and_nothing_else,
    records_of_another_account_are_not_found,
    bodies_that_name_records_of_another_account_are_refused_like_unknown_ones,
    what_another_account_is_due_is_not_found,
    a_key_that_ended_opens_nothing,
}

/// What an operation demands of a client token. A secret key may call every operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    /// This scope, or `*`.
    Scope(&'static str),
    /// `*`: a list of people or payments.
    Everything,
    /// A secret key; every client token is refused.
    SecretKey,
}

/// The table of `docs/interface/auth.md#routes`, written by hand: derived from the code it would prove nothing.
const DEMANDS: &[(&str, Demand)] = &[
    ("POST /v1/auth", Scope("auth")),
    ("DELETE /v1/auth/{publicKey}", SecretKey),
    ("POST /v1/tokens", Scope("tokens")),
    ("POST /v1/cards", Scope("cards")),
    ("GET /v1/cards", Everything),
    ("GET /v1/cards/{id}", Scope("cards")),
    ("DELETE /v1/cards/{id}", SecretKey),
    ("POST /v1/customers", Scope("customers")),
    ("GET /v1/customers", Everything),
    ("GET /v1/customers/{id}", Scope("customers")),
    ("PATCH /v1/customers/{id}", Scope("customers")),
    ("DELETE /v1/customers/{id}", Scope("customers")),
    ("POST /v1/customers/{id}/cards", Scope("customers")),
    ("GET /v1/customers/{id}/cards", Scope("customers")),
    ("POST /v1/charges", Scope("charges")),
    ("GET /v1/charges", Everything),
    ("POST /v1/charges/3ds/setup", Scope("charges")),
    ("GET /v1/charges/{id}", Scope("charges")),
    ("POST /v1/charges/{id}", Scope("charges")),
    ("PATCH /v1/charges/{id}/antifraud", Scope("charges")),
    ("POST /v1/charges/{id}/capture", Scope("charges")),
    ("POST /v1/charges/{id}/void", Scope("charges")),
    ("GET /v1/charges/{id}/explanation", Scope("charges")),
    ("GET /v1/charges/{id}/receipts", SecretKey),
    ("POST /v1/receipts", SecretKey),
    ("POST /v1/merchants", SecretKey),
    ("GET /v1/merchants", SecretKey),
    ("GET /v1/merchants/{id}", SecretKey),
    ("PATCH /v1/merchants/{id}", SecretKey),
    ("DELETE /v1/merchants/{id}", SecretKey),
    ("GET /v1/ledger/accounts", SecretKey),
    ("GET /v1/ledger/balances", SecretKey),
    ("GET /v1/ledger/entries", SecretKey),
    ("GET /v1/rates", SecretKey),
    ("POST /v1/merchants/{merchantId}/platform-fee", SecretKey),
    ("GET /v1/merchants/{merchantId}/platform-fee", SecretKey),
    ("PUT /v1/merchants/{merchantId}/platform-fee", SecretKey),
    ("DELETE /v1/merchants/{merchantId}/platform-fee/{platformFeeId}", SecretKey),
    ("PATCH /v1/merchants/{merchantId}/platform-fee/enabled", SecretKey),
    ("POST /v1/flows", SecretKey),
    ("GET /v1/flows", Everything),
    ("POST /v1/flows/validate", SecretKey),
    ("POST /v1/flows/{id}/restore", SecretKey),
    ("GET /v1/flows/{id}", Scope("flows")),
    ("DELETE /v1/flows/{id}", SecretKey),
    ("POST /v1/reports", SecretKey),
    ("GET /v1/reports", SecretKey),
    ("GET /v1/reports/{id}", SecretKey),
    ("GET /v1/reports/{id}/files/{pageNumber}", SecretKey),
    ("GET /v1/subacquirer/plans", SecretKey),
    ("GET /v1/subacquirer/plans/{id}", SecretKey),
    ("GET /v1/payouts/balance", SecretKey),
    ("GET /v1/payouts/payment-batches", SecretKey),
    ("GET /v1/payouts/payment-batches/{id}", SecretKey),
    ("GET /v1/payouts/payment-batches/{id}/orders", SecretKey),
    ("GET /v1/payouts/orders", SecretKey),
    ("GET /v1/payouts/orders/{id}", SecretKey),
    ("POST /v1/subacquirer/prepayment", SecretKey),
    ("GET /v1/subacquirer/prepayment/receivables", SecretKey),
    ("GET /v1/subacquirer/prepayment/{id}", SecretKey),
    ("POST /v1/subacquirer/prepayment/{id}/commit", SecretKey),
    ("POST /v1/vendors", SecretKey),
    ("GET /v1/vendors", SecretKey),
    ("GET /v1/vendors/{id}", SecretKey),
    ("PATCH /v1/vendors/{id}", SecretKey),
    ("DELETE /v1/vendors/{id}", SecretKey),
    ("POST /v1/purchases", SecretKey),
    ("GET /v1/purchases/{id}", SecretKey),
    ("GET /v1/purchases/{id}/history", SecretKey),
    ("POST /v1/purchases/{id}/capture", SecretKey),
    ("POST /v1/purchases/{id}/void", SecretKey),
    ("PATCH /v1/providers/{id}", Scope("providers")),
    ("POST /v1/sellers", Scope("sellers")),
    ("GET /v1/sellers", Everything),
    ("POST /v1/sellers/documents", Scope("sellers")),
    ("GET /v1/sellers/documents", Everything),
    ("GET /v1/sellers/documents/{documentId}", Scope("sellers")),
    ("DELETE /v1/sellers/documents/{documentId}", Scope("sellers")),
    ("GET /v1/sellers/registration-reviews", Everything),
    ("GET /v1/sellers/{sellerId}/registration-reviews", Everything),
    ("POST /v1/sellers/{sellerId}/registration-reviews", Scope("sellers")),
    ("GET /v1/sellers/{sellerId}/registration-reviews/{id}", Scope("sellers")),
    ("POST /v1/sellers/{sellerId}/registration-reviews/{id}/answer", Scope("sellers")),
    ("GET /v1/sellers/{id}", Scope("sellers")),
    ("PATCH /v1/sellers/{id}", Scope("sellers")),
    ("DELETE /v1/sellers/{id}", Scope("sellers")),
    ("POST /v1/sessions", Scope("sessions")),
    ("GET /v1/sessions", Everything),
    ("GET /v1/sessions/{id}", Scope("sessions")),
    ("PATCH /v1/sessions/{id}", Scope("sessions")),
    ("POST /v1/sessions/{id}/cancel", Scope("sessions")),
    ("POST /v1/sessions/{id}/charge", Scope("sessions")),
    ("POST /v1/sessions/{id}/card", Scope("sessions")),
    ("GET /v1/sessions/{id}/history", Scope("sessions")),
    ("GET /v1/sessions/{id}/link", Scope("sessions")),
    ("POST /v1/sessions/tokens", Scope("sessions")),
    ("POST /v1/sessions/cards", Scope("sessions")),
    ("POST /v1/sessions/customers", Scope("sessions")),
    ("GET /v1/sessions/customers/{id}", Scope("sessions")),
    ("GET /v1/sessions/customers/{id}/cards", Scope("sessions")),
    ("POST /v1/sessions/customers/{id}/cards", Scope("sessions")),
    ("POST /v1/settings", SecretKey),
    ("GET /v1/settings", SecretKey),
    ("PATCH /v1/settings", SecretKey),
    ("POST /v1/subscriptions", Scope("subscriptions")),
    ("GET /v1/subscriptions", Everything),
    ("POST /v1/subscriptions/preview", Scope("subscriptions")),
    ("GET /v1/subscriptions/settings", Scope("subscriptions")),
    ("PATCH /v1/subscriptions/settings", Scope("subscriptions")),
    ("GET /v1/subscriptions/{id}", Scope("subscriptions")),
    ("PUT /v1/subscriptions/{id}", Scope("subscriptions")),
    ("PATCH /v1/subscriptions/{id}/cancel", Scope("subscriptions")),
    ("POST /v1/subscriptions/{id}/cancel", Scope("subscriptions")),
    ("PATCH /v1/subscriptions/{id}/pause", Scope("subscriptions")),
    ("POST /v1/subscriptions/{id}/pause", Scope("subscriptions")),
    ("PATCH /v1/subscriptions/{id}/resume", Scope("subscriptions")),
    ("POST /v1/subscriptions/{id}/resume", Scope("subscriptions")),
    ("POST /v1/subscriptions/{id}/card-link", Scope("subscriptions")),
    ("POST /v1/subscriptions/{id}/advance", SecretKey),
    ("GET /v1/subscriptions/{id}/cycles", Scope("subscriptions")),
    ("GET /v1/subscriptions/{id}/cycles/{cycleId}", Scope("subscriptions")),
    ("GET /v1/sandbox/clock", SecretKey),
    ("POST /v1/sandbox/clock", SecretKey),
    ("PATCH /v1/sandbox/clock", SecretKey),
    ("DELETE /v1/sandbox/clock", SecretKey),
    ("POST /v1/webhooks", Scope("webhooks")),
    ("GET /v1/webhooks", Scope("webhooks")),
    ("GET /v1/webhooks/{id}", Scope("webhooks")),
    ("PATCH /v1/webhooks/{id}", Scope("webhooks")),
    ("DELETE /v1/webhooks/{id}", Scope("webhooks")),
    ("GET /v1/webhooks/{id}/deliveries", Scope("webhooks")),
    ("POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay", Scope("webhooks")),
    ("POST /v1/webhooks/{id}/ping", Scope("webhooks")),
    ("POST /v1/listeners", SecretKey),
    ("PATCH /v1/listeners/{id}", SecretKey),
    ("DELETE /v1/listeners/{id}", SecretKey),
];

/// Every scope (`docs/interface/auth.md#scopes`).
const SCOPES: [&str; 12] = [
    "customers",
    "cards",
    "tokens",
    "charges",
    "webhooks",
    "sessions",
    "auth",
    "flows",
    "sellers",
    "providers",
    "subscriptions",
    "reports",
];

const UNAUTHORIZED: &str =
    r#"{"error":{"type":"unauthorized","code":401,"message":"Unauthorized","details":["unauthorized"]}}"#;
const FORBIDDEN: &str = r#"{"message":"Forbidden"}"#;
const NOT_FOUND: &str =
    r#"{"error":{"type":"invalid_request_error","code":404,"message":"Resource not found","details":[]}}"#;
const PURCHASE_NOT_FOUND: &str = r#"{"error":{"type":"not_found","code":404,"message":"Resource not found","businessCode":"purchase_not_found","details":["purchase_not_found"]}}"#;
const PREPAYMENT_NOT_FOUND: &str = r#"{"code":"I-404","networkDeniedMessage":"Resource not found"}"#;
const WEBHOOK_NOT_FOUND: &str =
    r#"{"error":{"type":"api_error","message":"webhook not found","details":[]}}"#;
const NOBODYS_ID: &str = "3f1c1b1e-2a7b-4a57-9d35-000000000000";

#[test]
fn every_operation_has_its_entry() {
    let documented: BTreeSet<String> = guarded().map(Operation::name).collect();
    let stated: BTreeSet<String> = DEMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(documented, stated, "DEMANDS says for each operation who may call it");
    assert_eq!(stated.len(), DEMANDS.len(), "once");
}

#[test]
fn few_operations_are_open_without_a_key() {
    let operations = Document::current().operations.iter();
    let open = operations.filter(|operation| operation.value["security"].is_null());
    let open: BTreeSet<&str> = open.map(|operation| operation.path.as_str()).collect();
    assert_eq!(open, BTreeSet::from(OPEN_TO_ALL));
}

/// The operations behind the gate: everything that is not open to all.
fn guarded() -> impl Iterator<Item = &'static Operation> {
    Document::current().operations.iter().filter(|operation| !OPEN_TO_ALL.contains(&operation.path.as_str()))
}

fn demand(operation: &Operation) -> Demand {
    let name = operation.name();
    DEMANDS.iter().find(|(stated, _)| *stated == name).unwrap_or_else(|| panic!("{name} is not in DEMANDS")).1
}

/// Sends only these headers, and a body that may stay unread.
async fn knock(app: &TestApp, operation: &Operation, headers: &[(&str, &str)]) -> Reply {
    let ids = vec![NOBODYS_ID; operation.parameters()];
    let mut request = Request::builder().method(&operation.method).uri(operation.path_with(&ids));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(Body::from("{ no JSON")).unwrap()).await
}

#[track_caller]
fn refused(reply: &Reply, status: u16, body: &str, what: &str) {
    let shown = String::from_utf8_lossy(&reply.bytes);
    assert_eq!((reply.status.as_u16(), &*shown), (status, body), "{what}");
}

async fn without_a_known_account_every_operation_answers_401(app: TestApp) {
    let (id, key) = (app.client.id.as_str(), app.client.key.as_str());
    let unhyphenated = id.replace('-', "");
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("nothing", &[]),
        ("a key alone", &[("X-Api-Key", key)]),
        ("an empty account", &[("X-Client-Id", ""), ("X-Api-Key", key)]),
        ("no uuid", &[("X-Client-Id", "not-a-uuid"), ("X-Api-Key", key)]),
        ("another spelling", &[("X-Client-Id", &unhyphenated), ("X-Api-Key", key)]),
        ("an unknown account", &[("X-Client-Id", NOBODYS_ID), ("X-Api-Key", key)]),
        ("an unknown account without a key", &[("X-Client-Id", NOBODYS_ID)]),
        ("nobody's account", &[("X-Client-Id", "00000000-0000-0000-0000-000000000000"), ("X-Api-Key", key)]),
        ("the account twice", &[("X-Client-Id", id), ("X-Client-Id", id), ("X-Api-Key", key)]),
        ("two accounts", &[("X-Client-Id", NOBODYS_ID), ("X-Client-Id", id), ("X-Api-Key", key)]),
    ];
    for operation in guarded() {
        for (what, headers) in cases {
            let reply = knock(&app, operation, headers).await;
            refused(&reply, 401, UNAUTHORIZED, &format!("{} with {what}", operation.name()));
        }
    }
}

async fn without_a_good_key_every_operation_answers_403(app: TestApp) {
    let (id, key) = (app.client.id.as_str(), app.client.key.as_str());
    let other = app.another_client().await;
    let (longer, shorter) = (format!("{key}x"), &key[..key.len() - 1]);
    let upper = key.to_uppercase();
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("no key", &[]),
        ("an empty key", &[("X-Api-Key", "")]),
        ("a wrong key", &[("X-Api-Key", "sk_test_wrong")]),
        ("a key in another case", &[("X-Api-Key", &upper)]),
        ("a longer key", &[("X-Api-Key", &longer)]),
        ("a shorter key", &[("X-Api-Key", shorter)]),
        ("the key twice", &[("X-Api-Key", key), ("X-Api-Key", key)]),
        ("a good and a wrong key", &[("X-Api-Key", key), ("X-Api-Key", "wrong")]),
        ("another account's key", &[("X-Api-Key", &other.key)]),
        ("the account for a key", &[("X-Api-Key", id)]),
        ("the key as another scheme", &[("Authorization", key)]),
    ];
    for operation in guarded() {
        for (what, headers) in cases {
            let headers: Vec<(&str, &str)> =
                [("X-Client-Id", id)].into_iter().chain(headers.iter().copied()).collect();
            let reply = knock(&app, operation, &headers).await;
            refused(&reply, 403, FORBIDDEN, &format!("{} with {what}", operation.name()));
        }
    }
}

async fn a_client_token_may_call_what_its_scopes_open_and_nothing_else(app: TestApp) {
    let records = Records { app: &app, client: &app.client };
    let everything = app.client_token(json!("*")).await;
    let each_alone = app.client_token(json!(SCOPES)).await;
    for operation in guarded() {
        let (name, demand) = (operation.name(), demand(operation));
        let opened_by = match demand {
            Scope(scope) => Some(scope),
            Everything | SecretKey => None,
        };
        let others: Vec<&str> = SCOPES.into_iter().filter(|scope| Some(*scope) != opened_by).collect();
        if !others.is_empty() {
            let token = app.client_token(json!(others)).await;
            let headers = [("X-Client-Id", token.id.as_str()), ("X-Api-Key", token.key.as_str())];
            let what = format!("{name} with every scope but its own");
            refused(&knock(&app, operation, &headers).await, 403, FORBIDDEN, &what);
        }
        let mut may = vec![(&everything, demand != SecretKey), (&each_alone, opened_by.is_some())];
        let own = match opened_by {
            Some(scope) => Some(app.client_token(json!([scope])).await),
            None => None,
        };
        may.extend(own.as_ref().map(|token| (token, true)));
        for (token, may) in may {
            let call = records.call(operation).await;
            let reply = call.send(&app, token, operation, &[]).await;
            let body = String::from_utf8_lossy(&reply.bytes);
            if may {
                assert!(
                    reply.status.is_success() || is_narrower(operation, &reply),
                    "{name}: {reply:?} {body}"
                );
            } else {
                refused(&reply, 403, FORBIDDEN, &name);
            }
        }
    }
}

/// Whether the reply is the refusal to grant more than the token has: a token with `auth` alone cannot make the
/// example's token.
fn is_narrower(operation: &Operation, reply: &Reply) -> bool {
    operation.name() == "POST /v1/auth" && reply.bytes == FORBIDDEN.as_bytes()
}

async fn records_of_another_account_are_not_found(app: TestApp) {
    let other = app.another_client().await;
    let theirs = Records { app: &app, client: &other };
    let public_key = app.client_token(json!("*")).await;
    for operation in guarded().filter(|operation| operation.parameters() > 0) {
        let name = operation.name();
        let call = theirs.call(operation).await;
        // The body is valid, so that only the record's owner is wrong.
        let own = Records { app: &app, client: &app.client }.call(operation).await;
        let keys: &[&Client] =
            if demand(operation) == SecretKey { &[&app.client] } else { &[&app.client, &public_key] };
        for key in keys {
            for id in [call.ids[0].as_str(), NOBODYS_ID, "not-a-uuid", "0", &call.ids[0].replace('-', "")] {
                let ids = std::iter::once(id.to_owned()).chain(call.ids[1..].iter().cloned()).collect();
                let path = Call { ids, body: None }.path(operation);
                let fresh = fresh_key();
                let (method, headers) = (operation.method.clone(), operation.headers(&fresh));
                let reply = app.call(key, method, &path, &headers, own.body.as_ref()).await;
                let body = match operation.path.split('/').nth(2) {
                    Some("webhooks") => WEBHOOK_NOT_FOUND,
                    Some("purchases") => PURCHASE_NOT_FOUND,
                    Some("subacquirer") if operation.path.contains("/prepayment/") => PREPAYMENT_NOT_FOUND,
                    _ => NOT_FOUND,
                };
                refused(&reply, 404, body, &format!("{name} of {id}"));
            }
        }
        // The refusal changed nothing: the owner can still do the same.
        let path = call.path(operation);
        let fresh = fresh_key();
        let (method, headers) = (operation.method.clone(), operation.headers(&fresh));
        let reply = app.call(&other, method, &path, &headers, call.body.as_ref()).await;
        assert!(reply.status.is_success(), "{name} by its owner: {reply:?}");
    }
}

/// Each member that names a record, in a request that is valid except for the owner of that record.
async fn bodies_that_name_records_of_another_account_are_refused_like_unknown_ones(app: TestApp) {
    let other = app.another_client().await;
    let theirs = Records { app: &app, client: &other };
    let own = Records { app: &app, client: &app.client };
    let own_customer = own.customer().await;
    let link = format!("/v1/customers/{own_customer}/cards");
    let charge = charge_body(&own.merchant().await, APPROVED);
    let paid_with = |source: Value| put(charge.clone(), "paymentSource", source);
    let stored = json!({ "sourceType": "card", "cardId": own.card().await });
    let subscription = own.subscription_body().await;
    let check = json!({ "tokenId": own.token(APPROVED).await, "cvvCheck": true });
    let nested = put(check.clone(), "zeroDollar", json!({ "cvvCheck": true }));
    let cases = [
        ("/v1/charges", charge.clone(), "/merchantId", theirs.merchant().await),
        ("/v1/charges", charge.clone(), "/customerId", theirs.customer().await),
        (
            "/v1/charges",
            paid_with(json!({ "sourceType": "card" })),
            "/paymentSource/cardId",
            theirs.card().await,
        ),
        (
            "/v1/charges",
            paid_with(json!({ "sourceType": "token" })),
            "/paymentSource/tokenId",
            theirs.token(APPROVED).await,
        ),
        ("/v1/charges", paid_with(stored), "/paymentSource/tokenCvv", theirs.cvv_token().await),
        (
            "/v1/charges",
            paid_with(json!({ "sourceType": "customer" })),
            "/paymentSource/customerId",
            theirs.customer_with_card().await,
        ),
        ("/v1/cards", json!({}), "/tokenId", theirs.token(APPROVED).await),
        ("/v1/cards", check, "/merchantId", theirs.merchant().await),
        ("/v1/cards", nested, "/zeroDollar/merchantId", theirs.merchant().await),
        (&link, json!({}), "/cardId", theirs.card().await),
        ("/v1/subscriptions", subscription.clone(), "/merchantId", theirs.merchant().await),
        ("/v1/subscriptions", subscription.clone(), "/customerId", theirs.customer().await),
        ("/v1/subscriptions", subscription, "/paymentMethod/card/cardId", theirs.card().await),
    ];
    let public_key = app.client_token(json!("*")).await;
    for (path, body, member, foreign) in cases {
        for key in [&app.client, &public_key] {
            is_refused_like_unknown(&app, key, path, &body, (member, &foreign)).await;
        }
    }
    assert_eq!(app.books.effects().await.unwrap(), 0, "nothing was charged");
    // The refusals used up nothing: the tokens and cards still work for their owner.
    let charge = charge_body(&theirs.merchant().await, APPROVED);
    app.call(&other, Method::POST, "/v1/charges", &[], Some(&charge)).await.expect(201);
}

/// A request whose member names a record of another account is answered like one that names none.
async fn is_refused_like_unknown(
    app: &TestApp,
    key: &Client,
    path: &str,
    body: &Value,
    (member, foreign): (&str, &str),
) {
    let ask = async |id: &str| {
        let body = set(body, member, id);
        app.call(key, Method::POST, path, &[], Some(&body)).await
    };
    let (foreign, unknown) = (ask(foreign).await, ask(NOBODYS_ID).await);
    let shown = String::from_utf8_lossy(&foreign.bytes).into_owned();
    assert!(matches!(foreign.status.as_u16(), 400 | 404), "{path} {member}: {shown}");
    assert_eq!(foreign.status, unknown.status, "{path} {member}");
    assert_eq!(shown, String::from_utf8_lossy(&unknown.bytes), "{path} {member}");
}

/// What another account is due, and the documents and the terms of it: each member and each filter that names it.
async fn what_another_account_is_due_is_not_found(app: TestApp) {
    let other = app.another_client().await;
    let theirs = Records { app: &app, client: &other };
    let own = Records { app: &app, client: &app.client };
    let (order, batch) = own.payout().await;
    let (charge, plan) = (theirs.refunded().await, theirs.plan().await);
    let theirs_early = theirs.receivable().await;
    let seller = theirs_early["sellerId"].as_str().unwrap();
    let new_seller = splits::seller_body(&own.merchant().await, 1, "4921");
    let cases = [
        ("/v1/receipts", json!({ "type": RECEIPT }), ("/chargeId", charge.as_str())),
        (PREPAYMENT, own.receivable().await, ("/sellerId", seller)),
        ("/v1/sellers", new_seller, ("/planId", plan.as_str())),
    ];
    for (path, body, named) in cases {
        is_refused_like_unknown(&app, &app.client, path, &body, named).await;
    }
    let of_seller = [
        "/v1/payouts/balance".to_owned(),
        BATCHES.to_owned(),
        ORDERS.to_owned(),
        RECEIVABLES.to_owned(),
        format!("{BATCHES}/{batch}"),
        format!("{ORDERS}/{order}"),
    ];
    let mut filters: Vec<(String, &str)> =
        of_seller.into_iter().map(|path| (format!("{path}?sellerId="), seller)).collect();
    filters.push((format!("{ORDERS}?chargeId="), charge.as_str()));
    for (path, foreign) in filters {
        let of_another = app.get(&format!("{path}{foreign}")).await;
        let of_nobody = app.get(&format!("{path}{NOBODYS_ID}")).await;
        assert!(matches!(of_another.status.as_u16(), 200 | 404), "{path}: {of_another:?}");
        assert_eq!((of_another.status, of_another.bytes), (of_nobody.status, of_nobody.bytes), "{path}");
    }
}

fn set(body: &Value, pointer: &str, value: &str) -> Value {
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    let mut body = body.clone();
    body.pointer_mut(parent).unwrap()[member] = value.into();
    body
}

async fn a_key_that_ended_opens_nothing(app: TestApp) {
    let (revoked, expiring) = (app.client_token(json!("*")).await, app.client_token(json!("*")).await);
    // Both have worked before, so that cached credentials are tested too.
    for token in [&revoked, &expiring] {
        app.call(token, Method::POST, "/v1/tokens", &[], Some(&token_body(APPROVED))).await.expect(201);
    }
    app.delete(&format!("/v1/auth/{}", revoked.key)).await.expect(204);
    app.clock.advance(Duration::from_secs(600));
    for operation in guarded() {
        for (what, token) in [("a revoked key", &revoked), ("a key past its end", &expiring)] {
            let headers = [("X-Client-Id", token.id.as_str()), ("X-Api-Key", token.key.as_str())];
            let reply = knock(&app, operation, &headers).await;
            refused(&reply, 403, FORBIDDEN, &format!("{} with {what}", operation.name()));
        }
    }
}

/// The gate applies to `HEAD` requests too.
#[tokio::test]
async fn head_is_no_way_around_the_gate() {
    let app = TestApp::sqlite().await;
    for operation in guarded().filter(|operation| operation.method == Method::GET) {
        let ids = vec![NOBODYS_ID; operation.parameters()];
        let request = Request::builder().method(Method::HEAD).uri(operation.path_with(&ids));
        let reply = app.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((reply.status.as_u16(), reply.bytes.len()), (401, 0), "{}", operation.name());
    }
}

/// A path that is no operation gets the same answer for every caller, and the answer shows nothing about callers or
/// records.
#[tokio::test]
async fn what_is_no_operation_is_not_found_for_anybody() {
    let app = TestApp::sqlite().await;
    for path in
        ["/", "/v1", "/v1/", "/v1/charges/", "/v1/nothing", "/v1/charges/x/y/z", "/v2/charges", "/admin"]
    {
        refused(&app.get(path).await, 404, NOT_FOUND, path);
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        refused(&app.send(request).await, 404, NOT_FOUND, path);
    }
}
