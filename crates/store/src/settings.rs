//! Stores what accounts and merchants have set for payment links, and the logos. A logo is read by whoever knows its
//! address, which is why it has a table of its own.

use regente_domain::id::{ClientId, LogoId, MerchantId, SettingsId};
use regente_domain::settings::{Color, LogoFormat};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds settings.
    pub INSERT_SETTINGS = "
        INSERT INTO settings (client_id, merchant_id, id, doc, version, updated_at)
        VALUES (:client_id, :merchant_id, :id, :doc, 1, :updated_at)";
    /// Changes settings; guarded by the version.
    pub UPDATE_SETTINGS = "
        UPDATE settings SET doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE client_id = :client_id AND merchant_id = :merchant_id AND version = :version";
    /// Deletes settings; guarded by the version.
    pub DELETE_SETTINGS = "
        DELETE FROM settings
        WHERE client_id = :client_id AND merchant_id = :merchant_id AND version = :version";
    /// The settings of an account and those of one of its merchants.
    pub FIND_SETTINGS = "
        SELECT client_id, merchant_id, id, doc, version, updated_at FROM settings
        WHERE client_id = :client_id AND (merchant_id = :merchant_id OR merchant_id = :nobody)";
    /// Adds a logo.
    pub INSERT_LOGO = "
        INSERT INTO logos (client_id, id, format, bytes) VALUES (:client_id, :id, :format, :bytes)";
    /// Deletes a logo.
    pub DELETE_LOGO = "DELETE FROM logos WHERE client_id = :client_id AND id = :id";
    /// One logo.
    pub FIND_LOGO = "SELECT format, bytes FROM logos WHERE client_id = :client_id AND id = :id";
}

/// Settings of an account, or of one of its merchants.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Their id; the time of creation is the id's own.
    pub id: SettingsId,
    /// The account.
    pub client_id: ClientId,
    /// The merchant; `None` for those of the account.
    pub merchant_id: Option<MerchantId>,
    /// What callers set.
    pub details: SettingsDetails,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When they changed last.
    pub updated_at: Timestamp,
}

/// What callers set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SettingsDetails {
    /// The logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<LogoName>,
    /// The colours, by what they are for.
    #[serde(flatten)]
    pub colors: Colors,
    /// The address of the company, with or without a scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company_url: Option<String>,
    /// The origins of the pages to which buyers come back, apart by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_origins: Option<String>,
    /// The id of the company in the card scheme's Click to Pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mastercard_click_to_pay_dpaid: Option<String>,
    /// Members of the document that this release does not know; kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Colours of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Colors {
    /// The main colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_color: Option<Color>,
    /// The second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secondary_color: Option<Color>,
    /// For warnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention_color: Option<Color>,
    /// For errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_color: Option<Color>,
    /// For what went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_color: Option<Color>,
    /// Behind everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_color: Option<Color>,
}

/// Which file is the logo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogoName {
    /// Its id.
    pub id: LogoId,
    /// Its format.
    pub format: LogoFormat,
}

/// The file of a logo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoFile {
    /// Its format.
    pub format: LogoFormat,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The settings of an account and of one of its merchants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// Those of the merchant.
    pub of_merchant: Option<Settings>,
    /// Those of the account.
    pub of_client: Option<Settings>,
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

/// The members of settings without a column.
#[derive(Serialize, Deserialize)]
struct Doc<D> {
    format: u32,
    #[serde(flatten)]
    details: D,
}

/// Adds settings; the batch is refused when there are any of that account or merchant.
///
/// # Errors
/// [`StoreError::Programming`] when their document cannot be written.
pub fn insert(batch: &mut Batch, settings: &Settings) -> Result<(), StoreError> {
    batch.push(
        &INSERT_SETTINGS,
        args! {
            client_id: settings.client_id,
            merchant_id: column_of(settings.merchant_id),
            id: settings.id,
            doc: document(&settings.details)?,
            updated_at: settings.updated_at,
        },
    );
    Ok(())
}

/// Writes changed settings; the batch is refused when they have changed since the version in `settings`.
///
/// # Errors
/// [`StoreError::Programming`] when their document cannot be written.
pub fn update(batch: &mut Batch, settings: &Settings) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_SETTINGS,
        args! {
            client_id: settings.client_id,
            merchant_id: column_of(settings.merchant_id),
            doc: document(&settings.details)?,
            version: settings.version,
            updated_at: settings.updated_at,
        },
    );
    Ok(())
}

/// Deletes settings with their logo; the batch is refused when they have changed since they were read.
pub fn delete(batch: &mut Batch, settings: &Settings) {
    let (client_id, merchant_id) = (settings.client_id, column_of(settings.merchant_id));
    batch.guard(&DELETE_SETTINGS, args! { client_id, merchant_id, version: settings.version });
    if let Some(logo) = settings.details.logo {
        delete_logo(batch, logo.id);
    }
}

/// The settings of an account and, where one is named, of its merchant, in one query.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`] when a document cannot be read.
pub async fn levels(
    store: &Store,
    client_id: ClientId,
    merchant_id: Option<MerchantId>,
) -> Result<Levels, StoreError> {
    let (merchant_id, nobody) = (column_of(merchant_id), Uuid::nil());
    let mut levels = Levels::default();
    for row in &store.rows(&FIND_SETTINGS, args! { client_id, merchant_id, nobody }).await? {
        let settings = from_row(row)?;
        match settings.merchant_id {
            Some(_) => levels.of_merchant = Some(settings),
            None => levels.of_client = Some(settings),
        }
    }
    Ok(levels)
}

/// Adds a logo.
pub fn insert_logo(batch: &mut Batch, id: LogoId, file: &LogoFile) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_LOGO,
        args! { client_id, id, format: file.format.word(), bytes: file.bytes.as_slice() },
    );
}

/// Deletes a logo.
pub fn delete_logo(batch: &mut Batch, id: LogoId) {
    let client_id = batch.client_id();
    batch.push(&DELETE_LOGO, args! { client_id, id });
}

/// The file of a logo.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when its format is not known.
pub async fn find_logo(
    store: &Store,
    client_id: ClientId,
    id: LogoId,
) -> Result<Option<LogoFile>, StoreError> {
    let Some(row) = store.row(&FIND_LOGO, args! { client_id, id }).await? else { return Ok(None) };
    let format: &str = row.get("format")?;
    let format = LogoFormat::parse(format)
        .ok_or_else(|| StoreError::Corrupt(format!("logos.format of {id}: {format}")))?;
    Ok(Some(LogoFile { format, bytes: row.get("bytes")? }))
}

/// The settings of an account stand under the nil id, since keys hold no null.
fn column_of(merchant_id: Option<MerchantId>) -> Uuid {
    merchant_id.map_or(Uuid::nil(), MerchantId::uuid)
}

fn from_row(row: &Row) -> Result<Settings, StoreError> {
    let id: SettingsId = row.get("id")?;
    let doc: Doc<SettingsDetails> = serde_json::from_str(row.get("doc")?)
        .map_err(|error| StoreError::Corrupt(format!("settings.doc of {id}: {error}")))?;
    if doc.format != FORMAT {
        return Err(StoreError::Corrupt(format!("settings.doc of {id}: format {}", doc.format)));
    }
    let merchant_id: MerchantId = row.get("merchant_id")?;
    Ok(Settings {
        id,
        client_id: row.get("client_id")?,
        merchant_id: (!merchant_id.uuid().is_nil()).then_some(merchant_id),
        details: doc.details,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}

fn document(details: &SettingsDetails) -> Result<Json, StoreError> {
    Json::of(&Doc { format: FORMAT, details })
}
