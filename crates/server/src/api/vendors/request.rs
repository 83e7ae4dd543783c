//! Reads new vendors, and changes of stored ones (`docs/interface/vendors.md#fields`).

use regente_domain::problems::Problems;
use regente_domain::vendor::{NewVendor, SentData, VendorChanges};
use regente_domain::wire::{read, read_parts};
use serde_json::{Map, Value};

pub(super) fn read_new(sent: &Map<String, Value>) -> Result<NewVendor, Problems> {
    let (reference, SentData(data)) = read_parts(&in_known_spelling(sent))?;
    Ok(NewVendor { reference, data })
}

pub(super) fn read_changes(sent: &Map<String, Value>) -> Result<VendorChanges, Problems> {
    read(in_known_spelling(sent))
}

/// One published table calls the number in the street `number`.
fn in_known_spelling(sent: &Map<String, Value>) -> Map<String, Value> {
    let mut members = sent.clone();
    if let Some(address) = members.get_mut("address").and_then(Value::as_object_mut)
        && address.get("streetNumber").is_none_or(Value::is_null)
        && let Some(number) = address.shift_remove("number")
    {
        address.insert("streetNumber".to_owned(), number);
    }
    members
}
