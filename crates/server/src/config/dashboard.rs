//! The settings of the dashboard.

use serde::{Deserialize, Serialize};

use super::Config;
use crate::http::dashboard::Dashboard;

/// `dashboard.…`: the pages for the members of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DashboardConfig {
    /// Whether it is served at `/dashboard`. Default true.
    pub enabled: bool,
}

impl Default for DashboardConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Config {
    /// What becomes of requests for the dashboard.
    pub fn dashboard(&self) -> Dashboard {
        match self.dashboard.enabled {
            true => Dashboard::Served,
            false => Dashboard::Off,
        }
    }
}
