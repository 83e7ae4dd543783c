//! Which deployment is asked, for which account and with which key: arguments, the environment, and the file that
//! `regente dev` writes, each stronger than the next.

use std::collections::BTreeMap;

use clap::Args;
use regente_domain::id::ClientId;
use reqwest::Url;

use super::super::Failure;
use super::super::health::{Certificate, base_address};
use super::Remote;
use crate::bootstrap::dev::read_env_file;
use crate::config::{Config, Secret};

const URL: &str = "REGENTE_URL";
const CLIENT_ID: &str = "REGENTE_CLIENT_ID";
const API_KEY: &str = "REGENTE_API_KEY";
const MERCHANT_ID: &str = "REGENTE_MERCHANT_ID";

/// Where a command is sent, and on whose behalf.
#[derive(Debug, Args)]
pub(in crate::cli) struct RemoteArgs {
    /// The address of the service [default: that of REGENTE_URL, or where the service of this machine listens]
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// The account [default: that of REGENTE_CLIENT_ID, or of `regente dev`]
    #[arg(id = "account", long = "client-id", value_name = "CLIENT_ID")]
    client_id: Option<ClientId>,
    /// Its secret key; other users of this machine see arguments, so REGENTE_API_KEY is better [default: that of
    /// REGENTE_API_KEY, or of `regente dev`]
    #[arg(long, value_name = "KEY", value_parser = secret, allow_hyphen_values = true)]
    api_key: Option<Secret>,
}

fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text.to_owned()))
}

/// What a [`Remote`] is made of.
pub(in crate::cli) struct Destination {
    pub(super) url: Url,
    pub(super) certificate: Certificate,
    pub(super) client_id: ClientId,
    pub(super) api_key: Secret,
    pub(super) merchant_id: Option<String>,
}

impl RemoteArgs {
    /// Whether an argument says that a service is to be asked.
    pub(in crate::cli) const fn are_given(&self) -> bool {
        self.url.is_some() || self.client_id.is_some() || self.api_key.is_some()
    }

    /// Whether arguments and environment name all that it takes.
    pub(in crate::cli) fn are_known(&self) -> bool {
        (self.url.is_some() || variable(URL).is_some())
            && (self.client_id.is_some() || variable(CLIENT_ID).is_some())
            && (self.api_key.is_some() || variable(API_KEY).is_some())
    }

    /// The client of the service.
    ///
    /// # Errors
    /// No account or no key is named, or the address is none.
    pub(in crate::cli) async fn remote(self, config: &Config) -> Result<Remote, Failure> {
        Remote::of(self.destination(config).await?)
    }

    async fn destination(self, config: &Config) -> Result<Destination, Failure> {
        let Self { url, client_id, api_key } = self;
        let url = match (url, variable(URL)) {
            (Some(url), _) => Some(url),
            (None, Some(text)) => {
                Some(Url::parse(&text).map_err(|error| format!("{URL} is no address: {error}"))?)
            }
            (None, None) => None,
        };
        let dev = Dev::of(config, url.as_ref());
        let client_id = match (client_id, dev.known(CLIENT_ID)) {
            (Some(id), _) => id,
            (None, Some(text)) => text.parse().map_err(|_| format!("{CLIENT_ID} is no id of an account"))?,
            (None, None) => return Err(missing("account", "--client-id", CLIENT_ID)),
        };
        let api_key = api_key.or_else(|| dev.known(API_KEY).map(Secret::new));
        let api_key = api_key.ok_or_else(|| missing("key", "--api-key", API_KEY))?;
        let (url, certificate) = match url {
            Some(url) => (url, Certificate::Checked),
            None => (base_address(config).await?, Certificate::OfThisMachine),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{url} is neither an http nor an https address").into());
        }
        let merchant_id = dev.known(MERCHANT_ID);
        Ok(Destination { url, certificate, client_id, api_key, merchant_id })
    }
}

fn missing(what: &str, argument: &str, name: &str) -> Failure {
    format!(
        "no {what} is named: give `{argument}` or set {name}. In the data folder of a sandbox, which `--data-dir` names, \
         `dev.env` has it for the address of that sandbox"
    )
    .into()
}

/// What `regente dev` has written, if it is about the service that is asked. Its key is sent nowhere else.
struct Dev(BTreeMap<String, String>);

impl Dev {
    fn of(config: &Config, asked: Option<&Url>) -> Self {
        let values = read_env_file(config);
        let own = values.get(URL).and_then(|text| Url::parse(text).ok());
        match asked {
            Some(asked) if own.is_none_or(|own| own.origin() != asked.origin()) => Self(BTreeMap::new()),
            Some(_) | None => Self(values),
        }
    }

    /// The value of a variable, or that of the file.
    fn known(&self, name: &str) -> Option<String> {
        variable(name).or_else(|| self.0.get(name).cloned())
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
