//! Brings a file together with the records. Both are divided by payment into parts, and the parts are compared one after
//! the other, so that no more than one of them is in the memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, BufReader};
use std::path::Path;
use std::time::Duration;

use jiff::civil::Date;
use regente_domain::id::{ClientId, SellerId, TransactionRequestId};
use regente_domain::settlement::{
    Covered, Judged, Kind, Line, Moved, Posting, Registered, Scope, SettledPayment, Verdict, judge_named,
};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Failure;
use super::file::{LineError, Lines, days_of, end_of, start_of};
use super::kept;
use super::mapping::{Mapping, PaymentIs};
use super::parts::{Part, Parts, parts_of};
use super::report::Report;
use regente_engine::settlement::Cursor;

use crate::admin::{SettlementAnswer, SettlementCommand};

/// How far the clocks of a provider and of the records may differ.
const EDGE: Duration = Duration::from_secs(60 * 60);
/// How long before and after the days of a file its payments are looked for.
const AROUND: Duration = Duration::from_secs(24 * 60 * 60);
/// How long after the days of a file the records may learn what has happened on them: a boleto that is paid before a long
/// weekend, what a bank took back.
pub(super) const LEARNED: Duration = Duration::from_secs(4 * 24 * 60 * 60);
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
    /// Its first and last day; otherwise those of its lines that settle known payments.
    pub days: Option<(Date, Date)>,
    /// Charges that were made from then on are looked at; otherwise those of the days of the file and around them.
    pub since: Option<Timestamp>,
    /// The most findings of each kind that are shown.
    pub shown_max: u64,
    /// Lines that are posted in one batch.
    pub posted_at_once: usize,
    /// Whether nothing is posted.
    pub is_dry_run: bool,
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
    report.dry_run = file.is_dry_run;
    let zone = file.mapping.time_zone()?;
    let told = file.days.map(|(first, last)| (start_of(&zone, first), end_of(&zone, last)));
    let (named, dated) = read(file, &mut report, progress)?;
    let dated = dated.map(|(first, last)| days_of(&zone, first, last));
    let found = records(&ask, file, around(told, dated), progress).await?;
    // Either may be much larger than the other: a file of few lines may be about many days.
    let number = parts_of(named.bytes().max(found.bytes()));
    let number_apart = if file.scope.is_own() { number } else { 1 };
    let (lines, apart) = lines_by_payment(named, number, number_apart, file.scope)?;
    let mut by_name = kept::by_name(&ask, file, around(told, dated), (apart, number_apart)).await?;
    let records = records_by_payment(found, number, file.mapping.payment_is)?;
    let mut parts: Vec<(Part, Part)> = lines.into_parts()?.into_iter().zip(records.into_parts()?).collect();
    let days = match told {
        Some(days) => Some(days),
        None => {
            let settled = settled(&ask, file, &mut parts).await?;
            around(settled, kept::times(&mut by_name)?).map(|(first, last)| days_of(&zone, first, last))
        }
    };
    report.is_about(days, file.mapping.complete);
    let covered = days.map(|(from, to)| Covered { from, to, edge: EDGE, is_complete: file.mapping.complete });
    progress.begin(Step::Comparing(report.lines));
    let mut waiting = Vec::new();
    for (mut lines, mut records) in parts {
        let (mut lines, mut ours): (Vec<Read>, Vec<Moved>) = (lines.read()?, records.read()?);
        lines.sort_by_key(|read| read.line.row);
        let read = lines.len() as u64;
        find_others(&ask, file, &lines, &mut ours).await?;
        let mut judged = judge_part(file, lines, ours, covered.as_ref());
        leave_sellers_of_others(&ask, file, &mut judged).await?;
        for judged in judged {
            report.add(&judged);
            if !file.is_dry_run {
                waiting.extend(file.scope.posting(judged));
            }
            if waiting.len() >= file.posted_at_once {
                post(&ask, &mut waiting, &mut report).await?;
            }
        }
        progress.done(read);
    }
    post(&ask, &mut waiting, &mut report).await?;
    kept::compare(file, by_name, covered.as_ref(), (&mut report, progress))?;
    match ask(SettlementCommand::Owed { scope: file.scope.clone() }).await? {
        SettlementAnswer::Owed { owed } => report.finish(owed),
        SettlementAnswer::Scope(_)
        | SettlementAnswer::Moved { .. }
        | SettlementAnswer::Sellers { .. }
        | SettlementAnswer::Posted(_)
        | SettlementAnswer::Kept { .. }
        | SettlementAnswer::Keys { .. }
        | SettlementAnswer::SandboxFile(_) => return Err(other_release()),
    }
    Ok(report)
}

/// A line as it was read.
#[derive(Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) line: Line,
    /// Whether an earlier line of the file has the same name and kind.
    pub(super) is_doubled: bool,
}

/// From a moment to another.
pub(super) type Times = (Timestamp, Timestamp);

/// Reads the file into parts by name, and the times of its first and last line.
fn read(
    file: File<'_>,
    report: &mut Report,
    progress: &impl Progress,
) -> Result<(Parts, Option<Times>), Failure> {
    let open = || -> io::Result<_> {
        let opened = std::fs::File::open(file.path)?;
        let bytes = opened.metadata()?.len();
        Ok((opened, bytes))
    };
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.path.display());
    let (opened, bytes) = open().map_err(|error| wrong(&error))?;
    progress.begin(Step::Reading(bytes));
    let mut named = Parts::of_number(parts_of(bytes))?;
    let mut dated: Option<Times> = None;
    let watched = BufReader::new(Watched(opened, progress));
    for line in Lines::new(watched, file.mapping).map_err(|error| wrong(&error))? {
        report.lines += 1;
        match line {
            Ok(line) => {
                dated = Some(with(dated, line.at));
                named.add(&line.id, &line)?;
            }
            Err(LineError::Row(wrong)) => report.add_unreadable(wrong),
            Err(LineError::File(error)) => return Err(wrong(&error).into()),
        }
    }
    Ok((named, dated))
}

pub(super) fn with(times: Option<Times>, at: Timestamp) -> Times {
    times.map_or((at, at), |(first, last)| (first.min(at), last.max(at)))
}

/// What is around both.
fn around(one: Option<Times>, other: Option<Times>) -> Option<Times> {
    match (one, other) {
        (Some((from, to)), Some((first, end))) => Some((from.min(first), to.max(end))),
        (one, other) => one.or(other),
    }
}

/// The times of the first and the last line that settles a payment of the records. The others say nothing of what the file
/// must have: a fee or a payout may come weeks after its payment, and of a payment of nobody nothing is known.
async fn settled(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    parts: &mut [(Part, Part)],
) -> Result<Option<Times>, Failure> {
    let mut times = None;
    let name = |moved: &Moved| reference(moved, file.mapping.payment_is);
    for (lines, records) in parts {
        let known = records.stream::<Moved>()?.map(|moved| Ok(name(&moved?)));
        let known = known.collect::<Result<HashSet<String>, Failure>>()?;
        let mut others: Vec<(String, Timestamp)> = Vec::new();
        for read in lines.stream::<Read>()? {
            let Line { kind, payment, at, .. } = read?.line;
            let Some(payment) = payment.filter(|_| kind.moves_a_charge()) else { continue };
            match known.contains(&payment) {
                true => times = Some(with(times, at)),
                false => others.push((payment, at)),
            }
        }
        let found = find(ask, file, others.iter().map(|(payment, _)| payment.clone()).collect()).await?;
        let found: HashSet<String> = found.iter().map(name).collect();
        let settled = others.iter().filter(|(payment, _)| found.contains(payment));
        times = settled.fold(times, |times, (_, at)| Some(with(times, *at)));
    }
    Ok(times)
}

/// Reads what the records have, into one part.
async fn records(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    days: Option<Times>,
    progress: &impl Progress,
) -> Result<Parts, Failure> {
    let mut records = Parts::of_number(1)?;
    let Some((from, to)) = days else { return Ok(records) };
    progress.begin(Step::Records);
    let during = (file.since.unwrap_or(from - AROUND).min(from - AROUND), to + AROUND);
    let moved_until = to + LEARNED;
    let mut after = None;
    loop {
        let command = SettlementCommand::Moved { scope: file.scope.clone(), during, moved_until, after };
        let (moved, next) = moved(ask(command).await?)?;
        for moved in &moved {
            records.add("", moved)?;
        }
        progress.done(moved.len() as u64);
        match next {
            Some(next) => after = Some(next),
            None => return Ok(records),
        }
    }
}

/// Divides lines by payment that are divided by name. Those that payouts are compared with stay divided by name, in parts of their
/// own.
fn lines_by_payment(
    named: Parts,
    number: u64,
    number_apart: u64,
    scope: &Scope,
) -> Result<(Parts, Parts), Failure> {
    let (mut parts, mut parts_apart) = (Parts::of_number(number)?, Parts::of_number(number_apart)?);
    for mut part in named.into_parts()? {
        let mut known: HashSet<(String, Kind)> = HashSet::new();
        for line in part.stream::<Line>()? {
            let line = line?;
            let is_doubled = !known.insert((line.id.clone(), line.kind));
            let (line, apart) = kept::apart(scope, line);
            for line in apart {
                parts_apart.add(&line.id.clone(), &Read { line, is_doubled })?;
            }
            if let Some(line) = line {
                let payment = line.payment.clone().unwrap_or_else(|| line.id.clone());
                parts.add(&payment, &Read { line, is_doubled })?;
            }
        }
    }
    Ok((parts, parts_apart))
}

/// Divides by payment what the records have.
fn records_by_payment(found: Parts, number: u64, payment_is: PaymentIs) -> Result<Parts, Failure> {
    let mut parts = Parts::of_number(number)?;
    for mut part in found.into_parts()? {
        for moved in part.stream::<Moved>()? {
            let moved = moved?;
            parts.add(&reference(&moved, payment_is), &moved)?;
        }
    }
    Ok(parts)
}

/// A file that tells how much of it was read.
struct Watched<'a, P>(std::fs::File, &'a P);

impl<P: Progress> io::Read for Watched<'_, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.done(read as u64);
        Ok(read)
    }
}

/// Adds what the records have of payments that were made or moved at another time.
async fn find_others(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    lines: &[Read],
    ours: &mut Vec<Moved>,
) -> Result<(), Failure> {
    let known: HashSet<&str> = ours.iter().filter_map(|ours| ours.transaction_id.as_deref()).collect();
    let mut missing: Vec<String> = lines.iter().filter_map(|read| read.line.payment.clone()).collect();
    missing.retain(|payment| !known.contains(payment.as_str()));
    ours.extend(find(ask, file, missing).await?);
    Ok(())
}

/// What the records have of payments, where they can be found by the provider's ids.
async fn find(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    mut payments: Vec<String>,
) -> Result<Vec<Moved>, Failure> {
    match (file.mapping.payment_is, file.scope.registered) {
        (PaymentIs::Key, _) | (PaymentIs::TransactionId, None) => return Ok(Vec::new()),
        (PaymentIs::TransactionId, Some(_)) => {}
    }
    payments.sort_unstable();
    payments.dedup();
    let mut found = Vec::new();
    for transaction_ids in payments.chunks(FOUND_AT_ONCE) {
        let transaction_ids = transaction_ids.to_vec();
        let command = SettlementCommand::Find { scope: file.scope.clone(), transaction_ids };
        found.extend(moved(ask(command).await?)?.0);
    }
    Ok(found)
}

fn moved(answer: SettlementAnswer) -> Result<(Vec<Moved>, Option<Cursor>), Failure> {
    match answer {
        SettlementAnswer::Moved { moved, next } => Ok((moved, next)),
        SettlementAnswer::Scope(_)
        | SettlementAnswer::Sellers { .. }
        | SettlementAnswer::Posted(_)
        | SettlementAnswer::Owed { .. }
        | SettlementAnswer::Kept { .. }
        | SettlementAnswer::Keys { .. }
        | SettlementAnswer::SandboxFile(_) => Err(other_release()),
    }
}

pub(super) fn other_release() -> Failure {
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
fn judge_part(file: File<'_>, lines: Vec<Read>, ours: Vec<Moved>, covered: Option<&Covered>) -> Vec<Judged> {
    let mut payments: BTreeMap<String, SettledPayment> = BTreeMap::new();
    let mut judged = Vec::new();
    for Read { line, is_doubled } in lines {
        match (line.payment.clone(), is_doubled) {
            (Some(payment), false) => payments.entry(payment).or_default().lines.push(line),
            (Some(payment), true) => payments.entry(payment).or_default().doubled.push(line),
            (None, false) => judged.push(file.scope.judge_without_payment(line)),
            (None, true) => judged.push(Judged::alone(Verdict::Doubled, line, None)),
        }
    }
    // A charge that has moved twice may have been read twice.
    let mut read: HashSet<(TransactionRequestId, Kind)> = HashSet::new();
    for ours in ours {
        if read.insert((ours.request_id, ours.kind)) {
            payments.entry(reference(&ours, file.mapping.payment_is)).or_default().ours.push(ours);
        }
    }
    judged.extend(payments.into_values().flat_map(|payment| judge_named(payment, covered)));
    judged
}

/// Takes a line for nobody's that names a seller whom its merchant does not have.
async fn leave_sellers_of_others(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    judged: &mut [Judged],
) -> Result<(), Failure> {
    let mut named: BTreeMap<ClientId, BTreeSet<SellerId>> = BTreeMap::new();
    for (client_id, _, seller_id) in judged.iter().filter_map(|judged| file.scope.seller_of(judged)) {
        named.entry(client_id).or_default().insert(seller_id);
    }
    let mut known = HashSet::new();
    for (client_id, seller_ids) in named {
        let seller_ids: Vec<SellerId> = seller_ids.into_iter().collect();
        for seller_ids in seller_ids.chunks(FOUND_AT_ONCE) {
            let command = SettlementCommand::Sellers { client_id, seller_ids: seller_ids.to_vec() };
            let SettlementAnswer::Sellers { sellers } = ask(command).await? else {
                return Err(other_release());
            };
            known.extend(sellers.into_iter().map(|(id, merchant_id)| (client_id, merchant_id, id)));
        }
    }
    for judged in judged {
        if file.scope.seller_of(judged).is_some_and(|named| !known.contains(&named)) {
            judged.unassign();
        }
    }
    Ok(())
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
        | SettlementAnswer::Sellers { .. }
        | SettlementAnswer::Owed { .. }
        | SettlementAnswer::Kept { .. }
        | SettlementAnswer::Keys { .. }
        | SettlementAnswer::SandboxFile(_) => return Err(other_release()),
    }
    Ok(())
}
