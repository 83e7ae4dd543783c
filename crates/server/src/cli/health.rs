//! Asks a running server whether it is ready: a health check for images without another HTTP client.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use reqwest::Url;

use super::Failure;
use super::run::runtime;
use crate::admin::{self, Answer, Command};
use crate::config::{Config, Loaded};

/// How long the server may take; its own bound is three seconds.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// The path of the check when only an address is given.
const READY_PATH: &str = "/health/ready";

/// Ends with success when the server is ready. Without an address it asks the server that runs on this data folder, or
/// else the one that the configuration names.
pub(super) fn health(loaded: &Loaded, url: Option<Url>) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let (status, body) = runtime()?.block_on(async {
        let (mut url, certificate) = match url {
            Some(url) => (url, Certificate::Checked),
            None => (base_address(config).await?, Certificate::OfThisMachine),
        };
        if url.path() == "/" {
            url.set_path(READY_PATH);
        }
        Ok::<_, Failure>(ask(url, certificate).await?)
    })?;
    writeln!(io::stdout(), "{body}")?;
    Ok(if status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The address of the running server, which may have been started with other flags, or else that of the configuration.
pub(super) async fn base_address(config: &Config) -> Result<Url, Failure> {
    if let Some(url) = address_of_running(config).await {
        return Ok(Url::parse(&url)?);
    }
    Ok(Url::parse(&config.local_url(config.listen_address()?))?)
}

/// The address that the running server reports through its socket, if this user may use it.
async fn address_of_running(config: &Config) -> Option<String> {
    let database = config.database_address().ok()?;
    let folder = database.folder()?;
    if !admin::is_answering(folder).ok()? {
        return None;
    }
    let asked = tokio::time::timeout(ANSWER_TIME_MAX, admin::ask(folder, &Command::Address)).await;
    let Answer::Address { url } = asked.ok()?.ok()? else { return None };
    Some(url)
}

/// How the server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certificate {
    /// It must be valid for the name in the address.
    Checked,
    /// Not at all: the server runs on this machine, and its certificate carries the deployment's name.
    OfThisMachine,
}

async fn ask(url: Url, certificate: Certificate) -> Result<(reqwest::StatusCode, String), reqwest::Error> {
    let client = client_of(&url, certificate).timeout(ANSWER_TIME_MAX).build()?;
    let answer = client.get(url).send().await?;
    Ok((answer.status(), answer.text().await?))
}

/// A client of a server.
pub(super) fn client_of(url: &Url, certificate: Certificate) -> reqwest::ClientBuilder {
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_danger_accept_invalid_certs(certificate == Certificate::OfThisMachine);
    // A client without TLS needs no root certificates.
    if url.scheme() == "http" { client.tls_certs_only([]) } else { client }
}
