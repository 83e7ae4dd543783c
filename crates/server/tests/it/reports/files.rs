//! Files of reports: pages of so many rows, thirty days, and what rests of them on the disk.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::Method;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, charge_body};
use crate::support::charges::{charged, read as charge_now, single_merchant};
use crate::support::client::request;
use crate::support::read::text;
use crate::support::reports::{column, file, files, filtered, made, read, report_body, table};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_file_has_so_many_rows,
    a_history_goes_on_in_the_middle_of_a_charge,
    rows_are_as_many_as_the_counters_say,
    after_thirty_days_the_files_are_gone,
    no_cell_rests_in_the_clear,
}

async fn a_file_has_so_many_rows(app: TestApp) {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 3).await;
    let merchant = single_merchant(&app).await;
    let mut ids = Vec::new();
    let body = report_body("transactions", json!("transaction__id"));
    // Also a last file that is full, behind which there is none.
    for (charges, rows) in [(2, vec![2]), (1, vec![3]), (3, vec![3, 3]), (1, vec![3, 3, 1])] {
        for _ in 0..charges {
            ids.push(text(&charged(&app, &charge_body(&merchant, APPROVED)).await["id"]).to_owned());
        }
        let report = made(&app, &body, &[]).await;
        assert_eq!((&report["status"], &report["pagesCount"]), (&json!("uploaded"), &json!(rows.len())));
        let counted: Vec<usize> =
            files(&app, &report).await.iter().map(|bytes| table(bytes).1.len()).collect();
        assert_eq!(counted, rows);
        assert_eq!(column(&app, &report, "Transaction Id").await, ids);
    }
}

async fn a_history_goes_on_in_the_middle_of_a_charge(app: TestApp) {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 2).await;
    let merchant = app.fallback_merchant().await;
    let mut expected = Vec::new();
    for _ in 0..3 {
        // A refusal, and an approval by the next provider; then half of it is given back.
        let charge = charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        app.post(&path, &json!({ "amount": 50 })).await.expect(201);
        let charge = charge_now(&app, &charge).await;
        let requests = charge["transactionRequests"].as_array().unwrap();
        expected.extend(requests.iter().rev().map(|request| text(&request["id"]).to_owned()));
    }
    let body = report_body("transactionsHistory", json!("transaction_request__id"));
    let report = made(&app, &body, &[]).await;
    assert_eq!(expected.len(), 9);
    assert_eq!(report["pagesCount"], 5);
    assert_eq!(column(&app, &report, "Transaction Request Id").await, expected);
}

/// Totals of lists are of counters that are kept apart from the charges.
async fn rows_are_as_many_as_the_counters_say(app: TestApp) {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 4).await;
    let merchant = app.fallback_merchant().await;
    let mut requests = 0;
    for number in 0..9 {
        let card = if number % 3 == 0 { BLOCKED } else { APPROVED };
        let charge = charged(&app, &Charge::by_card(&merchant, card).body()).await;
        requests += charge["transactionRequests"].as_array().unwrap().len();
    }
    let id = json!("transaction__id");
    for (query, statuses) in [
        ("", json!(["authorized", "failed"])),
        ("?status=authorized", json!(["authorized"])),
        ("?status=failed", json!(["failed"])),
    ] {
        let counted = app.get(&format!("/v1/charges{query}")).await.expect(200)["meta"]["totalItems"].clone();
        let body = filtered(report_body("transactions", id.clone()), "transactionStatus", statuses);
        let ids = column(&app, &made(&app, &body, &[]).await, "Transaction Id").await;
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!((json!(ids.len()), distinct.len()), (counted, ids.len()), "{query}");
    }
    let history = made(&app, &report_body("transactionsHistory", id), &[]).await;
    assert_eq!(column(&app, &history, "Transaction Id").await.len(), requests);
}

async fn after_thirty_days_the_files_are_gone(app: TestApp) {
    charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    let report = made(&app, &report_body("transactions", json!("all")), &[]).await;
    app.later(29 * DAY).await;
    assert_eq!(file(&app, &report, 1).await.status, 200);
    // Its time is over before the job has deleted it.
    app.clock.set(app.clock.deployment() + DAY);
    let gone = json!({
        "error": { "type": "invalid_request_error", "code": 410, "message": "File has expired", "details": [] }
    });
    assert_eq!(file(&app, &report, 1).await.expect(410), gone);
    assert!(!app.report_paths().is_empty());
    app.later(DAY).await;
    assert!(app.report_paths().is_empty());
    assert_eq!(file(&app, &report, 1).await.expect(410), gone);
    let expired = read(&app, &report).await;
    assert_eq!((&expired["status"], &expired["pagesCount"]), (&json!("expired"), &json!(1)));
    assert_eq!(expired["files"], json!([]));
}

async fn no_cell_rests_in_the_clear(app: TestApp) {
    let charge = charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    let report = made(&app, &report_body("transactions", json!("all")), &[]).await;
    let (_, rows) = table(&file(&app, &report, 1).await.bytes);
    assert!(rows[0].iter().any(|cell| cell == "JOAO DA SILVA"));
    for path in app.report_paths() {
        let content = std::fs::read(path).unwrap();
        for text in ["JOAO DA SILVA", text(&charge["id"]), "authorized"] {
            assert!(!content.windows(text.len()).any(|part| part == text.as_bytes()), "{text}");
        }
    }
    // A file that was cut off is no shorter file: its reader is told.
    for path in app.report_paths() {
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 32]).unwrap();
    }
    let path = format!("/v1/reports/{}/files/1", text(&report["id"]));
    let cut = app.begin(request(&app.client, Method::GET, &path, &[], None)).await;
    assert!(cut.is_err(), "whoever reads it fails at its end");
}
