//! Lists of bounded length.

use std::borrow::Cow;
use std::ops::Deref;

use deserr::{Deserr, IntoValue, Sequence, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::IN_PLACE;
use super::reading::refused;
use crate::problems::Problems;

/// At least `MIN` and at most `MAX` elements. All invalid elements are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> Default for List<T, MIN, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MIN: usize, const MAX: usize> List<T, MIN, MAX> {
    /// The elements.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Deserr<Problems>, const MIN: usize, const MAX: usize> Deserr<Problems> for List<T, MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        if let Value::Sequence(elements) = &value {
            if elements.len() < MIN {
                return Err(refused(location, format_args!("must contain at least {MIN} elements")));
            }
            if elements.len() > MAX {
                return Err(refused(location, format_args!("must contain no more than {MAX} elements")));
            }
        }
        Vec::deserialize_from_value(value, location).map(Self)
    }
}

impl<T: ToSchema, const MIN: usize, const MAX: usize> PartialSchema for List<T, MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        let elements = ArrayBuilder::new().items(Ref::from_schema_name(T::name()));
        elements.min_items((MIN > 0).then_some(MIN)).max_items(Some(MAX)).into()
    }
}

impl<T: ToSchema, const MIN: usize, const MAX: usize> ToSchema for List<T, MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}{MIN}to{MAX}Of{}", T::name()))
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        found.push((T::name().into_owned(), T::schema()));
        T::schemas(found);
    }
}

/// As [`List`]; a single value counts as a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> OneOrMany<T, MIN, MAX> {
    /// The elements.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: Deserr<Problems>, const MIN: usize, const MAX: usize> Deserr<Problems> for OneOrMany<T, MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        match value {
            several @ Value::Sequence(_) => {
                List::<T, MIN, MAX>::deserialize_from_value(several, location).map(|list| Self(list.0))
            }
            one @ (Value::Null
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::NegativeInteger(_)
            | Value::Float(_)
            | Value::String(_)
            | Value::Map(_)) => T::deserialize_from_value(one, location).map(|one| Self(vec![one])),
        }
    }
}

impl<T: ToSchema, const MIN: usize, const MAX: usize> PartialSchema for OneOrMany<T, MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        List::<T, MIN, MAX>::schema()
    }
}

impl<T: ToSchema, const MIN: usize, const MAX: usize> ToSchema for OneOrMany<T, MIN, MAX> {
    fn name() -> Cow<'static, str> {
        List::<T, MIN, MAX>::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        List::<T, MIN, MAX>::schemas(found);
    }
}
