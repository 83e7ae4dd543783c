//! A merchant whose deployment is moved to another database and back: keys, charges, books and deliveries go on.

use std::time::Duration;

use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, ledger_is_right};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, WRONG_CVV, charge_body};
use crate::support::client::Reply;
use crate::support::crashes::stopped_at;
use crate::support::payers::{PAYS, happens};
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};
use crate::support::splits::{divided, shop};
use crate::support::webhooks::webhook;

stories! {
    keys_and_charges_go_on_at_the_other_place,
    a_charge_under_way_is_settled_at_the_other_place,
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A request with its key, and its first answer.
struct Asked {
    path: String,
    key: String,
    body: Value,
    first: Reply,
}

async fn ask(app: &TestApp, path: &str, key: &str, body: Value) -> Asked {
    let first = app.post_with_key(path, key, &body).await;
    assert!(first.header("idempotent-replayed").is_none());
    Asked { path: path.to_owned(), key: key.to_owned(), body, first }
}

/// Every key is answered as it was, to the byte, and no provider is asked.
async fn repeat(app: &TestApp, all: &[Asked]) {
    let calls = app.books.entries().await.unwrap();
    for Asked { path, key, body, first } in all {
        let again = app.post_with_key(path, key, body).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{key}");
        assert_eq!((again.status, &again.bytes), (first.status, &first.bytes), "{key}");
        if let Some(merchant) = body["merchantId"].as_str() {
            let other = Charge::by_card(merchant, APPROVED).amount(77).body();
            app.post_with_key(path, key, &other).await.expect(409);
        }
    }
    assert_eq!(app.books.entries().await.unwrap(), calls);
}

fn other(app: &TestApp) -> DatabaseKind {
    match app.app.store.database_kind() {
        DatabaseKind::Sqlite => DatabaseKind::Postgres,
        DatabaseKind::Postgres => DatabaseKind::Sqlite,
    }
}

fn id(asked: &Asked) -> String {
    text(&asked.first.json()["id"]).to_owned()
}

async fn keys_and_charges_go_on_at_the_other_place(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.always(Say::Status(500));
    webhook(&app, &receiver, "transaction.authorized", "/hook").await;
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([{ "sellerId": sellers[0]["id"], "percentage": 33 }]);
    let mut all = Vec::new();
    for (key, body) in [
        ("divided", divided(&merchant, 1001, &rules)),
        ("declined", charge_body(&merchant, WRONG_CVV)),
        ("reserved", Charge::by_card(&merchant, APPROVED).amount(900).reserved().body()),
        ("pix", pix_body(&merchant, described(jose()))),
    ] {
        all.push(ask(&app, "/v1/charges", key, body).await);
    }
    let path = format!("/v1/charges/{}/void", id(&all[0]));
    all.push(ask(&app, &path, "a part back", json!({ "amount": 300 })).await);
    // Deliveries that were tried in vain wait for their next time.
    app.run_jobs().await;
    let tried = receiver.received().len();
    assert!(tried > 0);
    let listed = app.get("/v1/charges").await;

    let kind = other(&app);
    let (app, there) = app.moved_to(kind, &[]).await;
    assert_eq!(app.app.store.database_kind(), kind);
    assert_eq!(app.get("/v1/charges").await.bytes, listed.bytes);
    repeat(&app, &all).await;
    ledger_is_right(&app).await;

    // What was begun goes on there.
    let path = format!("/v1/charges/{}/capture", id(&all[2]));
    all.push(ask(&app, &path, "capture", json!({ "amount": 500 })).await);
    assert_eq!(all[5].first.status, 201);
    happens(&app, &all[3].first.json(), 0, PAYS).await;
    receiver.always(Say::Status(200));
    app.end_leases().await;
    app.later(HOUR).await;
    let paid = app.get(&format!("/v1/charges/{}", id(&all[3]))).await.expect(200);
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    assert!(receiver.received().len() > tried, "what waited is delivered");

    // And back, with interruptions on the way.
    let kind = other(&app);
    let (app, back) = app.moved_to(kind, &[0, 3, 20]).await;
    assert!(back.resumed_after > 0);
    let rows = |moved: &regente_store::moving::Moved| {
        moved.accounts.values().map(|account| account.rows).sum::<u64>()
    };
    assert!(rows(&back) > rows(&there));
    repeat(&app, &all).await;
    let path = format!("/v1/charges/{}/void", id(&all[2]));
    all.push(ask(&app, &path, "all back", json!({})).await);
    assert_eq!(all[6].first.status, 201, "{}", String::from_utf8_lossy(&all[6].first.bytes));
    all.push(ask(&app, "/v1/charges", "new", charge_body(&merchant, APPROVED)).await);
    app.later(HOUR).await;
    let charges = all_charges(&app).await;
    ledger_agrees(&app, &charges).await;
    agree_on_all(&app.books, &charges).await;

    // Once more there: what came and went is as it was.
    let kind = other(&app);
    let (app, _) = app.moved_to(kind, &[]).await;
    repeat(&app, &all).await;
    ledger_agrees(&app, &charges).await;
}

async fn a_charge_under_way_is_settled_at_the_other_place(app: TestApp) {
    let body = charge_body(&app.merchant().await, APPROVED);
    // The process dies when the provider has been asked.
    let (app, is_answered) = stopped_at(app, 4, "/v1/charges", "under way", &body).await;
    assert!(!is_answered);
    assert_eq!(all_charges(&app).await[0]["status"], "pending");
    let kind = other(&app);
    let (app, _) = app.moved_to(kind, &[]).await;
    app.end_leases().await;
    app.later(HOUR).await;
    let again = app.post_with_key("/v1/charges", "under way", &body).await.expect(201);
    let charges = all_charges(&app).await;
    assert_eq!((charges.len(), &charges[0]["id"]), (1, &again["id"]));
    assert_ne!(charges[0]["status"], "pending", "{charges:#?}");
    agree_on_all(&app.books, &charges).await;
    ledger_agrees(&app, &charges).await;
}
