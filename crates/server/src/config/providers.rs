//! The settings of calls to payment providers, other than the simulator.

use regente_providers::http_client::HttpOptions;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Config;
use super::layers::ConfigError;

/// `providers.…`: calls to payment providers other than the simulator.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProvidersConfig {
    /// The proxy of all calls to providers, `http://host:port`, except to this machine. Default none; those of the
    /// environment are not used.
    pub proxy: Option<String>,
    /// Where `STRIPE` is, instead of at its own address: for tests. Refused in production.
    pub stripe_url: Option<String>,
    /// Where `ADYEN` is. Refused in production.
    pub adyen_url: Option<String>,
    /// Where `PAGARME_V5` is. Refused in production.
    pub pagarme_v5_url: Option<String>,
}

impl ProvidersConfig {
    /// The settings that move a provider, each with its address.
    pub(super) fn moved(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { proxy: _, stripe_url, adyen_url, pagarme_v5_url } = self;
        let urls = [
            ("providers.stripe_url", stripe_url),
            ("providers.adyen_url", adyen_url),
            ("providers.pagarme_v5_url", pagarme_v5_url),
        ];
        urls.into_iter().filter_map(|(key, url)| Some((key, url.as_deref()?)))
    }
}

/// Where providers are that are not at their own addresses.
#[derive(Clone, Debug, Default)]
pub struct ProviderAddresses {
    /// `STRIPE`.
    pub stripe: Option<Url>,
    /// `ADYEN`.
    pub adyen: Option<Url>,
    /// `PAGARME_V5`.
    pub pagarme_v5: Option<Url>,
}

impl Config {
    /// The settings of the client of all adapters.
    ///
    /// # Errors
    /// The proxy is no address; impossible after the configuration was loaded.
    pub fn provider_http_options(&self) -> Result<HttpOptions, ConfigError> {
        Ok(HttpOptions { proxy: parsed("providers.proxy", self.providers.proxy.as_deref())? })
    }

    /// Where providers are that are not at their own addresses.
    ///
    /// # Errors
    /// An address cannot be read; impossible after the configuration was loaded.
    pub fn provider_addresses(&self) -> Result<ProviderAddresses, ConfigError> {
        let ProvidersConfig { proxy: _, stripe_url, adyen_url, pagarme_v5_url } = &self.providers;
        Ok(ProviderAddresses {
            stripe: parsed("providers.stripe_url", stripe_url.as_deref())?,
            adyen: parsed("providers.adyen_url", adyen_url.as_deref())?,
            pagarme_v5: parsed("providers.pagarme_v5_url", pagarme_v5_url.as_deref())?,
        })
    }
}

fn parsed(key: &str, text: Option<&str>) -> Result<Option<Url>, ConfigError> {
    text.map(Url::parse)
        .transpose()
        .map_err(|error| ConfigError::one(format!("`{key}` cannot be read: {error}")))
}
