//! Counts the charges of many hours in few rows: by spans of hours, and the hours of a page by looking into a span's 8
//! parts, and so on. What is not folded into spans yet is added by the same statement, so that a count is exact at any
//! moment.

use std::collections::BTreeMap;
use std::ops::Range;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use super::{CounterFilter, is_counted};
use crate::spans::{Direction, LENGTHS, PARTS, Run, UNFOLDED, cover, first_hour, listed};
use crate::{Store, StoreError, args, sql};

// `CROSS JOIN` makes SQLite begin with the wanted spans. `IS TRUE` keeps it from using the primary key, by which it would
// read all hours to find those that are not folded.
sql! {
    /// The counts of spans and of what they do not contain yet, for any filter.
    COUNT_BY_SPANS = concat!("
        SELECT hours, first_hour, CAST(SUM(n) AS BIGINT) AS n FROM (
            SELECT wanted.hours, spans.first_hour, spans.n
            FROM EACH_SPAN(:spans) AS wanted CROSS JOIN charge_counter_spans AS spans
            WHERE spans.client_id = :client_id AND spans.hours = wanted.hours
              AND spans.first_hour >= wanted.from_hour AND spans.first_hour < wanted.to_hour", is_counted!(), "
            UNION ALL
            SELECT wanted.hours, folded.hour, folded.n
            FROM EACH_SPAN(:spans) AS wanted CROSS JOIN charge_counters AS folded
            WHERE folded.client_id = :client_id AND wanted.hours = 1 AND folded.stripe < 0
              AND folded.hour >= wanted.from_hour AND folded.hour < wanted.to_hour", is_counted!(), "
            UNION ALL
            SELECT 0 AS hours, hour AS first_hour, n FROM charge_counters
            WHERE client_id = :client_id AND stripe >= 0
              AND (hour >= :from_hour) IS TRUE AND (hour < :to_hour) IS TRUE", is_counted!(), "
        ) AS counted GROUP BY hours, first_hour HAVING SUM(n) <> 0");
    /// Counts the sums of spans that are not those of their hours.
    WRONG_SPANS = "
        SELECT COUNT(*) AS n FROM (
            SELECT hours FROM (
                SELECT hours, first_hour, merchant_id, status, payment_type, provider_type, n
                FROM charge_counter_spans WHERE client_id = :client_id
                UNION ALL
                SELECT wanted.hours, hour - hour % wanted.hours, merchant_id, status, payment_type, provider_type, -n
                FROM charge_counters CROSS JOIN EACH_SPAN(:spans) AS wanted
                WHERE client_id = :client_id AND stripe < 0
            ) AS both_sides
            GROUP BY hours, first_hour, merchant_id, status, payment_type, provider_type
            HAVING SUM(n) <> 0
        ) AS wrong";
}

/// A number of hours with the charges that were created in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    hours: i64,
    first_hour: i64,
    /// Number of charges, never 0.
    pub n: i64,
}

/// An hour of a list, with its counts.
#[derive(Clone, Copy, Debug)]
pub struct Hour {
    /// Its start.
    pub from: Timestamp,
    /// Number of the list's charges created in it.
    pub n: i64,
    /// Number of the list's charges before it.
    pub preceding: i64,
}

/// A span with the number of the list's charges before it.
#[derive(Clone, Copy, Debug)]
struct Placed {
    span: Span,
    preceding: i64,
}

/// The charges that are counted.
#[derive(Clone, Copy, Debug)]
pub struct Count<'a> {
    /// The store.
    pub store: &'a Store,
    /// Whose charges.
    pub client_id: ClientId,
    /// Which of them.
    pub filter: &'a CounterFilter,
}

impl Count<'_> {
    /// The charges created in these whole hours, in few spans, oldest first. All are counted at the same moment.
    pub async fn spans(&self, hours: Range<Timestamp>) -> Result<Vec<Span>, StoreError> {
        self.of_runs(&cover(hours.start.hour(), hours.end.hour())).await
    }

    /// The hours that hold the charges `wanted`, counted from 0 in the direction of a list whose charges `spans` has
    /// counted.
    pub async fn hours(
        &self,
        spans: Vec<Span>,
        direction: Direction,
        wanted: Range<i64>,
    ) -> Result<Vec<Hour>, StoreError> {
        let mut found = place(spans, direction, 0, &wanted);
        loop {
            let long: Vec<Run> = found.iter().filter_map(|placed| placed.span.parts()).collect();
            if long.is_empty() {
                break;
            }
            let parts = self.of_runs(&long).await?;
            found =
                found.into_iter().flat_map(|placed| look_into(placed, &parts, direction, &wanted)).collect();
        }
        let hour = |Placed { span, preceding }: Placed| Hour {
            from: Timestamp::of_hour(span.first_hour),
            n: span.n,
            preceding,
        };
        Ok(found.into_iter().map(hour).collect())
    }

    /// The counts of runs that do not overlap, oldest first, without those of 0.
    async fn of_runs(&self, runs: &[Run]) -> Result<Vec<Span>, StoreError> {
        let args = args! {
            client_id: self.client_id,
            spans: listed(runs),
            from_hour: runs.iter().map(|run| run.from_hour).min(),
            to_hour: runs.iter().map(|run| run.to_hour).max(),
        };
        let mut counts: BTreeMap<i64, Span> = BTreeMap::new();
        for row in self.store.rows(&COUNT_BY_SPANS, self.filter.narrow(args)).await? {
            let (hours, hour, n) = (row.get("hours")?, row.get("first_hour")?, row.get::<i64>("n")?);
            let span = match hours {
                UNFOLDED => runs.iter().find_map(|run| Span::of(*run, hour)),
                hours => Some(Span { hours, first_hour: hour, n: 0 }),
            };
            if let Some(span) = span {
                counts.entry(span.first_hour).or_insert(span).n += n;
            }
        }
        Ok(counts.into_values().filter(|span| span.n != 0).collect())
    }
}

/// How many sums of a client's spans differ from their hours. What is not folded yet is in neither.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn wrong_spans(store: &Store, client_id: ClientId) -> Result<usize, StoreError> {
    let lengths = LENGTHS.map(|hours| Run { hours, from_hour: 0, to_hour: 0 });
    let row = store.row(&WRONG_SPANS, args! { client_id, spans: listed(&lengths) }).await?;
    let wrong: i64 = row.map_or(Ok(0), |row| row.get("n"))?;
    Ok(usize::try_from(wrong).unwrap_or(usize::MAX))
}

impl Span {
    /// The span of a run that contains an hour, without its count.
    fn of(run: Run, hour: i64) -> Option<Self> {
        let hours = run.hours;
        run.contains(hour).then(|| Self { hours, first_hour: first_hour(hour, hours), n: 0 })
    }

    /// The spans of the next shorter length that it consists of; an hour has none.
    fn parts(self) -> Option<Run> {
        let Self { hours, first_hour, n: _ } = self;
        let run = Run { hours: hours / PARTS, from_hour: first_hour, to_hour: first_hour + hours };
        (hours > 1).then_some(run)
    }

    fn contains(self, other: Self) -> bool {
        (self.first_hour..self.first_hour + self.hours).contains(&other.first_hour)
    }
}

/// The spans that hold a part of what is wanted, in the direction of the list.
fn place(mut spans: Vec<Span>, direction: Direction, preceding: i64, wanted: &Range<i64>) -> Vec<Placed> {
    match direction {
        Direction::Ascending => {}
        Direction::Descending => spans.reverse(),
    }
    let mut next = preceding;
    let placed = spans.into_iter().map(|span| {
        let preceding = next;
        next += span.n;
        Placed { span, preceding }
    });
    placed
        .filter(|Placed { span, preceding }| *preceding < wanted.end && preceding + span.n > wanted.start)
        .collect()
}

/// The parts of a span that hold what is wanted; an hour has no parts and stays.
fn look_into(placed: Placed, parts: &[Span], direction: Direction, wanted: &Range<i64>) -> Vec<Placed> {
    if placed.span.parts().is_none() {
        return vec![placed];
    }
    let parts = parts.iter().copied().filter(|part| placed.span.contains(*part)).collect();
    place(parts, direction, placed.preceding, wanted)
}
