//! Serializes JSON for `doc` columns and list arguments.

use serde::Serialize;

use crate::StoreError;
use crate::value::Json;

/// Bytes of most documents: the buffer of a larger one grows.
const DOCUMENT_BYTES: usize = 1024;

impl Json {
    /// The document of a record.
    pub fn of(value: &impl Serialize) -> Result<Self, StoreError> {
        let none = |why: String| StoreError::Programming(format!("a record that is no JSON: {why}"));
        let mut bytes = Vec::with_capacity(DOCUMENT_BYTES);
        serde_json::to_writer(&mut bytes, value).map_err(|error| none(error.to_string()))?;
        String::from_utf8(bytes).map(Self).map_err(|error| none(error.to_string()))
    }

    /// A list argument for `EACH_TEXT` and `EACH_UUID`; `None` means all.
    pub fn list<T>(items: Option<&[T]>, text: impl Fn(&T) -> String) -> Option<Self> {
        let items: Vec<serde_json::Value> = items?.iter().map(|item| text(item).into()).collect();
        Some(Self(serde_json::Value::from(items).to_string()))
    }
}
