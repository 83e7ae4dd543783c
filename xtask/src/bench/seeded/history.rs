//! Counters of the years before the charges of a database, without charges: what an old account leaves behind that a total
//! reads. Written like any counters, then folded by the job.

use std::time::Instant;

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
/// Hours whose counters are written at once.
const HOURS_AT_ONCE: usize = 48;

/// The charges of an hour that are counted there, for a list of merchants.
fn of_hour<T: Clone>(merchants: &[T], hour: i64) -> impl Iterator<Item = (T, [&'static str; 3], u64)> {
    let of_merchant = STATUSES.iter().flat_map(|status| {
        PAYMENT_TYPES.iter().flat_map(|payment_type| {
            PROVIDER_TYPES.iter().map(|provider_type| [*status, *payment_type, *provider_type])
        })
    });
    let of_each = merchants
        .iter()
        .cloned()
        .flat_map(move |merchant| of_merchant.clone().map(move |words| (merchant.clone(), words)));
    let first = hour.unsigned_abs();
    of_each.zip(first..).map(|((merchant, words), place)| (merchant, words, place % 7 + 1))
}

/// Number of charges of the history that match.
pub(super) fn count(facts: &Facts, fits: impl Fn(&Kind) -> bool) -> u64 {
    let hours = facts.first_hour - facts.history_hours..facts.first_hour;
    let of_each = hours.flat_map(|hour| {
        of_hour(&facts.merchants, hour).map(
            move |(merchant, [status, payment_type, provider_type], charges)| {
                let [status, payment_type, provider_type] =
                    [status, payment_type, provider_type].map(str::to_owned);
                (Kind { hour, merchant, status, payment_type, provider_type }, charges)
            },
        )
    });
    of_each.filter(|(kind, _)| fits(kind)).map(|(_, charges)| charges).sum()
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
        let deltas: Vec<CounterDelta> = some
            .iter()
            .flat_map(|hour| {
                of_hour(&merchants, *hour).map(
                    |(merchant_id, [status, payment_type, provider_type], charges)| CounterDelta {
                        key: CounterKey {
                            client_id,
                            hour: *hour,
                            merchant_id,
                            status,
                            payment_type,
                            provider_type,
                        },
                        change: i64::try_from(charges).unwrap_or(0),
                    },
                )
            })
            .collect();
        counters += deltas.len();
        inside.put_counters(client_id, deltas).await?;
    }
    let written = begun.elapsed();
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
