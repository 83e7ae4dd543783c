//! How long idempotency keys are kept.

use std::time::Duration;

/// How long a finished answer is kept for its key; that of a charge, since the charge moved last.
pub const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// When a caller whose first request with a key is still running may ask again.
pub const RUNNING_RETRY_AFTER: Duration = Duration::from_secs(10);
