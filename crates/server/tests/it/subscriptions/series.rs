//! What the charges of a subscription say of its series, and which cards they try.

use regente_store::{args, sql};
use serde_json::{Value, json};

use super::cycles::{DAY, TAKEN_AWAY};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::charges::network_transaction_ids;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, charges_of, day, made, put, read};

stories! {
    each_subscription_names_its_own_first_payment,
    a_new_card_begins_a_series_of_its_own,
    a_card_that_has_failed_is_tried_by_no_other_subscription,
    a_due_date_has_one_job_however_often_it_is_changed,
}

sql! {
    /// The jobs of subscriptions that wait.
    WAITING = "SELECT COUNT(*) AS n FROM jobs WHERE client_id = :client_id AND kind = 'subscription'";
}

async fn each_subscription_names_its_own_first_payment(app: TestApp) {
    let parties = Parties::of(&app).await;
    let daily = parties.body(&json!({ "recurrence": { "interval": "daily", "cycles": 2 } }));
    made(&app, &daily).await;
    app.run_jobs().await;
    made(&app, &daily).await;
    app.run_jobs().await;
    app.later(2 * DAY).await;
    let mut ids = network_transaction_ids(&app).await;
    assert_eq!(ids.len(), 4);
    assert_ne!(ids[0], ids[1], "each first payment has an id of its own: {ids:?}");
    // Which of the two is billed first on the second day is a matter of their ids.
    ids[2..].sort();
    let mut firsts = ids[..2].to_vec();
    firsts.sort();
    assert_eq!(ids[2..], firsts, "each second one names that of its own subscription");
}

async fn a_new_card_begins_a_series_of_its_own(app: TestApp) {
    let parties = Parties::of(&app).await;
    let daily = parties.body(&json!({ "recurrence": { "interval": "daily" } }));
    let subscription = made(&app, &daily).await;
    app.run_jobs().await;
    let card = json!({ "cardId": app.card(APPROVED).await });
    put(&app, &subscription, &json!({ "paymentMethod": { "type": "credit", "card": card } }))
        .await
        .expect(200);
    app.later(2 * DAY).await;
    let ids = network_transaction_ids(&app).await;
    let [first, of_new_card, later, ..] = ids.as_slice() else { panic!("{ids:?}") };
    assert_ne!(first, of_new_card, "the new card does not name the payment of the other one");
    assert_eq!(of_new_card, later, "its own first payment is named");
}

async fn a_card_that_has_failed_is_tried_by_no_other_subscription(app: TestApp) {
    let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(&app).await };
    let first = made(&app, &parties.body(&json!({}))).await;
    let later = json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 1) } });
    let second = made(&app, &parties.body(&later)).await;
    app.run_jobs().await;
    assert_eq!(read(&app, &first).await["status"], "unpaid");
    app.later(20 * DAY).await;
    assert_eq!(read(&app, &second).await["status"], "unpaid");
    assert_eq!(charges_of(&app, &second).await, [] as [Value; 0]);
    let events = announced(&app, text(&second["id"])).await;
    assert_eq!(events, ["created", "cycle_failed", "unpaid"]);
}

async fn a_due_date_has_one_job_however_often_it_is_changed(app: TestApp) {
    let parties = Parties::of(&app).await;
    let daily = json!({ "recurrence": { "interval": "daily", "startAt": day(&app, 1) } });
    let subscription = made(&app, &parties.body(&daily)).await;
    for name in ["Silver", "Gold", "Platinum"] {
        put(&app, &subscription, &json!({ "name": name })).await.expect(200);
    }
    let waiting = async || {
        let client_id = app.client_id();
        let rows = app.app.store.rows(&WAITING, args! { client_id }).await.unwrap();
        rows[0].get::<i64>("n").unwrap()
    };
    assert_eq!(waiting().await, 1, "before the first one");
    for paid in 1..4 {
        app.later(DAY).await;
        app.run_jobs().await;
        assert_eq!((charges_of(&app, &subscription).await.len(), waiting().await), (paid, 1));
    }
}
