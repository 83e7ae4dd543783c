//! Spans of hours. What is summed by the hour is also summed by spans of 8, 64, … hours, so that a range of hours is
//! covered by at most 14 spans of each length.

use regente_domain::time::Timestamp;

use crate::value::Json;

/// How many spans make one of the next length.
pub(crate) const PARTS: i64 = 8;
/// The lengths of spans in hours. The longest is 30 years, so that two of them hold every charge there is.
pub const LENGTHS: [i64; 6] = [8, 64, 512, 4096, 32_768, LONGEST];
const LONGEST: i64 = 262_144;
/// In place of a length: rows of an hour that no span contains yet.
pub(crate) const UNFOLDED: i64 = 0;

/// The end of the spans that contain the last hour that a version 7 id can name (48 bits of milliseconds).
pub(crate) const END_OF_TIME: Timestamp =
    Timestamp::of_hour((Timestamp::from_millis(1 << 48).hour() / LONGEST + 1) * LONGEST);

/// Oldest or newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// Spans of one length that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The length of each of them.
    pub hours: i64,
    /// Its first hour.
    pub from_hour: i64,
    /// The first hour behind it.
    pub to_hour: i64,
}

impl Run {
    /// Whether an hour is in it.
    pub(crate) fn contains(self, hour: i64) -> bool {
        (self.from_hour..self.to_hour).contains(&hour)
    }
}

/// The first hour of the span of this length that contains an hour.
pub(crate) const fn first_hour(hour: i64, hours: i64) -> i64 {
    hour - hour.rem_euclid(hours)
}

/// The longest spans that make up a range of hours, oldest first.
pub fn cover(mut from_hour: i64, mut to_hour: i64) -> Vec<Run> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut hours = 1;
    while hours < LONGEST {
        let longer = hours * PARTS;
        let (first, last) = (first_hour(from_hour + longer - 1, longer), first_hour(to_hour, longer));
        if first >= last {
            break;
        }
        early.push(Run { hours, from_hour, to_hour: first });
        late.push(Run { hours, from_hour: last, to_hour });
        (from_hour, to_hour, hours) = (first, last, longer);
    }
    early.push(Run { hours, from_hour, to_hour });
    early.extend(late.into_iter().rev());
    early.retain(|run| run.from_hour < run.to_hour);
    early
}

/// Runs as the argument of `EACH_SPAN`.
pub(crate) fn listed(runs: &[Run]) -> Json {
    let each = |run: &Run| format!("[{},{},{}]", run.hours, run.from_hour, run.to_hour);
    Json(format!("[{}]", runs.iter().map(each).collect::<Vec<_>>().join(",")))
}
