//! The process stops at each step of a cycle's life: one approved charge for each paid cycle, which agrees with the simulator's books.

use serde_json::json;

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::crashes::at_each_step;
use crate::support::subscriptions::{Parties, day, made, put, read};

use super::cycles::{DAY, REFUSED, charges_of};

stories! {
    while_a_cycle_is_charged,
    while_a_cycle_is_refused_and_paid_by_another_card,
}

async fn while_a_cycle_is_charged(app: TestApp) {
    let parties = Parties::of(&app).await;
    at_each_step(app, 4, async |app, steps| {
        let body = json!({ "recurrence": { "interval": "daily", "cycles": 1, "startAt": day(&app, 1) } });
        let subscription = made(&app, &parties.body(&body)).await;
        let (app, is_done) = stopped_while(app, steps, async |app| app.later(DAY).await).await;
        app.later(2 * DAY).await;
        nothing_is_open(&app).await;
        let charges = charges_of(&app, &subscription).await;
        let paid = charges.iter().filter(|charge| charge["status"] == "authorized").count();
        // A request that was never sent counts as refused: its cycle is tried again on the next day.
        assert!(paid == 1 && charges.len() <= 2, "after {steps} steps: {charges:#?}");
        assert_eq!(read(&app, &subscription).await["status"], "expired", "after {steps} steps");
        (app, is_done)
    })
    .await;
}

async fn while_a_cycle_is_refused_and_paid_by_another_card(app: TestApp) {
    let parties = Parties { card: app.card(REFUSED).await, ..Parties::of(&app).await };
    let card =
        json!({ "paymentMethod": { "type": "credit", "card": { "cardId": app.card(APPROVED).await } } });
    at_each_step(app, 12, async |app, steps| {
        let body = json!({ "recurrence": { "interval": "monthly", "cycles": 1, "startAt": day(&app, 1) } });
        let subscription = made(&app, &parties.body(&body)).await;
        let (app, is_done) = stopped_while(app, steps, async |app| {
            app.later(2 * DAY).await;
            put(app, &subscription, &card).await;
            app.later(DAY).await;
        })
        .await;
        put(&app, &subscription, &card).await;
        app.later(6 * DAY).await;
        nothing_is_open(&app).await;
        let charges = charges_of(&app, &subscription).await;
        let paid = charges.iter().filter(|charge| charge["status"] == "authorized").count();
        assert_eq!(paid, 1, "after {steps} steps: {charges:#?}");
        assert!(charges.len() <= 3, "after {steps} steps: {charges:#?}");
        assert_eq!(read(&app, &subscription).await["status"], "expired", "after {steps} steps");
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        (app, is_done)
    })
    .await;
}

/// Lets something happen and stops the process after so many steps; whether it was done before.
async fn stopped_while(app: TestApp, steps: u64, happening: impl AsyncFnOnce(&TestApp)) -> (TestApp, bool) {
    app.fuse.arm(steps);
    let fuse = app.fuse.clone();
    let is_done = tokio::select! {
        () = happening(&app) => true,
        () = fuse.blown() => false,
    };
    if is_done {
        app.fuse.disarm();
        return (app, true);
    }
    let app = app.restart().await;
    app.end_leases().await;
    (app, false)
}
