//! Stores charges: guarded by their version when written, read by id or in pages with every filter of
//! `docs/interface/conventions.md`. The column `status` holds the domain's state, which is finer than the status of
//! the interface.

pub mod as_of;
mod document;
pub mod erasure;
mod free_form;
mod list;

use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, ChargeState, StateName};
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use uuid::Uuid;

pub use self::list::{ChargeFilter, Divided, Listed, list, page};
use crate::batch::Batch;
use crate::counters;
use crate::row::{Row, only};
use crate::sealed::Sealed;
pub use crate::spans::Direction;
use crate::transaction_requests::{self, StoredRequest};
use crate::value::Json;
use crate::{Store, StoreError, args, ledger, sql};

macro_rules! columns {
    () => {
        "id, client_id, merchant_id, status, payment_type, provider_type, order_id, customer_id, amount, \
         original_amount, currency, doc, private, key_id, version, updated_at"
    };
}
use columns;

sql! {
    /// Adds a charge.
    pub INSERT_CHARGE = "
        INSERT INTO charges (id, client_id, merchant_id, status, payment_type, provider_type, order_id,
            customer_id, amount, original_amount, currency, doc, private, key_id, actor, version, updated_at)
        VALUES (:id, :client_id, :merchant_id, :status, :payment_type, :provider_type, :order_id,
            :customer_id, :amount, :original_amount, :currency, :doc, :private, :key_id, :actor, :version, :updated_at)";
    /// Updates a charge; guarded by the version.
    pub UPDATE_CHARGE = "
        UPDATE charges SET status = :status, provider_type = :provider_type, amount = :amount, doc = :doc,
            actor = :actor, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Updates a charge without its document: an approval changes only columns.
    pub MOVE_CHARGE = "
        UPDATE charges SET status = :status, provider_type = :provider_type, amount = :amount,
            actor = :actor, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Keeps a version that an answer may refer to.
    pub KEEP_CHARGE_VERSION = "
        INSERT INTO charge_history (id, version, client_id, status, provider_type, amount, doc, updated_at)
        VALUES (:id, :version, :client_id, :status, :provider_type, :amount, :doc, :updated_at)";
    /// An earlier version of a charge.
    pub FIND_CHARGE_VERSION = "
        SELECT c.id, c.client_id, c.merchant_id, h.status, c.payment_type, h.provider_type, c.order_id,
            c.customer_id, h.amount, c.original_amount, c.currency, h.doc, c.private, c.key_id, h.version,
            h.updated_at
        FROM charge_history h JOIN charges c ON c.id = h.id AND c.client_id = h.client_id
        WHERE h.id = :id AND h.version = :version AND h.client_id = :client_id";
    /// Every earlier version of a charge.
    FORMER_DOCS = "
        SELECT c.id, c.client_id, c.merchant_id, h.status, c.payment_type, h.provider_type, c.order_id,
            c.customer_id, h.amount, c.original_amount, c.currency, h.doc, c.private, c.key_id, h.version,
            h.updated_at
        FROM charge_history h JOIN charges c ON c.id = h.id AND c.client_id = h.client_id
        WHERE h.id = :id AND h.client_id = :client_id";
    /// The first settled version, from a version on, and when the charge last changed.
    pub SETTLED_VERSION = "
        SELECT MIN(CASE WHEN v.status NOT IN STATES_UNDER_WAY THEN v.version END) AS version,
            MAX(v.updated_at) AS updated_at
        FROM (
            SELECT version, status, updated_at FROM charge_history
            WHERE id = :id AND client_id = :client_id AND version >= :version
            UNION ALL
            SELECT version, status, updated_at FROM charges
            WHERE id = :id AND client_id = :client_id AND version >= :version
        ) v";
    /// One charge.
    pub FIND_CHARGE = concat!("SELECT ", columns!(), " FROM charges WHERE id = :id AND client_id = :client_id");
    /// Charges of a client after one, oldest first.
    CHARGES_AFTER = concat!("SELECT ", columns!(), " FROM charges WHERE client_id = :client_id AND id > :after
        ORDER BY id LIMIT :limit");
    /// Changes nothing, and only while the charge stands at a version.
    CHARGE_STANDS_STILL = "
        UPDATE charges SET version = :version WHERE id = :id AND client_id = :client_id AND version = :version";
    /// These charges of a client.
    CHARGES_OF = concat!("SELECT ", columns!(), " FROM charges WHERE client_id = :client_id AND id IN EACH_UUID(:ids)");
    /// The account of a charge; for operators, who name only the charge.
    pub CLIENT_OF_CHARGE = "SELECT client_id FROM charges WHERE REACHABLE(client_id) AND id = :id";
    /// Counts a client's charges from their rows, to compare with the counters.
    pub CHARGES_BY_STATE = "
        SELECT merchant_id, status, payment_type, COALESCE(provider_type, '') AS provider_type, COUNT(*) AS n
        FROM charges WHERE client_id = :client_id GROUP BY merchant_id, status, payment_type, provider_type";
}

/// A stored charge with its sealed personal data.
#[derive(Clone, Debug)]
pub struct StoredCharge {
    /// The charge.
    pub charge: Charge,
    /// Fraud analysis data, sealed.
    pub private: Option<Sealed>,
}

/// Adds a new charge, counts it, and posts what it holds.
pub fn insert(
    batch: &mut Batch,
    charge: &Charge,
    private: Option<Sealed>,
    actor: &Actor,
) -> Result<(), StoreError> {
    let (private, key_id) = private.map_or((None, None), |sealed| (Some(sealed.bytes), Some(sealed.key_id)));
    batch.push(
        &INSERT_CHARGE,
        args! {
            id: charge.id,
            client_id: charge.client_id,
            merchant_id: charge.merchant_id,
            status: charge.state.name().word(),
            payment_type: charge.method.payment_type().word(),
            provider_type: charge.state.responsible().map(ProviderType::code),
            order_id: charge.order_id.clone(),
            customer_id: charge.customer_id,
            amount: charge.amount.minor_units(),
            original_amount: charge.original_amount.minor_units(),
            currency: charge.currency.code(),
            doc: document::write(charge)?,
            private,
            key_id,
            actor: actor.to_string(),
            version: charge.version,
            updated_at: charge.updated_at,
        },
    );
    for delta in counters::delta(None, charge) {
        batch.count(delta);
    }
    ledger::post(batch, &regente_domain::ledger::entries(None, charge));
    Ok(())
}

/// Updates a charge to its next version, counts the difference and posts it. A settled version stays readable, because answers
/// refer to it.
pub fn update(batch: &mut Batch, before: &Charge, after: &Charge, actor: &Actor) -> Result<(), StoreError> {
    if before.state.is_settled() {
        keep(batch, before)?;
    }
    let columns = args! {
        id: after.id,
        client_id: after.client_id,
        status: after.state.name().word(),
        provider_type: after.state.responsible().map(ProviderType::code),
        amount: after.amount.minor_units(),
        actor: actor.to_string(),
        version: after.version,
        version_before: before.version,
        updated_at: after.updated_at,
    };
    if document::is_same(before, after) {
        batch.guard(&MOVE_CHARGE, columns);
    } else {
        batch.guard(&UPDATE_CHARGE, columns.with("doc", document::write(after)?));
    }
    for delta in counters::delta(Some(before), after) {
        batch.count(delta);
    }
    ledger::post(batch, &regente_domain::ledger::entries(Some(before), after));
    Ok(())
}

/// Keeps a version that is under way and that an event announces: the message to webhooks is made of it, perhaps after
/// the charge has moved on.
pub fn keep_announced(batch: &mut Batch, charge: &Charge) -> Result<(), StoreError> {
    if charge.state.is_settled() {
        return Ok(());
    }
    keep(batch, charge)
}

fn keep(batch: &mut Batch, charge: &Charge) -> Result<(), StoreError> {
    batch.push(
        &KEEP_CHARGE_VERSION,
        args! {
            id: charge.id,
            version: charge.version,
            client_id: charge.client_id,
            status: charge.state.name().word(),
            provider_type: charge.state.responsible().map(ProviderType::code),
            amount: charge.amount.minor_units(),
            doc: document::write(charge)?,
            updated_at: charge.updated_at,
        },
    );
    Ok(())
}

/// One charge of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
) -> Result<Option<StoredCharge>, StoreError> {
    store.row(&FIND_CHARGE, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// Charges of a client after `after`, oldest first.
pub async fn after(
    store: &Store,
    client_id: ClientId,
    after: ChargeId,
    limit: i64,
) -> Result<Vec<StoredCharge>, StoreError> {
    store.rows(&CHARGES_AFTER, args! { client_id, after, limit }).await?.iter().map(from_row).collect()
}

/// Has the batch refused if the charge has moved on from this version.
pub fn stand_still(batch: &mut Batch, charge: &Charge) {
    let Charge { id, client_id, version, .. } = *charge;
    batch.guard(&CHARGE_STANDS_STILL, args! { id, client_id, version });
}

/// Those of these charges that the client has.
pub async fn find_many(
    store: &Store,
    client_id: ClientId,
    ids: &[ChargeId],
) -> Result<Vec<StoredCharge>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    store.rows(&CHARGES_OF, args! { client_id, ids }).await?.iter().map(from_row).collect()
}

/// One charge of a client with its requests, oldest first.
pub async fn find_with_requests(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
) -> Result<Option<(StoredCharge, Vec<StoredRequest>)>, StoreError> {
    let charge = (&FIND_CHARGE, args! { id, client_id });
    let requests = transaction_requests::query_of_object(client_id, id.uuid());
    let (charge, requests) = store.rows_of_both(charge, requests).await?;
    let Some(row) = only(&FIND_CHARGE, charge)? else { return Ok(None) };
    Ok(Some((from_row(&row)?, transaction_requests::from_rows(requests)?)))
}

/// A settled version of a charge, which can be a final answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The version.
    pub version: i64,
    /// When the charge last changed, in this version or a later one.
    pub moved_at: Timestamp,
}

/// The first settled version of a charge, `from` or later; `None` before there is one.
pub async fn settled(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
    from: i64,
) -> Result<Option<Settled>, StoreError> {
    let Some(row) = store.row(&SETTLED_VERSION, args! { id, client_id, version: from }).await? else {
        return Ok(None);
    };
    let version: Option<i64> = row.get("version")?;
    let moved_at: Option<Timestamp> = row.get("updated_at")?;
    Ok(version.zip(moved_at).map(|(version, moved_at)| Settled { version, moved_at }))
}

/// A charge at a version that an answer refers to.
pub async fn find_version(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
    version: i64,
) -> Result<Option<StoredCharge>, StoreError> {
    let current = find(store, client_id, id).await?;
    if current.as_ref().is_none_or(|stored| stored.charge.version == version) {
        return Ok(current);
    }
    store
        .row(&FIND_CHARGE_VERSION, args! { id, version, client_id })
        .await?
        .as_ref()
        .map(from_row)
        .transpose()
}

/// The account of a charge. Only for operators: callers of the interface name their account.
pub async fn client_of(store: &Store, id: ChargeId) -> Result<Option<ClientId>, StoreError> {
    store.owner(&CLIENT_OF_CHARGE, id.uuid()).await
}

fn from_row(row: &Row) -> Result<StoredCharge, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("charges.{what}"));
    let payment_type: String = row.get("payment_type")?;
    let payment_type = PaymentType::parse(&payment_type).ok_or_else(|| corrupt("payment_type"))?;
    let doc: String = row.get("doc")?;
    let facts = document::read(&doc, payment_type).ok_or_else(|| corrupt("doc"))?;
    let status: String = row.get("status")?;
    let provider_type: Option<String> = row.get("provider_type")?;
    let currency: String = row.get("currency")?;
    let state = StateName::parse(&status)
        .and_then(|name| {
            let responsible = provider_type.as_deref().and_then(ProviderType::parse);
            ChargeState::of(name, responsible, facts.state)
        })
        .ok_or_else(|| corrupt("status"))?;
    let private: Option<Vec<u8>> = row.get("private")?;
    let key_id: Option<Uuid> = row.get("key_id")?;
    Ok(StoredCharge {
        charge: Charge {
            id: row.get("id")?,
            client_id: row.get("client_id")?,
            merchant_id: row.get("merchant_id")?,
            customer_id: row.get("customer_id")?,
            customer_alias: facts.customer_alias,
            order_id: row.get("order_id")?,
            method: facts.method,
            amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
            original_amount: Amount::new(row.get("original_amount")?)
                .ok_or_else(|| corrupt("original_amount"))?,
            paid_otherwise: facts.paid_otherwise,
            currency: Currency::parse(&currency).ok_or_else(|| corrupt("currency"))?,
            capture: facts.capture,
            references: Arc::new(facts.references),
            state,
            explanation: facts.explanation,
            position: facts.position,
            requests: facts.requests,
            purchase_id: facts.purchase_id,
            session_id: facts.session_id,
            subscription_id: facts.subscription_id,
            vendor: facts.vendor,
            authentication: facts.authentication,
            screening: facts.screening,
            split: facts.split,
            unknown_members: facts.unknown_members,
            version: row.get("version")?,
            updated_at: row.get("updated_at")?,
        },
        private: private.zip(key_id).map(|(bytes, key_id)| Sealed { key_id, bytes }),
    })
}
