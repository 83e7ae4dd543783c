//! Values that know where they stood.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::path::Path;
use crate::problems::Problems;

/// A value with its path in the body, for problems that are found after reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The path; empty for the body itself.
    pub path: String,
    /// The value.
    pub value: T,
}

impl<T: Deserr<Problems>> Deserr<Problems> for Located<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let path = if location.is_origin() { String::new() } else { Path(location).to_string() };
        T::deserialize_from_value(value, location).map(|value| Self { path, value })
    }
}

impl<T: ToSchema> PartialSchema for Located<T> {
    fn schema() -> RefOr<Schema> {
        T::schema()
    }
}

impl<T: ToSchema> ToSchema for Located<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(found);
    }
}
