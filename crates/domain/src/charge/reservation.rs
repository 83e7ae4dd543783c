//! How long a charge stays reserved.

use std::time::Duration;

/// A reservation not captured within this time is voided; acquirers release it at about the same time.
pub const RESERVED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// When to try again if a reservation is due to be voided while another operation is open.
pub const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60 * 60);
