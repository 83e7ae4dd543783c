//! How money reaches receivers (`docs/interface/payouts.md`): what a capture makes, what is paid on which day, and what is taken back.

mod bank;
mod by_hand;
mod crashes;
mod debts;
mod files;
mod held;
mod lists;
mod month;

use std::time::Duration;

use regente_domain::charge::reversal::ReversalKind;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::charges::void;
use crate::support::clocks::advance;
use crate::support::disputes::told_of;
use crate::support::payouts::{
    BATCHES, ORDERS, all_of_it, balance, card_payment, every_cent_is_accounted_for, listed, pix_payment,
    platform, seller,
};
use crate::support::platform_fees::keep;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_charge_in_installments_is_paid_out_month_by_month,
    a_refund_reduces_what_is_due_or_is_set_off,
    a_charge_back_is_a_debt_that_a_later_batch_sets_off,
    a_dispute_that_is_won_pays_no_installment_early,
    what_merchants_and_fees_bring_is_the_accounts_own,
    payouts_follow_the_clock_of_the_account,
    a_holiday_of_the_operator_is_no_payday,
    a_reservation_and_other_providers_make_no_orders,
}

/// What an order says, in one line.
fn line(order: &Value) -> Value {
    let of = |name: &str| order[name].clone();
    assert_eq!(
        order["amount"].as_i64().unwrap(),
        order["grossAmount"].as_i64().unwrap() - order["totalFeeAmount"].as_i64().unwrap()
    );
    json!([of("type"), of("grossAmount"), of("totalFeeAmount"), of("installment"), of("paymentScheduledAt")])
}

fn lines(orders: &[Value]) -> Vec<Value> {
    orders.iter().map(line).collect()
}

async fn a_charge_in_installments_is_paid_out_month_by_month(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let half = json!([{ "sellerId": rita, "percentage": 50 }]);
    let id = card_payment(&app, &merchant, 10_000, 3, Some(half)).await;
    app.run_jobs().await;

    // Of 50.00: 3 % and 39 cents are 1.89.
    let orders = listed(&app, ORDERS, &format!("chargeId={id}&sellerId={rita}")).await;
    let expected = [
        json!(["authorization", 1667, 63, 1, "2026-04-22"]),
        json!(["authorization", 1667, 63, 2, "2026-05-22"]),
        json!(["authorization", 1666, 63, 3, "2026-06-22"]),
    ];
    assert_eq!(lines(&orders), expected);
    let first = &orders[0];
    assert_eq!((&first["totalInstallments"], &first["paymentMethod"]), (&json!(3), &json!("credit")));
    assert_eq!((&first["paymentArrangement"], &first["currency"]), (&json!("VCC"), &json!("BRL")));
    assert_eq!((&first["chargeId"], &first["paymentBatchId"]), (&json!(id), &Value::Null));
    // The merchant's half is the account's.
    assert_eq!(listed(&app, ORDERS, &format!("chargeId={id}")).await.len(), 6);
    assert_eq!(balance(&app, Some(&rita)).await, (0, 4_811));
    assert_eq!(balance(&app, None).await, (0, 4_811));
    every_cent_is_accounted_for(&app).await;

    app.later(31 * DAY).await;
    let batches = listed(&app, BATCHES, &format!("sellerId={rita}")).await;
    assert_eq!(batches.len(), 1, "{batches:#?}");
    let expected = json!({
        "amount": 1667, "feeAmount": 63, "totalFeeAmount": 63, "balanceAmount": 0, "creditAmount": 0, "refundAmount": 0,
        "debitAdjustmentAmount": 0, "creditAdjustmentAmount": 0, "finalBalance": 1604, "withdrawalFeeAmount": 0,
        "reportUrl": null, "paymentDate": "2026-04-22", "payoutDate": "2026-04-22", "status": "paid",
        "feature": "subacquirer", "paymentMethod": "credit", "paymentArrangement": "VCC", "error": null,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&batches[0][name], value, "{name}");
    }
    let of_batch =
        listed(&app, &format!("{BATCHES}/{}/orders", batches[0]["id"].as_str().unwrap()), "").await;
    assert_eq!(of_batch.len(), 1);
    assert_eq!((&of_batch[0]["id"], &of_batch[0]["paymentBatchId"]), (&first["id"], &batches[0]["id"]));
    assert_eq!(balance(&app, Some(&rita)).await, (0, 3_207));
    every_cent_is_accounted_for(&app).await;

    app.later(70 * DAY).await;
    assert_eq!(listed(&app, BATCHES, "status=paid").await.len(), 6);
    assert_eq!((balance(&app, Some(&rita)).await, balance(&app, None).await), ((0, 0), (0, 0)));
    let statements = every_cent_is_accounted_for(&app).await;
    assert!(statements.iter().all(|line| (line.captured, line.fees, line.paid) == (5_000, 189, 4_811)));
}

async fn a_refund_reduces_what_is_due_or_is_set_off(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let id = card_payment(&app, &merchant, 10_000, 1, Some(all_of_it(&rita))).await;
    void(&app, &id, json!({ "amount": 4_000 })).await.expect(201);
    app.run_jobs().await;
    // Of the fee of 3.39 the part of 40.00 is given back: 1.356.
    let orders = listed(&app, ORDERS, &format!("chargeId={id}")).await;
    let expected = [
        json!(["authorization", 10_000, 339, 1, "2026-04-22"]),
        json!(["void", -4_000, -136, 1, "2026-04-22"]),
    ];
    assert_eq!(lines(&orders), expected);
    assert_eq!(balance(&app, Some(&rita)).await, (0, 5_797));
    app.later(31 * DAY).await;
    let batches = listed(&app, BATCHES, "").await;
    let told = |batch: &Value| {
        let of = |name: &str| batch[name].clone();
        json!([
            of("amount"),
            of("totalFeeAmount"),
            of("refundAmount"),
            of("balanceAmount"),
            of("finalBalance"),
            of("status")
        ])
    };
    assert_eq!(batches.iter().map(told).collect::<Vec<_>>(), [json!([10_000, 203, 4_000, 0, 5_797, "paid"])]);

    // After it was paid: due on the next payday, when there is nothing to set it off against.
    void(&app, &id, json!({})).await.expect(201);
    app.run_jobs().await;
    let orders = listed(&app, ORDERS, &format!("chargeId={id}")).await;
    assert_eq!(line(&orders[2]), json!(["void", -6_000, -203, 1, "2026-04-24"]));
    assert_eq!(orders.iter().map(|order| order["amount"].as_i64().unwrap()).sum::<i64>(), 0);
    assert_eq!(balance(&app, Some(&rita)).await, (0, -5_797));
    app.later(2 * DAY).await;
    assert_eq!(balance(&app, Some(&rita)).await, (-5_797, 0));
    let offset = listed(&app, BATCHES, "status=offset").await;
    assert_eq!(offset.iter().map(told).collect::<Vec<_>>(), [json!([0, -203, 6_000, 0, -5_797, "offset"])]);
    assert_eq!(offset[0]["payoutDate"], Value::Null);
    every_cent_is_accounted_for(&app).await;

    // The next batch sets it off: first all of a small one, then the rest.
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.later(5 * DAY).await;
    let offset = listed(&app, BATCHES, "status=offset").await;
    assert_eq!(told(&offset[1]), json!([1_000, 10, 0, 990, 0, "offset"]));
    assert_eq!(balance(&app, Some(&rita)).await, (-4_807, 0));
    pix_payment(&app, &merchant, 10_000, Some(all_of_it(&rita))).await;
    app.later(5 * DAY).await;
    let paid = listed(&app, BATCHES, "status=paid").await;
    assert_eq!(told(&paid[1]), json!([10_000, 100, 0, 4_807, 5_093, "paid"]));
    assert_eq!(paid[1]["paymentArrangement"], Value::Null);
    assert_eq!(balance(&app, Some(&rita)).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}

async fn a_charge_back_is_a_debt_that_a_later_batch_sets_off(app: TestApp) {
    let app = app.reachable().await;
    let merchant = platform(&app).await;
    let id = card_payment(&app, &merchant, 10_000, 2, None).await;
    app.later(31 * DAY).await;
    assert_eq!(listed(&app, BATCHES, "status=paid").await.len(), 1);
    told_of(&app, &id, Staged::ChargedBack).await;
    let orders = listed(&app, ORDERS, &format!("chargeId={id}")).await;
    // What is not paid out yet is reduced on its day; what is has to come back on the next business day.
    let expected = [
        json!(["authorization", 5_000, 170, 1, "2026-04-22"]),
        json!(["authorization", 5_000, 169, 2, "2026-05-22"]),
        json!(["charge_back", -5_000, -169, 2, "2026-05-22"]),
        json!(["charge_back", -5_000, -170, 1, "2026-04-24"]),
    ];
    assert_eq!(lines(&orders), expected);
    app.later(2 * DAY).await;
    assert_eq!(balance(&app, None).await, (-4_830, 0));
    let offset = listed(&app, BATCHES, "status=offset").await;
    assert_eq!(
        (&offset[0]["debitAdjustmentAmount"], &offset[0]["finalBalance"]),
        (&json!(5_000), &json!(-4_830))
    );
    pix_payment(&app, &merchant, 10_000, None).await;
    app.later(5 * DAY).await;
    let paid = listed(&app, BATCHES, "status=paid").await;
    assert_eq!((&paid[1]["balanceAmount"], &paid[1]["finalBalance"]), (&json!(4_830), &json!(5_070)));
    app.later(40 * DAY).await;
    assert_eq!(balance(&app, None).await, (0, 0));
    let statements = every_cent_is_accounted_for(&app).await;
    assert_eq!((statements[0].charged_back, statements[0].fees), (10_000, 100));
}

async fn a_dispute_that_is_won_pays_no_installment_early(app: TestApp) {
    let app = app.reachable().await;
    let merchant = platform(&app).await;
    let id = card_payment(&app, &merchant, 12_000, 12, None).await;
    app.run_jobs().await;
    let of_charge = format!("chargeId={id}");
    let (brought, held) = (listed(&app, ORDERS, &of_charge).await, balance(&app, None).await);
    assert_eq!((brought.len(), held), (12, (0, 11_601)));
    for (days, kind) in
        [(1, ReversalKind::DisputeOpened), (1, ReversalKind::DisputeLost), (3, ReversalKind::DisputeWon)]
    {
        app.later(days * DAY).await;
        told_of(&app, &id, Staged::Case { number: 1, kind, amount: None }).await;
    }
    let orders = listed(&app, ORDERS, &of_charge).await;
    assert_eq!(orders.len(), 36, "what came, was taken and came back");
    let mut back = lines(&orders[24..]);
    back.sort_by_key(|line| line[3].as_u64());
    assert_eq!((back, balance(&app, None).await), (lines(&brought), held));
    app.later(20 * DAY).await;
    assert_eq!(listed(&app, BATCHES, "").await.len(), 0);
    app.later(10 * DAY).await;
    let paid = listed(&app, BATCHES, "").await;
    assert_eq!((paid.len(), &paid[0]["finalBalance"]), (1, &json!(966)));
    every_cent_is_accounted_for(&app).await;
}

async fn what_merchants_and_fees_bring_is_the_accounts_own(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    keep(&app, &merchant, &json!([{ "paymentMethod": "credit", "percentage": 10, "installment": 1 }])).await;
    let half = json!([{ "sellerId": rita, "percentage": 50 }]);
    card_payment(&app, &merchant, 1_000, 1, Some(half)).await;
    app.run_jobs().await;
    let grosses = async |filter: &str| -> Vec<i64> {
        let orders = listed(&app, ORDERS, filter).await;
        orders.iter().map(|order| order["grossAmount"].as_i64().unwrap()).collect()
    };
    // 1.00 is the platform's; the rest is halved.
    assert_eq!(grosses(&format!("sellerId={rita}")).await, [450]);
    assert_eq!(grosses("").await, [550, 450]);
    app.later(31 * DAY).await;
    every_cent_is_accounted_for(&app).await;
}

async fn payouts_follow_the_clock_of_the_account(app: TestApp) {
    let merchant = platform(&app).await;
    card_payment(&app, &merchant, 10_000, 3, None).await;
    advance(&app, "95d").await;
    let paid = listed(&app, BATCHES, "status=paid").await;
    let days: Vec<&Value> = paid.iter().map(|batch| &batch["payoutDate"]).collect();
    assert_eq!(days, [&json!("2026-04-22"), &json!("2026-05-22"), &json!("2026-06-22")]);
    assert_eq!(balance(&app, None).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}

async fn a_holiday_of_the_operator_is_no_payday(app: TestApp) {
    let app = app.with_holiday("2026-04-22").await;
    let merchant = platform(&app).await;
    let id = card_payment(&app, &merchant, 10_000, 1, None).await;
    app.later(31 * DAY).await;
    let orders = listed(&app, ORDERS, &format!("chargeId={id}")).await;
    assert_eq!(lines(&orders), [json!(["authorization", 10_000, 339, 1, "2026-04-23"])]);
    assert_eq!(listed(&app, BATCHES, "").await[0]["payoutDate"], "2026-04-23");
    every_cent_is_accounted_for(&app).await;
}

async fn a_reservation_and_other_providers_make_no_orders(app: TestApp) {
    let merchant = platform(&app).await;
    let body = crate::support::bodies::Charge::by_card(&merchant, crate::support::bodies::APPROVED);
    let reserved = app.post("/v1/charges", &body.amount(900).reserved().body()).await.expect(201);
    let elsewhere = app.merchant().await;
    let other = crate::support::bodies::charge_body(&elsewhere, crate::support::bodies::APPROVED);
    app.post("/v1/charges", &other).await.expect(201);
    app.run_jobs().await;
    assert_eq!(listed(&app, ORDERS, "").await.len(), 0);
    let id = reserved["id"].as_str().unwrap();
    app.post(&format!("/v1/charges/{id}/capture"), &json!({ "amount": 600 })).await.expect(201);
    app.run_jobs().await;
    assert_eq!(lines(&listed(&app, ORDERS, "").await), [json!(["authorization", 600, 57, 1, "2026-04-22"])]);
    every_cent_is_accounted_for(&app).await;
}
