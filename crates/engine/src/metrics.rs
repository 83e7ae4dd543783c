//! What the process counts and measures. Off until [`start`] is called: nothing is counted before, and asking costs one
//! load.
//!
//! `table.rs` holds every name and every description; `handles.rs` what is counted with. Values of labels come from closed
//! sets: no id, no text of a caller is ever one. Who shows what was counted brings the recorder.

mod handles;
mod table;

use std::sync::OnceLock;
use std::time::Duration;

use regente_domain::charge::attempt::RequestType;
use regente_domain::provider_type::ProviderType;
use regente_domain::webhook::Failure;

pub use handles::Handles;
pub use table::{Kind, Metric, TABLE};

use metrics::Recorder;

static HANDLES: OnceLock<Handles> = OnceLock::new();

/// From now on everything is counted, by the first recorder that was brought.
pub fn start(recorder: impl FnOnce() -> Box<dyn Recorder + Send + Sync>) -> &'static Handles {
    HANDLES.get_or_init(|| Handles::new(recorder()))
}

/// A request was answered. `route` is the matched one, never the path.
pub fn http_request(method: &'static str, route: &str, status: u16, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.http_request(method, route, status).record(duration);
    }
}

/// A connection was let in.
pub fn connection_opened() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_open.increment(1.0);
    }
}

/// A connection that had been let in ended.
pub fn connection_closed() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_open.decrement(1.0);
    }
}

/// A connection found too many others.
pub fn connection_refused() {
    if let Some(handles) = HANDLES.get() {
        handles.connections_refused.increment(1);
    }
}

/// How a call to a provider ended, or a question about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// The provider approved.
    Approved,
    /// The provider declined.
    Declined,
    /// The provider waits for the payer.
    Pending,
    /// The provider has no such call.
    Absent,
    /// Nobody knows.
    Unknown,
}

impl CallOutcome {
    /// The word of the label.
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

/// What a provider was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// To do something.
    ToDo(RequestType),
    /// What became of something.
    WhatBecameOf,
}

impl CallKind {
    /// The word of the label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToDo(request_type) => request_type.word(),
            Self::WhatBecameOf => "probe",
        }
    }
}

/// A provider was asked something.
pub fn provider_call(provider_type: ProviderType, asked: CallKind, outcome: CallOutcome, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.provider_call(provider_type, asked, outcome).record(duration);
    }
}

/// An answer was given again for its idempotency key.
pub fn idempotency_replay() {
    if let Some(handles) = HANDLES.get() {
        handles.idempotency_replays.increment(1);
    }
}

/// Why an idempotency key could not be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdempotencyConflict {
    /// The first request with it has no outcome yet.
    Running,
    /// The first request with it had another body.
    Mismatch,
    /// Another request was first, by a moment.
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

/// An idempotency key could not be claimed.
pub fn idempotency_conflict(conflict: IdempotencyConflict) {
    if let Some(handles) = HANDLES.get() {
        handles.idempotency_conflict(conflict).increment(1);
    }
}

/// The transaction requests whose outcome nobody knows: how many, how old the oldest is, and how many of them have been
/// asked about as often as the schedule says.
pub fn unknown_outcomes(open: u64, oldest_age: Duration, given_up: u64) {
    if let Some(handles) = HANDLES.get() {
        handles.unknown_outcomes.set(count(open));
        handles.unknown_outcomes_oldest_age.set(oldest_age.as_secs_f64());
        handles.unknown_outcomes_given_up.set(count(given_up));
    }
}

/// How many circuits of a provider type are open: providers that are not called for a while.
pub fn circuits_open(provider_type: ProviderType, circuits: usize) {
    if let Some(handles) = HANDLES.get() {
        handles.circuits_open(provider_type).set(count(circuits as u64));
    }
}

/// An attempt to hand a message to a webhook ended, well or for this reason.
pub fn delivery_attempt(failure: Option<Failure>, duration: Duration) {
    if let Some(handles) = HANDLES.get() {
        handles.delivery_attempt(failure).record(duration);
    }
}

/// A message to a webhook was lost: every attempt failed.
pub fn delivery_lost() {
    if let Some(handles) = HANDLES.get() {
        handles.deliveries_lost.increment(1);
    }
}

/// A webhook was switched off because it lost too much.
pub fn webhook_disabled() {
    if let Some(handles) = HANDLES.get() {
        handles.webhooks_disabled.increment(1);
    }
}

/// The cards of a purchase could not all be given back.
pub fn purchase_given_up() {
    if let Some(handles) = HANDLES.get() {
        handles.purchases_given_up.increment(1);
    }
}

/// Gauges are floating point; past 2^53 nobody counts one by one.
#[allow(clippy::cast_precision_loss, reason = "a gauge that high is not exact anyway")]
pub fn count(number: u64) -> f64 {
    number as f64
}
