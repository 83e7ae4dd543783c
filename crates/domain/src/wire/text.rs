//! Texts. What is read as a text is stored, shown and sent in events as it is, so it must not hold card data
//! (`docs/interface/conventions.md#card-numbers-in-texts`).

use std::borrow::Cow;
use std::ops::Deref;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::IN_PLACE;
use super::card_data::CardData;
use super::reading::{EMPTY, Rule, refused};
use crate::problems::Problems;
use crate::text::{chars_max, is_email};

/// Text of at most `MAX` characters. With a `MIN` of 1, at least one of them is no white space; with 0 it may be empty. It is
/// not trimmed, and holds no card data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

/// As [`Text`], of what may look like a card number: an identifier, the number of a phone, of a document or of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Verbatim<const MIN: usize, const MAX: usize>(String);

/// An e-mail address without white space around it, of at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EmailAddress<const MAX: usize = { chars_max::EMAIL }>(String);

/// Exactly `COUNT` ASCII digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digits<const COUNT: usize>(String);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text that may have been sent.
    pub fn given(sent: Option<Self>) -> Option<String> {
        sent.map(Self::into_string)
    }

    /// The text as a value of its own.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MIN: usize, const MAX: usize> Verbatim<MIN, MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text that may have been sent.
    pub fn given(sent: Option<Self>) -> Option<String> {
        sent.map(Self::into_string)
    }

    /// The text as a value of its own.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MAX: usize> EmailAddress<MAX> {
    /// The text as a value of its own.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const COUNT: usize> Digits<COUNT> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> Deserr<Problems> for Text<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        free(bounded::<MIN, MAX>(text_of(value, location)?, location)?, location).map(Self)
    }
}

impl<const MIN: usize, const MAX: usize> Deserr<Problems> for Verbatim<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        bounded::<MIN, MAX>(text_of(value, location)?, location).map(Self)
    }
}

impl<const MAX: usize> Deserr<Problems> for EmailAddress<MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text = text_of(value, location)?.trim().to_owned();
        let text = bounded::<0, MAX>(text, location)?;
        if is_email(&text) {
            free(text, location).map(Self)
        } else {
            Err(refused(location, "must be an email"))
        }
    }
}

impl<const COUNT: usize> Deserr<Problems> for Digits<COUNT> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text = text_of(value, location)?;
        if text.len() == COUNT && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text))
        } else {
            Err(refused(location, format_args!("must have {COUNT} digits")))
        }
    }
}

fn text_of<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<String, Problems> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Err(refused(location, EMPTY)),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::NegativeInteger(_)
        | Value::Float(_)
        | Value::Sequence(_)
        | Value::Map(_) => Err(refused(location, "must be a string")),
    }
}

fn bounded<const MIN: usize, const MAX: usize>(
    text: String,
    location: ValuePointerRef<'_>,
) -> Result<String, Problems> {
    if MIN > 0 && text.trim().is_empty() {
        return Err(refused(location, EMPTY));
    }
    within_chars(&text, MAX).map_err(|rule| refused(location, rule))?;
    Ok(text)
}

/// A text of at most `chars_max` characters.
///
/// # Errors
/// The rule, when it is longer.
pub fn within_chars(text: &str, chars_max: usize) -> Result<&str, Rule> {
    // The length in bytes is cheap, and enough for the usual short text.
    if text.len() > chars_max && text.chars().count() > chars_max {
        Err(Rule::Owned(format!("must be shorter than or equal to {chars_max} characters")))
    } else {
        Ok(text)
    }
}

fn free(text: String, location: ValuePointerRef<'_>) -> Result<String, Problems> {
    let mut found = CardData::default();
    found.look_at_text(&text, location);
    found.into_problems().into_result().map(|()| text)
}

fn text_schema(min: usize, max: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).min_length((min > 0).then_some(min)).max_length(Some(max))
}

impl<const MIN: usize, const MAX: usize> PartialSchema for Text<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        text_schema(MIN, MAX).into()
    }
}

impl<const MIN: usize, const MAX: usize> ToSchema for Text<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Text{MIN}to{MAX}"))
    }
}

impl<const MIN: usize, const MAX: usize> PartialSchema for Verbatim<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        text_schema(MIN, MAX).into()
    }
}

impl<const MIN: usize, const MAX: usize> ToSchema for Verbatim<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Text::<MIN, MAX>::name()
    }
}

impl<const MAX: usize> PartialSchema for EmailAddress<MAX> {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Email);
        text_schema(0, MAX).format(Some(format)).into()
    }
}

impl<const MAX: usize> ToSchema for EmailAddress<MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}EmailAddress{MAX}"))
    }
}

impl<const COUNT: usize> PartialSchema for Digits<COUNT> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!("^[0-9]{{{COUNT}}}$");
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
    }
}

impl<const COUNT: usize> ToSchema for Digits<COUNT> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Digits{COUNT}"))
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Text<MIN, MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Verbatim<MIN, MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for EmailAddress<MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const COUNT: usize> Deref for Digits<COUNT> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}
