//! How often a change is tried whose record others change too: read, decide, write under the version; when another change
//! came first, all of it again. Flows, jobs, handlers and commands that do so loop over [`tries`], and say themselves what
//! they answer after the last one, mostly [`Error::busy`](crate::error::Error::busy).
//!
//! A step that is repeated for another reason has a bound of its own: the pages of a long job, or the same write while the
//! database does not answer.

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
