//! Stores clients, the accounts. Their secret is sealed.

use regente_domain::check_digits::CheckDigits;
use regente_domain::id::ClientId;
use regente_domain::prepayment::Rates;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sealed::Sealed;
use crate::{Batch, Json, Row, Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

sql! {
    /// Adds a client.
    pub INSERT_CLIENT = "
        INSERT INTO clients (id, name, status, secret, key_id, doc, version, updated_at)
        VALUES (:client_id, :name, :status, :secret, :key_id, :doc, 1, :updated_at)";
    /// Changes a client; guarded by the version.
    pub UPDATE_CLIENT = "
        UPDATE clients SET name = :name, status = :status, doc = :doc, version = :version + 1,
            updated_at = :updated_at
        WHERE id = :client_id AND version = :version";
    /// Takes the next version of a client for a change of its parts, such as its keys.
    pub TOUCH_CLIENT = "
        UPDATE clients SET version = :version + 1, updated_at = :updated_at
        WHERE id = :client_id AND version = :version";
    /// One client.
    pub FIND_CLIENT = "
        SELECT id, name, status, doc, version, updated_at FROM clients WHERE id = :client_id";
    /// Every client, oldest first.
    pub LIST_CLIENTS = "
        SELECT id, name, status, doc, version, updated_at FROM clients WHERE id > :after_id
        ORDER BY id LIMIT :limit";
    /// The ids of clients, from one on.
    pub CLIENT_IDS = "SELECT id FROM clients WHERE id >= :from ORDER BY id LIMIT :limit";
    /// The sealed secret of a client.
    pub FIND_CLIENT_SECRET = "SELECT secret, key_id FROM clients WHERE id = :client_id";
}

/// Whether a client may use the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientStatus {
    /// It may.
    Active,
    /// The operator suspended it: its id is answered like an unknown one.
    Suspended,
}

impl ClientStatus {
    /// The word in the column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
        }
    }

    pub(crate) fn parse(word: &str) -> Result<Self, StoreError> {
        match word {
            "active" => Ok(Self::Active),
            "suspended" => Ok(Self::Suspended),
            _ => Err(StoreError::Corrupt("clients.status".to_owned())),
        }
    }
}

/// A contact person of the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// The person's or department's name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The id in `X-Client-Id`.
    pub id: ClientId,
    /// The account's name.
    pub name: String,
    /// Whether it may use the interface.
    pub status: ClientStatus,
    /// The account's contacts.
    pub contacts: Vec<Contact>,
    /// The language of its pages and messages, a BCP 47 tag such as `pt-BR`.
    pub language: String,
    /// The time zone of its reports, an IANA name such as `America/Sao_Paulo`.
    pub time_zone: String,
    /// Whether documents with wrong check digits are refused.
    pub document_check_digits: CheckDigits,
    /// At which rates its receivables are paid early; nothing is without.
    pub prepayment: Option<Rates>,
    /// Grows with every change.
    pub version: i64,
    /// When it was changed.
    pub updated_at: Timestamp,
    /// Members of the document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
}

/// The members of a client without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    contacts: Vec<Contact>,
    language: String,
    time_zone: String,
    #[serde(default)]
    document_check_digits: CheckDigits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prepayment: Option<Rates>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a new client with its sealed secret. Its version is stored as 1.
///
/// # Errors
/// [`StoreError::Programming`] when the document cannot be written.
pub fn insert(batch: &mut Batch, client: &Client, secret: &Sealed) -> Result<(), StoreError> {
    batch.push(
        &INSERT_CLIENT,
        args! {
            client_id: client.id,
            name: client.name.clone(),
            status: client.status.word(),
            secret: secret.bytes.as_slice(),
            key_id: secret.key_id,
            doc: doc(client)?,
            updated_at: client.updated_at,
        },
    );
    Ok(())
}

/// Writes a changed client. `client.version` is the version that was read; the batch is refused when it has changed
/// since.
///
/// # Errors
/// As [`insert`].
pub fn update(batch: &mut Batch, client: &Client) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_CLIENT,
        args! {
            client_id: client.id,
            name: client.name.clone(),
            status: client.status.word(),
            doc: doc(client)?,
            version: client.version,
            updated_at: client.updated_at,
        },
    );
    Ok(())
}

/// Refuses the batch when the client has changed since `version` was read. For rules about the client as a whole,
/// such as the number of its keys.
pub fn touch(batch: &mut Batch, client_id: ClientId, version: i64, updated_at: Timestamp) {
    batch.guard(&TOUCH_CLIENT, args! { client_id, version, updated_at });
}

/// One client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn find(store: &Store, client_id: ClientId) -> Result<Option<Client>, StoreError> {
    store.row(&FIND_CLIENT, args! { client_id }).await?.as_ref().map(from_row).transpose()
}

/// At most `limit` clients created after `after`, or from the first one, in the order of creation.
///
/// # Errors
/// As [`find`].
pub async fn list(store: &Store, after: Option<ClientId>, limit: i64) -> Result<Vec<Client>, StoreError> {
    let after_id = after.unwrap_or(ClientId::new(uuid::Uuid::nil()));
    store.rows(&LIST_CLIENTS, args! { after_id, limit }).await?.iter().map(from_row).collect()
}

/// The ids of at most `limit` clients, by id, from this one on.
pub(crate) async fn ids_from(store: &Store, from: ClientId, limit: i64) -> Result<Vec<ClientId>, StoreError> {
    store.rows(&CLIENT_IDS, args! { from, limit }).await?.iter().map(|row| row.get("id")).collect()
}

/// The sealed secret of a client, the key of its keyed hashes.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn secret(store: &Store, client_id: ClientId) -> Result<Option<Sealed>, StoreError> {
    let Some(row) = store.row(&FIND_CLIENT_SECRET, args! { client_id }).await? else { return Ok(None) };
    Ok(Some(Sealed { key_id: row.get("key_id")?, bytes: row.get("secret")? }))
}

fn doc(client: &Client) -> Result<Json, StoreError> {
    let doc = Doc {
        format: FORMAT,
        contacts: client.contacts.clone(),
        language: client.language.clone(),
        time_zone: client.time_zone.clone(),
        document_check_digits: client.document_check_digits,
        prepayment: client.prepayment,
        unknown: client.unknown_members.clone(),
    };
    serde_json::to_string(&doc).map(Json).map_err(|_| StoreError::Programming("clients.doc".to_owned()))
}

fn from_row(row: &Row) -> Result<Client, StoreError> {
    let doc: Doc =
        serde_json::from_str(row.get("doc")?).map_err(|_| StoreError::Corrupt("clients.doc".to_owned()))?;
    Ok(Client {
        id: row.get("id")?,
        name: row.get("name")?,
        status: ClientStatus::parse(row.get("status")?)?,
        contacts: doc.contacts,
        language: doc.language,
        time_zone: doc.time_zone,
        document_check_digits: doc.document_check_digits,
        prepayment: doc.prepayment,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
        unknown_members: doc.unknown,
    })
}
