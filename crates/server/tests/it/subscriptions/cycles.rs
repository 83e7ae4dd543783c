//! What subscriptions charge by themselves (`docs/interface/subscriptions.md#cycles`): on the day, once, and again after a refusal.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, TIMED_OUT};
use crate::support::read::{announced, newest, text};
use crate::support::subscriptions::{Parties, SETTINGS, ask, charges_of, day, made, path_of, put, read};

stories! {
    a_cycle_is_charged_on_its_day_once,
    what_begins_today_is_charged_at_once,
    a_month_ends_and_its_day_comes_back,
    a_refused_cycle_is_tried_on_the_days_of_the_policy,
    the_policy_of_the_account_says_when_and_what_follows,
    a_card_that_is_lost_is_not_tried_again_by_itself,
    another_card_pays_the_failed_cycle,
    a_trial_ends_and_billing_begins,
    what_falls_due_in_a_pause_is_skipped,
    a_subscription_ends_on_the_day_that_was_set,
    a_number_of_cycles_is_reached,
    a_cycle_without_its_card_is_announced_and_made_again,
    an_unknown_outcome_is_awaited_and_charged_once,
    what_was_missed_is_worked_off_in_order,
}

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Refused as `generic`, which another try may pass.
pub(crate) const REFUSED: (&str, &str) = ("4916878170842862", "650");
/// Refused as `pickup_card`: it is never approved again.
pub(crate) const TAKEN_AWAY: (&str, &str) = ("4485406132091427", "170");

/// The days on which charges were made.
fn days(charges: &[Value]) -> Vec<&str> {
    charges.iter().map(|charge| &text(&charge["createdAt"])[..10]).collect()
}

/// The cycles of a subscription, oldest first: number and status.
async fn cycles(app: &TestApp, subscription: &Value) -> Vec<(i64, String)> {
    let page = app.get(&format!("{}/cycles?limit=100", path_of(subscription))).await.expect(200);
    let of = |cycle: &Value| (cycle["cycle"].as_i64().unwrap(), text(&cycle["status"]).to_owned());
    page["items"].as_array().unwrap().iter().rev().map(of).collect()
}

async fn status(app: &TestApp, subscription: &Value) -> String {
    text(&read(app, subscription).await["status"]).to_owned()
}

async fn events(app: &TestApp, subscription: &Value) -> Vec<String> {
    let names = announced(app, text(&subscription["id"])).await;
    names.iter().map(|name| name.trim_start_matches("subscription.").to_owned()).collect()
}

async fn a_cycle_is_charged_on_its_day_once(app: TestApp) {
    let parties = Parties::of(&app).await;
    let start = day(&app, 3);
    let body = parties.body(&json!({ "recurrence": { "interval": "weekly", "startAt": start },
        "paymentMethod": { "type": "credit", "card": { "cardId": parties.card }, "installments": 2 } }));
    let made = made(&app, &body).await;
    app.later(2 * DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 0, "the day has not come");
    app.later(16 * DAY).await;
    let charges = charges_of(&app, &made).await;
    assert_eq!(days(&charges), [start, day(&app, -8), day(&app, -1)]);
    for charge in &charges {
        assert_eq!((&charge["status"], &charge["amount"]), (&json!("authorized"), &json!(29900)));
        assert_eq!(charge["subscriptionId"], made["id"]);
        assert_eq!(charge["paymentMethod"]["installments"], 2);
        let hour: u32 = text(&charge["createdAt"])[11..13].parse().unwrap();
        assert!((3..6).contains(&hour), "billing is between 03:00 and 06:00: {charge:#}");
    }
    let recurrences: Vec<_> = charges.iter().map(|of| text(&of["paymentMethod"]["recurrence"])).collect();
    assert_eq!(recurrences, ["initial", "subsequent", "subsequent"]);
    assert_eq!(cycles(&app, &made).await, [1, 2, 3].map(|number| (number, "authorized".to_owned())));
    assert_eq!(events(&app, &made).await, ["created", "activated"]);
    let last = &read(&app, &made).await["lastCycle"];
    assert_eq!((&last["cycle"], &last["status"]), (&json!(3), &json!("authorized")));
    assert_eq!(last["paymentHistory"][0]["chargeId"], charges[2]["id"]);
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn what_begins_today_is_charged_at_once(app: TestApp) {
    let parties = Parties::of(&app).await;
    let made = made(&app, &parties.body(&json!({}))).await;
    assert_eq!(made["status"], "created");
    app.run_jobs().await;
    assert_eq!(status(&app, &made).await, "active");
    assert_eq!(charges_of(&app, &made).await.len(), 1);
    assert_eq!(events(&app, &made).await, ["created", "activated"]);
}

async fn a_month_ends_and_its_day_comes_back(app: TestApp) {
    let parties = Parties::of(&app).await;
    let recurrence = json!({ "interval": "monthly", "startAt": "2026-03-31" });
    let made = made(&app, &parties.body(&json!({ "recurrence": recurrence }))).await;
    app.later(345 * DAY).await;
    let charges = charges_of(&app, &made).await;
    let expected = [
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
        "2026-07-31",
        "2026-08-31",
        "2026-09-30",
        "2026-10-31",
        "2026-11-30",
        "2026-12-31",
        "2027-01-31",
        "2027-02-28",
    ];
    assert_eq!(days(&charges), expected);
}

async fn a_refused_cycle_is_tried_on_the_days_of_the_policy(app: TestApp) {
    let parties = Parties { card: app.card(REFUSED).await, ..Parties::of(&app).await };
    let start = day(&app, 1);
    let body = parties.body(&json!({ "recurrence": { "interval": "monthly", "startAt": start } }));
    let made = made(&app, &body).await;
    app.later(3 * DAY).await;
    let cycle = &read(&app, &made).await["lastCycle"];
    assert_eq!(
        (&cycle["status"], &json!("created")),
        (&json!("retrying"), &read(&app, &made).await["status"])
    );
    app.later(17 * DAY).await;
    let charges = charges_of(&app, &made).await;
    let first = -19;
    let expected = [0, 1, 4, 9, 16].map(|after| day(&app, first + after));
    assert_eq!(days(&charges), expected);
    let recurrences = charges.iter().map(|of| text(&of["paymentMethod"]["recurrence"]));
    assert!(recurrences.clone().all(|word| word == "initial"), "nothing was paid yet");
    assert_eq!(status(&app, &made).await, "unpaid");
    assert_eq!(cycles(&app, &made).await, [(1, "failed".to_owned())]);
    assert_eq!(events(&app, &made).await, ["created", "unpaid"]);
    app.later(40 * DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 5, "an unpaid subscription is not charged");
}

async fn the_policy_of_the_account_says_when_and_what_follows(app: TestApp) {
    let settings = json!({ "retryPolicy": [{ "daysAfterLastAttempt": 3 }, { "daysAfterLastAttempt": 3 }],
        "statementDescriptor": "MY COMPANY", "cancelAfterAllRetries": true });
    app.patch(SETTINGS, &settings).await.expect(200);
    let parties = Parties { card: app.card(REFUSED).await, ..Parties::of(&app).await };
    let body = parties.body(&json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 1) } }));
    let made = made(&app, &body).await;
    app.later(9 * DAY).await;
    let charges = charges_of(&app, &made).await;
    assert_eq!(days(&charges), [-8, -5, -2].map(|ahead| day(&app, ahead)));
    assert_eq!(charges[0]["statementDescriptor"], "MY COMPANY");
    assert_eq!(status(&app, &made).await, "canceled");
    assert_eq!(events(&app, &made).await, ["created", "canceled"]);
}

async fn a_card_that_is_lost_is_not_tried_again_by_itself(app: TestApp) {
    let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(&app).await };
    let made = made(&app, &parties.body(&json!({}))).await;
    app.later(20 * DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 1);
    assert_eq!(status(&app, &made).await, "unpaid");
}

async fn another_card_pays_the_failed_cycle(app: TestApp) {
    let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(&app).await };
    let made = made(&app, &parties.body(&json!({}))).await;
    app.later(2 * DAY).await;
    assert_eq!(status(&app, &made).await, "unpaid");
    let card =
        json!({ "paymentMethod": { "type": "credit", "card": { "cardId": app.card(APPROVED).await } } });
    put(&app, &made, &card).await.expect(200);
    app.run_jobs().await;
    assert_eq!(status(&app, &made).await, "active");
    assert_eq!(cycles(&app, &made).await, [(1, "authorized".to_owned())]);
    assert_eq!(events(&app, &made).await, ["created", "unpaid", "updated", "activated"]);
    app.later(31 * DAY).await;
    assert_eq!(cycles(&app, &made).await.len(), 2, "it goes on");
}

async fn a_trial_ends_and_billing_begins(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "trial": { "endAt": day(&app, 7) } }));
    let made = made(&app, &body).await;
    assert_eq!(made["status"], "trialing");
    ask(&app, &made, "pause").await.expect(422);
    app.later(6 * DAY).await;
    assert_eq!((status(&app, &made).await.as_str(), charges_of(&app, &made).await.len()), ("trialing", 0));
    app.later(2 * DAY).await;
    assert_eq!(status(&app, &made).await, "active");
    assert_eq!(events(&app, &made).await, ["trial_started", "activated"]);
    assert_eq!(days(&charges_of(&app, &made).await), [day(&app, -1)]);
}

async fn what_falls_due_in_a_pause_is_skipped(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "weekly" } }));
    let made = made(&app, &body).await;
    app.later(DAY).await;
    ask(&app, &made, "pause").await.expect(200);
    app.later(15 * DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 1);
    let resumed = ask(&app, &made, "resume").await.expect(200);
    assert_eq!(resumed["status"], "active");
    assert_eq!(read(&app, &made).await["recurrence"]["nextDueDate"], day(&app, 5));
    app.later(6 * DAY).await;
    assert_eq!(cycles(&app, &made).await.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(events(&app, &made).await, ["created", "activated", "paused", "resumed"]);
}

async fn a_subscription_ends_on_the_day_that_was_set(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "weekly" } }));
    let made = made(&app, &body).await;
    app.later(DAY).await;
    put(&app, &made, &json!({ "cancelAtPeriodEnd": true })).await.expect(200);
    app.later(5 * DAY).await;
    assert_eq!(status(&app, &made).await, "active");
    app.later(30 * DAY).await;
    assert_eq!(status(&app, &made).await, "canceled");
    assert_eq!(charges_of(&app, &made).await.len(), 1, "nothing is charged on the day");
    assert_eq!(events(&app, &made).await, ["created", "activated", "updated", "canceled"]);
    ask(&app, &made, "resume").await.expect(422);
}

async fn a_number_of_cycles_is_reached(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "weekly", "cycles": 2 } }));
    let made = made(&app, &body).await;
    app.later(40 * DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 2);
    assert_eq!(status(&app, &made).await, "expired");
    assert_eq!(events(&app, &made).await, ["created", "activated", "expired"]);
    assert_eq!(read(&app, &made).await["recurrence"]["nextDueDate"], Value::Null);
}

async fn a_cycle_without_its_card_is_announced_and_made_again(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 1) } }));
    let made = made(&app, &body).await;
    app.delete(&format!("/v1/cards/{}", parties.card)).await.expect(204);
    app.later(DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 0);
    assert_eq!(events(&app, &made).await, ["created", "cycle_failed"]);
    let history = read(&app, &made).await["lastCycle"]["paymentHistory"].clone();
    assert_eq!((&history[0]["chargeId"], &history[0]["status"]), (&Value::Null, &json!("failed")));
    let card =
        json!({ "paymentMethod": { "type": "credit", "card": { "cardId": app.card(APPROVED).await } } });
    put(&app, &made, &card).await.expect(200);
    app.later(DAY).await;
    assert_eq!(charges_of(&app, &made).await.len(), 1, "the next attempt has the new card");
    assert_eq!(status(&app, &made).await, "active");
}

/// The provider does not answer, and does not tell for a while: no other charge begins meanwhile.
async fn an_unknown_outcome_is_awaited_and_charged_once(app: TestApp) {
    let parties = Parties { card: app.card(TIMED_OUT).await, ..Parties::of(&app).await };
    let body = parties.body(&json!({ "recurrence": { "interval": "daily" } }));
    let made = made(&app, &body).await;
    app.run_jobs().await;
    app.later(DAY / 2).await;
    let first = charges_of(&app, &made).await;
    assert_eq!(first.len(), 1);
    let cycle = read(&app, &made).await["lastCycle"].clone();
    let expected = match text(&newest(&first[0])["requestStatus"]) {
        "running" => "pending",
        _ => "retrying",
    };
    assert_eq!(cycle["status"], expected, "{cycle:#}");
    app.later(20 * DAY).await;
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

/// The service was down while three cycles fell due: each is made and charged, with the price of its day.
async fn what_was_missed_is_worked_off_in_order(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "daily", "startAt": day(&app, 1) } }));
    let made = made(&app, &body).await;
    app.prepare().await;
    app.clock.advance(3 * DAY + DAY / 2);
    // A price that is changed when three cycles are late holds from the fourth on.
    let items = json!({ "items": [{ "name": "Plan", "amount": 100, "quantity": 1 }] });
    put(&app, &made, &items).await.expect(200);
    app.run_jobs().await;
    app.later(DAY).await;
    let charges = charges_of(&app, &made).await;
    let amounts: Vec<_> = charges.iter().map(|charge| charge["originalAmount"].as_i64().unwrap()).collect();
    assert_eq!(amounts, [29900, 29900, 29900, 100]);
    assert_eq!(cycles(&app, &made).await.len(), 4);
}
