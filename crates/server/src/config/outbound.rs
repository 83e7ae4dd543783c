//! The settings of calls to addresses given by users, and their conversion.

use std::net::IpAddr;

use ipnet::IpNet;
use regente_engine::outbound::{Plain, Ports, Rules};
use serde::{Deserialize, Serialize};

use super::Config;
use super::layers::ConfigError;

/// The word for all ports.
const ANY_PORT: &str = "any";

/// `outbound.…`: which addresses given by users may be called, such as those of webhooks. Addresses in networks that
/// are not public are refused, in every spelling, when they are given and at every call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutboundConfig {
    /// Whether `http://` is allowed beside `https://`. Default true in sandbox mode, false in production.
    pub allow_http: bool,
    /// Allowed ports, separated by commas, or `any`. Default `80,443,8080,8443`.
    pub ports: String,
    /// Allowed networks that are not public, separated by commas, such as `10.1.0.0/16` for an intranet or a
    /// development machine. Every port is allowed where the address is numeric. Default none.
    pub allowed_networks: Option<String>,
}

impl Default for OutboundConfig {
    fn default() -> Self {
        Self { allow_http: false, ports: "80,443,8080,8443".to_owned(), allowed_networks: None }
    }
}

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
        networks(self.allowed_networks.as_deref().unwrap_or_default())
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

/// Networks separated by commas, of which an address is one, too; `None` when the text is invalid.
pub(super) fn networks(text: &str) -> Option<Vec<IpNet>> {
    let networks = text.split(',').map(str::trim).filter(|network| !network.is_empty());
    let parse = |text: &str| text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    networks.map(|network| parse(network).ok()).collect()
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
}
