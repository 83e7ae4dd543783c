//! Stores sales plans. Of the plans of an account one is the default, which a unique index holds. What a plan says, which plan is the
//! default and which one a seller is linked to are kept with the moments from which they hold ([`terms_at`]).

use regente_domain::id::{ClientId, Id, PlanId, SellerId};
use regente_domain::plan::{Plan, PlanStatus, Terms};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::customers::{Order, Slice};
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "p.id, p.client_id, p.is_default, p.status, p.doc, p.version, p.updated_at"
    };
}

macro_rules! filtered {
    () => {
        " FROM plans p WHERE p.client_id = :client_id \
           AND (:which = '' OR (:which = 'default') = (p.is_default = 1))"
    };
}

sql! {
    /// Adds a plan; the unique index refuses a second default one.
    pub INSERT_PLAN = "
        INSERT INTO plans (id, client_id, is_default, status, doc, version, updated_at)
        VALUES (:id, :client_id, :is_default, :status, :doc, :version, :updated_at)";
    /// Changes a plan.
    pub UPDATE_PLAN = "
        UPDATE plans SET status = :status, doc = :doc, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Takes its place from the default plan.
    pub UNMAKE_DEFAULT_PLAN = "
        UPDATE plans SET is_default = 0, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND is_default = 1";
    /// Makes an active plan the default one.
    pub MAKE_DEFAULT_PLAN = "
        UPDATE plans SET is_default = 1, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND status = 'active'";
    /// Says from when on a plan is the default.
    pub INSERT_PLAN_DEFAULT = "
        INSERT INTO plan_defaults (id, client_id, plan_id, since) VALUES (:id, :client_id, :plan_id, :since)";
    /// Says from when on a plan has its terms.
    pub INSERT_PLAN_TERMS = "
        INSERT INTO plan_terms (plan_id, version, client_id, since, doc)
        VALUES (:plan_id, :version, :client_id, :since, :doc)";
    /// Says from when on a seller has a plan.
    pub INSERT_SELLER_PLAN = "
        INSERT INTO seller_plans (seller_id, version, client_id, plan_id, since)
        VALUES (:seller_id, :version, :client_id, :plan_id, :since)";
    /// One plan.
    pub FIND_PLAN = concat!("SELECT ", columns!(), " FROM plans p WHERE p.id = :id AND p.client_id = :client_id");
    /// The default plan.
    pub FIND_DEFAULT_PLAN = concat!("SELECT ", columns!(), " FROM plans p
        WHERE p.client_id = :client_id AND p.is_default = 1");
    /// A page of plans, newest first.
    pub LIST_PLANS_DESC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY p.id DESC LIMIT :limit OFFSET :offset");
    /// A page of plans, oldest first.
    pub LIST_PLANS_ASC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY p.id ASC LIMIT :limit OFFSET :offset");
    /// Counts them.
    pub COUNT_PLANS = concat!("SELECT COUNT(*) AS n", filtered!());
    /// What a plan said at a moment.
    pub PLAN_TERMS_AT = "
        SELECT doc FROM plan_terms WHERE plan_id = :plan_id AND client_id = :client_id AND since <= :at
        ORDER BY version DESC LIMIT 1";
    /// Which plan was the default at a moment.
    pub DEFAULT_PLAN_AT = "
        SELECT plan_id FROM plan_defaults WHERE client_id = :client_id AND since <= :at ORDER BY id DESC LIMIT 1";
    /// Which plan a seller was linked to at a moment.
    pub SELLER_PLAN_AT = "
        SELECT plan_id FROM seller_plans WHERE seller_id = :seller_id AND client_id = :client_id AND since <= :at
        ORDER BY version DESC LIMIT 1";
}

/// The format of the documents that this release writes.
const FORMAT: u32 = 1;

/// The members of a plan without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(flatten)]
    terms: Terms,
}

#[derive(Serialize, Deserialize)]
struct TermsDoc {
    format: u32,
    #[serde(flatten)]
    terms: Terms,
}

/// Which plans a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanFilter {
    /// Only the default one, or only the others.
    pub is_default: Option<bool>,
}

impl PlanFilter {
    const fn word(self) -> &'static str {
        match self.is_default {
            None => "",
            Some(true) => "default",
            Some(false) => "other",
        }
    }
}

/// Adds a plan with its terms, which hold from `since` on.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, plan: &Plan, since: Timestamp) -> Result<(), StoreError> {
    batch.push(
        &INSERT_PLAN,
        args! {
            id: plan.id, client_id: plan.client_id, is_default: plan.is_default, status: plan.status.word(),
            doc: document(plan)?, version: plan.version, updated_at: plan.updated_at,
        },
    );
    insert_terms(batch, plan, since)
}

/// Writes a plan, which was at the version before its own; else the batch is refused. Whether it is the default stays as it is.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn update(batch: &mut Batch, plan: &Plan) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_PLAN,
        args! {
            id: plan.id, client_id: plan.client_id, status: plan.status.word(), doc: document(plan)?,
            version: plan.version, version_before: plan.version - 1, updated_at: plan.updated_at,
        },
    );
    Ok(())
}

/// Says that a plan has the terms that it has now from `since` on.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert_terms(batch: &mut Batch, plan: &Plan, since: Timestamp) -> Result<(), StoreError> {
    let doc = Json::of(&TermsDoc { format: FORMAT, terms: plan.terms.clone() })?;
    let (plan_id, version, client_id) = (plan.id, plan.version, plan.client_id);
    batch.push(&INSERT_PLAN_TERMS, args! { plan_id, version, client_id, since, doc });
    Ok(())
}

/// A change of the default plan: `before` is it no longer, and `after` is it from `since` on. Both are as they become, at the version
/// after the one that was read; else, or when `after` is not active, the batch is refused.
pub fn change_default(batch: &mut Batch, (before, after): (Option<&Plan>, &Plan)) {
    let changed = |plan: &Plan| {
        args! {
            id: plan.id, client_id: plan.client_id, version: plan.version,
            version_before: plan.version - 1, updated_at: plan.updated_at,
        }
    };
    if let Some(before) = before {
        batch.guard(&UNMAKE_DEFAULT_PLAN, changed(before));
    }
    batch.guard(&MAKE_DEFAULT_PLAN, changed(after));
}

/// Says that a plan is the default one from `since` on. Later entries have higher ids.
pub fn insert_default(batch: &mut Batch, id: Id<()>, plan: &Plan, since: Timestamp) {
    let (plan_id, client_id) = (plan.id, plan.client_id);
    batch.push(&INSERT_PLAN_DEFAULT, args! { id, client_id, plan_id, since });
}

/// Says that a seller, which comes to be at `version`, has this plan from `since` on, or none of its own.
pub fn link(
    batch: &mut Batch,
    (seller_id, version): (SellerId, i64),
    plan_id: Option<PlanId>,
    since: Timestamp,
) {
    let client_id = batch.client_id();
    batch.push(&INSERT_SELLER_PLAN, args! { seller_id, version, client_id, plan_id, since });
}

/// A plan.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when its document cannot be read.
pub async fn find(store: &Store, client_id: ClientId, id: PlanId) -> Result<Option<Plan>, StoreError> {
    store.row(&FIND_PLAN, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The default plan of an account, which each has.
///
/// # Errors
/// As [`find`].
pub async fn default_of(store: &Store, client_id: ClientId) -> Result<Option<Plan>, StoreError> {
    store.row(&FIND_DEFAULT_PLAN, args! { client_id }).await?.as_ref().map(from_row).transpose()
}

/// A page of the plans of an account, and how many there are.
///
/// # Errors
/// As [`find`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    filter: PlanFilter,
    Slice { order, limit, offset }: Slice,
) -> Result<(Vec<Plan>, u64), StoreError> {
    let which = filter.word();
    let page = match order {
        Order::NewestFirst => &LIST_PLANS_DESC,
        Order::OldestFirst => &LIST_PLANS_ASC,
    };
    let rows = store.rows(page, args! { client_id, which, limit, offset }).await?;
    let count = store.row(&COUNT_PLANS, args! { client_id, which }).await?;
    let total = count.map_or(Ok(0), |row| row.get("n"))?;
    Ok((rows.iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// What a plan said at a moment; `None` before it was there.
///
/// # Errors
/// As [`find`].
pub async fn terms_at(
    store: &Store,
    client_id: ClientId,
    plan_id: PlanId,
    at: Timestamp,
) -> Result<Option<Terms>, StoreError> {
    let Some(row) = store.row(&PLAN_TERMS_AT, args! { plan_id, client_id, at }).await? else {
        return Ok(None);
    };
    let corrupt =
        |what: &dyn std::fmt::Display| StoreError::Corrupt(format!("terms of plan {plan_id}: {what}"));
    let doc: TermsDoc = serde_json::from_str(row.get("doc")?).map_err(|error| corrupt(&error))?;
    match doc.format {
        FORMAT => Ok(Some(doc.terms)),
        other => Err(corrupt(&format_args!("format {other}"))),
    }
}

/// Which plan was the default of an account at a moment; `None` before an account of an early release had one.
///
/// # Errors
/// As [`Store::row`].
pub async fn default_at(
    store: &Store,
    client_id: ClientId,
    at: Timestamp,
) -> Result<Option<PlanId>, StoreError> {
    let row = store.row(&DEFAULT_PLAN_AT, args! { client_id, at }).await?;
    row.map(|row| row.get("plan_id")).transpose()
}

/// Which plan a seller was linked to at a moment; `None` where it had none of its own.
///
/// # Errors
/// As [`Store::row`].
pub async fn link_at(
    store: &Store,
    client_id: ClientId,
    seller_id: SellerId,
    at: Timestamp,
) -> Result<Option<PlanId>, StoreError> {
    let row = store.row(&SELLER_PLAN_AT, args! { seller_id, client_id, at }).await?;
    row.map_or(Ok(None), |row| row.get("plan_id"))
}

fn document(plan: &Plan) -> Result<Json, StoreError> {
    Json::of(&Doc {
        format: FORMAT,
        name: plan.name.clone(),
        description: plan.description.clone(),
        terms: plan.terms.clone(),
    })
}

fn from_row(row: &Row) -> Result<Plan, StoreError> {
    let id: PlanId = row.get("id")?;
    let status: &str = row.get("status")?;
    let corrupt = |what: &dyn std::fmt::Display| StoreError::Corrupt(format!("plan {id}: {what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|error| corrupt(&error))?;
    if doc.format != FORMAT {
        return Err(corrupt(&format_args!("format {}", doc.format)));
    }
    Ok(Plan {
        id,
        client_id: row.get("client_id")?,
        name: doc.name,
        description: doc.description,
        is_default: row.get("is_default")?,
        status: PlanStatus::parse(status).ok_or_else(|| corrupt(&status))?,
        terms: doc.terms,
        created_at: id.created_at(),
        updated_at: row.get("updated_at")?,
        version: row.get("version")?,
    })
}
