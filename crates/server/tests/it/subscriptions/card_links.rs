//! Links at which the buyer of a subscription gives another card (`docs/interface/subscriptions.md#another-card`).

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV, token_body};
use crate::support::client::Reply;
use crate::support::proofs::solve;
use crate::support::read::{announced, text};
use crate::support::sessions::{
    buyer, by_card, by_pix, create, history, pay, read as session_of, session_body,
};
use crate::support::subscriptions::{Parties, ask, charges_of, made, path_of, put, read};

use super::cycles::{DAY, REFUSED, TAKEN_AWAY};

stories! {
    a_link_is_a_session_without_a_payment,
    a_link_is_made_once_for_its_key_and_as_its_merchant_says,
    an_unpaid_subscription_is_paid_by_the_card_of_a_buyer,
    a_link_takes_one_card,
    a_link_takes_no_payment_and_sells_nothing,
    a_card_that_is_refused_when_it_is_checked_changes_nothing,
    a_card_that_nobody_can_check_is_given_too,
    a_card_that_its_bank_refuses_again_leaves_it_unpaid,
    a_link_ends_with_its_subscription_and_with_another_card,
    a_link_that_is_late_or_switched_off_takes_no_card,
    a_link_belongs_to_its_account_and_opens_itself_alone,
    a_link_may_ask_for_a_person,
}

/// A subscription whose first cycle was refused for good.
async fn unpaid(app: &TestApp) -> Value {
    let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(app).await };
    let made = made(app, &parties.body(&json!({}))).await;
    app.run_jobs().await;
    assert_eq!(read(app, &made).await["status"], "unpaid");
    made
}

async fn paid(app: &TestApp) -> Value {
    let made = made(app, &Parties::of(app).await.body(&json!({}))).await;
    app.run_jobs().await;
    read(app, &made).await
}

/// From now on its merchant has no provider that can check a card. A cycle that is made stays with the former one.
async fn without_checks(app: &TestApp, subscription: &Value) {
    let provider =
        json!([{ "name": "V", "priority": 1, "credentials": { "type": "VR", "affiliationId": "a" } }]);
    let merchant = app.merchant_with(provider).await;
    put(app, subscription, &json!({ "merchantId": merchant })).await.expect(200);
}

fn link_path(subscription: &Value) -> String {
    format!("{}/card-link", path_of(subscription))
}

pub(crate) async fn link(app: &TestApp, subscription: &Value) -> Value {
    app.post(&link_path(subscription), &json!({})).await.expect(200)
}

pub(crate) fn card_path(session: &Value) -> String {
    format!("/v1/sessions/{}/card", text(&session["id"]))
}

/// A buyer makes a token with the key of the session.
pub(crate) async fn token(app: &TestApp, session: &Value, card: (&str, &str)) -> Value {
    let made =
        app.call(&buyer(session), Method::POST, "/v1/sessions/tokens", &[], Some(&token_body(card))).await;
    json!({ "tokenId": made.expect(201)["tokenId"] })
}

/// A buyer gives a card with the key of the session.
async fn give(app: &TestApp, session: &Value, card: (&str, &str)) -> Reply {
    let body = token(app, session, card).await;
    app.call(&buyer(session), Method::POST, &card_path(session), &[], Some(&body)).await
}

/// What is answered to a merchant's server who gives a card, also where the key of the session makes no token any more.
async fn give_as_merchant(app: &TestApp, session: &Value) -> Reply {
    let body = json!({ "tokenId": app.card_token(APPROVED).await });
    app.post(&card_path(session), &body).await
}

async fn page(app: &TestApp, session: &Value) -> (u16, String) {
    let path = format!("/pay/{}?lang=en", text(&session["id"]));
    let reply = app.call(&app.client, Method::GET, &path, &[], None).await;
    (reply.status.as_u16(), String::from_utf8_lossy(&reply.bytes).into_owned())
}

#[track_caller]
fn says((status, body): (u16, String), expected: u16, text: &str) {
    assert!(status == expected && body.contains(text), "{status}: no {text:?} in {body}");
}

async fn told(app: &TestApp, session: &Value) -> Value {
    let path = format!("/pay/{}/status", text(&session["id"]));
    app.call(&buyer(session), Method::GET, &path, &[], None).await.expect(200)
}

#[track_caller]
fn refused(reply: &Reply, code: &str) {
    assert_eq!(reply.expect(422)["error"]["businessCode"], code);
}

async fn a_link_is_a_session_without_a_payment(app: TestApp) {
    let app = app.reachable().await;
    let subscription = paid(&app).await;
    let session = link(&app, &subscription).await;
    for (member, expected) in [
        ("subscriptionId", &subscription["id"]),
        ("merchantId", &subscription["merchantId"]),
        ("name", &json!("Premium")),
        ("amount", &json!(29900)),
        ("status", &json!("created")),
        ("isActive", &json!(true)),
        ("captchaEnabled", &json!(false)),
        // The last second of the seventh day in São Paulo.
        ("dueDate", &json!("2026-03-31T02:59:59.000Z")),
    ] {
        assert_eq!(session[member], *expected, "{member}");
    }
    assert!(text(&session["paymentLink"]).ends_with(&format!("/pay/{}", text(&session["id"]))));
    let kept = session_of(&app, &session).await;
    assert_eq!(kept, session);
    let other = create(&app, &session_body(&app.merchant().await)).await;
    assert_eq!(other.get("subscriptionId"), None, "it takes payments");

    let shown = page(&app, &session).await;
    for text in ["Premium", "R$299.00", "Every month", "Save card", r#""takesCard":true"#] {
        says(shown.clone(), 200, text);
    }
    for text in ["role=\"tab\"", "id=\"installments\"", "id=\"payer\"", "id=\"outstanding\""] {
        assert!(!shown.1.contains(text), "{text}");
    }
    let state = told(&app, &session).await;
    assert_eq!(state["session"], json!({ "status": "created", "payable": true }));
    assert_eq!(state["card"], json!({ "saved": false, "outstanding": "none" }));
}

async fn a_link_is_made_once_for_its_key_and_as_its_merchant_says(app: TestApp) {
    let subscription = paid(&app).await;
    let path = link_path(&subscription);
    let body = json!({ "dueDate": "2026-04-20", "captchaEnabled": true });
    let first = app.post_with_key(&path, "one", &body).await.expect(200);
    assert_eq!(app.post_with_key(&path, "one", &body).await.expect(200), first);
    assert_eq!(app.get("/v1/sessions").await.expect(200)["meta"]["totalItems"], 1);
    assert_eq!(
        (&first["dueDate"], &first["captchaEnabled"]),
        (&json!("2026-04-21T02:59:59.000Z"), &json!(true))
    );
    let said = app.post(&path, &json!({ "dueDate": "2026-03-23" })).await.details(400);
    assert_eq!(said, ["dueDate must not be before 2026-03-24"]);
    let said = app.post(&path, &json!({ "dueDate": "soon" })).await.details(400);
    assert_eq!(said, ["dueDate must be a valid ISO 8601 date string"]);
    // A client token with the scope of subscriptions makes it, too.
    let token = app.client_token(json!(["subscriptions"])).await;
    app.call(&token, Method::POST, &path, &[], None).await.expect(200);
}

async fn an_unpaid_subscription_is_paid_by_the_card_of_a_buyer(app: TestApp) {
    let subscription = unpaid(&app).await;
    let session = link(&app, &subscription).await;
    says(page(&app, &session).await, 200, "id=\"outstanding\"");
    let given = give(&app, &session, APPROVED).await.expect(201);
    assert_eq!((&given["saved"], &given["card"]["status"]), (&json!(true), &json!("active")));
    assert_eq!(told(&app, &session).await["card"], json!({ "saved": true, "outstanding": "pending" }));
    app.run_jobs().await;
    assert_eq!(told(&app, &session).await["card"], json!({ "saved": true, "outstanding": "paid" }));

    let after = read(&app, &subscription).await;
    assert_eq!((&after["status"], &after["lastCycle"]["status"]), (&json!("active"), &json!("authorized")));
    assert_eq!(after["paymentMethod"]["card"]["cardId"], given["card"]["id"]);
    let events = announced(&app, text(&subscription["id"])).await;
    assert_eq!(events, ["created", "unpaid", "updated", "activated"]);
    let cards =
        app.get(&format!("/v1/customers/{}/cards", text(&subscription["customerId"]))).await.expect(200);
    assert_eq!(cards[0]["id"], given["card"]["id"], "it is the customer's");

    // The session is used, and was no payment.
    let used = session_of(&app, &session).await;
    assert_eq!((&used["status"], &used["isActive"]), (&json!("created"), &json!(false)));
    let counted = json!({ "allow": false, "maxPayments": null, "paymentCount": 0, "pendingCount": 0, "status": "disabled" });
    assert_eq!(used["multiplePayments"], counted);
    assert_eq!(history(&app, &session).await, ["created: statusChanged", "disabled: isActiveChanged"]);
    assert_eq!(announced(&app, text(&session["id"])).await, ["created", "disabled"]);
    says(page(&app, &session).await, 200, "The card is saved");
    let charges = charges_of(&app, &subscription).await;
    assert!(charges.iter().all(|charge| charge["sessionId"] != session["id"]), "{charges:#?}");
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_link_takes_one_card(app: TestApp) {
    let session = link(&app, &paid(&app).await).await;
    let body = token(&app, &session, APPROVED).await;
    let headers = [("X-Idempotency-Key", "one")];
    let give_again =
        async || app.call(&buyer(&session), Method::POST, &card_path(&session), &headers, Some(&body)).await;
    let second = token(&app, &session, APPROVED).await;
    let first = give_again().await;
    assert_eq!(first.expect(201)["saved"], true);
    assert_eq!(give_again().await.bytes, first.bytes, "the same answer for the same key");
    let late = app.call(&buyer(&session), Method::POST, &card_path(&session), &[], Some(&second)).await;
    refused(&late, "session_disabled");
    refused(&give_as_merchant(&app, &session).await, "session_disabled");
    let tokens = app
        .call(&buyer(&session), Method::POST, "/v1/sessions/tokens", &[], Some(&token_body(APPROVED)))
        .await;
    assert_eq!(tokens.status, 403, "its key makes no tokens any more");
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    let said = app.patch(&path, &json!({ "isActive": true })).await.expect(400);
    assert_eq!(said["error"]["message"], "session cannot be activated: its card was given");
    assert_eq!(told(&app, &session).await["card"], json!({ "saved": true, "outstanding": "none" }));
}

async fn a_link_takes_no_payment_and_sells_nothing(app: TestApp) {
    let subscription = unpaid(&app).await;
    let session = link(&app, &subscription).await;
    let saved = json!({ "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "cardId": app.card(APPROVED).await } });
    for body in [by_card(APPROVED), by_pix(), saved, json!({})] {
        refused(&pay(&app, &session, &body).await, "session_takes_no_payment");
        let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
        refused(&app.post(&path, &body).await, "session_takes_no_payment");
    }
    let customer = text(&subscription["customerId"]);
    let link = json!({ "cardId": app.card(APPROVED).await });
    for (method, path, body) in [
        (Method::POST, "/v1/sessions/cards".to_owned(), Some(token(&app, &session, APPROVED).await)),
        (Method::POST, "/v1/sessions/customers".to_owned(), Some(json!({}))),
        (Method::GET, format!("/v1/sessions/customers/{customer}"), None),
        (Method::GET, format!("/v1/sessions/customers/{customer}/cards"), None),
        (Method::POST, format!("/v1/sessions/customers/{customer}/cards"), Some(link)),
    ] {
        let reply = app.call(&buyer(&session), method, &path, &[], body.as_ref()).await;
        assert_eq!(reply.status, 403, "{path}");
    }
    // A session that is there to be paid takes no card for a subscription.
    let shop = create(&app, &session_body(&app.merchant().await)).await;
    refused(&give(&app, &shop, APPROVED).await, "session_takes_no_card");
    assert_eq!(read(&app, &subscription).await["status"], "unpaid");
}

async fn a_card_that_is_refused_when_it_is_checked_changes_nothing(app: TestApp) {
    let subscription = unpaid(&app).await;
    let session = link(&app, &subscription).await;
    let given = give(&app, &session, WRONG_CVV).await.expect(201);
    assert_eq!((&given["saved"], &given["card"]["status"]), (&json!(false), &json!("failed")));
    app.run_jobs().await;
    assert_eq!(read(&app, &subscription).await["status"], "unpaid");
    assert_eq!(charges_of(&app, &subscription).await.len(), 1, "nothing was charged");
    assert_eq!(give(&app, &session, APPROVED).await.expect(201)["saved"], true, "another one is taken");

    // Ten refused cards are enough for one link.
    let session = link(&app, &subscription).await;
    for _ in 0..10 {
        assert_eq!(give(&app, &session, WRONG_CVV).await.expect(201)["saved"], false);
    }
    refused(&give_as_merchant(&app, &session).await, "session_cards_blocked");
}

async fn a_card_that_nobody_can_check_is_given_too(app: TestApp) {
    let subscription = paid(&app).await;
    without_checks(&app, &subscription).await;
    let session = link(&app, &subscription).await;
    let given = give(&app, &session, APPROVED).await.expect(201);
    assert_eq!((&given["saved"], &given["card"]["status"]), (&json!(true), &json!("pending")));
    assert_eq!(read(&app, &subscription).await["paymentMethod"]["card"]["cardId"], given["card"]["id"]);
    let cards =
        app.get(&format!("/v1/customers/{}/cards", text(&subscription["customerId"]))).await.expect(200);
    assert_eq!(cards[0]["id"], given["card"]["id"], "it is the customer's");
}

async fn a_card_that_its_bank_refuses_again_leaves_it_unpaid(app: TestApp) {
    let subscription = unpaid(&app).await;
    without_checks(&app, &subscription).await;
    let session = link(&app, &subscription).await;
    let given = give(&app, &session, REFUSED).await.expect(201);
    assert_eq!(given["saved"], true, "{given:#}");
    app.run_jobs().await;
    assert_eq!(told(&app, &session).await["card"]["outstanding"], "failed");
    assert_eq!(read(&app, &subscription).await["status"], "unpaid");
    says(page(&app, &session).await, 200, "This link was used");
    // The next link is for the card that the subscription has now.
    let next = link(&app, &subscription).await;
    assert_eq!(give(&app, &next, APPROVED).await.expect(201)["saved"], true);
    app.run_jobs().await;
    assert_eq!(read(&app, &subscription).await["status"], "active");
}

async fn a_link_ends_with_its_subscription_and_with_another_card(app: TestApp) {
    let canceled = paid(&app).await;
    let session = link(&app, &canceled).await;
    let body = token(&app, &session, APPROVED).await;
    ask(&app, &canceled, "cancel").await.expect(200);
    says(page(&app, &session).await, 410, "This subscription has ended");
    let late = app.call(&buyer(&session), Method::POST, &card_path(&session), &[], Some(&body)).await;
    refused(&late, "subscription_invalid_state");
    assert_eq!(told(&app, &session).await["session"]["payable"], false);
    refused(&app.post(&link_path(&canceled), &json!({})).await, "subscription_invalid_state");

    let changed = paid(&app).await;
    let session = link(&app, &changed).await;
    let body = token(&app, &session, APPROVED).await;
    let card = app.card(APPROVED).await;
    put(&app, &changed, &json!({ "paymentMethod": { "card": { "cardId": card } } })).await.expect(200);
    says(page(&app, &session).await, 410, "The card was changed already");
    let late = app.call(&buyer(&session), Method::POST, &card_path(&session), &[], Some(&body)).await;
    refused(&late, "session_disabled");
    assert_eq!(read(&app, &changed).await["paymentMethod"]["card"]["cardId"], json!(card));
}

async fn a_link_that_is_late_or_switched_off_takes_no_card(app: TestApp) {
    let subscription = paid(&app).await;
    let (off, canceled, late) =
        (link(&app, &subscription).await, link(&app, &subscription).await, link(&app, &subscription).await);
    let path = |session: &Value| format!("/v1/sessions/{}", text(&session["id"]));
    app.patch(&path(&off), &json!({ "isActive": false })).await.expect(200);
    app.post(&format!("{}/cancel", path(&canceled)), &json!({})).await.expect(201);
    says(page(&app, &off).await, 410, "This link is not available");
    says(page(&app, &canceled).await, 410, "This link is not available");
    app.later(8 * DAY).await;
    says(page(&app, &late).await, 410, "This link has expired");
    for session in [&off, &canceled, &late] {
        refused(&give_as_merchant(&app, session).await, "session_disabled");
    }
    // Its merchant may make it good again.
    app.patch(&path(&late), &json!({ "isActive": true, "dueDate": "2026-05-01" })).await.expect(200);
    assert_eq!(give(&app, &late, APPROVED).await.expect(201)["saved"], true);
}

async fn a_link_belongs_to_its_account_and_opens_itself_alone(app: TestApp) {
    let (subscription, another) = (paid(&app).await, paid(&app).await);
    let (own, other) = (link(&app, &subscription).await, link(&app, &another).await);
    let body = token(&app, &own, APPROVED).await;
    let wrong = app.call(&buyer(&own), Method::POST, &card_path(&other), &[], Some(&body)).await;
    assert_eq!(wrong.status, 404, "the key of another session");
    let stranger = app.another_client().await;
    for path in [link_path(&subscription), card_path(&own)] {
        assert_eq!(app.call(&stranger, Method::POST, &path, &[], Some(&body)).await.status, 404, "{path}");
    }
    assert_eq!(app.call(&buyer(&own), Method::POST, &link_path(&subscription), &[], None).await.status, 403);
    assert_eq!(read(&app, &another).await, another);
}

async fn a_link_may_ask_for_a_person(app: TestApp) {
    let subscription = paid(&app).await;
    let session = app.post(&link_path(&subscription), &json!({ "captchaEnabled": true })).await.expect(200);
    says(page(&app, &session).await, 200, "id=\"human\"");
    // A token of the merchant's server needs no proof, the card of a buyer does.
    let body = json!({ "tokenId": app.card_token(APPROVED).await });
    let key = buyer(&session);
    let bare = app
        .call(&key, Method::POST, &card_path(&session), &[("X-Idempotency-Key", "one")], Some(&body))
        .await;
    refused(&bare, "session_captcha_required");
    let path = format!("/pay/{}/challenge?operation=card", text(&session["id"]));
    let asked = app.call(&key, Method::GET, &path, &[("X-Idempotency-Key", "one")], None).await.expect(200);
    let proof = solve(text(&asked["challenge"]));
    let headers = [("X-Idempotency-Key", "one"), ("X-Captcha-Token", proof.as_str())];
    let given = app.call(&key, Method::POST, &card_path(&session), &headers, Some(&body)).await;
    assert_eq!(given.expect(201)["saved"], true);
}
