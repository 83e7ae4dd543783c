//! The free-form objects of a charge, as its document stores them; their meaning is not interpreted.

use regente_domain::charge::{PaymentMethod, References};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Objects from callers are stored as text, because `jsonb` would reorder their members.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FreeForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flow_metadata: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    app_info: Option<String>,
}

impl FreeForm {
    /// Takes the objects out of the domain types.
    pub(super) fn take(method: &mut PaymentMethod, references: &mut References) -> Self {
        let text = |value: &mut Option<Value>| value.take().map(|value| value.to_string());
        let items = method.items().and_then(Option::take);
        Self {
            items: items.map(|items| items.to_string()),
            flow_metadata: text(&mut references.flow_metadata),
            app_info: text(&mut references.app_info),
        }
    }

    /// Puts them back.
    pub(super) fn give(
        self,
        method: &mut PaymentMethod,
        references: &mut References,
    ) -> serde_json::Result<()> {
        let value = |text: Option<String>| text.map(|text| serde_json::from_str(&text)).transpose();
        if let Some(items) = method.items() {
            *items = value(self.items)?.map(Box::new);
        }
        references.flow_metadata = value(self.flow_metadata)?;
        references.app_info = value(self.app_info)?;
        Ok(())
    }
}
