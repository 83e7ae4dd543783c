//! Cards in bodies. A number or a security code is read from a text that is wiped, and no problem repeats it.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use zeroize::Zeroizing;

use super::{CardNumber, CardNumberError, Cvv, Expiry, in_text};
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{IN_PLACE, Text, read_with, refused};

/// The member with the holder's name.
pub(crate) const HOLDER_NAME: &str = "cardHolderName";
/// The member with the number.
pub(crate) const NUMBER: &str = "cardNumber";

/// The name on a card.
pub type HolderName = Text<1, { chars_max::NAME }>;

/// A well-formed card number; `None` when its check digit is wrong, which is a decline and no problem of the body.
#[derive(Clone, Debug)]
pub struct SentNumber(pub Option<CardNumber>);

/// A card with well-formed members. Whether its number is right and it has not expired is not known here. It is never printed.
#[derive(Clone)]
pub struct InlineCard {
    /// The number.
    pub number: SentNumber,
    /// The holder's name.
    pub holder_name: String,
    /// The month in which it ends.
    pub expiry: Expiry,
    /// The security code.
    pub cvv: Option<Cvv>,
}

/// A card, server to server. It is stored.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = InlineCard, rename_all = "camelCase")]
struct SentCard {
    card_holder_name: HolderName,
    /// 13 to 19 digits with a right check digit; spaces and dashes do not count.
    card_number: SentNumber,
    /// Required unless `recurrence` is `subsequent` or `unscheduled`.
    #[deserr(default)]
    card_cvv: Option<Cvv>,
    card_expiration_date: Expiry,
}

impl Deserr<Problems> for InlineCard {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let look = |members: &Map<String, Json>, problems: &mut Problems| {
            must_not_name_itself(members, location, problems);
        };
        let SentCard { card_holder_name, card_number, card_cvv, card_expiration_date } =
            read_with(value, location, look)?;
        Ok(Self {
            number: card_number,
            holder_name: card_holder_name.into_string(),
            expiry: card_expiration_date,
            cvv: card_cvv,
        })
    }
}

/// Refuses a holder's name that has the number of the card, in whatever form. One that looks like any card number is refused as a text.
pub(crate) fn must_not_name_itself(
    members: &Map<String, Json>,
    location: ValuePointerRef<'_>,
    problems: &mut Problems,
) {
    let text = |name| members.get(name).and_then(Json::as_str);
    if let (Some(name), Some(number)) = (text(HOLDER_NAME), text(NUMBER))
        && let Ok(number) = CardNumber::parse(number)
        && in_text::card_data(name).is_none()
        && in_text::names(name, &number)
    {
        problems.extend(refused(location.push_key(HOLDER_NAME), "must not contain the number of the card"));
    }
}

/// Reads a secret with `parse`. The text that it is read from is wiped.
fn secret_as<T, V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
    rule: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Problems> {
    match value {
        Value::Null => Err(refused(location, "should not be empty")),
        Value::String(text) => parse(&Zeroizing::new(text)).ok_or_else(|| refused(location, rule)),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::NegativeInteger(_)
        | Value::Float(_)
        | Value::Sequence(_)
        | Value::Map(_) => Err(refused(location, rule)),
    }
}

fn number(text: &str) -> Option<SentNumber> {
    match CardNumber::parse(text) {
        Ok(number) => Some(SentNumber(Some(number))),
        Err(CardNumberError::Checksum) => Some(SentNumber(None)),
        Err(CardNumberError::NotDigits | CardNumberError::Length) => None,
    }
}

impl Deserr<Problems> for SentNumber {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        secret_as(value, location, "must be a card number of 13 to 19 digits", number)
    }
}

impl Deserr<Problems> for Cvv {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        secret_as(value, location, super::NOT_A_CVV, Self::parse)
    }
}

impl Deserr<Problems> for Expiry {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        secret_as(value, location, "must be a month in the form MM/YYYY", Self::parse)
    }
}

fn text_like(pattern: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
}

impl PartialSchema for SentNumber {
    fn schema() -> RefOr<Schema> {
        text_like("^[ -]*([0-9][ -]*){13,19}$")
    }
}

impl ToSchema for SentNumber {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}CardNumber"))
    }
}

impl PartialSchema for Cvv {
    fn schema() -> RefOr<Schema> {
        text_like("^[0-9]{3,4}$")
    }
}

impl ToSchema for Cvv {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Cvv"))
    }
}

impl PartialSchema for Expiry {
    fn schema() -> RefOr<Schema> {
        text_like("^(0[1-9]|1[0-2])/[0-9]{4}$")
    }
}

impl ToSchema for Expiry {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Expiry"))
    }
}

impl PartialSchema for InlineCard {
    fn schema() -> RefOr<Schema> {
        SentCard::schema()
    }
}

impl ToSchema for InlineCard {
    fn name() -> Cow<'static, str> {
        SentCard::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentCard::schemas(found);
    }
}
