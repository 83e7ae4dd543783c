//! How often providers approve, as a merchant reads it. That what is kept is what the requests say is also a part of
//! `support::agreement`, which the crash sweep and the random sequences end with.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::agreement::rates_are_right;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, TIMED_OUT};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::request;

stories! {
    a_charge_that_goes_on_to_the_next_provider_is_two_tries,
    an_outcome_that_is_found_later_was_unknown,
    a_pix_waits_for_its_payer,
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
    assert_eq!(all["declines"]["try_again"], 1);
    assert_eq!((&all["hour"], &all["brand"]), (&Value::Null, &Value::Null));

    let by_provider = rates(&app, &format!("merchantId={merchant}&groupBy=providerId")).await;
    let mut tried: Vec<[i64; 7]> = by_provider.iter().map(numbers).collect();
    tried.sort_unstable();
    assert_eq!(tried, [[1, 0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0]]);

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

async fn an_outcome_that_is_found_later_was_unknown(app: TestApp) {
    let merchant = single_merchant(&app).await;
    charged(&app, &Charge::by_card(&merchant, TIMED_OUT).body()).await;
    app.later(Duration::from_secs(60 * 60)).await;
    let [all] = &rates(&app, "").await[..] else { panic!("one group") };
    assert_eq!((&all["tried"], &all["unknown"]), (&json!(1), &json!(1)), "{all:#}");
    rates_are_right(&app).await;
}

async fn a_pix_waits_for_its_payer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    charged(&app, &pix_body(&merchant, described(jose()))).await;
    let [waiting] = &rates(&app, "paymentType=pix").await[..] else { panic!("one group") };
    assert_eq!(numbers(waiting), [1, 0, 0, 0, 0, 1, 0]);
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
