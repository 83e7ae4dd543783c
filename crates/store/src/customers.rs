//! Stores buyers and their aliases. Personal data is one sealed value. A customer is found by keyed digests of the
//! e-mail address and the document, each unique among the live customers of a client.

use std::collections::HashSet;

use regente_domain::id::{ClientId, CustomerId, Id, of};
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "c.id, c.client_id, c.email_key, c.document_key, c.number_key, c.document_type, c.private, c.key_id, \
         c.version, c.updated_at"
    };
}

macro_rules! page {
    ($filter:literal, $direction:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM customers c
            WHERE c.client_id = :client_id AND c.deleted_at IS NULL",
            $filter,
            "
            ORDER BY c.id ",
            $direction,
            " LIMIT :limit OFFSET :offset"
        )
    };
}

sql! {
    /// Adds a customer; the unique indexes refuse a second one with the same e-mail address or document.
    pub INSERT_CUSTOMER = "
        INSERT INTO customers (id, client_id, email_key, document_key, number_key, document_type, private, key_id,
            version, updated_at)
        VALUES (:id, :client_id, :email_key, :document_key, :number_key, :document_type, :private, :key_id,
            :version, :updated_at)";
    /// Changes a customer.
    pub UPDATE_CUSTOMER = "
        UPDATE customers SET email_key = :email_key, document_key = :document_key, number_key = :number_key,
            document_type = :document_type, private = :private, key_id = :key_id, version = version + 1,
            updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Deletes a customer: erases personal data and lookup digests, and keeps the row for what refers to it.
    pub DELETE_CUSTOMER = "
        UPDATE customers SET email_key = NULL, document_key = NULL, number_key = NULL, private = NULL,
            version = version + 1, updated_at = :updated_at, deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Makes a customer unfindable before they are erased; their data stays until nothing else of them is left.
    pub HIDE_CUSTOMER = "
        UPDATE customers SET email_key = NULL, document_key = NULL, number_key = NULL, version = version + 1,
            updated_at = :updated_at, deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Erases the data of a hidden customer.
    pub ERASE_HIDDEN_CUSTOMER = "
        UPDATE customers SET private = NULL
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NOT NULL";
    /// What is left of a customer, also of a deleted one, by their own id or that of an alias.
    pub FIND_REMAINS_OF_CUSTOMER = "
        SELECT c.id, c.private, c.key_id, c.version, c.updated_at, c.deleted_at FROM customers c
            WHERE c.id = :id AND c.client_id = :client_id
        UNION ALL
        SELECT c.id, c.private, c.key_id, c.version, c.updated_at, c.deleted_at FROM customer_aliases a
            JOIN customers c ON c.id = a.customer_id AND c.client_id = a.client_id
            WHERE a.id = :id AND a.client_id = :client_id";
    /// The aliases of a customer.
    pub ALIASES_OF_CUSTOMER = "
        SELECT id, private, key_id FROM customer_aliases
        WHERE client_id = :client_id AND customer_id = :customer_id";
    /// Erases the data sent with the aliases of a customer.
    pub ERASE_CUSTOMER_ALIASES = "
        UPDATE customer_aliases SET private = NULL WHERE client_id = :client_id AND customer_id = :customer_id";
    /// Adds an alias.
    pub INSERT_CUSTOMER_ALIAS = "
        INSERT INTO customer_aliases (id, client_id, customer_id, private, key_id)
        VALUES (:id, :client_id, :customer_id, :private, :key_id)";
    /// The data sent with an alias; erased when its customer is deleted.
    pub FIND_CUSTOMER_ALIAS = "
        SELECT private, key_id FROM customer_aliases
        WHERE id = :id AND client_id = :client_id AND private IS NOT NULL";
    /// One live customer, by its own id or that of an alias.
    pub FIND_CUSTOMER = concat!("SELECT ", columns!(), " FROM customers c
            WHERE c.id = :id AND c.client_id = :client_id AND c.deleted_at IS NULL
        UNION ALL
        SELECT ", columns!(), " FROM customer_aliases a
            JOIN customers c ON c.id = a.customer_id AND c.client_id = a.client_id
            WHERE a.id = :id AND a.client_id = :client_id AND c.deleted_at IS NULL");
    /// The live customers with a document or an e-mail address. Two queries, since with OR SQLite would use neither
    /// index; a customer with both comes once.
    pub FIND_CUSTOMERS_BY_KEYS = concat!("SELECT ", columns!(), " FROM customers c
            WHERE c.client_id = :client_id AND c.document_key = :document_key AND c.deleted_at IS NULL
        UNION
        SELECT ", columns!(), " FROM customers c
            WHERE c.client_id = :client_id AND c.email_key = :email_key AND c.deleted_at IS NULL");
    /// The live customers of these ids, their own or those of aliases.
    pub FIND_CUSTOMERS = concat!("SELECT ", columns!(), " FROM customers c
            WHERE c.client_id = :client_id AND c.deleted_at IS NULL AND c.id IN EACH_UUID(:ids)
        UNION
        SELECT ", columns!(), " FROM customer_aliases a
            JOIN customers c ON c.id = a.customer_id AND c.client_id = a.client_id
            WHERE a.client_id = :client_id AND c.deleted_at IS NULL AND a.id IN EACH_UUID(:ids)");
    /// The live customers with a document number, whatever its type and country.
    pub FIND_CUSTOMERS_BY_NUMBER = concat!("SELECT ", columns!(), " FROM customers c
        WHERE c.client_id = :client_id AND c.deleted_at IS NULL AND c.number_key = :number_key");
    /// Newest first.
    pub CUSTOMERS_DESC = page!("", "DESC");
    /// Oldest first.
    pub CUSTOMERS_ASC = page!("", "ASC");
    /// Those with a document of these types, newest first.
    pub CUSTOMERS_OF_TYPE_DESC = page!(" AND c.document_type IN EACH_TEXT(:document_types)", "DESC");
    /// Those with a document of these types, oldest first.
    pub CUSTOMERS_OF_TYPE_ASC = page!(" AND c.document_type IN EACH_TEXT(:document_types)", "ASC");
    /// Counts them.
    pub COUNT_CUSTOMERS = "
        SELECT COUNT(*) AS n FROM customers WHERE client_id = :client_id AND deleted_at IS NULL";
    /// Counts those with a document of these types.
    pub COUNT_CUSTOMERS_OF_TYPE = "
        SELECT COUNT(*) AS n FROM customers
        WHERE client_id = :client_id AND deleted_at IS NULL AND document_type IN EACH_TEXT(:document_types)";
}

/// A keyed digest by which a customer is found.
pub type LookupKey = [u8; 32];

/// A live customer as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCustomer {
    /// Its id; the time of creation is the id's own.
    pub id: CustomerId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// Its lookup digests.
    pub keys: CustomerKeys,
    /// The type of its document, in upper case, for filters.
    pub document_type: String,
    /// All personal data, sealed.
    pub private: Sealed,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The lookup digests of a customer. An absent one clashes with none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustomerKeys {
    /// Of the normalized e-mail address.
    pub email: Option<LookupKey>,
    /// Of the normalized country, type and number of the document.
    pub document: Option<LookupKey>,
    /// Of the normalized number of the document.
    pub number: Option<LookupKey>,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By creation, oldest first.
    OldestFirst,
    /// By creation, newest first.
    NewestFirst,
}

/// A part of a list: `limit` entries after the first `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The order.
    pub order: Order,
    /// Number of entries.
    pub limit: i64,
    /// Number of entries before it.
    pub offset: i64,
}

/// Adds a customer.
pub fn insert(batch: &mut Batch, customer: &StoredCustomer) {
    batch.push(
        &INSERT_CUSTOMER,
        args! {
            id: customer.id,
            client_id: customer.client_id,
            email_key: customer.keys.email,
            document_key: customer.keys.document,
            number_key: customer.keys.number,
            document_type: customer.document_type.clone(),
            private: customer.private.bytes.as_slice(),
            key_id: customer.private.key_id,
            version: customer.version,
            updated_at: customer.updated_at,
        },
    );
}

/// Writes `customer`; the batch is refused when it has changed since the version in `customer`.
pub fn update(batch: &mut Batch, customer: &StoredCustomer) {
    batch.guard(
        &UPDATE_CUSTOMER,
        args! {
            id: customer.id,
            client_id: customer.client_id,
            version: customer.version,
            email_key: customer.keys.email,
            document_key: customer.keys.document,
            number_key: customer.keys.number,
            document_type: customer.document_type.clone(),
            private: customer.private.bytes.as_slice(),
            key_id: customer.private.key_id,
            updated_at: customer.updated_at,
        },
    );
}

/// Deletes `customer` at the version that was read, and erases all personal data, also that of its aliases.
pub fn delete(batch: &mut Batch, customer: &StoredCustomer, now: Timestamp) {
    let (client_id, customer_id, version) = (customer.client_id, customer.id, customer.version);
    batch.guard(&DELETE_CUSTOMER, args! { id: customer_id, client_id, version, updated_at: now });
    batch.push_any(&ERASE_CUSTOMER_ALIASES, args! { client_id, customer_id });
}

/// What is left of a customer who is being erased, or who was deleted before.
#[derive(Clone, Debug)]
pub struct Remains {
    /// Their own id.
    pub id: CustomerId,
    /// Their data, sealed, unless it was erased.
    pub private: Option<Sealed>,
    /// Grows with each change.
    pub version: i64,
    /// When they last changed.
    pub updated_at: Timestamp,
    /// When they were deleted, or hidden.
    pub deleted_at: Option<Timestamp>,
    /// Their aliases with the data sent, sealed, unless it was erased.
    pub aliases: Vec<(Id<of::CustomerAlias>, Option<Sealed>)>,
}

/// What is left of a customer; `None` when no customer of the client ever had this id.
///
/// # Errors
/// As [`Store::row`].
pub async fn remains(
    store: &Store,
    client_id: ClientId,
    id: CustomerId,
) -> Result<Option<Remains>, StoreError> {
    let sealed = |row: &Row| -> Result<Option<Sealed>, StoreError> {
        let bytes: Option<Vec<u8>> = row.get("private")?;
        let key_id = row.get("key_id")?;
        Ok(bytes.map(|bytes| Sealed { key_id, bytes }))
    };
    let Some(row) = store.row(&FIND_REMAINS_OF_CUSTOMER, args! { id, client_id }).await? else {
        return Ok(None);
    };
    let customer_id: CustomerId = row.get("id")?;
    let aliases = store.rows(&ALIASES_OF_CUSTOMER, args! { client_id, customer_id }).await?;
    Ok(Some(Remains {
        id: customer_id,
        private: sealed(&row)?,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
        deleted_at: row.get("deleted_at")?,
        aliases: aliases
            .iter()
            .map(|row| Ok((row.get("id")?, sealed(row)?)))
            .collect::<Result<_, StoreError>>()?,
    }))
}

/// Makes a customer unfindable; the batch is refused when they have changed since they were read.
pub fn hide(batch: &mut Batch, remains: &Remains, now: Timestamp) {
    let (id, client_id, version) = (remains.id, batch.client_id(), remains.version);
    batch.guard(&HIDE_CUSTOMER, args! { id, client_id, version, updated_at: now });
}

/// Erases the data of a hidden customer and that of their aliases.
pub fn erase_hidden(batch: &mut Batch, id: CustomerId) {
    let client_id = batch.client_id();
    batch.push_any(&ERASE_HIDDEN_CUSTOMER, args! { id, client_id });
    batch.push_any(&ERASE_CUSTOMER_ALIASES, args! { client_id, customer_id: id });
}

/// Adds an alias of a customer, with the data sent for it.
pub fn insert_alias(batch: &mut Batch, id: Id<of::CustomerAlias>, customer_id: CustomerId, private: &Sealed) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_CUSTOMER_ALIAS,
        args! { id, client_id, customer_id, private: private.bytes.as_slice(), key_id: private.key_id },
    );
}

/// The data sent with an alias; `None` when there is none any more.
///
/// # Errors
/// As [`Store::row`].
pub async fn find_alias(
    store: &Store,
    client_id: ClientId,
    id: Id<of::CustomerAlias>,
) -> Result<Option<Sealed>, StoreError> {
    let Some(row) = store.row(&FIND_CUSTOMER_ALIAS, args! { id, client_id }).await? else { return Ok(None) };
    Ok(Some(Sealed { key_id: row.get("key_id")?, bytes: row.get("private")? }))
}

/// The live customer of an id. With the id of an alias, the customer's own id differs.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when a live customer has no personal data.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: CustomerId,
) -> Result<Option<StoredCustomer>, StoreError> {
    let row = store.row(&FIND_CUSTOMER, args! { id, client_id }).await?;
    row.as_ref().map(from_row).transpose()
}

/// The live customers with `keys.email` or `keys.document`; `keys.number` is ignored.
///
/// # Errors
/// As [`find`].
pub async fn find_by_keys(
    store: &Store,
    client_id: ClientId,
    keys: &CustomerKeys,
) -> Result<Vec<StoredCustomer>, StoreError> {
    let (email_key, document_key) = (keys.email, keys.document);
    from_rows(&store.rows(&FIND_CUSTOMERS_BY_KEYS, args! { client_id, email_key, document_key }).await?)
}

/// The live customers of `ids`, their own or those of aliases, each once.
///
/// # Errors
/// As [`find`].
pub async fn find_many(
    store: &Store,
    client_id: ClientId,
    ids: &[CustomerId],
) -> Result<Vec<StoredCustomer>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    from_rows(&store.rows(&FIND_CUSTOMERS, args! { client_id, ids }).await?)
}

/// The live customers with any of these document numbers, each once.
///
/// # Errors
/// As [`find`].
pub async fn find_by_numbers(
    store: &Store,
    client_id: ClientId,
    number_keys: &[LookupKey],
) -> Result<Vec<StoredCustomer>, StoreError> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for number_key in number_keys {
        let rows =
            store.rows(&FIND_CUSTOMERS_BY_NUMBER, args! { client_id, number_key: *number_key }).await?;
        found.extend(from_rows(&rows)?.into_iter().filter(|customer| seen.insert(customer.id)));
    }
    Ok(found)
}

/// A page of the live customers; with `document_types` (in upper case) only those with a document of these types.
///
/// # Errors
/// As [`find`].
pub async fn list(
    store: &Store,
    client_id: ClientId,
    document_types: Option<&[String]>,
    slice: Slice,
) -> Result<Vec<StoredCustomer>, StoreError> {
    let Slice { order, limit, offset } = slice;
    let rows = match Json::list(document_types, String::clone) {
        None => {
            let page = match order {
                Order::NewestFirst => &CUSTOMERS_DESC,
                Order::OldestFirst => &CUSTOMERS_ASC,
            };
            store.rows(page, args! { client_id, limit, offset }).await?
        }
        Some(document_types) => {
            let page = match order {
                Order::NewestFirst => &CUSTOMERS_OF_TYPE_DESC,
                Order::OldestFirst => &CUSTOMERS_OF_TYPE_ASC,
            };
            store.rows(page, args! { client_id, document_types, limit, offset }).await?
        }
    };
    from_rows(&rows)
}

/// Counts the live customers of a client; with `document_types` (in upper case) those with a document of these types.
///
/// # Errors
/// As [`Store::rows`].
pub async fn count(
    store: &Store,
    client_id: ClientId,
    document_types: Option<&[String]>,
) -> Result<u64, StoreError> {
    let row = match Json::list(document_types, String::clone) {
        None => store.row(&COUNT_CUSTOMERS, args! { client_id }).await?,
        Some(document_types) => {
            store.row(&COUNT_CUSTOMERS_OF_TYPE, args! { client_id, document_types }).await?
        }
    };
    row.map_or(Ok(0), |row| row.get("n"))
}

fn from_rows(rows: &[Row]) -> Result<Vec<StoredCustomer>, StoreError> {
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredCustomer, StoreError> {
    let id: CustomerId = row.get("id")?;
    let private: Option<Vec<u8>> = row.get("private")?;
    let bytes = private.ok_or_else(|| StoreError::Corrupt(format!("customers.private of {id}")))?;
    Ok(StoredCustomer {
        id,
        client_id: row.get("client_id")?,
        keys: CustomerKeys {
            email: row.get("email_key")?,
            document: row.get("document_key")?,
            number: row.get("number_key")?,
        },
        document_type: row.get("document_type")?,
        private: Sealed { key_id: row.get("key_id")?, bytes },
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
