//! Changes of members that may be absent.

use regente_domain::wire::Patch;

use super::{Field, Fields};

/// Reads the change of a member with the reader of its texts: what is absent stays, null removes it.
pub fn text_change(
    fields: &Fields<'_>,
    name: &str,
    text: impl FnOnce(Field<'_>) -> Option<String>,
) -> Patch<String> {
    match text(fields.optional(name)) {
        Some(text) => Patch::Set(text),
        None if fields.is_null(name) => Patch::Remove,
        None => Patch::Leave,
    }
}
