//! What the rounds have shown, as people read it.

#![allow(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "figures for people, not money")]

use std::time::Duration;

use super::{HANGING_EACH, Options};
use crate::bench::median;

/// What one round has shown.
#[derive(Default)]
pub(super) struct Round {
    pub(super) burst_rate: f64,
    pub(super) steady_rate: f64,
    pub(super) lag_p50_ms: f64,
    pub(super) lag_p99_ms: f64,
    pub(super) resident_peak_mib: f64,
    pub(super) nodes_cpu: f64,
    pub(super) database_cpu: f64,
    pub(super) machine_cpu: f64,
    pub(super) other_share: f64,
}

/// What the rounds of a subject have shown.
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) rounds: Vec<Round>,
    pub(super) duplicates: u64,
    pub(super) hung: u64,
    pub(super) verified: u64,
    pub(super) not_verified: u64,
}

impl Round {
    /// For whoever waits for the rounds to come.
    pub(super) fn line(&self) -> String {
        format!(
            "{:.0} deliveries/s in the burst; {:.0}/s steady, delay p50 {:.0} ms, p99 {:.0} ms; at most {:.0} MiB; \
             cores: nodes {:.2}, database {:.2}, machine {:.2}; second node {:.0} %",
            self.burst_rate,
            self.steady_rate,
            self.lag_p50_ms,
            self.lag_p99_ms,
            self.resident_peak_mib,
            self.nodes_cpu,
            self.database_cpu,
            self.machine_cpu,
            self.other_share * 100.0
        )
    }
}

/// For a figure.
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// How often in a second.
pub(super) fn a_second(number: u64, time: Duration) -> f64 {
    float(number) / time.as_secs_f64()
}

/// Of sorted numbers.
pub(super) fn percentile(sorted: &[u64], percent: usize) -> f64 {
    let at = sorted.len().saturating_sub(1) * percent / 100;
    float(sorted.get(at).copied().unwrap_or(0))
}

pub(super) fn print_table(subjects: &[Measured], options: &Options) {
    println!();
    println!(
        "medians of {} rounds; {} accounts with {} webhooks each, one in {HANGING_EACH} hangs; steady: {} deliveries/s \
         offered for {} s",
        options.rounds, options.accounts, options.webhooks, options.rate, options.seconds
    );
    println!(
        "{:<20} {:>9} {:>9} {:>7} {:>7} {:>12} {:>10} {:>8} {:>10} {:>12} {:>6} {:>11} {:>6}",
        "",
        "burst/s",
        "steady/s",
        "p50 ms",
        "p99 ms",
        "peak MiB",
        "node cores",
        "database",
        "all cores",
        "second node",
        "twice",
        "signed",
        "hung"
    );
    for subject in subjects {
        let of = |figure: fn(&Round) -> f64| median(&subject.rounds.iter().map(figure).collect::<Vec<_>>());
        let peaks: Vec<String> =
            subject.rounds.iter().map(|round| format!("{:.0}", round.resident_peak_mib)).collect();
        println!(
            "{:<20} {:>9.0} {:>9.0} {:>7.0} {:>7.0} {:>12} {:>10.2} {:>8.2} {:>10.2} {:>11.0}% {:>6} {:>11} {:>6}",
            subject.name,
            of(|round| round.burst_rate),
            of(|round| round.steady_rate),
            of(|round| round.lag_p50_ms),
            of(|round| round.lag_p99_ms),
            peaks.join("/"),
            of(|round| round.nodes_cpu),
            of(|round| round.database_cpu),
            of(|round| round.machine_cpu),
            of(|round| round.other_share) * 100.0,
            subject.duplicates,
            format!("{}/{}", subject.verified, subject.verified + subject.not_verified),
            subject.hung,
        );
    }
}
