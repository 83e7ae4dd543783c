//! Files of reports in a bucket: whoever fetches one is led there.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::charged;
use crate::support::crashes::{at_each_step, stopped_while};
use crate::support::customers::erase;
use crate::support::mail::{MailServer, opened};
use crate::support::read::text;
use crate::support::records::Records;
use crate::support::reports::{A_WHILE, asked, file, files, made, read, report_body};
use crate::support::s3::S3Server;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_file_in_a_bucket_is_that_of_a_folder,
    a_link_leads_to_the_bucket,
    after_thirty_days_nothing_is_in_the_bucket,
    nobody_who_is_erased_is_in_the_bucket,
    a_bucket_that_is_away_is_asked_again,
    while_a_report_is_made_in_a_bucket,
}

/// A deployment of three charges, with files of two rows.
async fn with_charges(app: TestApp) -> TestApp {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 2).await;
    let merchant = app.fallback_merchant().await;
    for _ in 0..3 {
        charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    }
    app
}

fn everything() -> Value {
    report_body("transactions", json!("all"))
}

/// Where a file of a report is.
async fn address(app: &TestApp, report: &Value, number: usize) -> String {
    let reply = file(app, report, number).await;
    assert_eq!((reply.status.as_u16(), reply.header("cache-control")), (307, Some("no-store")));
    assert!(reply.bytes.is_empty());
    reply.header("location").unwrap().to_owned()
}

/// Follows an address: status and content.
async fn fetched(address: &str) -> (u16, Vec<u8>) {
    let reply = reqwest::get(address).await.unwrap();
    (reply.status().as_u16(), reply.bytes().await.unwrap().to_vec())
}

/// All files of a report, each from where it is.
async fn files_there(app: &TestApp, report: &Value) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for number in 1..=report["pagesCount"].as_u64().unwrap() {
        let (status, bytes) = fetched(&address(app, report, usize::try_from(number).unwrap()).await).await;
        assert_eq!(status, 200);
        files.push(bytes);
    }
    files
}

async fn a_file_in_a_bucket_is_that_of_a_folder(app: TestApp) {
    let app = with_charges(app).await;
    let in_folder = files(&app, &made(&app, &everything(), &[]).await).await;
    let paths = app.report_paths();
    let server = S3Server::start(&app.clock).await;
    let app = app.with_bucket(server.options()).await;
    let report = made(&app, &everything(), &[]).await;
    assert_eq!((&report["status"], &report["pagesCount"]), (&json!("uploaded"), &json!(2)));
    assert_eq!(files_there(&app, &report).await, in_folder);
    assert_eq!(app.report_paths(), paths, "nothing of it is left in the folder");
    let id = text(&report["id"]);
    let path = |number| format!("/reports/of%20regente/{}/{id}/{number}.csv", app.client.id);
    assert_eq!(server.objects().into_keys().collect::<Vec<_>>(), [path(1), path(2)]);

    let there = address(&app, &report, 1).await;
    for part in [
        "X-Amz-Expires=300",
        "response-content-type=application%2Fcsv",
        &format!("report-{}-1.csv", &id[..8]),
    ] {
        assert!(there.contains(part), "{there}");
    }
    assert_eq!(fetched(&there.replace("1.csv?", "2.csv?")).await.0, 403, "an address is of one file");
    app.later(Duration::from_secs(299)).await;
    assert_eq!(fetched(&there).await, (200, in_folder[0].clone()));
    app.later(Duration::from_secs(1)).await;
    assert_eq!(fetched(&there).await.0, 403);
    assert_eq!(files_there(&app, &report).await, in_folder, "another address is to be had");
}

async fn a_link_leads_to_the_bucket(app: TestApp) {
    let app = with_charges(app).await;
    let (bucket, mail) = (S3Server::start(&app.clock).await, MailServer::start().await);
    let app = app.reachable().await.with_bucket(bucket.options()).await.with_mail(mail.options()).await;
    let report = made(&app, &everything(), &[]).await;
    let expected = files_there(&app, &report).await;
    for (link, expected) in mail.got()[0].links().iter().zip(expected) {
        let reply = opened(&app, link).await;
        assert_eq!(reply.status, 307);
        assert_eq!(fetched(reply.header("location").unwrap()).await, (200, expected));
    }
}

async fn after_thirty_days_nothing_is_in_the_bucket(app: TestApp) {
    let app = with_charges(app).await;
    let server = S3Server::start(&app.clock).await;
    let app = app.with_bucket(server.options()).await;
    let report = made(&app, &everything(), &[]).await;
    app.later(29 * DAY).await;
    let there = address(&app, &report, 1).await;
    assert_eq!(server.objects().len(), 2);
    app.later(DAY).await;
    assert_eq!(file(&app, &report, 1).await.expect(410)["error"]["message"], "File has expired");
    assert!(server.objects().is_empty());
    assert_ne!(fetched(&there).await.0, 200);
}

async fn nobody_who_is_erased_is_in_the_bucket(app: TestApp) {
    let app = with_charges(app).await;
    let server = S3Server::start(&app.clock).await;
    let app = app.with_bucket(server.options()).await;
    let report = made(&app, &everything(), &[]).await;
    assert_eq!(server.objects().len(), 2);
    let customer = Records { app: &app, client: &app.client }.customer().await;
    erase(&app, &customer).await;
    assert!(server.objects().is_empty());
    file(&app, &report, 1).await.expect(410);
}

async fn a_bucket_that_is_away_is_asked_again(app: TestApp) {
    let app = with_charges(app).await;
    let server = S3Server::start(&app.clock).await;
    let mut wrong = server.options();
    wrong.secret_key = "another".to_owned().into();
    let app = app.with_bucket(wrong).await;
    let report = made(&app, &everything(), &[]).await;
    assert_eq!(report["status"], "processing", "the storage does not take it");
    let app = app.with_bucket(server.options()).await;
    app.later(Duration::from_secs(300)).await;
    let report = read(&app, &report).await;
    assert_eq!(report["status"], "uploaded");
    assert_eq!((files_there(&app, &report).await.len(), server.objects().len()), (2, 2));
    assert!(app.report_paths().is_empty(), "no draft is left");
}

async fn while_a_report_is_made_in_a_bucket(app: TestApp) {
    let app = with_charges(app).await;
    let expected = files(&app, &made(&app, &everything(), &[]).await).await;
    let drafts = app.report_paths().len();
    let server = S3Server::start(&app.clock).await;
    let (mut reports, mut puts) = (0, 0);
    let app = app.with_bucket(server.options()).await;
    at_each_step(app, 15, async |app, steps| {
        let report = asked(&app, &everything(), &[]).await.expect(201);
        app.prepare().await;
        server.stops_with(&app.fuse);
        let (app, is_done) = stopped_while(app, steps, async |app| app.later(A_WHILE).await).await;
        server.stops_with(&app.fuse);
        if !is_done {
            app.later(2 * A_WHILE).await;
        }
        let report = read(&app, &report).await;
        assert_eq!(report["status"], "uploaded", "after {steps} steps");
        assert_eq!(files_there(&app, &report).await, expected, "after {steps} steps");
        reports += 1;
        puts = server.puts();
        assert_eq!(server.objects().len(), 2 * reports, "after {steps} steps");
        assert_eq!(app.report_paths().len(), drafts, "after {steps} steps");
        (app, is_done)
    })
    .await;
    assert!(puts > 2 * reports, "no stop was between an object and its note");
}
