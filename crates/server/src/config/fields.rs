//! The settings of the card fields.

use serde::{Deserialize, Serialize};

use super::Config;
use crate::http::fields_origin::LegacyPages;

/// `fields.…`: the card fields of the browser library. Their address is `server.fields_base_url`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FieldsConfig {
    /// Whether pages are served that have the fields tell them what is typed, as those with the published library do: they
    /// see card numbers. Default true in sandbox mode, false in production.
    pub legacy_pages: bool,
}

impl Config {
    /// What becomes of pages that keep the card themselves.
    pub fn legacy_pages(&self) -> LegacyPages {
        match self.fields.legacy_pages {
            true => LegacyPages::Served,
            false => LegacyPages::Refused,
        }
    }
}
