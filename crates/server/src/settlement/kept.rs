//! Of the own provider: fees, payouts and anticipations of a file, compared with what payouts have posted (`docs/payouts.md`).

use std::collections::HashSet;

use regente_domain::settlement::{Covered, Kept, Kind, Line, Scope, judge_kept};

use super::Failure;
use super::compare::{File, LEARNED, Progress, Read, Times, other_release, with};
use super::parts::{Part, Parts};
use super::report::Report;
use crate::admin::{SettlementAnswer, SettlementCommand};

/// Lines with what payouts have posted, divided by their names.
pub(super) type ByName = Vec<(Part, Part)>;

/// Takes from a line what is compared with payouts: all of it, or its fee.
pub(super) fn apart(scope: &Scope, line: Line) -> (Option<Line>, Vec<Line>) {
    if !scope.is_own() {
        return (Some(line), Vec::new());
    }
    let (fee, mut apart) = (line.fee, Vec::new());
    let line = Line { fee: 0, ..line };
    if fee != 0 {
        apart.push(Line { kind: Kind::Fee, amount: fee, parts: Vec::new(), ..line.clone() });
    }
    if line.kind.moves_a_charge() {
        return (Some(line), apart);
    }
    apart.push(line);
    (None, apart)
}

/// Brings lines, in so many parts, together with what payouts have posted around these days.
pub(super) async fn by_name(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    file: File<'_>,
    days: Option<Times>,
    (lines, number): (Parts, u64),
) -> Result<ByName, Failure> {
    let mut posted = Parts::of_number(number)?;
    if let Some((from, to)) = days {
        let add = |kept: Kept| posted.add(&kept.name(), &kept);
        read(ask, file.scope, (from - LEARNED, to + LEARNED), add).await?;
    }
    Ok(lines.into_parts()?.into_iter().zip(posted.into_parts()?).collect())
}

/// Reads what payouts have posted.
pub(super) async fn read(
    ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    scope: &Scope,
    during: Times,
    mut each: impl FnMut(Kept) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !scope.is_own() {
        return Ok(());
    }
    let mut after = None;
    loop {
        let command = SettlementCommand::Kept { scope: scope.clone(), during, after };
        let SettlementAnswer::Kept { kept, next } = ask(command).await? else { return Err(other_release()) };
        kept.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

/// The times of the first and the last line about what payouts have posted.
pub(super) fn times(by_name: &mut [(Part, Part)]) -> Result<Option<Times>, Failure> {
    let mut times = None;
    for (lines, posted) in by_name {
        let known = posted.stream::<Kept>()?.map(|kept| kept.map(|kept| (kept.kind, kept.name())));
        let known = known.collect::<Result<HashSet<(Kind, String)>, Failure>>()?;
        for read in lines.stream::<Read>()? {
            let Line { kind, id, at, .. } = read?.line;
            if known.contains(&(kind, id)) {
                times = Some(with(times, at));
            }
        }
    }
    Ok(times)
}

/// Compares both.
pub(super) fn compare(
    file: File<'_>,
    by_name: ByName,
    covered: Option<&Covered>,
    (report, progress): (&mut Report, &impl Progress),
) -> Result<(), Failure> {
    for (mut lines, mut posted) in by_name {
        let (mut lines, posted): (Vec<Read>, Vec<Kept>) = (lines.read()?, posted.read()?);
        lines.sort_by_key(|read| read.line.row);
        if !lines.is_empty() {
            progress.done(lines.len() as u64);
        }
        let lines = lines.into_iter().map(|Read { line, is_doubled }| (line, is_doubled));
        for judged in judge_kept(lines, posted, covered, |kind| file.mapping.has(kind)) {
            report.add_kept(&judged);
        }
    }
    Ok(())
}
