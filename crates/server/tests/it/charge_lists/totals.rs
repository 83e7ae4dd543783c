//! Totals come from counters: with every filter they equal a plain count of all charges.

use std::collections::BTreeMap;
use std::time::Duration;

use regente_domain::id::MerchantId;
use regente_domain::time::Timestamp;
use regente_engine::chance::Chance;
use regente_store::{args, charges, counters};
use serde_json::{Value, json};

use super::page;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::charged;
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    totals_agree_with_a_naive_count_whatever_is_asked,
    counters_agree_with_the_rows,
}

/// Most milliseconds from one charge to the next, for charges over five hours.
const APART_MAX_MILLIS: u64 = 500_000;

/// Charges at most `apart_max_millis` apart, as a list shows them.
pub(super) async fn many(app: &TestApp, chance: &Chance, apart_max_millis: u64) -> Vec<Value> {
    let cielo = json!({ "name": "C", "priority": 1,
        "credentials": { "type": "CIELO", "merchantId": "m", "merchantKey": "k" } });
    let merchants = [
        app.merchant_with(json!([sandbox("Main", 1)])).await,
        app.merchant_with(json!([cielo.clone(), sandbox("Main", 2)])).await,
        app.merchant_with(json!([cielo])).await,
    ];
    // Checked first, so that a refused charge leaves the card usable.
    let check =
        json!({ "tokenId": app.card_token(APPROVED).await, "merchantId": merchants[0], "cvvCheck": true });
    let card = app.post("/v1/cards", &check).await.expect(201)["id"].clone();
    let pick = |count: usize| usize::try_from(chance.below(count as u64)).unwrap();
    for _ in 0..70 {
        app.clock.advance(Duration::from_millis(chance.below(apart_max_millis)));
        let cvv = ["560", "560", "561"][pick(3)];
        let source = json!({ "sourceType": "card", "cardId": card, "cardCvv": cvv });
        let mut body = Charge::by_source(&merchants[pick(3)], source)
            .with("capture", pick(2) == 0)
            .with("amount", [150, 151, 15_000][pick(3)])
            .body();
        if pick(3) == 0 {
            body["orderId"] = ["a", "b"][pick(2)].into();
        }
        if pick(4) == 0 && body["merchantId"] != merchants[2] {
            body["paymentMethod"] = json!({ "paymentType": "voucher" });
        }
        charged(app, &body).await;
        if pick(10) == 0 {
            // Just before, at, and just after a full hour.
            let hour = app.clock.deployment().hour() + 1;
            let edge = Timestamp::from_millis(hour * 3_600_000 + [-1, 0, 1][pick(3)]);
            app.clock.set(edge);
        }
    }
    let all = listed(app).await;
    assert_eq!(all.len(), 70);
    all
}

/// All charges, of which there are at most 100.
pub(super) async fn listed(app: &TestApp) -> Vec<Value> {
    page(app, "limit=100").await["items"].as_array().unwrap().clone()
}

/// A parameter, and the charges that it selects.
type Filter = (String, Box<dyn Fn(&Value) -> bool>);

fn random_filter(chance: &Chance, all: &[Value]) -> Filter {
    let pick = |count: usize| usize::try_from(chance.below(count as u64)).unwrap();
    let equal = |name: &'static str, pointer: &'static str| -> Filter {
        let values: Vec<Value> =
            (0..=pick(2)).map(|_| all[pick(all.len())].pointer(pointer).unwrap().clone()).collect();
        let texts: Vec<String> =
            values.iter().map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect();
        let query = format!("{name}={}", texts.join(","));
        (query, Box::new(move |charge| values.iter().any(|value| charge.pointer(pointer) == Some(value))))
    };
    match pick(9) {
        0 => equal("status", "/status"),
        1 => equal("merchantId", "/merchantId"),
        2 => equal("paymentType", "/paymentMethod/paymentType"),
        3 => equal("providerType", "/responsibleProviderType"),
        4 => equal("originalAmount", "/originalAmount"),
        5 => equal("id", "/id"),
        6 => ("orderId=a".to_owned(), Box::new(|charge| charge["orderId"] == "a")),
        bound => {
            let mut at = Timestamp::parse(text(&all[pick(all.len())]["createdAt"])).unwrap();
            if pick(3) == 0 {
                at = Timestamp::from_millis(at.hour() * 3_600_000);
            }
            let created = |charge: &Value| Timestamp::parse(text(&charge["createdAt"])).unwrap();
            match bound {
                7 => (format!("created.gt={at}"), Box::new(move |charge| created(charge) > at)),
                _ => (format!("created.lt={at}"), Box::new(move |charge| created(charge) < at)),
            }
        }
    }
}

async fn totals_agree_with_a_naive_count_whatever_is_asked(app: TestApp) {
    let chance = Chance::seeded(20_260_323);
    let all = many(&app, &chance, APART_MAX_MILLIS).await;
    lists_agree(&app, &chance, &all, 150).await;
}

/// Asks with random filters, for all charges and for pages, and compares with a choice among `all`, newest first.
pub(super) async fn lists_agree(app: &TestApp, chance: &Chance, all: &[Value], filters: usize) {
    for _ in 0..filters {
        let mut filters: BTreeMap<String, Filter> = BTreeMap::new();
        for _ in 0..=chance.below(3) {
            let filter = random_filter(chance, all);
            filters.insert(filter.0.split('=').next().unwrap().to_owned(), filter);
        }
        let query: Vec<&str> = filters.values().map(|(query, _)| query.as_str()).collect();
        let expected: Vec<Value> =
            all.iter().filter(|charge| filters.values().all(|(_, leaves)| leaves(charge))).cloned().collect();
        let query = query.join("&");
        let whole = page(app, &format!("limit=100&{query}")).await;
        assert_eq!(whole["meta"]["totalItems"], expected.len(), "{query:?}");
        assert_eq!(whole["items"], json!(expected), "{query:?}");
        let limit = usize::try_from(1 + chance.below(9)).unwrap();
        let number = usize::try_from(chance.below(5)).unwrap();
        let ascending: Vec<Value> = expected.iter().rev().cloned().collect();
        for (sort, expected) in [("DESC", &expected), ("ASC", &ascending)] {
            let query = format!("sort={sort}&limit={limit}&page={}&{query}", number + 1);
            let some: Vec<&Value> = expected.iter().skip(number * limit).take(limit).collect();
            let page = page(app, &query).await;
            assert_eq!(page["items"], json!(some), "{query:?}");
            assert_eq!(page["meta"]["totalItems"], expected.len(), "{query:?}");
        }
    }
}

async fn counters_agree_with_the_rows(app: TestApp) {
    let all = many(&app, &Chance::seeded(7), APART_MAX_MILLIS).await;
    let client_id = app.client_id();
    let mut counted = BTreeMap::new();
    for row in app.app.store.rows(&counters::COUNTERS_OF_CLIENT, args! { client_id }).await.unwrap() {
        let merchant: MerchantId = row.get("merchant_id").unwrap();
        let words = ["status", "payment_type", "provider_type"].map(|name| row.get::<String>(name).unwrap());
        counted.insert(
            (row.get::<i64>("hour").unwrap(), merchant.to_string(), words),
            row.get::<i64>("n").unwrap(),
        );
    }
    let mut expected = BTreeMap::new();
    for charge in &all {
        let hour = Timestamp::parse(text(&charge["createdAt"])).unwrap().hour();
        let words = ["/status", "/paymentMethod/paymentType", "/responsibleProviderType"]
            .map(|pointer| text(charge.pointer(pointer).unwrap()).to_owned());
        *expected.entry((hour, text(&charge["merchantId"]).to_owned(), words)).or_insert(0_i64) += 1;
    }
    assert_eq!(counted, expected, "pending has come and gone");
    let mut by_state = 0;
    for row in app.app.store.rows(&charges::CHARGES_BY_STATE, args! { client_id }).await.unwrap() {
        by_state += row.get::<i64>("n").unwrap();
    }
    assert_eq!(by_state, 70);
}
