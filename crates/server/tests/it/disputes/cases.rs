//! Cases of one payment: what each has taken, when it ended, and in what order that is heard.

use std::time::Duration;

use ReversalKind::{ChargedBack, DisputeLost, DisputeOpened, DisputeWon};
use regente_domain::charge::reversal::ReversalKind;
use regente_domain::money::Amount;
use regente_providers::sandbox::Notice;
use regente_providers::staged::{Staged, StagedEvent};
use serde_json::{Value, json};

use super::agrees;
use crate::support::app::{TestApp, stories};
use crate::support::charges::{captured, void};
use crate::support::disputes::{happens, hear, read, told_of};
use crate::support::notifications::{API_KEY, message, request_of, send, states};
use crate::support::payers;
use crate::support::payers::{PAYS, awaiting};
use crate::support::read::{announced, text};

stories! {
    an_older_end_of_a_case_changes_nothing,
    an_old_notification_is_old_also_when_nobody_remembers_it,
    each_of_two_cases_takes_and_gives_back_its_part,
    a_dispute_is_about_no_more_than_was_taken,
    what_waits_is_settled_in_the_order_in_which_it_happened,
    what_waits_for_something_else_waits_anew,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn case(number: u32, kind: ReversalKind, amount: Option<i64>) -> Staged {
    Staged::Case { number, kind, amount: amount.and_then(Amount::new) }
}

/// Something happens this long after the start of the story.
async fn after(app: &TestApp, id: &str, wait: Duration, what: Staged) -> Notice {
    app.clock.advance(wait);
    let mut notices = happens(app, id, what).await;
    assert_eq!(notices.len(), 1, "{what:?}");
    notices.remove(0)
}

fn requests(charge: &Value) -> Vec<(&str, i64)> {
    let requests = charge["transactionRequests"].as_array().unwrap().iter();
    requests.map(|request| (text(&request["requestType"]), request["amount"].as_i64().unwrap())).collect()
}

async fn an_older_end_of_a_case_changes_nothing(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    let mut notices = Vec::new();
    for kind in [DisputeOpened, DisputeLost, DisputeWon, DisputeLost] {
        notices.push(after(&app, &id, HOUR, case(1, kind, None)).await);
    }
    // The opening, the last end, and then what was before.
    for place in [0, 3, 2, 1, 2] {
        hear(&app, &notices[place..=place]).await;
    }
    let charge = read(&app, &id).await;
    assert_eq!(charge["status"], "charged_back", "{charge:#}");
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "dispute", "charged_back"]);
    assert_eq!(states(&app).await, ["applied"; 4]);
    agrees(&app).await;
}

/// A notification that was purged is one that was never heard: what it says is old all the same.
async fn an_old_notification_is_old_also_when_nobody_remembers_it(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    let request = request_of(&app, &id).await;
    let mut told = Vec::new();
    for (place, (kind, day)) in
        [("dispute.opened", 20), ("dispute.won", 21), ("dispute.lost", 23), ("dispute.won", 21)]
            .iter()
            .enumerate()
    {
        let mut said = message(&request, &format!("message {place}"), kind, &json!({ "id": "a case" }));
        said["occurredAt"] = json!(format!("2026-03-{day}T10:00:00.000Z"));
        assert_eq!(send(&app, &request, &said, API_KEY).await, 200);
        app.run_jobs().await;
        told.push(text(&read(&app, &id).await["status"]).to_owned());
    }
    assert_eq!(told, ["authorized", "authorized", "charged_back", "charged_back"]);
}

async fn each_of_two_cases_takes_and_gives_back_its_part(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    void(&app, &id, json!({ "amount": 20 })).await.expect(201);
    let mut shown = Vec::new();
    for what in [
        case(1, DisputeOpened, Some(30)),
        case(1, DisputeLost, None),
        case(2, DisputeOpened, Some(40)),
        case(2, DisputeLost, None),
        case(1, DisputeWon, None),
        case(2, DisputeWon, None),
        case(1, ChargedBack, None),
    ] {
        app.clock.advance(HOUR);
        let charge = told_of(&app, &id, what).await;
        let balances = app.get("/v1/ledger/balances?purpose=provider_receivable").await.expect(200);
        let owed = balances["items"][0]["balance"].as_i64().unwrap();
        shown.push((text(&charge["status"]).to_owned(), charge["isDispute"] == true, owed));
        if charge["isDispute"] == false && charge["status"] != "authorized" {
            agrees(&app).await;
        }
    }
    let is = |status: &str, is_dispute, owed| (status.to_owned(), is_dispute, owed);
    assert_eq!(
        shown,
        [
            is("authorized", true, 80),
            is("charged_back", false, 50),
            is("charged_back", false, 50),
            is("charged_back", false, 10),
            is("charged_back", false, 40),
            is("authorized", false, 80),
            is("charged_back", false, 50),
        ]
    );
    let events = ["dispute", "charged_back", "dispute", "charged_back", "dispute_closed", "dispute_closed"];
    assert_eq!(announced(&app, &id).await[3..], [&events[..], &["charged_back"]].concat());
    let explained = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    assert!(
        text(&explained["text"]).contains("The cardholder's bank took BRL 0.30 of BRL 0.80 back."),
        "{explained:#}"
    );
    agrees(&app).await;
}

async fn a_dispute_is_about_no_more_than_was_taken(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    let request = request_of(&app, &id).await;
    for kind in ["dispute.opened", "dispute.lost"] {
        let told = message(&request, kind, kind, &json!({ "id": "a case", "amount": 99_999_999 }));
        assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
        app.run_jobs().await;
    }
    let charge = read(&app, &id).await;
    assert_eq!(requests(&charge)[..2], [("charge_back", 100), ("dispute", 100)], "{charge:#}");
}

/// A Pix of which 50 are given back, which the provider has not confirmed.
async fn refunding(app: &TestApp) -> Value {
    let charge = awaiting(app).await;
    payers::happens(app, &charge, 0, PAYS).await;
    app.later(Duration::from_secs(60)).await;
    let pending = void(app, text(&charge["id"]), json!({ "amount": 50 })).await.expect(201);
    assert_eq!(pending["status"], "refund_pending", "{pending:#}");
    drop(app.wire.notices());
    pending
}

/// The provider confirms the refund, without a word.
async fn confirmed(app: &TestApp, charge: &Value) {
    payers::happens(app, charge, 2, Staged::Refund).await;
    drop(app.wire.notices());
}

async fn what_waits_is_settled_in_the_order_in_which_it_happened(app: TestApp) {
    let app = app.reachable().await;
    let charge = refunding(&app).await;
    let id = text(&charge["id"]);
    let request = request_of(&app, id).await;
    let mut heard = Vec::new();
    for what in [case(1, DisputeOpened, Some(10)), case(1, DisputeLost, None), case(1, DisputeWon, None)] {
        app.clock.advance(Duration::from_secs(1));
        let event = StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what };
        app.app.providers.stage(request.provider_type, event).await.unwrap();
        heard.extend(app.wire.notices());
    }
    // The newest comes first.
    heard.reverse();
    hear(&app, &heard).await;
    assert_eq!(read(&app, id).await["status"], "refund_pending");
    confirmed(&app, &charge).await;
    app.later(2 * HOUR).await;
    let after = read(&app, id).await;
    let types: Vec<&str> = requests(&after).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(types[..3], ["dispute_closed", "charge_back", "dispute"], "{after:#}");
    assert_eq!((&after["status"], &after["isDispute"]), (&json!("authorized"), &json!(false)));
}

async fn what_waits_for_something_else_waits_anew(app: TestApp) {
    let app = app.reachable().await;
    let charge = refunding(&app).await;
    let id = text(&charge["id"]);
    let request = request_of(&app, id).await;
    let said = async |kind: &str, hour: u8| {
        let mut told = message(&request, kind, kind, &json!({ "id": "a case", "amount": 10 }));
        told["occurredAt"] = json!(format!("2026-03-23T{hour}:00:00.000Z"));
        assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
        app.run_jobs().await;
    };
    said("dispute.won", 18).await;
    // It waits for the refund for days, and then for the opening of its dispute.
    for _ in 0..3 {
        app.later(DAY).await;
    }
    payers::happens(&app, &charge, 2, Staged::Refund).await;
    hear(&app, &app.wire.notices()).await;
    for _ in 0..4 {
        app.later(HOUR).await;
    }
    let after = read(&app, id).await;
    assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(100)), "{after:#}");
    let says = "it has waited for the opening for some hours";
    assert_eq!(states(&app).await, ["waiting", "applied"], "{says}");
    said("dispute.opened", 17).await;
    app.later(DAY).await;
    let after = read(&app, id).await;
    assert_eq!(requests(&after)[..2], [("dispute_closed", 10), ("dispute", 10)], "{after:#}");
    assert_eq!(states(&app).await, ["applied"; 3]);
}
