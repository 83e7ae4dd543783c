//! Outcomes that nobody can tell, and what an operator asks about them.

use std::time::Duration;

use regente::admin::{Answer, Command, CommandError, UnknownRow, Verdict, run};
use regente::config::Config;
use regente_domain::id::TransactionRequestId;

use crate::support::app::TestApp;
use crate::support::providers::books::FileBooks;

pub async fn ask(app: &TestApp, command: Command) -> Result<Answer, CommandError> {
    run(&app.app, &Config::default(), command).await
}

pub async fn unknowns(app: &TestApp) -> Vec<UnknownRow> {
    match ask(app, Command::UnknownsList).await.map_err(|error| error.to_string()) {
        Ok(Answer::Unknowns { unknowns, more: false }) => unknowns,
        Ok(_) => panic!("another answer"),
        Err(error) => panic!("{error}"),
    }
}

pub async fn retry(app: &TestApp, request_id: TransactionRequestId) -> Result<TransactionRequestId, String> {
    match ask(app, Command::UnknownsRetry { request_id }).await {
        Ok(Answer::Resumed { request_id }) => Ok(request_id),
        Ok(_) => panic!("another answer"),
        Err(error) => Err(error.to_string()),
    }
}

/// A check of the doctor.
pub async fn examined(app: &TestApp, name: &str) -> (Verdict, String) {
    match ask(app, Command::Doctor).await.map_err(|error| error.to_string()) {
        Ok(Answer::Doctor(report)) => {
            let check = report.checks.into_iter().find(|check| check.name == name).unwrap();
            (check.verdict, check.found)
        }
        Ok(_) => panic!("another answer"),
        Err(error) => panic!("{error}"),
    }
}

/// A deployment with a short schedule whose simulator can lose its transaction log, and with it every answer.
pub async fn forgetful(app: TestApp) -> (TestApp, FileBooks) {
    let file = FileBooks::new();
    let app = app.with_settings(|settings| settings.reconcile_waits = vec![Duration::from_secs(60); 2]).await;
    // A missing log fails at once; once it is back, a busy machine may need this long.
    (app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await, file)
}

/// Lets the whole schedule pass; the one request that is given up then.
pub async fn given_up(app: &TestApp) -> TransactionRequestId {
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    let [given_up] = &unknowns(app).await[..] else { panic!("one is given up") };
    assert!(given_up.given_up_at.is_some());
    given_up.request_id
}
