//! The settings of the delivery of events, and their conversion.

use std::num::NonZeroU32;
use std::time::Duration;

use regente_engine::settings::{EndpointUse, WebhookSettings};
use serde::{Deserialize, Serialize};

use super::Config;
use super::durations::{days, waits, waits_text, whole_days, whole_millis};

/// `webhooks.…`: how events are delivered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhooksConfig {
    /// The waits between attempts, separated by commas; after the last one a delivery is a dead letter, kept for a
    /// replay. Default `300,2700,21600,86400,172800,345600`, a week.
    pub waits_seconds: String,
    /// The same for webhooks of version 1.0. Default `300,2700,21600,172800,345600`.
    pub waits_1_0_seconds: String,
    /// How long the first attempt waits for its answer. Default 30 000.
    pub first_answer_ms: u64,
    /// How long each later attempt waits. Default 5 000.
    pub retry_answer_ms: u64,
    /// Most attempts under way at once, to all endpoints. Default 1 024.
    pub concurrent_max: usize,
    /// Most attempts under way at once to one endpoint. Default 8.
    pub concurrent_per_endpoint_max: usize,
    /// How many dead letters in a row switch a webhook off; 0 never does. Default 0.
    pub disable_after: u32,
    /// How long a delivery that has ended, also a lost one, is listed with its attempts and can be replayed. Default
    /// 45.
    pub delivery_retention_days: u32,
    /// How long it is kept that an object changed, when and by whom; never shorter than its deliveries. Default 400.
    pub event_retention_days: u32,
    /// Whether one webhook at most may be registered for an endpoint, instead of one for each event. Default false.
    pub unique_endpoint: bool,
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        let settings = WebhookSettings::default();
        Self {
            waits_seconds: waits_text(&settings.waits),
            waits_1_0_seconds: waits_text(&settings.waits_1_0),
            first_answer_ms: whole_millis(settings.first_answer_max),
            retry_answer_ms: whole_millis(settings.retry_answer_max),
            concurrent_max: settings.concurrent_max,
            concurrent_per_endpoint_max: settings.concurrent_per_endpoint_max,
            disable_after: settings.disable_after.map_or(0, NonZeroU32::get),
            delivery_retention_days: whole_days(settings.delivery_retention),
            event_retention_days: whole_days(settings.event_retention),
            unique_endpoint: false,
        }
    }
}

impl Config {
    /// The settings of deliveries.
    pub(super) fn webhook_settings(&self) -> WebhookSettings {
        let webhooks = &self.webhooks;
        WebhookSettings {
            waits: waits(&webhooks.waits_seconds).unwrap_or_default(),
            waits_1_0: waits(&webhooks.waits_1_0_seconds).unwrap_or_default(),
            first_answer_max: Duration::from_millis(webhooks.first_answer_ms),
            retry_answer_max: Duration::from_millis(webhooks.retry_answer_ms),
            concurrent_max: webhooks.concurrent_max,
            concurrent_per_endpoint_max: webhooks.concurrent_per_endpoint_max,
            disable_after: NonZeroU32::new(webhooks.disable_after),
            delivery_retention: days(webhooks.delivery_retention_days),
            event_retention: days(webhooks.event_retention_days),
            endpoints: if webhooks.unique_endpoint { EndpointUse::Once } else { EndpointUse::OncePerEvent },
        }
    }
}
