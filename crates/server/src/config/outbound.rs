//! Converts the settings of outbound calls and webhooks.

use std::num::NonZeroU32;
use std::time::Duration;

use ipnet::IpNet;
use regente_engine::outbound::{Plain, Ports, Rules};
use regente_engine::settings::{DAY_SECONDS, EndpointUse, WebhookSettings};

use super::layers::ConfigError;
use super::{Config, OutboundConfig, convert};

/// The word for all ports.
const ANY_PORT: &str = "any";

impl OutboundConfig {
    /// The allowed ports; `None` when the text is invalid.
    pub(super) fn ports(&self) -> Option<Ports> {
        if self.ports.trim() == ANY_PORT {
            return Some(Ports::Any);
        }
        let ports: Option<Vec<u16>> = self.ports.split(',').map(|port| port.trim().parse().ok()).collect();
        ports.map(Ports::These)
    }

    /// The allowed networks; `None` when the text is invalid.
    pub(super) fn networks(&self) -> Option<Vec<IpNet>> {
        let networks = self.allowed_networks.as_deref().unwrap_or_default().split(',').map(str::trim);
        networks.filter(|network| !network.is_empty()).map(|network| network.parse().ok()).collect()
    }

    /// Also allows this machine at every port, unless the settings are given: for `regente dev`.
    pub fn with_own_machine(mut self) -> Self {
        let untouched = Self::default();
        self.allowed_networks.get_or_insert_with(|| "127.0.0.0/8,::1/128".to_owned());
        if self.ports == untouched.ports {
            self.ports = ANY_PORT.to_owned();
        }
        self
    }
}

impl Config {
    /// The rules for addresses given by users.
    ///
    /// # Errors
    /// Ports or networks are invalid; impossible after the configuration was loaded.
    pub fn outbound_rules(&self) -> Result<Rules, ConfigError> {
        let outbound = &self.outbound;
        let wrong = |key| ConfigError::one(format!("`outbound.{key}` cannot be read"));
        Ok(Rules {
            plain: if outbound.allow_http { Plain::Allowed } else { Plain::Refused },
            ports: outbound.ports().ok_or_else(|| wrong("ports"))?,
            networks: outbound.networks().ok_or_else(|| wrong("allowed_networks"))?,
        })
    }

    /// The settings of deliveries.
    pub(super) fn webhook_settings(&self) -> WebhookSettings {
        let webhooks = &self.webhooks;
        WebhookSettings {
            waits: convert::waits(&webhooks.waits_seconds).unwrap_or_default(),
            waits_1_0: convert::waits(&webhooks.waits_1_0_seconds).unwrap_or_default(),
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

fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * DAY_SECONDS)
}
