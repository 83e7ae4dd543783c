//! Opens and seals the stored data of customers.

use regente_domain::customer::{Address, Document, normal_email, normal_number};
use regente_domain::id::{ClientId, CustomerId, Id, of};
use regente_domain::time::{Timestamp, later_of};
use regente_store::customers::{CustomerKeys, StoredCustomer};
use regente_store::sealed::Sealed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::NewCustomer;
use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Lookup, Purpose};

/// The format that this release writes.
const FORMAT: u32 = 1;

/// The personal data of a customer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerData {
    /// Name.
    pub name: String,
    /// E-mail address, unique in the account; absent when another customer has the one sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Contact address of a customer without an e-mail address of its own; never used in lookups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<String>,
    /// Phone number.
    pub phone_number: String,
    /// The document, unique in the account, or the word that means none.
    pub document: Document,
    /// Home address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StoredAddress>,
    /// Billing address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<Address>,
    /// Delivery address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_address: Option<Address>,
    /// Unknown members that a later release wrote; preserved.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// An address with the id and times that the customer answer shows (`docs/interface/customers.md#changing`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAddress {
    /// Id of the address.
    pub id: Uuid,
    /// When the address was first given.
    pub created_at: Timestamp,
    /// When the address last changed.
    pub updated_at: Timestamp,
    /// The address.
    pub address: Address,
}

impl StoredAddress {
    /// An address that is given for the first time.
    pub fn new(id: Uuid, address: Address, now: Timestamp) -> Self {
        Self { id, created_at: now, updated_at: now, address }
    }
}

/// A live customer with its opened data.
#[derive(Clone, Debug, PartialEq)]
pub struct Customer {
    /// The row.
    pub stored: StoredCustomer,
    /// The contents of its sealed column.
    pub data: CustomerData,
}

impl Customer {
    /// Creates a customer.
    pub(super) fn new(
        app: &App,
        client_id: ClientId,
        id: CustomerId,
        keys: CustomerKeys,
        data: CustomerData,
    ) -> Result<Self, Error> {
        let stored = StoredCustomer {
            id,
            client_id,
            keys,
            document_type: data.document.kind.to_uppercase(),
            private: seal(app, client_id, id, &data)?,
            version: 1,
            updated_at: id.created_at(),
        };
        Ok(Self { stored, data })
    }

    /// Opens a row.
    ///
    /// # Errors
    /// [`Error::Internal`] when the column does not open or has another format.
    pub async fn open(app: &App, stored: StoredCustomer) -> Result<Self, Error> {
        let data = open_data(app, stored.client_id, stored.id, &stored.private).await?;
        Ok(Self { stored, data })
    }

    /// The customer with new data, sealed; still at the version that was read.
    ///
    /// # Errors
    /// [`Error::Internal`] when the data cannot be sealed.
    pub fn changed(
        &self,
        app: &App,
        keys: CustomerKeys,
        data: CustomerData,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let stored = StoredCustomer {
            keys,
            document_type: data.document.kind.to_uppercase(),
            private: seal(app, self.stored.client_id, self.stored.id, &data)?,
            updated_at: later_of(now, self.stored.updated_at),
            ..self.stored.clone()
        };
        Ok(Self { stored, data })
    }

    /// The customer's own id, never an alias.
    pub fn id(&self) -> CustomerId {
        self.stored.id
    }
}

/// A sealed document with its format.
#[derive(Serialize, Deserialize)]
struct Format<C> {
    format: u32,
    #[serde(flatten)]
    contents: C,
}

/// The lookup keys of a customer.
pub(super) async fn keys_of(
    app: &App,
    client_id: ClientId,
    email: Option<&str>,
    document: &Document,
) -> Result<CustomerKeys, Error> {
    let keys = app.vault.client_keys(client_id).await?;
    let document_key = document.key();
    let number = document_key.as_ref().map(|_| normal_number(&document.number));
    Ok(CustomerKeys {
        email: email.map(|email| keys.lookup_key(Lookup::Email, &normal_email(email))),
        document: document_key.map(|normal| keys.lookup_key(Lookup::Document, &normal)),
        number: number.map(|normal| keys.lookup_key(Lookup::DocumentNumber, &normal)),
    })
}

/// Opens the data of a customer.
pub(super) async fn open_data(
    app: &App,
    client_id: ClientId,
    id: CustomerId,
    sealed: &Sealed,
) -> Result<CustomerData, Error> {
    let binding = Binding::new(Purpose::CustomerData, client_id, id.uuid());
    let bytes = app.vault.open(binding, sealed).await?;
    let document: Format<CustomerData> = serde_json::from_slice(&bytes).map_err(Error::internal)?;
    if document.format != FORMAT {
        return Err(Error::internal(format!("customer {id}: format {}", document.format)));
    }
    Ok(document.contents)
}

/// Seals the data sent for an alias.
pub(super) fn seal_alias(
    app: &App,
    client_id: ClientId,
    id: Id<of::CustomerAlias>,
    new: &NewCustomer,
) -> Result<Sealed, Error> {
    let bytes = to_bytes(new)?;
    Ok(app.vault.seal(Binding::new(Purpose::CustomerAliasData, client_id, id.uuid()), &bytes))
}

/// Opens the data sent for an alias.
pub(super) async fn open_alias(
    app: &App,
    client_id: ClientId,
    id: Id<of::CustomerAlias>,
    sealed: &Sealed,
) -> Result<NewCustomer, Error> {
    let binding = Binding::new(Purpose::CustomerAliasData, client_id, id.uuid());
    let bytes = app.vault.open(binding, sealed).await?;
    let document: Format<NewCustomer> = serde_json::from_slice(&bytes).map_err(Error::internal)?;
    if document.format != FORMAT {
        return Err(Error::internal(format!("alias {id}: format {}", document.format)));
    }
    Ok(document.contents)
}

fn seal(app: &App, client_id: ClientId, id: CustomerId, data: &CustomerData) -> Result<Sealed, Error> {
    let bytes = to_bytes(data)?;
    Ok(app.vault.seal(Binding::new(Purpose::CustomerData, client_id, id.uuid()), &bytes))
}

fn to_bytes(contents: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let document = Format { format: FORMAT, contents };
    serde_json::to_vec(&document).map(Zeroizing::new).map_err(Error::internal)
}
