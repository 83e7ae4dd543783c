//! Objects of any members, kept as sent.

use std::borrow::Cow;
use std::io;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::IN_PLACE;
use super::card_data::CardData;
use super::reading::{EMPTY, refused};
use crate::problems::Problems;

/// An object of any members, of at most `BYTES_MAX` bytes when written without white space. It holds no card data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<const BYTES_MAX: usize>(Map<String, Json>);

/// As [`Object`], of what may look like card data: identifiers and secrets. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct VerbatimObject<const BYTES_MAX: usize>(Map<String, Json>);

impl<const BYTES_MAX: usize> Object<BYTES_MAX> {
    /// The members.
    pub fn into_members(self) -> Map<String, Json> {
        self.0
    }

    /// The members, borrowed.
    pub const fn members(&self) -> &Map<String, Json> {
        &self.0
    }
}

impl<const BYTES_MAX: usize> VerbatimObject<BYTES_MAX> {
    /// The members.
    pub fn into_members(self) -> Map<String, Json> {
        self.0
    }
}

impl<const BYTES_MAX: usize> Deserr<Problems> for Object<BYTES_MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let members = bounded::<BYTES_MAX, V>(value, location)?;
        let mut found = CardData::default();
        found.look_at_members(&members, location);
        found.into_problems().into_result().map(|()| Self(members))
    }
}

impl<const BYTES_MAX: usize> Deserr<Problems> for VerbatimObject<BYTES_MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        bounded::<BYTES_MAX, V>(value, location).map(Self)
    }
}

fn bounded<const BYTES_MAX: usize, V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
) -> Result<Map<String, Json>, Problems> {
    match Deserr::<Problems>::deserialize_from_value(value, location)? {
        Json::Object(members) => match serde_json::to_writer(Room(BYTES_MAX), &members) {
            Ok(()) => Ok(members),
            Err(_) => Err(refused(location, format_args!("must not be larger than {BYTES_MAX} bytes"))),
        },
        Json::Null => Err(refused(location, EMPTY)),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Err(refused(location, "must be an object"))
        }
    }
}

/// So many bytes may be written. They go nowhere.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn any_object() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Object).into()
}

impl<const BYTES_MAX: usize> PartialSchema for Object<BYTES_MAX> {
    fn schema() -> RefOr<Schema> {
        any_object()
    }
}

impl<const BYTES_MAX: usize> ToSchema for Object<BYTES_MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Object{BYTES_MAX}"))
    }
}

impl<const BYTES_MAX: usize> PartialSchema for VerbatimObject<BYTES_MAX> {
    fn schema() -> RefOr<Schema> {
        any_object()
    }
}

impl<const BYTES_MAX: usize> ToSchema for VerbatimObject<BYTES_MAX> {
    fn name() -> Cow<'static, str> {
        Object::<BYTES_MAX>::name()
    }
}
