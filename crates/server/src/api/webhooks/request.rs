//! Parses new webhooks and changes of stored ones.

use regente_domain::card::in_text::masked;
use regente_domain::webhook::{EventFilter, EventName, PartialRefund, Version};
use regente_engine::outbound::URL_CHARS_MAX;
use regente_engine::webhooks::{NewWebhook, WebhookChanges};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::super::fields::{Field, Fields};
use super::super::schema::words;

pub(super) fn new_webhook(fields: &Fields<'_>) -> Option<NewWebhook> {
    let event = event(fields.required("event"));
    let endpoint = fields.required("endpoint").non_empty_text(URL_CHARS_MAX);
    let version = version(fields.optional("version")).unwrap_or(Version::V1_1);
    let status = fields.optional("status").boolean().unwrap_or(true);
    let partial_refund = partial_refund(fields).unwrap_or(PartialRefund::Voided);
    Some(NewWebhook { event: event?, endpoint: endpoint?, version, status, partial_refund })
}

pub(super) fn webhook_changes(fields: &Fields<'_>) -> Option<WebhookChanges> {
    Some(WebhookChanges {
        event: event(fields.optional("event")),
        endpoint: fields.optional("endpoint").non_empty_text(URL_CHARS_MAX),
        version: version(fields.optional("version")),
        status: fields.optional("status").boolean(),
        partial_refund: partial_refund(fields),
    })
}

fn partial_refund(fields: &Fields<'_>) -> Option<PartialRefund> {
    fields.optional("partialRefundEvent").one_of(PartialRefund::WORDS)
}

fn event(field: Field<'_>) -> Option<EventFilter> {
    field.read(|value| {
        let found = value.as_str().and_then(EventFilter::parse);
        found.ok_or_else(|| {
            let names: Vec<&str> = EventName::WORDS.iter().map(|(name, _)| *name).collect();
            let given = masked(value.as_str().unwrap_or_default());
            format!("must be `*` or one of the following values: {} (not `{given:.64}`)", names.join(", "))
        })
    })
}

fn version(field: Field<'_>) -> Option<Version> {
    field.read(|value| {
        let found = match value {
            Value::String(word) => Version::parse(word.trim()),
            Value::Number(number) => match number.to_string().as_str() {
                "1" | "1.0" => Some(Version::V1_0),
                "1.1" => Some(Version::V1_1),
                _ => None,
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        found.ok_or("must be one of the following values: 1.1, 1.0")
    })
}

/// A webhook to be created.
#[derive(Debug, ToSchema)]
#[schema(as = NewWebhook, rename_all = "camelCase", example = json!({
    "event": "transaction.authorized", "endpoint": "https://shop.example/hooks", "version": 1.1, "status": true
}))]
pub struct NewWebhookBody {
    /// One name of an event, or `*` for all of transactions, sellers and subscriptions. `purchase.paid`, `.failed` and
    /// `.cancelled`, and those of `session`, are extensions: sent only to webhooks that name them.
    #[schema(value_type = words::EventFilter)]
    pub event: String,
    /// Where events are sent: an `https` address of the public internet.
    #[schema(min_length = 1, max_length = 2048)]
    pub endpoint: String,
    /// `1.1`, or `1.0` for receivers that know no signatures; also as a string. Default 1.1.
    pub version: Option<VersionBody>,
    /// Whether events are sent. Default true.
    pub status: Option<bool>,
    /// What is sent for a refund of a part. Default `transaction.voided`.
    #[schema(value_type = Option<words::PartialRefundEvent>)]
    pub partial_refund_event: Option<String>,
}

/// A version: `1.1` or `1.0`, as a number or as a string.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = WebhookVersion, example = 1.1)]
pub enum VersionBody {
    /// As a number.
    Number(f64),
    /// As a string.
    Word(String),
}

/// Changes of a webhook; what is absent stays.
#[derive(Debug, ToSchema)]
#[schema(as = WebhookChanges, rename_all = "camelCase", example = json!({ "status": false }))]
pub struct WebhookChangesBody {
    /// One name of an event, or `*`.
    #[schema(value_type = Option<words::EventFilter>)]
    pub event: Option<String>,
    /// Where events are sent.
    #[schema(min_length = 1, max_length = 2048)]
    pub endpoint: Option<String>,
    /// `1.1` or `1.0`.
    pub version: Option<VersionBody>,
    /// Whether events are sent.
    pub status: Option<bool>,
    /// What is sent for a refund of a part.
    #[schema(value_type = Option<words::PartialRefundEvent>)]
    pub partial_refund_event: Option<String>,
}
