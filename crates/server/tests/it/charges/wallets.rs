//! Charges by wallet (`docs/interface/charges.md#wallets`): an Apple Pay token is opened, checked and paid with once; a
//! checkout of Click to Pay is passed on.

use std::time::Duration;

use axum::http::Method;
use regente_store::{args, sql};
use regente_wallets::apple_pay::test_keys::Purchase;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::providers::sandbox;
use crate::support::read::{newest, text};
use crate::support::wallets::{DEVICE_ACCOUNT_NUMBER, by_apple_pay, by_click_to_pay, open_shop, purchase};

stories! {
    an_apple_pay_token_is_charged_and_comes_back_as_it_was_sent,
    a_wallet_is_reserved_captured_and_given_back,
    the_charge_must_be_what_the_payer_confirmed,
    a_token_that_is_wrong_is_refused_by_its_member,
    a_token_is_refused_after_some_minutes,
    a_payment_is_made_once,
    a_repeated_key_is_answered_after_the_token_has_expired,
    one_of_two_charges_with_the_same_token_is_made,
    payments_are_forgotten_when_their_tokens_are_too_old,
    a_wallet_goes_on_to_the_next_provider,
    a_token_belongs_to_one_account,
    every_opening_is_recorded,
    a_checkout_of_click_to_pay_is_charged,
    a_checkout_pays_once,
    a_checkout_is_remembered_for_a_year,
    a_wallet_has_a_source_of_its_own,
}

sql! {
    PAYMENTS = "SELECT COUNT(*) AS n FROM wallet_payments WHERE client_id = :client_id";
    OPENINGS = "SELECT COUNT(*) AS n FROM audit WHERE client_id = :client_id AND action = :action";
}

const PAID_BEFORE: &str =
    "paymentSource.paymentData was used by an earlier charge: a wallet's payment is made once";
const CHECKED_OUT_BEFORE: &str =
    "paymentSource.walletClickToPay was used by an earlier charge: a wallet's payment is made once";

async fn payments(app: &TestApp) -> i64 {
    let row = app.app.store.row(&PAYMENTS, args! { client_id: app.client_id() }).await.unwrap().unwrap();
    row.get("n").unwrap()
}

async fn openings(app: &TestApp) -> i64 {
    while app.app.in_flight.tasks() > 0 {
        tokio::task::yield_now().await;
    }
    let args = args! { client_id: app.client_id(), action: "wallet_payment.opened" };
    app.app.store.row(&OPENINGS, args).await.unwrap().unwrap().get("n").unwrap()
}

async fn refused(app: &TestApp, body: &Value) -> Vec<String> {
    app.post("/v1/charges", body).await.details(400)
}

async fn an_apple_pay_token_is_charged_and_comes_back_as_it_was_sent(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let mut body = shop.charge(&app, &single_merchant(&app).await);
    body["paymentMethod"]["installments"] = json!(3);
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized", "wallets are approved whatever their number");
    assert_eq!(charge["paymentMethod"], json!({ "paymentType": "apple_pay", "installments": 3 }));
    assert_eq!(charge["paymentSource"].to_string(), body["paymentSource"].to_string());
    let request = newest(&charge);
    assert_eq!(
        (&request["requestType"], &request["tokenizedPayment"]),
        (&json!("authorization"), &json!(true))
    );
    assert_eq!(text(&request["authorizationCode"]).len(), 7);
    assert!(!charge.to_string().contains(DEVICE_ACCOUNT_NUMBER));
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read.to_string(), charge.to_string());
    assert_eq!(app.get("/v1/cards").await.expect(200)["items"], json!([]), "no card is stored");
}

async fn a_wallet_is_reserved_captured_and_given_back(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    for mut body in [shop.charge(&app, &merchant), by_click_to_pay(&merchant)] {
        body["capture"] = json!(false);
        let charge = charged(&app, &body).await;
        let is_tokenized = newest(&charge)["tokenizedPayment"].clone();
        assert_eq!(
            (&charge["status"], &newest(&charge)["requestType"]),
            (&json!("pre_authorized"), &json!("pre_authorization"))
        );
        let path = format!("/v1/charges/{}", text(&charge["id"]));
        let charge = app.post(&format!("{path}/capture"), &json!({ "amount": 100 })).await.expect(201);
        assert_eq!((&charge["status"], &charge["amount"]), (&json!("authorized"), &json!(100)));
        let charge = app.post(&format!("{path}/void"), &json!({ "amount": 30 })).await.expect(201);
        assert_eq!((&charge["status"], &charge["amount"]), (&json!("authorized"), &json!(70)));
        let charge = app.post(&format!("{path}/void"), &json!({})).await.expect(201);
        assert_eq!((&charge["status"], &charge["amount"]), (&json!("voided"), &json!(0)));
        for request in charge["transactionRequests"].as_array().unwrap() {
            assert_eq!(request["tokenizedPayment"], is_tokenized, "{request}");
        }
        let error = app.post(&format!("{path}/void"), &json!({})).await.expect(400);
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
}

async fn the_charge_must_be_what_the_payer_confirmed(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    let mut body = by_apple_pay(&merchant, shop.token(&app, 151));
    assert_eq!(
        refused(&app, &body).await,
        ["amount must be the amount that the payer has confirmed to the wallet"]
    );
    body["amount"] = json!(151);
    body["currency"] = json!("USD");
    assert_eq!(
        refused(&app, &body).await,
        ["currency must be the currency that the payer has confirmed to the wallet"]
    );
    body["currency"] = json!("BRL");
    assert_eq!(charged(&app, &body).await["status"], "authorized", "nothing was made of the refused ones");
    let dollars = Purchase { currency_number: 840, ..purchase(&app, 150) };
    let mut body = by_apple_pay(&merchant, shop.token_for(&app, &dollars));
    body["currency"] = json!("USD");
    assert_eq!(charged(&app, &body).await["status"], "authorized");
}

/// What is wrong about a token.
type Change<'a> = &'a dyn Fn(&mut Value);

async fn a_token_that_is_wrong_is_refused_by_its_member(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    let other = shop.token(&app, 150);
    let wrong: [(&str, Change<'_>, &str); 8] = [
        ("version", &|token| token["version"] = json!("RSA_v1"), "must be `EC_v1`"),
        ("data", &|token| token["data"] = json!("%"), "must be base64"),
        ("signature", &|token| token["data"] = other["data"].clone(), "does not belong to this token"),
        ("signature", &|token| token["signature"] = json!("AAAA"), "must be a detached CMS signature"),
        (
            "header.transactionId",
            &|token| token["header"]["transactionId"] = json!("x"),
            "must be hexadecimal",
        ),
        (
            "header.publicKeyHash",
            &|token| token["header"]["publicKeyHash"] = json!("A".repeat(43) + "="),
            "names none of the account's Apple Pay keys",
        ),
        ("data", &|token| drop(token.as_object_mut().unwrap().remove("data")), "should not be empty"),
        ("header.ephemeralPublicKey", &|token| token["header"] = json!({}), "should not be empty"),
    ];
    for (member, change, rule) in wrong {
        let mut token = shop.token(&app, 150);
        change(&mut token);
        let details = refused(&app, &by_apple_pay(&merchant, token)).await;
        let expected = format!("paymentSource.paymentData.{member} {rule}");
        assert!(details.len() == 1 && details[0].starts_with(&expected), "{expected}: {details:?}");
    }
    let stranger = Purchase { device_account_number: "4895370012003471", ..purchase(&app, 150) };
    let details = refused(&app, &by_apple_pay(&merchant, shop.token_for(&app, &stranger))).await;
    assert_eq!(
        details,
        ["paymentSource.paymentData.data must contain a valid `applicationPrimaryAccountNumber`"],
        "its check digit is wrong"
    );
    assert_eq!(app.get("/v1/charges").await.expect(200)["items"], json!([]));
    assert_eq!(payments(&app).await, 0);
}

async fn a_token_is_refused_after_some_minutes(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    let [first, second] = [shop.charge(&app, &merchant), shop.charge(&app, &merchant)];
    app.clock.advance(Duration::from_secs(299));
    charged(&app, &first).await;
    app.clock.advance(Duration::from_secs(2));
    assert_eq!(
        refused(&app, &second).await,
        ["paymentSource.paymentData.signature was made too long ago: a token must be used at once"]
    );
}

async fn a_payment_is_made_once(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let body = shop.charge(&app, &single_merchant(&app).await);
    charged(&app, &body).await;
    assert_eq!(refused(&app, &body).await, [PAID_BEFORE]);
    let mut same = body.clone();
    same["paymentSource"]["paymentData"]["header"].as_object_mut().unwrap().remove("publicKeyHash");
    assert_eq!(refused(&app, &same).await, [PAID_BEFORE], "what is not signed does not make another payment");
}

async fn a_repeated_key_is_answered_after_the_token_has_expired(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let body = shop.charge(&app, &single_merchant(&app).await);
    let first = app.post_with_key("/v1/charges", "key", &body).await;
    first.expect(201);
    app.clock.advance(Duration::from_secs(3600));
    let again = app.post_with_key("/v1/charges", "key", &body).await;
    assert_eq!((again.header("idempotent-replayed"), &again.bytes), (Some("true"), &first.bytes));
}

async fn one_of_two_charges_with_the_same_token_is_made(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    for _ in 0..4 {
        let body = shop.charge(&app, &merchant);
        let before = app.books.entries().await.unwrap().len();
        let posts = (0..8).map(|_| app.post("/v1/charges", &body));
        let replies = futures_util::future::join_all(posts).await;
        let made = replies.iter().filter(|reply| reply.status == 201).count();
        assert_eq!(made, 1);
        for reply in replies.iter().filter(|reply| reply.status != 201) {
            assert_eq!(reply.details(400), [PAID_BEFORE]);
        }
        assert_eq!(app.books.entries().await.unwrap().len(), before + 1);
    }
}

async fn payments_are_forgotten_when_their_tokens_are_too_old(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    charged(&app, &shop.charge(&app, &single_merchant(&app).await)).await;
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(payments(&app).await, 1);
    app.later(Duration::from_secs(25 * 60 * 60)).await;
    assert_eq!(payments(&app).await, 0);
}

async fn a_wallet_goes_on_to_the_next_provider(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = app.fallback_merchant().await;
    for body in [shop.charge(&app, &merchant), by_click_to_pay(&merchant)] {
        let charge = charged(&app, &body).await;
        assert_eq!(
            (&charge["status"], charge["transactionRequests"].as_array().unwrap().len()),
            (&json!("authorized"), 2)
        );
    }
}

async fn a_token_belongs_to_one_account(app: TestApp) {
    let body = by_apple_pay(&single_merchant(&app).await, json!({}));
    let (app, shop) = open_shop(app).await;
    let token = shop.token(&app, 150);
    let other = app.another_client().await;
    let merchant = json!({ "mcc": "5812", "name": "Loja", "providers": [sandbox("Only", 1)] });
    let merchant = app.call(&other, Method::POST, "/v1/merchants", &[], Some(&merchant)).await.expect(201);
    let mut stolen = body.clone();
    stolen["merchantId"] = merchant["id"].clone();
    stolen["paymentSource"]["paymentData"] = token.clone();
    let error = app.call(&other, Method::POST, "/v1/charges", &[], Some(&stolen)).await.expect(400);
    assert_eq!(error["error"]["message"], "no Apple Pay key is configured for this account");
    let mut own = body;
    own["paymentSource"]["paymentData"] = token;
    charged(&app, &own).await;
}

async fn every_opening_is_recorded(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    charged(&app, &shop.charge(&app, &merchant)).await;
    assert_eq!(openings(&app).await, 1);
    refused(&app, &by_apple_pay(&merchant, shop.token(&app, 151))).await;
    assert_eq!(openings(&app).await, 2, "also when the charge is refused");
    let mut closed = shop.token(&app, 150);
    closed["data"] = json!("AAAA");
    refused(&app, &by_apple_pay(&merchant, closed)).await;
    assert_eq!(openings(&app).await, 2, "nothing was opened");
}

async fn a_checkout_of_click_to_pay_is_charged(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = by_click_to_pay(&merchant);
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["paymentMethod"], json!({ "paymentType": "click_to_pay", "installments": 2 }));
    assert_eq!(charge["paymentSource"].to_string(), body["paymentSource"].to_string());
    assert_eq!(newest(&charge)["tokenizedPayment"], false, "the provider fetches the card");
    for member in ["dpaId", "correlationId", "flowId", "merchantTransactionId"] {
        let mut body = body.clone();
        body["paymentSource"]["walletClickToPay"].as_object_mut().unwrap().remove(member);
        let details = refused(&app, &body).await;
        assert_eq!(details, [format!("paymentSource.walletClickToPay.{member} should not be empty")]);
    }
    let mut body = body.clone();
    body["paymentSource"]["walletPayment"] = json!("debit");
    let details = refused(&app, &body).await;
    assert!(details[0].starts_with("paymentSource.walletPayment must be one of"), "{details:?}");
}

async fn a_checkout_pays_once(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = by_click_to_pay(&merchant);
    let posts = (0..5).map(|_| app.post("/v1/charges", &body));
    let replies = futures_util::future::join_all(posts).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        assert_eq!(reply.details(400), [CHECKED_OUT_BEFORE]);
    }
    let mut priced = body.clone();
    priced["amount"] = json!(151);
    assert_eq!(refused(&app, &priced).await, [CHECKED_OUT_BEFORE], "whatever is charged by it");
    for member in ["dpaId", "correlationId", "flowId", "merchantTransactionId"] {
        let mut other = body.clone();
        other["paymentSource"]["walletClickToPay"][member] = json!("another");
        assert_eq!(charged(&app, &other).await["status"], "authorized", "{member}");
    }
    let mut moved = body.clone();
    moved["paymentSource"]["walletClickToPay"]["flowId"] = json!("flow-2o");
    moved["paymentSource"]["walletClickToPay"]["merchantTransactionId"] = json!("rder-3");
    assert_eq!(charged(&app, &moved).await["status"], "authorized", "it is another checkout");
}

async fn a_checkout_is_remembered_for_a_year(app: TestApp) {
    let body = by_click_to_pay(&single_merchant(&app).await);
    charged(&app, &body).await;
    app.later(Duration::from_secs(365 * 24 * 60 * 60)).await;
    assert_eq!(refused(&app, &body).await, [CHECKED_OUT_BEFORE]);
    app.later(Duration::from_secs(36 * 24 * 60 * 60)).await;
    assert_eq!(payments(&app).await, 0);
}

async fn a_wallet_has_a_source_of_its_own(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = single_merchant(&app).await;
    let card = charge_body(&merchant, APPROVED)["paymentSource"].clone();
    for mut body in [shop.charge(&app, &merchant), by_click_to_pay(&merchant)] {
        let wallet = body["paymentSource"].clone();
        body["paymentSource"] = card.clone();
        let details = refused(&app, &body).await;
        assert!(details[0].starts_with("paymentSource.sourceType must be one of"), "{details:?}");
        body["paymentSource"] = wallet;
        body["threeDSecure2"] = json!({ "dataOnly": true });
        let details = refused(&app, &body).await;
        assert!(
            details.contains(&"threeDSecure2 must be absent for this paymentType".to_owned()),
            "{details:?}"
        );
    }
    let mut mixed = shop.charge(&app, &merchant);
    mixed["paymentMethod"]["paymentType"] = json!("click_to_pay");
    assert_eq!(refused(&app, &mixed).await, ["paymentSource.walletClickToPay should not be empty"]);
}
