//! Customers as they are sent (`docs/interface/customers.md`).

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::sent_address::{NewAddress, SentAddress, SentParts, address_or_nothing};
use super::{Address, Document};
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{EmailAddress, Text, Verbatim, refused};

type Name = Text<1, { chars_max::NAME }>;
type Phone = Verbatim<0, { chars_max::PHONE }>;

/// A customer to be created.
// An alias stores one, with the member names of the interface.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(example = json!({
    "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
    "document": { "type": "cpf", "number": "97055503019", "country": "BR" },
    "address": { "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon", "zipCode": "25650011",
        "street": "Av Geraldo Cardoso", "streetNumber": "205", "complement": "Apto 203" }
}))]
pub struct NewCustomer {
    /// The buyer's name.
    #[deserr(from(Name) = Text::into_string)]
    #[schema(value_type = Name)]
    pub name: String,
    /// Unique in the account, without regard to case.
    #[deserr(from(EmailAddress) = EmailAddress::into_string)]
    #[schema(value_type = EmailAddress)]
    pub email: String,
    /// Free text; may be blank.
    #[deserr(from(Phone) = Verbatim::into_string)]
    #[schema(value_type = Phone)]
    pub phone_number: String,
    /// Unique in the account, without regard to punctuation.
    pub document: Document,
    /// Where they live. `{}` counts as nothing.
    #[deserr(default, from(Option<SentAddress>) = SentAddress::given)]
    #[schema(schema_with = address_or_nothing)]
    pub address: Option<Address>,
    /// Where bills go.
    #[deserr(default, from(Option<SentParts>) = SentParts::given)]
    #[schema(value_type = Option<SentParts>)]
    pub billing_address: Option<Address>,
    /// Where goods go.
    #[deserr(default, from(Option<SentParts>) = SentParts::given)]
    #[schema(value_type = Option<SentParts>)]
    pub delivery_address: Option<Address>,
}

/// Changes of a customer; what is absent stays. E-mail address and document cannot change.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({ "phoneNumber": "21977777777" }))]
pub struct CustomerChanges {
    /// The buyer's name.
    #[deserr(default, from(Option<Name>) = Text::given)]
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    /// Free text.
    #[deserr(default, from(Option<Phone>) = Verbatim::given)]
    #[schema(value_type = Option<Phone>)]
    pub phone_number: Option<String>,
    /// A new address as a whole.
    #[deserr(default, from(Option<WholeAddress>) = WholeAddress::given)]
    #[schema(value_type = Option<WholeAddress>)]
    pub address: Option<Address>,
}

/// A complete address: what is blank is no change.
struct WholeAddress(Address);

impl WholeAddress {
    fn given(sent: Option<Self>) -> Option<Address> {
        sent.map(|Self(address)| address)
    }
}

impl Deserr<Problems> for WholeAddress {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let SentAddress(address) = SentAddress::deserialize_from_value(value, location)?;
        address.map(Self).ok_or_else(|| refused(location, "should not be empty"))
    }
}

impl PartialSchema for WholeAddress {
    fn schema() -> RefOr<Schema> {
        NewAddress::schema()
    }
}

impl ToSchema for WholeAddress {
    fn name() -> Cow<'static, str> {
        NewAddress::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        NewAddress::schemas(found);
    }
}
