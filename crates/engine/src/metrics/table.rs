//! All metrics: name, kind, labels and description. Tests check documentation, dashboard and alerts against this table.

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name, including the unit.
    pub name: &'static str,
    /// The kind of metric.
    pub kind: Kind,
    /// The labels, each with a closed list of values.
    pub labels: &'static [&'static str],
    /// The help text.
    pub description: &'static str,
}

/// The kind of a metric.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A value that only grows.
    Counter,
    /// A current value.
    Gauge,
    /// A distribution of durations.
    Histogram {
        /// Upper bounds of the buckets, in seconds.
        buckets: &'static [f64],
    },
}

/// The buckets of the HTTP semantic conventions and two smaller ones: most requests take single milliseconds.
const HTTP_BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
/// Providers are slower than this service; calls end at their deadline.
const PROVIDER_BUCKETS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0];

macro_rules! table {
    ($($constant:ident = $kind:expr, $name:literal [$($label:literal),*] $description:literal;)*) => {
        $(pub(super) const $constant: Metric =
            Metric { name: $name, kind: $kind, labels: &[$($label),*], description: $description };)*

        /// The table.
        pub const TABLE: &[Metric] = &[$($constant),*];
    };
}

table! {
    HTTP_REQUEST_DURATION = Kind::Histogram { buckets: HTTP_BUCKETS }, "http_server_request_duration_seconds"
        ["http_request_method", "http_route", "http_response_status_code"]
        "Duration of HTTP server requests, by matched route.";
    CONNECTIONS_OPEN = Kind::Gauge, "regente_connections_open" []
        "Open connections of the API and of this page.";
    CONNECTIONS_REFUSED = Kind::Counter, "regente_connections_refused_total" []
        "Connections that were told to come back, or dropped, because too many were open.";
    RATE_LIMITED = Kind::Counter, "regente_rate_limited_total" ["limit"]
        "Requests that were refused with 429, by the limit.";
    BLOCKS = Kind::Counter, "regente_blocks_total" ["limit"]
        "Blocks that began because of too many failures: wrong keys from one address, or refused cards.";
    PROVIDER_CALL_DURATION = Kind::Histogram { buckets: PROVIDER_BUCKETS }, "regente_provider_call_duration_seconds"
        ["provider_type", "operation", "outcome"]
        "Duration of calls to payment providers until their outcome; the operation `probe` asks what became of a call.";
    PROVIDER_CALLS_IN_FLIGHT = Kind::Gauge, "regente_provider_calls_in_flight" []
        "Calls to payment providers that this process waits for.";
    CIRCUITS_OPEN = Kind::Gauge, "regente_provider_circuits_open" ["provider_type"]
        "Payment providers that are not called for a while because they did not answer.";
    PROVIDER_NOTIFICATIONS = Kind::Counter, "regente_provider_notifications_total" ["provider_type", "outcome"]
        "Notifications of payment providers: `stored`, `repeated` or `not_authentic` as they arrive; `applied`, `kept` or `unmatched` once they are settled.";
    REVERSALS = Kind::Counter, "regente_reversals_total" ["provider_type", "kind", "outcome"]
        "Disputes, charge backs and reverted refunds that payment providers report: `applied`, `known`, or why they change nothing.";
    UNKNOWN_OUTCOMES = Kind::Gauge, "regente_unknown_outcomes" []
        "Transaction requests whose outcome nobody knows, up to 10 000.";
    UNKNOWN_OUTCOMES_OLDEST_AGE = Kind::Gauge, "regente_unknown_outcomes_oldest_age_seconds" []
        "Age of the oldest transaction request whose outcome nobody knows; 0 when there is none.";
    UNKNOWN_OUTCOMES_GIVEN_UP = Kind::Gauge, "regente_unknown_outcomes_given_up" []
        "Transaction requests that were asked about as often as the schedule says and are still unknown: an operator must look.";
    ORPHANS_GIVEN_UP = Kind::Counter, "regente_orphaned_authorizations_given_up_total" []
        "Orphaned authorizations that a provider refused to void as often as the schedule says: an operator must look.";
    FOLLOW_UPS_CONTRADICTED = Kind::Counter, "regente_follow_ups_contradicted_total" []
        "Captures and voids that a provider has carried out and that are recorded as refused: an operator must look.";
    PAYMENTS_REVOKED = Kind::Counter, "regente_payments_revoked_total" []
        "Payments and captures that a provider had approved and refuses later: an operator must look.";
    PROVIDER_REPORTS_GIVEN_UP = Kind::Counter, "regente_provider_reports_given_up_total" []
        "What payment providers have told of a payment and could not be followed for as long as it waited: an operator must look.";
    PAYMENTS_OF_ANOTHER_SUM = Kind::Counter, "regente_payments_of_another_sum_total" []
        "Payments of which a provider says another sum than is recorded: an operator must look.";
    UNDERPAID = Kind::Counter, "regente_underpaid_total" []
        "Payments of less than was charged: the merchant accepts or gives them back.";
    JOBS_DUE = Kind::Gauge, "regente_jobs_due" []
        "Jobs that are due and that nobody is doing; of each queue up to 10 000 are counted.";
    JOBS_LAG = Kind::Gauge, "regente_jobs_lag_seconds" []
        "How long the longest waiting due job has been due; 0 when none is.";
    JOBS_DEAD = Kind::Gauge, "regente_jobs_dead" []
        "Jobs that were given up: an operator must look.";
    DELIVERY_ATTEMPT_DURATION = Kind::Histogram { buckets: PROVIDER_BUCKETS }, "regente_delivery_attempt_duration_seconds"
        ["outcome"]
        "Duration of attempts to hand a message to a webhook: `delivered`, or why not.";
    DELIVERIES_DUE = Kind::Gauge, "regente_deliveries_due" []
        "Messages to webhooks that are due; those that wait for an earlier one about the same object are among them. Of each webhook up to 10 000 are counted.";
    DELIVERIES_LAG = Kind::Gauge, "regente_deliveries_lag_seconds" []
        "How long the longest waiting message to a webhook has been due, or an event has waited to become one; 0 when none does.";
    DELIVERIES_LOST = Kind::Counter, "regente_deliveries_lost_total" []
        "Messages to webhooks that were lost because every attempt failed.";
    WEBHOOKS_DISABLED = Kind::Counter, "regente_webhooks_disabled_total" []
        "Webhooks that were switched off because they lost too many messages in a row.";
    PURCHASES_GIVEN_UP = Kind::Counter, "regente_purchases_reconciliation_failed_total" []
        "Purchases whose cards could not all be given back: an operator must look.";
    IDEMPOTENCY_REPLAYS = Kind::Counter, "regente_idempotency_replays_total" []
        "Answers that were given again for their idempotency key.";
    IDEMPOTENCY_CONFLICTS = Kind::Counter, "regente_idempotency_conflicts_total" ["conflict"]
        "Idempotency keys that were taken: the first request is running, had another body, or won a race.";
    RACES_LOST = Kind::Counter, "regente_races_lost_total" []
        "Changes that were decided again, or given up after the last try, because another change of the same record came first.";
    LEARNED_SHARES_MOVED = Kind::Counter, "regente_learned_shares_moved_total" []
        "Groups of charges for which the shares of a balance that learns have moved by more than 20 points within an hour.";
    ADMISSIONS_IN_USE = Kind::Gauge, "regente_admissions_in_use" []
        "Changes that are under way.";
    ADMISSIONS_MAX = Kind::Gauge, "regente_admissions_max" []
        "Changes that may be under way at once.";
    ADMISSIONS_REFUSED = Kind::Counter, "regente_admissions_refused_total" []
        "Changes that were refused with 503 because too many were under way.";
    STORE_COMMITS = Kind::Counter, "regente_store_commits_total" []
        "Commit groups that were written, each with one sync.";
    STORE_BATCHES = Kind::Counter, "regente_store_batches_total" []
        "Batches of changes that were in those commit groups.";
    DATABASE_UP = Kind::Gauge, "regente_database_up" []
        "1 when the database could be asked for this page, 0 when what it says about the database is old.";
    DATABASE_WORKERS_LOST = Kind::Gauge, "regente_database_workers_lost" []
        "Workers of a distributed database that cannot be reached: requests of their accounts are answered 503.";
    DATABASE_SIZE = Kind::Gauge, "regente_database_size_bytes" []
        "Size of the database.";
    WAL_SIZE = Kind::Gauge, "regente_wal_size_bytes" []
        "Size of the write-ahead log beside an embedded database.";
    PROCESS_RESIDENT_MEMORY = Kind::Gauge, "process_resident_memory_bytes" []
        "Resident memory of the process.";
    PROCESS_OPEN_FDS = Kind::Gauge, "process_open_fds" []
        "Open file descriptors of the process.";
    PROCESS_MAX_FDS = Kind::Gauge, "process_max_fds" []
        "File descriptors that the process may have open.";
    BUILD_INFO = Kind::Gauge, "regente_build_info" ["version", "database"]
        "1; its labels say which release runs on which database.";
}
