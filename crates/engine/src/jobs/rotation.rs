//! Reseals data that is sealed under a former data key.

use std::time::Duration;

use crate::app::App;
use crate::error::Error;
use crate::queue::Ended;
use crate::vault::ResealProgress;

/// How often the job runs when no rotation is under way. A rotation brings it forward.
const EVERY: Duration = Duration::from_secs(10 * 60);

/// Runs one piece; the vault decides when the next one is due.
pub(super) async fn reseal(app: &App) -> Result<Ended, Error> {
    let now = app.clock.deployment();
    Ok(Ended::Again {
        at: match app.vault.reseal().await? {
            ResealProgress::Done => now + EVERY,
            ResealProgress::Again { after } => now + after,
        },
    })
}
