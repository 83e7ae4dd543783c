//! Files about the own provider: sales and refunds are compared with charges, fees and payouts with what payouts have posted, which is
//! posted once, whatever is imported.

use std::time::Duration;

use regente::settlement::{Mapping, OF_THE_SIMULATOR, Report};
use regente_domain::ledger::Entry;
use regente_domain::provider_type::ProviderType;
use regente_domain::settlement::Verdict;
use regente_engine::payouts::statement::ReceiverStatement;
use regente_providers::staged::Staged;
use serde_json::json;

use super::all_entries;
use crate::support::app::{TestApp, stories};
use crate::support::charges::{captured, void};
use crate::support::disputes::told_of;
use crate::support::payouts::{
    all_of_it, bank_account, card_payment, every_cent_is_accounted_for, platform, seller,
};
use crate::support::read::text;
use crate::support::settlement::{ask, import, import_by, provider_file};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const OWN: &str = "PLATFORM";
/// The columns of the simulator's file.
const AMOUNT: usize = 5;
const FEE: usize = 6;

stories! {
    what_payouts_have_posted_is_in_the_file_and_not_posted_again,
    a_changed_fee_and_a_missing_payout_are_found,
    a_file_without_fees_and_payouts_lacks_none,
}

/// Charges in installments, divided, refunded before and after they are paid out, and charged back; a transfer that comes back.
/// Returns the merchant.
async fn trade(app: &TestApp) -> String {
    let merchant = platform(app).await;
    let rita = seller(app, &merchant, 1, "4920").await;
    let joao = seller(app, &merchant, 2, "4929").await;
    let half = json!([{ "sellerId": rita, "percentage": 50 }]);
    let divided = card_payment(app, &merchant, 10_000, 3, Some(half)).await;
    card_payment(app, &merchant, 5_000, 1, Some(all_of_it(&joao))).await;
    let refunded = card_payment(app, &merchant, 8_000, 2, None).await;
    void(app, &refunded, json!({ "amount": 3_000 })).await.expect(201);
    let disputed = card_payment(app, &merchant, 2_000, 1, None).await;
    app.run_jobs().await;
    told_of(app, &disputed, Staged::ChargedBack).await;
    app.later(34 * DAY).await;
    let corrected = json!({ "bankAccount": bank_account("4920") });
    app.patch(&format!("/v1/sellers/{joao}"), &corrected).await.expect(200);
    void(app, &divided, json!({ "amount": 1_000 })).await.expect(201);
    app.later(70 * DAY).await;
    merchant
}

/// The entries about the own provider.
async fn own_entries(app: &TestApp) -> Vec<Entry> {
    let mut entries = all_entries(app).await;
    entries.retain(|entry| entry.provider_type == ProviderType::Platform);
    entries
}

fn sum(report: &Report, kind: &str) -> i128 {
    report.sums.iter().filter(|sum| sum.kind == kind).map(|sum| sum.amount).sum()
}

async fn what_payouts_have_posted_is_in_the_file_and_not_posted_again(app: TestApp) {
    let app = app.reachable().await;
    let merchant = trade(&app).await;
    // Of the same simulator, and of another provider.
    captured(&app).await;
    let statements = every_cent_is_accounted_for(&app).await;
    let before = all_entries(&app).await;
    let file = provider_file(&app, OWN).await;
    assert!(file.contains(".returned,payout,"), "{file}");
    for _ in 0..2 {
        let report = import(&app, &file, OWN).await;
        assert!(report.is_clean(), "{}", report.text());
        assert_eq!(report.number(Verdict::Matched), report.lines, "{}", report.text());
        assert_eq!((report.posted, report.entries, report.posted_before), (0, 0, 0));
        assert_eq!(all_entries(&app).await, before);
        let all = |of: fn(&ReceiverStatement) -> i64| i128::from(statements.iter().map(of).sum::<i64>());
        assert_eq!(sum(&report, "fee"), all(|line| line.fees));
        assert_eq!(sum(&report, "payout"), all(|line| line.paid));
        assert_eq!(i128::from(report.owed["BRL"]), all(|line| line.outstanding()));
    }
    // Of the registered provider it is the same file.
    let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    let id = text(&merchant["providers"][0]["id"]);
    assert_eq!(provider_file(&app, id).await, file);
    let report = import(&app, &file, id).await;
    assert!(report.is_clean() && report.posted == 0, "{}", report.text());

    // What the simulator has done as itself is settled by its agreement, as ever.
    let others = provider_file(&app, "SANDBOX").await;
    let report = import(&app, &others, "SANDBOX").await;
    assert!(report.is_clean() && report.posted > 0, "{}", report.text());
    let mut own = before;
    own.retain(|entry| entry.provider_type == ProviderType::Platform);
    assert_eq!(own_entries(&app).await, own);
    every_cent_is_accounted_for(&app).await;
}

/// The row with another field.
fn with(row: &str, place: usize, field: &str) -> String {
    let mut fields: Vec<&str> = row.split(',').collect();
    assert_ne!(fields[place], field);
    fields[place] = field;
    fields.join(",")
}

async fn a_changed_fee_and_a_missing_payout_are_found(app: TestApp) {
    let app = app.reachable().await;
    trade(&app).await;
    let before = all_entries(&app).await;
    let file = provider_file(&app, OWN).await;
    let row = |kind: &str| file.lines().skip(1).find(|row| row.contains(kind)).unwrap();
    let (sale, fee, payout) = (row(",sale,"), row(",fee,"), row(",payout,"));
    let name = payout.split(',').next().unwrap();
    let planted = file
        .replace(fee, &with(fee, AMOUNT, "7777"))
        .replace(sale, &with(sale, FEE, "299"))
        .replace(&format!("{payout}\n"), "");
    let stranger = payout.replace(name, "01a214ac-1754-7001-af8b-5953c5ca192c");
    let planted = format!("{planted}{stranger}\n");
    for _ in 0..2 {
        let report = import(&app, &planted, OWN).await;
        let found: Vec<(&str, Option<&str>)> =
            report.findings.iter().map(|found| (found.finding, found.kind)).collect();
        let expected = [
            ("differing_amount", Some("fee")),
            ("missing_here", Some("fee")),
            ("missing_here", Some("payout")),
            ("missing_there", Some("payout")),
        ];
        assert_eq!(found, expected, "{}", report.text());
        assert_eq!(report.findings[0].there.as_deref(), Some("BRL 77.77"));
        assert_eq!(report.findings[0].line.as_deref(), fee.split(',').next());
        assert_eq!(report.findings[1].there.as_deref(), Some("BRL 2.99"));
        assert_eq!(report.findings[3].line.as_deref(), Some(name));
        assert_eq!((report.posted, report.posted_otherwise), (0, 0));
        assert_eq!(all_entries(&app).await, before);
    }
    every_cent_is_accounted_for(&app).await;

    // A sale is compared with its charge as that of any provider.
    let less = with(sale, AMOUNT, "9999");
    let report = import(&app, &file.replace(sale, &less), OWN).await;
    let found: Vec<&str> = report.findings.iter().map(|found| found.finding).collect();
    assert_eq!((found, report.posted), (vec!["differing_amount"], 1), "{}", report.text());
    every_cent_is_accounted_for(&app).await;
}

async fn a_file_without_fees_and_payouts_lacks_none(app: TestApp) {
    let app = app.reachable().await;
    trade(&app).await;
    let file = provider_file(&app, OWN).await;
    let is_of_charges = |row: &&str| !row.contains(",fee,") && !row.contains(",payout,");
    let (head, rows) = file.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().filter(is_of_charges).collect();
    let only_charges = format!("{head}\n{}\n", rows.join("\n"));
    let report = import(&app, &only_charges, OWN).await;
    assert!(report.number(Verdict::MissingThere) > 0, "{}", report.text());
    // A processor that knows nothing of payouts.
    let words = ["fee", "payout", "anticipation"].map(|kind| format!("{kind} = [\"{kind}\"]\n"));
    let mapping = words.iter().fold(OF_THE_SIMULATOR.to_owned(), |mapping, word| {
        assert!(mapping.contains(word));
        mapping.replace(word, "")
    });
    let written = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(written.path(), mapping).unwrap();
    let mapping = Mapping::read(written.path()).unwrap();
    let report = import_by(async |command| ask(&app, command).await, &only_charges, OWN, &mapping).await;
    let report = report.unwrap();
    assert!(report.is_clean() && report.posted == 0, "{}", report.text());
}
