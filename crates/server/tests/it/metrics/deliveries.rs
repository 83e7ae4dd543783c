//! The metrics of deliveries and purchases, and the alerts to operators.

use std::time::Duration;

use regente::metrics::Endpoint;
use regente_store::deliveries;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{DAY, attempts};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV, charge_body};
use crate::support::metrics::{metric, metrics_setting, until};
use crate::support::providers::sandbox;
use crate::support::purchases;
use crate::support::receiver::{Receiver, Say};
use crate::support::server::Server;

stories! { messages_that_wait_are_counted_while_they_do }

const GIVEN_UP: &str = "regente_purchases_reconciliation_failed_total";

#[tokio::test]
async fn a_message_that_is_lost_and_a_webhook_that_is_switched_off_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (port, listen) = metrics_setting();
    let settings = [listen.as_str(), "webhooks.waits_seconds=1", "webhooks.disable_after=2"];
    let arguments: Vec<&str> = settings.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(folder.path(), &arguments).await;
    let receiver = Receiver::start().await;
    receiver.always(Say::Status(500));
    let webhook = json!({ "event": "transaction.authorized", "endpoint": receiver.url("/") });
    let webhook = server.post("/v1/webhooks", &webhook).send().await.unwrap();
    let webhook: Value = webhook.json().await.unwrap();
    for lost in [1.0, 2.0] {
        let body = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
        assert_eq!(server.post("/v1/charges", &body).send().await.unwrap().status(), StatusCode::CREATED);
        until(port.address(), |page| page.value("regente_deliveries_lost_total") == lost).await;
    }
    let page = until(port.address(), |page| page.value("regente_webhooks_disabled_total") == 1.0).await;
    assert_eq!(page.value(&attempts("unexpected_status")), 4.0);
    until(port.address(), |page| page.value("regente_deliveries_due") == 0.0).await;

    let log = server.stop().await;
    for (alert, times) in [("webhook_message_lost", 2), ("webhook_disabled", 1)] {
        let alert = format!("alert=\"{alert}\"");
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(&alert)).collect();
        assert_eq!(lines.len(), times, "{log}");
        let id = webhook["id"].as_str().unwrap();
        assert!(lines.iter().all(|line| line.contains("ERROR") && line.contains(id)), "{lines:?}");
    }
}

/// Metrics belong to the process, in which other tests may count too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_that_is_given_up_is_counted() {
    let app = TestApp::sqlite().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let address = endpoint.address();
    let before = metric(address, GIVEN_UP).await;
    let mut provider = sandbox("Keeps everything", 1);
    let faults = json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" } }]);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    let merchant = app.merchant_with(json!([provider])).await;
    purchases::accepted(&app, &merchant, &[APPROVED, WRONG_CVV], true).await;
    app.later(4 * DAY).await;
    assert!(metric(address, GIVEN_UP).await > before);
}

async fn messages_that_wait_are_counted_while_they_do(app: TestApp) {
    let receiver = Receiver::start().await;
    let webhook = json!({ "event": "*", "endpoint": receiver.url("/") });
    let webhook = app.post("/v1/webhooks", &webhook).await.expect(201);
    let backlog = async || {
        let backlog = deliveries::backlog(&app.app.store, app.clock.deployment()).await.unwrap();
        (backlog.due, backlog.oldest)
    };
    assert_eq!(backlog().await, (0, None));

    let charged_at = app.clock.deployment();
    app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201);
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(backlog().await, (0, Some(charged_at)), "events that nobody has made messages of");

    receiver.say(&[Say::With(503, "retry-after", "3600")]);
    app.run_jobs().await;
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(backlog().await, (0, None), "the second message waits with the first, which nobody owes yet");

    let due_at = deliveries::next_due(&app.app.store).await.unwrap()[0].1;
    app.clock.set(due_at + Duration::from_secs(60));
    assert_eq!(backlog().await, (2, Some(due_at)));
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().unwrap());
    app.patch(&path, &json!({ "status": false })).await.expect(200);
    assert_eq!(backlog().await, (0, None), "nobody waits for a webhook that is switched off");
    app.patch(&path, &json!({ "status": true })).await.expect(200);
    app.run_jobs().await;
    assert_eq!(backlog().await, (0, None));
    assert_eq!(receiver.received().len(), 3);
}
