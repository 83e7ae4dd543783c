//! How long a card or CVV token lives.

use std::time::Duration;

/// A token not used within this time expires.
pub const LIFE: Duration = Duration::from_secs(2 * 60 * 60);
