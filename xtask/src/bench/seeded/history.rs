//! Counters of the years before the charges of a database, without charges: what an old account leaves behind that a total
//! reads. Written like any counters, then folded in pages as the job does it.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use regente_domain::id::{ClientId, MerchantId};
use regente_engine::clock::Clock;
use regente_store::{CounterDelta, CounterKey};
use serde::{Deserialize, Serialize};

use super::facts::{Facts, Kind};
use crate::Outcome;
use crate::bench::figures::number;
use crate::bench::open_loop::quantile_ms;
use crate::place::{Inside, Place};

/// What each hour has: all combinations of these, for each merchant.
const STATUSES: [&str; 4] = ["authorized", "failed", "voided", "pre_authorized"];
const PAYMENT_TYPES: [&str; 2] = ["credit", "voucher"];
const PROVIDER_TYPES: [&str; 2] = ["SANDBOX", "BARTE"];
/// The job that folds counters runs every ten minutes.
const FOLDED_AGAIN_AFTER: Duration = Duration::from_secs(20 * 60);
/// Hours whose counters are written at once.
const HOURS_AT_ONCE: usize = 48;
/// Counters that are folded at once, as many as the job takes.
const PAGE: i64 = 100;
/// How often progress is printed.
const TOLD_EVERY: Duration = Duration::from_secs(5);
/// The longest time of a page that is resolved.
const PAGE_MICROS_MAX: u64 = 60_000_000;

/// What it took to fold the history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::bench) struct Folding {
    /// Counters of a page.
    pub(in crate::bench) page: i64,
    /// Counters folded in a second, one page after the other without a pause.
    pub(in crate::bench) rows_per_second: f64,
    /// Milliseconds of half of the pages.
    pub(in crate::bench) p50_ms: f64,
    /// Milliseconds of 99 of 100 pages.
    pub(in crate::bench) p99_ms: f64,
}

/// The words of each counter of an hour, for a merchant.
fn words() -> impl Iterator<Item = [&'static str; 3]> {
    STATUSES.into_iter().flat_map(|status| {
        PAYMENT_TYPES.into_iter().flat_map(move |payment_type| {
            PROVIDER_TYPES.into_iter().map(move |provider_type| [status, payment_type, provider_type])
        })
    })
}

/// The number in the counter of an hour that stands at `place` among those of the hour.
const fn charges(hour: i64, place: usize) -> u64 {
    (hour.unsigned_abs() + place as u64) % 7 + 1
}

/// Number of charges of the history that match.
pub(super) fn count(facts: &Facts, fits: impl Fn(&Kind) -> bool) -> u64 {
    let kinds = facts.merchants.iter().flat_map(|merchant| words().map(move |words| (merchant, words)));
    let mut sum = 0;
    for (place, (merchant, words)) in kinds.enumerate() {
        let [status, payment_type, provider_type] = words.map(str::to_owned);
        let mut kind = Kind { hour: 0, merchant: merchant.clone(), status, payment_type, provider_type };
        for hour in facts.first_hour - facts.history_hours..facts.first_hour {
            kind.hour = hour;
            if fits(&kind) {
                sum += charges(hour, place);
            }
        }
    }
    sum
}

/// Writes the counters of `facts.history_hours` and folds them; `None` without a history.
pub(super) async fn make(place: &Place, facts: &Facts) -> Outcome<Option<Folding>> {
    let clock = Clock::manual(Clock::system().deployment());
    let inside = place.open(clock.clone()).await?;
    let client_id: ClientId = facts.account.client_id.parse().map_err(|_| "no id of an account")?;
    let merchants: Vec<MerchantId> = facts.merchants.iter().flat_map(|id| id.parse()).collect();
    let hours: Vec<i64> = (facts.first_hour - facts.history_hours..facts.first_hour).collect();
    let in_hour = merchants.len() * words().count();
    let mut progress = Progress::of("counters written", hours.len() * in_hour);
    for some in hours.chunks(HOURS_AT_ONCE) {
        let deltas: Vec<CounterDelta> =
            some.iter().flat_map(|hour| of_hour(client_id, &merchants, *hour)).collect();
        inside.put_counters(client_id, deltas).await?;
        progress.add(some.len() * in_hour);
    }
    let folding = match hours.as_slice() {
        [] => None,
        [..] => Some(fold(&inside, client_id, Progress::of("counters folded", hours.len() * in_hour)).await?),
    };
    // The job has run while the charges were made; by then it is due again.
    clock.advance(FOLDED_AGAIN_AFTER);
    inside.work_off(&clock).await?;
    inside.close().await;
    Ok(folding)
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn fold(inside: &Inside, client_id: ClientId, mut progress: Progress) -> Outcome<Folding> {
    let mut pages = Histogram::<u64>::new_with_bounds(1, PAGE_MICROS_MAX, 3)?;
    loop {
        let begun = Instant::now();
        let rows = inside.fold_page(client_id, PAGE).await?;
        if rows == 0 {
            break;
        }
        pages.saturating_record(u64::try_from(begun.elapsed().as_micros())?);
        progress.add(rows);
    }
    Ok(Folding {
        page: PAGE,
        rows_per_second: progress.rate(),
        p50_ms: quantile_ms(&pages, 0.5),
        p99_ms: quantile_ms(&pages, 0.99),
    })
}

/// Tells every few seconds how much of something is done.
struct Progress {
    what: &'static str,
    done: usize,
    all: usize,
    begun: Instant,
    told: Instant,
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
impl Progress {
    fn of(what: &'static str, all: usize) -> Self {
        let now = Instant::now();
        Self { what, done: 0, all, begun: now, told: now }
    }

    fn add(&mut self, more: usize) {
        self.done += more;
        if self.told.elapsed() >= TOLD_EVERY || self.done == self.all {
            self.told = Instant::now();
            println!(
                "seeding: {} of {} {}, {} a second",
                number(self.done as f64, 0),
                number(self.all as f64, 0),
                self.what,
                number(self.rate(), 0)
            );
        }
    }

    fn rate(&self) -> f64 {
        self.done as f64 / self.begun.elapsed().as_secs_f64()
    }
}

fn of_hour(
    client_id: ClientId,
    merchants: &[MerchantId],
    hour: i64,
) -> impl Iterator<Item = CounterDelta> + use<'_> {
    let kinds = merchants.iter().flat_map(|merchant| words().map(move |words| (*merchant, words)));
    kinds.enumerate().map(move |(place, (merchant_id, [status, payment_type, provider_type]))| CounterDelta {
        key: CounterKey { client_id, hour, merchant_id, status, payment_type, provider_type },
        change: charges(hour, place).cast_signed(),
    })
}
