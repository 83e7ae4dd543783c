//! Stores sessions with their history, in the batch of each change, guarded by the session's version. [`payments`] has
//! their charges, [`tries`] the places of their cards, [`customers`] those that their buyers make, [`list`] their pages,
//! [`erasure`] takes persons out of them.

pub mod customers;
pub mod erasure;
mod list;
pub mod payments;
pub mod tries;

use regente_domain::actor::Actor;
use regente_domain::currency::Currency;
use regente_domain::id::{CardId, ClientId, Id, SessionId, SubscriptionId, of};
use regente_domain::money::Amount;
use regente_domain::session::{
    Advance, Capacity, CardGiven, CardWanted, Cards, EntryStatus, NewEntry, Session, SessionAction,
    SessionStatus, Tally, Terms,
};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

pub use self::list::{SessionFilter, count, page};
use self::tries::FORGIVE_CARDS;
use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

macro_rules! columns {
    () => {
        "id, client_id, merchant_id, status, active, order_id, amount, currency, due_at, max_payments, authorizing, \
         pending, paid, returned, trying, refused, customers, subscription_id, doc, private, key_id, version, updated_at"
    };
}
use columns;

sql! {
    /// Adds a session.
    pub INSERT_SESSION = "
        INSERT INTO sessions (id, client_id, merchant_id, status, active, order_id, amount, currency, due_at,
            max_payments, authorizing, pending, paid, returned, subscription_id, doc, private, key_id, actor, version,
            updated_at)
        VALUES (:id, :client_id, :merchant_id, :status, :active, :order_id, :amount, :currency, :due_at,
            :max_payments, :authorizing, :pending, :paid, :returned, :subscription_id, :doc, :private, :key_id, :actor,
            :version, :updated_at)";
    /// Updates a session, and leaves what is sealed as it is; guarded by the version.
    pub UPDATE_SESSION = "
        UPDATE sessions SET status = :status, active = :active, due_at = :due_at, max_payments = :max_payments,
            authorizing = :authorizing, pending = :pending, paid = :paid, returned = :returned, doc = :doc,
            actor = :actor, version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// One session.
    pub FIND_SESSION = concat!("SELECT ", columns!(), " FROM sessions WHERE id = :id AND client_id = :client_id");
    /// The account of a session; for its page, whose address names the session alone.
    pub CLIENT_OF_SESSION = "SELECT client_id FROM sessions WHERE REACHABLE(client_id) AND id = :id";
    /// Adds an entry to the history.
    pub INSERT_SESSION_ENTRY = "
        INSERT INTO session_history (session_id, ordinal, client_id, id, status, actions, diff, created_at)
        VALUES (:session_id, :ordinal, :client_id, :id, :status, :actions, :diff, :created_at)";
    /// The history of a session, newest first.
    pub SESSION_HISTORY = "
        SELECT id, status, actions, diff, created_at FROM session_history
        WHERE session_id = :session_id AND client_id = :client_id ORDER BY ordinal DESC LIMIT :limit";
}

/// A stored session with its sealed data.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// The session.
    pub session: Session,
    /// What it says of persons, sealed.
    pub private: Option<Sealed>,
}

/// A stored entry of the history.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Its id.
    pub id: Id<of::SessionEntry>,
    /// What the session was after it.
    pub status: EntryStatus,
    /// What happened; the first is the main one.
    pub actions: Vec<SessionAction>,
    /// The differences.
    pub diff: Value,
    /// When it was added.
    pub created_at: Timestamp,
}

/// The members of a session without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    terms: Terms,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    card_wanted: Option<CardDoc>,
    entries: i64,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// The card that a session is for, but for the subscription, which has a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CardDoc {
    replaces: CardId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<CardGiven>,
}

/// Adds a new session; its sealed data changes when a person is erased ([`erasure`]). `entry_id` creates the id of each history entry.
pub fn insert(
    batch: &mut Batch,
    created: &Advance,
    private: Option<Sealed>,
    actor: &Actor,
    entry_id: impl FnMut() -> Id<of::SessionEntry>,
) -> Result<(), StoreError> {
    let session = &created.session;
    let (private, key_id) = private.map_or((None, None), |sealed| (Some(sealed.bytes), Some(sealed.key_id)));
    let args = changing_columns(session, actor)?
        .with("merchant_id", session.merchant_id)
        .with("order_id", session.order_id.clone())
        .with("amount", session.amount.minor_units())
        .with("currency", session.currency.code())
        .with("subscription_id", session.card_wanted.map(|wanted| wanted.subscription_id))
        .with("private", private)
        .with("key_id", key_id);
    batch.push(&INSERT_SESSION, args);
    add_entries(batch, created, entry_id)
}

/// Updates a session to its next version, with its new history entries. Of its cards it writes alone which refusals are
/// forgotten.
pub fn update(
    batch: &mut Batch,
    before: &Session,
    after: &Advance,
    actor: &Actor,
    entry_id: impl FnMut() -> Id<of::SessionEntry>,
) -> Result<(), StoreError> {
    let args = changing_columns(&after.session, actor)?.with("version_before", before.version);
    batch.guard(&UPDATE_SESSION, args);
    let forgiven = before.cards.refused - after.session.cards.refused;
    if forgiven != 0 {
        batch.push(&FORGIVE_CARDS, args! { id: before.id, client_id: before.client_id, forgiven });
    }
    add_entries(batch, after, entry_id)
}

fn changing_columns(session: &Session, actor: &Actor) -> Result<Args, StoreError> {
    let Tally { authorizing, pending, paid, returned } = session.tally;
    let doc = doc_of(session)?;
    Ok(args! {
        id: session.id,
        client_id: session.client_id,
        status: session.status.word(),
        active: session.is_active,
        due_at: session.due_at,
        max_payments: session.capacity.max_payments(),
        authorizing,
        pending,
        paid,
        returned,
        doc,
        actor: actor.to_string(),
        version: session.version,
        updated_at: session.updated_at,
    })
}

fn doc_of(session: &Session) -> Result<Json, StoreError> {
    Json::of(&Doc {
        format: FORMAT,
        terms: session.terms.clone(),
        card_wanted: session
            .card_wanted
            .map(|CardWanted { replaces, given, .. }| CardDoc { replaces, given }),
        entries: session.entries,
        unknown: session.unknown_members.clone(),
    })
}

fn add_entries(
    batch: &mut Batch,
    advance: &Advance,
    mut entry_id: impl FnMut() -> Id<of::SessionEntry>,
) -> Result<(), StoreError> {
    let session = &advance.session;
    for NewEntry { ordinal, status, actions, diff } in &advance.entries {
        batch.push(
            &INSERT_SESSION_ENTRY,
            args! {
                session_id: session.id,
                ordinal: *ordinal,
                client_id: session.client_id,
                id: entry_id(),
                status: status.word(),
                actions: json_text(actions)?,
                diff: json_text(diff)?,
                created_at: session.updated_at,
            },
        );
    }
    Ok(())
}

fn json_text(value: &impl Serialize) -> Result<String, StoreError> {
    Json::of(value).map(|Json(text)| text)
}

/// One session of a client.
pub async fn find(store: &Store, client_id: ClientId, id: SessionId) -> Result<Option<Session>, StoreError> {
    store.row(&FIND_SESSION, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// One session of a client with its sealed data.
pub async fn find_stored(
    store: &Store,
    client_id: ClientId,
    id: SessionId,
) -> Result<Option<StoredSession>, StoreError> {
    store.row(&FIND_SESSION, args! { id, client_id }).await?.as_ref().map(stored_from_row).transpose()
}

/// The account of a session. Only for the page of a session: callers of the interface name their account.
pub async fn client_of(store: &Store, id: SessionId) -> Result<Option<ClientId>, StoreError> {
    store.owner(&CLIENT_OF_SESSION, id.uuid()).await
}

/// The history of a session, newest first: at most `limit` entries.
pub async fn history(
    store: &Store,
    client_id: ClientId,
    session_id: SessionId,
    limit: i64,
) -> Result<Vec<StoredEntry>, StoreError> {
    let rows = store.rows(&SESSION_HISTORY, args! { session_id, client_id, limit }).await?;
    rows.iter().map(entry_from_row).collect()
}

fn stored_from_row(row: &Row) -> Result<StoredSession, StoreError> {
    let (bytes, key_id): (Option<Vec<u8>>, Option<Uuid>) = (row.get("private")?, row.get("key_id")?);
    let private = bytes.zip(key_id).map(|(bytes, key_id)| Sealed { key_id, bytes });
    Ok(StoredSession { session: from_row(row)?, private })
}

fn from_row(row: &Row) -> Result<Session, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("sessions.{what}"));
    let doc: Doc = serde_json::from_str(row.get("doc")?).map_err(|_| corrupt("doc"))?;
    let (status, currency): (&str, &str) = (row.get("status")?, row.get("currency")?);
    Ok(Session {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        merchant_id: row.get("merchant_id")?,
        status: SessionStatus::parse(status).ok_or_else(|| corrupt("status"))?,
        is_active: row.get("active")?,
        amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
        currency: Currency::parse(currency).ok_or_else(|| corrupt("currency"))?,
        order_id: row.get("order_id")?,
        due_at: row.get("due_at")?,
        capacity: Capacity::of(row.get("max_payments")?).ok_or_else(|| corrupt("max_payments"))?,
        tally: Tally {
            authorizing: row.get("authorizing")?,
            pending: row.get("pending")?,
            paid: row.get("paid")?,
            returned: row.get("returned")?,
        },
        cards: Cards { trying: row.get("trying")?, refused: row.get("refused")? },
        customers: row.get("customers")?,
        terms: doc.terms,
        card_wanted: card_wanted(row.get("subscription_id")?, doc.card_wanted),
        entries: doc.entries,
        unknown_members: doc.unknown,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}

fn card_wanted(subscription_id: Option<SubscriptionId>, doc: Option<CardDoc>) -> Option<CardWanted> {
    let CardDoc { replaces, given } = doc?;
    Some(CardWanted { subscription_id: subscription_id?, replaces, given })
}

fn entry_from_row(row: &Row) -> Result<StoredEntry, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("session_history.{what}"));
    let status: String = row.get("status")?;
    Ok(StoredEntry {
        id: row.get("id")?,
        status: EntryStatus::parse(&status).ok_or_else(|| corrupt("status"))?,
        actions: serde_json::from_str(row.get("actions")?).map_err(|_| corrupt("actions"))?,
        diff: serde_json::from_str(row.get("diff")?).map_err(|_| corrupt("diff"))?,
        created_at: row.get("created_at")?,
    })
}
