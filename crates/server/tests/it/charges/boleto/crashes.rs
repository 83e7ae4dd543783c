//! The process stops at each write and around each call while a boleto is made, while its payments are found, and while a
//! settlement is taken back. At the end the charge agrees with the simulator's books, and nothing was done twice.

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::super::crashes::{count, settled, while_it_is_made, while_jobs_find_it};
use super::super::payers::paid;
use super::super::pix::paid::{HOUR, PAYS_AGAIN};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose};
use crate::support::charges::single_merchant;
use crate::support::payers::happens;

stories! {
    while_a_boleto_is_made,
    while_a_second_payment_is_given_back,
    while_a_settlement_is_taken_back,
}

async fn while_a_boleto_is_made(app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    // In a week, whatever time it is by then.
    body["paymentMethod"].as_object_mut().unwrap().shift_remove("expiresDate");
    while_it_is_made(app, &body).await;
}

/// A boleto that was paid, and then something else happens to it.
async fn paid_and_then(app: &TestApp, body: &Value, what: Staged) -> Value {
    let charge = paid(app, body).await;
    happens(app, &charge, 0, what).await;
    charge
}

async fn while_a_second_payment_is_given_back(app: TestApp) {
    let body = boleto_body(&single_merchant(&app).await, described(jose()));
    let pays_twice = async |app: &TestApp| paid_and_then(app, &body, PAYS_AGAIN).await;
    while_jobs_find_it(app, 4, pays_twice, async |app, charge, steps| {
        let after = settled(app, charge, HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(15000)));
        let counted = (count(&after, "authorization", "success"), count(&after, "void", "success"));
        assert_eq!(counted, (2, 1), "after {steps} steps: {after:#}");
    })
    .await;
}

async fn while_a_settlement_is_taken_back(app: TestApp) {
    let body = boleto_body(&single_merchant(&app).await, described(jose()));
    let is_taken_back = async |app: &TestApp| paid_and_then(app, &body, Staged::TakenBack).await;
    while_jobs_find_it(app, 3, is_taken_back, async |app, charge, steps| {
        let after = settled(app, charge, HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("voided"), &json!(0)), "{after:#}");
        assert_eq!(count(&after, "void", "success"), 1, "after {steps} steps: {after:#}");
    })
    .await;
}
