//! A report shows one moment, whenever its rows are read.

use std::time::Duration;

use regente_engine::reports::{Written, write};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::{capture, charged, single_merchant, void};
use crate::support::read::text;
use crate::support::reports::{A_WHILE, asked, made, read, records, report_body};

stories! {
    what_was_answered_before_is_in_a_report,
    what_happens_later_is_in_no_report,
    what_happens_while_a_report_is_made_is_not_in_it,
}

const FIELDS: [&str; 3] = ["transaction__id", "transaction__status", "transaction__amount"];

/// Each version of a charge is dated a millisecond after the one before it where the clock stands still, and another node's clock may be ahead.
async fn what_was_answered_before_is_in_a_report(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let amount = async |body: &Value| {
        let records = records(&app, &made(&app, body, &[]).await).await;
        (records[0]["Transaction Status"].clone(), records[0]["Transaction Amount"].clone())
    };
    let body = report_body("transactions", json!(FIELDS));
    assert_eq!(amount(&body).await, ("authorized".to_owned(), "1.50".to_owned()));
    for _ in 0..5 {
        void(&app, text(&charge["id"]), json!({ "amount": 10 })).await.expect(201);
    }
    assert_eq!(amount(&body).await, ("authorized".to_owned(), "1.00".to_owned()));
    let report = asked(&app, &body, &[]).await.expect(201);
    app.clock.advance(Duration::from_millis(500));
    void(&app, text(&charge["id"]), json!({ "amount": 10 })).await.expect(201);
    app.later(A_WHILE).await;
    assert_eq!(records(&app, &read(&app, &report).await).await[0]["Transaction Amount"], "0.90");
}

async fn what_happens_later_is_in_no_report(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let refunded = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let captured = charged(&app, &Charge::by_card(&merchant, APPROVED).reserved().body()).await;
    let report = asked(&app, &report_body("transactions", json!(FIELDS)), &[]).await.expect(201);
    let history = asked(&app, &report_body("transactionsHistory", json!(FIELDS)), &[]).await.expect(201);
    app.clock.advance(Duration::from_secs(2));
    void(&app, text(&refunded["id"]), json!({ "amount": 50 })).await.expect(201);
    void(&app, text(&refunded["id"]), json!({ "amount": 100 })).await.expect(201);
    capture(&app, text(&captured["id"]), json!({ "amount": 120 })).await.expect(201);
    charged(&app, &charge_body(&merchant, APPROVED)).await;
    app.later(A_WHILE).await;
    for report in [&report, &history] {
        let records = records(&app, &read(&app, report).await).await;
        let shown: Vec<_> = records
            .iter()
            .map(|record| {
                (&*record["Transaction Id"], &*record["Transaction Status"], &*record["Transaction Amount"])
            })
            .collect();
        let (first, second) = (text(&refunded["id"]), text(&captured["id"]));
        assert_eq!(shown, [(first, "authorized", "1.50"), (second, "pre_authorized", "1.50")]);
    }
    let now = records(&app, &made(&app, &report_body("transactions", json!(FIELDS)), &[]).await).await;
    let shown: Vec<_> =
        now.iter().map(|record| (&*record["Transaction Status"], &*record["Transaction Amount"])).collect();
    assert_eq!(shown, [("voided", "0.00"), ("authorized", "1.20"), ("authorized", "1.50")]);
}

async fn what_happens_while_a_report_is_made_is_not_in_it(app: TestApp) {
    let app = app.with_settings(|settings| settings.report_rows_per_file = 1).await;
    let merchant = single_merchant(&app).await;
    let mut charges = Vec::new();
    for _ in 0..3 {
        charges.push(charged(&app, &charge_body(&merchant, APPROVED)).await);
    }
    let report = asked(&app, &report_body("transactions", json!(FIELDS)), &[]).await.expect(201);
    // It is begun, and its first file is there.
    let id = text(&report["id"]).parse().unwrap();
    for _ in 0..2 {
        assert_eq!(write(&app.app.engine, app.client_id(), id).await.unwrap(), Written::Part);
    }
    assert_eq!(read(&app, &report).await["status"], "processing");
    app.clock.advance(Duration::from_secs(2));
    for charge in &charges {
        void(&app, text(&charge["id"]), json!({})).await.expect(201);
    }
    app.later(A_WHILE).await;
    let records = records(&app, &read(&app, &report).await).await;
    let shown: Vec<&str> = records.iter().map(|record| &*record["Transaction Status"]).collect();
    assert_eq!(shown, ["authorized"; 3]);
}
