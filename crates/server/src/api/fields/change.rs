//! Changes of members that may be absent.

use super::{Field, Fields};

/// The change of a text: what is absent stays, null removes it.
pub enum TextChange {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It becomes this one.
    Set(String),
}

impl TextChange {
    /// Reads the change of a member with the reader of its texts.
    pub fn read(fields: &Fields<'_>, name: &str, text: impl FnOnce(Field<'_>) -> Option<String>) -> Self {
        match text(fields.optional(name)) {
            Some(text) => Self::Set(text),
            None if fields.is_null(name) => Self::Remove,
            None => Self::Keep,
        }
    }

    /// Changes a stored text.
    pub fn apply(&self, text: &mut Option<String>) {
        match self {
            Self::Keep => {}
            Self::Remove => *text = None,
            Self::Set(new) => *text = Some(new.clone()),
        }
    }
}
