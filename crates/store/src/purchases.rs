//! Stores purchases and their history in the batch of each change, guarded by the purchase's version.

use regente_domain::actor::Actor;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::id::{ClientId, CustomerId, Id, PurchaseId, of};
use regente_domain::money::Amount;
use regente_domain::purchase::{Action, Advance, Milestone, NewEntry, Phase, Purchase, Reserved, Slot};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

sql! {
    /// Adds a purchase.
    pub INSERT_PURCHASE = "
        INSERT INTO purchases (id, client_id, merchant_id, status, amount, doc, private, key_id, actor, version,
            updated_at)
        VALUES (:id, :client_id, :merchant_id, :status, :amount, :doc, :private, :key_id, :actor, :version,
            :updated_at)";
    /// Updates a purchase; guarded by the version.
    pub UPDATE_PURCHASE = "
        UPDATE purchases SET status = :status, doc = :doc, actor = :actor, version = :version,
            updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Replaces the sealed data of a purchase of this version.
    pub SET_PURCHASE_DATA = "
        UPDATE purchases SET private = :private, key_id = :key_id
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// Fails unless the purchase still has this version; for a batch that changes something else.
    pub HOLD_PURCHASE = "
        UPDATE purchases SET version = :version WHERE id = :id AND client_id = :client_id AND version = :version";
    /// Takes the sealed data and the free texts from a purchase; guarded by the version.
    pub ERASE_PURCHASE_DATA = "
        UPDATE purchases SET private = NULL, key_id = NULL, doc = :doc, version = version + 1
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// Purchases of an account, oldest first.
    pub PURCHASES_AFTER = "
        SELECT id, client_id, merchant_id, amount, doc, private, key_id, version, updated_at FROM purchases
        WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit";
    /// One purchase.
    pub FIND_PURCHASE = "
        SELECT id, client_id, merchant_id, amount, doc, private, key_id, version, updated_at FROM purchases
        WHERE id = :id AND client_id = :client_id";
    /// Adds an entry to the history.
    pub INSERT_PURCHASE_ENTRY = "
        INSERT INTO purchase_history (purchase_id, ordinal, client_id, id, milestone, actions, changes, created_at,
            updated_at)
        VALUES (:purchase_id, :ordinal, :client_id, :id, :milestone, :actions, :changes, :created_at, :created_at)";
    /// Adds an action to an entry.
    pub AMEND_PURCHASE_ENTRY = "
        UPDATE purchase_history SET actions = :actions, updated_at = :updated_at
        WHERE purchase_id = :purchase_id AND ordinal = :ordinal AND client_id = :client_id";
    /// The history of a purchase, oldest first.
    pub PURCHASE_HISTORY = "
        SELECT id, milestone, actions, changes, created_at, updated_at FROM purchase_history
        WHERE purchase_id = :purchase_id AND client_id = :client_id ORDER BY ordinal";
}

/// A stored purchase with its sealed data.
#[derive(Clone, Debug)]
pub struct StoredPurchase {
    /// The purchase.
    pub purchase: Purchase,
    /// The merchant's extra data and the card data still needed, sealed.
    pub private: Option<Sealed>,
}

/// A stored history entry.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Its id.
    pub id: Id<of::PurchaseEntry>,
    /// What it marks.
    pub milestone: Milestone,
    /// The actions; the first is the main one.
    pub actions: Vec<Action>,
    /// The differences.
    pub changes: Value,
    /// When it was added.
    pub created_at: Timestamp,
    /// When an action was last added to it.
    pub updated_at: Timestamp,
}

/// The members of a purchase without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    customer_id: Option<CustomerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    customer_alias: Option<Id<of::CustomerAlias>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(default)]
    references: References,
    capture: CaptureMode,
    phase: Phase,
    slots: Vec<Slot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserved: Option<Reserved>,
    entries: i64,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a new purchase. `entry_id` creates the id of each history entry.
pub fn insert(
    batch: &mut Batch,
    step: &Advance,
    private: Option<Sealed>,
    actor: &Actor,
    entry_id: impl FnMut() -> Id<of::PurchaseEntry>,
) -> Result<(), StoreError> {
    let purchase = &step.purchase;
    let (private, key_id) = private.map_or((None, None), |sealed| (Some(sealed.bytes), Some(sealed.key_id)));
    batch.push(
        &INSERT_PURCHASE,
        args! {
            id: purchase.id,
            client_id: purchase.client_id,
            merchant_id: purchase.merchant_id,
            status: purchase.status().word(),
            amount: purchase.amount.minor_units(),
            doc: doc(purchase)?,
            private,
            key_id,
            actor: actor.to_string(),
            version: purchase.version,
            updated_at: purchase.updated_at,
        },
    );
    add_entries(batch, step, entry_id)
}

/// Updates a purchase to its next version, with its new history entries.
pub fn update(
    batch: &mut Batch,
    before: &Purchase,
    step: &Advance,
    actor: &Actor,
    entry_id: impl FnMut() -> Id<of::PurchaseEntry>,
) -> Result<(), StoreError> {
    let after = &step.purchase;
    batch.guard(
        &UPDATE_PURCHASE,
        args! {
            id: after.id,
            client_id: after.client_id,
            status: after.status().word(),
            doc: doc(after)?,
            actor: actor.to_string(),
            version: after.version,
            version_before: before.version,
            updated_at: after.updated_at,
        },
    );
    if let (true, Some(reserved)) = (step.amends_reserved, &after.reserved) {
        let (purchase_id, client_id, ordinal) = (after.id, after.client_id, reserved.ordinal);
        let actions = json_text(&reserved.actions)?;
        let updated_at = after.updated_at;
        batch.push(&AMEND_PURCHASE_ENTRY, args! { purchase_id, ordinal, client_id, actions, updated_at });
    }
    add_entries(batch, step, entry_id)
}

/// Replaces the sealed data of a purchase; `after` is the version to which the batch has updated it.
pub fn set_private(batch: &mut Batch, after: &Purchase, private: Sealed) {
    let (id, client_id, version) = (after.id, after.client_id, after.version);
    let (private, key_id) = (private.bytes, private.key_id);
    batch.push(&SET_PURCHASE_DATA, args! { id, client_id, version, private, key_id });
}

/// Replaces the sealed data of a purchase that stays in this version. Guards the batch.
pub fn replace_private(batch: &mut Batch, purchase: &Purchase, private: Sealed) {
    let (id, client_id, version) = (purchase.id, purchase.client_id, purchase.version);
    let (private, key_id) = (private.bytes, private.key_id);
    batch.guard(&SET_PURCHASE_DATA, args! { id, client_id, version, private, key_id });
}

/// The version of a purchase on which a decision about one of its charges was based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurchaseVersion {
    /// Its id.
    pub id: PurchaseId,
    /// Its version.
    pub version: i64,
}

impl PurchaseVersion {
    /// The version that was read.
    pub const fn of(purchase: &Purchase) -> Self {
        Self { id: purchase.id, version: purchase.version }
    }
}

/// Refuses the batch when the purchase has moved on from this version.
pub fn hold(batch: &mut Batch, held: PurchaseVersion) {
    let (client_id, PurchaseVersion { id, version }) = (batch.client_id(), held);
    batch.guard(&HOLD_PURCHASE, args! { id, client_id, version });
}

fn add_entries(
    batch: &mut Batch,
    step: &Advance,
    mut entry_id: impl FnMut() -> Id<of::PurchaseEntry>,
) -> Result<(), StoreError> {
    let purchase = &step.purchase;
    for NewEntry { ordinal, milestone, actions, changes } in &step.entries {
        batch.push(
            &INSERT_PURCHASE_ENTRY,
            args! {
                purchase_id: purchase.id,
                ordinal: *ordinal,
                client_id: purchase.client_id,
                id: entry_id(),
                milestone: milestone.word(),
                actions: json_text(actions)?,
                changes: json_text(changes)?,
                created_at: purchase.updated_at,
            },
        );
    }
    Ok(())
}

fn json_text(value: &impl Serialize) -> Result<String, StoreError> {
    Json::of(value).map(|Json(text)| text)
}

fn doc(purchase: &Purchase) -> Result<Json, StoreError> {
    Json::of(&Doc {
        format: FORMAT,
        customer_id: purchase.customer_id,
        customer_alias: purchase.customer_alias,
        order_id: purchase.order_id.clone(),
        references: purchase.references.clone(),
        capture: purchase.capture,
        phase: purchase.phase,
        slots: purchase.slots.clone(),
        reserved: purchase.reserved.clone(),
        entries: purchase.entries,
        unknown: purchase.unknown_members.clone(),
    })
}

/// One purchase of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: PurchaseId,
) -> Result<Option<StoredPurchase>, StoreError> {
    store.row(&FIND_PURCHASE, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The purchases of a client after `after`, oldest first.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    after: PurchaseId,
    limit: i64,
) -> Result<Vec<StoredPurchase>, StoreError> {
    let rows = store.rows(&PURCHASES_AFTER, args! { client_id, after, limit }).await?;
    rows.iter().map(from_row).collect()
}

/// Erases the sealed data and the free texts of a purchase; answers whether there was anything. Its history holds neither.
pub fn erase(batch: &mut Batch, stored: &StoredPurchase) -> Result<bool, StoreError> {
    let purchase = &stored.purchase;
    let erased = Purchase { references: purchase.references.without_free_text(), ..purchase.clone() };
    if stored.private.is_none() && erased == *purchase {
        return Ok(false);
    }
    let (id, client_id, version) = (purchase.id, purchase.client_id, purchase.version);
    batch.guard(&ERASE_PURCHASE_DATA, args! { id, client_id, version, doc: doc(&erased)? });
    Ok(true)
}

/// The history of a purchase, oldest first.
pub async fn history(
    store: &Store,
    client_id: ClientId,
    purchase_id: PurchaseId,
) -> Result<Vec<StoredEntry>, StoreError> {
    let rows = store.rows(&PURCHASE_HISTORY, args! { purchase_id, client_id }).await?;
    rows.iter().map(entry_from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredPurchase, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("purchases.{what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|_| corrupt("doc"))?;
    let private: Option<Vec<u8>> = row.get("private")?;
    let key_id: Option<Uuid> = row.get("key_id")?;
    Ok(StoredPurchase {
        purchase: Purchase {
            id: row.get("id")?,
            client_id: row.get("client_id")?,
            merchant_id: row.get("merchant_id")?,
            customer_id: doc.customer_id,
            customer_alias: doc.customer_alias,
            order_id: doc.order_id,
            references: doc.references,
            amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
            capture: doc.capture,
            phase: doc.phase,
            slots: doc.slots,
            reserved: doc.reserved,
            entries: doc.entries,
            unknown_members: doc.unknown,
            version: row.get("version")?,
            updated_at: row.get("updated_at")?,
        },
        private: private.zip(key_id).map(|(bytes, key_id)| Sealed { key_id, bytes }),
    })
}

fn entry_from_row(row: &Row) -> Result<StoredEntry, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("purchase_history.{what}"));
    let milestone: String = row.get("milestone")?;
    Ok(StoredEntry {
        id: row.get("id")?,
        milestone: Milestone::parse(&milestone).ok_or_else(|| corrupt("milestone"))?,
        actions: serde_json::from_str(row.get("actions")?).map_err(|_| corrupt("actions"))?,
        changes: serde_json::from_str(row.get("changes")?).map_err(|_| corrupt("changes"))?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
