//! The report of a reconciliation: numbers and sums of everything, and the first findings of each kind one by one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regente_domain::currency::Currency;
use regente_domain::id::ChargeId;
use regente_domain::money::Amount;
use regente_domain::settlement::{Judged, JudgedKept, Kept, Kind, Line, Verdict};
use regente_domain::time::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::file::WrongRow;
use crate::terminal::printable;
use regente_engine::settlement::{Otherwise, Posted};

/// What was found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The file.
    pub file: String,
    /// The registered provider or the type.
    pub provider: String,
    /// The time that the file is about.
    pub from: Option<Timestamp>,
    /// Until before then.
    pub to: Option<Timestamp>,
    /// Whether nothing says which days the file is about, so that nothing was looked for that it lacks.
    pub days_are_unknown: bool,
    /// Lines that were read.
    pub lines: u64,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// The numbers of what was found.
    pub found: BTreeMap<&'static str, Tally>,
    /// What the file says in all, by kind and currency.
    pub sums: Vec<Sum>,
    /// Whether nothing was to be posted.
    pub dry_run: bool,
    /// Lines that were posted to the ledger now.
    pub posted: u64,
    /// Entries of these.
    pub entries: u64,
    /// Lines that were posted before.
    pub posted_before: u64,
    /// Lines that were posted before with another content.
    pub posted_otherwise: u64,
    /// What the provider owes by the ledger now, in minor units by currency.
    pub owed: BTreeMap<String, i64>,
    /// The findings that an operator must look at, at most as many of each kind as were asked for.
    pub findings: Vec<ReportedFinding>,
    #[serde(skip)]
    shown_max: u64,
    #[serde(skip)]
    all: BTreeMap<(Kind, String), (u64, i128, i128)>,
}

/// How often something was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Lines and requests.
    pub number: u64,
}

/// What the file says in all about a kind of line.
#[derive(Clone, Debug, Serialize)]
pub struct Sum {
    /// The kind.
    pub kind: &'static str,
    /// ISO 4217.
    pub currency: String,
    /// Number of lines.
    pub lines: u64,
    /// In minor units.
    pub amount: i128,
    /// The fees of these lines.
    pub fee: i128,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedFinding {
    /// What was found: a verdict, `unreadable` or `posted_otherwise`.
    pub finding: &'static str,
    /// The row in the file.
    pub row: Option<u64>,
    /// The column, where one cannot be read.
    pub column: Option<String>,
    /// What the provider calls the line.
    pub line: Option<String>,
    /// What it is about.
    pub kind: Option<&'static str>,
    /// The payment, as the file names it.
    pub payment: Option<String>,
    /// The charge.
    pub charge_id: Option<ChargeId>,
    /// The transaction request.
    pub request_id: Option<Uuid>,
    /// What the file says.
    pub there: Option<String>,
    /// What the records say.
    pub here: Option<String>,
    /// What is wrong with a row.
    pub why: Option<String>,
}

/// The finding of a row that cannot be read.
const UNREADABLE: &str = "unreadable";
/// The finding of a line that was posted before with another content.
const POSTED_OTHERWISE: &str = "posted_otherwise";

impl Report {
    pub(super) fn new(file: &str, provider: &str, shown_max: u64) -> Self {
        Self {
            file: file.to_owned(),
            provider: provider.to_owned(),
            from: None,
            to: None,
            days_are_unknown: false,
            lines: 0,
            unreadable: 0,
            found: Verdict::WORDS.iter().map(|(word, _)| (*word, Tally::default())).collect(),
            sums: Vec::new(),
            dry_run: false,
            posted: 0,
            entries: 0,
            posted_before: 0,
            posted_otherwise: 0,
            owed: BTreeMap::new(),
            findings: Vec::new(),
            shown_max,
            all: BTreeMap::new(),
        }
    }

    /// How often this was found.
    pub fn number(&self, verdict: Verdict) -> u64 {
        self.found.get(verdict.word()).map_or(0, |tally| tally.number)
    }

    /// Whether there is nothing that an operator must look at.
    pub fn is_clean(&self) -> bool {
        let wrong = Verdict::WORDS.iter().filter(|(_, verdict)| !is_right(*verdict));
        !self.days_are_unknown
            && self.unreadable == 0
            && self.posted_otherwise == 0
            && wrong.map(|(_, verdict)| self.number(*verdict)).all(|number| number == 0)
    }

    /// Says which days the file is about. A file without lines is as if there were none, unless its days are known.
    pub(super) fn is_about(&mut self, days: Option<(Timestamp, Timestamp)>, is_complete: bool) {
        (self.from, self.to) = days.unzip();
        self.days_are_unknown = days.is_none() && (is_complete || self.lines == 0);
    }

    /// Counts a finding; whether it is shown.
    fn count(&mut self, verdict: Verdict, line: Option<&Line>) -> bool {
        let tally = self.found.entry(verdict.word()).or_default();
        tally.number += 1;
        if let Some(line) = line {
            let (lines, amount, fee) = self.all.entry((line.kind, line.currency.clone())).or_default();
            *lines += 1;
            *amount += i128::from(line.amount);
            *fee += i128::from(line.fee);
        }
        !is_right(verdict) && tally.number <= self.shown_max
    }

    pub(super) fn add(&mut self, judged: &Judged) {
        if !self.count(judged.verdict, judged.line.as_ref()) {
            return;
        }
        let Judged { verdict, line, ours, .. } = judged;
        // Of what only the provider knows, the records have nothing to compare.
        let compared = ours.as_ref().filter(|ours| line.as_ref().is_none_or(|line| line.kind == ours.kind));
        self.findings.push(ReportedFinding {
            finding: verdict.word(),
            row: line.as_ref().map(|line| line.row),
            column: None,
            line: line.as_ref().map(|line| line.id.clone()),
            kind: line.as_ref().map(|line| line.kind).or(ours.as_ref().map(|ours| ours.kind)).map(Kind::word),
            payment: line.as_ref().and_then(|line| line.payment.clone()),
            charge_id: ours.as_ref().map(|ours| ours.charge_id),
            request_id: compared.map(|ours| ours.request_id.uuid()),
            there: line.as_ref().map(shown_line),
            here: compared.map(|ours| {
                let parts = ours.parts.iter().map(|part| (part.recipient.as_str(), part.amount));
                shown_parts(ours.currency.code(), ours.amount, parts)
            }),
            why: None,
        });
    }

    /// Adds what was found about what payouts have posted.
    pub(super) fn add_kept(&mut self, JudgedKept { verdict, line, ours }: &JudgedKept) {
        if !self.count(*verdict, line.as_ref()) {
            return;
        }
        self.findings.push(ReportedFinding {
            finding: verdict.word(),
            row: line.as_ref().map(|line| line.row),
            column: None,
            line: line.as_ref().map(|line| line.id.clone()).or_else(|| ours.as_ref().map(Kept::name)),
            kind: line.as_ref().map(|line| line.kind).or(ours.as_ref().map(|ours| ours.kind)).map(Kind::word),
            payment: line.as_ref().and_then(|line| line.payment.clone()),
            charge_id: None,
            request_id: None,
            there: line.as_ref().map(shown_line),
            here: ours.as_ref().map(|ours| {
                let seller = ours.seller_id.map_or_else(String::new, |id| format!(", of seller {id}"));
                format!("{}{seller}", shown(ours.currency.code(), ours.amount))
            }),
            why: None,
        });
    }

    pub(super) fn add_unreadable(&mut self, WrongRow { row, column, why }: WrongRow) {
        self.unreadable += 1;
        if self.unreadable <= self.shown_max {
            self.findings.push(ReportedFinding {
                column,
                why: Some(why),
                ..ReportedFinding::of_row(UNREADABLE, row)
            });
        }
    }

    pub(super) fn add_posted(&mut self, posted: &Posted) {
        self.posted += posted.posted;
        self.entries += posted.entries;
        self.posted_before += posted.known;
        for Otherwise { line, wanted, posted } in &posted.otherwise {
            self.posted_otherwise += 1;
            if self.posted_otherwise <= self.shown_max {
                self.findings.push(ReportedFinding {
                    line: Some(line.id.clone()),
                    kind: Some(line.kind.word()),
                    payment: line.payment.clone(),
                    there: Some(format!("{}; it would post {}", shown_line(line), shown_entries(wanted))),
                    here: Some(shown_entries(posted)),
                    ..ReportedFinding::of_row(POSTED_OTHERWISE, line.row)
                });
            }
        }
    }

    pub(super) fn finish(&mut self, owed: BTreeMap<String, i64>) {
        self.owed = owed;
        let all = std::mem::take(&mut self.all);
        let sum = |((kind, currency), (lines, amount, fee)): ((Kind, String), (u64, i128, i128))| Sum {
            kind: kind.word(),
            currency,
            lines,
            amount,
            fee,
        };
        self.sums = all.into_iter().map(sum).collect();
        self.findings.sort_by(|a, b| (a.finding, a.row).cmp(&(b.finding, b.row)));
    }

    /// As a table.
    pub fn text(&self) -> String {
        let mut text = format!("{} of {}: {} lines", printable(&self.file), self.provider, self.lines);
        if let (Some(from), Some(to)) = (self.from, self.to) {
            // Writing to a string cannot fail.
            let _ = write!(text, ", from {from} until before {to}");
        }
        text.push_str("\n\n");
        for (name, number) in self.numbers() {
            let _ = writeln!(text, "{name:<17} {number:>10}");
        }
        text.push('\n');
        for Sum { kind, currency, lines, amount, fee } in &self.sums {
            let (amount, fee) = (money(currency, *amount), money(currency, *fee));
            let _ = writeln!(text, "{kind:<21} {lines:>9} lines {amount:>24}   fees {fee:>18}");
        }
        let _ = writeln!(text, "\n{}", self.shown_posted());
        for (currency, owed) in &self.owed {
            let _ = writeln!(text, "By the ledger the provider owes {} now.", shown(currency, *owed));
        }
        if self.days_are_unknown {
            let _ = writeln!(text, "\n{}", self.unknown_days());
        }
        for found in &self.findings {
            let row = found.row.map_or_else(String::new, |row| format!("row {row}"));
            let _ = writeln!(text, "\n{:<17} {row} {}", found.finding, found.kind.unwrap_or_default());
            for (name, value) in found.facts() {
                let _ = writeln!(text, "  {name:<9} {}", printable(&value));
            }
        }
        if self.is_clean() {
            text.push_str("\nThe file and the records say the same.\n");
        }
        text
    }

    /// What it means that the days of the file are not known.
    pub(super) const fn unknown_days(&self) -> &'static str {
        if self.lines == 0 {
            "The file has no lines to compare. `--from` and `--to` name the days that it is about."
        } else {
            "No line settles a known payment, so nothing says which days the file is about, and nothing was looked for \
             that it lacks. `--from` and `--to` name them."
        }
    }

    /// What was posted, for people.
    pub(super) fn shown_posted(&self) -> String {
        match self.dry_run {
            true => "A dry run: nothing was posted to the ledger.".to_owned(),
            false => format!(
                "Posted to the ledger: {} lines now ({} entries), {} before.",
                self.posted, self.entries, self.posted_before
            ),
        }
    }

    /// What the provider owes, for people.
    pub(super) fn shown_owed(&self) -> Vec<String> {
        self.owed.iter().map(|(currency, owed)| shown(currency, *owed)).collect()
    }

    /// The numbers of everything, by name.
    pub(super) fn numbers(&self) -> Vec<(&'static str, u64)> {
        let verdicts = Verdict::WORDS.iter().map(|(word, verdict)| (*word, self.number(*verdict)));
        verdicts.chain([(UNREADABLE, self.unreadable), (POSTED_OTHERWISE, self.posted_otherwise)]).collect()
    }
}

impl ReportedFinding {
    const fn of_row(finding: &'static str, row: u64) -> Self {
        Self {
            finding,
            row: Some(row),
            column: None,
            line: None,
            kind: None,
            payment: None,
            charge_id: None,
            request_id: None,
            there: None,
            here: None,
            why: None,
        }
    }

    /// What is known, by name.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let facts = [
            ("there", self.there.clone()),
            ("here", self.here.clone()),
            ("charge", self.charge_id.map(|id| id.to_string())),
            ("request", self.request_id.map(|id| id.to_string())),
            ("payment", self.payment.clone()),
            ("line", self.line.clone()),
            ("column", self.column.clone()),
            ("why", self.why.clone()),
        ];
        facts.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))).collect()
    }
}

/// What is posted of a line, or would be.
fn shown_entries(entries: &[String]) -> String {
    match entries.is_empty() {
        true => "nothing".to_owned(),
        false => entries.join("; "),
    }
}

fn shown_line(line: &Line) -> String {
    let parts = line.parts.iter().map(|part| (part.recipient.as_str(), part.amount));
    let seller = line.seller_id.map_or_else(String::new, |id| format!(", of seller {id}"));
    format!("{}{seller}", shown_parts(&line.currency, line.amount, parts))
}

const fn is_right(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Matched | Verdict::OnTheEdge => true,
        Verdict::MissingHere
        | Verdict::MissingThere
        | Verdict::DifferingAmount
        | Verdict::DifferingParts
        | Verdict::Doubled
        | Verdict::SoldAgain
        | Verdict::ForeignCurrency
        | Verdict::Unassigned => false,
    }
}

fn shown(currency: &str, amount: i64) -> String {
    money(currency, i128::from(amount))
}

/// An amount with what sellers have of it.
fn shown_parts<'a>(currency: &str, amount: i64, parts: impl Iterator<Item = (&'a str, i64)>) -> String {
    let parts: Vec<String> =
        parts.map(|(recipient, part)| format!("{recipient} {}", shown(currency, part))).collect();
    match parts.is_empty() {
        true => shown(currency, amount),
        false => format!("{}, of it {}", shown(currency, amount), parts.join(", ")),
    }
}

/// A sum for people; in minor units where it is larger than an amount, or its currency unknown.
pub(super) fn money(currency: &str, minor_units: i128) -> String {
    let sign = if minor_units < 0 { "-" } else { "" };
    let amount = i64::try_from(minor_units.abs()).ok().and_then(Amount::new);
    match (Currency::parse(currency), amount) {
        (Some(currency), Some(amount)) => format!("{sign}{}", amount.shown_in(currency)),
        (None, _) | (_, None) => format!("{} {minor_units} minor units", printable(currency)),
    }
}
