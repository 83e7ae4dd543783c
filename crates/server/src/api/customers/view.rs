//! Customers as answers show them.

use regente_domain::country::Country;
use regente_domain::customer::{Address, Document, NewCustomer};
use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use regente_engine::customers::{Customer, StoredAddress};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

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
    pub created_at: Option<Timestamp>,
    /// When they changed last; absent in what a public key is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub address: Option<Address>,
    /// Where bills go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<Address>,
    /// Where goods go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_address: Option<Address>,
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
    pub country: Country,
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
    pub created_at: Timestamp,
    /// When they changed last.
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
    #[schema(required = true)]
    pub document_country: Option<Country>,
    /// The document.
    pub document: DocumentView,
    /// Where they live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressRecordView>,
    /// Where bills go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<Address>,
    /// Where goods go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_address: Option<Address>,
}

/// An address as a record of its own.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AddressRecord)]
pub struct AddressRecordView {
    /// Id of the address.
    pub id: Uuid,
    /// When it was first given.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Always null.
    #[schema(required = true)]
    pub idempotency_key: Option<String>,
    /// Always null.
    #[schema(required = true)]
    pub request_id: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[schema(required = true)]
    pub country: Option<Country>,
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
    #[schema(required = true)]
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
            address: data.address.as_ref().map(|stored| stored.address.clone()),
            billing_address: data.billing_address.clone(),
            delivery_address: data.delivery_address.clone(),
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
            address: sent.address.clone(),
            billing_address: sent.billing_address.clone(),
            delivery_address: sent.delivery_address.clone(),
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
            document_country: Some(data.document.country),
            document: DocumentView::of(&data.document),
            address: data.address.as_ref().map(AddressRecordView::of),
            billing_address: data.billing_address.clone(),
            delivery_address: data.delivery_address.clone(),
        }
    }
}

impl DocumentView {
    fn of(document: &Document) -> Self {
        Self { kind: document.kind.clone(), number: document.number.clone(), country: document.country }
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
            country: address.country,
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
