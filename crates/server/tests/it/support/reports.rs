//! Asks for reports, waits until they are made, and reads their files with a reader of CSV that has not written them.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::Method;
use csv::ReaderBuilder;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;
use crate::support::read::text;

pub const REPORTS: &str = "/v1/reports";

/// Longer than a report waits before it is begun.
pub const A_WHILE: Duration = Duration::from_secs(30);

/// The body of a report about the month in which stories begin, and the following ones.
pub fn report_body(report_type: &str, fields: Value) -> Value {
    json!({
        "sendTo": "user@example.com", "type": report_type, "fields": fields,
        "filters": { "transactionCreatedAt": { "gte": "2026-03-01T00:00:00Z", "lte": "2026-06-30T23:59:59Z" } },
    })
}

/// The same with a further filter.
pub fn filtered(mut body: Value, name: &str, value: Value) -> Value {
    body["filters"][name] = value;
    body
}

pub async fn asked(app: &TestApp, body: &Value, headers: &[(&str, &str)]) -> Reply {
    app.call(&app.client, Method::POST, REPORTS, headers, Some(body)).await
}

pub async fn read(app: &TestApp, report: &Value) -> Value {
    app.get(&format!("{REPORTS}/{}", text(&report["id"]))).await.expect(200)
}

/// A report that was made.
pub async fn made(app: &TestApp, body: &Value, headers: &[(&str, &str)]) -> Value {
    let report = asked(app, body, headers).await.expect(201);
    app.later(A_WHILE).await;
    read(app, &report).await
}

/// A file of a report, as it comes.
pub async fn file(app: &TestApp, report: &Value, number: usize) -> Reply {
    app.get(&format!("{REPORTS}/{}/files/{number}", text(&report["id"]))).await
}

/// The bytes of all files of a report.
pub async fn files(app: &TestApp, report: &Value) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for number in 1..=report["pagesCount"].as_u64().unwrap() {
        let reply = file(app, report, usize::try_from(number).unwrap()).await;
        assert_eq!(reply.status, 200);
        files.push(reply.bytes);
    }
    files
}

/// The titles and the records of a file.
pub fn table(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).expect("a byte order mark");
    let mut reader = ReaderBuilder::new().from_reader(bytes);
    let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let titles = texts(reader.headers().unwrap());
    (titles, reader.records().map(|record| texts(&record.unwrap())).collect())
}

/// All records of a report, by the titles.
pub async fn records(app: &TestApp, report: &Value) -> Vec<HashMap<String, String>> {
    let mut records = Vec::new();
    for bytes in files(app, report).await {
        let (titles, rows) = table(&bytes);
        records.extend(rows.into_iter().map(|row| titles.iter().cloned().zip(row).collect()));
    }
    records
}

/// The cells of one column.
pub async fn column(app: &TestApp, report: &Value, title: &str) -> Vec<String> {
    records(app, report).await.into_iter().map(|mut record| record.remove(title).expect(title)).collect()
}
