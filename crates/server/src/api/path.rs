//! Parses the ids in paths.

use regente_domain::id::Id;
use regente_engine::error::Error;

/// Parses the id in a path. A text that is no UUID is answered like an id that does not exist
/// (`docs/interface/conventions.md#values`).
pub fn path_id<T>(text: &str) -> Result<Id<T>, Error> {
    text.parse().map_err(|_| Error::NotFound)
}
