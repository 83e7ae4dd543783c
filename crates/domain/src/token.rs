//! How long a card or CVV token lives.

use std::time::Duration;

/// A token that is not used for so long is of no use any more.
pub const LIFE: Duration = Duration::from_secs(2 * 60 * 60);
