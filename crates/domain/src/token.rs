//! How long a card or CVV token lives, and what it is made of.

mod data;

use std::time::Duration;

pub use data::NewToken;

/// A token not used within this time expires.
pub const LIFE: Duration = Duration::from_secs(2 * 60 * 60);
