//! When a session can be paid no longer, as it is sent.

use std::time::Duration;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use crate::local_day::end_of;
use crate::problems::Problems;
use crate::time::{Timestamp, parse_date};
use crate::wire::{NOT_A_DATE, Verbatim, refused};

/// A point in time, or a day of São Paulo, which means its last second.
pub(crate) struct DueDate(Timestamp);

impl DueDate {
    /// The point in time that may have been sent.
    pub(super) fn given(sent: Option<Self>) -> Option<Timestamp> {
        sent.map(|DueDate(due_at)| due_at)
    }
}

impl From<DueDate> for Timestamp {
    fn from(DueDate(due_at): DueDate) -> Self {
        due_at
    }
}

impl Deserr<Problems> for DueDate {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text: Verbatim<0, { usize::MAX }> = Deserr::deserialize_from_value(value, at)?;
        let due_at = match parse_date(&text) {
            Some(day) => Some(end_of(day) - Duration::from_secs(1)),
            None => Timestamp::parse(&text),
        };
        due_at.map(Self).ok_or_else(|| refused(at, NOT_A_DATE))
    }
}
