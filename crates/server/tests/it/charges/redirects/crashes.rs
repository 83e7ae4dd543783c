//! The process stops at each write and around each call while a NuPay is made, while its payer's refusal is found, and
//! while it is refunded. At the end the charge agrees with the simulator's books, and nothing was done twice.

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::charges::crashes::{count, settled, while_it_is_made, while_it_is_refunded, while_jobs_find_it};
use crate::charges::pix::paid::HOUR;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::nupay_body;
use crate::support::charges::single_merchant;
use crate::support::payers::happens;
use crate::support::read::{announced, text};
use crate::support::time::MINUTE;

stories! {
    while_a_nupay_is_made,
    while_a_refusal_is_found,
    while_a_nupay_expires,
    while_a_nupay_is_refunded,
}

async fn while_a_nupay_is_made(app: TestApp) {
    let body = nupay_body(&single_merchant(&app).await);
    while_it_is_made(app, &body).await;
}

/// What happens in jobs leads to `canceled`, wherever the process stops.
async fn canceled(app: TestApp, happening: impl AsyncFn(&TestApp, &Value)) {
    let body = nupay_body(&single_merchant(&app).await);
    let happens = async |app: &TestApp| {
        let charge = app.post("/v1/charges", &body).await.expect(201);
        happening(app, &charge).await;
        charge
    };
    while_jobs_find_it(app, 3, happens, async |app, charge, steps| {
        let after = settled(app, charge, 24 * HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("canceled"), &json!(0)), "{after:#}");
        assert_eq!(count(&after, "authorization", "failed"), 1, "after {steps} steps: {after:#}");
        assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "canceled"]);
    })
    .await;
}

async fn while_a_refusal_is_found(app: TestApp) {
    canceled(app, async |app, charge| happens(app, charge, 0, Staged::Refusal).await).await;
}

async fn while_a_nupay_expires(app: TestApp) {
    // The jobs of the four minutes that follow find it unpaid.
    canceled(app, async |app, _| app.clock.advance(198 * MINUTE)).await;
}

async fn while_a_nupay_is_refunded(app: TestApp) {
    let body = nupay_body(&single_merchant(&app).await);
    let void = json!({ "amount": 50, "delayToCompose": 2 });
    while_it_is_refunded(app, &body, &void, |app| {
        assert!(app.wire.delays().iter().all(|delay| *delay == Some(2)), "each says the same");
    })
    .await;
}
