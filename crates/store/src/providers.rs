//! Stores the configured payment and anti-fraud providers of merchants. Credentials are sealed; only the vault opens
//! them.

use regente_domain::id::{ClientId, MerchantId, ProviderId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "p.client_id, p.merchant_id, p.id AS provider_id, p.provider_type, p.priority, p.credentials, p.key_id, \
         p.doc AS provider_doc, p.version AS provider_version, p.updated_at AS provider_updated_at"
    };
}

sql! {
    /// Adds a provider.
    pub INSERT_PROVIDER = "
        INSERT INTO providers (id, client_id, merchant_id, provider_type, priority, credentials, key_id, doc, version,
            updated_at)
        VALUES (:id, :client_id, :merchant_id, :provider_type, :priority, :credentials, :key_id, :doc, :version,
            :updated_at)";
    /// Changes a provider, but not its type and merchant.
    pub UPDATE_PROVIDER = "
        UPDATE providers SET priority = :priority, credentials = :credentials, key_id = :key_id, doc = :doc,
            version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// One provider, also that of a deleted merchant.
    pub FIND_PROVIDER = concat!("SELECT ", columns!(), " FROM providers p
        WHERE p.id = :id AND p.client_id = :client_id");
    /// The client of a provider, by the provider alone: a notification names no more.
    pub CLIENT_OF_PROVIDER = "SELECT client_id FROM providers WHERE REACHABLE(client_id) AND id = :id";
    /// One live provider of a live merchant.
    pub FIND_LIVE_PROVIDER = concat!("SELECT ", columns!(), " FROM providers p
        JOIN merchants m ON m.id = p.merchant_id AND m.client_id = p.client_id
        WHERE p.id = :id AND p.client_id = :client_id AND p.deleted_at IS NULL AND m.deleted_at IS NULL");
}

/// A provider as configured for one merchant.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// Its id; the time of creation is the id's own.
    pub id: ProviderId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant it serves.
    pub merchant_id: MerchantId,
    /// Decides the adapter; never changes.
    pub provider_type: ProviderType,
    /// 1 is asked first.
    pub priority: i64,
    /// The merchant's credentials at the provider: a JSON object, sealed.
    pub credentials: Sealed,
    /// A free label.
    pub name: String,
    /// `options`, as sent.
    pub options: Option<Map<String, Value>>,
    /// `acquirer`, as sent.
    pub acquirer: Option<Map<String, Value>>,
    /// Members of the document that this release does not know; kept unchanged.
    pub unknown: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

/// The members of a provider without a column. Objects from callers are stored as text, because `jsonb` would reorder
/// their members.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    acquirer: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a provider.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, provider: &Provider) -> Result<(), StoreError> {
    batch.push(
        &INSERT_PROVIDER,
        args! {
            id: provider.id,
            client_id: provider.client_id,
            merchant_id: provider.merchant_id,
            provider_type: provider.provider_type.code(),
            priority: provider.priority,
            credentials: provider.credentials.bytes.as_slice(),
            key_id: provider.credentials.key_id,
            doc: document(provider)?,
            version: provider.version,
            updated_at: provider.updated_at,
        },
    );
    Ok(())
}

/// Writes `provider`; the batch is refused when it has changed since the version in `provider`.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn update(batch: &mut Batch, provider: &Provider) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_PROVIDER,
        args! {
            id: provider.id,
            client_id: provider.client_id,
            version: provider.version,
            priority: provider.priority,
            credentials: provider.credentials.bytes.as_slice(),
            key_id: provider.credentials.key_id,
            doc: document(provider)?,
            updated_at: provider.updated_at,
        },
    );
    Ok(())
}

/// A provider, also that of a deleted merchant, so that the outcomes of its calls can still be probed.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when its document cannot be read.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: ProviderId,
) -> Result<Option<Provider>, StoreError> {
    let row = store.row(&FIND_PROVIDER, args! { id, client_id }).await?;
    row.map(|row| from_row(id, row.get("merchant_id")?, &row)).transpose()
}

/// The client of a provider, which never changes.
///
/// # Errors
/// As [`Store::row`].
pub async fn client_of(store: &Store, id: ProviderId) -> Result<Option<ClientId>, StoreError> {
    store.owner(&CLIENT_OF_PROVIDER, id.uuid()).await
}

/// A live provider of a live merchant.
///
/// # Errors
/// As [`find`].
pub async fn find_live(
    store: &Store,
    client_id: ClientId,
    id: ProviderId,
) -> Result<Option<Provider>, StoreError> {
    let row = store.row(&FIND_LIVE_PROVIDER, args! { id, client_id }).await?;
    row.map(|row| from_row(id, row.get("merchant_id")?, &row)).transpose()
}

/// The provider in a row that joins a merchant (`id`) with one of its providers; `None` when the merchant has none.
pub(crate) fn from_joined_row(row: &Row) -> Result<Option<Provider>, StoreError> {
    match row.get::<Option<ProviderId>>("provider_id")? {
        Some(id) => from_row(id, row.get("id")?, row).map(Some),
        None => Ok(None),
    }
}

fn from_row(id: ProviderId, merchant_id: MerchantId, row: &Row) -> Result<Provider, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("providers.{what} of {id}"));
    let document: Doc = serde_json::from_str(row.get("provider_doc")?).map_err(|_| corrupt("doc"))?;
    if document.format != FORMAT {
        return Err(corrupt("doc.format"));
    }
    let object = |text: Option<String>| text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(Provider {
        id,
        client_id: row.get("client_id")?,
        merchant_id,
        provider_type: ProviderType::parse(row.get("provider_type")?)
            .ok_or_else(|| corrupt("provider_type"))?,
        priority: row.get("priority")?,
        credentials: Sealed { key_id: row.get("key_id")?, bytes: row.get("credentials")? },
        name: document.name,
        options: object(document.options).map_err(|_| corrupt("options"))?,
        acquirer: object(document.acquirer).map_err(|_| corrupt("acquirer"))?,
        unknown: document.unknown,
        version: row.get("provider_version")?,
        updated_at: row.get("provider_updated_at")?,
    })
}

fn document(provider: &Provider) -> Result<Json, StoreError> {
    let text = |object: &Option<Map<String, Value>>| object.as_ref().map(Json::of).transpose();
    let document = Doc {
        format: FORMAT,
        name: provider.name.clone(),
        options: text(&provider.options)?.map(|json| json.0),
        acquirer: text(&provider.acquirer)?.map(|json| json.0),
        unknown: provider.unknown.clone(),
    };
    Json::of(&document)
}
