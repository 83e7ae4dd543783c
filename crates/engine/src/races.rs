//! How often a change is tried whose record others change too: read, decide, write under the version; when another change
//! came first, all of it again. [`change`] and [`delete`] do so with one record. Whoever has more to say between two tries loops
//! over [`tries`], and says what is answered after the last one, mostly [`Error::busy`].
//!
//! A step that is repeated for another reason has a bound of its own: the pages of a long job, or the same write while the
//! database does not answer.

use regente_store::Commit;

use crate::error::Error;
use crate::metrics;

/// How often a change is tried. Of several changes of one record that come at once, one is written each time, so this many can
/// come at once and all be written. More of them come from callers who had better wait.
pub const TRIES_MAX: usize = 8;

/// The tries of one change. Whoever comes back for another one has lost a race, and it is counted.
pub fn tries() -> Tries {
    Tries { begun: 0 }
}

/// See [`tries`].
#[derive(Debug)]
pub struct Tries {
    begun: usize,
}

impl Iterator for Tries {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        if self.begun > 0 {
            metrics::race_lost();
        }
        if self.begun == TRIES_MAX {
            return None;
        }
        self.begun += 1;
        Some(())
    }
}

/// What one try of a change has done.
pub(crate) enum Changed<T> {
    /// Nothing: the record is as it is to become.
    Already(T),
    /// It has written the record that is to be answered.
    Written(Commit, T),
}

/// Changes a record; `attempt` finds it, and writes the change once under the version that it found.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first; otherwise what `attempt` answers.
pub(crate) async fn change<T, F: Future<Output = Result<Changed<T>, Error>>>(
    attempt: impl Fn() -> F,
) -> Result<T, Error> {
    for () in tries() {
        match attempt().await? {
            Changed::Already(record) | Changed::Written(Commit::Applied, record) => return Ok(record),
            // Another change came first, or it is not known whether this one was written: the stored record tells which.
            Changed::Written(Commit::Refused(_) | Commit::Unknown, _) => {}
        }
    }
    Err(Error::busy())
}

/// Deletes a record; `attempt` finds it, writes the deletion once, and fails when there is no such record.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first; otherwise what `attempt` answers.
pub(crate) async fn delete<F: Future<Output = Result<Commit, Error>>>(
    attempt: impl Fn() -> F,
) -> Result<(), Error> {
    let mut may_be_done = false;
    for () in tries() {
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
