//! Prepayment (`docs/interface/prepayment.md`): receivables of the platform's own provider that are paid early.

mod commits;
mod crashes;
mod deadlines;
mod payments;

use axum::http::Method;
use regente::admin::PrepaymentTask;
use regente_domain::charge::reversal::ReversalKind;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::As;
use crate::support::disputes::told_of;
use crate::support::prepayments::{
    CHANGED, NOT_PENDING, NOTHING, PAID_ON, PREPAYMENT, PUBLISHED, RECEIVABLES, SETTLED_ON, captured,
    captured_for, commit, denied, enabled, everything, everything_of, merchant_of, operator, read, seller_of,
    simulated, travel,
};
use crate::support::read::text;

stories! {
    the_published_example,
    an_account_has_to_be_enabled,
    nothing_to_be_paid_early_is_told_apart,
    exactly_one_of_end_date_and_dates_chooses,
    receivables_of_a_seller_and_of_the_account_are_apart,
    all_receivables_are_found_however_many,
    a_blocked_seller_is_paid_nothing_early,
    what_is_given_back_is_not_paid_early,
    what_is_disputed_is_not_paid_early,
    another_account_sees_nothing,
}

async fn the_published_example(app: TestApp) {
    let merchant = enabled(&app).await;
    for amount in [12_000, 8_000] {
        captured(&app, &app.client, &merchant, amount).await;
    }
    let listed = app.get(RECEIVABLES).await.expect(200);
    assert_eq!(listed["summary"], json!({ "availableAmount": 20_000, "receivableCount": 2 }));
    let ids: Vec<&str> =
        listed["receivables"].as_array().unwrap().iter().map(|receivable| text(&receivable["id"])).collect();
    let shown = |place: usize, amount: i64| json!({ "id": ids[place], "settlementDate": SETTLED_ON, "paymentArrangement": "vcc", "amount": amount });
    assert_eq!(listed["receivables"], json!([shown(0, 12_000), shown(1, 8_000)]));

    let offer = simulated(&app, &json!({ "endDate": SETTLED_ON })).await;
    let item = |place: usize, [gross, net, markup, fee]: [i64; 4]| {
        json!({ "receivableUnitExternalId": ids[place], "grossAmount": gross, "netAmount": net, "markupAmount": markup,
            "feeAmount": fee, "daysToAnticipate": 30, "settlementDate": SETTLED_ON, "paymentArrangement": "vcc" })
    };
    let expected = json!({
        "id": offer["id"], "status": "pending", "grossAmount": 20_000, "netAmount": 19_323, "markupAmount": 387,
        "feeAmount": 290, "effectiveRate": offer["effectiveRate"], "monthlyRate": offer["monthlyRate"],
        "markup": offer["markup"], "expiresAt": "2026-05-05T18:00:00.000Z", "endDate": SETTLED_ON, "paymentDate": PAID_ON,
        "items": [item(0, [12_000, 11_594, 232, 174]), item(1, [8_000, 7_729, 155, 116])],
    });
    assert_eq!(offer, expected);
    let numbers = ["effectiveRate", "monthlyRate", "markup"].map(|name| offer[name].to_string());
    assert_eq!(numbers, ["0.03385", "0.015", "0.02"]);
    assert_eq!(read(&app, &offer).await, offer);

    let mut committed = expected;
    committed["status"] = json!("committed");
    assert_eq!(commit(&app, &offer).await.expect(200), committed);
    assert_eq!(read(&app, &offer).await, committed);
    denied(&commit(&app, &offer).await, 409, NOT_PENDING);
    let left = app.get(RECEIVABLES).await.expect(200);
    assert_eq!(left["summary"], json!({ "availableAmount": 0, "receivableCount": 0 }));
    denied(&app.post(PREPAYMENT, &everything()).await, 422, NOTHING);
}

async fn an_account_has_to_be_enabled(app: TestApp) {
    let message = "prepayment is not enabled for this account";
    let client_id = app.client_id();
    denied(&app.get(RECEIVABLES).await, 403, message);
    denied(&app.post(PREPAYMENT, &everything()).await, 403, message);
    let row = operator(&app, client_id, PrepaymentTask::Show).await;
    assert_eq!((row.enabled, row.monthly_rate, row.markup), (false, None, None));
    let row = operator(&app, client_id, PUBLISHED).await;
    assert_eq!((row.monthly_rate.as_deref(), row.markup.as_deref()), (Some("1.5"), Some("2")));
    assert_eq!(app.get(RECEIVABLES).await.status, 200);
    assert!(!operator(&app, client_id, PrepaymentTask::Disable).await.enabled);
    denied(&app.get(RECEIVABLES).await, 403, message);
}

async fn nothing_to_be_paid_early_is_told_apart(app: TestApp) {
    let merchant = enabled(&app).await;
    let none = "no receivables of the platform's own provider";
    denied(&app.post(PREPAYMENT, &everything()).await, 404, none);
    captured(&app, &app.client, &merchant, 100).await;
    // Nothing up to the day before, and nothing on other days.
    denied(&app.post(PREPAYMENT, &json!({ "endDate": "2026-06-04" })).await, 422, NOTHING);
    denied(&app.post(PREPAYMENT, &json!({ "endDate": "2020-01-01" })).await, 422, NOTHING);
    denied(&app.post(PREPAYMENT, &json!({ "dates": ["2026-06-04", "2026-06-08"] })).await, 422, NOTHING);
    let nobody = json!({ "endDate": SETTLED_ON, "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6" });
    denied(&app.post(PREPAYMENT, &nobody).await, 404, none);
    denied(
        &app.get(&format!("{PREPAYMENT}/19d05a45-0e92-478e-8366-955231bcf3d6")).await,
        404,
        "Resource not found",
    );
    denied(&app.get(&format!("{PREPAYMENT}/soon")).await, 404, "Resource not found");
    // On the day before it is settled nothing is early any more: what is accepted then would be paid on that very day.
    travel(&app, "2026-06-03T12:00:00Z").await;
    denied(&app.post(PREPAYMENT, &everything()).await, 422, NOTHING);
}

async fn exactly_one_of_end_date_and_dates_chooses(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 300).await;
    travel(&app, "2026-05-06T12:00:00Z").await;
    captured(&app, &app.client, &merchant, 500).await;
    // What is captured a day later falls due on the same Friday.
    travel(&app, "2026-05-07T12:00:00Z").await;
    captured(&app, &app.client, &merchant, 700).await;
    for (body, gross) in [
        (json!({ "endDate": SETTLED_ON }), 800),
        (json!({ "endDate": "2026-06-08" }), 1500),
        (json!({ "dates": ["2026-06-08"] }), 700),
        (json!({ "dates": ["2026-06-06", "2026-06-08", SETTLED_ON], "endDate": null }), 1500),
    ] {
        let offer = simulated(&app, &body).await;
        assert_eq!(offer["grossAmount"], gross, "{body}");
        assert_eq!(
            (offer.get("endDate"), offer.get("dates")),
            (sent(&body, "endDate"), sent(&body, "dates"))
        );
        let items = offer["items"].as_array().unwrap();
        let sum = |name: &str| items.iter().map(|item| item[name].as_i64().unwrap()).sum::<i64>();
        for name in ["grossAmount", "netAmount", "feeAmount", "markupAmount"] {
            assert_eq!(offer[name], sum(name), "{body} {name}");
        }
    }
    let one = "endDate should be sent, or dates, and not both";
    for (body, problem) in [
        (json!({}), one),
        (json!({ "endDate": SETTLED_ON, "dates": [SETTLED_ON] }), one),
        (json!({ "endDate": "5/6/2026" }), "endDate must be a valid ISO 8601 date string"),
        (json!({ "dates": [] }), "dates must contain at least 1 elements"),
        (json!({ "endDate": SETTLED_ON, "sellerId": "me" }), "sellerId must be a UUID"),
    ] {
        assert_eq!(app.post(PREPAYMENT, &body).await.details(400), [problem], "{body}");
    }
    let nobody = "19d05a45-0e92-478e-8366-955231bcf3d6";
    for seller in ["me", &format!("{nobody},{nobody}")] {
        let refused = app.get(&format!("{RECEIVABLES}?sellerId={seller}")).await;
        assert_eq!(refused.details(400), ["sellerId must be a UUID"], "{seller}");
    }
}

/// A member that was sent, unless it was null.
fn sent<'a>(body: &'a Value, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

async fn receivables_of_a_seller_and_of_the_account_are_apart(app: TestApp) {
    let merchant = enabled(&app).await;
    let (one, two) = (seller_of(&app, &merchant, 1).await, seller_of(&app, &merchant, 2).await);
    captured(&app, &app.client, &merchant, 100).await;
    captured_for(&app, &merchant, &one, 2_000).await;
    captured_for(&app, &merchant, &two, 30_000).await;
    let of = async |query: String| {
        app.get(&format!("{RECEIVABLES}{query}")).await.expect(200)["summary"]["availableAmount"].clone()
    };
    assert_eq!(of(String::new()).await, 100);
    assert_eq!(of(format!("?sellerId={}", text(&one["id"]))).await, 2_000);
    assert_eq!(of(format!("?sellerId={}", text(&two["id"]))).await, 30_000);
    let offer = simulated(&app, &everything_of(&one)).await;
    assert_eq!(commit(&app, &offer).await.expect(200)["grossAmount"], 2_000);
    assert_eq!(of(String::new()).await, 100);
    assert_eq!(of(format!("?sellerId={}", text(&one["id"]))).await, 0);
    assert_eq!(of(format!("?sellerId={}", text(&two["id"]))).await, 30_000);
}

async fn all_receivables_are_found_however_many(app: TestApp) {
    let merchant = enabled(&app).await;
    // Some more than are read at once.
    let amounts = 1_000..1_210;
    for amount in amounts.clone() {
        app.post("/v1/charges", &Charge::by_card(&merchant, APPROVED).amount(amount).body())
            .await
            .expect(201);
    }
    app.run_jobs().await;
    let sum: i64 = amounts.sum();
    let listed = app.get(RECEIVABLES).await.expect(200);
    assert_eq!(listed["summary"], json!({ "availableAmount": sum, "receivableCount": 210 }));
    let offer = simulated(&app, &everything()).await;
    assert_eq!(commit(&app, &offer).await.expect(200)["grossAmount"], sum);
    assert_eq!(app.get(RECEIVABLES).await.expect(200)["summary"]["receivableCount"], 0);
}

async fn a_blocked_seller_is_paid_nothing_early(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    captured_for(&app, &merchant, &seller, 2_000).await;
    let offer = simulated(&app, &everything_of(&seller)).await;
    let path = format!("/v1/sellers/{}", text(&seller["id"]));
    app.patch(&path, &json!({ "merchantId": merchant, "status": "inactive" })).await.expect(200);
    app.run_jobs().await;
    let listed = app.get(&format!("{RECEIVABLES}?sellerId={}", text(&seller["id"]))).await.expect(200);
    assert_eq!(listed["summary"]["receivableCount"], 0);
    denied(&app.post(PREPAYMENT, &everything_of(&seller)).await, 422, NOTHING);
    denied(&commit(&app, &offer).await, 422, CHANGED);
    app.patch(&path, &json!({ "merchantId": merchant, "status": "active" })).await.expect(200);
    app.run_jobs().await;
    assert_eq!(commit(&app, &offer).await.expect(200)["status"], "committed");
}

async fn what_is_given_back_is_not_paid_early(app: TestApp) {
    let merchant = enabled(&app).await;
    let given_back = captured(&app, &app.client, &merchant, 1_000).await;
    captured(&app, &app.client, &merchant, 4_000).await;
    let offer = simulated(&app, &everything()).await;
    assert_eq!(offer["grossAmount"], 5_000);
    app.post(&format!("/v1/charges/{given_back}/void"), &json!({ "amount": 400 })).await.expect(201);
    // Whether or not the orders know of it.
    denied(&commit(&app, &offer).await, 422, CHANGED);
    app.run_jobs().await;
    denied(&commit(&app, &offer).await, 422, CHANGED);
    let offer = simulated(&app, &everything()).await;
    assert_eq!((&offer["grossAmount"], &offer["items"][0]["grossAmount"]), (&json!(4_600), &json!(600)));
    app.post(&format!("/v1/charges/{given_back}/void"), &json!({})).await.expect(201);
    app.run_jobs().await;
    assert_eq!(app.get(RECEIVABLES).await.expect(200)["summary"]["availableAmount"], 4_000);
    denied(&commit(&app, &offer).await, 422, CHANGED);
}

async fn what_is_disputed_is_not_paid_early(app: TestApp) {
    let app = app.reachable().await;
    let merchant = enabled(&app).await;
    let disputed = captured(&app, &app.client, &merchant, 1_000).await;
    captured(&app, &app.client, &merchant, 4_000).await;
    let offer = simulated(&app, &everything()).await;
    let opened = Staged::Case { number: 1, kind: ReversalKind::DisputeOpened, amount: None };
    assert_eq!(told_of(&app, &disputed, opened).await["isDispute"], true);
    denied(&commit(&app, &offer).await, 422, CHANGED);
    assert_eq!(simulated(&app, &everything()).await["grossAmount"], 4_000);
    let won = Staged::Case { number: 1, kind: ReversalKind::DisputeWon, amount: None };
    assert_eq!(told_of(&app, &disputed, won).await["isDispute"], false);
    assert_eq!(commit(&app, &offer).await.expect(200)["grossAmount"], 5_000);
}

async fn another_account_sees_nothing(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 100).await;
    let offer = simulated(&app, &everything()).await;
    let other = As::another_client(&app).await;
    let path = format!("{PREPAYMENT}/{}", text(&offer["id"]));
    let commit_path = format!("{path}/commit");
    denied(&other.get(RECEIVABLES).await, 403, "prepayment is not enabled for this account");
    operator(&app, other.client.id.parse().unwrap(), PUBLISHED).await;
    assert_eq!(other.get(RECEIVABLES).await.expect(200)["receivables"], json!([]));
    denied(&other.get(&path).await, 404, "Resource not found");
    denied(&other.post(&commit_path, &json!({})).await, 404, "Resource not found");
    let own = merchant_of(&app, &other.client).await;
    captured(&app, &other.client, &own, 700).await;
    let of_other =
        app.call(&other.client, Method::POST, PREPAYMENT, &[], Some(&everything())).await.expect(201);
    assert_eq!(of_other["grossAmount"], 700);
    denied(&commit(&app, &of_other).await, 404, "Resource not found");
    assert_eq!(commit(&app, &offer).await.expect(200)["grossAmount"], 100);
}
