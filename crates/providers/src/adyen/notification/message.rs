//! The body of a notification.

use regente_domain::time::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// What a body is.
pub(super) enum Message {
    /// A standard webhook, with at least one item.
    Standard(Vec<Item>),
    /// A webhook of another family.
    Other {
        /// Its kind.
        kind: String,
    },
}

/// An item of a standard webhook; unknown members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) event_code: String,
    #[serde(deserialize_with = "truth")]
    pub(super) success: bool,
    #[serde(default)]
    pub(super) amount: Option<ItemAmount>,
    #[serde(default)]
    pub(super) psp_reference: Option<String>,
    #[serde(default)]
    pub(super) original_reference: Option<String>,
    #[serde(default)]
    pub(super) merchant_account_code: Option<String>,
    #[serde(default)]
    pub(super) merchant_reference: Option<String>,
    #[serde(default)]
    pub(super) event_date: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) additional_data: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
pub(super) struct ItemAmount {
    pub(super) currency: String,
    pub(super) value: i64,
}

impl Message {
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let body: Body = serde_json::from_slice(body).ok()?;
        let items: Vec<Item> = body.notification_items.into_iter().map(|wrapper| wrapper.item).collect();
        match (items.is_empty(), body.kind) {
            (false, _) => Some(Self::Standard(items)),
            (true, Some(kind)) => Some(Self::Other { kind }),
            (true, None) => None,
        }
    }
}

impl Item {
    /// A repetition has the same one: everything in it is signed.
    pub(super) fn id(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let value = self.amount.as_ref().map_or(0, |amount| amount.value);
        let Self { event_code, success, .. } = self;
        format!(
            "{event_code}:{}:{}:{value}:{success}",
            text(&self.psp_reference),
            text(&self.original_reference)
        )
    }

    pub(super) fn occurred_at(&self) -> Option<Timestamp> {
        self.event_date.as_deref().and_then(Timestamp::parse)
    }

    /// A text of `additionalData`.
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        self.additional_data.as_ref()?.get(name)?.as_str().filter(|text| !text.is_empty())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(default)]
    notification_items: Vec<Wrapper>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Wrapper {
    #[serde(rename = "NotificationRequestItem")]
    item: Item,
}

/// A boolean, or its text, as the provider sends it.
fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Truth {
        Boolean(bool),
        Text(String),
    }
    Ok(match Truth::deserialize(deserializer)? {
        Truth::Boolean(truth) => truth,
        Truth::Text(text) => text == "true",
    })
}
