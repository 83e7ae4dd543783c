//! How long what callers authenticate with lives, and how much of it there may be.

use std::time::Duration;

/// The longest life of a client token, and the one that a token without an end of its own gets: a year.
pub const CLIENT_TOKEN_LIFE_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long a client token is kept after its end, so that its use is answered like that of any other ended key.
pub const CLIENT_TOKEN_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Secret keys of an account that may be active at once: the former and the new one, while one is replaced.
pub const SECRET_KEYS_ACTIVE_MAX: usize = 2;
