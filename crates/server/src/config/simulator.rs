//! The settings of the simulator's place and shared secret.

use std::path::PathBuf;
use std::time::Duration;

use regente_providers::sandbox::http::RemoteOptions;
use serde_json::Value;
use zeroize::Zeroizing;

use super::layers::ConfigError;
use super::{Config, Place};

/// Where the simulator is.
#[derive(Clone)]
pub enum Simulator {
    /// In this process, with its transaction log there.
    InProcess(Place),
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

    /// The secret that the simulator shares with its callers.
    ///
    /// # Errors
    /// Its file cannot be read, or it is empty or not printable ASCII. The content is not repeated.
    pub fn sandbox_key(&self) -> Result<Option<Zeroizing<String>>, ConfigError> {
        let (key, text) = match (&self.sandbox.key, &self.sandbox.key_file) {
            (Some(key), _) => ("`sandbox.key`".to_owned(), Zeroizing::new(key.expose().to_owned())),
            (None, Some(path)) => {
                let name = format!("`sandbox.key_file` {}", path.display());
                let text = std::fs::read_to_string(path)
                    .map_err(|error| ConfigError::one(format!("{name}: {error}")))?;
                (name, Zeroizing::new(text.trim().to_owned()))
            }
            (None, None) => return Ok(None),
        };
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::one(format!("{key}: must be printable ASCII without spaces")));
        }
        Ok(Some(text))
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
}
