//! Asks a running server whether it may be sent requests: for health checks where there is no other program to ask with.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use reqwest::Url;

use super::Failure;
use super::run::runtime;
use crate::admin::{self, Answer, Command};
use crate::config::{Config, Loaded};

/// How long the server may take. It answers within three seconds by itself.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// What is asked of a server of which only the address is given.
const READY_PATH: &str = "/health/ready";

/// Ends with success when the server is ready. Without an address it is the one that runs on this data folder, or else the
/// one that the configuration names.
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

/// A running server knows best where it listens: it may have been started with other flags.
async fn base_address(config: &Config) -> Result<Url, Failure> {
    if let Some(url) = address_of_running(config).await {
        return Ok(Url::parse(&url)?);
    }
    Ok(Url::parse(&config.local_url(config.listen_address()?))?)
}

/// What the server says at its socket, if there is one that this user may ask.
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

/// What is asked of the certificate of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certificate {
    /// That it is one for the name in the address.
    Checked,
    /// Nothing: it is a process of this machine, whose certificate names the deployment.
    OfThisMachine,
}

async fn ask(url: Url, certificate: Certificate) -> Result<(reqwest::StatusCode, String), reqwest::Error> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(ANSWER_TIME_MAX)
        .tls_danger_accept_invalid_certs(certificate == Certificate::OfThisMachine);
    // Without TLS a machine that knows no authorities will do.
    let client = if url.scheme() == "http" { client.tls_certs_only([]) } else { client };
    let client = client.build()?;
    let answer = client.get(url).send().await?;
    Ok((answer.status(), answer.text().await?))
}
