//! Stores subscriptions, in the batch of each change, guarded by the version. [`cycles`] has what they charge, [`charges`] their
//! charges, [`list`] their pages, [`settings`] how an account charges them.

pub mod charges;
pub mod cycles;
mod list;
pub mod settings;

use jiff::civil::Date;
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::split::SplitRule;
use regente_domain::subscription::{
    Advance, Agreement, Cancellation, Cycle, Item, Payment, Phase, Schedule, Subscription,
};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::list::{SubscriptionFilter, count, page};
use crate::batch::Batch;
use crate::row::Row;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

macro_rules! columns {
    () => {
        "id, client_id, merchant_id, customer_id, reference_key, amount, doc, version, updated_at"
    };
}
use columns;

sql! {
    /// Adds a subscription.
    pub INSERT_SUBSCRIPTION = "
        INSERT INTO subscriptions (id, client_id, merchant_id, customer_id, status, reference_key, amount, doc, actor,
            version, updated_at)
        VALUES (:id, :client_id, :merchant_id, :customer_id, :status, :reference_key, :amount, :doc, :actor,
            :version, :updated_at)";
    /// Updates a subscription; guarded by the version.
    pub UPDATE_SUBSCRIPTION = "
        UPDATE subscriptions SET merchant_id = :merchant_id, status = :status, reference_key = :reference_key,
            amount = :amount, doc = :doc, actor = :actor, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Replaces the terms of a subscription; guarded by the version.
    pub ERASE_SUBSCRIPTION_TEXTS = "
        UPDATE subscriptions SET doc = :doc, version = version + 1
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// One subscription.
    pub FIND_SUBSCRIPTION = concat!("SELECT ", columns!(), " FROM subscriptions
        WHERE id = :id AND client_id = :client_id");
}

/// The members of a subscription without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    name: String,
    phase: Phase,
    items: Vec<Item>,
    payment: Payment,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    split_rules: Vec<SplitRule>,
    is_live: bool,
    schedule: Schedule,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begins_at_once: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial_end: Option<Date>,
    next_number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancellation: Option<Cancellation>,
    #[serde(default)]
    is_activated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agreement: Option<Agreement>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a new subscription, which has no cycles yet.
pub fn insert(batch: &mut Batch, new: &Subscription, actor: &Actor) -> Result<(), StoreError> {
    let args = changing_columns(new, actor)?.with("customer_id", new.customer_id);
    batch.push(&INSERT_SUBSCRIPTION, args);
    Ok(())
}

/// Updates a subscription to its next version, with the cycles that are new or have changed; `known` are the cycles before.
pub fn update(
    batch: &mut Batch,
    before: &Subscription,
    known: &[Cycle],
    after: &Advance,
    actor: &Actor,
) -> Result<(), StoreError> {
    let args = changing_columns(&after.subscription, actor)?.with("version_before", before.version);
    batch.guard(&UPDATE_SUBSCRIPTION, args);
    for cycle in &after.cycles {
        match known.iter().any(|known| known.id == cycle.id) {
            true => cycles::update(batch, before.id, cycle)?,
            false => cycles::insert(batch, before.id, cycle)?,
        }
    }
    Ok(())
}

/// Replaces the terms of a subscription by those without texts. The version grows, so that whoever has read the subscription before
/// writes none of them again.
///
/// # Errors
/// [`StoreError::Programming`].
pub fn erase_texts(batch: &mut Batch, erased: &Subscription) -> Result<(), StoreError> {
    let (id, client_id, version) = (erased.id, erased.client_id, erased.version);
    batch.guard(&ERASE_SUBSCRIPTION_TEXTS, args! { id, client_id, version, doc: doc_of(erased)? });
    Ok(())
}

fn changing_columns(subscription: &Subscription, actor: &Actor) -> Result<Args, StoreError> {
    let doc = doc_of(subscription)?;
    Ok(args! {
        id: subscription.id,
        client_id: subscription.client_id,
        merchant_id: subscription.merchant_id,
        status: subscription.status().word(),
        reference_key: subscription.reference_key.clone(),
        amount: subscription.amount.minor_units(),
        doc,
        actor: actor.to_string(),
        version: subscription.version,
        updated_at: subscription.updated_at,
    })
}

fn doc_of(subscription: &Subscription) -> Result<Json, StoreError> {
    let subscription = subscription.clone();
    Json::of(&Doc {
        format: FORMAT,
        name: subscription.name,
        phase: subscription.phase,
        items: subscription.items,
        payment: subscription.payment,
        split_rules: subscription.split_rules,
        is_live: subscription.is_live,
        schedule: subscription.schedule,
        begins_at_once: subscription.begins_at_once,
        trial_end: subscription.trial_end,
        next_number: subscription.next_number,
        cancellation: subscription.cancellation,
        is_activated: subscription.is_activated,
        agreement: subscription.agreement,
        unknown: subscription.unknown_members,
    })
}

/// One subscription of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: SubscriptionId,
) -> Result<Option<Subscription>, StoreError> {
    store.row(&FIND_SUBSCRIPTION, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

fn from_row(row: &Row) -> Result<Subscription, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("subscriptions.{what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|_| corrupt("doc"))?;
    Ok(Subscription {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        merchant_id: row.get("merchant_id")?,
        customer_id: row.get("customer_id")?,
        name: doc.name,
        reference_key: row.get("reference_key")?,
        phase: doc.phase,
        items: doc.items,
        amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
        payment: doc.payment,
        split_rules: doc.split_rules,
        is_live: doc.is_live,
        schedule: doc.schedule,
        begins_at_once: doc.begins_at_once,
        trial_end: doc.trial_end,
        next_number: doc.next_number,
        cancellation: doc.cancellation,
        // A release of before does not write it: one that runs beside this one may have taken the first payment.
        is_activated: doc.is_activated || doc.agreement.is_some() || doc.phase == Phase::Active,
        agreement: doc.agreement,
        unknown_members: doc.unknown,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
