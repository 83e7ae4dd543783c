//! How often providers approve, as a merchant reads it. That what is kept is what the requests say is also a part of
//! `support::agreement`, which the crash sweep and the random sequences end with.

use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::agreement::rates_are_right;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, BLOCKED, Charge};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::request;
use crate::support::payers::{PAYS, awaiting, happens};
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    a_charge_that_goes_on_to_the_next_provider_is_two_tries,
    an_outcome_that_is_found_later_was_unknown_and_counts_once,
    a_pix_waits_for_its_payer,
    a_pix_that_is_paid_is_approved_once,
    rates_past_their_retention_are_purged,
    a_question_with_mistakes_names_them,
}

async fn rates(app: &TestApp, query: &str) -> Vec<Value> {
    let found = app.get(&format!("/v1/rates?{query}")).await.expect(200);
    found["items"].as_array().unwrap().clone()
}

fn numbers(rates: &Value) -> [i64; 7] {
    ["tried", "approved", "declined", "failed", "unpaid", "waiting", "unknown"]
        .map(|name| rates[name].as_i64().unwrap())
}

async fn a_charge_that_goes_on_to_the_next_provider_is_two_tries(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1500).body()).await;
    let other = single_merchant(&app).await;
    charged(&app, &Charge::by_card(&other, BLOCKED).amount(90).body()).await;

    let [all] = &rates(&app, "").await[..] else { panic!("one group") };
    assert_eq!(numbers(all), [3, 1, 2, 0, 0, 0, 0]);
    assert!(
        all["declines"].as_array().unwrap().contains(&json!({ "declinedCode": "try_again", "times": 1 }))
    );
    let approval = ["approvalRate", "approvalRateFrom", "approvalRateTo"].map(|name| &all[name]);
    // (1 + z²/2 ± z √(1·2/3 + z²/4)) / (3 + z²) with z = 1.96.
    assert_eq!(approval, [&json!(33.33), &json!(6.14), &json!(79.24)]);
    assert_eq!((&all["hour"], &all["brand"]), (&Value::Null, &Value::Null));

    let by_provider = rates(&app, &format!("merchantId={merchant}&groupBy=providerId")).await;
    let mut tried: Vec<[i64; 7]> = by_provider.iter().map(numbers).collect();
    tried.sort_unstable();
    assert_eq!(tried, [[1, 0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0]]);

    for (first, expected) in [(true, [2, 0, 2, 0, 0, 0, 0]), (false, [1, 1, 0, 0, 0, 0, 0])] {
        let [found] = &rates(&app, &format!("firstTry={first}")).await[..] else { panic!("one group") };
        assert_eq!(numbers(found), expected, "first {first}");
    }

    let [of_card] = &rates(&app, "cardBin=491674&groupBy=brand,cardBin,amountBand").await[..] else {
        panic!("one group")
    };
    assert_eq!(numbers(of_card), [2, 1, 1, 0, 0, 0, 0]);
    let of = ["brand", "cardBin", "currency", "amountFrom", "amountBelow"].map(|name| &of_card[name]);
    assert_eq!(of, [&json!("Visa"), &json!("491674"), &json!("BRL"), &json!(1024), &json!(4096)]);
    assert_eq!(rates(&app, "cardBin=400000").await, [] as [Value; 0]);
    assert_eq!(rates(&app, "to=2020-01-01").await, [] as [Value; 0]);
    let stranger = app.another_client().await;
    let path = "/v1/rates";
    let seen = app.send(request(&stranger, Method::GET, path, &[], None)).await.expect(200);
    assert_eq!(seen["items"], json!([]));
    rates_are_right(&app).await;
}

async fn an_outcome_that_is_found_later_was_unknown_and_counts_once(app: TestApp) {
    let mut provider = sandbox("A", 1);
    // By the waits between probes the seventh comes more than an hour after the first.
    provider["options"] = json!({ "type": "SANDBOX", "faults": [
        { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "reset": "before_effect" }, "sequence": [1, 2, 3, 4, 5, 6, 7] }] });
    let merchant = app.merchant_with(json!([provider])).await;
    let begun = app.clock.deployment().hour();
    let charge = app.post("/v1/charges", &Charge::by_card(&merchant, APPROVED).body()).await.expect(201);
    assert_eq!(charge["status"], "pending");
    assert_eq!(rates(&app, "").await, [] as [Value; 0], "nobody knows it yet");
    // The outcome is found in another hour than that of the try, and looked for again after it.
    app.later(Duration::from_secs(4 * 60 * 60)).await;
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read["status"], "authorized");
    app.later(Duration::from_secs(26 * 60 * 60)).await;
    let of_the_try = format!("from={}&groupBy=hour", Timestamp::of_hour(begun));
    let [found] = &rates(&app, &of_the_try).await[..] else { panic!("one group") };
    assert_eq!(numbers(found), [1, 1, 0, 0, 0, 0, 1], "{found:#}");
    assert_eq!(found["hour"], json!(Timestamp::of_hour(begun)));
    assert_eq!(found["latencyP50"], Value::Null, "no call has told it");
    rates_are_right(&app).await;
}

async fn a_pix_that_is_paid_is_approved_once(app: TestApp) {
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(Duration::from_secs(60 * 60)).await;
    let [paid] = &rates(&app, "").await[..] else { panic!("one group") };
    assert_eq!(numbers(paid), [1, 1, 0, 0, 0, 0, 0], "{paid:#}");
    // A second payment of the same Pix is given back, and is no try.
    happens(&app, &charge, 0, PAYS).await;
    app.later(Duration::from_secs(60 * 60)).await;
    let [paid] = &rates(&app, "").await[..] else { panic!("one group") };
    assert_eq!(numbers(paid), [1, 1, 0, 0, 0, 0, 0], "{paid:#}");
    rates_are_right(&app).await;
}

async fn rates_past_their_retention_are_purged(app: TestApp) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let app = app.with_settings(|settings| settings.rates_retention = 2 * DAY).await;
    let merchant = single_merchant(&app).await;
    let from = app.clock.deployment();
    charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    app.later(DAY).await;
    charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    let tried = async || -> i64 {
        rates(&app, &format!("from={from}")).await.iter().map(|rates| numbers(rates)[0]).sum()
    };
    assert_eq!(tried().await, 2);
    app.later(DAY + Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(tried().await, 1, "the younger one is kept");
    rates_are_right(&app).await;
    app.later(DAY).await;
    assert_eq!(tried().await, 0);
}

async fn a_pix_waits_for_its_payer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    charged(&app, &pix_body(&merchant, described(jose()))).await;
    let [waiting] = &rates(&app, "paymentType=pix").await[..] else { panic!("one group") };
    assert_eq!(numbers(waiting), [1, 0, 0, 0, 0, 1, 0]);
    assert_eq!(waiting["approvalRate"], Value::Null, "none has ended");
    app.later(Duration::from_secs(3 * 60 * 60)).await;
    let [gone] = &rates(&app, "paymentType=pix&groupBy=hour").await[..] else { panic!("one group") };
    assert_eq!(numbers(gone), [1, 0, 0, 0, 1, 0, 0], "{gone:#}");
    rates_are_right(&app).await;
}

async fn a_question_with_mistakes_names_them(app: TestApp) {
    for (query, name) in [
        ("groupBy=weather", "groupBy"),
        ("cardBin=12", "cardBin"),
        ("from=2026-03-02&to=2026-03-01", "to"),
        ("from=2026-01-01&to=2026-03-01", "to"),
        ("currency=shells", "currency"),
    ] {
        let refused = app.get(&format!("/v1/rates?{query}")).await.expect(400);
        assert!(refused.to_string().contains(name), "{query}: {refused}");
    }
}
