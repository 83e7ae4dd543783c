//! The bounds of numbers among the settings. The upper ones are far beyond what a deployment needs: a value past them is
//! a mistake, such as a wrong unit, and would take up the machine or keep a secret for too long.

use std::ops::RangeInclusive;

use regente_domain::circuit::CALLS_SEEN;
use regente_engine::apple_pay::TOKEN_AGE_MAX;

use super::Config;

/// The longest time of a call, a charge, a connection or a pause of a provider, in milliseconds: ten minutes.
const PATIENCE_MS: RangeInclusive<u64> = 1..=10 * 60 * 1000;
/// The longest drain of a process, in milliseconds: one hour.
const DRAIN_MS_MAX: u64 = 60 * 60 * 1000;
/// The grace, in milliseconds, up to one day. The caller of a provider writes the outcome within it, before the
/// reconcile job probes.
const GRACE_MS: RangeInclusive<u64> = 100..=24 * 60 * 60 * 1000;
/// For so long a revoked key works on other nodes: one minute at most.
const CACHE_MS: RangeInclusive<u64> = 0..=60_000;
/// A token holds a security code, which must not rest for long (PCI DSS 4.0.1, requirement 3.3.1): one day at most.
const CARD_TOKEN_LIFE_SECONDS: RangeInclusive<u64> = 1..=24 * 60 * 60;
/// Up to one day, in seconds: rates and blocks of limits.
const LIMIT_SECONDS: RangeInclusive<u64> = 1..=24 * 60 * 60;
/// What was signed is refused a second time for longer than that.
const TOKEN_AGE_SECONDS: RangeInclusive<u64> = 1..=TOKEN_AGE_MAX.as_secs();
/// Up to ten years.
const CLIENT_TOKEN_LIFE_SECONDS: RangeInclusive<u64> = 1..=10 * 365 * 24 * 60 * 60;
/// Up to one year.
const IDEMPOTENCY_RETENTION_SECONDS: RangeInclusive<u64> = 1..=365 * 24 * 60 * 60;
/// Up to a hundred years.
const RETENTION_DAYS: RangeInclusive<u64> = 1..=36_500;
/// Connections, changes under way.
const PLACES: RangeInclusive<u64> = 1..=1_000_000;
/// Connections or threads that read; more would only wait for each other.
const READERS: RangeInclusive<u64> = 1..=1_000;
/// A smaller limit would refuse ordinary requests. Each body is held in memory as a whole.
const BODY_BYTES: RangeInclusive<u64> = 16 * 1024..=64 * 1024 * 1024;
/// Up to 64 GiB; reading back a longer log would take minutes.
const WAL_BYTES: RangeInclusive<u64> = 1..=64 * 1024 * 1024 * 1024;
/// A longer pause would delay every change that arrives with others.
const COMMITS_APART_US: RangeInclusive<u64> = 0..=100_000;
/// Each writing connection of PostgreSQL needs a stripe of the counters.
const POSTGRES_WRITERS: RangeInclusive<u64> = 1..=16;
/// Numbers of nodes whose stripes fit 64 bits.
const POSTGRES_NODES: RangeInclusive<u64> = 0..=1 << 40;
/// Deliveries under way.
const DELIVERIES: RangeInclusive<u64> = 1..=65_536;
/// Up to a million reais, in cents.
const MIN_PAYMENT_AMOUNT: RangeInclusive<u64> = 1..=100_000_000;

/// The settings that are out of their bounds, each with the rule.
pub(super) fn broken(config: &Config) -> impl Iterator<Item = (&'static str, String)> {
    let spelled =
        [(counts(config), ""), (milliseconds(config), " milliseconds"), (seconds(config), " seconds")];
    spelled.into_iter().flat_map(|(settings, unit)| {
        let broken = settings.into_iter().filter(|(_, value, bounds)| !bounds.contains(value));
        broken.map(move |(key, _, bounds)| {
            (key, format!("must be {} to {}{unit}", bounds.start(), bounds.end()))
        })
    })
}

/// A setting, its value and its bounds.
type Bounded = (&'static str, u64, RangeInclusive<u64>);

fn counts(config: &Config) -> Vec<Bounded> {
    let Config { server, database, purchases, routing, webhooks, smtp, .. } = config;
    vec![
        ("server.connections_max", server.connections_max as u64, PLACES),
        ("server.body_bytes_max", server.body_bytes_max as u64, BODY_BYTES),
        ("database.admitted_max", database.admitted_max as u64, PLACES),
        ("database.admitted_account_percent", database.admitted_account_percent as u64, 1..=100),
        ("database.sqlite_readers", database.sqlite_readers as u64, READERS),
        ("database.sqlite_wal_bytes_max", database.sqlite_wal_bytes_max, WAL_BYTES),
        ("database.sqlite_commits_apart_us", database.sqlite_commits_apart_us, COMMITS_APART_US),
        ("database.postgres_pool_size", database.postgres_pool_size as u64, READERS),
        ("database.postgres_writers", database.postgres_writers as u64, POSTGRES_WRITERS),
        ("database.postgres_node_stripe", database.postgres_node_stripe, POSTGRES_NODES),
        ("purchases.min_payment_amount", purchases.min_payment_amount, MIN_PAYMENT_AMOUNT),
        ("routing.circuit_failures", u64::from(routing.circuit_failures), 0..=u64::from(CALLS_SEEN)),
        ("routing.rates_retention_days", u64::from(routing.rates_retention_days), RETENTION_DAYS),
        ("webhooks.concurrent_max", webhooks.concurrent_max as u64, DELIVERIES),
        ("webhooks.concurrent_per_endpoint_max", webhooks.concurrent_per_endpoint_max as u64, DELIVERIES),
        ("webhooks.delivery_retention_days", u64::from(webhooks.delivery_retention_days), RETENTION_DAYS),
        ("webhooks.event_retention_days", u64::from(webhooks.event_retention_days), RETENTION_DAYS),
        ("smtp.port", u64::from(smtp.port), 1..=u64::from(u16::MAX)),
    ]
}

fn milliseconds(config: &Config) -> Vec<Bounded> {
    let Config { server, database, sandbox, limits, charges, routing, webhooks, .. } = config;
    vec![
        ("server.header_timeout_ms", server.header_timeout_ms, PATIENCE_MS),
        ("server.drain_timeout_ms", server.drain_timeout_ms, 1..=DRAIN_MS_MAX),
        ("server.drain_notice_ms", server.drain_notice_ms, 0..=DRAIN_MS_MAX),
        ("database.postgres_pool_wait_ms", database.postgres_pool_wait_ms, PATIENCE_MS),
        ("database.postgres_read_timeout_ms", database.postgres_read_timeout_ms, PATIENCE_MS),
        ("database.postgres_commit_timeout_ms", database.postgres_commit_timeout_ms, PATIENCE_MS),
        ("database.postgres_connect_timeout_ms", database.postgres_connect_timeout_ms, PATIENCE_MS),
        ("sandbox.deadline_ms", sandbox.deadline_ms, PATIENCE_MS),
        ("own_provider.deadline_ms", config.own_provider.deadline_ms, PATIENCE_MS),
        ("limits.cache_ms", limits.cache_ms, CACHE_MS),
        ("charges.budget_ms", charges.budget_ms, PATIENCE_MS),
        ("charges.reconcile_grace_ms", charges.reconcile_grace_ms, GRACE_MS),
        ("routing.circuit_open_ms", routing.circuit_open_ms, PATIENCE_MS),
        ("webhooks.first_answer_ms", webhooks.first_answer_ms, PATIENCE_MS),
        ("webhooks.retry_answer_ms", webhooks.retry_answer_ms, PATIENCE_MS),
    ]
}

fn seconds(config: &Config) -> Vec<Bounded> {
    let Config { limits, card_testing, apple_pay, .. } = config;
    vec![
        ("apple_pay.token_age_seconds_max", apple_pay.token_age_seconds_max, TOKEN_AGE_SECONDS),
        ("card_testing.refusals_within_seconds", card_testing.refusals_within_seconds, LIMIT_SECONDS),
        ("card_testing.block_seconds", card_testing.block_seconds, LIMIT_SECONDS),
        ("limits.card_token_life_seconds", limits.card_token_life_seconds, CARD_TOKEN_LIFE_SECONDS),
        (
            "limits.client_token_life_seconds_max",
            limits.client_token_life_seconds_max,
            CLIENT_TOKEN_LIFE_SECONDS,
        ),
        (
            "limits.idempotency_retention_seconds",
            limits.idempotency_retention_seconds,
            IDEMPOTENCY_RETENTION_SECONDS,
        ),
    ]
}
