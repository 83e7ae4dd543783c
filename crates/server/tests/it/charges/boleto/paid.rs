//! What payers of boletos do: they pay in time, late, twice, another amount, or not at all.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::super::payers::{
    found_with_its_instructions, has_expired, is_paid, nothing_is_kept, pays_after_a_withdrawal,
    pays_another_amount, pays_late, pays_twice,
};
use super::super::pix::paid::{HOUR, agrees};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, with_late_charges};
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{PAYS, happens, requests};
use crate::support::read::{announced, text};

stories! {
    a_payment_in_time_settles_the_boleto,
    who_pays_late_pays_interest_and_fine,
    a_due_date_without_banking_moves_to_the_next_business_day,
    another_amount_is_what_the_merchant_has,
    nobody_pays_and_the_charge_expires_after_three_business_days,
    a_holiday_of_the_operator_is_no_business_day,
    a_payment_after_the_expiry_counts,
    what_is_paid_twice_is_given_back_once,
    what_is_paid_after_a_withdrawal_is_given_back,
    a_boleto_is_neither_captured_nor_voided,
    a_lost_answer_is_found_with_its_line,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A boleto of 150.00 that falls due on 2026-03-30 and awaits its payer.
pub(super) async fn awaiting(app: &TestApp) -> Value {
    let body = boleto_body(&single_merchant(app).await, described(jose()));
    app.post("/v1/charges", &body).await.expect(201)
}

/// Lets time pass until then.
async fn until(app: &TestApp, then: &str) {
    let then = Timestamp::parse(then).unwrap();
    app.later(then.since(app.clock.deployment())).await;
}

async fn a_payment_in_time_settles_the_boleto(app: TestApp) {
    let charge = awaiting(&app).await;
    // The due date ends in São Paulo, three hours after it does in UTC.
    until(&app, "2026-03-31T02:59:00Z").await;
    assert_eq!(read(&app, &charge).await, charge, "a payer who is away changes nothing");
    happens(&app, &charge, 0, PAYS).await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(DAY).await;
    let paid = is_paid(&app, &charge).await;
    app.later(14 * DAY).await;
    assert_eq!(read(&app, &charge).await, paid);
}

async fn who_pays_late_pays_interest_and_fine(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let fixed = json!({ "days": 1, "amount": 100 });
    let monthly = json!({ "days": 1, "percentage": 3 });
    let fine = json!({ "days": 2, "percentage": 2 });
    // Paid on 2026-03-30, 03-31 and 04-01: the due date, and one and two days later. 3 % a month are 15 a day.
    let cases = [
        ("2026-03-31T02:59:59Z", &fixed, 15000),
        ("2026-03-31T03:00:00Z", &fixed, 15100),
        ("2026-03-31T12:00:00Z", &monthly, 15015),
        ("2026-04-01T12:00:00Z", &fixed, 15000 + 200 + 300),
        ("2026-04-01T13:00:00Z", &monthly, 15000 + 30 + 300),
    ];
    let mut charges = Vec::new();
    for (_, interest, _) in &cases {
        let body = boleto_body(&merchant, described(jose()));
        let body = with_late_charges(body, Value::clone(interest), fine.clone());
        charges.push(app.post("/v1/charges", &body).await.expect(201));
    }
    for ((when, _, _), charge) in cases.iter().zip(&charges) {
        until(&app, when).await;
        happens(&app, charge, 0, PAYS).await;
    }
    app.later(DAY).await;
    for ((when, _, amount), charge) in cases.iter().zip(&charges) {
        let paid = read(&app, charge).await;
        assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(amount)), "{when}");
        assert_eq!(paid["originalAmount"], 15000);
        assert_eq!(requests(&paid)[0], ("authorization", "success", *amount));
    }
}

async fn a_due_date_without_banking_moves_to_the_next_business_day(app: TestApp) {
    let body = boleto_body(&single_merchant(&app).await, described(jose()));
    let mut body = with_late_charges(body, json!({ "days": 1, "amount": 100 }), Value::Null);
    // A Saturday.
    body["paymentMethod"]["expiresDate"] = json!("2026-03-28");
    let [monday, tuesday, never] = [
        app.post("/v1/charges", &body).await.expect(201),
        app.post("/v1/charges", &body).await.expect(201),
        app.post("/v1/charges", &body).await.expect(201),
    ];
    until(&app, "2026-03-30T20:00:00Z").await;
    happens(&app, &monday, 0, PAYS).await;
    until(&app, "2026-03-31T20:00:00Z").await;
    happens(&app, &tuesday, 0, PAYS).await;
    until(&app, "2026-04-03T02:59:59Z").await;
    assert_eq!(read(&app, &monday).await["amount"], 15000, "in time");
    assert_eq!(read(&app, &tuesday).await["amount"], 15300, "three days late");
    assert_eq!(read(&app, &never).await["status"], "pending");
    app.later(Duration::from_secs(1)).await;
    assert_eq!(read(&app, &never).await["status"], "failed");
}

async fn another_amount_is_what_the_merchant_has(app: TestApp) {
    for amount in [14900, 16000] {
        let charge = awaiting(&app).await;
        pays_another_amount(&app, &charge, amount).await;
    }
}

async fn nobody_pays_and_the_charge_expires_after_three_business_days(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    // A Tuesday. Friday 2026-04-03 is Good Friday, so the third business day is Monday 2026-04-06.
    body["paymentMethod"]["expiresDate"] = json!("2026-03-31");
    let charge = app.post("/v1/charges", &body).await.expect(201);
    until(&app, "2026-04-07T02:59:59Z").await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(Duration::from_secs(1)).await;
    has_expired(&app, &charge).await;
}

async fn a_holiday_of_the_operator_is_no_business_day(app: TestApp) {
    let app = app.with_holiday("2026-04-06").await;
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    body["paymentMethod"]["expiresDate"] = json!("2026-03-31");
    let charge = app.post("/v1/charges", &body).await.expect(201);
    until(&app, "2026-04-08T02:59:59Z").await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(Duration::from_secs(1)).await;
    has_expired(&app, &charge).await;
}

async fn a_payment_after_the_expiry_counts(app: TestApp) {
    let charge = awaiting(&app).await;
    until(&app, "2026-04-03T04:00:00Z").await;
    pays_late(&app, &charge).await;
}

async fn what_is_paid_twice_is_given_back_once(app: TestApp) {
    let charge = awaiting(&app).await;
    // Found by the looks until the boleto expires; the void is sent by the reconcile job.
    let twice = pays_twice(&app, &charge, 2 * DAY, "success").await;
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    agrees(&app, &twice).await;
}

async fn what_is_paid_after_a_withdrawal_is_given_back(app: TestApp) {
    let charge = awaiting(&app).await;
    let key = pays_after_a_withdrawal(&app, &charge, "success").await;
    nothing_is_kept(&app, key).await;
}

async fn a_boleto_is_neither_captured_nor_voided(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    let refused = async |operation: &str, body: Value, message: &str| {
        let answer = app.post(&format!("/v1/charges/{id}/{operation}"), &body).await.expect(400);
        assert_eq!(answer["error"]["message"], message);
        assert_eq!(answer["error"]["type"], "invalid_request_error");
    };
    refused("capture", json!({}), "charge cannot be captured in status pending").await;
    refused("void", json!({}), "charge cannot be voided in status pending").await;
    happens(&app, &charge, 0, PAYS).await;
    app.later(HOUR).await;
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized");
    refused("capture", json!({}), "charge cannot be captured in status authorized").await;
    refused("void", json!({}), "charge with paymentType boleto cannot be voided").await;
    refused("void", json!({ "amount": 1 }), "charge with paymentType boleto cannot be voided").await;
    assert_eq!(read(&app, &charge).await, paid);
    agrees(&app, &paid).await;
}

async fn a_lost_answer_is_found_with_its_line(app: TestApp) {
    let body = boleto_body(&single_merchant(&app).await, described(jose()));
    let found = found_with_its_instructions(&app, body).await;
    assert_eq!(text(&found["paymentMethod"]["barcodeData"]).len(), 47);
    happens(&app, &found, 0, PAYS).await;
    app.later(HOUR).await;
    assert_eq!(read(&app, &found).await["status"], "authorized");
}
