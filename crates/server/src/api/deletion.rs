//! Deletes a record whatever else changes it meanwhile.

use regente_engine::error::Error;
use regente_engine::races;
use regente_store::Commit;

use crate::http::error::ApiError;

/// An error that may say that the record does not exist.
pub(super) trait Missing {
    fn is_missing(&self) -> bool;
}

/// Deletes a record; `attempt` finds it, writes the deletion once, and fails when there is no such record.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first; otherwise what `attempt` answers.
pub(super) async fn delete<F, E>(attempt: impl Fn() -> F) -> Result<(), E>
where
    F: Future<Output = Result<Commit, E>>,
    E: Missing + From<Error>,
{
    let mut may_be_done = false;
    for _ in races::tries() {
        match attempt().await {
            Ok(Commit::Applied) => return Ok(()),
            Ok(Commit::Refused(_)) => {}
            Ok(Commit::Unknown) => may_be_done = true,
            // An earlier commit with an unknown outcome did delete it.
            Err(error) if may_be_done && error.is_missing() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Err(Error::busy().into())
}

impl Missing for ApiError {
    fn is_missing(&self) -> bool {
        matches!(self, Self::Engine(Error::NotFound))
    }
}
