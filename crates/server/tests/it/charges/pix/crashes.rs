//! The process stops at each write and around each call while a Pix is made, while its payments are found, and while it is
//! refunded. At the end the charge agrees with the simulator's books, and nothing was done twice.

use regente_providers::staged::Staged;
use serde_json::json;

use super::paid::{HOUR, PAYS_AGAIN};
use crate::charges::crashes::{count, settled, while_it_is_made, while_it_is_refunded, while_jobs_find_it};
use crate::charges::payers::paid;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{happens, void};

stories! {
    while_a_pix_is_made,
    while_a_second_payment_is_given_back,
    while_a_pix_is_refunded,
    while_a_refund_is_confirmed,
}

async fn while_a_pix_is_made(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    while_it_is_made(app, &body).await;
}

async fn while_a_second_payment_is_given_back(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    let pays_twice = async |app: &TestApp| {
        let charge = paid(app, &body).await;
        happens(app, &charge, 0, PAYS_AGAIN).await;
        charge
    };
    while_jobs_find_it(app, 4, pays_twice, async |app, charge, steps| {
        app.later(HOUR).await;
        let found = read(app, charge).await;
        assert_eq!(count(&found, "authorization", "success"), 2, "after {steps} steps: {found:#}");
        assert_eq!(count(&found, "void", "processing"), 1, "after {steps} steps: {found:#}");
        happens(app, charge, 3, Staged::Refund).await;
        let after = settled(app, charge, 24 * HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(150)));
        assert_eq!(count(&after, "void", "success"), 1);
    })
    .await;
}

async fn while_a_pix_is_refunded(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    while_it_is_refunded(app, &body, &json!({ "amount": 50 }), |_| {}).await;
}

async fn while_a_refund_is_confirmed(app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    let is_refunded = async |app: &TestApp| {
        let charge = paid(app, &body).await;
        void(app, &charge, json!({})).await.expect(201);
        happens(app, &charge, 2, Staged::Refund).await;
        charge
    };
    while_jobs_find_it(app, 3, is_refunded, async |app, charge, steps| {
        let after = settled(app, charge, 24 * HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("voided"), &json!(0)), "{after:#}");
        assert_eq!(count(&after, "void", "success"), 1, "after {steps} steps: {after:#}");
    })
    .await;
}
