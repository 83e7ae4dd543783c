//! The settings of the simulator: its place, its shared secret and its options.

use std::path::PathBuf;
use std::time::Duration;

use regente_domain::provider_type::Simulators;
use regente_providers::request::Mode;
use regente_providers::sandbox::http::RemoteOptions;
use regente_providers::sandbox::{self, CvvRule, SandboxOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use super::durations::whole_millis;
use super::layers::ConfigError;
use super::secret::{self, SecretFile};
use super::{Config, Secret, TransactionLogLocation};

/// `sandbox.…`: the simulated provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// Fixes what the simulator leaves to chance. Default 0.
    pub seed: u64,
    /// How long a caller waits for the simulator. Default 2 000.
    pub deadline_ms: u64,
    /// Whether the security code decides charges too. Default true.
    pub cvv_on_charge: bool,
    /// The file of the simulator's transaction log, or `memory`. Default `<data_dir>/sandbox-books.db`.
    pub books: Option<String>,
    /// A file with the simulator's own fault plan, a JSON array. Default none.
    pub faults_file: Option<PathBuf>,
    /// `http://host:port` of a `regente sandbox-provider`, which then keeps the transaction log for all nodes. Default
    /// none: the simulator runs in this process.
    pub url: Option<String>,
    /// Whether production mode, too, registers and asks providers of the simulated types, which approve payments that
    /// move no money. Default false.
    pub allow_in_production: bool,
    /// The secret that the simulator shares with its callers.
    pub key: Option<Secret>,
    /// A file that holds it instead.
    pub key_file: Option<PathBuf>,
    /// `regente sandbox-provider`: address and port; port 0 is any free one. Default `127.0.0.1:8081`.
    pub listen: String,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        let deadline_ms = whole_millis(sandbox::DEADLINE);
        Self {
            seed: 0,
            deadline_ms,
            cvv_on_charge: true,
            books: None,
            faults_file: None,
            url: None,
            allow_in_production: false,
            key: None,
            key_file: None,
            listen: "127.0.0.1:8081".to_owned(),
        }
    }
}

/// Where the simulator is.
#[derive(Clone)]
pub enum Simulator {
    /// In this process, with its transaction log there.
    InProcess(TransactionLogLocation),
    /// In a `regente sandbox-provider`.
    Remote(RemoteOptions),
}

impl Config {
    /// The place of the simulator.
    ///
    /// # Errors
    /// Its key cannot be read.
    pub fn simulator(&self) -> Result<Simulator, ConfigError> {
        let Some(url) = self.sandbox.url.clone() else {
            return Ok(Simulator::InProcess(self.sandbox_books()));
        };
        let deadline = Duration::from_millis(self.sandbox.deadline_ms);
        Ok(Simulator::Remote(RemoteOptions { url, key: self.sandbox_key()?, deadline }))
    }

    /// Whether the simulated provider types can be registered and asked.
    pub(super) fn simulators(&self) -> Simulators {
        match self.mode {
            Mode::Production if !self.sandbox.allow_in_production => Simulators::Refused,
            Mode::Sandbox | Mode::Production => Simulators::Used,
        }
    }

    /// The secret that the simulator shares with its callers.
    ///
    /// # Errors
    /// Its file cannot be read, or it is empty or not printable ASCII. The content is not repeated.
    pub fn sandbox_key(&self) -> Result<Option<Zeroizing<String>>, ConfigError> {
        let file = SecretFile::of("sandbox.key_file", self.sandbox.key_file.as_deref());
        secret::of_header(("sandbox.key", self.sandbox.key.as_ref()), file)
    }

    /// The simulator's fault plan as JSON, with the name of its file.
    ///
    /// # Errors
    /// Its file cannot be read, or is no JSON.
    pub fn sandbox_faults(&self) -> Result<Option<(PathBuf, Value)>, ConfigError> {
        let Some(path) = self.sandbox.faults_file.clone() else { return Ok(None) };
        let wrong =
            |what: String| ConfigError::one(format!("`sandbox.faults_file` {}: {what}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let plan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Some((path, plan)))
    }

    /// The options of the simulator; `card_hash_key` keys its hashes.
    pub fn sandbox_options(&self, card_hash_key: Zeroizing<Vec<u8>>) -> SandboxOptions {
        SandboxOptions {
            deadline: Duration::from_millis(self.sandbox.deadline_ms),
            cvv_on_charge: if self.sandbox.cvv_on_charge { CvvRule::Applied } else { CvvRule::Ignored },
            ..SandboxOptions::new(self.sandbox.seed, card_hash_key)
        }
    }
}
