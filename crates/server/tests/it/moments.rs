//! One moment for one batch: with a clock that moves at each reading, whoever reads it twice for one change is found out. An
//! event shows its charge as of its version, however much later it is sent.

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, charge_body};
use crate::support::charges::{capture, reserved, void};
use crate::support::disputes::{REVERTED, told_of};
use crate::support::payers::{PAYS, awaiting};
use crate::support::providers::{losing, sandbox};
use crate::support::read::text;
use crate::support::receiver::Receiver;
use crate::support::webhooks::webhook;
use crate::support::{charges, payers};

stories! {
    every_event_shows_its_charge_as_it_was,
}

const TICK: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);

/// What the interface and an event both say of a charge.
fn shown(charge: &Value) -> Value {
    let request = |request: &Value| {
        let member = |name: &str| request[name].clone();
        ["id", "requestType", "requestStatus", "amount", "transactionId", "updatedAt"].map(member)
    };
    let requests = charge["transactionRequests"].as_array().unwrap();
    json!({
        "status": charge["status"], "amount": charge["amount"], "isDispute": charge["isDispute"],
        "requests": requests.iter().map(request).collect::<Vec<_>>(),
    })
}

async fn every_event_shows_its_charge_as_it_was(app: TestApp) {
    let app = app.reachable().await;
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/").await;
    app.clock.tick(TICK);
    let mut read = Vec::new();
    // A card, up to the loss of its second dispute.
    let id = reserved(&app).await;
    read.push(charges::read(&app, &json!({ "id": id })).await);
    read.push(capture(&app, &id, json!({})).await.expect(201));
    read.push(void(&app, &id, json!({ "amount": 30 })).await.expect(201));
    for what in
        [REVERTED(10), Staged::DisputeOpened, Staged::DisputeWon, Staged::DisputeOpened, Staged::DisputeLost]
    {
        read.push(told_of(&app, &id, what).await);
    }
    // A refusal, another provider, a status by hand, an answer that is lost, and a payer.
    let post =
        async |merchant: &str, card| app.post("/v1/charges", &charge_body(merchant, card)).await.expect(201);
    read.push(post(&app.merchant().await, BLOCKED).await);
    let mut refuses = sandbox("Refuses", 1);
    let refused = json!({ "then": { "decline": "try_again" } });
    refuses["options"] = json!({ "type": "SANDBOX", "faults": [refused] });
    let two = app.merchant_with(json!([refuses, sandbox("Two", 2)])).await;
    read.push(post(&two, APPROVED).await);
    let path = format!("/v1/charges/{}", text(&read.last().unwrap()["id"]));
    read.push(app.post(&path, &json!({ "status": "charged_back" })).await.expect(200));
    let loses = app.merchant_with(json!([losing(&["authorization"])])).await;
    let lost = post(&loses, APPROVED).await;
    assert_eq!(lost["status"], "pending");
    for notice in app.wire.notices() {
        app.deliver(&notice).await.expect(200);
    }
    app.run_jobs().await;
    read.push(charges::read(&app, &lost).await);
    let pix = awaiting(&app).await;
    read.push(pix.clone());
    payers::happens(&app, &pix, 0, PAYS).await;
    app.later(MINUTE).await;
    read.push(charges::read(&app, &pix).await);
    app.later(MINUTE).await;
    let events: Vec<Value> = receiver.received().iter().map(|got| got.json()).collect();
    let mut agree = 0;
    for event in events.iter().filter(|event| event["object"] == "transaction") {
        let data = &event["data"];
        let at = text(&data["updatedAt"]);
        let requests = data["transactionRequests"].as_array().unwrap();
        assert!(requests.iter().all(|request| text(&request["updatedAt"]) <= at), "{event:#}");
        let is_this =
            |charge: &&Value| charge["id"] == data["id"] && charge["updatedAt"] == data["updatedAt"];
        if let Some(charge) = read.iter().find(is_this) {
            assert_eq!(shown(data), shown(charge), "{event:#}");
            agree += 1;
        } else {
            // A version that nobody was answered with: nothing has ended yet.
            assert_eq!((&event["event"], requests.len()), (&json!("pending"), 1), "{event:#}");
            assert_eq!(requests[0]["requestStatus"], "running", "{event:#}");
        }
    }
    assert_eq!(agree, read.len(), "each version that was read was announced");
}
