//! Addresses in bodies (`docs/interface/customers.md#addresses`). Their members are read by [`Address::parse`]: what is blank counts as
//! not sent, and then nothing of it is required.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::json;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{Address, Demand};
use crate::country::CountryOrBlank;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Object, Path, Text};

/// The most bytes of an address, unknown members included.
const BYTES_MAX: usize = 16 * 1024;

type Required = Text<1, { chars_max::LINE }>;
type Line = Text<0, { chars_max::LINE }>;

/// A complete address, or nothing.
pub struct SentAddress(pub Option<Address>);

/// An address of which any part may be missing, or nothing.
pub struct SentParts(pub Option<Address>);

impl Deserr<Problems> for SentAddress {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        address(value, location, Demand::Complete).map(Self)
    }
}

impl Deserr<Problems> for SentParts {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        address(value, location, Demand::Parts).map(Self)
    }
}

impl SentAddress {
    /// The address that may have been sent.
    pub fn given(sent: Option<Self>) -> Option<Address> {
        sent?.0
    }
}

impl SentParts {
    /// The address that may have been sent.
    pub fn given(sent: Option<Self>) -> Option<Address> {
        sent?.0
    }
}

fn address<V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
    demand: Demand,
) -> Result<Option<Address>, Problems> {
    let sent = Object::<BYTES_MAX>::deserialize_from_value(value, location)?;
    let mut problems = Problems::new();
    let address = Address::parse(sent.members(), demand, &Path(location).to_string(), &mut problems);
    problems.into_result().map(|()| address)
}

/// A complete address.
#[derive(ToSchema)]
#[schema(as = NewAddress, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `Address::parse` reads")]
pub(super) struct NewAddress {
    /// ISO 3166-1 alpha-2; `BR` by default.
    #[schema(default = "BR")]
    country: Option<CountryOrBlank>,
    /// State or province.
    state: Required,
    /// City.
    city: Required,
    /// District.
    district: Required,
    /// Postal code.
    zip_code: Required,
    /// Street.
    street: Required,
    /// Number in the street.
    street_number: Required,
    /// Apartment, floor and the like.
    complement: Option<Line>,
}

/// An address of which any part may be missing.
#[derive(ToSchema)]
#[schema(as = PartialAddress, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `Address::parse` reads")]
struct PartialAddress {
    /// ISO 3166-1 alpha-2.
    country: Option<CountryOrBlank>,
    /// State or province.
    state: Option<Line>,
    /// City.
    city: Option<Line>,
    /// District.
    district: Option<Line>,
    /// Postal code.
    zip_code: Option<Line>,
    /// Street.
    street: Option<Line>,
    /// Number in the street.
    street_number: Option<Line>,
    /// Apartment, floor and the like.
    complement: Option<Line>,
}

/// A complete address, or `{}`, which shipped checkouts send for one that they do not know.
pub fn address_or_nothing() -> Schema {
    let nothing = ObjectBuilder::new().schema_type(Type::Object).enum_values(Some([json!({})]));
    OneOfBuilder::new()
        .item(Ref::from_schema_name(NewAddress::name()))
        .item(nothing)
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("Where he lives. `{}` counts as nothing."))
        .into()
}

impl PartialSchema for SentAddress {
    fn schema() -> RefOr<Schema> {
        NewAddress::schema()
    }
}

impl ToSchema for SentAddress {
    fn name() -> Cow<'static, str> {
        NewAddress::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        NewAddress::schemas(found);
    }
}

impl PartialSchema for SentParts {
    fn schema() -> RefOr<Schema> {
        PartialAddress::schema()
    }
}

impl ToSchema for SentParts {
    fn name() -> Cow<'static, str> {
        PartialAddress::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        PartialAddress::schemas(found);
    }
}
