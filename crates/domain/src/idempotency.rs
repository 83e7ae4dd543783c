//! How long idempotency keys are kept.

use std::time::Duration;

/// How long a finished answer is kept; for a charge, counted from its last change.
pub const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// When a caller may ask again while the first request with its key is still running.
pub const RUNNING_RETRY_AFTER: Duration = Duration::from_secs(10);
