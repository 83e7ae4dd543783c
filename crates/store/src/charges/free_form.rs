//! The free-form objects of a charge as its document keeps them. What they mean is nobody's business here.

use regente_domain::charge::{CardPayment, References};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Objects of callers are kept as text, because `jsonb` would reorder their members.
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
    /// Takes the objects out of where the domain keeps them.
    pub(super) fn take(payment: &mut CardPayment, references: &mut References) -> Self {
        let text = |value: &mut Option<Value>| value.take().map(|value| value.to_string());
        Self {
            items: text(&mut payment.items),
            flow_metadata: text(&mut references.flow_metadata),
            app_info: text(&mut references.app_info),
        }
    }

    /// Puts them back.
    pub(super) fn give(
        self,
        payment: &mut CardPayment,
        references: &mut References,
    ) -> serde_json::Result<()> {
        let value = |text: Option<String>| text.map(|text| serde_json::from_str(&text)).transpose();
        payment.items = value(self.items)?;
        references.flow_metadata = value(self.flow_metadata)?;
        references.app_info = value(self.app_info)?;
        Ok(())
    }
}
