//! The books of money, as a merchant and an operator read them.

use std::time::Duration;

use axum::http::Method;
use regente_domain::id::ClientId;
use regente_engine::jobs::DEPLOYMENT;
use regente_engine::ledger::{Repair, compare};
use regente_engine::queue;
use regente_engine::queue::Kind;
use regente_store::testing::run_script;
use regente_store::{Batch, Commit, DatabaseKind, ledger};
use serde_json::{Value, json};

use crate::support::agreement::{all_charges, ledger_agrees, ledger_is_right};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::request;
use crate::support::read::text;

stories! {
    a_charge_is_read_in_the_books_as_of_any_time,
    the_books_of_charges_of_former_releases_are_opened_once,
}

/// Reserves 150 of which 100 are captured and 40 refunded, each an hour after the other.
async fn story_of_a_charge(app: &TestApp, merchant: &str) -> String {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let body = Charge::by_card(merchant, APPROVED).amount(150).reserved().body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let id = text(&charge["id"]).to_owned();
    for (operation, amount) in [("capture", 100), ("void", 40)] {
        app.later(HOUR).await;
        app.post(&format!("/v1/charges/{id}/{operation}"), &json!({ "amount": amount })).await.expect(201);
    }
    app.later(HOUR).await;
    id
}

async fn a_charge_is_read_in_the_books_as_of_any_time(app: TestApp) {
    let merchant = app.merchant().await;
    let begin = app.clock.deployment();
    let id = story_of_a_charge(&app, &merchant).await;

    let entries = app.get("/v1/ledger/entries?sort=asc").await.expect(200);
    assert_eq!(entries["meta"]["totalItems"], 4);
    let items = entries["items"].as_array().unwrap();
    let told: Vec<Value> = items
        .iter()
        .map(|entry| json!([entry["movement"], entry["debit"], entry["credit"], entry["amount"]]))
        .collect();
    let expected = [
        json!(["authorization_hold", "hold", "hold_contra", 150]),
        json!(["hold_release", "hold_contra", "hold", 150]),
        json!(["capture", "provider_receivable", "merchant_payable", 100]),
        json!(["refund", "merchant_payable", "provider_receivable", 40]),
    ];
    assert_eq!(told, expected);
    assert!(
        items.iter().all(|entry| entry["sourceId"] == json!(id) && entry["merchantId"] == json!(merchant))
    );
    assert!(
        items.iter().all(|entry| entry["sellerId"].is_null() && entry["currency"] == "BRL"),
        "{items:#?}"
    );

    // As of each time: what is receivable of the provider, to the millisecond.
    let receivable = async |at: &str| {
        let path = format!("/v1/ledger/balances?purpose=provider_receivable&at={at}");
        let found = app.get(&path).await.expect(200);
        found["items"][0]["balance"].as_i64().unwrap_or(0)
    };
    let (captured_at, refunded_at) = (text(&items[2]["at"]), text(&items[3]["at"]));
    assert_eq!(receivable(captured_at).await, 100);
    assert_eq!(receivable(refunded_at).await, 60);
    assert_eq!(receivable(&begin.to_string()).await, 0);
    assert_eq!(receivable("").await, 60, "now");

    let balances = app.get("/v1/ledger/balances").await.expect(200);
    let told: Vec<Value> = balances["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| {
            json!([of["purpose"], of["nature"], of["entries"], of["debits"], of["credits"], of["balance"]])
        })
        .collect();
    let expected = [
        json!(["hold", "memorandum", 2, 150, 150, 0]),
        json!(["hold_contra", "memorandum_contra", 2, 150, 150, 0]),
        json!(["merchant_payable", "liability", 2, 40, 100, 60]),
        json!(["provider_receivable", "asset", 2, 100, 40, 60]),
    ];
    assert_eq!(told, expected);
    let accounts = app.get("/v1/ledger/accounts?limit=1&page=2").await.expect(200);
    assert_eq!(
        (&accounts["meta"]["totalItems"], &accounts["items"][0]["purpose"]),
        (&json!(4), &json!("hold_contra"))
    );

    // Filters, each with its total.
    for (filter, expected) in [
        ("movement=capture,refund", 2),
        ("purpose=hold", 2),
        (&format!("sourceId={id}"), 4),
        (&format!("merchantId={merchant}&currency=BRL&providerType=SANDBOX"), 4),
        (&format!("at.gt={captured_at}"), 1),
        (&format!("at.lt={captured_at}"), 1),
        ("sellerId=3f1c1b1e-2a7b-4a57-9d35-000000000000", 0),
        ("currency=USD", 0),
    ] {
        let found = app.get(&format!("/v1/ledger/entries?{filter}")).await.expect(200);
        let shown = found["items"].as_array().unwrap().len();
        assert_eq!((&found["meta"]["totalItems"], shown), (&json!(expected), expected), "{filter}");
    }
    for (wrong, detail) in [
        ("entries?movement=gift", "movement must be one of the following values"),
        ("entries?sourceId=1", "sourceId must be a UUID"),
        ("balances?at=yesterday", "at must be a valid ISO 8601 date string"),
        ("accounts?purpose=cash", "purpose must be one of the following values"),
    ] {
        let details = app.get(&format!("/v1/ledger/{wrong}")).await.details(400);
        assert!(details[0].starts_with(detail), "{details:?}");
    }
    // Nobody else reads them.
    let other = app.another_client().await;
    for path in ["accounts", "balances", "entries"] {
        let path = format!("/v1/ledger/{path}");
        let found = app.send(request(&other, Method::GET, &path, &[], None)).await.expect(200);
        assert_eq!(found["meta"]["totalItems"], 0, "{path}");
    }
    ledger_agrees(&app, &all_charges(&app).await).await;
}

async fn the_books_of_charges_of_former_releases_are_opened_once(app: TestApp) {
    let merchant = app.merchant().await;
    let reserved = {
        let body = Charge::by_card(&merchant, APPROVED).reserved().body();
        text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
    };
    story_of_a_charge(&app, &merchant).await;
    forget_the_books(&app).await;
    let client_id = app.client_id();
    let found = compare(&app.app, client_id, Repair::Leave).await.unwrap();
    assert_eq!((found.charges, found.differing.len(), found.posted), (2, 2, 0));
    // A reservation is captured before its books are opened: only what is missing is posted then.
    app.post(&format!("/v1/charges/{reserved}/capture"), &json!({})).await.expect(201);
    let mut batch = Batch::new(DEPLOYMENT);
    queue::bring_forward(&app.app, &mut batch, Kind::OpenLedger);
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    app.worker.round().await.unwrap();
    let charges = all_charges(&app).await;
    ledger_agrees(&app, &charges).await;
    let opened = app.get("/v1/ledger/entries?movement=opening").await.expect(200);
    assert_eq!(opened["meta"]["totalItems"], 2, "{opened:#}");
    // Once more posts nothing.
    let again = compare(&app.app, client_id, Repair::Post).await.unwrap();
    assert_eq!((again.charges, again.posted), (2, 0));
    ledger_is_right(&app).await;
}

/// As if the charges had been made by a release without books.
async fn forget_the_books(app: &TestApp) {
    let store = &app.app.store;
    let (without, with) = match store.database_kind() {
        DatabaseKind::Sqlite => (
            "DROP TRIGGER ledger_entries_remain;",
            "CREATE TRIGGER ledger_entries_remain BEFORE DELETE ON ledger_entries
             BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;",
        ),
        DatabaseKind::Postgres => (
            // The setting means nothing where the tables are not distributed.
            "SET citus.enable_unsafe_triggers = on; ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_stay;",
            "ALTER TABLE ledger_entries ENABLE TRIGGER ledger_entries_stay;",
        ),
    };
    let emptied =
        "DELETE FROM ledger_entries; DELETE FROM ledger_balances; DELETE FROM ledger_balance_spans;";
    run_script(store, &format!("{without} {emptied} {with}")).await.unwrap();
    let client_id: ClientId = app.client_id();
    assert_eq!(ledger::count(store, client_id, &ledger::EntryFilter::default()).await.unwrap(), 0);
}
