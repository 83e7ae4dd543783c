//! Values that are kept as sent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::Value as JsonValue;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::IN_PLACE;
use super::card_data::CardData;
use super::reading::{EMPTY, refused};
use crate::problems::Problems;

/// Any value of at most `BYTES_MAX` bytes when written without white space. It holds no card data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json<const BYTES_MAX: usize>(JsonValue);

/// A value that can be read as a `T` and is kept as it was sent, with members that a `T` does not have. It holds no card
/// data.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct AsSent<T>(JsonValue, PhantomData<fn() -> T>);

/// As [`AsSent`], of a number, or of an object of numbers: what looks like a card number in it is one by chance.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Kept<T>(JsonValue, PhantomData<fn() -> T>);

impl<T: Deserr<Problems>> Deserr<Problems> for Kept<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let value: JsonValue = json_of(value, location)?;
        T::deserialize_from_value(value.clone().into_value(), location)?;
        Ok(Self(value, PhantomData))
    }
}

impl<const BYTES_MAX: usize> Deserr<Problems> for Json<BYTES_MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let value: JsonValue = json_of(value, location)?;
        if value.is_null() {
            return Err(refused(location, EMPTY));
        }
        if value.to_string().len() > BYTES_MAX {
            return Err(refused(location, format_args!("must not be larger than {BYTES_MAX} bytes")));
        }
        free(value, location).map(Self)
    }
}

impl<T: Deserr<Problems>> Deserr<Problems> for AsSent<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let value: JsonValue = json_of(value, location)?;
        let mut problems = Problems::new();
        if let Err(found) = T::deserialize_from_value(value.clone().into_value(), location) {
            problems.extend(found);
        }
        let mut card_data = CardData::default();
        card_data.look_at(&value, location);
        // A text of `T` that holds card data is named once.
        for problem in card_data.into_problems().into_details() {
            problems.add_once(problem);
        }
        problems.into_result().map(|()| Self(value, PhantomData))
    }
}

fn json_of<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<JsonValue, Problems> {
    Deserr::<Problems>::deserialize_from_value(value, location)
}

fn free(value: JsonValue, location: ValuePointerRef<'_>) -> Result<JsonValue, Problems> {
    let mut found = CardData::default();
    found.look_at(&value, location);
    found.into_problems().into_result().map(|()| value)
}

impl<T> AsSent<T> {
    /// The value.
    pub fn into_json(self) -> JsonValue {
        self.0
    }
}

impl<const BYTES_MAX: usize> Deref for Json<BYTES_MAX> {
    type Target = JsonValue;
    fn deref(&self) -> &JsonValue {
        &self.0
    }
}

impl<T> Deref for AsSent<T> {
    type Target = JsonValue;
    fn deref(&self) -> &JsonValue {
        &self.0
    }
}

impl<T> Clone for AsSent<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<T> fmt::Debug for AsSent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> PartialEq for AsSent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<const BYTES_MAX: usize> PartialSchema for Json<BYTES_MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::AnyValue).into()
    }
}

impl<const BYTES_MAX: usize> ToSchema for Json<BYTES_MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Json{BYTES_MAX}"))
    }
}

impl<T: ToSchema> PartialSchema for AsSent<T> {
    fn schema() -> RefOr<Schema> {
        T::schema()
    }
}

impl<T: ToSchema> ToSchema for AsSent<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(found);
    }
}

impl<T: ToSchema> PartialSchema for Kept<T> {
    fn schema() -> RefOr<Schema> {
        T::schema()
    }
}

impl<T: ToSchema> ToSchema for Kept<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(found);
    }
}
