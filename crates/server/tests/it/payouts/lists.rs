//! Lists of orders and batches: filters, pages, what is wrong, and what another account sees.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use crate::support::app::{TestApp, stories};
use crate::support::client::As;
use crate::support::payouts::{
    BATCHES, ORDERS, all_of_it, card_payment, listed, pix_payment, platform, seller,
};
use crate::support::read::text;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Of a day, with which a moment begins.
const DAY_CHARS: usize = "2026-03-23".len();

stories! {
    lists_are_filtered,
    another_account_sees_nothing,
}

async fn lists_are_filtered(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let lia = seller(&app, &merchant, 2, "4927").await;
    let first = pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.later(DAY).await;
    let second = pix_payment(&app, &merchant, 2_000, Some(all_of_it(&lia))).await;
    card_payment(&app, &merchant, 3_000, 3, None).await;
    app.later(2 * DAY).await;

    let count = async |path: &str| app.get(path).await.expect(200)["meta"]["totalItems"].as_u64().unwrap();
    let orders = listed(&app, ORDERS, "").await;
    assert_eq!(orders.len(), 5);
    let (from, to) = (text(&orders[0]["createdAt"]), text(&orders[1]["createdAt"]));
    let (day, next_day) = (&from[..DAY_CHARS], &to[..DAY_CHARS]);
    for (filter, expected) in [
        (format!("sellerId={rita}"), 1),
        (format!("chargeId={second}"), 1),
        (format!("chargeId={first}&sellerId={lia}"), 0),
        (format!("chargeId={}", Uuid::nil()), 0),
        (format!("startDate={from}&endDate={from}"), 1),
        (format!("startDate={to}"), 4),
        (format!("endDate={to}"), if orders[1]["createdAt"] == orders[4]["createdAt"] { 5 } else { 2 }),
        // A day belongs to the period as a whole.
        (format!("startDate={day}&endDate={day}"), 1),
        (format!("endDate={next_day}"), 5),
        (format!("startDate={next_day}"), 4),
        ("startDate=2027-01-01".to_owned(), 0),
    ] {
        assert_eq!(count(&format!("{ORDERS}?{filter}")).await, expected, "{filter}");
    }
    let page = app.get(&format!("{ORDERS}?limit=2&page=3&order=desc")).await.expect(200);
    assert_eq!(page["items"], json!([orders[0]]));
    let expected =
        json!({ "totalItems": 5, "itemCount": 1, "itemsPerPage": 2, "totalPages": 3, "currentPage": 3 });
    assert_eq!(page["meta"], expected);
    assert_eq!(app.get(ORDERS).await.expect(200)["items"][0], orders[4], "newest first");

    let batches = listed(&app, BATCHES, "").await;
    let (paid, failed) = (&batches[0], &batches[1]);
    assert_eq!((&paid["status"], &failed["status"]), (&json!("paid"), &json!("failed")));
    for (filter, expected) in [
        (format!("sellerId={rita}"), 1),
        ("status=paid".to_owned(), 1),
        ("status=paid,failed".to_owned(), batches.len() as u64),
        ("status=pending".to_owned(), 0),
        (format!("paymentDate={}", text(&paid["paymentDate"])), 1),
        ("paymentDate=2026-01-01".to_owned(), 0),
        (format!("endDate={}", text(&paid["createdAt"])), 1),
        (format!("startDate={}&status=paid", text(&failed["createdAt"])), 0),
    ] {
        assert_eq!(count(&format!("{BATCHES}?{filter}")).await, expected, "{filter}");
    }

    // One by one, and only if it is that seller's.
    let one = format!("{ORDERS}/{}", text(&orders[0]["id"]));
    assert_eq!(app.get(&one).await.expect(200), orders[0]);
    assert_eq!(app.get(&format!("{one}?sellerId={rita}")).await.expect(200), orders[0]);
    app.get(&format!("{one}?sellerId={lia}")).await.expect(404);
    let one = format!("{BATCHES}/{}", text(&paid["id"]));
    assert_eq!(app.get(&format!("{one}?sellerId={rita}")).await.expect(200), *paid);
    app.get(&format!("{one}?sellerId={lia}")).await.expect(404);
    for path in [ORDERS, BATCHES] {
        app.get(&format!("{path}/{}", Uuid::nil())).await.expect(404);
    }
    app.get(&format!("{BATCHES}/{}/orders", Uuid::nil())).await.expect(404);

    for (wrong, detail) in [
        (format!("{ORDERS}?order=up"), "order must be one of the following values"),
        (format!("{ORDERS}?limit=101"), "limit must not be greater than 100"),
        (format!("{ORDERS}?chargeId=1"), "chargeId must be a UUID"),
        (format!("{BATCHES}?status=lost"), "status must be one of the following values"),
        (format!("{BATCHES}?paymentDate=tomorrow"), "paymentDate must be a valid ISO 8601 date string"),
        (format!("{BATCHES}?startDate=yesterday"), "startDate must be a valid ISO 8601 date string"),
        ("/v1/payouts/balance?sellerId=rita".to_owned(), "sellerId must be a UUID"),
    ] {
        let details = app.get(&wrong).await.details(400);
        assert!(details[0].starts_with(detail), "{wrong}: {details:?}");
    }
}

async fn another_account_sees_nothing(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.later(2 * DAY).await;
    let (order, batch) = (&listed(&app, ORDERS, "").await[0], &listed(&app, BATCHES, "").await[0]);
    let other = As::another_client(&app).await;
    for path in [ORDERS, BATCHES] {
        for filter in ["", &format!("?sellerId={rita}")] {
            assert_eq!(other.get(&format!("{path}{filter}")).await.expect(200)["meta"]["totalItems"], 0);
        }
    }
    other.get(&format!("{ORDERS}/{}", text(&order["id"]))).await.expect(404);
    other.get(&format!("{BATCHES}/{}", text(&batch["id"]))).await.expect(404);
    other.get(&format!("{BATCHES}/{}/orders", text(&batch["id"]))).await.expect(404);
    let balance = other.get(&format!("/v1/payouts/balance?sellerId={rita}")).await.expect(200);
    assert_eq!(balance, json!({ "available": 0, "receivable": 0 }));
}
