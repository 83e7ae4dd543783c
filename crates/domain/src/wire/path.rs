//! Where a value stands in a body: `owner.email`, `payments[1].amount`, and `body` for the body itself.

use std::fmt;

use deserr::ValuePointerRef;

use crate::card::in_text::masked;

/// The most characters of a member's name in a problem.
const SEGMENT_CHARS_MAX: usize = 64;

/// A position. Its text is made only for a problem, and shows no card number that a member is named after.
#[derive(Clone, Copy)]
pub struct Path<'a>(pub ValuePointerRef<'a>);

impl<'a> Path<'a> {
    /// The body itself.
    pub const ROOT: Self = Self(ValuePointerRef::Origin);

    /// That of a member of the object here.
    pub fn member(&'a self, name: &'a str) -> Self {
        Self(self.0.push_key(name))
    }

    /// That of an element of the array here.
    pub fn element(&'a self, index: usize) -> Self {
        Self(self.0.push_index(index))
    }
}

impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ValuePointerRef::Origin => f.write_str("body"),
            ValuePointerRef::Key { key, prev } => {
                if !prev.is_origin() {
                    write!(f, "{}.", Self(*prev))?;
                }
                write!(f, "{:.SEGMENT_CHARS_MAX$}", masked(key))
            }
            ValuePointerRef::Index { index, prev } => {
                if !prev.is_origin() {
                    write!(f, "{}", Self(*prev))?;
                }
                write!(f, "[{index}]")
            }
        }
    }
}
