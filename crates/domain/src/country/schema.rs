//! Countries in bodies.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Country;
use crate::problems::Problems;
use crate::wire::{not_among, one_of, text_as};

impl Deserr<Problems> for Country {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || not_among(Self::all().map(Self::code)), Self::parse)
    }
}

impl PartialSchema for Country {
    fn schema() -> RefOr<Schema> {
        one_of("An accepted ISO 3166-1 alpha-2 code.", Self::all().map(Self::code))
    }
}

impl ToSchema for Country {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Country")
    }
}

/// A country as sent: a blank counts as none.
#[derive(Debug)]
pub enum CountryOrBlank {}

impl PartialSchema for CountryOrBlank {
    fn schema() -> RefOr<Schema> {
        let blank = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([""]));
        let either = OneOfBuilder::new().item(Ref::from_schema_name(Country::name())).item(blank);
        RefOr::T(either.description(Some("A country as sent: a blank counts as none.")).into())
    }
}

impl ToSchema for CountryOrBlank {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("CountryOrBlank")
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        found.push((Country::name().into_owned(), Country::schema()));
    }
}
