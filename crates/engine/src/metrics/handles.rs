//! Metric handles. A handle is created at first use and kept, so that counting allocates nothing.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use regente_domain::charge::reversal::ReversalKind;
use regente_domain::provider_type::ProviderType;
use regente_domain::webhook::Failure;

use super::table::{self, Metric};
use super::{CallKind, CallOutcome, IdempotencyConflict, Limit, NotificationOutcome, ReversalOutcome};

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

/// Every handle.
#[expect(missing_docs, reason = "table.rs describes each metric")]
pub struct Handles {
    recorder: Box<dyn Recorder + Send + Sync>,
    http_requests: Family<Box<str>, Arc<OfRoute>>,
    provider_calls: Family<(ProviderType, CallKind, CallOutcome), Durations>,
    circuits_open: Family<ProviderType, Gauge>,
    provider_notifications: Family<(ProviderType, NotificationOutcome), Counter>,
    reversals: Family<(ProviderType, ReversalKind, ReversalOutcome), Counter>,
    idempotency_conflicts: Family<IdempotencyConflict, Counter>,
    rate_limited: Family<Limit, Counter>,
    blocks: Family<Limit, Counter>,
    delivery_attempts: Family<Option<Failure>, Durations>,
    pub connections_open: Gauge,
    pub connections_refused: Counter,
    pub idempotency_replays: Counter,
    pub races_lost: Counter,
    pub learned_shares_moved: Counter,
    pub provider_calls_in_flight: Gauge,
    pub unknown_outcomes: Gauge,
    pub unknown_outcomes_oldest_age: Gauge,
    pub unknown_outcomes_given_up: Gauge,
    pub orphans_given_up: Counter,
    pub follow_ups_contradicted: Counter,
    pub payments_revoked: Counter,
    pub provider_reports_given_up: Counter,
    pub payments_of_another_sum: Counter,
    pub underpaid: Counter,
    pub jobs_due: Gauge,
    pub jobs_lag: Gauge,
    pub jobs_dead: Gauge,
    pub deliveries_due: Gauge,
    pub deliveries_lag: Gauge,
    pub deliveries_lost: Counter,
    pub webhooks_disabled: Counter,
    pub purchases_given_up: Counter,
    pub admissions_in_use: Gauge,
    pub admissions_max: Gauge,
    pub admissions_refused: Counter,
    pub store_commits: Counter,
    pub store_batches: Counter,
    pub database_up: Gauge,
    pub database_workers_lost: Gauge,
    pub database_size: Gauge,
    pub wal_size: Gauge,
    pub process_resident_memory: Gauge,
    pub process_open_fds: Gauge,
    pub process_max_fds: Gauge,
}

/// The requests of one route, by method and status.
type OfRoute = Family<(&'static str, u16), Durations>;

/// A histogram of durations.
#[derive(Clone)]
pub(super) struct Durations(Histogram);

impl Durations {
    pub(super) fn record(&self, duration: Duration) {
        self.0.record(duration.as_secs_f64());
    }
}

impl Handles {
    pub(super) fn new(recorder: Box<dyn Recorder + Send + Sync>) -> Self {
        let gauge = |metric| gauge(&*recorder, metric, Vec::new());
        let counter = |metric| counter(&*recorder, metric, Vec::new());
        let handles = Self {
            http_requests: Family::default(),
            provider_calls: Family::default(),
            circuits_open: Family::default(),
            provider_notifications: Family::default(),
            reversals: Family::default(),
            idempotency_conflicts: Family::default(),
            rate_limited: Family::default(),
            blocks: Family::default(),
            delivery_attempts: Family::default(),
            connections_open: gauge(table::CONNECTIONS_OPEN),
            connections_refused: counter(table::CONNECTIONS_REFUSED),
            idempotency_replays: counter(table::IDEMPOTENCY_REPLAYS),
            races_lost: counter(table::RACES_LOST),
            learned_shares_moved: counter(table::LEARNED_SHARES_MOVED),
            provider_calls_in_flight: gauge(table::PROVIDER_CALLS_IN_FLIGHT),
            unknown_outcomes: gauge(table::UNKNOWN_OUTCOMES),
            unknown_outcomes_oldest_age: gauge(table::UNKNOWN_OUTCOMES_OLDEST_AGE),
            unknown_outcomes_given_up: gauge(table::UNKNOWN_OUTCOMES_GIVEN_UP),
            orphans_given_up: counter(table::ORPHANS_GIVEN_UP),
            follow_ups_contradicted: counter(table::FOLLOW_UPS_CONTRADICTED),
            payments_revoked: counter(table::PAYMENTS_REVOKED),
            provider_reports_given_up: counter(table::PROVIDER_REPORTS_GIVEN_UP),
            payments_of_another_sum: counter(table::PAYMENTS_OF_ANOTHER_SUM),
            underpaid: counter(table::UNDERPAID),
            jobs_due: gauge(table::JOBS_DUE),
            jobs_lag: gauge(table::JOBS_LAG),
            jobs_dead: gauge(table::JOBS_DEAD),
            deliveries_due: gauge(table::DELIVERIES_DUE),
            deliveries_lag: gauge(table::DELIVERIES_LAG),
            deliveries_lost: counter(table::DELIVERIES_LOST),
            webhooks_disabled: counter(table::WEBHOOKS_DISABLED),
            purchases_given_up: counter(table::PURCHASES_GIVEN_UP),
            admissions_in_use: gauge(table::ADMISSIONS_IN_USE),
            admissions_max: gauge(table::ADMISSIONS_MAX),
            admissions_refused: counter(table::ADMISSIONS_REFUSED),
            store_commits: counter(table::STORE_COMMITS),
            store_batches: counter(table::STORE_BATCHES),
            database_up: gauge(table::DATABASE_UP),
            database_workers_lost: gauge(table::DATABASE_WORKERS_LOST),
            database_size: gauge(table::DATABASE_SIZE),
            wal_size: gauge(table::WAL_SIZE),
            process_resident_memory: gauge(table::PROCESS_RESIDENT_MEMORY),
            process_open_fds: gauge(table::PROCESS_OPEN_FDS),
            process_max_fds: gauge(table::PROCESS_MAX_FDS),
            recorder,
        };
        // Create handles with known labels at the start: a rate needs a zero before the first event.
        for conflict in IdempotencyConflict::ALL {
            handles.idempotency_conflict(conflict).increment(0);
        }
        for limit in Limit::ALL {
            handles.rate_limited(limit).increment(0);
            handles.blocks(limit).increment(0);
        }
        handles.circuits_open(ProviderType::Sandbox).set(0.0);
        for (_, kind) in ReversalKind::WORDS {
            handles.reversal(ProviderType::Sandbox, *kind, ReversalOutcome::Applied).increment(0);
        }
        for outcome in NotificationOutcome::ALL {
            handles.provider_notification(ProviderType::Sandbox, outcome).increment(0);
        }
        handles
    }

    pub(super) fn http_request(&self, method: &'static str, route: &str, status: u16) -> Durations {
        let of_route = self.http_requests.get(route, || Box::from(route), Arc::default);
        of_route.get(
            &(method, status),
            || (method, status),
            || {
                let labels = labels(
                    &table::HTTP_REQUEST_DURATION,
                    [method.into(), route.to_owned(), status.to_string()],
                );
                histogram(&*self.recorder, table::HTTP_REQUEST_DURATION, labels)
            },
        )
    }

    pub(super) fn provider_call(
        &self,
        provider_type: ProviderType,
        asked: CallKind,
        outcome: CallOutcome,
    ) -> Durations {
        let key = (provider_type, asked, outcome);
        self.provider_calls.get(
            &key,
            || key,
            || {
                let words = [provider_type.code(), asked.word(), outcome.word()];
                let labels = labels(&table::PROVIDER_CALL_DURATION, words.map(str::to_owned));
                histogram(&*self.recorder, table::PROVIDER_CALL_DURATION, labels)
            },
        )
    }

    pub(super) fn circuits_open(&self, provider_type: ProviderType) -> Gauge {
        self.circuits_open.get(
            &provider_type,
            || provider_type,
            || {
                let labels = labels(&table::CIRCUITS_OPEN, [provider_type.code().to_owned()]);
                gauge(&*self.recorder, table::CIRCUITS_OPEN, labels)
            },
        )
    }

    pub(super) fn reversal(
        &self,
        provider_type: ProviderType,
        kind: ReversalKind,
        outcome: ReversalOutcome,
    ) -> Counter {
        let key = (provider_type, kind, outcome);
        self.reversals.get(
            &key,
            || key,
            || {
                let words = [provider_type.code(), kind.word(), outcome.word()].map(str::to_owned);
                counter(&*self.recorder, table::REVERSALS, labels(&table::REVERSALS, words))
            },
        )
    }

    pub(super) fn provider_notification(
        &self,
        provider_type: ProviderType,
        outcome: NotificationOutcome,
    ) -> Counter {
        let key = (provider_type, outcome);
        self.provider_notifications.get(
            &key,
            || key,
            || {
                let words = [provider_type.code().to_owned(), outcome.word().to_owned()];
                let labels = labels(&table::PROVIDER_NOTIFICATIONS, words);
                counter(&*self.recorder, table::PROVIDER_NOTIFICATIONS, labels)
            },
        )
    }

    pub(super) fn idempotency_conflict(&self, conflict: IdempotencyConflict) -> Counter {
        self.idempotency_conflicts.get(
            &conflict,
            || conflict,
            || {
                let labels = labels(&table::IDEMPOTENCY_CONFLICTS, [conflict.word().to_owned()]);
                counter(&*self.recorder, table::IDEMPOTENCY_CONFLICTS, labels)
            },
        )
    }

    pub(super) fn rate_limited(&self, limit: Limit) -> Counter {
        self.by_limit(&self.rate_limited, table::RATE_LIMITED, limit)
    }

    pub(super) fn blocks(&self, limit: Limit) -> Counter {
        self.by_limit(&self.blocks, table::BLOCKS, limit)
    }

    fn by_limit(&self, family: &Family<Limit, Counter>, metric: Metric, limit: Limit) -> Counter {
        let make = || counter(&*self.recorder, metric, labels(&metric, [limit.word().to_owned()]));
        family.get(&limit, || limit, make)
    }

    pub(super) fn delivery_attempt(&self, failure: Option<Failure>) -> Durations {
        self.delivery_attempts.get(
            &failure,
            || failure,
            || {
                let outcome = failure.map_or("delivered", Failure::word);
                let labels = labels(&table::DELIVERY_ATTEMPT_DURATION, [outcome.to_owned()]);
                histogram(&*self.recorder, table::DELIVERY_ATTEMPT_DURATION, labels)
            },
        )
    }

    /// Sets the version and the kind of database.
    pub fn build_info(&self, version: &str, database: &str) {
        let labels = labels(&table::BUILD_INFO, [version.to_owned(), database.to_owned()]);
        gauge(&*self.recorder, table::BUILD_INFO, labels).set(1.0);
    }
}

fn labels<const N: usize>(metric: &Metric, values: [String; N]) -> Vec<Label> {
    metric.labels.iter().zip(values).map(|(name, value)| Label::new(*name, value)).collect()
}

fn histogram(recorder: &dyn Recorder, metric: Metric, labels: Vec<Label>) -> Durations {
    Durations(recorder.register_histogram(&Key::from_parts(metric.name, labels), &METADATA))
}

fn gauge(recorder: &dyn Recorder, metric: Metric, labels: Vec<Label>) -> Gauge {
    recorder.register_gauge(&Key::from_parts(metric.name, labels), &METADATA)
}

fn counter(recorder: &dyn Recorder, metric: Metric, labels: Vec<Label>) -> Counter {
    recorder.register_counter(&Key::from_parts(metric.name, labels), &METADATA)
}

/// The handles of one metric, by label values.
struct Family<K, H>(RwLock<HashMap<K, H>>);

impl<K, H> Default for Family<K, H> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, H: Clone> Family<K, H> {
    fn get<Q>(&self, key: &Q, owned: impl FnOnce() -> K, make: impl FnOnce() -> H) -> H
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let made = self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        made.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(owned()).or_insert_with(make).clone()
        })
    }
}
