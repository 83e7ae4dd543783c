//! Charges by voucher (`docs/interface/charges.md#payment-methods`): the simulator decides them by the card's number, and
//! they are captured at once.

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, TIMED_OUT, WRONG_CVV, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::Reply;
use crate::support::read::{newest, text};

stories! {
    the_number_of_a_voucher_decides,
    a_voucher_is_paid_with_an_inline_card_a_token_or_a_stored_card,
    a_voucher_is_given_back_in_parts,
    a_refund_that_the_provider_refuses_changes_nothing,
    a_voucher_is_never_captured_by_hand,
    the_buyer_of_a_voucher_has_known_members,
}

fn by_voucher(body: Value) -> Value {
    let mut body = body;
    body["paymentMethod"] = json!({ "paymentType": "voucher" });
    body
}

async fn void(app: &TestApp, charge: &Value, body: Value) -> Reply {
    app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &body).await
}

async fn the_number_of_a_voucher_decides(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (card, status, code) in [
        (APPROVED, "authorized", Value::Null),
        (BLOCKED, "failed", json!("restricted_card")),
        (TIMED_OUT, "failed", json!("issuer_not_available")),
        (WRONG_CVV, "failed", json!("invalid_cvv")),
    ] {
        let charge = charged(&app, &by_voucher(charge_body(&merchant, card))).await;
        assert_eq!(
            (&charge["status"], &newest(&charge)["requestType"]),
            (&json!(status), &json!("authorization"))
        );
        assert_eq!(newest(&charge)["providerError"]["declinedCode"], code);
    }
}

async fn a_voucher_is_paid_with_an_inline_card_a_token_or_a_stored_card(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = json!({ "sourceType": "token", "tokenId": app.card_token(APPROVED).await });
    let stored = json!({ "sourceType": "card", "cardId": app.card(APPROVED).await });
    for source in [charge_body(&merchant, APPROVED)["paymentSource"].clone(), token, stored] {
        let charge = charged(&app, &by_voucher(Charge::by_source(&merchant, source).body())).await;
        assert_eq!(
            (&charge["status"], &charge["paymentSource"]["sourceType"]),
            (&json!("authorized"), &json!("card"))
        );
    }
}

async fn a_voucher_is_given_back_in_parts(app: TestApp) {
    let charge = charged(&app, &by_voucher(charge_body(&app.merchant().await, APPROVED))).await;
    for (amount, status, rest) in [(50, "authorized", 100), (30, "authorized", 70), (70, "voided", 0)] {
        let refused = void(&app, &charge, json!({ "amount": rest + amount + 1 })).await.expect(422);
        assert_eq!(refused["error"]["type"], "unprocessable_entity");
        let charge = void(&app, &charge, json!({ "amount": amount })).await.expect(201);
        assert_eq!((&charge["status"], &charge["amount"]), (&json!(status), &json!(rest)));
        let request = newest(&charge);
        assert_eq!(
            (&request["requestType"], &request["requestStatus"], &request["amount"]),
            (&json!("void"), &json!("success"), &json!(amount))
        );
    }
    let error = void(&app, &charge, json!({})).await.expect(400);
    assert_eq!(error["error"]["message"], "charge cannot be voided in status voided");
}

async fn a_refund_that_the_provider_refuses_changes_nothing(app: TestApp) {
    let mut body = by_voucher(charge_body(&app.merchant().await, APPROVED));
    body["amount"] = json!(1000);
    let charge = charged(&app, &body).await;
    let charge = void(&app, &charge, json!({ "amount": 991 })).await.expect(201);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("authorized"), &json!(1000)));
    assert_eq!(newest(&charge)["requestStatus"], "failed");
}

async fn a_voucher_is_never_captured_by_hand(app: TestApp) {
    let mut body = by_voucher(charge_body(&app.merchant().await, APPROVED));
    body["capture"] = json!(false);
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized");
    let path = format!("/v1/charges/{}/capture", text(&charge["id"]));
    let error = app.post(&path, &json!({})).await.expect(400);
    assert_eq!(error["error"]["type"], "invalid_request_error");
}

async fn the_buyer_of_a_voucher_has_known_members(app: TestApp) {
    let mut body = by_voucher(charge_body(&app.merchant().await, APPROVED));
    let buyer = json!({
        "name": "Jose", "email": "jose@example.com", "phone": "21988899909", "identityType": "cpf",
        "identity": "11111111111", "billingAddress": { "city": "Recife" }, "nickname": 7
    });
    body["paymentMethod"]["customer"] = buyer.clone();
    assert_eq!(charged(&app, &body).await["paymentMethod"]["customer"].to_string(), buyer.to_string());
    for member in ["name", "email", "phone", "identityType", "identity", "billingAddress"] {
        body["paymentMethod"]["customer"] = json!({ member: 7 });
        let details = app.post("/v1/charges", &body).await.details(400);
        let expected = format!("paymentMethod.customer.{member} must be ");
        assert!(details.len() == 1 && details[0].starts_with(&expected), "{details:?}");
    }
}
