//! Where a value stands in a body: `owner.email`, `payments[1].amount`, and `body` for the body itself.

use std::fmt;

use deserr::ValuePointerRef;

use crate::card::in_text::masked;

/// The most characters of a member's name in a problem.
const SEGMENT_CHARS_MAX: usize = 64;

/// Shows a position. It shows no card number that a member is named after.
#[derive(Clone, Copy)]
pub struct Path<'a>(pub ValuePointerRef<'a>);

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
