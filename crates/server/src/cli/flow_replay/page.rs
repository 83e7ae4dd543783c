//! The result of a replay as a page: one file that needs nothing else, for browsers and printers.

#![allow(clippy::float_arithmetic, reason = "lengths of bars, never money that moves")]

use askama::Template;
use regente_domain::flow_replay::{Approvals, ProviderLine, Use};

use super::Replayed;
use super::numbers::{count, fees, money, part_of, sentences};

/// The length of the longest bar.
const LENGTH: f64 = 600.0;

#[derive(Template)]
#[template(path = "flow_replay.html")]
struct Page<'a> {
    replayed: &'a Replayed,
    sentences: Vec<String>,
    approvals: [ApprovalBar; 2],
    providers: Vec<ProviderBars>,
    moves: Vec<(String, String, u64)>,
    has_fees: bool,
}

/// How many charges are approved, with the interval and with what cannot be told.
struct ApprovalBar {
    label: &'static str,
    number: String,
    part: String,
    length: f64,
    /// From where to where, of an estimate.
    interval: Option<(f64, f64)>,
    /// As far as the bar would reach if all were approved of which nobody can tell.
    reach: f64,
}

struct ProviderBars {
    name: String,
    currency: String,
    rows: [UseRow; 2],
}

/// What a provider is used for, recorded or replayed.
struct UseRow {
    label: &'static str,
    tries: String,
    approvals: String,
    volume: String,
    fees: String,
    /// Of the tries, and of the approvals among them.
    lengths: (f64, f64),
}

/// The page of a replay.
///
/// # Errors
/// None that a replay could cause.
pub(super) fn page(replayed: &Replayed) -> Result<String, askama::Error> {
    let prediction = &replayed.prediction;
    let Approvals { recorded, expected, low, high, untold } = prediction.approvals;
    let charges = prediction.charges;
    let of_all = |number: f64| number / (charges.max(1) as f64) * LENGTH;
    let bar = |label, number: f64, interval: Option<(f64, f64)>, reach| ApprovalBar {
        label,
        number: count(number),
        part: part_of(number, charges.max(1)),
        length: of_all(number),
        interval: interval.map(|(from, to)| (of_all(from), of_all(to))),
        reach: of_all(reach),
    };
    let recorded = recorded as f64;
    let most = prediction
        .providers
        .iter()
        .flat_map(|line| [line.recorded.tries, line.replayed.tries])
        .fold(1.0, f64::max);
    let row = |label, currency: &str, used: &Use| UseRow {
        label,
        tries: count(used.tries),
        approvals: count(used.approvals),
        volume: money(currency, used.volume),
        fees: fees(currency, used.fees),
        lengths: (used.tries / most * LENGTH, used.approvals / most * LENGTH),
    };
    let bars = |line: &ProviderLine| ProviderBars {
        name: replayed.name_of(Some(line.provider_id)),
        currency: line.currency.clone(),
        rows: [
            row("recorded", &line.currency, &line.recorded),
            row("replayed", &line.currency, &line.replayed),
        ],
    };
    let moves = prediction.moves.iter();
    Page {
        replayed,
        sentences: sentences(replayed),
        approvals: [
            bar("recorded", recorded, None, recorded),
            bar("replayed", expected, Some((low, high)), expected + untold),
        ],
        providers: prediction.providers.iter().map(bars).collect(),
        moves: moves.map(|(from, to, n)| (replayed.name_of(*from), replayed.name_of(*to), *n)).collect(),
        has_fees: prediction.providers.iter().any(|line| line.recorded.fees.is_some()),
    }
    .render()
}
