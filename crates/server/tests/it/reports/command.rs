//! What an operator asks for on the command line.

use regente::admin::{Answer, Command, ReportPart, ReportsCommand, run};
use regente::config::Config;
use regente_domain::report::{Column, Filters, ReportLanguage, ReportType};
use regente_store::reports::ReportOrder;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::reports::{A_WHILE, files, made, report_body};

stories! {
    an_operator_gets_the_rows_of_a_report,
}

async fn an_operator_gets_the_rows_of_a_report(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for _ in 0..3 {
        charged(&app, &charge_body(&merchant, APPROVED)).await;
    }
    app.later(A_WHILE).await;
    let body = report_body("transactions", json!("all"));
    let filters: Filters = serde_json::from_value(body["filters"].clone()).unwrap();
    let order = ReportOrder {
        report_type: ReportType::Transactions,
        columns: Column::of(ReportType::Transactions).collect(),
        filters,
        language: ReportLanguage::En,
        timezone: "America/Sao_Paulo".to_owned(),
    };
    let (mut csv, mut rows, mut after) = (String::new(), 0, None);
    loop {
        let part = asked(&app, ReportsCommand { client_id: app.client_id(), order: order.clone(), after })
            .await
            .unwrap();
        csv.push_str(&part.csv);
        rows += part.rows;
        match part.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(rows, 3);
    let report = made(&app, &body, &[]).await;
    assert_eq!(files(&app, &report).await, [csv.into_bytes()]);
    let nobody = regente_domain::id::ClientId::new(uuid::Uuid::nil());
    assert!(asked(&app, ReportsCommand { client_id: nobody, order, after: None }).await.is_err());
}

async fn asked(app: &TestApp, command: ReportsCommand) -> Result<ReportPart, String> {
    match run(&app.app, &Config::default(), Command::Reports(Box::new(command))).await {
        Ok(Answer::ReportPart(part)) => Ok(part),
        Ok(_) => panic!("another answer"),
        Err(error) => Err(error.to_string()),
    }
}
