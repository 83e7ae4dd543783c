//! Reads new vendors, changes of stored ones, and the vendor that a charge or a session names
//! (`docs/interface/vendors.md#fields`).

use deserr::Deserr;
use regente_domain::id::VendorId;
use regente_domain::problems::Problems;
use regente_domain::vendor::{NamedVendor, NewVendor, SentData, VendorChanges};
use regente_domain::wire::{Verbatim, read, read_parts};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::fields::Fields;

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

/// The vendor of a charge or of a session.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NamedVendor, rename_all = "camelCase",
    example = json!({ "id": "db56bd6a-10d7-4039-9c68-fc4405a1a3e1", "paymentFacilitatorId": "12345678901" }))]
pub struct NamedVendorBody {
    /// A vendor of the account.
    id: VendorId,
    /// The number under which the acquirer knows the payment facilitator. Every type that forwards vendors needs it but
    /// `SANDBOX`.
    #[deserr(default)]
    payment_facilitator_id: Option<Verbatim<1, 255>>,
    /// One published example spells it so.
    #[deserr(rename = "paymentFacilitatorID", default)]
    #[schema(ignore)]
    with_a_capital: Option<Verbatim<1, 255>>,
}

/// Reads the vendor of a charge or of a session.
pub fn read_named(fields: &Fields<'_>) -> Option<Box<NamedVendor>> {
    let NamedVendorBody { id, payment_facilitator_id, with_a_capital } =
        fields.optional("vendor").read_as()?;
    let number = payment_facilitator_id.or(with_a_capital);
    Some(Box::new(NamedVendor {
        id,
        payment_facilitator_id: number.map(|number| number.as_str().to_owned()),
    }))
}
