//! What is sent of webhooks, as structs that read themselves (decision 36), and the values in them that have a spelling of
//! their own.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{EVERYTHING, EventFilter, EventName, PartialRefund, Version};
use crate::card::in_text::masked;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Text, one_of, refused};

type Endpoint = Text<1, { chars_max::FREE }>;

/// A webhook to be created.
#[derive(Clone, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "event": "transaction.authorized", "endpoint": "https://shop.example/hooks", "version": 1.1, "status": true
}))]
pub struct NewWebhook {
    /// One name of an event, or `*` for all of transactions, sellers and subscriptions. `purchase.paid`, `.failed` and
    /// `.cancelled`, and those of `session`, are extensions: sent only to webhooks that name them.
    pub event: EventFilter,
    /// Where events are sent: an `https` address of the public internet.
    pub endpoint: Endpoint,
    /// `1.1`, or `1.0` for receivers that know no signatures; also as a string. Default 1.1.
    #[deserr(default)]
    pub version: Option<Version>,
    /// Whether events are sent. Default true.
    #[deserr(default)]
    pub status: Option<bool>,
    /// What is sent for a refund of a part. Default `transaction.voided`.
    #[deserr(default)]
    pub partial_refund_event: Option<PartialRefund>,
}

/// Changes of a webhook; what is absent stays.
#[derive(Clone, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({ "status": false }))]
pub struct WebhookChanges {
    /// One name of an event, or `*`.
    #[deserr(default)]
    pub event: Option<EventFilter>,
    /// Where events are sent.
    #[deserr(default)]
    pub endpoint: Option<Endpoint>,
    /// `1.1` or `1.0`.
    #[deserr(default)]
    pub version: Option<Version>,
    /// Whether events are sent.
    #[deserr(default)]
    pub status: Option<bool>,
    /// What is sent for a refund of a part.
    #[deserr(default)]
    pub partial_refund_event: Option<PartialRefund>,
}

impl EventFilter {
    fn words() -> impl Iterator<Item = &'static str> {
        EventName::WORDS.iter().map(|(name, _)| *name)
    }
}

impl Deserr<Problems> for EventFilter {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let given = match value {
            Value::Null => return Err(refused(location, "should not be empty")),
            Value::String(text) => text,
            Value::Boolean(_)
            | Value::Integer(_)
            | Value::NegativeInteger(_)
            | Value::Float(_)
            | Value::Sequence(_)
            | Value::Map(_) => String::new(),
        };
        Self::parse(&given).ok_or_else(|| {
            let (names, given) = (Self::words().collect::<Vec<_>>().join(", "), masked(&given));
            let rule = format!("must be `*` or one of the following values: {names} (not `{given:.64}`)");
            refused(location, rule)
        })
    }
}

impl Serialize for EventFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl PartialSchema for EventFilter {
    fn schema() -> RefOr<Schema> {
        one_of(
            "What a webhook asks for: an event by its name, or `*` for all of transactions, sellers and subscriptions.",
            [EVERYTHING].into_iter().chain(Self::words()),
        )
    }
}

impl ToSchema for EventFilter {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EventFilter")
    }
}

impl Deserr<Problems> for Version {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let found = match value {
            Value::Null => return Err(refused(location, "should not be empty")),
            Value::String(word) => Self::parse(word.trim()),
            Value::Integer(1) => Some(Self::V1_0),
            Value::Float(number) => match number.to_string().as_str() {
                "1" => Some(Self::V1_0),
                "1.1" => Some(Self::V1_1),
                _ => None,
            },
            Value::Boolean(_)
            | Value::Integer(_)
            | Value::NegativeInteger(_)
            | Value::Sequence(_)
            | Value::Map(_) => None,
        };
        found.ok_or_else(|| refused(location, "must be one of the following values: 1.1, 1.0"))
    }
}

/// A version: `1.1` or `1.0`, as a number or as a string.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = WebhookVersion, example = 1.1)]
#[expect(dead_code, reason = "describes a version in the OpenAPI document")]
enum VersionInput {
    /// As a number.
    Number(f64),
    /// As a string.
    Word(String),
}

impl PartialSchema for Version {
    fn schema() -> RefOr<Schema> {
        VersionInput::schema()
    }
}

impl ToSchema for Version {
    fn name() -> Cow<'static, str> {
        VersionInput::name()
    }
}
