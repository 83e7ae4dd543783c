//! No bank is connected, and the process stops at each step of what operators tell of it: by hand, and by the bank's files. Whoever was
//! not answered tells it again.

use jiff::civil::Date;
use regente::admin::PayoutsTask;
use regente_domain::cnab240::name::name_of;
use regente_domain::id::PaymentBatchId;
use regente_engine::payouts::returned::{Became, Run};

use super::files::{already, became, exported_on, imported};
use crate::support::app::{TestApp, stories};
use crate::support::cnab240::{answered, columns, payments};
use crate::support::crashes::{at_each_step, stopped_while};
use crate::support::payouts::{
    BATCHES, ORDERS, all_of_it, listed, next_payday, on_payday, operator, pix_payment, platform, seller,
    statements_add_up, transfers,
};
use crate::support::read::text;

stories! {
    while_an_operator_tells_what_is_paid,
    while_an_operator_tells_what_came_back,
    while_a_file_is_written,
    while_a_return_file_is_read,
    a_bank_that_is_connected_decides_what_is_pending,
}

/// What a bank says of each payment that it has made.
const ALL_PAID: fn(i64) -> (&'static str, &'static str, i64) = |amount| ("000", "00", amount);

/// What it was told would be paid twice, or never.
async fn a_bank_that_is_connected_decides_what_is_pending(app: TestApp) {
    let merchant = platform(&app).await;
    // Paid, and told a day later.
    let rita = seller(&app, &merchant, 1, "4928").await;
    let charge = pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    on_payday(&app, &next_payday(&app).to_string()).await;
    let batch_id = batch_of(&app, &charge).await;
    for task in
        [PayoutsTask::Paid { batch_id }, PayoutsTask::Failed { batch_id, reason: "by telephone".to_owned() }]
    {
        let refused = operator(&app, task).await.unwrap_err();
        assert_eq!(refused, "a bank is connected, and pays by itself: it decides about what is pending");
        assert_eq!(status_of(&app, batch_id).await, "pending");
    }
    for _ in 0..2 {
        on_payday(&app, &next_payday(&app).to_string()).await;
    }
    assert_eq!(status_of(&app, batch_id).await, "paid");
    assert_eq!(transfers(&app).await.len(), 1);
}

async fn while_an_operator_tells_what_is_paid(app: TestApp) {
    let (app, merchant, sellers) = without_bank(app).await;
    at_each_step(app, 1, async |app, steps| {
        let (_, charges) = due(&app, &merchant, &sellers[..1]).await;
        let batch_id = batch_of(&app, &charges[0]).await;
        let paid = || PayoutsTask::Paid { batch_id };
        let (app, is_done) = stopped_while(app, steps, async |app| {
            operator(app, paid()).await.unwrap();
        })
        .await;
        refused_only_as(operator(&app, paid()).await, "the payment batch is paid");
        assert_eq!(status_of(&app, batch_id).await, "paid", "after {steps} steps");
        paid_in_all(&app, 990 * (steps + 1)).await;
        (app, is_done)
    })
    .await;
}

async fn while_an_operator_tells_what_came_back(app: TestApp) {
    let (app, merchant, sellers) = without_bank(app).await;
    at_each_step(app, 1, async |app, steps| {
        let (_, charges) = due(&app, &merchant, &sellers[..1]).await;
        let batch_id = batch_of(&app, &charges[0]).await;
        operator(&app, PayoutsTask::Paid { batch_id }).await.unwrap();
        let failed = || PayoutsTask::Failed { batch_id, reason: "account closed".to_owned() };
        let (app, is_done) = stopped_while(app, steps, async |app| {
            operator(app, failed()).await.unwrap();
        })
        .await;
        refused_only_as(operator(&app, failed()).await, "the payment batch is failed");
        paid_in_all(&app, 990 * steps).await;
        // The next batch pays it.
        on_payday(&app, &next_payday(&app).to_string()).await;
        let again = batch_of(&app, &charges[0]).await;
        assert_ne!(again, batch_id, "after {steps} steps");
        operator(&app, PayoutsTask::Paid { batch_id: again }).await.unwrap();
        assert_eq!(status_of(&app, batch_id).await, "failed", "after {steps} steps");
        paid_in_all(&app, 990 * (steps + 1)).await;
        (app, is_done)
    })
    .await;
}

/// Whoever has no file asks for the payments of the day once more: they are there under the same names.
async fn while_a_file_is_written(app: TestApp) {
    let (app, merchant, sellers) = without_bank(app).await;
    at_each_step(app, 1, async |app, steps| {
        let (day, charges) = due(&app, &merchant, &sellers[..1]).await;
        let batch_id = batch_of(&app, &charges[0]).await;
        let (app, is_done) = stopped_while(app, steps, async |app| {
            exported_on(app, day, false).await.unwrap();
        })
        .await;
        let file = exported_on(&app, day, true).await.unwrap().text.unwrap();
        let names: Vec<&str> = payments(&file).into_iter().map(|line| columns(line, 74, 20)).collect();
        assert_eq!(names, [name_of(batch_id)], "after {steps} steps");
        imported(&app, &answered(&file, ALL_PAID), Run::Real).await.unwrap();
        paid_in_all(&app, 990 * (steps + 1)).await;
        (app, is_done)
    })
    .await;
}

/// One is paid; the other one is refused, and in the file of the next day.
async fn while_a_return_file_is_read(app: TestApp) {
    let (app, merchant, sellers) = without_bank(app).await;
    at_each_step(app, 2, async |app, steps| {
        let (day, _) = due(&app, &merchant, &sellers).await;
        let written = exported_on(&app, day, false).await.unwrap().text.unwrap();
        let file = answered(&written, |amount| match amount {
            990 => ("000", "00", amount),
            _ => ("000", "AN", 0),
        });
        let (app, is_done) = stopped_while(app, steps, async |app| {
            imported(app, &file, Run::Real).await.unwrap();
        })
        .await;
        assert!(!imported(&app, &file, Run::Real).await.unwrap().is_open(), "after {steps} steps");
        let told = imported(&app, &file, Run::Real).await.unwrap();
        assert_eq!(became(&told), [already("paid"), already("failed")], "after {steps} steps");
        paid_in_all(&app, 990 + 2_970 * steps).await;
        let next = next_payday(&app);
        on_payday(&app, &next.to_string()).await;
        let written = exported_on(&app, next, false).await.unwrap().text.unwrap();
        let told = imported(&app, &answered(&written, ALL_PAID), Run::Real).await.unwrap();
        assert_eq!(became(&told), [Became::Paid], "after {steps} steps");
        paid_in_all(&app, 2_970 * (steps + 1)).await;
        (app, is_done)
    })
    .await;
}

/// A deployment whose operators pay by hand, its merchant, and two sellers.
async fn without_bank(app: TestApp) -> (TestApp, String, [String; 2]) {
    let app = app.without_bank().await;
    let merchant = platform(&app).await;
    let sellers = [seller(&app, &merchant, 1, "4921").await, seller(&app, &merchant, 2, "4922").await];
    (app, merchant, sellers)
}

/// The first seller is due 9.90 on the next business day, the second one 19.80. The day, which has come, and the charges.
async fn due(app: &TestApp, merchant: &str, sellers: &[String]) -> (Date, Vec<String>) {
    let mut charges = Vec::new();
    for (seller, amount) in sellers.iter().zip([1_000, 2_000]) {
        charges.push(pix_payment(app, merchant, amount, Some(all_of_it(seller))).await);
    }
    let day = next_payday(app);
    on_payday(app, &day.to_string()).await;
    (day, charges)
}

/// The batch of the one order of a charge.
async fn batch_of(app: &TestApp, charge: &str) -> PaymentBatchId {
    let orders = listed(app, ORDERS, &format!("chargeId={charge}")).await;
    assert_eq!(orders.len(), 1, "{orders:#?}");
    text(&orders[0]["paymentBatchId"]).parse().unwrap()
}

async fn status_of(app: &TestApp, batch_id: PaymentBatchId) -> String {
    text(&app.get(&format!("{BATCHES}/{batch_id}")).await.expect(200)["status"]).to_owned()
}

/// What is told once more is refused, if it was heard, with this reason.
#[track_caller]
fn refused_only_as<T>(answer: Result<T, String>, why: &str) {
    if let Err(refused) = answer {
        assert!(refused.contains(why), "{refused}");
    }
}

/// So much was paid to all receivers together, and every cent is named.
async fn paid_in_all(app: &TestApp, amount: u64) {
    let paid: i64 = statements_add_up(app).await.iter().map(|line| line.paid).sum();
    assert_eq!(u64::try_from(paid).unwrap(), amount);
}
