//! Asks a running server whether it may be sent requests: for health checks where there is no other program to ask with.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use super::Failure;
use super::run::runtime;
use crate::config::{Config, Loaded};

/// How long the server may take. It answers within three seconds by itself.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// Ends with success when the server is ready. Without an address it is the one that the configuration names.
pub(super) fn health(loaded: &Loaded, url: Option<String>) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let (url, certificate) = match url {
        Some(url) => (url, Certificate::Checked),
        None => {
            let base = address(config, on_this_machine(config.listen_address()?));
            (format!("{base}/health/ready"), Certificate::OfThisMachine)
        }
    };
    let (status, body) = runtime()?.block_on(ask(&url, certificate))?;
    writeln!(io::stdout(), "{body}")?;
    Ok(if status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is asked of the certificate of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certificate {
    /// That it is one for the name in the address.
    Checked,
    /// Nothing: it is a process of this machine, whose certificate names the deployment.
    OfThisMachine,
}

async fn ask(url: &str, certificate: Certificate) -> Result<(reqwest::StatusCode, String), reqwest::Error> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(ANSWER_TIME_MAX)
        .tls_danger_accept_invalid_certs(certificate == Certificate::OfThisMachine);
    // Without TLS a machine that knows no authorities will do.
    let client = if url.starts_with("http://") { client.tls_certs_only([]) } else { client };
    let client = client.build()?;
    let answer = client.get(url).send().await?;
    Ok((answer.status(), answer.text().await?))
}

/// The address of a server with these settings, without a path.
pub(super) fn address(config: &Config, address: SocketAddr) -> String {
    let scheme = if config.server.tls_certificate_file.is_some() { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// A server that listens everywhere listens here, too.
pub(super) fn on_this_machine(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(ip, address.port())
}
