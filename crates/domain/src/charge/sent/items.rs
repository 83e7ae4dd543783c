//! Items of an order (`docs/interface/charges.md#payment-methods`): members that are known are checked, and all are kept as sent.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::Value as Json;
use utoipa::ToSchema;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Ref, Schema, Type};

use super::ITEMS_MAX;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{AsSent, List, OneOrMany, Text, refused};

type Line = Text<0, { chars_max::LINE }>;

/// Items of a charge.
pub(crate) type Items = List<AsSent<Item>, 0, ITEMS_MAX>;
/// Items, or one item.
pub(super) type ItemOrItems = OneOrMany<AsSent<Item>, 0, ITEMS_MAX>;

/// One item of an order.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
pub struct Item {
    #[deserr(default)]
    id: Option<Line>,
    #[deserr(default)]
    title: Option<Line>,
    /// A number, or its text.
    #[deserr(default)]
    #[schema(schema_with = number_or_text)]
    unit_price: Option<NumberOrText>,
    /// A number, or its text.
    #[deserr(default)]
    #[schema(schema_with = number_or_text)]
    quantity: Option<NumberOrText>,
}

/// A number of 0 or more, or its text: some clients send numbers as texts.
struct NumberOrText;

impl Deserr<Problems> for NumberOrText {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text = match Deserr::<Problems>::deserialize_from_value(value, location)? {
            Json::Number(number) => number.to_string(),
            Json::String(text) => text.trim().to_owned(),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => String::new(),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
        match is_digits(whole) && is_digits(fraction) {
            true => Ok(Self),
            false => Err(refused(location, "must be a number of 0 or more")),
        }
    }
}

fn number_or_text() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0)))
        .item(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9]+([.][0-9]+)?$")))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("A number of 0 or more, or its text."))
        .into()
}

/// The schema of [`ItemOrItems`].
pub(super) fn item_or_items() -> Schema {
    let item = || Ref::from_schema_name(Item::name());
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(item()).max_items(Some(ITEMS_MAX)))
        .item(item())
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("The items, or one item."))
        .into()
}

/// Items as a charge keeps them.
pub(super) fn kept(items: Option<Items>) -> Option<Json> {
    items.map(|items| Json::Array(items.into_vec().into_iter().map(AsSent::into_json).collect()))
}

/// As [`kept`].
pub(super) fn kept_as_several(items: Option<ItemOrItems>) -> Option<Json> {
    items.map(|items| Json::Array(items.into_vec().into_iter().map(AsSent::into_json).collect()))
}
