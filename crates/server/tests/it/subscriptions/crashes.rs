//! The process stops at each step of a cycle's life: one approved charge for each paid cycle, which agrees with the simulator's books.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::crashes::{at_each_step, stopped_while};
use crate::support::read::text;
use crate::support::sessions::{buyer, read as session_of};
use crate::support::subscriptions::{Parties, ask, charges_of, day, made, path_of, put, read};

use super::card_links;
use super::cycles::{DAY, REFUSED, TAKEN_AWAY};

const HOUR: Duration = Duration::from_secs(60 * 60);

stories! {
    while_a_cycle_is_charged,
    while_a_cycle_is_refused_and_paid_by_another_card,
    while_a_buyer_gives_another_card,
    while_its_status_changes,
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

/// The trial ends, a cycle is charged, it is paused and resumed, and the end comes on the day that was set.
async fn while_its_status_changes(app: TestApp) {
    let parties = Parties::of(&app).await;
    at_each_step(app, 20, async |app, steps| {
        let body = json!({ "recurrence": { "interval": "daily" }, "trial": { "endAt": day(&app, 1) } });
        let subscription = made(&app, &parties.body(&body)).await;
        let ends_tomorrow = async |app: &TestApp| {
            let end = json!({ "cancelAtPeriodEnd": true, "scheduledCancellationAt": day(app, 1) });
            put(app, &subscription, &end).await;
            app.later(DAY).await;
        };
        let (app, is_done) = stopped_while(app, steps, async |app| {
            app.later(DAY).await;
            ask(app, &subscription, "pause").await;
            ask(app, &subscription, "resume").await;
            ends_tomorrow(app).await;
        })
        .await;
        // What the process did not come to is asked for again; it may be done, and is refused then.
        ask(&app, &subscription, "resume").await;
        ends_tomorrow(&app).await;
        nothing_is_open(&app).await;
        assert_eq!(read(&app, &subscription).await["status"], "canceled", "after {steps} steps");
        let cycles = app.get(&format!("{}/cycles?limit=100", path_of(&subscription))).await.expect(200);
        let authorized =
            |all: &Value| all.as_array().unwrap().iter().filter(|one| one["status"] == "authorized").count();
        let charges = json!(charges_of(&app, &subscription).await);
        assert_eq!(
            authorized(&cycles["items"]),
            authorized(&charges),
            "after {steps} steps: {cycles:#} {charges:#}"
        );
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        (app, is_done)
    })
    .await;
}

/// The card is stored and checked first; the subscription has it, or it has not, and the same request goes on.
async fn while_a_buyer_gives_another_card(app: TestApp) {
    at_each_step(app, 4, async |app, steps| {
        let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(&app).await };
        let subscription = made(&app, &parties.body(&json!({}))).await;
        app.run_jobs().await;
        let session = card_links::link(&app, &subscription).await;
        let body = card_links::token(&app, &session, APPROVED).await;
        let (key, path, headers) =
            (buyer(&session), card_links::card_path(&session), [("X-Idempotency-Key", "card")]);
        let (app, is_done) = stopped_while(app, steps, async |app| {
            app.call(&key, Method::POST, &path, &headers, Some(&body)).await.expect(201);
        })
        .await;
        // What a provider did not answer in time is known by then.
        app.later(HOUR).await;
        let now = read(&app, &subscription).await;
        let given = session_of(&app, &session).await["isActive"] == false;
        assert_eq!(given, now["paymentMethod"]["card"]["cardId"] != parties.card, "after {steps} steps");
        let again = app.call(&key, Method::POST, &path, &headers, Some(&body)).await;
        if again.status == 424 {
            // The check was never answered, and there is no card: the buyer types it once more.
            let body = card_links::token(&app, &session, APPROVED).await;
            let other = [("X-Idempotency-Key", "another")];
            app.call(&key, Method::POST, &path, &other, Some(&body)).await.expect(201);
        } else {
            assert_eq!(again.expect(201)["saved"], true, "after {steps} steps");
        }
        app.later(HOUR).await;
        nothing_is_open(&app).await;
        let now = read(&app, &subscription).await;
        assert_eq!(now["status"], "active", "after {steps} steps");
        let charges = charges_of(&app, &subscription).await;
        let mut statuses: Vec<_> = charges.iter().map(|charge| text(&charge["status"])).collect();
        // Ids of two processes in the same millisecond have no order.
        statuses.sort_unstable();
        assert_eq!(statuses, ["authorized", "failed"], "after {steps} steps");
        let cards = app.get(&format!("/v1/customers/{}/cards", parties.customer)).await.expect(200);
        let of_customer = cards.as_array().unwrap().iter().map(|card| card["id"].clone());
        let linked = of_customer.filter(|id| *id == now["paymentMethod"]["card"]["cardId"]).count();
        assert_eq!(linked, 1, "after {steps} steps: {cards:#}");
        (app, is_done)
    })
    .await;
}
