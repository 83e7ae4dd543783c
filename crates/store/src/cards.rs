//! Stores cards. The number and the holder's name are sealed; the displayable data is not.

use regente_domain::card::record::{Card, CardFace, CardLink, CardState, Unchecked};
use regente_domain::id::{CardId, ClientId, CustomerId};
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

macro_rules! columns {
    () => {
        "id, client_id, customer_id, linked_at, fingerprint, status, private, key_id, doc, network_transaction_id, \
         version, updated_at"
    };
}

sql! {
    /// Adds a card.
    pub INSERT_CARD = "
        INSERT INTO cards (id, client_id, customer_id, linked_at, fingerprint, status, pan, private, key_id, doc,
            version, updated_at)
        VALUES (:id, :client_id, :customer_id, :linked_at, :fingerprint, :status, :pan, :private, :key_id, :doc,
            :version, :updated_at)";
    /// Changes a card; guarded by the version.
    pub UPDATE_CARD = "
        UPDATE cards SET customer_id = :customer_id, linked_at = :linked_at, status = :status, doc = :doc,
            version = :version, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version_before AND deleted_at IS NULL";
    /// Applies the outcome of a card's check or first charge. Not guarded by the version: a link made meanwhile must
    /// not lose the outcome.
    pub SETTLE_CARD = "
        UPDATE cards SET status = :status, doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND status IN ('pending', 'verifying')";
    /// The same for a card whose security code was confirmed, which an active card is told too. SQLite would build a table for
    /// an `IN` of three words each time.
    pub CONFIRM_CARD = "
        UPDATE cards SET status = :status, doc = :doc, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id
          AND (status = 'pending' OR status = 'verifying' OR status = 'active')";
    /// Keeps the card network's id of the payment that later ones of the card name. Nothing that is shown changes.
    pub KEEP_NETWORK_TRANSACTION_ID = "
        UPDATE cards SET network_transaction_id = :network_transaction_id
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL";
    /// Deletes a card whose check could not be made.
    pub DROP_CARD = "
        DELETE FROM cards WHERE id = :id AND client_id = :client_id AND status = 'verifying'";
    /// Deletes a card: erases number and name and keeps the row for the charges that refer to it.
    pub DELETE_CARD = "
        UPDATE cards SET deleted_at = :now, pan = NULL, private = NULL, version = version + 1, updated_at = :now
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL AND status <> 'verifying'";
    /// Erases cards of a customer, also deleted ones: number, name, what an answer shows of them, and the fingerprint. The
    /// rows stay for the charges that refer to them.
    pub ERASE_CARDS_OF_CUSTOMER = "
        UPDATE cards SET deleted_at = COALESCE(deleted_at, :now), pan = NULL, private = NULL, doc = :doc,
            network_transaction_id = NULL, fingerprint = :fingerprint, version = version + 1
        WHERE client_id = :client_id AND customer_id = :customer_id AND fingerprint <> :fingerprint";
    /// Erases a card that is nobody's.
    pub ERASE_UNLINKED_CARD = "
        UPDATE cards SET deleted_at = COALESCE(deleted_at, :now), pan = NULL, private = NULL, doc = :doc,
            network_transaction_id = NULL, fingerprint = :fingerprint, version = version + 1
        WHERE id = :id AND client_id = :client_id AND customer_id IS NULL AND status <> 'verifying'
          AND fingerprint <> :fingerprint";
    /// The ids of the cards of a customer, also of deleted ones.
    pub IDS_OF_CARDS_OF_CUSTOMER = "
        SELECT id FROM cards WHERE client_id = :client_id AND customer_id = :customer_id";
    /// One card.
    pub FIND_CARD = concat!("SELECT ", columns!(), " FROM cards
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL");
    /// One card with its number.
    pub FIND_CARD_WITH_NUMBER = concat!("SELECT ", columns!(), ", pan FROM cards
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL AND status <> 'verifying'");
    /// Cards of a client, newest first.
    pub CARDS = concat!("SELECT ", columns!(), " FROM cards
        WHERE client_id = :client_id AND deleted_at IS NULL AND status <> 'verifying'
        ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// These cards of a client, also deleted ones, but for those of which nothing is left.
    pub CARDS_EVER = concat!("SELECT ", columns!(), " FROM cards
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND fingerprint <> :erased");
    /// Counts them.
    pub COUNT_CARDS = "SELECT COUNT(*) AS n FROM cards
        WHERE client_id = :client_id AND deleted_at IS NULL AND status <> 'verifying'";
    /// Cards of a customer, the latest link first.
    pub CARDS_OF_CUSTOMER = concat!("SELECT ", columns!(), " FROM cards
        WHERE client_id = :client_id AND customer_id = :customer_id AND deleted_at IS NULL
        ORDER BY linked_at DESC, id DESC");
}

/// A stored card with its sealed holder's name.
#[derive(Clone, Debug)]
pub struct StoredCard {
    /// The card.
    pub card: Card,
    /// The holder's name, sealed.
    pub holder: Option<Sealed>,
}

/// A card with its sealed number. Opening the number requires an audit record.
#[derive(Clone, Debug)]
pub struct CardWithNumber {
    /// The card.
    pub stored: StoredCard,
    /// The number, sealed.
    pub number: Sealed,
}

/// The members of a card without a column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    face: CardFace,
    cvv_checked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Adds a card with its sealed number and holder's name, both under one data key.
pub fn insert(batch: &mut Batch, card: &Card, number: Sealed, holder: Sealed) -> Result<(), StoreError> {
    if number.key_id != holder.key_id {
        return Err(StoreError::Programming("a card's number and name stand under two keys".to_owned()));
    }
    batch.push(
        &INSERT_CARD,
        args! {
            id: card.id,
            client_id: card.client_id,
            customer_id: card.link.map(|link| link.customer_id),
            linked_at: card.link.map(|link| link.linked_at),
            fingerprint: card.fingerprint,
            status: card.state.word(),
            pan: number.bytes,
            private: holder.bytes,
            key_id: number.key_id,
            doc: doc(card)?,
            version: card.version,
            updated_at: card.updated_at,
        },
    );
    Ok(())
}

/// Changes a card; the batch is refused when the card has changed meanwhile.
pub fn update(batch: &mut Batch, before: &Card, after: &Card) -> Result<(), StoreError> {
    batch.guard(
        &UPDATE_CARD,
        args! {
            id: after.id,
            client_id: after.client_id,
            customer_id: after.link.map(|link| link.customer_id),
            linked_at: after.link.map(|link| link.linked_at),
            status: after.state.word(),
            doc: doc(after)?,
            version: after.version,
            version_before: before.version,
            updated_at: after.updated_at,
        },
    );
    Ok(())
}

/// Applies the outcome of a check or a charge to a card that was not confirmed before.
pub fn settle(batch: &mut Batch, after: &Card) -> Result<(), StoreError> {
    let (id, client_id) = (after.id, after.client_id);
    let (status, updated_at) = (after.state.word(), after.updated_at);
    let sql = if after.cvv_checked { &CONFIRM_CARD } else { &SETTLE_CARD };
    batch.push_at_most_one(sql, args! { id, client_id, status, doc: doc(after)?, updated_at });
    Ok(())
}

/// Keeps the card network's id of the payment with which the cardholder agreed to later ones.
pub fn keep_network_transaction_id(batch: &mut Batch, id: CardId, network_transaction_id: &str) {
    let (client_id, network_transaction_id) = (batch.client_id(), network_transaction_id.to_owned());
    batch.push_at_most_one(&KEEP_NETWORK_TRANSACTION_ID, args! { id, client_id, network_transaction_id });
}

/// Deletes a card whose check could not be made; it was never shown.
pub fn drop_verifying(batch: &mut Batch, id: CardId) {
    let client_id = batch.client_id();
    batch.push(&DROP_CARD, args! { id, client_id });
}

/// Deletes a card; the batch is refused when it does not exist.
pub fn delete(batch: &mut Batch, id: CardId, now: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&DELETE_CARD, args! { id, client_id, now });
}

/// What is left of an erased card's document; nobody reads it.
const ERASED_DOC: &str = "{}";

/// Erases the cards of a customer.
pub fn erase_of_customer(batch: &mut Batch, customer_id: CustomerId, now: Timestamp) {
    let (client_id, doc) = (batch.client_id(), Json(ERASED_DOC.to_owned()));
    batch.push_any(
        &ERASE_CARDS_OF_CUSTOMER,
        args! { client_id, customer_id, now, doc, fingerprint: Uuid::nil() },
    );
}

/// Erases a card unless it is linked to a customer, or being checked.
pub fn erase_unlinked(batch: &mut Batch, id: CardId, now: Timestamp) {
    let (client_id, doc) = (batch.client_id(), Json(ERASED_DOC.to_owned()));
    batch.push_at_most_one(&ERASE_UNLINKED_CARD, args! { id, client_id, now, doc, fingerprint: Uuid::nil() });
}

/// The ids of the cards of a customer, also of deleted ones.
pub async fn ids_of_customer(
    store: &Store,
    client_id: ClientId,
    customer_id: CustomerId,
) -> Result<Vec<CardId>, StoreError> {
    let rows = store.rows(&IDS_OF_CARDS_OF_CUSTOMER, args! { client_id, customer_id }).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

fn doc(card: &Card) -> Result<Json, StoreError> {
    let reason = match &card.state {
        CardState::Failed { reason } => Some(reason.clone()),
        // Cards of earlier releases have none while they are pending.
        CardState::Pending(Unchecked::WithoutMerchant) => Some(Unchecked::WithoutMerchant.word().to_owned()),
        CardState::Pending(Unchecked::NotAskedFor) | CardState::Verifying | CardState::Active => None,
    };
    let (face, claim) = (card.face.clone(), card.claim.clone());
    let unknown = card.unknown_members.clone();
    Json::of(&Doc { format: FORMAT, face, cvv_checked: card.cvv_checked, reason, claim, unknown })
}

/// One card of a client, also during its check.
pub async fn find(store: &Store, client_id: ClientId, id: CardId) -> Result<Option<StoredCard>, StoreError> {
    store.row(&FIND_CARD, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// One card of a client with its sealed number.
pub async fn find_with_number(
    store: &Store,
    client_id: ClientId,
    id: CardId,
) -> Result<Option<CardWithNumber>, StoreError> {
    let Some(row) = store.row(&FIND_CARD_WITH_NUMBER, args! { id, client_id }).await? else {
        return Ok(None);
    };
    let number = Sealed { key_id: row.get("key_id")?, bytes: row.get("pan")? };
    Ok(Some(CardWithNumber { stored: from_row(&row)?, number }))
}

/// Those of these cards that the client has or had; of a person who was erased there is none.
pub async fn find_many_ever(
    store: &Store,
    client_id: ClientId,
    ids: &[CardId],
) -> Result<Vec<StoredCard>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    let args = args! { client_id, ids, erased: Uuid::nil() };
    store.rows(&CARDS_EVER, args).await?.iter().map(from_row).collect()
}

/// One page of the cards of a client, newest first.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredCard>, StoreError> {
    store.rows(&CARDS, args! { client_id, limit, offset }).await?.iter().map(from_row).collect()
}

/// Counts the cards of a client.
pub async fn count(store: &Store, client_id: ClientId) -> Result<i64, StoreError> {
    store.row(&COUNT_CARDS, args! { client_id }).await?.map_or(Ok(0), |row| row.get("n"))
}

/// The cards of a customer, the latest link first.
pub async fn of_customer(
    store: &Store,
    client_id: ClientId,
    customer_id: CustomerId,
) -> Result<Vec<StoredCard>, StoreError> {
    store.rows(&CARDS_OF_CUSTOMER, args! { client_id, customer_id }).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredCard, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("cards.{what}"));
    let doc: String = row.get("doc")?;
    let doc: Doc = serde_json::from_str(&doc).map_err(|_| corrupt("doc"))?;
    let status: String = row.get("status")?;
    let state = match status.as_str() {
        "verifying" => CardState::Verifying,
        "pending" => {
            let why = doc.reason.as_deref().and_then(Unchecked::parse);
            CardState::Pending(why.unwrap_or(Unchecked::NotAskedFor))
        }
        "active" => CardState::Active,
        "failed" => CardState::Failed { reason: doc.reason.unwrap_or_default() },
        _ => return Err(corrupt("status")),
    };
    let customer_id: Option<CustomerId> = row.get("customer_id")?;
    let linked_at: Option<Timestamp> = row.get("linked_at")?;
    let holder: Option<Vec<u8>> = row.get("private")?;
    let key_id: Uuid = row.get("key_id")?;
    Ok(StoredCard {
        card: Card {
            id: row.get("id")?,
            client_id: row.get("client_id")?,
            link: customer_id
                .zip(linked_at)
                .map(|(customer_id, linked_at)| CardLink { customer_id, linked_at }),
            fingerprint: row.get("fingerprint")?,
            face: doc.face,
            state,
            cvv_checked: doc.cvv_checked,
            network_transaction_id: row.get("network_transaction_id")?,
            claim: doc.claim,
            unknown_members: doc.unknown,
            version: row.get("version")?,
            updated_at: row.get("updated_at")?,
        },
        holder: holder.map(|bytes| Sealed { key_id, bytes }),
    })
}
