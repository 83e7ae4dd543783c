//! Counts and measures what the process does. Disabled until [`start`] is called; while disabled, a call costs one
//! load.
//!
//! `table.rs` has all names and descriptions; `handles.rs` has the recorded metrics. Label values come from closed
//! lists and never contain ids or callers' text. The server provides the recorder.

mod handles;
mod table;

use std::sync::OnceLock;
use std::time::Duration;

use regente_domain::charge::attempt::RequestType;
use regente_domain::charge::reversal::{ReversalKind, ReversalReason};
use regente_domain::provider_type::ProviderType;
use regente_domain::webhook::Failure;

pub use handles::Handles;
pub use table::{Kind, Metric, TABLE};

use metrics::Recorder;

static HANDLES: OnceLock<Handles> = OnceLock::new();

/// Starts to record, with the first recorder that is given.
pub fn start(recorder: impl FnOnce() -> Box<dyn Recorder + Send + Sync>) -> &'static Handles {
    HANDLES.get_or_init(|| Handles::new(recorder()))
}

/// Counts an answered request. `route` is the matched route, never the path.
pub fn http_request(method: &'static str, route: &str, status: u16, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.http_request(method, route, status).record(duration);
    }
}

/// Counts an accepted connection.
pub fn connection_opened() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_open.increment(1.0);
    }
}

/// Counts the end of an accepted connection.
pub fn connection_closed() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_open.decrement(1.0);
    }
}

/// Counts a connection that was refused because there were too many.
pub fn connection_refused() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_refused.increment(1);
    }
}

/// How a call to a provider or a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// The provider approved.
    Approved,
    /// The provider declined.
    Declined,
    /// The provider waits for the payer.
    Pending,
    /// The provider has no record of the call.
    Absent,
    /// The outcome is unknown.
    Unknown,
}

impl CallOutcome {
    /// The value of the label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Pending => "pending",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }
}

/// What a provider was called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// An operation.
    ToDo(RequestType),
    /// A probe.
    WhatBecameOf,
}

impl CallKind {
    /// The value of the label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToDo(request_type) => request_type.word(),
            Self::WhatBecameOf => "probe",
        }
    }
}

/// Counts a call to a provider or a probe.
pub fn provider_call(provider_type: ProviderType, asked: CallKind, outcome: CallOutcome, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.provider_call(provider_type, asked, outcome).record(duration);
    }
}

/// What became of a notification of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotificationOutcome {
    /// It is stored and waits for its job.
    Stored,
    /// It was there already.
    Repeated,
    /// The provider did not sign it.
    NotAuthentic,
    /// It is part of the records.
    Applied,
    /// This release does not know what to do about it.
    Kept,
    /// It named no known request for as long as it was tried.
    Unmatched,
}

impl NotificationOutcome {
    pub(self) const ALL: [Self; 6] =
        [Self::Stored, Self::Repeated, Self::NotAuthentic, Self::Applied, Self::Kept, Self::Unmatched];

    /// The value of the label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Repeated => "repeated",
            Self::NotAuthentic => "not_authentic",
            Self::Applied => "applied",
            Self::Kept => "kept",
            Self::Unmatched => "unmatched",
        }
    }
}

/// What became of a report about a payment that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReversalOutcome {
    /// It changed the charge.
    Applied,
    /// The charge had it already.
    Known,
    /// It changes nothing, for this reason.
    Refused(ReversalReason),
}

impl ReversalOutcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Known => "known",
            Self::Refused(reason) => reason.word(),
        }
    }
}

/// Counts a report about a payment that was taken.
pub fn reversal(provider_type: ProviderType, kind: ReversalKind, outcome: ReversalOutcome) {
    if let Some(handles) = HANDLES.get() {
        handles.reversal(provider_type, kind, outcome).increment(1);
    }
}

/// Counts a step of a notification of a provider.
pub fn provider_notification(provider_type: ProviderType, outcome: NotificationOutcome) {
    if let Some(handles) = HANDLES.get() {
        handles.provider_notification(provider_type, outcome).increment(1);
    }
}

/// A limit on callers' requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Of requests with one secret key.
    SecretKey,
    /// Of tokens with one public key from one address.
    Tokens,
    /// Of wrong keys from one address.
    Authentication,
    /// Of requests with one public key, or for pages without a key, from one address.
    Pages,
    /// Of requests with one public key that may try cards.
    PublicKey,
    /// Of requests with the key of one session that may try cards.
    Session,
    /// The same from one address.
    Address,
    /// The same for cards that begin with the same digits.
    Bin,
    /// The same for one card.
    Card,
    /// Of answers to one review of a seller's registration, from its page.
    ReviewAnswer,
    /// Of refused sign-ins of members, from one address.
    SignIn,
    /// Of refused notifications of providers from one address.
    Notification,
}

impl Limit {
    pub(self) const ALL: [Self; 12] = [
        Self::SecretKey,
        Self::Tokens,
        Self::Authentication,
        Self::Pages,
        Self::PublicKey,
        Self::Session,
        Self::Address,
        Self::Bin,
        Self::Card,
        Self::ReviewAnswer,
        Self::SignIn,
        Self::Notification,
    ];

    /// The value of the label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SecretKey => "secret_key",
            Self::Tokens => "tokens",
            Self::Authentication => "authentication",
            Self::Pages => "pages",
            Self::PublicKey => "public_key",
            Self::Session => "session",
            Self::Address => "address",
            Self::Bin => "bin",
            Self::Card => "card",
            Self::ReviewAnswer => "review_answer",
            Self::SignIn => "sign_in",
            Self::Notification => "notification",
        }
    }
}

/// Counts a request that was refused because of a limit.
pub fn rate_limited(limit: Limit) {
    if let Some(handles) = HANDLES.get() {
        handles.rate_limited(limit).increment(1);
    }
}

/// Counts the begin of a block after too many failures.
pub fn block_begun(limit: Limit) {
    if let Some(handles) = HANDLES.get() {
        handles.blocks(limit).increment(1);
    }
}

/// Counts a replayed answer.
pub fn idempotency_replay() {
    if let Some(handles) = HANDLES.get() {
        handles.idempotency_replays.increment(1);
    }
}

/// Why an idempotency key could not be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdempotencyConflict {
    /// The first request with the key has no outcome yet.
    Running,
    /// The first request with the key had another body.
    Mismatch,
    /// Another request claimed the key a moment earlier.
    LostRace,
}

impl IdempotencyConflict {
    pub(self) const ALL: [Self; 3] = [Self::Running, Self::Mismatch, Self::LostRace];

    const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Mismatch => "mismatch",
            Self::LostRace => "lost_race",
        }
    }
}

/// Counts an idempotency key that could not be claimed.
pub fn idempotency_conflict(conflict: IdempotencyConflict) {
    if let Some(handles) = HANDLES.get() {
        handles.idempotency_conflict(conflict).increment(1);
    }
}

/// Counts a change that is tried again, or given up, because another one of the same record came first.
pub fn race_lost() {
    if let Some(handles) = HANDLES.get() {
        handles.races_lost.increment(1);
    }
}

/// Counts shares of a balance that learns that have moved a lot within an hour.
pub fn learned_share_moved() {
    if let Some(handles) = HANDLES.get() {
        handles.learned_shares_moved.increment(1);
    }
}

/// Sets the number of transaction requests with unknown outcomes, the age of the oldest, and how many have used up the
/// schedule.
pub fn unknown_outcomes(open: u64, oldest_age: Duration, given_up: u64) {
    if let Some(handles) = HANDLES.get() {
        handles.unknown_outcomes.set(count(open));
        handles.unknown_outcomes_oldest_age.set(oldest_age.as_secs_f64());
        handles.unknown_outcomes_given_up.set(count(given_up));
    }
}

/// Sets the number of open circuits of a provider type.
pub fn circuits_open(provider_type: ProviderType, circuits: usize) {
    if let Some(handles) = HANDLES.get() {
        handles.circuits_open(provider_type).set(count(circuits as u64));
    }
}

/// Counts an attempt to deliver to a webhook; `failure` is `None` if it succeeded.
pub fn delivery_attempt(failure: Option<Failure>, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.delivery_attempt(failure).record(duration);
    }
}

/// Counts a lost delivery: every attempt failed.
pub fn delivery_lost() {
    if let Some(handles) = HANDLES.get() {
        handles.deliveries_lost.increment(1);
    }
}

/// Counts a webhook that was disabled because it lost too many deliveries.
pub fn webhook_disabled() {
    if let Some(handles) = HANDLES.get() {
        handles.webhooks_disabled.increment(1);
    }
}

/// Counts an orphaned authorization whose void a provider refused to the end of the schedule.
pub fn orphan_given_up() {
    if let Some(handles) = HANDLES.get() {
        handles.orphans_given_up.increment(1);
    }
}

/// Counts a capture or void that a provider has carried out and that is recorded as refused.
pub fn follow_up_contradicted() {
    if let Some(handles) = HANDLES.get() {
        handles.follow_ups_contradicted.increment(1);
    }
}

/// Counts a refusal of what a provider had approved.
pub fn payment_revoked() {
    if let Some(handles) = HANDLES.get() {
        handles.payments_revoked.increment(1);
    }
}

/// Counts what a provider has told and could not be followed.
pub fn provider_report_given_up() {
    if let Some(handles) = HANDLES.get() {
        handles.provider_reports_given_up.increment(1);
    }
}

/// Counts a payment of which a provider says another sum than is recorded.
pub fn payment_of_another_sum() {
    if let Some(handles) = HANDLES.get() {
        handles.payments_of_another_sum.increment(1);
    }
}

/// Counts a payment of less than was charged.
pub fn underpaid() {
    if let Some(handles) = HANDLES.get() {
        handles.underpaid.increment(1);
    }
}

/// Counts a purchase whose charges could not all be voided.
pub fn purchase_given_up() {
    if let Some(handles) = HANDLES.get() {
        handles.purchases_given_up.increment(1);
    }
}

/// Gauges are floating-point numbers; above 2^53 they are not exact.
#[allow(clippy::cast_precision_loss, reason = "a gauge that high is not exact anyway")]
pub fn count(number: u64) -> f64 {
    number as f64
}
