//! The settings of the process: what it serves, its log and its metrics.

use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::outbound::networks;
use crate::http::bodies::BODY_BUDGET_BYTES;
use crate::http::limits::BODY_BYTES_MAX;

/// `server.…`: the HTTP server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port; port 0 is any free one. Default `127.0.0.1:8080`.
    pub listen: String,
    /// The address at which others reach this server, such as `https://payments.example.com`: providers send their
    /// notifications there, and cardholders come back there after a challenge. Default none; in sandbox mode the address
    /// that it listens on.
    pub base_url: Option<String>,
    /// The address of the card fields of the browser library, when they have an origin of their own: such as
    /// `https://fields.example.com`, another name of this server. Their document is at `/` there. Default none: the fields
    /// are at `/fields/` alone.
    pub fields_base_url: Option<String>,
    /// The longest time from the first byte of a connection, or the end of the previous answer, to the last header of a
    /// request. Default 30 000.
    pub header_timeout_ms: u64,
    /// Most open connections; a further one is answered 503. Default 10 000.
    pub connections_max: usize,
    /// Largest JSON body, in bytes. Default 1 048 576.
    pub body_bytes_max: usize,
    /// Most bytes of all bodies that are being read; what does not fit is answered 503. Half of it is for the first
    /// 8 KiB of each body. At least twice `server.body_bytes_max`. Default 67 108 864.
    pub body_budget_bytes: usize,
    /// The proxies in front of the server, as addresses or networks separated by commas, such as `10.0.0.0/8,::1`. What
    /// they say in `Forwarded` or `X-Forwarded-For` about the addresses of callers counts. Default none.
    pub trusted_proxies: Option<String>,
    /// How long requests and jobs may take to finish after a signal to stop. Default 30 000.
    pub drain_timeout_ms: u64,
    /// How long the server still accepts requests after a signal to stop, while `/health/ready` already fails, so that
    /// a load balancer notices. Default 0.
    pub drain_notice_ms: u64,
    /// The certificate with its chain, in PEM; with it the server speaks HTTPS instead of HTTP. Read again when it
    /// changes. Default none.
    pub tls_certificate_file: Option<PathBuf>,
    /// The certificate's private key, in PEM, readable by its owner alone. Default none.
    pub tls_key_file: Option<PathBuf>,
}

/// `log.…`: the log, on standard error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// `human` or `json`. Default `human`.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,regente=debug`. Default `info`.
    pub level: String,
}

/// The format of the log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text for people.
    Human,
    /// One JSON object a line.
    Json,
}

/// `metrics.…`: the page for Prometheus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetricsConfig {
    /// Address and port of `/metrics`, separate from the API's. Default none: nothing is measured.
    pub listen: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            base_url: None,
            fields_base_url: None,
            header_timeout_ms: 30_000,
            connections_max: 10_000,
            body_bytes_max: BODY_BYTES_MAX,
            body_budget_bytes: BODY_BUDGET_BYTES,
            trusted_proxies: None,
            drain_timeout_ms: 30_000,
            drain_notice_ms: 0,
            tls_certificate_file: None,
            tls_key_file: None,
        }
    }
}

impl ServerConfig {
    /// The trusted proxies; `None` when the text is invalid.
    pub(super) fn proxies(&self) -> Option<Vec<IpNet>> {
        networks(self.trusted_proxies.as_deref().unwrap_or_default())
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Human, level: "info".to_owned() }
    }
}
