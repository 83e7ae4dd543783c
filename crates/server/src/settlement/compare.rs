//! Brings a file together with the records. Both are divided by payment into parts, and the parts are compared one after
//! the other, so that no more than one of them is in the memory.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Duration;

use regente_domain::currency::Currency;
use regente_domain::id::TransactionRequestId;
use regente_domain::settlement::{Covered, Judged, Kind, Line, Moved, Verdict, judge};
use regente_domain::time::Timestamp;

use super::Failure;
use super::file::{LineError, Lines, day_at, next_day_at};
use super::mapping::{Mapping, PaymentIs};
use super::parts::Parts;
use super::report::Report;
use crate::admin::{Posting, Registered, Scope, SettlementAnswer, SettlementCommand};

/// How far the clocks of a provider and of the records may differ.
const EDGE: Duration = Duration::from_secs(60 * 60);
/// How long before and after the days of a file its payments are looked for.
const AROUND: Duration = Duration::from_secs(24 * 60 * 60);
/// Lines that are posted in one batch, unless a story says otherwise.
pub const POSTED_AT_ONCE: usize = 400;
/// Payments that are looked for by their ids at once.
const FOUND_AT_ONCE: usize = 200;

/// A file and what is done with it.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// What its columns mean.
    pub mapping: &'a Mapping,
    /// Whose it is.
    pub scope: &'a Scope,
    /// Charges that were made from then on are looked at; otherwise those of the days of the file and around them.
    pub since: Option<Timestamp>,
    /// The most findings of each kind that are shown.
    pub shown_max: u64,
    /// Lines that are posted in one batch.
    pub posted_at_once: usize,
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The file is read; its length in bytes.
    Reading(u64),
    /// What the records have is read.
    Records,
    /// Both are compared; the number of lines.
    Comparing(u64),
}

/// Who shows how far it is.
pub trait Progress {
    /// A step begins.
    fn begin(&self, step: Step);
    /// So much of it is done.
    fn done(&self, amount: u64);
}

/// Reconciles a file. `ask` runs commands where the database is.
///
/// # Errors
/// The file cannot be read, or a command failed. What was posted stays; run again, the rest is posted.
pub async fn reconcile(
    ask: impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    progress: &impl Progress,
) -> Result<Report, Failure> {
    let provider = match file.scope.registered {
        Some(Registered { provider_id, .. }) => format!("{} {provider_id}", file.scope.provider_type),
        None => file.scope.provider_type.to_string(),
    };
    let mut report = Report::new(&file.path.display().to_string(), &provider, file.shown_max);
    let lines = read(file, &mut report, progress)?;
    let mut records = Parts::of_number(lines.len())?;
    if let (Some(from), Some(to)) = (report.from, report.to) {
        progress.begin(Step::Records);
        let during = (file.since.unwrap_or(from - AROUND).min(from - AROUND), to + AROUND);
        let mut after = None;
        loop {
            let command = SettlementCommand::Moved { scope: file.scope.clone(), during, after };
            let (moved, next) = moved(ask(command).await?)?;
            for moved in &moved {
                records.add(&reference(moved, file.mapping.payment_is), moved)?;
            }
            progress.done(moved.len() as u64);
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    let covered = report.from.zip(report.to).map(|(from, to)| Covered { from, to, edge: EDGE });
    let covered = covered.filter(|_| file.mapping.complete);
    progress.begin(Step::Comparing(report.lines));
    let mut waiting = Vec::new();
    for (lines, records) in lines.into_parts()?.into_iter().zip(records.into_parts()?) {
        let (lines, mut ours): (Vec<Line>, Vec<Moved>) = (lines.read()?, records.read()?);
        let read = lines.len() as u64;
        find_others(&ask, file, &lines, &mut ours).await?;
        for judged in judge_part(file, lines, ours, covered.as_ref()) {
            report.add(&judged);
            waiting.extend(posting(file.scope, judged));
            if waiting.len() >= file.posted_at_once {
                post(&ask, &mut waiting, &mut report).await?;
            }
        }
        progress.done(read);
    }
    post(&ask, &mut waiting, &mut report).await?;
    match ask(SettlementCommand::Owed { scope: file.scope.clone() }).await? {
        SettlementAnswer::Owed { owed } => report.finish(owed),
        SettlementAnswer::Scope(_)
        | SettlementAnswer::Moved { .. }
        | SettlementAnswer::Posted(_)
        | SettlementAnswer::SandboxFile(_) => return Err(other_release()),
    }
    Ok(report)
}

/// Reads the file into parts.
fn read(file: File<'_>, report: &mut Report, progress: &impl Progress) -> Result<Parts, Failure> {
    let open = || -> std::io::Result<_> {
        let opened = std::fs::File::open(file.path)?;
        let bytes = opened.metadata()?.len();
        Ok((opened, bytes))
    };
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.path.display());
    let (opened, bytes) = open().map_err(|error| wrong(&error))?;
    progress.begin(Step::Reading(bytes));
    let mut parts = Parts::of_size(bytes)?;
    let mut days: Option<(Timestamp, Timestamp)> = None;
    let zone = file.mapping.time_zone()?;
    let watched = BufReader::new(Watched(opened, progress));
    for line in Lines::new(watched, file.mapping).map_err(|error| wrong(&error))? {
        report.lines += 1;
        match line {
            Ok(line) => {
                let (first, last) = days.unwrap_or((line.at, line.at));
                days = Some((first.min(line.at), last.max(line.at)));
                parts.add(line.payment.as_deref().unwrap_or(&line.id), &line)?;
            }
            Err(LineError::Row(wrong)) => report.add_unreadable(wrong),
            Err(LineError::File(error)) => return Err(wrong(&error).into()),
        }
    }
    report.from = days.map(|(first, _)| day_at(&zone, first));
    report.to = days.map(|(_, last)| next_day_at(&zone, last));
    Ok(parts)
}

/// A file that tells how much of it was read.
struct Watched<'a, P>(std::fs::File, &'a P);

impl<P: Progress> Read for Watched<'_, P> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.done(read as u64);
        Ok(read)
    }
}

/// Adds what the records have of payments that were made or moved at another time, where they can be found by the
/// provider's ids.
async fn find_others(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    lines: &[Line],
    ours: &mut Vec<Moved>,
) -> Result<(), Failure> {
    match (file.mapping.payment_is, file.scope.registered) {
        (PaymentIs::Key, _) | (PaymentIs::TransactionId, None) => return Ok(()),
        (PaymentIs::TransactionId, Some(_)) => {}
    }
    let known: HashSet<String> = ours.iter().filter_map(|ours| ours.transaction_id.clone()).collect();
    let mut missing: Vec<String> = lines.iter().filter_map(|line| line.payment.clone()).collect();
    missing.retain(|payment| !known.contains(payment));
    missing.sort_unstable();
    missing.dedup();
    for transaction_ids in missing.chunks(FOUND_AT_ONCE) {
        let transaction_ids = transaction_ids.to_vec();
        let command = SettlementCommand::Find { scope: file.scope.clone(), transaction_ids };
        ours.extend(moved(ask(command).await?)?.0);
    }
    Ok(())
}

fn moved(answer: SettlementAnswer) -> Result<(Vec<Moved>, Option<crate::admin::Cursor>), Failure> {
    match answer {
        SettlementAnswer::Moved { moved, next } => Ok((moved, next)),
        SettlementAnswer::Scope(_)
        | SettlementAnswer::Posted(_)
        | SettlementAnswer::Owed { .. }
        | SettlementAnswer::SandboxFile(_) => Err(other_release()),
    }
}

fn other_release() -> Failure {
    "the running server is of another release".into()
}

/// The name of a payment, as the file has it.
fn reference(moved: &Moved, payment_is: PaymentIs) -> String {
    match (payment_is, &moved.transaction_id) {
        (PaymentIs::TransactionId, Some(transaction_id)) => transaction_id.clone(),
        (PaymentIs::TransactionId, None) | (PaymentIs::Key, _) => moved.key.to_string(),
    }
}

/// Judges one part, payment by payment.
fn judge_part(file: File<'_>, lines: Vec<Line>, ours: Vec<Moved>, covered: Option<&Covered>) -> Vec<Judged> {
    let mut payments: BTreeMap<String, (Vec<Line>, Vec<Moved>)> = BTreeMap::new();
    let (mut judged, mut known) = (Vec::new(), HashSet::new());
    for line in lines {
        match line.payment.clone() {
            Some(payment) => payments.entry(payment).or_default().0.push(line),
            None => judged.push(without_payment(file.scope, line, &mut known)),
        }
    }
    // A charge that has moved twice may have been read twice.
    let mut read: HashSet<(TransactionRequestId, Kind)> = HashSet::new();
    for ours in ours {
        if read.insert((ours.request_id, ours.kind)) {
            payments.entry(reference(&ours, file.mapping.payment_is)).or_default().1.push(ours);
        }
    }
    judged.extend(payments.into_values().flat_map(|(lines, ours)| judge(lines, ours, covered)));
    judged
}

/// Judges a line about all payments together.
fn without_payment(scope: &Scope, line: Line, known: &mut HashSet<(String, Kind)>) -> Judged {
    let verdict = if !known.insert((line.id.clone(), line.kind)) {
        Verdict::Doubled
    } else if line.kind.moves_a_charge() {
        Verdict::MissingHere
    } else if Currency::parse(&line.currency).is_none() {
        Verdict::ForeignCurrency
    } else if scope.registered.is_none() || !line.parts.is_empty() {
        Verdict::Unassigned
    } else {
        let borne = vec![(line.seller_id, line.amount)];
        return Judged { verdict: Verdict::Matched, line: Some(line), ours: None, borne };
    };
    Judged::alone(verdict, line, None)
}

/// What is posted of it: what the provider alone knows, and by how much it differs from the records. What is missing on one
/// side is left to the operator: it may come with the next file, or with the next answer of the provider.
fn posting(scope: &Scope, judged: Judged) -> Option<Posting> {
    match judged.verdict {
        Verdict::Matched | Verdict::DifferingAmount | Verdict::DifferingParts => {}
        Verdict::MissingHere
        | Verdict::MissingThere
        | Verdict::Doubled
        | Verdict::ForeignCurrency
        | Verdict::Unassigned
        | Verdict::OnTheEdge => return None,
    }
    let Judged { line, ours, borne, .. } = judged;
    let line = line?;
    if line.fee == 0 && borne.is_empty() {
        return None;
    }
    let registered = match &ours {
        Some(ours) => Registered {
            client_id: ours.client_id,
            merchant_id: ours.merchant_id,
            provider_id: ours.provider_id,
        },
        None => scope.registered?,
    };
    let split_charge = ours.filter(|ours| ours.is_split).map(|ours| ours.charge_id);
    Some(Posting { line, registered, provider_type: scope.provider_type, split_charge, borne })
}

async fn post(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    waiting: &mut Vec<Posting>,
    report: &mut Report,
) -> Result<(), Failure> {
    if waiting.is_empty() {
        return Ok(());
    }
    match ask(SettlementCommand::Post { postings: std::mem::take(waiting) }).await? {
        SettlementAnswer::Posted(posted) => report.add_posted(&posted),
        SettlementAnswer::Scope(_)
        | SettlementAnswer::Moved { .. }
        | SettlementAnswer::Owed { .. }
        | SettlementAnswer::SandboxFile(_) => return Err(other_release()),
    }
    Ok(())
}
