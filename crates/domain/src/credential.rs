//! Limits for keys and client tokens: how long they live, and how many may be active.

use std::time::Duration;

/// The longest life of a client token, also the default: a year.
pub const CLIENT_TOKEN_LIFE_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long a client token is kept after it ends, so that its use gets the answer for an ended key.
pub const CLIENT_TOKEN_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Most active secret keys of an account: the old and the new one during a rotation.
pub const SECRET_KEYS_ACTIVE_MAX: usize = 2;
