//! Customers as answers show them.

use regente_domain::customer::{Address, Document};
use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use regente_engine::customers::{Customer, NewCustomer, StoredAddress};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::schema::words;

/// A customer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Customer)]
pub struct CustomerView {
    /// Id of the customer; for what a public key has created or found, an alias that stands for them.
    pub id: Uuid,
    /// The account they belong to.
    pub client_id: Uuid,
    /// When they were created; absent in what a public key is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    /// When they changed last; absent in what a public key is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub updated_at: Option<Timestamp>,
    /// The buyer's name.
    #[schema(example = "Ana Souza")]
    pub name: String,
    /// Unique in the account; null when the address that was sent is another customer's.
    #[schema(required = true, example = "ana@example.com")]
    pub email: Option<String>,
    /// Where to write when `email` is null; not unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Phone number.
    #[schema(example = "21988899909")]
    pub phone_number: String,
    /// Unique in the account.
    pub document: DocumentView,
    /// Where they live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressView>,
    /// Where bills go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<AddressView>,
    /// Where goods go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_address: Option<AddressView>,
}

/// A document, as sent.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Document, example = json!({ "type": "cpf", "number": "97055503019", "country": "BR" }))]
pub struct DocumentView {
    /// The type, or `noDocument`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number; may be empty with `noDocument`.
    pub number: String,
    /// ISO 3166-1 alpha-2.
    #[schema(value_type = words::Country)]
    pub country: &'static str,
}

/// An address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Address)]
pub struct AddressView {
    /// ISO 3166-1 alpha-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::Country>, example = "BR")]
    pub country: Option<&'static str>,
    /// State or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// District.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub district: Option<String>,
    /// Postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zip_code: Option<String>,
    /// Street.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street: Option<String>,
    /// Number in the street.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street_number: Option<String>,
    /// Apartment, floor and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complement: Option<String>,
}

/// A customer after a change, with the document both nested and flat, for the two kinds of shipped readers.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangedCustomer)]
pub struct ChangedCustomerView {
    /// Id of the customer.
    pub id: Uuid,
    /// The account they belong to.
    pub client_id: Uuid,
    /// When they were created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When they changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// Always null.
    #[schema(required = true)]
    pub idempotency_key: Option<String>,
    /// Always null.
    #[schema(required = true)]
    pub request_id: Option<String>,
    /// Always null.
    #[schema(required = true)]
    pub card_id: Option<Uuid>,
    /// The buyer's name.
    pub name: String,
    /// Unique in the account; null when the address that was sent is another customer's.
    #[schema(required = true)]
    pub email: Option<String>,
    /// Where to write when `email` is null; not unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Phone number.
    pub phone_number: String,
    /// Number of the document.
    pub document_number: String,
    /// Type of the document.
    pub document_type: String,
    /// Country of the document.
    #[schema(value_type = Option<words::Country>, required = true)]
    pub document_country: Option<&'static str>,
    /// The document.
    pub document: DocumentView,
    /// Where they live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressRecordView>,
    /// Where bills go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<AddressView>,
    /// Where goods go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_address: Option<AddressView>,
}

/// An address as a record of its own.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AddressRecord)]
pub struct AddressRecordView {
    /// Id of the address.
    pub id: Uuid,
    /// When it was first given.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// Always null.
    #[schema(required = true)]
    pub idempotency_key: Option<String>,
    /// Always null.
    #[schema(required = true)]
    pub request_id: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[schema(value_type = Option<words::Country>, required = true)]
    pub country: Option<&'static str>,
    /// Street.
    #[schema(required = true)]
    pub street: Option<String>,
    /// Number in the street.
    #[schema(required = true)]
    pub street_number: Option<String>,
    /// Apartment, floor and the like.
    #[schema(required = true)]
    pub complement: Option<String>,
    /// Postal code.
    #[schema(required = true)]
    pub zip_code: Option<String>,
    /// State or province.
    #[schema(required = true)]
    pub state: Option<String>,
    /// City.
    #[schema(required = true)]
    pub city: Option<String>,
    /// District.
    #[schema(required = true)]
    pub district: Option<String>,
    /// Always null.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub deleted_at: Option<Timestamp>,
}

impl CustomerView {
    /// A customer as a secret key sees it, or a public key that has the customer's own id.
    pub fn of(customer: &Customer) -> Self {
        let Customer { stored, data } = customer;
        Self {
            id: stored.id.uuid(),
            client_id: stored.client_id.uuid(),
            created_at: Some(stored.id.created_at()),
            updated_at: Some(stored.updated_at),
            name: data.name.clone(),
            email: data.email.clone(),
            contact_email: data.contact_email.clone(),
            phone_number: data.phone_number.clone(),
            document: DocumentView::of(&data.document),
            address: data.address.as_ref().map(|stored| AddressView::of(&stored.address)),
            billing_address: data.billing_address.as_ref().map(AddressView::of),
            delivery_address: data.delivery_address.as_ref().map(AddressView::of),
        }
    }

    /// The answer to a public key: the alias and only what it sent, so that it does not show whether the customer
    /// existed (`docs/interface/customers.md#aliases`).
    pub fn of_alias(id: Id<of::CustomerAlias>, client_id: ClientId, sent: &NewCustomer) -> Self {
        Self {
            id: id.uuid(),
            client_id: client_id.uuid(),
            created_at: None,
            updated_at: None,
            name: sent.name.clone(),
            email: Some(sent.email.clone()),
            contact_email: None,
            phone_number: sent.phone_number.clone(),
            document: DocumentView::of(&sent.document),
            address: sent.address.as_ref().map(AddressView::of),
            billing_address: sent.billing_address.as_ref().map(AddressView::of),
            delivery_address: sent.delivery_address.as_ref().map(AddressView::of),
        }
    }
}

impl ChangedCustomerView {
    /// A customer after a change.
    pub fn of(customer: &Customer) -> Self {
        let Customer { stored, data } = customer;
        Self {
            id: stored.id.uuid(),
            client_id: stored.client_id.uuid(),
            created_at: stored.id.created_at(),
            updated_at: stored.updated_at,
            idempotency_key: None,
            request_id: None,
            card_id: None,
            name: data.name.clone(),
            email: data.email.clone(),
            contact_email: data.contact_email.clone(),
            phone_number: data.phone_number.clone(),
            document_number: data.document.number.clone(),
            document_type: data.document.kind.clone(),
            document_country: Some(data.document.country.code()),
            document: DocumentView::of(&data.document),
            address: data.address.as_ref().map(AddressRecordView::of),
            billing_address: data.billing_address.as_ref().map(AddressView::of),
            delivery_address: data.delivery_address.as_ref().map(AddressView::of),
        }
    }
}

impl DocumentView {
    fn of(document: &Document) -> Self {
        Self {
            kind: document.kind.clone(),
            number: document.number.clone(),
            country: document.country.code(),
        }
    }
}

impl AddressView {
    fn of(address: &Address) -> Self {
        Self {
            country: address.country.map(|country| country.code()),
            state: address.state.clone(),
            city: address.city.clone(),
            district: address.district.clone(),
            zip_code: address.zip_code.clone(),
            street: address.street.clone(),
            street_number: address.street_number.clone(),
            complement: address.complement.clone(),
        }
    }
}

impl AddressRecordView {
    fn of(stored: &StoredAddress) -> Self {
        let StoredAddress { id, created_at, updated_at, address } = stored.clone();
        Self {
            id,
            created_at,
            updated_at,
            idempotency_key: None,
            request_id: None,
            country: address.country.map(|country| country.code()),
            street: address.street,
            street_number: address.street_number,
            complement: address.complement,
            zip_code: address.zip_code,
            state: address.state,
            city: address.city,
            district: address.district,
            deleted_at: None,
        }
    }
}
