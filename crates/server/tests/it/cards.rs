//! Stored cards: made from tokens, checked with a zero amount, linked to buyers, deleted
//! (`docs/interface/tokens-and-cards.md`).

mod checks;

use std::time::Duration;

use axum::http::Method;
use regente_store::audit;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, TIMED_OUT, token_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::Client;
use crate::support::providers::sandbox;
use crate::support::read::{newest, text};
use crate::support::records::put;

stories! {
    a_card_is_created_as_documented,
    a_card_is_read_with_its_buyer,
    the_list_is_paged_newest_first,
    the_fingerprint_is_of_number_and_expiry_inside_an_account,
    the_first_charge_decides_what_becomes_of_a_card,
    only_a_final_reason_makes_a_card_fail,
    a_code_is_checked_only_if_it_was_sent,
    a_number_of_no_known_range_has_a_brand_all_the_same,
    a_card_is_linked_to_one_buyer,
    the_cards_of_a_buyer_are_a_bare_array_latest_link_first,
    links_are_checked,
    a_deleted_card_is_gone,
    bodies_are_checked,
    another_clients_card_does_not_exist,
    public_keys_reach_what_their_scope_opens,
    nothing_shows_the_number,
}

pub(crate) async fn read(app: &TestApp, card: &str) -> Value {
    app.get(&format!("/v1/cards/{card}")).await.expect(200)
}

pub(crate) async fn total(app: &TestApp) -> Value {
    app.get("/v1/cards").await.expect(200)["meta"]["totalItems"].clone()
}

fn buyer(email: &str, number: &str) -> Value {
    json!({ "name": "Ana Souza", "email": email, "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": number } })
}

async fn customer(app: &TestApp, email: &str, number: &str) -> String {
    text(&app.post("/v1/customers", &buyer(email, number)).await.expect(201)["id"]).to_owned()
}

async fn ana(app: &TestApp) -> String {
    customer(app, "ana@example.com", "97055503019").await
}

fn cards_of(customer: &str) -> String {
    format!("/v1/customers/{customer}/cards")
}

async fn a_card_is_created_as_documented(app: TestApp) {
    let token = app.card_token(APPROVED).await;
    let card = app.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201);
    assert_eq!(
        card,
        json!({
            "id": card["id"], "clientId": app.client.id, "customerId": null,
            "status": "pending", "statusReason": "cvv check was sent as false",
            "createdAt": "2026-03-23 15:12:38 +0000", "updatedAt": "2026-03-23T15:12:38.379Z",
            "brand": "Visa", "cardHolderName": "JOAO DA SILVA", "cvvChecked": false,
            "fingerprint": card["fingerprint"], "first6digits": "491674", "last4digits": "4124",
            "expirationMonth": "12", "expirationYear": "2030", "tokens": [],
        }),
        "no member more and none less"
    );
    for id in [&card["id"], &card["fingerprint"]] {
        assert!(Uuid::parse_str(text(id)).is_ok());
    }
    assert_eq!(read(&app, text(&card["id"])).await, card);
    assert_eq!(app.get("/v1/cards").await.expect(200)["items"], json!([card]));
    let again = app.post("/v1/cards", &json!({ "tokenId": token })).await.expect(400);
    assert_eq!(again["error"]["message"], "token not found or expired");
    assert_eq!(again["error"]["type"], "invalid_request_error");
}

async fn a_card_is_read_with_its_buyer(app: TestApp) {
    let (ana, card) = (ana(&app).await, app.card(APPROVED).await);
    assert!(read(&app, &card).await.get("customer").is_none());
    app.post(&cards_of(&ana), &json!({ "cardId": card })).await.expect(204);
    let linked = read(&app, &card).await;
    assert_eq!(linked["customerId"], ana);
    assert_eq!(linked["customer"], app.get(&format!("/v1/customers/{ana}")).await.expect(200));
    let page = app.get("/v1/cards").await.expect(200);
    assert!(page["items"][0].get("customer").is_none(), "only where one card is read");
    app.delete(&format!("/v1/customers/{ana}")).await.expect(200);
    assert!(read(&app, &card).await.get("customer").is_none(), "a deleted buyer is not shown");
}

async fn the_list_is_paged_newest_first(app: TestApp) {
    let mut cards = Vec::new();
    for _ in 0..17 {
        cards.insert(0, app.card(APPROVED).await);
    }
    let ids = async |query: &str| -> (Vec<String>, Value) {
        let page = app.get(&format!("/v1/cards{query}")).await.expect(200);
        let ids = page["items"].as_array().unwrap().iter().map(|card| text(&card["id"]).to_owned()).collect();
        (ids, page["meta"].clone())
    };
    let (first, meta) = ids("").await;
    assert_eq!(first, cards[..15]);
    assert_eq!(
        meta,
        json!({ "itemCount": 15, "totalItems": 17, "itemsPerPage": 15, "totalPages": 2, "currentPage": 1 })
    );
    assert_eq!(ids("?page=2").await.0, cards[15..]);
    assert_eq!(ids("?page=4&limit=5").await.0, cards[15..]);
    assert_eq!(ids("?page=9").await.0, Vec::<String>::new());
    for query in ["?limit=0", "?limit=101", "?limit=abc", "?page=0", "?page=-1"] {
        assert_eq!(app.get(&format!("/v1/cards{query}")).await.details(400).len(), 1, "{query}");
    }
}

async fn the_fingerprint_is_of_number_and_expiry_inside_an_account(app: TestApp) {
    let fingerprint = async |client: &Client, body: &Value| {
        let post = async |path: &str, body: &Value| {
            app.call(client, Method::POST, path, &[], Some(body)).await.expect(201)
        };
        post("/v1/cards", &post("/v1/tokens", body).await).await["fingerprint"].clone()
    };
    let own = fingerprint(&app.client, &token_body(APPROVED)).await;
    let mut other_name = token_body((APPROVED.0, "999"));
    other_name["cardHolderName"] = json!("MARIA");
    assert_eq!(fingerprint(&app.client, &other_name).await, own, "name and code do not count");
    let mut other_expiry = token_body(APPROVED);
    other_expiry["cardExpirationDate"] = json!("11/2030");
    assert_ne!(fingerprint(&app.client, &other_expiry).await, own);
    assert_ne!(fingerprint(&app.client, &token_body(TIMED_OUT)).await, own);
    let other = app.another_client().await;
    assert_ne!(fingerprint(&other, &token_body(APPROVED)).await, own, "accounts cannot compare cards");
    let restarted = app.restart().await;
    let card = restarted.card(APPROVED).await;
    assert_eq!(read(&restarted, &card).await["fingerprint"], own);
}

async fn the_first_charge_decides_what_becomes_of_a_card(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = async |card: &str, cvv: &str| {
        charged(
            &app,
            &Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": card, "cardCvv": cvv }))
                .body(),
        )
        .await
    };
    let card = app.card(APPROVED).await;
    charge(&card, "560").await;
    let confirmed = read(&app, &card).await;
    assert_eq!(
        (&confirmed["status"], &confirmed["statusReason"], &confirmed["cvvChecked"]),
        (&json!("active"), &Value::Null, &json!(true))
    );
    assert!(confirmed["updatedAt"].as_str() > Some(START));
    charge(&card, "561").await;
    assert_eq!(read(&app, &card).await, confirmed, "later charges change nothing");

    let card = app.card(BLOCKED).await;
    charge(&card, BLOCKED.1).await;
    let refused = read(&app, &card).await;
    assert_eq!(
        (&refused["status"], &refused["statusReason"], &refused["cvvChecked"]),
        (&json!("failed"), &json!("Card blocked"), &json!(false))
    );

    let card = app.card(TIMED_OUT).await;
    charge(&card, TIMED_OUT.1).await;
    assert_eq!(read(&app, &card).await["status"], "pending", "silence says nothing about a card");
}

/// A merchant whose provider declines the amount 100 with this code, and approves any other.
async fn declining(app: &TestApp, code: &str) -> String {
    let mut provider = sandbox("Declines", 1);
    provider["options"] = json!({ "type": "SANDBOX",
        "faults": [{ "when": { "amount": 100 }, "then": { "decline": code } }] });
    app.merchant_with(json!([provider])).await
}

async fn only_a_final_reason_makes_a_card_fail(app: TestApp) {
    let finals = [
        "expired_card",
        "fraud_confirmed",
        "invalid_number",
        "lost_card",
        "pickup_card",
        "restricted_card",
        "stolen_card",
    ];
    let codes = regente_domain::decline::DeclinedCode::all().map(|code| code.code());
    for code in codes {
        let merchant = declining(&app, code).await;
        let card = app.card(APPROVED).await;
        let body = |amount: i64| {
            let source = json!({ "sourceType": "card", "cardId": card, "cardCvv": APPROVED.1 });
            put(Charge::by_source(&merchant, source).body(), "amount", amount)
        };
        let refused = charged(&app, &body(100)).await;
        assert_eq!(newest(&refused)["providerError"]["declinedCode"], code);
        if finals.contains(&code) {
            assert_eq!(read(&app, &card).await["status"], "failed", "{code}");
            let again = app.post("/v1/charges", &body(150)).await.expect(400);
            assert_eq!(again["error"]["message"], "card cannot be used in status failed", "{code}");
        } else {
            assert_eq!(read(&app, &card).await["status"], "pending", "{code}");
            assert_eq!(charged(&app, &body(150)).await["status"], "authorized", "{code}");
            assert_eq!(read(&app, &card).await["status"], "active", "{code}");
        }
    }
}

async fn a_code_is_checked_only_if_it_was_sent(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let charge = async |code: Option<&str>| {
        let mut source = json!({ "sourceType": "card", "cardId": card });
        if let Some(code) = code {
            source["cardCvv"] = json!(code);
        }
        charged(&app, &Charge::by_source(&merchant, source).body()).await["status"].clone()
    };
    let shown = async || {
        let card = read(&app, &card).await;
        (card["status"].clone(), card["cvvChecked"].clone())
    };
    assert_eq!(charge(None).await, "authorized");
    assert_eq!(shown().await, (json!("active"), json!(false)), "no code was sent");
    assert_eq!(charge(Some("561")).await, "failed");
    assert_eq!(shown().await, (json!("active"), json!(false)), "a wrong code was sent");
    assert_eq!(charge(Some(APPROVED.1)).await, "authorized");
    assert_eq!(shown().await, (json!("active"), json!(true)));
    assert_eq!(charge(None).await, "authorized");
    assert_eq!(shown().await, (json!("active"), json!(true)), "what was checked stays checked");
}

async fn a_number_of_no_known_range_has_a_brand_all_the_same(app: TestApp) {
    let card = app.card(("9797979797979799", "123")).await;
    assert_eq!(read(&app, &card).await["brand"], "Unknown");
    assert_eq!(app.get("/v1/cards").await.expect(200)["items"][0]["brand"], "Unknown");
}

async fn a_card_is_linked_to_one_buyer(app: TestApp) {
    let ana = ana(&app).await;
    let bia = customer(&app, "bia@example.com", "72912053013").await;
    let card = app.card(APPROVED).await;
    let body = json!({ "cardId": card });
    let linked = app.post(&cards_of(&ana), &body).await;
    assert_eq!((linked.expect(204), linked.bytes), (Value::Null, Vec::new()));
    let before = read(&app, &card).await;
    app.clock.advance(Duration::from_secs(1));
    app.post(&cards_of(&ana), &body).await.expect(204);
    assert_eq!(read(&app, &card).await, before, "to link again changes nothing");
    let refused = app.post(&cards_of(&bia), &body).await;
    assert_eq!(refused.details(409), ["cardId is linked to another customer"]);
    assert_eq!(refused.json()["error"]["type"], "invalid_request_error");
    assert_eq!(app.get(&cards_of(&bia)).await.expect(200), json!([]));
    let trail = audit::of_object(&app.app.store, app.client_id(), card.parse().unwrap(), 10).await.unwrap();
    let actions: Vec<&str> = trail.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["card.linked", "card.created"], "one link, one trace");
}

async fn the_cards_of_a_buyer_are_a_bare_array_latest_link_first(app: TestApp) {
    let ana = ana(&app).await;
    assert_eq!(app.get(&cards_of(&ana)).await.expect(200), json!([]));
    let mut cards = Vec::new();
    for _ in 0..3 {
        cards.push(app.card(APPROVED).await);
    }
    for card in [&cards[2], &cards[0], &cards[1]] {
        app.clock.advance(Duration::from_secs(1));
        app.post(&cards_of(&ana), &json!({ "cardId": card })).await.expect(204);
    }
    let mut expected = Vec::new();
    for card in [&cards[1], &cards[0], &cards[2]] {
        let mut card = read(&app, card).await;
        card.as_object_mut().unwrap().remove("customer");
        expected.push(card);
    }
    assert_eq!(app.get(&cards_of(&ana)).await.expect(200), json!(expected));
    app.delete(&format!("/v1/cards/{}", cards[1])).await.expect(204);
    assert_eq!(app.get(&cards_of(&ana)).await.expect(200), json!(expected[1..]));
}

async fn links_are_checked(app: TestApp) {
    let (ana, card) = (ana(&app).await, app.card(APPROVED).await);
    for body in [json!({}), json!({ "cardId": "x" }), json!({ "cardId": null })] {
        assert!(app.post(&cards_of(&ana), &body).await.details(400)[0].starts_with("cardId "));
    }
    let unknown = "00000000-0000-4000-8000-000000000000";
    let no_card = app.post(&cards_of(&ana), &json!({ "cardId": unknown })).await;
    assert_eq!(no_card.details(404), ["cardId was not found"]);
    for customer in [unknown, "x"] {
        app.post(&cards_of(customer), &json!({ "cardId": card })).await.expect(404);
        app.get(&cards_of(customer)).await.expect(404);
    }
}

async fn a_deleted_card_is_gone(app: TestApp) {
    let card = app.card(APPROVED).await;
    let kept = app.card(APPROVED).await;
    let path = format!("/v1/cards/{card}");
    let deleted = app.delete(&path).await;
    assert_eq!((deleted.expect(204), deleted.bytes), (Value::Null, Vec::new()));
    app.get(&path).await.expect(404);
    app.delete(&path).await.expect(404);
    let page = app.get("/v1/cards").await.expect(200);
    assert_eq!((&page["items"][0]["id"], &page["meta"]["totalItems"]), (&json!(kept), &json!(1)));
    let ana = ana(&app).await;
    assert_eq!(
        app.post(&cards_of(&ana), &json!({ "cardId": card })).await.details(404),
        ["cardId was not found"]
    );
}

async fn bodies_are_checked(app: TestApp) {
    assert_eq!(app.post("/v1/cards", &json!({})).await.details(400), ["tokenId should not be empty"]);
    let wrong = json!({ "tokenId": "x", "merchantId": 1, "cvvCheck": "true",
        "zeroDollar": { "merchantId": "y", "cvvCheck": 0 } });
    let details = app.post("/v1/cards", &wrong).await.details(400);
    let paths: Vec<&str> = details.iter().map(|detail| detail.split_once(' ').unwrap().0).collect();
    assert_eq!(paths, ["tokenId", "merchantId", "cvvCheck", "zeroDollar.merchantId", "zeroDollar.cvvCheck"]);
    let unknown = json!({ "tokenId": "00000000-0000-4000-8000-000000000000" });
    assert_eq!(
        app.post("/v1/cards", &unknown).await.expect(400)["error"]["message"],
        "token not found or expired"
    );
    assert_eq!(total(&app).await, 0);
}

async fn another_clients_card_does_not_exist(app: TestApp) {
    let card = app.card(APPROVED).await;
    let other = app.another_client().await;
    let path = format!("/v1/cards/{card}");
    for (method, path) in [(Method::GET, &path), (Method::DELETE, &path)] {
        app.call(&other, method, path, &[], None).await.expect(404);
    }
    for id in ["x", &card[1..]] {
        app.get(&format!("/v1/cards/{id}")).await.expect(404);
    }
    let page = app.call(&other, Method::GET, "/v1/cards", &[], None).await.expect(200);
    assert_eq!((&page["items"], &page["meta"]["totalItems"]), (&json!([]), &json!(0)));
    assert_eq!(read(&app, &card).await["status"], "pending");
    let buyer = buyer("a@example.com", "97055503019");
    let theirs = app.call(&other, Method::POST, "/v1/customers", &[], Some(&buyer)).await.expect(201);
    let theirs = text(&theirs["id"]).to_owned();
    let link =
        app.call(&other, Method::POST, &cards_of(&theirs), &[], Some(&json!({ "cardId": card }))).await;
    assert_eq!(link.details(404), ["cardId was not found"]);
}

async fn public_keys_reach_what_their_scope_opens(app: TestApp) {
    let card = app.card(APPROVED).await;
    let path = format!("/v1/cards/{card}");
    let some = app.client_token(json!(["cards", "tokens"])).await;
    assert_eq!(app.call(&some, Method::GET, &path, &[], None).await.expect(200), read(&app, &card).await);
    app.call(&some, Method::GET, "/v1/cards", &[], None).await.expect(403);
    app.call(&some, Method::DELETE, &path, &[], None).await.expect(403);
    let all = app.client_token(json!(["*"])).await;
    app.call(&all, Method::GET, "/v1/cards", &[], None).await.expect(200);
    app.call(&all, Method::DELETE, &path, &[], None).await.expect(403);
    let none = app.client_token(json!(["charges"])).await;
    app.call(&none, Method::GET, &path, &[], None).await.expect(403);
}

async fn nothing_shows_the_number(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = app.post("/v1/tokens", &token_body(APPROVED)).await;
    let card = app.post("/v1/cards", &token.json()).await;
    let id = text(&card.json()["id"]).to_owned();
    let source = json!({ "sourceType": "card", "cardId": id, "cardCvv": "560" });
    let charge = app.post("/v1/charges", &Charge::by_source(&merchant, source).body()).await;
    let replies = [
        token,
        card,
        charge,
        app.get(&format!("/v1/cards/{id}")).await,
        app.get("/v1/cards").await,
        app.get("/v1/charges").await,
    ];
    for reply in replies {
        let body = String::from_utf8(reply.bytes).unwrap();
        assert!(!body.contains(&APPROVED.0[..8]) && !body.contains("Cvv\""), "{body}");
    }
}
