//! What an operator may set about webhooks.

use std::num::NonZeroU32;
use std::time::Duration;

use regente_domain::webhook::Version;

/// Seconds of a day.
pub const DAY_SECONDS: u64 = 24 * 60 * 60;

/// How events are delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Waits between attempts of webhooks of version 1.1.
    pub waits: Vec<Duration>,
    /// The same of version 1.0.
    pub waits_1_0: Vec<Duration>,
    /// How long the first attempt waits for its answer.
    pub first_answer_max: Duration,
    /// How long each later attempt waits.
    pub retry_answer_max: Duration,
    /// Attempts under way at once, of all endpoints.
    pub concurrent_max: usize,
    /// Attempts under way at once to one endpoint.
    pub concurrent_per_endpoint_max: usize,
    /// After so many lost messages in a row a webhook is switched off; `None` never switches one off.
    pub disable_after: Option<NonZeroU32>,
    /// How long a delivery is kept with its attempts after it has ended, also a lost one
    /// (`docs/interface/webhooks.md#losses`).
    pub delivery_retention: Duration,
    /// How long an event is kept, which says who changed what and when; one with a delivery is kept with it.
    pub event_retention: Duration,
    /// Whether an endpoint may be registered once for each event, or once at all.
    pub endpoints: EndpointUse,
}

/// How often an endpoint may be registered (`docs/interface/webhooks.md#resource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointUse {
    /// Once for each event.
    OncePerEvent,
    /// Once.
    Once,
}

impl WebhookSettings {
    /// The waits between the attempts of a delivery in this form.
    pub fn waits(&self, version: Version) -> &[Duration] {
        match version {
            Version::V1_0 => &self.waits_1_0,
            Version::V1_1 => &self.waits,
        }
    }
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            waits: Version::V1_1.waits().to_vec(),
            waits_1_0: Version::V1_0.waits().to_vec(),
            first_answer_max: Duration::from_secs(30),
            retry_answer_max: Duration::from_secs(5),
            concurrent_max: 1024,
            concurrent_per_endpoint_max: 8,
            disable_after: None,
            delivery_retention: Duration::from_secs(45 * DAY_SECONDS),
            event_retention: Duration::from_secs(400 * DAY_SECONDS),
            endpoints: EndpointUse::OncePerEvent,
        }
    }
}
