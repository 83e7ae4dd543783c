//! Deletes a record whatever else changes it meanwhile.

use regente_store::Commit;

use crate::error::Error;
use crate::races;

/// Deletes a record; `attempt` finds it, writes the deletion once, and fails when there is no such record.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first; otherwise what `attempt` answers.
pub(crate) async fn delete<F: Future<Output = Result<Commit, Error>>>(
    attempt: impl Fn() -> F,
) -> Result<(), Error> {
    let mut may_be_done = false;
    for _ in races::tries() {
        match attempt().await {
            Ok(Commit::Applied) => return Ok(()),
            Ok(Commit::Refused(_)) => {}
            Ok(Commit::Unknown) => may_be_done = true,
            // An earlier commit with an unknown outcome did delete it.
            Err(Error::NotFound) if may_be_done => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Err(Error::busy())
}
