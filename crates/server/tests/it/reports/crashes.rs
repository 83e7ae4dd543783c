//! The process stops at each step of making a report: its files are those that nobody has disturbed, byte for byte.

use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::charged;
use crate::support::crashes::{at_each_step, stopped_while};
use crate::support::mail::MailServer;
use crate::support::read::text;
use crate::support::reports::{A_WHILE, asked, files, made, read, report_body};

stories! {
    while_a_report_of_charges_is_made,
    while_a_report_of_a_history_is_made,
    while_a_report_is_mailed,
}

async fn while_a_report_of_charges_is_made(app: TestApp) {
    stopped_at_each_step(app, "transactions").await;
}

async fn while_a_report_of_a_history_is_made(app: TestApp) {
    stopped_at_each_step(app, "transactionsHistory").await;
}

async fn stopped_at_each_step(app: TestApp, report_type: &str) {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 2).await;
    let merchant = app.fallback_merchant().await;
    for _ in 0..3 {
        charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    }
    let body = report_body(report_type, json!("all"));
    let undisturbed = made(&app, &body, &[]).await;
    let expected = files(&app, &undisturbed).await;
    assert!(expected.len() > 1);
    at_each_step(app, 15, async |app, steps| {
        let report = asked(&app, &body, &[]).await.expect(201);
        app.prepare().await;
        let (app, is_done) = stopped_while(app, steps, async |app| app.later(A_WHILE).await).await;
        if !is_done {
            app.later(2 * A_WHILE).await;
        }
        let report = read(&app, &report).await;
        assert_eq!(report["status"], "uploaded", "after {steps} steps");
        assert_eq!(files(&app, &report).await, expected, "after {steps} steps");
        let drafts = app.report_paths().into_iter().filter(|path| path.extension().is_some());
        assert_eq!(drafts.count(), 0, "after {steps} steps");
        (app, is_done)
    })
    .await;
}

/// A mail whose acceptance nobody has noted goes out again, under the same name.
async fn while_a_report_is_mailed(app: TestApp) {
    let server = MailServer::start().await;
    let app = app.reachable().await.with_mail(server.options()).await;
    let merchant = app.fallback_merchant().await;
    charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    let body = report_body("transactions", json!("all"));
    let mut twice = 0;
    at_each_step(app, 10, async |app, steps| {
        let report = asked(&app, &body, &[]).await.expect(201);
        app.prepare().await;
        server.stops_with(&app.fuse);
        let (app, is_done) = stopped_while(app, steps, async |app| app.later(A_WHILE).await).await;
        server.stops_with(&app.fuse);
        if !is_done {
            app.later(2 * A_WHILE).await;
        }
        assert_eq!(read(&app, &report).await["status"], "sent", "after {steps} steps");
        let name = format!("<report-{}@regente.example>", text(&report["id"]));
        let mails = server.got().iter().filter(|mail| mail.header("Message-ID") == name).count();
        assert!((1..=2).contains(&mails), "{mails} mails after {steps} steps");
        twice += mails - 1;
        (app, is_done)
    })
    .await;
    assert!(twice > 0, "no stop was between the mail and its note");
}
