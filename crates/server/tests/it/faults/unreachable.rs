//! A part of a distributed database cannot be reached: whatever would read a row of one account there fails. The others
//! go on. Here a view stands before each table and fails for the rows of that account.

use std::time::Duration;

use axum::http::Method;
use regente_store::testing::run_script;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, TIMED_OUT, charge_body};
use crate::support::client::Client;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::receiver::Receiver;

const TABLES: [&str; 5] = ["charges", "deliveries", "events", "jobs", "transaction_requests"];

async fn cut_off(app: &TestApp, client: &Client) {
    let mut script = format!(
        "CREATE FUNCTION reachable(client UUID) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
            IF client = '{}' THEN RAISE EXCEPTION 'the server is away' USING ERRCODE = '08006'; END IF;
            RETURN TRUE;
         END $$;",
        client.id
    );
    for table in TABLES {
        script.push_str(&format!(
            "ALTER TABLE {table} RENAME TO all_{table};
             CREATE VIEW {table} AS SELECT * FROM all_{table} WHERE reachable(client_id);"
        ));
    }
    run_script(&app.app.store, &script).await.unwrap();
}

async fn reach_again(app: &TestApp) {
    let script = TABLES.map(|table| format!("DROP VIEW {table}; ALTER TABLE all_{table} RENAME TO {table};"));
    run_script(&app.app.store, &script.concat()).await.unwrap();
}

async fn post(app: &TestApp, client: &Client, path: &str, body: &Value) -> Value {
    app.call(client, Method::POST, path, &[], Some(body)).await.expect(201)
}

/// An account with a message that is due, events that become messages, an unknown outcome and a job.
async fn busy(app: &TestApp, client: &Client, receiver: &Receiver) -> String {
    let merchant = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
    let merchant = post(app, client, "/v1/merchants", &merchant).await;
    let merchant = text(&merchant["id"]).to_owned();
    let webhook = json!({ "event": "transaction.authorized", "endpoint": receiver.url("/") });
    let webhook = post(app, client, "/v1/webhooks", &webhook).await;
    let path = format!("/v1/webhooks/{}/ping", text(&webhook["id"]));
    app.call(client, Method::POST, &path, &[], Some(&json!({}))).await.expect(202);
    let gone = json!({ "event": "transaction.authorized", "endpoint": receiver.url("/gone") });
    let gone = post(app, client, "/v1/webhooks", &gone).await;
    post(app, client, "/v1/charges", &charge_body(&merchant, APPROVED)).await;
    let path = format!("/v1/webhooks/{}", text(&gone["id"]));
    app.call(client, Method::DELETE, &path, &[], None).await.expect(200);
    let unknown = post(app, client, "/v1/charges", &charge_body(&merchant, TIMED_OUT)).await;
    text(&unknown["id"]).to_owned()
}

/// Whether the outcome of a charge is known.
async fn is_settled(app: &TestApp, client: &Client, charge: &str) -> bool {
    let charge = app.call(client, Method::GET, &format!("/v1/charges/{charge}"), &[], None).await.expect(200);
    charge["status"] != "pending"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_cannot_be_reached_holds_up_no_other() {
    let app = TestApp::postgres().await;
    let (here, away) = (app.client.clone(), app.another_client().await);
    let (of_here, of_away) = (Receiver::start().await, Receiver::start().await);
    let charge = busy(&app, &here, &of_here).await;
    busy(&app, &away, &of_away).await;
    app.get("/health/ready").await.expect(200);
    app.prepare().await;

    cut_off(&app, &away).await;
    for _ in 0..3 {
        app.clock.advance(Duration::from_secs(60 * 60));
        app.worker.round().await.unwrap();
    }
    assert!(of_here.received().len() >= 2, "messages are made and delivered");
    assert!(is_settled(&app, &here, &charge).await, "an unknown outcome is looked up");
    assert!(of_away.received().is_empty());
    app.get("/health/ready").await.expect(503);
    app.get("/health/live").await.expect(200);

    reach_again(&app).await;
    app.clock.advance_machine(Duration::from_secs(60));
    app.later(Duration::from_secs(60 * 60)).await;
    assert!(of_away.received().len() >= 2);
    app.get("/health/ready").await.expect(200);
}
