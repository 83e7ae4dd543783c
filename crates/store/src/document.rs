//! Serializes JSON for `doc` columns and list arguments.

use serde::Serialize;

use crate::StoreError;
use crate::value::Json;

impl Json {
    /// The document of a record.
    pub fn of(value: &impl Serialize) -> Result<Self, StoreError> {
        serde_json::to_string(value)
            .map(Self)
            .map_err(|error| StoreError::Programming(format!("a record that is no JSON: {error}")))
    }

    /// A list argument for `EACH_TEXT` and `EACH_UUID`; `None` means all.
    pub fn list<T>(items: Option<&[T]>, text: impl Fn(&T) -> String) -> Option<Self> {
        let items: Vec<serde_json::Value> = items?.iter().map(|item| text(item).into()).collect();
        Some(Self(serde_json::Value::from(items).to_string()))
    }
}
