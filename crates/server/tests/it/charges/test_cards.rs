//! The published test cards (`docs/interface/sandbox.md#cards`), each charged at a merchant with one simulator.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{Charge, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::{newest, text};

stories! {
    every_published_test_card_does_what_its_column_says,
    a_seed_decides_what_is_left_to_chance,
    the_rules_hold_for_tokens_and_stored_cards_alike,
    digits_without_a_column_are_approved,
}

type Cards = [(&'static str, &'static str); 8];

/// In the order of the columns: authorized, unauthorized, timeout, authorized or timeout, blocked, canceled, expired,
/// invalid_cvv.
#[rustfmt::skip]
const TABLE: [(&str, Cards); 5] = [
    ("Mastercard", [("5214254988499590", "220"), ("5171407375927752", "300"), ("5402839904300856", "130"), ("5491266201550748", "260"),
        ("5521448129190195", "880"), ("5597251149584267", "340"), ("5462320441541663", "830"), ("5240675434648372", "231")]),
    ("Visa", [("4916745120294124", "560"), ("4916878170842862", "650"), ("4485401945979546", "600"), ("4556613630132678", "850"),
        ("4556684530238865", "440"), ("4485406132091427", "170"), ("4532552729063643", "660"), ("4716866286004545", "965")]),
    ("American Express", [("371511430434941", "6560"), ("346924402646172", "8460"), ("372763217194656", "3290"), ("379769909235288", "3240"),
        ("341033144189205", "4990"), ("342582504975297", "6820"), ("377134064055173", "6240"), ("340035263979895", "7552")]),
    ("Hipercard", [("6062829302997360", "980"), ("6062820734125142", "520"), ("6062828660520236", "970"), ("6062827833068438", "720"),
        ("6062825739079475", "530"), ("6062824159779557", "480"), ("6062820196712783", "840"), ("6062823576109778", "347")]),
    ("Diners", [("36757624613710", "490"), ("30306641444422", "900"), ("30308603779936", "540"), ("30392608411448", "410"),
        ("30089464740585", "180"), ("36176932295997", "660"), ("38955717860903", "230"), ("30383606498545", "138")]),
];

/// The columns that always fail: `requestStatus`, `declinedCode`, `retryable`, `networkDeniedReason`.
const FAILING: [(usize, &str, &str, bool, &str); 6] = [
    (1, "failed", "generic", true, "sandbox not authorized"),
    (2, "timeout", "issuer_not_available", true, "sandbox timeout"),
    (4, "failed", "restricted_card", true, "sandbox blocked card"),
    (5, "failed", "pickup_card", true, "sandbox canceled card"),
    (6, "failed", "expired_card", true, "sandbox expired card"),
    (7, "failed", "invalid_cvv", false, "sandbox invalid cvv"),
];
const RANDOM: usize = 3;

fn assert_failed(charge: &Value, (_, status, code, retryable, reason): (usize, &str, &str, bool, &str)) {
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("failed"), &json!(150)));
    assert_eq!(charge["responsibleProviderType"], "SANDBOX");
    let request = newest(charge);
    assert_eq!(request["requestStatus"], status);
    let error = &request["providerError"];
    assert_eq!(error["declinedCode"], code);
    assert_eq!(error["retryable"], retryable);
    assert_eq!(error["networkDeniedReason"], reason);
    assert_eq!(error["networkDeniedMessage"], error["message"]);
    assert!(!text(&error["message"]).is_empty());
}

async fn every_published_test_card_does_what_its_column_says(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (brand, cards) in TABLE {
        let charge = charged(&app, &charge_body(&merchant, cards[0])).await;
        assert_eq!(charge["status"], "authorized", "{brand}");
        assert!(newest(&charge).get("providerError").is_none());
        let card = text(&charge["paymentSource"]["cardId"]);
        assert_eq!(app.get(&format!("/v1/cards/{card}")).await.expect(200)["brand"], brand);
        for column in FAILING {
            assert_failed(&charged(&app, &charge_body(&merchant, cards[column.0])).await, column);
        }
        let charge = charged(&app, &charge_body(&merchant, cards[RANDOM])).await;
        match text(&charge["status"]) {
            "authorized" => {}
            _ => assert_failed(&charge, FAILING[1]),
        }
    }
}

async fn a_seed_decides_what_is_left_to_chance(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, TABLE[0].1[RANDOM]);
    let status = async |seed: &str| {
        let seed = [("X-Sandbox-Seed", seed)];
        let answer = app.call(&app.client, Method::POST, "/v1/charges", &seed, Some(&body)).await;
        text(&answer.expect(201)["status"]).to_owned()
    };
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..10 {
        let seed = format!("seed {seed}");
        let first = status(&seed).await;
        for _ in 0..2 {
            assert_eq!(status(&seed).await, first, "{seed}");
        }
        seen.insert(first);
    }
    assert_eq!(seen.len(), 2, "both outcomes happen");
    let too_long = "s".repeat(256);
    let answer = app
        .call(&app.client, Method::POST, "/v1/charges", &[("X-Sandbox-Seed", &too_long)], Some(&body))
        .await;
    assert!(answer.details(400)[0].starts_with("X-Sandbox-Seed "));
}

async fn the_rules_hold_for_tokens_and_stored_cards_alike(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cards = TABLE[1].1;
    for column in FAILING {
        let token = app.card_token(cards[column.0]).await;
        let mut body = Charge::by_card(&merchant, cards[0])
            .with("paymentSource", json!({ "sourceType": "token", "tokenId": token }))
            .body();
        assert_failed(&charged(&app, &body).await, column);
        let card = app.card(cards[column.0]).await;
        body["paymentSource"] = json!({ "sourceType": "card", "cardId": card, "cardCvv": cards[column.0].1 });
        assert_failed(&charged(&app, &body).await, column);
    }
}

async fn digits_without_a_column_are_approved(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for number in ["4929564637987814", "4111111111111111", "6011111111111117", "4000000000000069"] {
        let expected = if number.ends_with('7') { "failed" } else { "authorized" };
        let charge = charged(&app, &charge_body(&merchant, (number, "320"))).await;
        assert_eq!(charge["status"], expected, "{number}");
    }
}
