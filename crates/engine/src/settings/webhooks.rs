//! The operator's settings for webhooks.

use std::num::NonZeroU32;
use std::time::Duration;

use regente_domain::webhook::{Version, schedule};

/// Seconds in a day.
pub const DAY_SECONDS: u64 = 24 * 60 * 60;

/// How events are delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Waits between attempts, for webhooks of version 1.1.
    pub waits: Vec<Duration>,
    /// Waits between attempts, for webhooks of version 1.0.
    pub waits_1_0: Vec<Duration>,
    /// How long the first attempt waits for its response.
    pub first_answer_max: Duration,
    /// How long each later attempt waits for its response.
    pub retry_answer_max: Duration,
    /// Most concurrent attempts to all endpoints.
    pub concurrent_max: usize,
    /// Most concurrent attempts to one endpoint.
    pub concurrent_per_endpoint_max: usize,
    /// Disable a webhook after this many lost deliveries in a row; `None` never disables one.
    pub disable_after: Option<NonZeroU32>,
    /// How long an ended delivery, including a lost one, is kept with its attempts
    /// (`docs/interface/webhooks.md#losses`).
    pub delivery_retention: Duration,
    /// How long an event is kept as a record of a change; an event with deliveries is kept with them.
    pub event_retention: Duration,
    /// Whether an endpoint may be registered once for each event, or only once.
    pub endpoints: EndpointUse,
}

/// How often an endpoint may be registered (`docs/interface/webhooks.md#resource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointUse {
    /// Once for each event.
    OncePerEvent,
    /// Only once.
    Once,
}

impl WebhookSettings {
    /// The waits between attempts, for this version.
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
            first_answer_max: schedule::FIRST_ANSWER_MAX,
            retry_answer_max: schedule::RETRY_ANSWER_MAX,
            concurrent_max: 1024,
            concurrent_per_endpoint_max: 8,
            disable_after: None,
            delivery_retention: schedule::DELIVERY_KEPT_FOR,
            event_retention: schedule::EVENT_KEPT_FOR,
            endpoints: EndpointUse::OncePerEvent,
        }
    }
}
