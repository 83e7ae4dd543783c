//! The settings of the limits on public keys, and their conversion.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Config;
use crate::http::card_testing::{Bounds, CardTestingLimits};
use crate::http::rates::Rate;

/// `card_testing.…`: what one may do with public keys in requests that make tokens, cards and charges, counted together.
/// 0 is no limit. Of each account they count by address, by the first six digits of the card and by card.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardTestingConfig {
    /// Requests per minute with one public key. Default 6 000 in production mode, 0 in sandbox mode.
    pub key_requests_per_minute: u32,
    /// Requests per minute with the key of one session. Default 60 in production mode, 0 in sandbox mode.
    pub session_requests_per_minute: u32,
    /// Requests per minute from one address. Default 120 in production mode, 0 in sandbox mode.
    pub address_requests_per_minute: u32,
    /// Requests per minute for cards with the same first six digits. Default 600 in production mode, 0 in sandbox mode.
    pub bin_requests_per_minute: u32,
    /// Requests per minute for one card. Default 10 in production mode, 0 in sandbox mode.
    pub card_requests_per_minute: u32,
    /// Refused cards of one public key within `refusals_within_seconds`; more block the key, and with it everybody who
    /// buys through it. Default 0.
    pub key_refusals_max: u32,
    /// The same from one address. Default 20 in production mode, 0 in sandbox mode.
    pub address_refusals_max: u32,
    /// The same of cards with the same first six digits. Default 300 in production mode, 0 in sandbox mode.
    pub bin_refusals_max: u32,
    /// The same of one card. Default 8 in production mode, 0 in sandbox mode.
    pub card_refusals_max: u32,
    /// The time in which refusals are counted. Default 600.
    pub refusals_within_seconds: u64,
    /// How long too many refusals block. Default 900.
    pub block_seconds: u64,
}

/// The defaults of production.
pub(super) const PRODUCTION_DEFAULTS: [(&str, &str); 8] = [
    ("card_testing.key_requests_per_minute", "6000"),
    ("card_testing.session_requests_per_minute", "60"),
    ("card_testing.address_requests_per_minute", "120"),
    ("card_testing.bin_requests_per_minute", "600"),
    ("card_testing.card_requests_per_minute", "10"),
    ("card_testing.address_refusals_max", "20"),
    ("card_testing.bin_refusals_max", "300"),
    ("card_testing.card_refusals_max", "8"),
];

impl Default for CardTestingConfig {
    fn default() -> Self {
        Self {
            key_requests_per_minute: 0,
            session_requests_per_minute: 0,
            address_requests_per_minute: 0,
            bin_requests_per_minute: 0,
            card_requests_per_minute: 0,
            key_refusals_max: 0,
            address_refusals_max: 0,
            bin_refusals_max: 0,
            card_refusals_max: 0,
            refusals_within_seconds: 600,
            block_seconds: 900,
        }
    }
}

impl Config {
    /// The limits on public keys.
    pub(super) fn card_testing_limits(&self) -> CardTestingLimits {
        let config = &self.card_testing;
        let within = Duration::from_secs(config.refusals_within_seconds);
        let bounds = |requests, refusals| Bounds {
            requests: Rate::per_minute(requests),
            refusals: Rate::within(within, refusals),
        };
        CardTestingLimits {
            key: bounds(config.key_requests_per_minute, config.key_refusals_max),
            // A session bounds the cards that are refused by itself.
            session: bounds(config.session_requests_per_minute, 0),
            address: bounds(config.address_requests_per_minute, config.address_refusals_max),
            bin: bounds(config.bin_requests_per_minute, config.bin_refusals_max),
            card: bounds(config.card_requests_per_minute, config.card_refusals_max),
            block_for: Duration::from_secs(config.block_seconds),
        }
    }
}
