//! Charges: written with the batch of their change, guarded by their version; read by id, or page by page with every
//! filter of contract 00 §4.

mod free_form;

use regente_domain::actor::Actor;
use regente_domain::charge::explanation::Explanation;
use regente_domain::charge::{
    CaptureMode, CardPayment, Charge, ChargeState, ChargeStatus, OpenOperation, PaymentSource, PaymentType,
    References,
};
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, Id, PurchaseId, of};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use self::free_form::FreeForm;
use crate::batch::Batch;
use crate::counters::{self, CounterFilter};
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

macro_rules! columns {
    () => {
        "id, client_id, merchant_id, status, payment_type, provider_type, order_id, customer_id, amount, \
         original_amount, currency, doc, private, key_id, version, updated_at"
    };
}

// The casts tell PostgreSQL the type of an argument that is compared with nothing but null; SQLite lets a null be.
macro_rules! filter {
    () => {
        " FROM charges WHERE client_id = :client_id AND id >= :from_id AND id < :to_id \
           AND (CAST(:ids AS JSONB) IS NULL OR id IN EACH_UUID(:ids)) \
           AND (CAST(:order_ids AS JSONB) IS NULL OR order_id IN EACH_TEXT(:order_ids)) \
           AND (CAST(:session_ids AS JSONB) IS NULL OR session_id IN EACH_UUID(:session_ids)) \
           AND (CAST(:amounts AS JSONB) IS NULL OR CAST(original_amount AS TEXT) IN EACH_TEXT(:amounts)) \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:payment_types AS JSONB) IS NULL OR payment_type IN EACH_TEXT(:payment_types)) \
           AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types))"
    };
}

// The second condition repeats one of the filter, without its way out, so that the planner can use its index.
macro_rules! page {
    ($by:literal, $direction:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            filter!(),
            $by,
            " ORDER BY id ",
            $direction,
            " LIMIT :limit OFFSET :offset"
        )
    };
}
macro_rules! count {
    ($by:literal) => {
        concat!("SELECT COUNT(*) AS n", filter!(), $by)
    };
}

sql! {
    /// Adds a charge.
    pub INSERT_CHARGE = "
        INSERT INTO charges (id, client_id, merchant_id, status, payment_type, provider_type, order_id, session_id,
            customer_id, amount, original_amount, currency, doc, private, key_id, actor, version, updated_at)
        VALUES (:id, :client_id, :merchant_id, :status, :payment_type, :provider_type, :order_id, NULL,
            :customer_id, :amount, :original_amount, :currency, :doc, :private, :key_id, :actor, :version, :updated_at)";
    /// Moves a charge on; the version is the lock.
    pub UPDATE_CHARGE = "
        UPDATE charges SET status = :status, provider_type = :provider_type, amount = :amount, doc = :doc,
            actor = :actor, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Keeps a version that an answer may point at.
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
    /// One charge.
    pub FIND_CHARGE = concat!("SELECT ", columns!(), " FROM charges WHERE id = :id AND client_id = :client_id");
    /// The account of a charge; for operators, who name a charge alone.
    pub CLIENT_OF_CHARGE = "SELECT client_id FROM charges WHERE id = :id";
    /// Newest first.
    pub CHARGES_DESC = page!("", "DESC");
    /// Oldest first.
    pub CHARGES_ASC = page!("", "ASC");
    /// Chosen by id, newest first.
    pub CHARGES_BY_ID_DESC = page!(" AND id IN EACH_UUID(:ids)", "DESC");
    /// Chosen by id, oldest first.
    pub CHARGES_BY_ID_ASC = page!(" AND id IN EACH_UUID(:ids)", "ASC");
    /// Chosen by the merchant's reference, newest first.
    pub CHARGES_BY_ORDER_DESC = page!(" AND order_id IN EACH_TEXT(:order_ids)", "DESC");
    /// Chosen by the merchant's reference, oldest first.
    pub CHARGES_BY_ORDER_ASC = page!(" AND order_id IN EACH_TEXT(:order_ids)", "ASC");
    /// Chosen by session, newest first.
    pub CHARGES_BY_SESSION_DESC = page!(" AND session_id IN EACH_UUID(:session_ids)", "DESC");
    /// Chosen by session, oldest first.
    pub CHARGES_BY_SESSION_ASC = page!(" AND session_id IN EACH_UUID(:session_ids)", "ASC");
    /// How many there are, where counters do not tell.
    pub COUNT_CHARGES = count!("");
    /// How many of these ids there are.
    pub COUNT_CHARGES_BY_ID = count!(" AND id IN EACH_UUID(:ids)");
    /// How many have these references.
    pub COUNT_CHARGES_BY_ORDER = count!(" AND order_id IN EACH_TEXT(:order_ids)");
    /// How many belong to these sessions.
    pub COUNT_CHARGES_BY_SESSION = count!(" AND session_id IN EACH_UUID(:session_ids)");
    /// What the rows of a client say, to hold against the counters.
    pub CHARGES_BY_STATE = "
        SELECT merchant_id, status, payment_type, COALESCE(provider_type, '') AS provider_type, COUNT(*) AS n
        FROM charges WHERE client_id = :client_id GROUP BY merchant_id, status, payment_type, provider_type";
}

/// A charge as stored, with the personal data that only the vault can open.
#[derive(Clone, Debug)]
pub struct StoredCharge {
    /// The charge.
    pub charge: Charge,
    /// Fraud analysis data, sealed.
    pub private: Option<Sealed>,
}

/// The part of a charge that is not a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    payment: CardPayment,
    source: PaymentSource,
    capture: CaptureMode,
    #[serde(default)]
    references: References,
    #[serde(default)]
    free_form: FreeForm,
    explanation: Explanation,
    requests: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenOperation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    customer_alias: Option<Id<of::CustomerAlias>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purchase_id: Option<PurchaseId>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a new charge and counts it.
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
            status: charge.state.status().word(),
            payment_type: charge.payment_type.word(),
            provider_type: charge.state.responsible().map(ProviderType::code),
            order_id: charge.order_id.clone(),
            customer_id: charge.customer_id,
            amount: charge.amount.minor_units(),
            original_amount: charge.original_amount.minor_units(),
            currency: charge.currency.code(),
            doc: doc(charge)?,
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
    Ok(())
}

/// Moves a charge from one version to the next and counts the difference. A settled version stays readable: answers
/// point at it.
pub fn update(batch: &mut Batch, before: &Charge, after: &Charge, actor: &Actor) -> Result<(), StoreError> {
    if before.state.is_settled() {
        keep(batch, before)?;
    }
    batch.guard(
        &UPDATE_CHARGE,
        args! {
            id: after.id,
            client_id: after.client_id,
            status: after.state.status().word(),
            provider_type: after.state.responsible().map(ProviderType::code),
            amount: after.amount.minor_units(),
            doc: doc(after)?,
            actor: actor.to_string(),
            version: after.version,
            version_before: before.version,
            updated_at: after.updated_at,
        },
    );
    for delta in counters::delta(Some(before), after) {
        batch.count(delta);
    }
    Ok(())
}

fn keep(batch: &mut Batch, charge: &Charge) -> Result<(), StoreError> {
    batch.push(
        &KEEP_CHARGE_VERSION,
        args! {
            id: charge.id,
            version: charge.version,
            client_id: charge.client_id,
            status: charge.state.status().word(),
            provider_type: charge.state.responsible().map(ProviderType::code),
            amount: charge.amount.minor_units(),
            doc: doc(charge)?,
            updated_at: charge.updated_at,
        },
    );
    Ok(())
}

fn doc(charge: &Charge) -> Result<Json, StoreError> {
    let (mut payment, mut references) = (charge.payment.clone(), charge.references.clone());
    let free_form = FreeForm::take(&mut payment, &mut references);
    Json::of(&Doc {
        format: FORMAT,
        payment,
        source: charge.source.clone(),
        capture: charge.capture,
        references,
        free_form,
        explanation: charge.explanation.clone(),
        requests: charge.requests,
        open: charge.state.open_operation().copied(),
        customer_alias: charge.customer_alias,
        claim: charge.claim.clone(),
        purchase_id: charge.purchase_id,
        unknown: charge.unknown_members.clone(),
    })
}

/// One charge of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
) -> Result<Option<StoredCharge>, StoreError> {
    store.row(&FIND_CHARGE, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// A charge as it was at a version that an answer points at.
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

/// The account that a charge belongs to. For operators alone: callers of the interface name their account.
pub async fn client_of(store: &Store, id: ChargeId) -> Result<Option<ClientId>, StoreError> {
    store.row(&CLIENT_OF_CHARGE, args! { id }).await?.map(|row| row.get("client_id")).transpose()
}

/// Oldest or newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// What a list of charges is narrowed by. An absent list means all.
#[derive(Clone, Debug, Default)]
pub struct ChargeFilter {
    /// Ids.
    pub ids: Option<Vec<ChargeId>>,
    /// The merchant's references.
    pub order_ids: Option<Vec<String>>,
    /// Sessions.
    pub session_ids: Option<Vec<Uuid>>,
    /// Original amounts in minor units.
    pub original_amounts: Option<Vec<i64>>,
    /// Merchants, statuses, payment types and provider types.
    pub counted: CounterFilter,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub to: Option<Timestamp>,
}

/// What a filter is narrowest by, which decides the index.
#[derive(Clone, Copy)]
enum NarrowestBy {
    Id,
    Order,
    Session,
    Client,
}

impl ChargeFilter {
    const fn narrowest(&self) -> NarrowestBy {
        if self.ids.is_some() {
            NarrowestBy::Id
        } else if self.order_ids.is_some() {
            NarrowestBy::Order
        } else if self.session_ids.is_some() {
            NarrowestBy::Session
        } else {
            NarrowestBy::Client
        }
    }

    fn args(&self, client_id: ClientId, from: Option<Timestamp>, to: Option<Timestamp>) -> Args {
        let counted = &self.counted;
        args! {
            client_id,
            from_id: from.map_or_else(Uuid::nil, |from| Id::<of::Charge>::first_at(from).uuid()),
            to_id: to.map_or_else(Uuid::max, |to| Id::<of::Charge>::first_at(to).uuid()),
            ids: Json::list(self.ids.as_deref(), ToString::to_string),
            order_ids: Json::list(self.order_ids.as_deref(), Clone::clone),
            session_ids: Json::list(self.session_ids.as_deref(), ToString::to_string),
            amounts: Json::list(self.original_amounts.as_deref(), ToString::to_string),
            merchants: Json::list(counted.merchants.as_deref(), ToString::to_string),
            statuses: Json::list(counted.statuses.as_deref(), |status| status.word().to_owned()),
            payment_types: Json::list(counted.payment_types.as_deref(), |kind| kind.word().to_owned()),
            provider_types: Json::list(counted.provider_types.as_deref(), |kind| kind.code().to_owned()),
        }
    }
}

/// One page of the charges of a client.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &ChargeFilter,
    direction: Direction,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredCharge>, StoreError> {
    let sql = match (filter.narrowest(), direction) {
        (NarrowestBy::Id, Direction::Descending) => &CHARGES_BY_ID_DESC,
        (NarrowestBy::Id, Direction::Ascending) => &CHARGES_BY_ID_ASC,
        (NarrowestBy::Order, Direction::Descending) => &CHARGES_BY_ORDER_DESC,
        (NarrowestBy::Order, Direction::Ascending) => &CHARGES_BY_ORDER_ASC,
        (NarrowestBy::Session, Direction::Descending) => &CHARGES_BY_SESSION_DESC,
        (NarrowestBy::Session, Direction::Ascending) => &CHARGES_BY_SESSION_ASC,
        (NarrowestBy::Client, Direction::Descending) => &CHARGES_DESC,
        (NarrowestBy::Client, Direction::Ascending) => &CHARGES_ASC,
    };
    let args = filter.args(client_id, filter.from, filter.to).with("limit", limit).with("offset", offset);
    store.rows(sql, args).await?.iter().map(from_row).collect()
}

/// How many charges the filter leaves, exactly. Whole hours come from the counters where they cover the filter; the
/// hours that `from` and `to` cut are counted row by row.
pub async fn count(store: &Store, client_id: ClientId, filter: &ChargeFilter) -> Result<i64, StoreError> {
    let sql = match filter.narrowest() {
        NarrowestBy::Id => &COUNT_CHARGES_BY_ID,
        NarrowestBy::Order => &COUNT_CHARGES_BY_ORDER,
        NarrowestBy::Session => &COUNT_CHARGES_BY_SESSION,
        NarrowestBy::Client if filter.original_amounts.is_some() => &COUNT_CHARGES,
        NarrowestBy::Client => return count_by_hours(store, client_id, filter).await,
    };
    count_rows(store, sql, filter.args(client_id, filter.from, filter.to)).await
}

async fn count_by_hours(
    store: &Store,
    client_id: ClientId,
    filter: &ChargeFilter,
) -> Result<i64, StoreError> {
    let from = filter.from.unwrap_or(Timestamp::EPOCH);
    let to = filter.to.unwrap_or(END_OF_TIME);
    let (first_whole, last_whole) = (hour_at_or_after(from), hour_at_or_before(to));
    if first_whole >= last_whole {
        return count_rows(store, &COUNT_CHARGES, filter.args(client_id, Some(from), Some(to))).await;
    }
    let mut n = counters::sum(store, client_id, first_whole, last_whole, &filter.counted).await?;
    for (from, to) in [(from, first_whole), (last_whole, to)] {
        if from < to {
            n += count_rows(store, &COUNT_CHARGES, filter.args(client_id, Some(from), Some(to))).await?;
        }
    }
    Ok(n)
}

/// The end of the last whole hour that a version 7 id can name (48 bits of milliseconds).
const END_OF_TIME: Timestamp = Timestamp::from_millis(((1 << 48) / HOUR_MILLIS) * HOUR_MILLIS);
const HOUR_MILLIS: i64 = 3_600_000;

const fn hour_at_or_before(time: Timestamp) -> Timestamp {
    Timestamp::from_millis(time.hour() * HOUR_MILLIS)
}

fn hour_at_or_after(time: Timestamp) -> Timestamp {
    let before = hour_at_or_before(time);
    if before == time { time } else { Timestamp::from_millis(before.as_millis() + HOUR_MILLIS) }
}

async fn count_rows(store: &Store, sql: &'static crate::sql::Sql, args: Args) -> Result<i64, StoreError> {
    store.row(sql, args).await?.map_or(Ok(0), |row| row.get("n"))
}

fn from_row(row: &Row) -> Result<StoredCharge, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("charges.{what}"));
    let doc: String = row.get("doc")?;
    let mut doc: Doc = serde_json::from_str(&doc).map_err(|_| corrupt("doc"))?;
    doc.free_form.give(&mut doc.payment, &mut doc.references).map_err(|_| corrupt("doc.freeForm"))?;
    let status: String = row.get("status")?;
    let payment_type: String = row.get("payment_type")?;
    let provider_type: Option<String> = row.get("provider_type")?;
    let currency: String = row.get("currency")?;
    let state = ChargeStatus::parse(&status)
        .and_then(|status| {
            let responsible = provider_type.as_deref().and_then(ProviderType::parse);
            ChargeState::from_columns(status, responsible, doc.open)
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
            customer_alias: doc.customer_alias,
            order_id: row.get("order_id")?,
            payment_type: PaymentType::parse(&payment_type).ok_or_else(|| corrupt("payment_type"))?,
            payment: doc.payment,
            source: doc.source,
            amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
            original_amount: Amount::new(row.get("original_amount")?)
                .ok_or_else(|| corrupt("original_amount"))?,
            currency: Currency::parse(&currency).ok_or_else(|| corrupt("currency"))?,
            capture: doc.capture,
            references: doc.references,
            state,
            explanation: doc.explanation,
            requests: doc.requests,
            claim: doc.claim,
            purchase_id: doc.purchase_id,
            unknown_members: doc.unknown,
            version: row.get("version")?,
            updated_at: row.get("updated_at")?,
        },
        private: private.zip(key_id).map(|(bytes, key_id)| Sealed { key_id, bytes }),
    })
}
