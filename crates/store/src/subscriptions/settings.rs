//! How an account charges its subscriptions, once it has said so.

use regente_domain::id::ClientId;
use regente_domain::subscription::{BillingRules, SubscriptionSettings};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::row::Row;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

sql! {
    /// Adds the settings of an account.
    pub INSERT_SUBSCRIPTION_SETTINGS = "
        INSERT INTO subscription_settings (client_id, doc, created_at, version, updated_at)
        VALUES (:client_id, :doc, :created_at, :version, :updated_at)
        ON CONFLICT (client_id) DO NOTHING";
    /// Changes the settings of an account; guarded by the version.
    pub UPDATE_SUBSCRIPTION_SETTINGS = "
        UPDATE subscription_settings SET doc = :doc, version = :version, updated_at = :updated_at
        WHERE client_id = :client_id AND version = :version_before";
    /// The settings of an account.
    pub FIND_SUBSCRIPTION_SETTINGS = "
        SELECT client_id, doc, created_at, version, updated_at FROM subscription_settings
        WHERE client_id = :client_id";
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    #[serde(flatten)]
    rules: BillingRules,
}

/// Adds the settings of an account. Guards the batch: refused where there are some.
pub fn insert(batch: &mut Batch, settings: &SubscriptionSettings) -> Result<(), StoreError> {
    let args = columns(settings)?.with("created_at", settings.created_at);
    batch.guard(&INSERT_SUBSCRIPTION_SETTINGS, args);
    Ok(())
}

/// Changes the settings of an account to their next version. Guards the batch.
pub fn update(
    batch: &mut Batch,
    before: &SubscriptionSettings,
    after: &SubscriptionSettings,
) -> Result<(), StoreError> {
    let args = columns(after)?.with("version_before", before.version);
    batch.guard(&UPDATE_SUBSCRIPTION_SETTINGS, args);
    Ok(())
}

fn columns(settings: &SubscriptionSettings) -> Result<Args, StoreError> {
    let doc = Json::of(&Doc { format: FORMAT, rules: settings.rules.clone() })?;
    let SubscriptionSettings { client_id, version, updated_at, .. } = *settings;
    Ok(args! { client_id, doc, version, updated_at })
}

/// The settings of an account.
pub async fn find(store: &Store, client_id: ClientId) -> Result<Option<SubscriptionSettings>, StoreError> {
    let found = store.row(&FIND_SUBSCRIPTION_SETTINGS, args! { client_id }).await?;
    found.as_ref().map(from_row).transpose()
}

fn from_row(row: &Row) -> Result<SubscriptionSettings, StoreError> {
    let corrupt = |_| StoreError::Corrupt("subscription_settings.doc".to_owned());
    let Doc { format: _, rules } = serde_json::from_str(row.get("doc")?).map_err(corrupt)?;
    Ok(SubscriptionSettings {
        client_id: row.get("client_id")?,
        rules,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        version: row.get("version")?,
    })
}
