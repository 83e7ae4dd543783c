//! Imports settlement files as the command does.

use std::path::Path;

use regente::admin::{Answer, Command, SettlementAnswer, SettlementCommand, run};
use regente::config::Config;
use regente::settlement::{
    Failure, File, Mapping, Progress, ProviderFile, Report, ReportedFinding, Step, reconcile,
    write_sandbox_file,
};
use regente_domain::time::Timestamp;

use crate::support::app::TestApp;

/// Lines that are posted in one batch: so few that an import has several.
pub const POSTED_AT_ONCE: usize = 5;

/// No terminal.
struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _: Step) {}
    fn done(&self, _: u64) {}
}

pub async fn ask(app: &TestApp, command: SettlementCommand) -> Result<SettlementAnswer, Failure> {
    let answer = run(&app.app, &Config::default(), Command::Settlement(command)).await?;
    let Answer::Settlement { settlement } = answer else { panic!("another answer") };
    Ok(settlement)
}

/// The simulator's file of all days.
pub async fn sandbox_file(app: &TestApp) -> String {
    let mut written = Vec::new();
    let (from, to) = (Timestamp::EPOCH, Timestamp::from_millis(i64::MAX / 2));
    write_sandbox_file(&mut written, async |after| app.books.settlement(from, to, after, 7).await)
        .await
        .unwrap();
    String::from_utf8(written).unwrap()
}

/// The simulator's file of all days about one provider.
pub async fn provider_file(app: &TestApp, provider: &str) -> String {
    let ask = async |command| ask(app, command).await;
    let command = SettlementCommand::Scope { provider: provider.to_owned() };
    let SettlementAnswer::Scope(scope) = ask(command).await.unwrap() else { panic!("another answer") };
    let during = (Timestamp::EPOCH, Timestamp::from_millis(i64::MAX / 2));
    let file = ProviderFile::of(&ask, scope, during).await.unwrap();
    let mut written = Vec::new();
    write_sandbox_file(&mut written, async |after| file.page(&ask, after).await).await.unwrap();
    String::from_utf8(written).unwrap()
}

/// Imports a file through `ask`.
pub async fn import_by(
    ask: impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    text: &str,
    provider: &str,
    mapping: &Mapping,
) -> Result<Report, Failure> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    import_path(ask, file.path(), provider, mapping, |file| file).await
}

pub async fn import_path(
    ask: impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    path: &Path,
    provider: &str,
    mapping: &Mapping,
    asked: impl for<'a> FnOnce(File<'a>) -> File<'a>,
) -> Result<Report, Failure> {
    let answer = ask(SettlementCommand::Scope { provider: provider.to_owned() }).await?;
    let SettlementAnswer::Scope(scope) = answer else { panic!("another answer") };
    let scope = &scope;
    let file = File {
        path,
        mapping,
        scope,
        days: None,
        since: None,
        shown_max: 100,
        posted_at_once: POSTED_AT_ONCE,
        is_dry_run: false,
    };
    reconcile(ask, asked(file), &Quiet).await
}

pub async fn import(app: &TestApp, text: &str, provider: &str) -> Report {
    let mapping = Mapping::of_the_simulator().unwrap();
    import_by(async |command| ask(app, command).await, text, provider, &mapping).await.unwrap()
}

/// The simulator's file of everything says what the records say, and once it is posted, the simulator owes nothing.
pub async fn settles(app: &TestApp) {
    let report = import(app, &sandbox_file(app).await, "SANDBOX").await;
    assert!(report.is_clean(), "{}", report.text());
    assert!(report.owed.values().all(|owed| *owed == 0), "{}", report.text());
}

/// As [`settles`]. Reports come in any order: a charge back may be heard before the refund that had come back before it. Such
/// a refund is put aside for the operator, and the file tells of both.
pub async fn settles_in_any_order(app: &TestApp) {
    let report = import(app, &sandbox_file(app).await, "SANDBOX").await;
    let is_unheard =
        |found: &&ReportedFinding| (found.finding, found.kind) == ("missing_here", Some("refund_reverted"));
    let unheard: Vec<_> =
        report.findings.iter().filter(is_unheard).filter_map(|found| found.charge_id).collect();
    if unheard.is_empty() {
        assert!(report.is_clean(), "{}", report.text());
        assert!(report.owed.values().all(|owed| *owed == 0), "{}", report.text());
    }
    for id in &unheard {
        let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        assert_eq!(charge["status"], "charged_back", "{charge:#} {}", report.text());
    }
    let is_of_it = |found: &ReportedFinding| {
        let is_known = found.charge_id.is_some_and(|id| unheard.contains(&id));
        is_known && matches!(found.kind, Some("refund_reverted" | "charge_back"))
    };
    assert!(report.findings.iter().all(is_of_it), "{}", report.text());
}
