//! Settlement files (`docs/settlement.md`): the simulator's file and the records say the same to the cent; errors that are
//! planted are all found; a file that is read twice, or in two goes, changes nothing.

mod lines;
mod own;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::Method;
use jiff::civil::Date;
use regente::admin::{SettlementAnswer, SettlementCommand};
use regente::settlement::{Failure, File, Mapping, Progress, Report, Step, daily, page, reconcile};
use regente_domain::charge::attempt::Outcome;
use regente_domain::id::{ProviderId, TransactionRequestId};
use regente_domain::ledger::{Entry, Movement, Purpose};
use regente_domain::settlement::{Moved, Verdict};
use regente_domain::time::Timestamp;
use regente_engine::charges::late_answer;
use regente_providers::outcome::Finding;
use regente_providers::staged::Staged;
use regente_store::charges::Direction;
use regente_store::ledger::{AccountFilter, EntryFilter};
use regente_store::{ledger, transaction_requests};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, TIMED_OUT, charge_body};
use crate::support::charges::{capture, captured, reserved, void};
use crate::support::disputes::{REVERTED, happens, hear, told_of};
use crate::support::read::text;
use crate::support::server::Server;
use crate::support::settlement::{
    POSTED_AT_ONCE, ask, import, import_by, import_path, sandbox_file, settles_in_any_order,
};
use crate::support::splits::{divided, shop};

stories! {
    the_simulator_settles_what_the_records_say,
    planted_errors_are_all_found_and_none_else,
    a_file_of_another_shape_is_read_by_its_mapping,
    a_name_counts_once_in_a_file,
    what_was_posted_wrongly_is_shown_beside_the_right_line,
    many_records_are_compared_in_parts,
    lines_of_known_payments_say_which_days_a_file_is_about,
    an_empty_file_is_compared_with_the_days_that_are_named,
    a_name_of_several_payments_is_of_none,
    what_the_records_have_learned_later_is_found,
    sellers_are_settled_by_their_parts,
    fees_of_what_was_taken_unknown_to_a_charge_are_the_merchants,
    what_comes_back_is_settled_with_those_who_gave_it,
    what_cannot_be_read_is_named_by_line_and_column,
    what_nothing_assigns_is_not_posted,
    a_line_names_a_seller_of_its_merchant,
    the_simulator_writes_a_file_when_a_day_is_over,
    what_comes_back_and_is_heard_after_the_charge_back_shows_in_the_file,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn import_file(app: &TestApp, path: &Path, provider: &str) -> Result<Report, Failure> {
    let mapping = Mapping::of_the_simulator().unwrap();
    import_path(async |command| ask(app, command).await, path, provider, &mapping, |file| file).await
}

/// Imports a file about these days.
async fn import_days(app: &TestApp, text: &str, days: (&str, &str)) -> Report {
    let mapping = Mapping::of_the_simulator().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let days: Option<(Date, Date)> = Some((days.0.parse().unwrap(), days.1.parse().unwrap()));
    let ask = async |command| ask(app, command).await;
    import_path(ask, file.path(), "SANDBOX", &mapping, |file| File { days, ..file }).await.unwrap()
}

/// The balances of accounts of a purpose that are not zero.
async fn balance(app: &TestApp, purpose: Purpose) -> i128 {
    let filter = AccountFilter { purposes: Some(vec![purpose]), ..AccountFilter::default() };
    let balances = ledger::balances(&app.app.store, app.client_id(), &filter, None, 1000, 0).await.unwrap();
    balances.iter().map(ledger::Balance::amount).sum()
}

async fn all_entries(app: &TestApp) -> Vec<Entry> {
    let filter = EntryFilter::default();
    let (store, client_id) = (&app.app.store, app.client_id());
    ledger::page(store, client_id, &filter, Direction::Ascending, 10_000, 0).await.unwrap()
}

/// Charges of all sorts: sold, refunded in parts, reserved, captured in part, charged back, lost and found again.
async fn make_charges(app: &TestApp) -> Vec<String> {
    let mut made = Vec::new();
    for refunds in [vec![], vec![30], vec![10, 90], vec![20, 20]] {
        let id = captured(app).await;
        for amount in refunds {
            void(app, &id, json!({ "amount": amount })).await.expect(201);
        }
        made.push(id);
    }
    let part = reserved(app).await;
    capture(app, &part, json!({ "amount": 60 })).await.expect(201);
    void(app, &part, json!({ "amount": 5 })).await.expect(201);
    let canceled = reserved(app).await;
    void(app, &canceled, json!({})).await.expect(201);
    let lost = captured(app).await;
    void(app, &lost, json!({ "amount": 30 })).await.expect(201);
    told_of(app, &lost, Staged::ChargedBack).await;
    let back = captured(app).await;
    void(app, &back, json!({ "amount": 50 })).await.expect(201);
    told_of(app, &back, REVERTED(20)).await;
    // Nothing moves.
    app.post("/v1/charges", &charge_body(&app.merchant().await, TIMED_OUT)).await.expect(201);
    made.extend([part, canceled, lost, back]);
    made
}

async fn the_simulator_settles_what_the_records_say(app: TestApp) {
    let app = app.reachable().await;
    make_charges(&app).await;
    let before = all_entries(&app).await;
    let owed = balance(&app, Purpose::ProviderReceivable).await;
    assert!(owed > 0);
    let file = sandbox_file(&app).await;

    // The process ends at each batch in turn: before it is posted, and before the answer is there.
    let mapping = Mapping::of_the_simulator().unwrap();
    let mut stops = 0;
    for stop in 0.. {
        let posts = AtomicUsize::new(0);
        let broken = async |command: SettlementCommand| {
            let is_posting = matches!(command, SettlementCommand::Post { .. });
            let is_end = is_posting && posts.fetch_add(1, Ordering::SeqCst) == stop / 2;
            if is_end && stop % 2 == 0 {
                return Err(Failure::from("the process ended"));
            }
            let answer = ask(&app, command).await?;
            if is_end { Err(Failure::from("the process ended")) } else { Ok(answer) }
        };
        let ended = import_by(broken, &file, "SANDBOX", &mapping).await;
        assert!(all_entries(&app).await.len() > before.len() || stop == 0);
        if ended.is_ok() {
            break;
        }
        stops += 1;
    }
    assert!(stops >= 6, "{stops}");
    let after_first = all_entries(&app).await;

    let report = import(&app, &file, "SANDBOX").await;
    assert!(report.is_clean(), "{}", report.text());
    assert_eq!(all_entries(&app).await, after_first, "what was posted is not posted again");
    assert_eq!((report.posted, report.posted_otherwise), (0, 0));
    assert!(report.posted_before > 0);
    // To the cent: what was sold is refunded, kept or paid out.
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);
    let kept = balance(&app, Purpose::ProviderFee).await + balance(&app, Purpose::Anticipation).await;
    assert!(kept > 0);
    assert_eq!(balance(&app, Purpose::Payout).await + kept, owed);
    ledger_is_right(&app).await;

    // A line that was posted and has another content now is reported, and changes nothing.
    let changed =
        file.lines().map(|line| line.replacen(",100,3", ",100,4", 1)).collect::<Vec<_>>().join("\n");
    assert_ne!(changed, file);
    let mut report = import(&app, &changed, "SANDBOX").await;
    assert!(report.posted_otherwise > 0 && report.posted == 0 && !report.is_clean());
    assert_eq!(all_entries(&app).await, after_first);
    // For people, in a browser: what a file holds is text there.
    let name = "<b>&";
    report.file = name.to_owned();
    let shown = page(&report).unwrap();
    assert!(shown.contains("posted_otherwise") && !shown.contains(name) && !shown.contains("http"));
}

async fn planted_errors_are_all_found_and_none_else(app: TestApp) {
    let app = app.reachable().await;
    make_charges(&app).await;
    let file = sandbox_file(&app).await;
    let (head, lines) = file.split_once('\n').unwrap();
    let mut lines: Vec<Vec<String>> =
        lines.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let sales: Vec<usize> = (0..lines.len()).filter(|place| lines[*place][1] == "sale").collect();
    let refund = (0..lines.len()).find(|place| lines[*place][1] == "refund").unwrap();
    let of_payment = |lines: &[Vec<String>], place: usize| lines[place][3].clone();
    // Changed: a sale by 1, and one in another currency, with all that is told of its payment.
    lines[sales[0]][5] = "99".to_owned();
    let in_dollars = of_payment(&lines, sales[2]);
    lines[sales[2]][4] = "USD".to_owned();
    // Foreign: a payment of nobody.
    let mut foreign = lines[sales[1]].clone();
    foreign[0] = "foreign".to_owned();
    foreign[3] = "0f0f0f0f-0000-5000-8000-000000000001".to_owned();
    // Doubled: the same line, and the same sale under another name.
    let doubled = lines[sales[3]].clone();
    let mut renamed = lines[sales[3]].clone();
    renamed[0] = "renamed".to_owned();
    let removed = lines.remove(refund);
    lines.extend([foreign, doubled, renamed]);
    let mut rows: Vec<String> = lines.iter().map(|line| line.join(",")).collect();
    rows.push("garbage,sale,yesterday,,BRL,1,0".to_owned());
    let planted = format!("{head}\n{}\n", rows.join("\n"));

    let report = import(&app, &planted, "SANDBOX").await;
    let findings: Vec<(&str, Option<&str>, Option<&str>)> =
        report.findings.iter().map(|found| (found.finding, found.kind, found.payment.as_deref())).collect();
    let payment = |place: usize| of_payment(&lines, place);
    let changed = lines.iter().find(|line| line[5] == "99" && line[1] == "sale").unwrap()[3].clone();
    let doubled = payment(lines.len() - 1);
    let expected = [
        ("differing_amount", Some("sale"), Some(changed.as_str())),
        ("doubled", Some("sale"), Some(doubled.as_str())),
        ("doubled", Some("sale"), Some(doubled.as_str())),
        ("foreign_currency", Some("sale"), Some(in_dollars.as_str())),
        ("missing_here", Some("sale"), Some("0f0f0f0f-0000-5000-8000-000000000001")),
        ("missing_there", Some("refund"), None),
        ("unreadable", None, None),
    ];
    assert_eq!(findings, expected, "{}", report.text());
    let missing = report.findings.iter().find(|found| found.finding == "missing_there").unwrap();
    assert_eq!(missing.here.as_deref(), Some(format!("BRL 0.{}", removed[5]).as_str()));
    let differs = &report.findings[0];
    assert_eq!((differs.there.as_deref(), differs.here.as_deref()), (Some("BRL 0.99"), Some("BRL 1.00")));
    // What differs is posted. Everything else waits for an operator.
    let posted = all_entries(&app).await;
    let differences: Vec<i64> = posted
        .iter()
        .filter(|entry| entry.movement == Movement::SettlementDifference)
        .map(|entry| entry.amount.minor_units())
        .collect();
    assert_eq!(differences, [1]);
    ledger_is_right(&app).await;
    let again = import(&app, &planted, "SANDBOX").await;
    assert_eq!(again.findings.len(), report.findings.len());
    assert_eq!(all_entries(&app).await, posted);
    let text = report.text();
    for word in ["missing_there", "BRL 0.99", "row 2"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert_eq!(serde_json::to_value(&report).unwrap()["found"]["doubled"]["number"], 2);
}

async fn a_name_counts_once_in_a_file(app: TestApp) {
    for _ in 0..4 {
        captured(&app).await;
    }
    let file = sandbox_file(&app).await;
    let sales: Vec<&str> = file.lines().filter(|line| line.contains(",sale,")).collect();
    let name = |line: &str| line.split(',').next().unwrap().to_owned();
    // Sales of two payments have one name: the first one counts.
    let planted = file.replace(&name(sales[3]), &name(sales[1]));
    let report = import(&app, &planted, "SANDBOX").await;
    let row = planted.lines().position(|line| line == sales[3].replace(&name(sales[3]), &name(sales[1])));
    let found: Vec<_> = report.findings.iter().map(|found| (found.finding, found.row)).collect();
    let missing = ("missing_there", None);
    assert_eq!(found, [("doubled", Some(row.unwrap() as u64 + 1)), missing], "{}", report.text());
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 3, "the fee of one sale");
    ledger_is_right(&app).await;
    let again = import(&app, &planted, "SANDBOX").await;
    assert_eq!((again.posted, again.findings.len()), (0, 2), "{}", again.text());
    // The right file posts what is left.
    let report = import(&app, &file, "SANDBOX").await;
    assert!(report.is_clean() && report.posted == 1, "{}", report.text());
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);
}

async fn what_was_posted_wrongly_is_shown_beside_the_right_line(app: TestApp) {
    let charge = captured(&app).await;
    void(&app, &charge, json!({ "amount": 30 })).await.expect(201);
    let file = sandbox_file(&app).await;
    let refund = lines_with(&file, ",refund,")[0].to_owned();
    // A mapping reads cents as whole units, say.
    let wrong =
        file.replace(&refund, &refund.replace(",BRL,30,", ",BRL,3000,").replace(",BRL,-30,", ",BRL,-3000,"));
    assert_ne!(wrong, file);
    let wrongly = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(wrongly.path(), &wrong).unwrap();
    let mapping = Mapping::of_the_simulator().unwrap();
    let before = all_entries(&app).await;
    let ask = async |command| ask(&app, command).await;
    let report =
        import_path(ask, wrongly.path(), "SANDBOX", &mapping, |file| File { is_dry_run: true, ..file });
    let report = report.await.unwrap();
    assert_eq!((findings(&report), report.posted), (vec!["differing_amount"], 0), "{}", report.text());
    assert!(report.text().contains("A dry run: nothing was posted"), "{}", report.text());
    assert_eq!(all_entries(&app).await, before, "a dry run posts nothing");

    assert!(import(&app, &wrong, "SANDBOX").await.posted > 0);
    // Of the right line there is nothing to post.
    let report = import(&app, &file, "SANDBOX").await;
    assert_eq!(findings(&report), ["posted_otherwise"], "{}", report.text());
    let found = &report.findings[0];
    assert_eq!(
        (found.kind, found.there.as_deref()),
        (Some("refund"), Some("BRL 0.30; it would post nothing"))
    );
    let posted = found.here.as_deref().unwrap();
    assert!(posted.contains("settlement_difference") && posted.contains("BRL 29.70"), "{posted}");
    assert!(!report.is_clean());

    // Of another fee, both are shown.
    let sale = file.lines().find(|line| line.contains(",sale,")).unwrap();
    let mut fields: Vec<&str> = sale.split(',').collect();
    let more = (fields[6].parse::<i64>().unwrap() + 1).to_string();
    fields[6] = &more;
    let report = import(&app, &file.replace(sale, &fields.join(",")), "SANDBOX").await;
    let fee = report.findings.iter().find(|found| found.kind == Some("sale")).unwrap();
    let (there, here) = (fee.there.as_deref().unwrap(), fee.here.as_deref().unwrap());
    assert!(there.contains("provider_fee") && here.contains("provider_fee"), "{there} {here}");
    assert!(!there.ends_with(here), "{there} {here}");
}

/// A line of the simulator's file with this name and one member changed.
fn changed(line: &str, name: &str, place: usize, value: &str) -> String {
    let mut members: Vec<&str> = line.split(',').collect();
    (members[0], members[place]) = (name, value);
    members.join(",")
}

async fn what_nothing_assigns_is_not_posted(app: TestApp) {
    let app = app.reachable().await;
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "sellerId": sellers[0]["id"], "percentage": 33 },
        { "sellerId": sellers[1]["id"], "percentage": 33 },
    ]);
    let charge = app.post("/v1/charges", &divided(&merchant, 1001, &rules)).await.expect(201);
    let provider_id = text(&charge["transactionRequests"][0]["providerId"]);
    let file = sandbox_file(&app).await;
    let (head, sale) = (file.lines().next().unwrap(), lines_with(&file, ",sale,")[0]);
    // A line of no payment: of a type nobody knows whose it is, of a registered provider it is nothing that we have.
    for (kind, of_type, of_provider) in
        [("sale", "unassigned", "missing_here"), ("refund", "unassigned", "missing_here")]
    {
        let line = changed(&changed(sale, "nobody", 3, ""), "nobody", 1, kind);
        for (provider, finding) in [("SANDBOX", of_type), (provider_id, of_provider)] {
            let report = import(&app, &format!("{file}{line}\n"), provider).await;
            assert_eq!(findings(&report), [finding], "{kind} {provider} {}", report.text());
        }
    }
    // A recipient who has no part of it, in place of one who has.
    let posted = all_entries(&app).await;
    let recipient = sale.rsplit(',').next().unwrap().split('=').next().unwrap();
    let line = sale.replace(recipient, "re_stranger").replacen(".sale", ".sale-of-a-stranger", 1);
    let report = import(&app, &format!("{head}\n{line}\n"), "SANDBOX").await;
    assert_eq!(findings(&report), ["unassigned"], "{}", report.text());
    assert!(report.text().contains("re_stranger"), "{}", report.text());
    assert_eq!(all_entries(&app).await, posted);
    // One sale more of the payment, of another amount.
    let line = changed(sale, "again", 5, "400");
    let report = import(&app, &format!("{file}{line}\n"), "SANDBOX").await;
    assert_eq!(findings(&report), ["sold_again"], "{}", report.text());
    assert_eq!(all_entries(&app).await, posted);
}

async fn a_line_names_a_seller_of_its_merchant(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let (_, others) = shop(&app).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    let provider_id = text(&charge["transactionRequests"][0]["providerId"]);
    let seller = text(&sellers[0]["id"]);
    let leaving = json!({ "merchantId": merchant });
    app.call(&app.client, Method::DELETE, &format!("/v1/sellers/{seller}"), &[], Some(&leaving))
        .await
        .expect(204);
    let written = regente::settlement::OF_THE_SIMULATOR
        .replace("parts = \"parts\"", "parts = \"parts\"\nseller = \"seller\"");
    let mapping = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(mapping.path(), written).unwrap();
    let mapping = Mapping::read(mapping.path()).unwrap();
    let sale = sandbox_file(&app).await;
    let sale = lines_with(&sale, ",sale,")[0].split(',').nth(3).unwrap().to_owned();
    let fee = |n: usize, payment: &str, seller: &str| {
        format!("fee-{n},fee,2026-03-23T10:00:00Z,{payment},BRL,7,0,,{seller}\n")
    };
    let file = [
        "line,type,at,payment,currency,amount,fee,parts,seller\n".to_owned(),
        // Also one who has left.
        fee(1, "", seller),
        fee(2, &sale, seller),
        // Of another merchant, and of nobody.
        fee(3, "", text(&others[0]["id"])),
        fee(4, &sale, text(&others[0]["id"])),
        fee(5, &sale, "0f0f0f0f-0000-7000-8000-000000000001"),
    ];
    let ask = async |command| ask(&app, command).await;
    let report = import_by(ask, &file.concat(), provider_id, &mapping).await.unwrap();
    let found: Vec<_> = report.findings.iter().map(|found| (found.finding, found.row)).collect();
    let unassigned = |row| ("unassigned", Some(row));
    assert_eq!(found, [unassigned(4), unassigned(5), unassigned(6)], "{}", report.text());
    assert!(report.text().contains(&format!("of seller {}", text(&others[0]["id"]))), "{}", report.text());
    let fees = all_entries(&app).await.into_iter().filter(|entry| entry.movement == Movement::ProviderFee);
    let borne: Vec<_> = fees.map(|entry| entry.seller_id.map(|id| id.to_string())).collect();
    assert_eq!(borne, [Some(seller.to_owned()), Some(seller.to_owned())]);
}

/// Counts the parts that are compared.
#[derive(Default)]
struct CountedParts(AtomicUsize);

impl Progress for CountedParts {
    fn begin(&self, _: Step) {
        self.0.store(0, Ordering::SeqCst);
    }
    fn done(&self, _: u64) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn many_records_are_compared_in_parts(app: TestApp) {
    captured(&app).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), sandbox_file(&app).await).unwrap();
    let mapping = Mapping::of_the_simulator().unwrap();
    let scope = SettlementCommand::Scope { provider: "SANDBOX".to_owned() };
    let SettlementAnswer::Scope(scope) = ask(&app, scope).await.unwrap() else { panic!("another answer") };
    for (records, is_divided) in [(1, false), (10_000, true)] {
        // Each record stands for so many payments.
        let many = async |command| {
            let answer = ask(&app, command).await?;
            let SettlementAnswer::Moved { moved, next } = answer else { return Ok(answer) };
            let again = |n: usize| moved.iter().map(move |moved| moved.key.as_u128() + n as u128);
            let keys = (0..records).flat_map(|n| again(n).zip(&moved));
            let moved = keys.map(|(key, moved)| Moved {
                key: Uuid::from_u128(key),
                request_id: TransactionRequestId::new(Uuid::from_u128(key)),
                ..moved.clone()
            });
            Ok(SettlementAnswer::Moved { moved: moved.collect(), next })
        };
        let file = File {
            path: file.path(),
            mapping: &mapping,
            scope: &scope,
            days: None,
            since: None,
            shown_max: 0,
            posted_at_once: POSTED_AT_ONCE,
            is_dry_run: false,
        };
        let parts = CountedParts::default();
        let report = reconcile(many, file, &parts).await.unwrap();
        assert_eq!(report.number(Verdict::MissingThere), records as u64 - 1);
        let parts = parts.0.into_inner();
        assert_eq!(parts > 1, is_divided, "{parts}");
    }
}

/// Lines of a file that have this in them.
fn lines_with<'a>(file: &'a str, part: &str) -> Vec<&'a str> {
    file.lines().filter(|line| line.contains(part)).collect()
}

fn findings(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|found| found.finding).collect()
}

async fn lines_of_known_payments_say_which_days_a_file_is_about(app: TestApp) {
    captured(&app).await;
    app.clock.advance(2 * DAY);
    captured(&app).await;
    let file = sandbox_file(&app).await;
    let (head, sales) = (file.lines().next().unwrap(), lines_with(&file, ",sale,"));
    let of = |line: &str, place: usize| line.split(',').nth(place).unwrap().to_owned();
    let (first, second) = (of(sales[0], 2), of(sales[1], 2));
    assert_ne!(first[..10], second[..10]);
    // The file of the second day. A fee, a payout and a sale of nobody have the date of the first.
    let payment = of(sales[1], 3);
    let nobody = "0f0f0f0f-0000-5000-8000-000000000001";
    let planted = format!(
        "{head}\n{}\na,fee,{first},{payment},BRL,1,0,\nb,payout,{first},{payment},BRL,1,0,\n\
         c,sale,{first},{nobody},BRL,1,0,\n",
        lines_with(&file, &payment).join("\n")
    );
    let report = import(&app, &planted, "SANDBOX").await;
    assert_eq!(findings(&report), ["missing_here"], "{}", report.text());
    assert!(report.from.unwrap().to_string().starts_with(&second[..10]), "{}", report.text());
    // Who names the days is told what is missing on them.
    let report = import_days(&app, &planted, (&first[..10], &second[..10])).await;
    assert_eq!(findings(&report), ["missing_here", "missing_there"], "{}", report.text());
    // What only the provider knows says nothing of days.
    let planted = format!("{head}\nd,fee,{second},{payment},BRL,1,0,\n");
    let report = import(&app, &planted, "SANDBOX").await;
    assert!(report.findings.is_empty() && !report.is_clean(), "{}", report.text());
    assert!(report.text().contains("nothing says which days"), "{}", report.text());
}

async fn an_empty_file_is_compared_with_the_days_that_are_named(app: TestApp) {
    captured(&app).await;
    let file = sandbox_file(&app).await;
    let head = file.lines().next().unwrap();
    let day = &lines_with(&file, ",sale,")[0].split(',').nth(2).unwrap()[..10];
    let report = import(&app, head, "SANDBOX").await;
    assert!(report.findings.is_empty() && !report.is_clean(), "{}", report.text());
    let empty = "The file has no lines to compare.";
    assert!(report.text().contains(empty) && page(&report).unwrap().contains(empty), "{}", report.text());
    let report = import_days(&app, head, (day, day)).await;
    assert_eq!(findings(&report), ["missing_there"], "{}", report.text());
    let report = import_days(&app, head, ("2020-02-01", "2020-02-29")).await;
    assert!(report.is_clean() && !report.text().contains(empty), "{}", report.text());
}

async fn a_file_of_another_shape_is_read_by_its_mapping(app: TestApp) {
    let id = captured(&app).await;
    let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    let transaction_id = text(&charge["transactionRequests"][0]["transactionId"]).to_owned();
    let provider_id = text(&charge["transactionRequests"][0]["providerId"]).to_owned();
    let mapping = tempfile::NamedTempFile::new().unwrap();
    let written = r#"
        separator = ";"
        amounts = "decimal"
        decimal_separator = ","
        time = "%d/%m/%Y"
        zone = "America/Sao_Paulo"
        payment_is = "transaction_id"
        complete = false
        negated = ["fee", "fee_column"]
        columns = { line = ["Lote", "Linha"], kind = "Tipo", at = "Data", payment = "NSU", currency = "Moeda", amount = "Valor", fee = "Tarifa" }
        kinds = { sale = ["Venda"], fee = ["Aluguel"], payout = ["TED"], ignored = ["Saldo"] }
    "#;
    std::fs::write(mapping.path(), written).unwrap();
    let file = format!(
        "\u{feff}Lote;Linha;Tipo;Data;NSU;Moeda;Valor;Tarifa\n\
         7;1;Venda;23/03/2026;{transaction_id};BRL;1,00;-0,03\n\
         7;2;Saldo;23/03/2026;;BRL;1.000.000,00;\n\
         7;3;Aluguel;23/03/2026;;BRL;-0,5;\n\
         7;4;TED;23/03/2026;;BRL;0,47;\n"
    );
    let import = async |provider: &str| {
        let mapping = Mapping::read(mapping.path()).unwrap();
        import_by(async |command| ask(&app, command).await, &file, provider, &mapping).await.unwrap()
    };
    // Without a registered provider, nothing tells whose payout it is.
    let report = import("SANDBOX").await;
    assert_eq!(
        (report.number(Verdict::Matched), report.number(Verdict::Unassigned)),
        (1, 2),
        "{}",
        report.text()
    );
    let report = import(&provider_id).await;
    assert!(report.is_clean() && report.lines == 3, "{}", report.text());
    assert_eq!((report.posted, report.posted_before), (2, 1), "the sale is the same line for both");
    assert_eq!(balance(&app, Purpose::ProviderFee).await, 53);
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);

    for nobody in ["NO_TYPE", "0f0f0f0f-0000-7000-8000-000000000001"] {
        let scope = SettlementCommand::Scope { provider: nobody.to_owned() };
        assert!(ask(&app, scope).await.unwrap_err().to_string().contains(nobody));
    }
}

async fn a_name_of_several_payments_is_of_none(app: TestApp) {
    let id = captured(&app).await;
    let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    let transaction_id = text(&charge["transactionRequests"][0]["transactionId"]).to_owned();
    let written = regente::settlement::OF_THE_SIMULATOR
        .replace("payment_is = \"key\"", "payment_is = \"transaction_id\"");
    let mapping = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(mapping.path(), written).unwrap();
    let mapping = Mapping::read(mapping.path()).unwrap();
    let file = sandbox_file(&app).await;
    let key = lines_with(&file, ",sale,")[0].split(',').nth(3).unwrap();
    let file = file.replace(&format!(",{key},"), &format!(",{transaction_id},"));
    // Another registered provider has a payment of the same id.
    let with_another = async |command| {
        let answer = ask(&app, command).await?;
        let SettlementAnswer::Moved { mut moved, next } = answer else { return Ok(answer) };
        let another = moved.iter().map(|moved| Moved {
            provider_id: ProviderId::new(Uuid::from_u128(1)),
            request_id: TransactionRequestId::new(Uuid::from_u128(1)),
            amount: moved.amount + 1,
            ..moved.clone()
        });
        let another: Vec<Moved> = another.collect();
        moved.extend(another);
        Ok(SettlementAnswer::Moved { moved, next })
    };
    let report = import_by(with_another, &file, "SANDBOX", &mapping).await.unwrap();
    assert!(report.findings.iter().all(|found| found.finding == "unassigned"), "{}", report.text());
    assert_eq!((report.number(Verdict::Unassigned), report.posted), (report.lines, 0), "{}", report.text());
    // Nobody else has it.
    let report =
        import_by(async |command| ask(&app, command).await, &file, "SANDBOX", &mapping).await.unwrap();
    assert!(report.is_clean() && report.posted == report.lines, "{}", report.text());
}

async fn what_the_records_have_learned_later_is_found(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    app.clock.advance(3 * DAY);
    // A bank takes it back on the third day, and it is reported three days later.
    let third = app.clock.deployment();
    app.clock.advance(3 * DAY);
    told_of(&app, &id, Staged::ChargedBack).await;
    let file = sandbox_file(&app).await;
    let line = lines_with(&file, ",charge_back,")[0];
    let learned = line.split(',').nth(2).unwrap();
    let (head, line) = (file.lines().next().unwrap(), line.replace(learned, &third.to_string()));
    let report = import(&app, &format!("{head}\n{line}\n"), "SANDBOX").await;
    assert!(report.is_clean() && report.number(Verdict::Matched) == 1, "{}", report.text());
}

/// What is still due to a seller by the ledger.
async fn due(app: &TestApp, seller: &Value) -> i128 {
    let mut due = 0;
    for (purpose, sign) in [
        (Purpose::SellerPayable, 1),
        (Purpose::ProviderFee, -1),
        (Purpose::Anticipation, -1),
        (Purpose::Payout, -1),
        (Purpose::SettlementDifference, -1),
    ] {
        let filter = AccountFilter {
            purposes: Some(vec![purpose]),
            sellers: Some(vec![text(&seller["id"]).parse().unwrap()]),
            ..AccountFilter::default()
        };
        let balances =
            ledger::balances(&app.app.store, app.client_id(), &filter, None, 1000, 0).await.unwrap();
        due += sign * balances.iter().map(ledger::Balance::amount).sum::<i128>();
    }
    due
}

async fn sellers_are_settled_by_their_parts(app: TestApp) {
    let app = app.reachable().await;
    let (merchant, sellers) = shop(&app).await;
    let mut rules = json!([
        { "sellerId": sellers[0]["id"], "percentage": 33, "processingFee": true, "liable": true },
        { "sellerId": sellers[1]["id"], "percentage": 33 },
    ]);
    let charge = async |body: Value| app.post("/v1/charges", &body).await.expect(201);
    let sold = charge(divided(&merchant, 1001, &rules)).await;
    let given = json!({ "amount": 300, "splitRules": [{ "sellerId": sellers[1]["id"], "amount": 130 }] });
    void(&app, text(&sold["id"]), given).await.expect(201);
    void(&app, text(&sold["id"]), json!({ "amount": 100 })).await.expect(201);
    let mut reservation = divided(&merchant, 500, &rules);
    reservation["capture"] = json!(false);
    let reserved = charge(reservation).await;
    capture(&app, text(&reserved["id"]), json!({ "amount": 401 })).await.expect(201);
    // A seller who bears the whole fee, and one who has nothing of it.
    rules[1]["chargeEntireFee"] = json!(true);
    charge(divided(&merchant, 777, &rules)).await;
    let file = sandbox_file(&app).await;
    let [first, second] = [due(&app, &sellers[0]).await, due(&app, &sellers[1]).await];
    assert!(first > 0 && second > 0);

    // Of the sale of 1001, a cent of the first seller is the second's. The other parts are right.
    let row = file.lines().find(|line| line.contains(",sale,") && line.contains(",1001,")).unwrap();
    assert_eq!(row.matches("=330").count(), 2, "{row}");
    let planted = file.replace(row, &row.replacen("=330", "=329", 1).replace("=330", "=331"));
    let report = import(&app, &planted, "SANDBOX").await;
    let found: Vec<_> = report.findings.iter().map(|found| found.finding).collect();
    assert_eq!(found, ["differing_parts"], "{}", report.text());
    assert!(report.text().contains("BRL 3.29"), "{}", report.text());
    let differences: Vec<_> = all_entries(&app)
        .await
        .into_iter()
        .filter(|entry| entry.movement == Movement::SettlementDifference)
        .map(|entry| (entry.debit, entry.seller_id.unwrap().to_string(), entry.amount.minor_units()))
        .collect();
    let of = |seller: &Value| text(&seller["id"]).to_owned();
    let less = (Purpose::SettlementDifference, of(&sellers[0]), 1);
    let more = (Purpose::ProviderReceivable, of(&sellers[1]), 1);
    assert!(differences == [less.clone(), more.clone()] || differences == [more, less], "{differences:?}");
    // What each was paid is what each had, less the fees that each bears; but for the cent.
    assert_eq!((due(&app, &sellers[0]).await, due(&app, &sellers[1]).await), (-1, 1));
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);
    ledger_is_right(&app).await;

    // A bank takes back what was divided: who bears it is nothing that the provider says.
    let lost = charge(divided(&merchant, 100, &rules)).await;
    told_of(&app, text(&lost["id"]), Staged::ChargedBack).await;
    let report = import(&app, &sandbox_file(&app).await, "SANDBOX").await;
    let found: Vec<_> = report.findings.iter().map(|found| found.finding).collect();
    assert_eq!(found, ["posted_otherwise"], "{}", report.text());
    assert!(report.owed.values().all(|owed| *owed == 0), "{}", report.text());
    ledger_is_right(&app).await;
}

async fn fees_of_what_was_taken_unknown_to_a_charge_are_the_merchants(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "sellerId": sellers[0]["id"], "percentage": 33, "chargeEntireFee": true },
        { "sellerId": sellers[1]["id"], "percentage": 33 },
    ]);
    // The provider takes it, and says that it has refused it.
    app.wire.contradict();
    let refused = app.post("/v1/charges", &divided(&merchant, 1000, &rules)).await.expect(201);
    assert_eq!(refused["status"], "failed");
    let id = text(&refused["id"]).parse().unwrap();
    let requests = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    let request = &requests[0].request;
    let entry = app.books.find(request.provider_key()).await.unwrap().unwrap();
    let Finding::Approved(approval) = entry.answered().unwrap().finding.clone() else { panic!("{entry:?}") };
    late_answer::notified(&app.app, request, Outcome::Approved(approval)).await.unwrap();
    app.later(DAY / 12).await;
    assert_eq!(app.books.holding(request.provider_key()).await.unwrap().unwrap().kept().minor_units(), 0);

    let report = import(&app, &sandbox_file(&app).await, "SANDBOX").await;
    assert!(report.is_clean() && report.number(Verdict::Matched) >= 4, "{}", report.text());
    assert_eq!(balance(&app, Purpose::ProviderFee).await, 30);
    assert_eq!((due(&app, &sellers[0]).await, due(&app, &sellers[1]).await), (0, 0));
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);
    ledger_is_right(&app).await;
}

async fn what_comes_back_is_settled_with_those_who_gave_it(app: TestApp) {
    let app = app.reachable().await;
    let (merchant, sellers) = shop(&app).await;
    let rules = json!([
        { "sellerId": sellers[0]["id"], "percentage": 33 },
        { "sellerId": sellers[1]["id"], "percentage": 33 },
    ]);
    let sold = app.post("/v1/charges", &divided(&merchant, 1001, &rules)).await.expect(201);
    let given = json!({ "amount": 300, "splitRules": [
        { "sellerId": sellers[0]["id"], "amount": 101 }, { "sellerId": sellers[1]["id"], "amount": 130 },
    ] });
    void(&app, text(&sold["id"]), given).await.expect(201);
    // In two parts: 100 of 300, and what is left.
    for part in [100, 200] {
        told_of(&app, text(&sold["id"]), REVERTED(part)).await;
    }
    // What was given back of a reservation does not come back.
    let mut body = divided(&merchant, 1001, &rules);
    body["capture"] = json!(false);
    let reserved = app.post("/v1/charges", &body).await.expect(201);
    let lowered = json!({ "amount": 400, "splitRules": [{ "sellerId": sellers[0]["id"], "amount": 330 }] });
    void(&app, text(&reserved["id"]), lowered).await.expect(201);
    capture(&app, text(&reserved["id"]), json!({ "amount": 601 })).await.expect(201);
    void(&app, text(&reserved["id"]), json!({ "amount": 300 })).await.expect(201);
    told_of(&app, text(&reserved["id"]), REVERTED(300)).await;
    let report = import(&app, &sandbox_file(&app).await, "SANDBOX").await;
    assert!(report.is_clean(), "{}", report.text());
    assert_eq!((due(&app, &sellers[0]).await, due(&app, &sellers[1]).await), (0, 0));
    assert_eq!(balance(&app, Purpose::ProviderReceivable).await, 0);
    ledger_is_right(&app).await;
}

async fn what_cannot_be_read_is_named_by_line_and_column(app: TestApp) {
    let head = "line,type,at,payment,currency,amount,fee,parts";
    let right = "a,payout,2026-03-23T10:00:00Z,p,BRL,1,0,";
    let rows = [
        ("a,sold,2026-03-23T10:00:00Z,p,BRL,1,0,", Some("type"), "`sold` is no kind of line"),
        (",sale,2026-03-23T10:00:00Z,p,BRL,1,0,", Some("line"), "no name"),
        ("a,sale,yesterday,p,BRL,1,0,", Some("at"), "`yesterday` is no time"),
        ("a,payout,1969-12-31T23:59:59.999Z,p,BRL,1,0,", Some("at"), "is not between 1970 and 2100"),
        ("a,sale,2100-01-01T00:00:00Z,p,BRL,1,0,", Some("at"), "is not between 1970 and 2100"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,1.5,0,", Some("amount"), "`1.5` is no amount"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,9999999999999999,0,", Some("amount"), "is no amount"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,1,x,", Some("fee"), "`x` is no amount"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,1,0,re_1", Some("parts"), "`re_1` is no part"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,1,0,re_1=y", Some("parts"), "`y` is no amount"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,3,0,re_1=1 re_1=2", Some("parts"), "`re_1` has two parts"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,-1,0,", Some("amount"), "`-1` is the wrong sign for a `sale`"),
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,3,0,re_1=-1", Some("parts"), "`-1` is the wrong sign"),
        // A decimal comma, say.
        ("a,sale,2026-03-23T10:00:00Z,p,BRL,1,00,3,", None, "it has 9 fields, and line 1 names 8"),
        ("a,sale", Some("at"), "`` is no time"),
    ];
    // A field with a line break in it: lines are those of the file.
    let mut text = format!("{head}\n\"a\nb\",payout,2026-03-23T10:00:00Z,p,BRL,1,0,\n");
    for (row, ..) in rows {
        text.push_str(&format!("{row}\n{right}\n"));
    }
    let mut bytes = text.into_bytes();
    bytes.extend(b"a,sale,2026-03-23T10:00:00Z,\xff,BRL,1,0,\n");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let report = import_file(&app, file.path(), "SANDBOX").await.unwrap();
    assert_eq!(report.unreadable, 16, "{}", report.text());
    let unreadable = report.findings.iter().filter(|found| found.finding == "unreadable");
    let expected = rows.into_iter().map(|(_, column, why)| (column, why));
    let expected = (4..).step_by(2).zip(expected.chain([(Some("payment"), "not UTF-8")]));
    for (found, (row, (column, why))) in unreadable.zip(expected) {
        assert_eq!((found.row, found.column.as_deref()), (Some(row), column), "{found:?}");
        assert!(found.why.as_deref().unwrap().contains(why), "{found:?}");
    }

    for (text, why) in [
        ("", "line 1 of the file has no column `line`: the file is empty"),
        (
            "line,type,at,payment,currency,fee",
            "line 1 of the file has no column `amount`, but `line`, `type`",
        ),
    ] {
        std::fs::write(file.path(), text).unwrap();
        let refused = import_file(&app, file.path(), "SANDBOX").await.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let refused = import_file(&app, Path::new("/"), "SANDBOX").await.unwrap_err().to_string();
    assert!(refused.contains("/: "), "{refused}");

    let mapping = regente::settlement::OF_THE_SIMULATOR;
    for (wrong, why) in [
        (mapping.replace("payout =", "payouts ="), "`kinds.payouts` is no kind of line"),
        (
            mapping.replace("payout = [\"payout\"]", "payout = [\"sale\"]"),
            "`sale` is listed twice in `kinds`",
        ),
        (mapping.replace("negated = []", "negated = [\"fee_colum\"]"), "`negated` has `fee_colum`"),
        (mapping.replace("separator = \",\"", "separator = \",\"\nnothing = 1"), "line 3, column 1"),
        (mapping.replace("\"minor_units\"", "\"cents\""), "unknown variant `cents`"),
        (mapping.replace("zone = \"UTC\"", "zone = \"Mars\""), "there is no time zone `Mars`"),
        (mapping.replace("\"rfc3339\"", "\"%d/%m %Q\""), "`time` is `%d/%m %Q`"),
        (mapping.replace("\"rfc3339\"", "\"%H:%M\""), "`time` is `%H:%M`"),
        (mapping.replace("line = [\"line\"]", "line = ["), "TOML parse error at line 1"),
    ] {
        assert_ne!(wrong, mapping);
        std::fs::write(file.path(), wrong).unwrap();
        let refused = Mapping::read(file.path()).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert!(Mapping::read(Path::new("/nowhere")).is_err());
}

async fn the_simulator_writes_a_file_when_a_day_is_over(app: TestApp) {
    let app = app.reachable().await;
    let made = make_charges(&app).await;
    let beside = tempfile::tempdir().unwrap();
    let folder = beside.path().join("settlement");
    let written = async |day| daily::write_file(&app.books, &folder, day).await.unwrap();
    let begun = app.clock.deployment();
    let midnight = Timestamp::of_hour(begun.hour().div_euclid(24) * 24 + 24);
    // A few minutes after midnight the file is not due: what has begun on the day may end then.
    let early = daily::last_day(midnight + Duration::from_secs(5 * 60));
    assert_eq!(early, midnight - DAY * 2);
    assert_eq!(written(early).await, None, "nothing has moved on that day");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let day = daily::last_day(midnight + Duration::from_secs(15 * 60));
    assert_eq!(day, midnight - DAY);
    let file = written(day).await.unwrap();
    assert_eq!(file, folder.join("2026-03-23.csv"));
    assert_eq!(written(day).await, None, "it is there");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let report = import_file(&app, &file, "SANDBOX").await.unwrap();
    assert!(report.is_clean() && report.lines >= made.len() as u64, "{}", report.text());
}

async fn what_comes_back_and_is_heard_after_the_charge_back_shows_in_the_file(app: TestApp) {
    let app = app.reachable().await;
    let id = captured(&app).await;
    void(&app, &id, json!({ "amount": 40 })).await.expect(201);
    let back = happens(&app, &id, REVERTED(40)).await;
    let lost = happens(&app, &id, Staged::ChargedBack).await;
    hear(&app, &lost).await;
    hear(&app, &back).await;
    settles_in_any_order(&app).await;
    let report = import(&app, &sandbox_file(&app).await, "SANDBOX").await;
    assert_eq!(findings(&report), ["differing_amount", "missing_here"], "{}", report.text());
}

#[tokio::test]
async fn a_server_writes_the_simulators_file_of_yesterday() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let body = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    assert_eq!(server.post("/v1/charges", &body).send().await.unwrap().status(), 201);
    server.stop().await;
    // As if it had been charged yesterday.
    let log = rusqlite::Connection::open(folder.path().join("sandbox-books.db")).unwrap();
    log.execute("UPDATE entries SET at = at - 86400000", []).unwrap();
    drop(log);
    let server = Server::start(folder.path(), &[]).await;
    server.until_logged("the simulator has written its settlement file").await;
    let files: Vec<_> = std::fs::read_dir(folder.path().join("settlement")).unwrap().collect();
    assert_eq!(files.len(), 1);
    let written = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    assert!(written.lines().any(|line| line.contains(".sale,sale,")), "{written}");
    server.stop().await;
}
