//! Parses buyers: new ones, also in the body of a charge, and changes of stored ones.

use regente_domain::country::CountryOrBlank;
use regente_domain::customer::{Address, Demand, Document};
use regente_domain::problems::Problems;
use regente_domain::text::chars_max;
use regente_engine::customers::{CustomerChanges, NewCustomer};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, Schema, Type};

use super::super::fields::Fields;

/// The most bytes of an address, unknown members included.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;

/// Reads a buyer; `path` is that of its object, or empty for the body itself.
pub fn read_new(fields: &Fields<'_>, path: &str) -> Option<NewCustomer> {
    let name = fields.required("name").non_empty_text(chars_max::NAME);
    read_with_name(fields, name, path)
}

/// Reads the buyer in the body of a charge, whose name may be left out.
pub fn read_inline(fields: &Fields<'_>, path: &str) -> Option<NewCustomer> {
    let name =
        if fields.has("name") { fields.optional("name").text(chars_max::NAME) } else { Some(String::new()) };
    read_with_name(fields, name, path)
}

fn read_with_name(fields: &Fields<'_>, name: Option<String>, path: &str) -> Option<NewCustomer> {
    let email = fields.required("email").email();
    // Shipped checkouts send a blank for an unknown number.
    let phone_number = fields.required("phoneNumber").verbatim().text(chars_max::PHONE);
    let document = fields.required("document").read_as();
    let address = read_address(fields, "address", Demand::Complete, path);
    let billing_address = read_address(fields, "billingAddress", Demand::Parts, path);
    let delivery_address = read_address(fields, "deliveryAddress", Demand::Parts, path);
    Some(NewCustomer {
        name: name?,
        email: email?,
        phone_number: phone_number?,
        document: document?,
        address,
        billing_address,
        delivery_address,
    })
}

/// Reads an address; blanks alone, or `{}`, count as absent (`docs/interface/customers.md#addresses`).
fn read_address(fields: &Fields<'_>, name: &str, demand: Demand, path: &str) -> Option<Address> {
    let sent = fields.optional(name).raw_object(ADDRESS_BYTES_MAX)?;
    let mut problems = Problems::new();
    let address = Address::parse(&sent, demand, &member(path, name), &mut problems);
    fields.problems(problems);
    address
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Reads a change. E-mail address and document cannot change and are ignored.
pub(super) fn read_changes(fields: &Fields<'_>) -> Option<CustomerChanges> {
    let address = read_address(fields, "address", Demand::Complete, "");
    if address.is_none() && fields.has("address") {
        // An address that was read as absent without a problem is blank, and here an address must be complete.
        let is_object = fields.members().get("address").is_some_and(serde_json::Value::is_object);
        if is_object {
            fields.problem("address", "should not be empty");
        }
    }
    Some(CustomerChanges {
        name: fields.optional("name").non_empty_text(chars_max::NAME),
        phone_number: fields.optional("phoneNumber").verbatim().text(chars_max::PHONE),
        address,
    })
}

/// A customer to be created.
#[derive(Debug, ToSchema)]
#[schema(as = NewCustomer, rename_all = "camelCase", example = json!({
    "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
    "document": { "type": "cpf", "number": "97055503019", "country": "BR" },
    "address": { "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon", "zipCode": "25650011",
        "street": "Av Geraldo Cardoso", "streetNumber": "205", "complement": "Apto 203" }
}))]
pub struct NewCustomerBody {
    /// The buyer's name.
    #[schema(min_length = 1, max_length = 256)]
    pub name: String,
    /// Unique in the account, without regard to case.
    #[schema(format = Email, max_length = 254)]
    pub email: String,
    /// Free text; may be blank.
    #[schema(max_length = 30)]
    pub phone_number: String,
    /// Unique in the account, without regard to punctuation.
    pub document: Document,
    /// Where they live. `{}` counts as nothing.
    #[schema(schema_with = address_or_nothing)]
    pub address: Option<NewAddressBody>,
    /// Where bills go.
    pub billing_address: Option<PartialAddressBody>,
    /// Where goods go.
    pub delivery_address: Option<PartialAddressBody>,
}

/// Shipped checkouts send `{}` for an address that they do not know.
pub fn address_or_nothing() -> Schema {
    let nothing = ObjectBuilder::new().schema_type(Type::Object).enum_values(Some([json!({})]));
    OneOfBuilder::new()
        .item(Ref::from_schema_name("NewAddress"))
        .item(nothing)
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("Where he lives. `{}` counts as nothing."))
        .into()
}

/// A complete address.
#[derive(Debug, ToSchema)]
#[schema(as = NewAddress, rename_all = "camelCase")]
pub struct NewAddressBody {
    /// ISO 3166-1 alpha-2; `BR` by default.
    #[schema(value_type = Option<CountryOrBlank>, default = "BR")]
    pub country: Option<String>,
    /// State or province.
    #[schema(min_length = 1, max_length = 255)]
    pub state: String,
    /// City.
    #[schema(min_length = 1, max_length = 255)]
    pub city: String,
    /// District.
    #[schema(min_length = 1, max_length = 255)]
    pub district: String,
    /// Postal code.
    #[schema(min_length = 1, max_length = 255)]
    pub zip_code: String,
    /// Street.
    #[schema(min_length = 1, max_length = 255)]
    pub street: String,
    /// Number in the street.
    #[schema(min_length = 1, max_length = 255)]
    pub street_number: String,
    /// Apartment, floor and the like.
    #[schema(max_length = 255)]
    pub complement: Option<String>,
}

/// An address of which any part may be missing.
#[derive(Debug, ToSchema)]
#[schema(as = PartialAddress, rename_all = "camelCase")]
pub struct PartialAddressBody {
    /// ISO 3166-1 alpha-2.
    #[schema(value_type = Option<CountryOrBlank>)]
    pub country: Option<String>,
    /// State or province.
    #[schema(max_length = 255)]
    pub state: Option<String>,
    /// City.
    #[schema(max_length = 255)]
    pub city: Option<String>,
    /// District.
    #[schema(max_length = 255)]
    pub district: Option<String>,
    /// Postal code.
    #[schema(max_length = 255)]
    pub zip_code: Option<String>,
    /// Street.
    #[schema(max_length = 255)]
    pub street: Option<String>,
    /// Number in the street.
    #[schema(max_length = 255)]
    pub street_number: Option<String>,
    /// Apartment, floor and the like.
    #[schema(max_length = 255)]
    pub complement: Option<String>,
}

/// Changes of a customer; what is absent stays. E-mail address and document cannot change.
#[derive(Debug, ToSchema)]
#[schema(as = CustomerChanges, rename_all = "camelCase", example = json!({ "phoneNumber": "21977777777" }))]
pub struct CustomerChangesBody {
    /// The buyer's name.
    #[schema(min_length = 1, max_length = 256)]
    pub name: Option<String>,
    /// Free text.
    #[schema(max_length = 30)]
    pub phone_number: Option<String>,
    /// A new address as a whole.
    pub address: Option<NewAddressBody>,
}
