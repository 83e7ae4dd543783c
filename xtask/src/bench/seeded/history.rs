//! Counters of the years before the charges of a database, without charges: what an old account leaves behind that a total
//! reads. Written like any counters, then folded by the job.

use std::time::{Duration, Instant};

use regente_domain::id::{ClientId, MerchantId};
use regente_engine::clock::Clock;
use regente_store::{CounterDelta, CounterKey};

use super::facts::{Facts, Kind};
use crate::Outcome;
use crate::bench::figures::number;
use crate::place::Place;

/// What each hour has: all combinations of these, for each merchant.
const STATUSES: [&str; 4] = ["authorized", "failed", "voided", "pre_authorized"];
const PAYMENT_TYPES: [&str; 2] = ["credit", "voucher"];
const PROVIDER_TYPES: [&str; 2] = ["SANDBOX", "BARTE"];
/// The job that folds counters runs every ten minutes.
const FOLDED_AGAIN_AFTER: Duration = Duration::from_secs(20 * 60);
/// Hours whose counters are written at once.
const HOURS_AT_ONCE: usize = 48;

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

/// Writes the counters of `facts.history_hours` and folds them.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
pub(super) async fn make(place: &Place, facts: &Facts) -> Outcome {
    let clock = Clock::manual(Clock::system().deployment());
    let inside = place.open(clock.clone()).await?;
    let client_id: ClientId = facts.account.client_id.parse().map_err(|_| "no id of an account")?;
    let merchants: Vec<MerchantId> = facts.merchants.iter().flat_map(|id| id.parse()).collect();
    let hours: Vec<i64> = (facts.first_hour - facts.history_hours..facts.first_hour).collect();
    let begun = Instant::now();
    let mut counters = 0;
    for some in hours.chunks(HOURS_AT_ONCE) {
        let deltas: Vec<CounterDelta> =
            some.iter().flat_map(|hour| of_hour(client_id, &merchants, *hour)).collect();
        counters += deltas.len();
        inside.put_counters(client_id, deltas).await?;
    }
    let written = begun.elapsed();
    // The job has run while the charges were made; by then it is due again.
    clock.advance(FOLDED_AGAIN_AFTER);
    inside.work_off(&clock).await?;
    println!(
        "seeding: {} counters of {} hours written in {} s, folded in {} s",
        number(counters as f64, 0),
        number(facts.history_hours as f64, 0),
        number(written.as_secs_f64(), 1),
        number((begun.elapsed() - written).as_secs_f64(), 1)
    );
    inside.close().await;
    Ok(())
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
