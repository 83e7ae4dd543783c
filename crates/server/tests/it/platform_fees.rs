//! What the platform keeps of the charges of a merchant (`docs/interface/merchants-and-providers.md#platform-fee`), and [what that
//! is](kept).

pub mod kept;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::client::Reply;
use crate::support::platform_fees::path;
use crate::support::read::text;

stories! {
    rules_are_added_changed_and_deleted,
    every_wrong_rule_is_named,
}

fn rules() -> Value {
    json!([
        { "paymentMethod": "credit", "percentage": 3.5, "fixedAmount": 50, "installment": 3 },
        { "paymentMethod": "pix", "fixedAmount": 50 },
        { "paymentMethod": "boleto", "percentage": 1, "fixedAmount": 100 },
    ])
}

async fn put(app: &TestApp, merchant: &str, rules: Value) -> Reply {
    app.call(&app.client, Method::PUT, &path(merchant), &[], Some(&rules)).await
}

async fn rules_are_added_changed_and_deleted(app: TestApp) {
    let merchant = app.merchant().await;
    let at = path(&merchant);
    assert_eq!(app.get(&at).await.expect(200), json!({ "platformFeeEnabled": false, "rules": [] }));
    let made = app.post_with_key(&at, "fees", &rules()).await.expect(201);
    assert_eq!(app.post_with_key(&at, "fees", &rules()).await.expect(201), made);
    let mut shown = rules();
    for (index, rule) in shown.as_array_mut().unwrap().iter_mut().enumerate() {
        for name in ["percentage", "fixedAmount", "installment"] {
            rule[name] = rule.get(name).cloned().unwrap_or_default();
        }
        for name in ["id", "createdAt", "updatedAt"] {
            rule[name] = made[index][name].clone();
        }
    }
    assert_eq!(made, shown);
    let on = app.patch(&format!("{at}/enabled"), &json!({ "enabled": true })).await.expect(200);
    assert_eq!(on, json!({ "platformFeeEnabled": true }));
    assert_eq!(app.get(&at).await.expect(200), json!({ "platformFeeEnabled": true, "rules": made }));
    let seen = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    assert_eq!((&seen["platformFeeEnabled"], &seen["platformFees"]), (&json!(true), &made));

    // One rule for a method and band, whatever number of the band it names; all or nothing.
    for taken in [
        json!([{ "paymentMethod": "credit", "percentage": 1, "installment": 6 }]),
        json!([{ "paymentMethod": "default", "percentage": 1 }, { "paymentMethod": "pix", "percentage": 1 }]),
        json!([{ "paymentMethod": "default", "percentage": 1 }, { "paymentMethod": "default", "percentage": 2 }]),
    ] {
        assert_eq!(app.post(&at, &taken).await.details(409).len(), 1);
    }
    let other_bands: Vec<Value> = [1, 7, 13]
        .iter()
        .map(|number| json!({ "paymentMethod": "credit", "percentage": 0.01, "installment": number }))
        .collect();
    app.post(&at, &json!(other_bands)).await.expect(201);

    // A change finds its rule by method and band. What is not named stays.
    let after =
        put(&app, &merchant, json!([{ "paymentMethod": "credit", "percentage": 4, "installment": 2 }]))
            .await
            .expect(200);
    assert_eq!(
        (&after[0]["id"], &after[0]["installment"], &after[0]["fixedAmount"]),
        (&made[0]["id"], &json!(2), &Value::Null)
    );
    assert_eq!((&after[0]["createdAt"], after.as_array().unwrap().len()), (&made[0]["createdAt"], 1));
    let before = app.get(&at).await.expect(200);
    assert_eq!(before["rules"].as_array().unwrap().len(), 6);
    let missing =
        json!([{ "paymentMethod": "pix", "percentage": 9 }, { "paymentMethod": "default", "percentage": 1 }]);
    assert_eq!(put(&app, &merchant, missing).await.status, 404);
    let twice =
        json!([{ "paymentMethod": "pix", "percentage": 9 }, { "paymentMethod": "pix", "percentage": 1 }]);
    assert_eq!(put(&app, &merchant, twice).await.status, 409);
    assert_eq!(app.get(&at).await.expect(200), before, "nothing was changed");

    let rule = format!("{at}/{}", text(&made[1]["id"]));
    app.delete(&rule).await.expect(204);
    assert_eq!(app.delete(&rule).await.status, 404);
    let left = app.get(&at).await.expect(200);
    assert!(left["rules"].as_array().unwrap().iter().all(|rule| rule["paymentMethod"] != "pix"));
    // Changing the merchant leaves its fees alone.
    app.patch(&format!("/v1/merchants/{merchant}"), &json!({ "name": "New" })).await.expect(200);
    assert_eq!(app.get(&at).await.expect(200), left);

    let other = app.another_client().await;
    for merchant in ["00000000-0000-0000-0000-000000000000", "x"] {
        assert_eq!(app.post(&path(merchant), &rules()).await.status, 404);
    }
    for (method, body) in [(Method::GET, None), (Method::POST, Some(rules())), (Method::PUT, Some(rules()))] {
        assert_eq!(app.call(&other, method, &at, &[], body.as_ref()).await.status, 404);
    }
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    assert_eq!(app.get(&at).await.status, 404);
}

async fn every_wrong_rule_is_named(app: TestApp) {
    let merchant = app.merchant().await;
    let wrong = [
        (json!({}), "[0].paymentMethod"),
        (json!({ "paymentMethod": "debit", "percentage": 1 }), "[0].paymentMethod"),
        (json!({ "paymentMethod": "pix" }), "[0]"),
        (json!({ "paymentMethod": "pix", "percentage": 1, "installment": 1 }), "[0].installment"),
        (json!({ "paymentMethod": "credit", "percentage": 1 }), "[0].installment"),
        (json!({ "paymentMethod": "credit", "percentage": 1, "installment": 0 }), "[0].installment"),
        (json!({ "paymentMethod": "credit", "percentage": 1, "installment": 25 }), "[0].installment"),
        (json!({ "paymentMethod": "pix", "percentage": -1 }), "[0].percentage"),
        (json!({ "paymentMethod": "pix", "percentage": 100.01 }), "[0].percentage"),
        (json!({ "paymentMethod": "pix", "percentage": 1.001 }), "[0].percentage"),
        (json!({ "paymentMethod": "pix", "fixedAmount": -1 }), "[0].fixedAmount"),
        (json!({ "paymentMethod": "pix", "fixedAmount": 1.5 }), "[0].fixedAmount"),
        (json!("pix"), "[0]"),
    ];
    for (rule, at) in wrong {
        for reply in
            [app.post(&path(&merchant), &json!([rule])).await, put(&app, &merchant, json!([rule])).await]
        {
            let details = reply.details(400);
            assert!(details.iter().any(|detail| detail.starts_with(&format!("{at} "))), "{at}: {details:?}");
        }
    }
    for body in [json!([]), json!({}), json!("x")] {
        assert_eq!(app.post(&path(&merchant), &body).await.status, 400);
    }
    let switch = format!("{}/enabled", path(&merchant));
    for body in [json!({}), json!({ "enabled": "yes" }), json!({ "enabled": null })] {
        assert!(app.patch(&switch, &body).await.details(400)[0].starts_with("enabled "));
    }
    assert_eq!(
        app.get(&path(&merchant)).await.expect(200),
        json!({ "platformFeeEnabled": false, "rules": [] })
    );
}
