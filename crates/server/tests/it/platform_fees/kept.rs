//! What the platform keeps of charges that are divided among sellers, and what the books say of it.

use serde_json::{Value, json};

use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{capture, void};
use crate::support::platform_fees::{keep, path};
use crate::support::read::text;
use crate::support::sessions::{by_card, by_pix, create, pay, session_body};
use crate::support::splits::books::{alike, in_books};
use crate::support::splits::{divided, shop};

stories! {
    the_fee_is_that_of_the_method_and_the_installments,
    what_is_captured_and_given_back_moves_the_fee,
    a_fee_that_leaves_nothing_is_refused,
    a_session_pays_the_fee_of_what_its_buyer_chooses,
}

fn halves(sellers: &[Value; 2]) -> Value {
    json!([{ "sellerId": sellers[0]["id"], "percentage": 50 }, { "sellerId": sellers[1]["id"], "percentage": 25 }])
}

/// What the platform has earned, by the books.
async fn earned(app: &TestApp) -> i64 {
    let found = app.get("/v1/ledger/balances?purpose=platform_fee").await.expect(200);
    found["items"][0]["balance"].as_i64().unwrap_or(0)
}

async fn the_fee_is_that_of_the_method_and_the_installments(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "paymentMethod": "credit", "percentage": 10, "fixedAmount": 5, "installment": 1 },
        { "paymentMethod": "credit", "percentage": 3.5, "installment": 6 },
        { "paymentMethod": "pix", "fixedAmount": 50 },
        { "paymentMethod": "boleto", "percentage": 1, "fixedAmount": 100 },
        { "paymentMethod": "default", "percentage": 0.25 },
    ]);
    let made = keep(&app, &merchant, &rules).await;
    let by_credit = |installments: u8| {
        let mut body = charge_body(&merchant, APPROVED);
        (body["paymentMethod"]["installments"], body["capture"]) = (json!(installments), json!(true));
        body
    };
    let mut by_voucher = by_credit(1);
    by_voucher["paymentMethod"] = json!({ "paymentType": "voucher" });
    let jose = || described(jose());
    // Half a cent is rounded up: 3.5 % of 1001 are 35.035, and 0.25 % of 1001 are 2.5025; 0.25 % of 1000 are 2.5.
    for (mut body, rule, amount, fee) in [
        (by_credit(1), 0, 1001, 105),
        (by_credit(2), 1, 1001, 35),
        (by_credit(7), 4, 1000, 3),
        (by_voucher, 4, 1001, 3),
        (pix_body(&merchant, jose()), 2, 1001, 50),
        (boleto_body(&merchant, jose()), 3, 1001, 110),
    ] {
        body["amount"] = json!(amount);
        // A charge that is not divided leaves the platform nothing.
        assert_eq!(app.post("/v1/charges", &body).await.expect(201).get("platformFee"), None);
        body["splitRules"] = halves(&sellers);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let mut expected =
            json!({ "ruleId": made[rule]["id"], "amount": fee, "appliedAt": charge["createdAt"] });
        for name in ["percentage", "fixedAmount", "paymentMethod", "installment"] {
            expected[name] = made[rule][name].clone();
        }
        assert_eq!(charge["platformFee"], expected, "{body:#}");
        let id = text(&charge["id"]);
        if charge["status"] == "pending" {
            app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(200);
        }
        let room = amount - fee;
        let [half, quarter] = [in_books(&app, id).await[0], in_books(&app, id).await[1]];
        assert!(
            (half - room / 2).abs() <= 1 && (quarter - room / 4).abs() <= 1,
            "{half} {quarter} of {room}"
        );
        alike(&app, id).await;
    }
    assert_eq!(earned(&app).await, 105 + 35 + 3 + 3 + 50 + 110);

    // What was applied stays, whatever becomes of the rules.
    let body = divided(&merchant, 1000, &halves(&sellers));
    let charge = app.post("/v1/charges", &body).await.expect(201);
    app.delete(&format!("{}/{}", path(&merchant), text(&made[0]["id"]))).await.expect(204);
    let seen = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!((&seen["platformFee"], &seen["platformFee"]["amount"]), (&charge["platformFee"], &json!(105)));
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["platformFee"]["ruleId"], made[4]["id"]);
    app.patch(&format!("{}/enabled", path(&merchant)), &json!({ "enabled": false })).await.expect(200);
    assert_eq!(app.post("/v1/charges", &body).await.expect(201).get("platformFee"), None);
    ledger_is_right(&app).await;
}

async fn what_is_captured_and_given_back_moves_the_fee(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([{ "paymentMethod": "credit", "percentage": 10, "fixedAmount": 20, "installment": 1 }]);
    keep(&app, &merchant, &rules).await;
    let mut body = divided(&merchant, 1000, &halves(&sellers));
    body["capture"] = json!(false);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let id = text(&charge["id"]);
    assert_eq!((&charge["platformFee"]["amount"], earned(&app).await), (&json!(120), 0));
    // 20 and a tenth of 480: 68. Of the other 412 the sellers have 206 and 103.
    let captured = capture(&app, id, json!({ "amount": 480 })).await.expect(201);
    assert_eq!((&captured["platformFee"]["amount"], earned(&app).await), (&json!(68), 68));
    assert_eq!(in_books(&app, id).await, [206, 103]);
    // A quarter of everything goes back: 17 of the fee.
    let refunded = void(&app, id, json!({ "amount": 120 })).await.expect(201);
    assert_eq!((&refunded["platformFee"]["amount"], earned(&app).await), (&json!(68), 51));
    // As a caller says: the seller gives 60 of 90, the platform its part of the 90, 13, and the merchant the rest.
    let given = json!({ "amount": 90, "splitRules": [{ "sellerId": sellers[0]["id"], "amount": 60 }] });
    void(&app, id, given).await.expect(201);
    assert_eq!(earned(&app).await, 38);
    alike(&app, id).await;
    void(&app, id, json!({})).await.expect(201);
    assert_eq!(earned(&app).await, 0);

    let entries = app.get(&format!("/v1/ledger/entries?sort=asc&purpose=platform_fee&sourceId={id}")).await;
    let entries = entries.expect(200);
    let told: Vec<Value> = entries["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| json!([entry["movement"], entry["debit"], entry["credit"], entry["amount"]]))
        .collect();
    let back = |amount: i64| json!(["refund", "platform_fee", "provider_receivable", amount]);
    let taken = json!(["capture", "provider_receivable", "platform_fee", 68]);
    assert_eq!(told, [taken, back(17), back(13), back(38)]);

    // A reservation that is lowered keeps its proportions: 96 of 800, and 48 of the 400 that are captured.
    let lowered = text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned();
    void(&app, &lowered, json!({ "amount": 200 })).await.expect(201);
    let captured = capture(&app, &lowered, json!({ "amount": 400 })).await.expect(201);
    assert_eq!((&captured["platformFee"]["amount"], earned(&app).await), (&json!(48), 48));
    let refunded = void(&app, &lowered, json!({ "amount": 100 })).await.expect(201);
    assert_eq!((&refunded["platformFee"]["amount"], earned(&app).await), (&json!(48), 36));
    ledger_is_right(&app).await;
}

async fn a_fee_that_leaves_nothing_is_refused(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "paymentMethod": "credit", "fixedAmount": 150, "installment": 3 }, { "paymentMethod": "pix", "percentage": 1 }
    ]);
    let made = keep(&app, &merchant, &rules).await;
    let refused = |reply: Value| {
        assert_eq!(
            reply["error"],
            json!({ "type": "bad_request", "code": 422, "details": [],
                "message": "Calculated platform fee must be less than the link total amount.",
                "businessCode": "platform_fee_exceeds_link_amount" })
        );
    };
    let mut body = divided(&merchant, 150, &halves(&sellers));
    body["paymentMethod"]["installments"] = json!(2);
    refused(app.post("/v1/charges", &body).await.expect(422));
    body["amount"] = json!(151);
    (body["capture"], body["splitRules"]) =
        (json!(false), json!([{ "sellerId": sellers[0]["id"], "amount": 2 }]));
    let said = app.post("/v1/charges", &body).await.details(400);
    assert_eq!(said, ["splitRules must not give the sellers more than 1 together"]);
    body["splitRules"][0]["amount"] = json!(1);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    refused(capture(&app, text(&charge["id"]), json!({ "amount": 150 })).await.expect(422));
    assert_eq!(capture(&app, text(&charge["id"]), json!({})).await.expect(201)["status"], "authorized");

    // A session offers three installments, and so the fee of them; one alone has none.
    let mut session = session_body(&merchant);
    session["splitRules"] = halves(&sellers);
    refused(app.post("/v1/sessions", &session).await.expect(422));
    session["paymentMethods"][0]["installments"] = json!(1);
    create(&app, &session).await;
    session.as_object_mut().unwrap().remove("splitRules");
    session["paymentMethods"][0]["installments"] = json!(3);
    let plain = create(&app, &session).await;
    let at = format!("/v1/sessions/{}", text(&plain["id"]));
    let change = json!({ "isActive": true, "splitRules": halves(&sellers) });
    refused(app.patch(&at, &change).await.expect(422));
    // The fee of a payment is that of its time.
    let rule = format!("{}/{}", path(&merchant), text(&made[0]["id"]));
    app.delete(&rule).await.expect(204);
    app.patch(&at, &change).await.expect(200);
    app.post(&path(&merchant), &json!([rules[0]])).await.expect(201);
    let mut paying = by_card(APPROVED);
    paying["paymentMethod"]["installments"] = json!(3);
    refused(pay(&app, &plain, &paying).await.expect(422));
    assert_eq!(pay(&app, &plain, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}

async fn a_session_pays_the_fee_of_what_its_buyer_chooses(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "paymentMethod": "credit", "percentage": 10, "installment": 1 },
        { "paymentMethod": "credit", "percentage": 20, "installment": 2 },
        { "paymentMethod": "pix", "fixedAmount": 7 },
    ]);
    let made = keep(&app, &merchant, &rules).await;
    let mut body = session_body(&merchant);
    (body["splitRules"], body["maxPayments"]) = (halves(&sellers), json!(-1));
    let session = create(&app, &body).await;
    assert_eq!(session.get("platformFee"), None);
    let mut in_three = by_card(APPROVED);
    in_three["paymentMethod"]["installments"] = json!(3);
    for (paying, rule, fee) in [(by_card(APPROVED), 0, 15), (in_three, 1, 30), (by_pix(), 2, 7)] {
        let charge = pay(&app, &session, &paying).await.expect(201);
        let kept = &charge["platformFee"];
        assert_eq!((&kept["ruleId"], &kept["amount"]), (&made[rule]["id"], &json!(fee)));
        assert_eq!(charge["splitRules"].as_array().unwrap().len(), 2);
    }
    assert_eq!(earned(&app).await, 45, "the Pix is not paid yet");
}
