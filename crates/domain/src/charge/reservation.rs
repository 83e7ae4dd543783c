//! How long the reservation of a charge stands.

use std::time::Duration;

/// A reservation that is not captured for so long is voided: about then acquirers let it go by themselves.
pub const RESERVED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// When it is time to void a reservation and something else is done with its charge: when to look again.
pub const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60 * 60);
