//! Reports: their states, titles, time zones, and cells that no spreadsheet computes.

use std::collections::HashSet;

use proptest::prelude::*;
use regente_domain::problems::Problems;
use regente_domain::report::{
    Column, NewReport, ReportLanguage, ReportStatus, ReportType, Step, Zone, cells,
};
use regente_domain::time::Timestamp;
use regente_domain::wire::read;
use serde_json::{Value, json};

const STEPS: [Step; 8] = [
    Step::Stored,
    Step::Begun,
    Step::FilesStored,
    Step::NothingFound,
    Step::Failed,
    Step::MailHandedOver,
    Step::FileFetched,
    Step::TimeOver,
];

#[test]
fn a_report_goes_this_way_and_no_other() {
    use ReportStatus as S;
    let table = [
        (S::Created, Step::Stored, S::Pending),
        (S::Pending, Step::Begun, S::Processing),
        (S::Pending, Step::Failed, S::Error),
        (S::Processing, Step::FilesStored, S::Uploaded),
        (S::Processing, Step::NothingFound, S::Empty),
        (S::Processing, Step::Failed, S::Error),
        (S::Uploaded, Step::MailHandedOver, S::Sent),
        (S::Uploaded, Step::TimeOver, S::Expired),
        (S::Sent, Step::FileFetched, S::Opened),
        (S::Sent, Step::TimeOver, S::Expired),
        (S::Opened, Step::TimeOver, S::Expired),
    ];
    for (_, status) in ReportStatus::WORDS {
        for step in STEPS {
            let expected =
                table.iter().find(|(from, by, _)| (from, *by) == (status, step)).map(|(.., to)| *to);
            assert_eq!(status.after(step), expected, "{status:?} {step:?}");
        }
        assert!(!(status.is_running() && status.has_files()));
    }
}

#[test]
fn columns_are_those_that_are_published() {
    let of = |report_type| Column::of(report_type).map(Column::key).collect::<Vec<_>>();
    let (transactions, history) = (of(ReportType::Transactions), of(ReportType::TransactionsHistory));
    assert_eq!((transactions.len(), history.len()), (42, 85));
    for columns in [&transactions, &history] {
        assert_eq!(columns.iter().collect::<HashSet<_>>().len(), columns.len(), "none twice");
    }
    assert_eq!(Column::all().count(), 91);
    let titles: Vec<String> =
        Column::of(ReportType::Transactions).map(|column| column.title(ReportLanguage::PtBr)).collect();
    assert_eq!(titles[..3], ["Data da Criação", "ID da Cobrança", "ID do pedido"]);
    assert_eq!(
        Column::parse("provider_error__retryable").unwrap().title(ReportLanguage::Pt),
        "Provider Error Retryable"
    );
    assert_eq!(Column::parse("transaction__id").unwrap().title(ReportLanguage::En), "Transaction Id");
    for column in Column::all() {
        assert_eq!(Column::parse(column.key()), Some(column));
        assert!(column.fits(ReportType::Transactions) || column.fits(ReportType::TransactionsHistory));
    }
}

#[test]
fn a_language_is_the_first_that_there_is() {
    let cases =
        [("", "en-US"), ("pt-BR", "pt-BR"), ("pt", "pt"), ("fr, EN;q=0.8, pt", "en"), ("xx", "en-US")];
    for (header, word) in cases {
        assert_eq!(ReportLanguage::accepted(header).word(), word, "{header}");
    }
}

#[test]
fn dates_are_those_of_the_zone() {
    let at = |zone: &str, text: &str| Zone::parse(zone).unwrap().shown(Timestamp::parse(text).unwrap());
    assert_eq!(at("America/Sao_Paulo", "2026-06-02T13:11:12.999Z"), "2026-06-02 10:11:12");
    // Summer time ends: the hour is there twice.
    assert_eq!(at("America/New_York", "2026-11-01T05:30:00Z"), "2026-11-01 01:30:00");
    assert_eq!(at("America/New_York", "2026-11-01T06:30:00Z"), "2026-11-01 01:30:00");
    assert_eq!(Zone::parse("Brasilia"), None);
    assert_eq!(Zone::default().name(), "America/Sao_Paulo");
}

#[test]
fn all_is_every_column_and_no_column_comes_twice() {
    let new = |fields: Value| -> Result<NewReport, Problems> {
        let filters = json!({ "transactionCreatedAt": { "gte": "2026-06-01", "lte": "2026-06-30" } });
        let body = json!({ "sendTo": "a@example.com", "fields": fields, "filters": filters });
        read(body.as_object().unwrap().clone())
    };
    for all in [json!("all"), json!(["all"]), json!(["transaction__id", "all"])] {
        assert_eq!(new(all).unwrap().columns.len(), 42);
    }
    let columns = new(json!(["session__id", "transaction__id", "session__id"])).unwrap().columns;
    assert_eq!(
        columns.iter().map(|column| column.key()).collect::<Vec<_>>(),
        ["session__id", "transaction__id"]
    );
    let ordered = Column::in_order(&columns, ReportType::Transactions);
    assert_eq!(
        ordered.iter().map(|column| column.key()).collect::<Vec<_>>(),
        ["transaction__id", "session__id"]
    );
    assert!(new(json!(7)).is_err());
    assert!(new(json!([""])).is_err());
}

proptest! {
    /// Whatever a text begins with, its cell begins with nothing that a spreadsheet computes, and the text is still in it.
    #[test]
    fn no_cell_is_a_formula(text in "[=+\\-@\t\r]{0,2}.{0,20}") {
        let cell = cells::neutral(text.clone());
        prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']));
        prop_assert!(cell == text || cell.strip_prefix('\'') == Some(&text));
    }
}
