//! Members of a change.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use crate::problems::Problems;

/// What a change does to a member: it is left out, null or a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// It stays.
    #[default]
    Leave,
    /// It is removed.
    Remove,
    /// It becomes this.
    Set(T),
}

impl<T> Patch<T> {
    /// The same of another type.
    pub fn map<U>(self, into: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Leave => Patch::Leave,
            Self::Remove => Patch::Remove,
            Self::Set(value) => Patch::Set(into(value)),
        }
    }
}

impl<T: Clone> Patch<T> {
    /// Changes what is stored.
    pub fn apply(&self, stored: &mut Option<T>) {
        match self {
            Self::Leave => {}
            Self::Remove => *stored = None,
            Self::Set(value) => *stored = Some(value.clone()),
        }
    }
}

impl<T> From<Patch<T>> for Option<Option<T>> {
    fn from(patch: Patch<T>) -> Self {
        match patch {
            Patch::Leave => None,
            Patch::Remove => Some(None),
            Patch::Set(value) => Some(Some(value)),
        }
    }
}

impl<T: Deserr<Problems>> Deserr<Problems> for Patch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let value = Option::deserialize_from_value(value, location)?;
        Ok(value.map_or(Self::Remove, Self::Set))
    }
}
