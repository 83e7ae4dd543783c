//! Lists of charges: every filter of `docs/interface/charges.md#listing`, exact totals, pages.

mod spans;
mod totals;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::{APPROVED, TIMED_OUT, WRONG_CVV, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::text;

stories! {
    pages_are_cut_newest_first,
    a_page_beyond_the_end_is_empty,
    the_order_can_be_turned,
    wrong_parameters_are_named,
    each_filter_finds_its_charges,
    several_values_mean_or_and_several_filters_and,
    a_time_is_exclusive,
    a_day_or_a_second_of_creation_is_found,
    clients_that_encode_nothing_are_understood,
    unknown_parameters_and_empty_values_are_ignored,
    another_clients_charges_are_invisible,
    public_keys_need_every_scope_for_lists,
}

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn page(app: &TestApp, query: &str) -> Value {
    app.get(&format!("/v1/charges?{query}")).await.expect(200)
}

async fn ids(app: &TestApp, query: &str) -> Vec<String> {
    let page = page(app, query).await;
    let ids: Vec<String> =
        page["items"].as_array().unwrap().iter().map(|charge| text(&charge["id"]).to_owned()).collect();
    assert_eq!(page["meta"]["itemCount"], ids.len());
    if page["meta"]["totalPages"].as_u64() <= Some(1) {
        assert_eq!(page["meta"]["totalItems"], ids.len(), "{query}");
    }
    ids
}

fn id(charge: &Value) -> String {
    text(&charge["id"]).to_owned()
}

/// Makes charges one second apart; the newest comes first.
async fn some(app: &TestApp, count: usize) -> Vec<String> {
    let merchant = single_merchant(app).await;
    let mut ids = Vec::new();
    for _ in 0..count {
        app.clock.advance(Duration::from_secs(1));
        ids.insert(0, id(&charged(app, &charge_body(&merchant, APPROVED)).await));
    }
    ids
}

async fn pages_are_cut_newest_first(app: TestApp) {
    let empty = app.get("/v1/charges").await.expect(200);
    assert_eq!(
        empty,
        json!({ "items": [], "meta":
            { "itemCount": 0, "totalItems": 0, "itemsPerPage": 15, "totalPages": 0, "currentPage": 1 } })
    );
    let all = some(&app, 17).await;
    assert_eq!(ids(&app, "").await, all[..15]);
    assert_eq!(ids(&app, "page=2").await, all[15..]);
    assert_eq!(
        page(&app, "page=2&limit=5").await["meta"],
        json!({ "itemCount": 5, "totalItems": 17, "itemsPerPage": 5, "totalPages": 4, "currentPage": 2 })
    );
    let mut collected = Vec::new();
    for number in 1..=6 {
        collected.extend(ids(&app, &format!("limit=3&page={number}")).await);
    }
    assert_eq!(collected, all, "no charge twice, none left out");
    assert_eq!(ids(&app, "limit=100").await, all);
}

async fn a_page_beyond_the_end_is_empty(app: TestApp) {
    some(&app, 2).await;
    for number in ["2", "3", "2147483647"] {
        let page = page(&app, &format!("page={number}")).await;
        assert_eq!((&page["items"], &page["meta"]["totalItems"]), (&json!([]), &json!(2)));
        assert_eq!(page["meta"]["currentPage"].to_string(), number);
    }
}

async fn the_order_can_be_turned(app: TestApp) {
    let mut all = some(&app, 4).await;
    assert_eq!(ids(&app, "sort=DESC").await, all);
    all.reverse();
    for ascending in ["sort=ASC", "sort=asc"] {
        assert_eq!(ids(&app, ascending).await, all);
    }
    assert_eq!(ids(&app, "sort=ASC&limit=2&page=2").await, all[2..]);
    // The same where another index serves the list.
    let listed = all.join(",");
    assert_eq!(ids(&app, &format!("sort=ASC&id={listed}")).await, all);
}

async fn wrong_parameters_are_named(app: TestApp) {
    for (query, name) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=abc", "limit"),
        ("limit=1.5", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=x", "page"),
        ("sort=up", "sort"),
        ("id=x", "id"),
        ("merchantId=x", "merchantId"),
        ("sessionId=x", "sessionId"),
        ("status=done", "status"),
        ("status=authorized,cancelled", "status"),
        ("paymentType=cash", "paymentType"),
        ("providerType=sandbox", "providerType"),
        ("originalAmount=1.5", "originalAmount"),
        ("originalAmount=-1", "originalAmount"),
        ("splitRules=maybe", "splitRules"),
        ("created=yesterday", "created"),
        ("created.gt=2026-13-01", "created.gt"),
        ("created.lt=1", "created.lt"),
    ] {
        let answer = app.get(&format!("/v1/charges?{query}")).await;
        let details = answer.details(400);
        assert!(details.len() == 1 && details[0].starts_with(&format!("{name} ")), "{query}: {details:?}");
        assert_eq!(answer.json()["error"]["type"], "bad_request");
    }
    let details = app.get("/v1/charges?limit=0&page=0&status=x&id=y").await.details(400);
    assert_eq!(details.len(), 4, "all together: {details:?}");
}

/// Charges that differ in every property of the filters.
struct Mixed {
    merchant: String,
    other_merchant: String,
    authorized: String,
    reserved: String,
    refused: String,
    silent: String,
    voucher: String,
    unserved: String,
}

async fn mixed(app: &TestApp) -> Mixed {
    let merchant = single_merchant(app).await;
    let cielo = json!({ "name": "C", "priority": 1,
        "credentials": { "type": "CIELO", "merchantId": "m", "merchantKey": "k" } });
    let other_merchant = app.merchant_with(json!([cielo])).await;
    let charge = async |merchant: &str, card, change: &dyn Fn(&mut Value)| {
        app.clock.advance(Duration::from_millis(700));
        let mut body = charge_body(merchant, card);
        change(&mut body);
        id(&charged(app, &body).await)
    };
    Mixed {
        authorized: charge(&merchant, APPROVED, &|body| body["orderId"] = json!("A-1")).await,
        reserved: charge(&merchant, APPROVED, &|body| {
            body["capture"] = json!(false);
            body["amount"] = json!(200);
        })
        .await,
        refused: charge(&merchant, WRONG_CVV, &|body| body["orderId"] = json!("A-1")).await,
        silent: charge(&merchant, TIMED_OUT, &|body| body["orderId"] = json!("ç 2")).await,
        voucher: charge(&merchant, APPROVED, &|body| {
            body["paymentMethod"] = json!({ "paymentType": "voucher" })
        })
        .await,
        unserved: charge(&other_merchant, APPROVED, &|body| body["amount"] = json!(200)).await,
        merchant,
        other_merchant,
    }
}

async fn each_filter_finds_its_charges(app: TestApp) {
    let all = mixed(&app).await;
    let Mixed { merchant, other_merchant, authorized, reserved, refused, silent, voucher, unserved } = &all;
    for (query, expected) in [
        (format!("id={silent}"), vec![silent]),
        (format!("merchantId={other_merchant}"), vec![unserved]),
        (format!("merchantId={merchant}"), vec![voucher, silent, refused, reserved, authorized]),
        ("originalAmount=200".to_owned(), vec![unserved, reserved]),
        ("originalAmount=2".to_owned(), vec![]),
        ("status=authorized".to_owned(), vec![voucher, authorized]),
        ("status=pre_authorized".to_owned(), vec![reserved]),
        ("status=failed".to_owned(), vec![unserved, silent, refused]),
        ("status=pending".to_owned(), vec![]),
        ("status=voided".to_owned(), vec![]),
        ("paymentType=voucher".to_owned(), vec![voucher]),
        ("paymentType=pix".to_owned(), vec![]),
        ("providerType=CIELO".to_owned(), vec![unserved]),
        ("providerType=STRIPE".to_owned(), vec![]),
        ("orderId=A-1".to_owned(), vec![refused, authorized]),
        ("orderId=A".to_owned(), vec![]),
        ("orderId=%C3%A7%202".to_owned(), vec![silent]),
        (format!("sessionId={merchant}"), vec![]),
        ("splitRules=true".to_owned(), vec![]),
        (format!("id={merchant}"), vec![]),
    ] {
        assert_eq!(ids(&app, &query).await.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    for status in [
        "pending",
        "pre_authorized",
        "authorized",
        "failed",
        "canceled",
        "voided",
        "charged_back",
        "refund_pending",
        "capture_pending",
    ] {
        page(&app, &format!("status={status}")).await;
    }
}

async fn several_values_mean_or_and_several_filters_and(app: TestApp) {
    let all = mixed(&app).await;
    let Mixed { merchant, other_merchant, authorized, reserved, refused, silent, voucher, unserved } = &all;
    for (query, expected) in [
        ("status=authorized,pre_authorized".to_owned(), vec![voucher, reserved, authorized]),
        ("status=authorized&status=pre_authorized".to_owned(), vec![voucher, reserved, authorized]),
        ("status=authorized, pre_authorized ,".replace(' ', "%20"), vec![voucher, reserved, authorized]),
        ("status=authorized&paymentType=credit,pix".to_owned(), vec![authorized]),
        ("providerType=SANDBOX,CIELO&status=failed".to_owned(), vec![unserved, silent, refused]),
        (format!("merchantId={merchant},{other_merchant}&originalAmount=200,3"), vec![unserved, reserved]),
        (format!("id={authorized},{refused},{unserved}&status=failed"), vec![unserved, refused]),
        ("orderId=A-1,ç 2&status=failed".replace(' ', "%20").replace('ç', "%C3%A7"), vec![silent, refused]),
        (format!("orderId=A-1&id={authorized}"), vec![authorized]),
        (format!("orderId=A-1&id={voucher}"), vec![]),
        ("status=failed&splitRules=true".to_owned(), vec![]),
    ] {
        assert_eq!(ids(&app, &query).await.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

async fn a_time_is_exclusive(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut charges = Vec::new();
    for _ in 0..3 {
        charges.push(charged(&app, &charge_body(&merchant, APPROVED)).await);
        app.clock.advance(Duration::from_millis(1));
    }
    let [first, second, third] = [0, 1, 2].map(|place| id(&charges[place]));
    let at = text(&charges[1]["createdAt"]);
    assert_eq!(at, "2026-03-23T15:12:38.380Z");
    for (query, expected) in [
        (format!("created.gt={at}"), vec![&third]),
        (format!("created.lt={at}"), vec![&first]),
        (format!("created.gt={at}&created.lt={at}"), vec![]),
        (format!("created.gt={START}&created.lt=2026-03-23T15:12:38.381Z"), vec![&second]),
        ("created.gt=2026-03-23T15:12:38Z".to_owned(), vec![&third, &second, &first]),
        ("created.gt=2026-03-24".to_owned(), vec![]),
        ("created.lt=2026-03-24".to_owned(), vec![&third, &second, &first]),
        ("created.gt=2026-03-23".to_owned(), vec![&third, &second, &first]),
        ("created.lt=2026-03-23".to_owned(), vec![]),
        ("created.gt=2026-03-24&created.lt=2026-03-22".to_owned(), vec![]),
        ("created.gt=1960-01-01&created.lt=9999-12-30".to_owned(), vec![&third, &second, &first]),
    ] {
        assert_eq!(ids(&app, &query).await.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

async fn a_day_or_a_second_of_creation_is_found(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut by_time = BTreeMap::new();
    for at in [
        "2026-03-23T23:59:59.999Z",
        "2026-03-24T00:00:00.000Z",
        "2026-03-24T23:59:59.999Z",
        "2026-03-25T00:00:00.000Z",
    ] {
        app.clock.set(Timestamp::parse(at).unwrap());
        by_time.insert(at, id(&charged(&app, &charge_body(&merchant, APPROVED)).await));
    }
    let of = |times: &[&str]| -> Vec<String> { times.iter().map(|time| by_time[time].clone()).collect() };
    assert_eq!(
        ids(&app, "created=2026-03-24").await,
        of(&["2026-03-24T23:59:59.999Z", "2026-03-24T00:00:00.000Z"])
    );
    for second in ["2026-03-24T23:59:59Z", "2026-03-24T23:59:59.123Z", "2026-03-24T20:59:59-03:00"] {
        assert_eq!(
            ids(&app, &format!("created={second}")).await,
            of(&["2026-03-24T23:59:59.999Z"]),
            "{second}"
        );
    }
    assert_eq!(ids(&app, "created=2026-03-24T23:59:58Z").await, Vec::<String>::new());
    let both = ids(&app, "created=2026-03-24&created.gt=2026-03-24T00:00:00.000Z").await;
    assert_eq!(both, of(&["2026-03-24T23:59:59.999Z"]));
}

async fn clients_that_encode_nothing_are_understood(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = id(&charged(&app, &charge_body(&merchant, APPROVED)).await);
    for query in [
        "created.gt=2026-03-23T18:12:38+03:00",
        "created.gt=2026-03-23T18:12:38%2B03:00",
        "created.gt=2026-03-23T18:12:38%2003:00",
        "created.gt=2026-03-23T12:12:38-03:00",
        "created.gt=2026-03-23T15:12:38",
    ] {
        let answer = app.get(&format!("/v1/charges?{query}")).await;
        if query.ends_with("38") {
            assert_eq!(answer.details(400), ["created.gt must be a valid ISO 8601 date string"]);
        } else {
            assert_eq!(answer.expect(200)["items"][0]["id"], charge, "{query}");
        }
    }
}

async fn unknown_parameters_and_empty_values_are_ignored(app: TestApp) {
    let all = some(&app, 2).await;
    for query in
        ["foo=bar", "status=", "status", "id=&merchantId=,", "created=", "&&&", "customerId=x", "limit="]
    {
        assert_eq!(ids(&app, query).await, all, "{query}");
    }
}

async fn another_clients_charges_are_invisible(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let other = app.another_client().await;
    app.clock.advance(HOUR);
    let list = async |query: &str| {
        app.call(&other, Method::GET, &format!("/v1/charges?{query}"), &[], None).await.expect(200)
    };
    for query in [
        String::new(),
        format!("id={}", id(&charge)),
        format!("merchantId={merchant}"),
        "originalAmount=150".to_owned(),
    ] {
        let page = list(&query).await;
        assert_eq!((&page["items"], &page["meta"]["totalItems"]), (&json!([]), &json!(0)), "{query}");
    }
}

async fn public_keys_need_every_scope_for_lists(app: TestApp) {
    let some = app.client_token(json!(["charges"])).await;
    app.call(&some, Method::GET, "/v1/charges", &[], None).await.expect(403);
    let all = app.client_token(json!(["*"])).await;
    app.call(&all, Method::GET, "/v1/charges", &[], None).await.expect(200);
}
