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
    /// Takes the objects out of the method, and gives the references without theirs, which are not copied.
    pub(super) fn apart(method: &mut PaymentMethod, references: &References) -> (Self, References) {
        let References { description, statement_descriptor, provider_reference_key, flow_metadata, app_info } =
            references;
        let items = method.items().and_then(Option::take);
        let free_form = Self {
            items: items.map(|items| items.to_string()),
            flow_metadata: flow_metadata.as_ref().map(Value::to_string),
            app_info: app_info.as_ref().map(Value::to_string),
        };
        let others = References {
            description: description.clone(),
            statement_descriptor: statement_descriptor.clone(),
            provider_reference_key: provider_reference_key.clone(),
            flow_metadata: None,
            app_info: None,
        };
        (free_form, others)
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
