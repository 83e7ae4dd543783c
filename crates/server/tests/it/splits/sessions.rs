//! Sessions whose charges are divided among sellers (`docs/interface/sessions.md#split`).

use axum::http::Method;
use serde_json::{Value, json};

use super::by_percentage;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::read::text;
use crate::support::sessions::{by_card, by_pix, create, history, pay, read, session_body};
use crate::support::splits::books::in_books;
use crate::support::splits::shop;

stories! {
    a_session_keeps_its_rules_and_divides_its_charges,
    a_session_whose_sellers_are_gone_is_not_charged,
}

async fn a_session_keeps_its_rules_and_divides_its_charges(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let mut body = session_body(&merchant);
    body["splitRules"] = by_percentage(&sellers);
    body["maxPayments"] = json!(-1);
    let session = create(&app, &body).await;
    let rule = &session["splitRules"][0];
    assert_eq!((&rule["sellerId"], &rule["percentage"]), (&sellers[0]["id"], &json!(33)));
    assert_eq!(read(&app, &session).await["splitRules"], session["splitRules"]);

    // What a buyer sends is ignored.
    let mut payment = by_card(APPROVED);
    payment["splitRules"] = json!([{ "sellerId": sellers[0]["id"], "percentage": 100 }]);
    let charge = pay(&app, &session, &payment).await.expect(201);
    assert_eq!(charge["splitRules"][1]["percentage"], 33);
    assert_ne!(charge["splitRules"][0]["id"], rule["id"], "the rules of the charge are its own");
    assert_eq!(in_books(&app, text(&charge["id"])).await, [50, 49]);
    let charge = pay(&app, &session, &by_pix()).await.expect(201);
    assert_eq!((&charge["status"], charge["splitRules"].as_array().unwrap().len()), (&json!("pending"), 2));

    let path = format!("/v1/sessions/{}", text(&session["id"]));
    let change = |rules: Value| json!({ "isActive": true, "splitRules": rules });
    let by_amount = json!([{ "sellerId": sellers[1]["id"], "amount": 150 }]);
    app.patch(&path, &change(by_amount)).await.expect(200);
    let changed = read(&app, &session).await;
    assert_eq!(changed["splitRules"][0]["amount"], 150);
    let entries = app.get(&format!("{path}/history")).await.expect(200);
    assert_eq!(entries[0]["action"], "splitRulesChanged");
    assert_eq!(
        entries[0]["diff"]["changes"]["splitRules"],
        json!({
            "from": [{ "sellerId": sellers[0]["id"], "percentage": 33 }, { "sellerId": sellers[1]["id"], "percentage": 33 }],
            "to": [{ "sellerId": sellers[1]["id"], "amount": 150 }],
        })
    );
    // The same once more, and none.
    let entries = history(&app, &session).await.len();
    app.patch(&path, &change(json!([{ "sellerId": sellers[1]["id"], "amount": 150 }]))).await.expect(200);
    assert_eq!(history(&app, &session).await.len(), entries);
    app.patch(&path, &change(Value::Null)).await.expect(200);
    assert!(read(&app, &session).await.get("splitRules").is_none());

    // Both are checked when the rules are made.
    for (rules, detail) in [
        (
            json!([{ "sellerId": sellers[0]["id"], "amount": 151 }]),
            "splitRules must not give the sellers more than 150 together".to_owned(),
        ),
        (json!([{ "sellerId": merchant, "amount": 1 }]), format!("seller {merchant} was not found")),
    ] {
        assert_eq!(
            app.patch(&path, &change(rules.clone())).await.details(400),
            std::slice::from_ref(&detail)
        );
        body["splitRules"] = rules;
        assert_eq!(app.post("/v1/sessions", &body).await.details(400), [detail]);
    }
}

async fn a_session_whose_sellers_are_gone_is_not_charged(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let mut body = session_body(&merchant);
    body["splitRules"] = by_percentage(&sellers);
    let session = create(&app, &body).await;
    let path = |seller: &Value| format!("/v1/sellers/{}", text(&seller["id"]));
    let status = async |status: &str| {
        app.patch(&path(&sellers[1]), &json!({ "status": status })).await.expect(200);
    };
    status("inactive").await;
    let refused = pay(&app, &session, &by_card(APPROVED)).await.expect(422);
    let detail = format!("seller {} is inactive", text(&sellers[1]["id"]));
    assert_eq!(
        (&refused["error"]["type"], &refused["error"]["details"]),
        (&json!("invalid_request_error"), &json!([detail]))
    );
    status("active").await;
    let merchant = json!({ "merchantId": merchant });
    app.call(&app.client, Method::DELETE, &path(&sellers[0]), &[], Some(&merchant)).await.expect(204);
    let refused = pay(&app, &session, &by_card(APPROVED)).await.expect(422);
    let message = format!("session cannot be charged: sellers not found [{}]", text(&sellers[0]["id"]));
    assert_eq!(
        refused["error"],
        json!({ "type": "bad_request", "code": 422, "message": message, "details": [] })
    );
}
