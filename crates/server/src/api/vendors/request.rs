//! Parses new vendors, changes of stored ones, and the vendor that a charge or a session names
//! (`docs/interface/vendors.md#fields`).

use regente_domain::text::chars_max;
use regente_domain::vendor::{IdentityType, NamedVendor, VendorAddress, VendorData, without_punctuation};
use regente_engine::vendors::{NewVendor, VendorChanges};
use serde_json::Map;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::fields::{Field, Fields, text_change};
use super::super::schema::words;

/// Lengths in characters; those of the published interface.
mod most {
    pub(super) const REFERENCE: usize = 15;
    pub(super) const IDENTITY: usize = 14;
    pub(super) const CATEGORY: usize = 10;
    pub(super) const NAME: usize = 100;
    pub(super) const EMAIL: usize = 100;
    pub(super) const PHONE: usize = 13;
    pub(super) const WEBSITE: usize = 100;
    pub(super) const STATE: usize = 2;
    pub(super) const CITY: usize = 20;
    pub(super) const ZIP_CODE: usize = 10;
    pub(super) const STREET: usize = 100;
    pub(super) const STREET_NUMBER: usize = 5;
    pub(super) const COMPLEMENT: usize = 20;
}

const IDENTITY: &str = "identity";

pub(super) fn read_new(fields: &Fields<'_>) -> Option<NewVendor> {
    let reference_id = fields.required("referenceId").verbatim().non_empty_text(most::REFERENCE);
    let identity_type = fields.required("identityType").one_of(IdentityType::WORDS);
    let identity = read_identity(fields.required(IDENTITY));
    if let (Some(kind), Some(identity)) = (identity_type, &identity)
        && !kind.fits(identity)
    {
        fields.problem(IDENTITY, kind.rule());
    }
    let mcc = fields.required("mcc").non_empty_text(most::CATEGORY);
    let name = fields.required("name").non_empty_text(most::NAME);
    let email = read_email(fields.optional("email"));
    let phone_number = fields.optional("phoneNumber").verbatim().text(most::PHONE);
    let website = fields.optional("website").text(most::WEBSITE);
    let address = fields.required("address").object(read_address);
    let data = VendorData {
        identity_type: identity_type?,
        identity: identity?,
        mcc: mcc?,
        name: name?,
        email,
        phone_number,
        website,
        address: address?,
        unknown: Map::new(),
    };
    Some(NewVendor { reference_id: reference_id?, data })
}

/// Punctuation does not count in its length.
fn read_identity(field: Field<'_>) -> Option<String> {
    field.verbatim().text_as("must have 1 to 14 letters and digits", |text| {
        let length = without_punctuation(text).len();
        let is_right =
            (1..=most::IDENTITY).contains(&length) && text.chars().count() <= chars_max::DOCUMENT_NUMBER;
        is_right.then(|| text.to_owned())
    })
}

fn read_email(field: Field<'_>) -> Option<String> {
    field.email_within(most::EMAIL)
}

fn read_address(fields: &Fields<'_>) -> Option<VendorAddress> {
    let country = fields.required("country").country();
    let state = fields.required("state").non_empty_text(most::STATE);
    let city = fields.required("city").non_empty_text(most::CITY);
    let district = fields.required("district").non_empty_text(most::CITY);
    let zip_code = fields.required("zipCode").non_empty_text(most::ZIP_CODE);
    let street = fields.required("street").non_empty_text(most::STREET);
    // One published table calls it `number`.
    let number = match fields.has("number") && !fields.has("streetNumber") {
        true => fields.required("number"),
        false => fields.required("streetNumber"),
    };
    let street_number = number.non_empty_text(most::STREET_NUMBER);
    let complement = fields.optional("complement").text(most::COMPLEMENT);
    Some(VendorAddress {
        country: country?,
        state: state?,
        city: city?,
        district: district?,
        zip_code: zip_code?,
        street: street?,
        street_number: street_number?,
        complement,
    })
}

pub(super) fn read_changes(fields: &Fields<'_>) -> Option<VendorChanges> {
    for name in ["referenceId", "identityType", IDENTITY, "mcc", "name", "address"] {
        if fields.is_null(name) {
            fields.problem(name, "should not be empty");
        }
    }
    Some(VendorChanges {
        reference_id: fields.optional("referenceId").verbatim().non_empty_text(most::REFERENCE),
        identity_type: fields.optional("identityType").one_of(IdentityType::WORDS),
        identity: read_identity(fields.optional(IDENTITY)),
        mcc: fields.optional("mcc").non_empty_text(most::CATEGORY),
        name: fields.optional("name").non_empty_text(most::NAME),
        email: text_change(fields, "email", read_email),
        phone_number: text_change(fields, "phoneNumber", |field| field.verbatim().text(most::PHONE)),
        website: text_change(fields, "website", |field| field.text(most::WEBSITE)),
        address: fields.optional("address").object(read_address),
    })
}

/// Reads the vendor of a charge or of a session.
pub fn read_named(fields: &Fields<'_>) -> Option<Box<NamedVendor>> {
    fields.optional("vendor").object(|vendor| {
        let id = vendor.required("id").id();
        // One published example spells it with a capital.
        let name = match vendor.has("paymentFacilitatorID") && !vendor.has("paymentFacilitatorId") {
            true => "paymentFacilitatorID",
            false => "paymentFacilitatorId",
        };
        let payment_facilitator_id = vendor.optional(name).verbatim().non_empty_text(chars_max::LINE);
        Some(Box::new(NamedVendor { id: id?, payment_facilitator_id }))
    })
}

/// The vendor of a charge or of a session.
#[derive(ToSchema)]
#[schema(as = NamedVendor, rename_all = "camelCase",
    example = json!({ "id": "db56bd6a-10d7-4039-9c68-fc4405a1a3e1", "paymentFacilitatorId": "12345678901" }))]
#[expect(dead_code, reason = "describes a member for the OpenAPI document; it is read field by field")]
pub struct NamedVendorBody {
    /// A vendor of the account.
    id: Uuid,
    /// The number under which the acquirer knows the payment facilitator. Every type that forwards vendors needs it but
    /// `SANDBOX`.
    #[schema(min_length = 1, max_length = 255)]
    payment_facilitator_id: Option<String>,
}

/// A vendor to be created.
#[derive(ToSchema)]
#[schema(as = NewVendor, rename_all = "camelCase", example = json!({
    "referenceId": "12345", "identityType": "CNPJ", "identity": "12.345.678/0001-99", "mcc": "5812",
    "name": "Empresa Exemplo Ltda", "email": "contato@example.com", "phoneNumber": "5511999999999",
    "website": "https://www.example.com",
    "address": { "country": "BR", "state": "SP", "city": "Sao Paulo", "district": "Centro", "zipCode": "01001-000",
        "street": "Avenida Paulista", "streetNumber": "1000", "complement": "Apto 101" }
}))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewVendorBody {
    /// The id in the client's own system; unique in the account.
    #[schema(min_length = 1, max_length = 15)]
    reference_id: String,
    #[schema(value_type = words::VendorIdentityType)]
    identity_type: String,
    /// With or without punctuation, which does not count: 11 characters of a CPF, 14 of a CNPJ.
    #[schema(max_length = 40)]
    identity: String,
    /// Category code.
    #[schema(min_length = 1, max_length = 10)]
    mcc: String,
    /// Full name, or name of the company.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(format = Email, max_length = 100)]
    email: Option<String>,
    #[schema(max_length = 13)]
    phone_number: Option<String>,
    #[schema(max_length = 100)]
    website: Option<String>,
    address: VendorAddressBody,
}

/// The address of a vendor.
#[derive(ToSchema)]
#[schema(as = VendorAddress, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes a member for the OpenAPI document; it is read field by field")]
pub struct VendorAddressBody {
    #[schema(value_type = words::Country)]
    country: String,
    #[schema(min_length = 1, max_length = 2)]
    state: String,
    #[schema(min_length = 1, max_length = 20)]
    city: String,
    #[schema(min_length = 1, max_length = 20)]
    district: String,
    #[schema(min_length = 1, max_length = 10)]
    zip_code: String,
    #[schema(min_length = 1, max_length = 100)]
    street: String,
    /// Also read as `number`.
    #[schema(min_length = 1, max_length = 5)]
    street_number: String,
    #[schema(max_length = 20)]
    complement: Option<String>,
}

/// Changes of a vendor; what is absent stays. Null removes what may be absent.
#[derive(ToSchema)]
#[schema(as = VendorChanges, rename_all = "camelCase",
    example = json!({ "referenceId": "12345", "name": "Empresa Exemplo Ltda" }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct VendorChangesBody {
    /// The id in the client's own system; unique in the account.
    #[schema(min_length = 1, max_length = 15)]
    reference_id: Option<String>,
    #[schema(value_type = Option<words::VendorIdentityType>)]
    identity_type: Option<String>,
    #[schema(max_length = 40)]
    identity: Option<String>,
    #[schema(min_length = 1, max_length = 10)]
    mcc: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
    #[schema(format = Email, max_length = 100)]
    email: Option<String>,
    #[schema(max_length = 13)]
    phone_number: Option<String>,
    #[schema(max_length = 100)]
    website: Option<String>,
    /// As a whole.
    address: Option<VendorAddressBody>,
}
