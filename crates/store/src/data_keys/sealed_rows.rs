//! Walks the rows that are sealed under an old data key, table by table, in pages of the primary key. Tokens are left
//! out: only their owner can open them, and they expire soon.

use regente_domain::id::ClientId;
use uuid::Uuid;

use crate::{Args, Batch, Row, Sql, Store, StoreError, args, sql};

// A page is bounded by the rows it reads, not by those it finds, so that finding the last stale rows of a large table
// stays short. It spans clients, because two of the tables have no index that begins with one.
macro_rules! page {
    ($table:literal, $key:literal, $client:literal, $first:literal, $second:literal) => {
        concat!(
            "SELECT ",
            $key,
            " AS row_key, ",
            $client,
            " AS client_id, key_id, \
             CASE WHEN key_id <> :current_key_id THEN ",
            $first,
            " END AS sealed_1, \
             CASE WHEN key_id <> :current_key_id THEN ",
            $second,
            " END AS sealed_2 \
             FROM ",
            $table,
            " WHERE (",
            $key,
            ", ",
            $client,
            ") > (:after_key, :after_client_id) \
             ORDER BY ",
            $key,
            ", ",
            $client,
            " LIMIT :limit"
        )
    };
}
macro_rules! reseal {
    ($table:literal, $key:literal, $client:literal, $sealed:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET ",
            $sealed,
            " = :sealed_1, key_id = :new_key_id \
             WHERE ",
            $key,
            " = :row_key AND ",
            $client,
            " = :client_id AND key_id = :key_id AND ",
            $sealed,
            " = :before_1"
        )
    };
}

sql! {
    /// Secrets of clients.
    PAGE_CLIENTS = page!("clients", "id", "id", "secret", "NULL");
    /// Seals the secret of a client again.
    RESEAL_CLIENT = "
        UPDATE clients SET secret = :sealed_1, key_id = :new_key_id
        WHERE id = :client_id AND key_id = :key_id AND secret = :before_1";
    /// What is sealed of members.
    PAGE_MEMBERS = page!("members", "id", "client_id", "private", "NULL");
    /// Seals it again.
    RESEAL_MEMBER = reseal!("members", "id", "client_id", "private");
    /// The key of the digests of members' addresses.
    PAGE_MEMBER_KEYS = page!("member_keys", "id", "id", "secret", "NULL");
    /// Seals that key again.
    RESEAL_MEMBER_KEY = "
        UPDATE member_keys SET secret = :sealed_1, key_id = :new_key_id
        WHERE id = :client_id AND key_id = :key_id AND secret = :before_1";
    /// Credentials of providers.
    PAGE_PROVIDERS = page!("providers", "id", "client_id", "credentials", "NULL");
    /// Seals the credentials of a provider again.
    RESEAL_PROVIDER = reseal!("providers", "id", "client_id", "credentials");
    /// Data of customers.
    PAGE_CUSTOMERS = page!("customers", "id", "client_id", "private", "NULL");
    /// Seals the data of a customer again.
    RESEAL_CUSTOMER = reseal!("customers", "id", "client_id", "private");
    /// Data of customer aliases.
    PAGE_CUSTOMER_ALIASES = page!("customer_aliases", "id", "client_id", "private", "NULL");
    /// Seals the data of a customer alias again.
    RESEAL_CUSTOMER_ALIAS = reseal!("customer_aliases", "id", "client_id", "private");
    /// Data of vendors.
    PAGE_VENDORS = page!("vendors", "id", "client_id", "private", "NULL");
    /// Seals the data of a vendor again.
    RESEAL_VENDOR = reseal!("vendors", "id", "client_id", "private");
    /// Card numbers and what else is personal about a card.
    PAGE_CARDS = page!("cards", "id", "client_id", "pan", "private");
    /// Seals a card again. Either column may be NULL: erased.
    RESEAL_CARD = "
        UPDATE cards SET pan = :sealed_1, private = :sealed_2, key_id = :new_key_id
        WHERE id = :row_key AND client_id = :client_id AND key_id = :key_id
          AND pan IS NOT DISTINCT FROM :before_1 AND private IS NOT DISTINCT FROM :before_2";
    /// Personal data of charges.
    PAGE_CHARGES = page!("charges", "id", "client_id", "private", "NULL");
    /// Seals the personal data of a charge again.
    RESEAL_CHARGE = reseal!("charges", "id", "client_id", "private");
    /// Data that merchants sent with purchases.
    PAGE_PURCHASES = page!("purchases", "id", "client_id", "private", "NULL");
    /// Seals that data of a purchase again.
    RESEAL_PURCHASE = reseal!("purchases", "id", "client_id", "private");
    /// What sessions say of persons.
    PAGE_SESSIONS = page!("sessions", "id", "client_id", "private", "NULL");
    /// Seals that data of a session again.
    RESEAL_SESSION = reseal!("sessions", "id", "client_id", "private");
    /// Data of sellers.
    PAGE_SELLERS = page!("sellers", "id", "client_id", "private", "NULL");
    /// Seals the data of a seller again.
    RESEAL_SELLER = reseal!("sellers", "id", "client_id", "private");
    /// Files of sellers.
    PAGE_SELLER_DOCUMENTS = page!("seller_documents", "id", "client_id", "file", "NULL");
    /// Seals the file of a seller again.
    RESEAL_SELLER_DOCUMENT = reseal!("seller_documents", "id", "client_id", "file");
    /// Answers of sellers to reviews.
    PAGE_REGISTRATION_ANSWERS = page!("registration_reviews", "id", "client_id", "answer", "NULL");
    /// Seals such an answer again.
    RESEAL_REGISTRATION_ANSWER = reseal!("registration_reviews", "id", "client_id", "answer");
    /// What is sealed of reports.
    PAGE_REPORTS = page!("reports", "id", "client_id", "private", "NULL");
    /// Seals it again.
    RESEAL_REPORT = reseal!("reports", "id", "client_id", "private");
    /// Bank accounts of accounts.
    PAGE_PAYOUT_ACCOUNTS = page!("payout_accounts", "id", "client_id", "private", "NULL");
    /// Seals a bank account again.
    RESEAL_PAYOUT_ACCOUNT = reseal!("payout_accounts", "id", "client_id", "private");
    /// Files of receipts.
    PAGE_RECEIPTS = page!("receipts", "id", "client_id", "file", "NULL");
    /// Seals the file of a receipt again.
    RESEAL_RECEIPT = reseal!("receipts", "id", "client_id", "file");
    /// Private keys of webhooks.
    PAGE_WEBHOOKS = page!("webhooks", "id", "client_id", "private_key", "next_private_key");
    /// Seals the private keys of a webhook again. The second exists during a rotation.
    RESEAL_WEBHOOK = "
        UPDATE webhooks SET private_key = :sealed_1, next_private_key = :sealed_2, key_id = :new_key_id
        WHERE id = :row_key AND client_id = :client_id AND key_id = :key_id
          AND private_key IS NOT DISTINCT FROM :before_1 AND next_private_key IS NOT DISTINCT FROM :before_2";
    /// Answers kept for idempotency keys.
    PAGE_ANSWERS = page!("idempotency", "digest", "client_id", "body", "NULL");
    /// Seals a kept answer again.
    RESEAL_ANSWER = reseal!("idempotency", "digest", "client_id", "body");
    /// Bodies of notifications of providers.
    PAGE_PROVIDER_NOTIFICATIONS = page!("provider_notifications", "id", "client_id", "body", "NULL");
    /// Seals the body of a notification again.
    RESEAL_PROVIDER_NOTIFICATION = reseal!("provider_notifications", "id", "client_id", "body");
}

/// Files that a page reads at once.
const FILES_OF_PAGE: u32 = 8;

/// A table with sealed columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedTable {
    /// `clients.secret`.
    Clients,
    /// `members.private`.
    Members,
    /// `member_keys.secret`.
    MemberKeys,
    /// `providers.credentials`.
    Providers,
    /// `customers.private`.
    Customers,
    /// `customer_aliases.private`.
    CustomerAliases,
    /// `vendors.private`.
    Vendors,
    /// `cards.pan` and `cards.private`.
    Cards,
    /// `charges.private`.
    Charges,
    /// `purchases.private`.
    Purchases,
    /// `sessions.private`.
    Sessions,
    /// `sellers.private`.
    Sellers,
    /// `seller_documents.file`.
    SellerDocuments,
    /// `registration_reviews.answer`.
    RegistrationAnswers,
    /// `reports.private`.
    Reports,
    /// `payout_accounts.private`.
    PayoutAccounts,
    /// `receipts.file`.
    Receipts,
    /// `webhooks.private_key` and `webhooks.next_private_key`.
    Webhooks,
    /// `idempotency.body`.
    Answers,
    /// `provider_notifications.body`.
    ProviderNotifications,
}

impl SealedTable {
    /// Every table, in the order of the walk.
    pub const ALL: [Self; 20] = [
        Self::Clients,
        Self::Members,
        Self::MemberKeys,
        Self::Providers,
        Self::Customers,
        Self::CustomerAliases,
        Self::Vendors,
        Self::Cards,
        Self::Charges,
        Self::Purchases,
        Self::Sessions,
        Self::Sellers,
        Self::SellerDocuments,
        Self::RegistrationAnswers,
        Self::Reports,
        Self::PayoutAccounts,
        Self::Receipts,
        Self::Webhooks,
        Self::Answers,
        Self::ProviderNotifications,
    ];

    /// How many of `rows_max` rows a page has: few of a table whose rows are files of megabytes.
    fn rows_of_page(self, rows_max: u32) -> u32 {
        match self {
            Self::SellerDocuments | Self::Receipts => rows_max.min(FILES_OF_PAGE),
            Self::Clients
            | Self::Members
            | Self::MemberKeys
            | Self::Providers
            | Self::Customers
            | Self::CustomerAliases
            | Self::Vendors
            | Self::Cards
            | Self::Charges
            | Self::Purchases
            | Self::Sessions
            | Self::Sellers
            | Self::RegistrationAnswers
            | Self::Reports
            | Self::PayoutAccounts
            | Self::Webhooks
            | Self::Answers
            | Self::ProviderNotifications => rows_max,
        }
    }

    const fn statements(self) -> (&'static Sql, &'static Sql) {
        match self {
            Self::Clients => (&PAGE_CLIENTS, &RESEAL_CLIENT),
            Self::Members => (&PAGE_MEMBERS, &RESEAL_MEMBER),
            Self::MemberKeys => (&PAGE_MEMBER_KEYS, &RESEAL_MEMBER_KEY),
            Self::Providers => (&PAGE_PROVIDERS, &RESEAL_PROVIDER),
            Self::Customers => (&PAGE_CUSTOMERS, &RESEAL_CUSTOMER),
            Self::CustomerAliases => (&PAGE_CUSTOMER_ALIASES, &RESEAL_CUSTOMER_ALIAS),
            Self::Vendors => (&PAGE_VENDORS, &RESEAL_VENDOR),
            Self::Cards => (&PAGE_CARDS, &RESEAL_CARD),
            Self::Charges => (&PAGE_CHARGES, &RESEAL_CHARGE),
            Self::Purchases => (&PAGE_PURCHASES, &RESEAL_PURCHASE),
            Self::Sessions => (&PAGE_SESSIONS, &RESEAL_SESSION),
            Self::Sellers => (&PAGE_SELLERS, &RESEAL_SELLER),
            Self::SellerDocuments => (&PAGE_SELLER_DOCUMENTS, &RESEAL_SELLER_DOCUMENT),
            Self::RegistrationAnswers => (&PAGE_REGISTRATION_ANSWERS, &RESEAL_REGISTRATION_ANSWER),
            Self::Reports => (&PAGE_REPORTS, &RESEAL_REPORT),
            Self::PayoutAccounts => (&PAGE_PAYOUT_ACCOUNTS, &RESEAL_PAYOUT_ACCOUNT),
            Self::Receipts => (&PAGE_RECEIPTS, &RESEAL_RECEIPT),
            Self::Webhooks => (&PAGE_WEBHOOKS, &RESEAL_WEBHOOK),
            Self::Answers => (&PAGE_ANSWERS, &RESEAL_ANSWER),
            Self::ProviderNotifications => (&PAGE_PROVIDER_NOTIFICATIONS, &RESEAL_PROVIDER_NOTIFICATION),
        }
    }
}

/// The position of a walk within one table.
#[derive(Clone, Debug)]
pub struct Position {
    table: SealedTable,
    key: Uuid,
    client_id: ClientId,
}

impl Position {
    /// Before the first row of `table`.
    pub fn start(table: SealedTable) -> Self {
        Self { table, key: Uuid::nil(), client_id: super::DEPLOYMENT }
    }
}

/// A row sealed under another key than the current one.
#[derive(Clone, Debug)]
pub struct SealedRow {
    /// Its table.
    pub table: SealedTable,
    /// Its id, or its digest for [`SealedTable::Answers`].
    pub key: Uuid,
    /// The account.
    pub client_id: ClientId,
    /// The key it is sealed under.
    pub key_id: Uuid,
    /// The ciphertexts, in the order of the columns in [`SealedTable`]; at least one is present.
    pub sealed: [Option<Vec<u8>>; 2],
}

/// Reads the next `rows_max` rows; returns those sealed under another key than `current_key_id`, and the next
/// position, which is absent at the end of the table.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn page(
    store: &Store,
    position: &Position,
    current_key_id: Uuid,
    rows_max: u32,
) -> Result<(Vec<SealedRow>, Option<Position>), StoreError> {
    let table = position.table;
    let (page, _) = table.statements();
    let rows_max = table.rows_of_page(rows_max);
    let args = args! {
        current_key_id,
        after_key: position.key,
        after_client_id: position.client_id,
        limit: rows_max,
    };
    let rows = store.rows(page, args).await?;
    let is_last = rows.len() < usize::try_from(rows_max).unwrap_or(usize::MAX);
    let next = match rows.last() {
        Some(row) if !is_last => {
            Some(Position { table, key: row.get("row_key")?, client_id: row.get("client_id")? })
        }
        Some(_) | None => None,
    };
    let stale = rows.iter().filter_map(|row| stale(table, row).transpose()).collect::<Result<_, _>>()?;
    Ok((stale, next))
}

fn stale(table: SealedTable, row: &Row) -> Result<Option<SealedRow>, StoreError> {
    let sealed: [Option<Vec<u8>>; 2] = [row.get("sealed_1")?, row.get("sealed_2")?];
    if sealed.iter().all(Option::is_none) {
        return Ok(None);
    }
    let (key, client_id, key_id) = (row.get("row_key")?, row.get("client_id")?, row.get("key_id")?);
    Ok(Some(SealedRow { table, key, client_id, key_id, sealed }))
}

/// Replaces the ciphertexts that were read. If the row has changed since, nothing happens and the next walk finds it
/// again.
pub fn reseal(batch: &mut Batch, before: &SealedRow, new_key_id: Uuid, sealed: [Option<Vec<u8>>; 2]) {
    let (_, update) = before.table.statements();
    let [sealed_1, sealed_2] = sealed;
    let [before_1, before_2] = before.sealed.clone();
    let args: Args =
        args! { client_id: before.client_id, key_id: before.key_id, new_key_id, sealed_1, before_1 };
    let args = match before.table {
        SealedTable::Clients | SealedTable::MemberKeys => args,
        SealedTable::Cards | SealedTable::Webhooks => {
            args.with("row_key", before.key).with("sealed_2", sealed_2).with("before_2", before_2)
        }
        SealedTable::Members
        | SealedTable::Providers
        | SealedTable::Customers
        | SealedTable::CustomerAliases
        | SealedTable::Vendors
        | SealedTable::Charges
        | SealedTable::Purchases
        | SealedTable::Sessions
        | SealedTable::Sellers
        | SealedTable::SellerDocuments
        | SealedTable::RegistrationAnswers
        | SealedTable::Reports
        | SealedTable::PayoutAccounts
        | SealedTable::Receipts
        | SealedTable::Answers
        | SealedTable::ProviderNotifications => args.with("row_key", before.key),
    };
    batch.push_any(update, args);
}
