//! Stores the ledger (`docs/ledger.md`): entries, which are added and never changed, and the balances of their accounts.
//! The writer of a commit group sums what its batches add to balances, as rows of hours, and a job folds finished hours
//! into spans: a balance as of any time is found in few rows.

mod balances;
mod check;
mod fold;
mod list;

use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, MerchantId, SellerId};
use regente_domain::ledger::{Account, Entry, Movement, OfSeller, Purpose, Source};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use uuid::Uuid;

pub use self::balances::{AccountFilter, Balance, Counted, balances, count_accounts};
pub use self::check::{WrongBalance, unbalanced, wrong_balances, wrong_spans};
pub use self::fold::BalanceSums;
pub use self::list::{EntryFilter, after, count, page};
use crate::batch::{BalanceDelta, BalanceKey, Batch};
use crate::row::Row;
use crate::sums::NOBODY;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "source_id, version, ordinal, client_id, at, movement, merchant_id, provider_type, currency, debit, credit, \
         seller_id, amount"
    };
}
use columns;

sql! {
    /// Adds an entry.
    pub INSERT_LEDGER_ENTRY = "
        INSERT INTO ledger_entries (source_id, version, ordinal, client_id, at, movement, merchant_id,
            provider_type, currency, debit, credit, seller_id, amount)
        VALUES (:source_id, :version, :ordinal, :client_id, :at, :movement, :merchant_id,
            :provider_type, :currency, :debit, :credit, :seller_id, :amount)";
    /// The entries of charges or of lines of settlement files.
    ENTRIES_OF_SOURCES = concat!("SELECT ", columns!(), " FROM ledger_entries
        WHERE UNINDEXED client_id = :client_id AND source_id IN EACH_UUID(:sources)
        ORDER BY source_id, version, ordinal");
    /// When charges have moved, in that order. What settlement files and payouts have posted has no version.
    CHARGES_MOVED = "
        SELECT DISTINCT at, source_id FROM ledger_entries
        WHERE client_id = :client_id AND (at, source_id) > (:after_at, :after) AND at < :to AND source_id < :before
          AND version > 0
        ORDER BY at, source_id LIMIT :limit";
}

/// When charges that are older than `made_before` have moved, after `after` and before `to`, in that order. A charge that has
/// moved twice is there twice.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn charges_moved(
    store: &Store,
    client_id: ClientId,
    after: (Timestamp, ChargeId),
    to: Timestamp,
    made_before: ChargeId,
    limit: i64,
) -> Result<Vec<(Timestamp, ChargeId)>, StoreError> {
    let args = args! { client_id, after_at: after.0, after: after.1, to, before: made_before, limit };
    let rows = store.rows(&CHARGES_MOVED, args).await?;
    rows.iter().map(|row| Ok((row.get("at")?, row.get("source_id")?))).collect()
}

/// Posts entries in the batch of what they record, with what each does to the balances of its two accounts.
pub fn post(batch: &mut Batch, entries: &[Entry]) {
    for entry in entries {
        insert(batch, entry);
        let (hour, amount) = (entry.at.hour(), entry.amount.minor_units().into());
        let key = |account| BalanceKey { client_id: entry.client_id, hour, account };
        batch.add_to_balance(BalanceDelta { key: key(entry.debited()), debited: amount, credited: 0 });
        batch.add_to_balance(BalanceDelta { key: key(entry.credited()), debited: 0, credited: amount });
    }
}

fn insert(batch: &mut Batch, entry: &Entry) {
    let Entry { client_id, source, at, merchant_id, seller_id, .. } = *entry;
    batch.push(
        &INSERT_LEDGER_ENTRY,
        args! {
            source_id: source.id,
            version: source.version,
            ordinal: source.ordinal,
            client_id,
            at,
            movement: entry.movement.word(),
            merchant_id,
            provider_type: entry.provider_type.code(),
            currency: entry.currency.code(),
            debit: entry.debit.word(),
            credit: entry.credit.word(),
            seller_id,
            amount: entry.amount.minor_units(),
        },
    );
}

/// The entries of these charges, or lines of settlement files, in the order in which they were posted.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn of_sources(
    store: &Store,
    client_id: ClientId,
    sources: &[Uuid],
) -> Result<Vec<Entry>, StoreError> {
    let sources = Json::list(Some(sources), ToString::to_string);
    store.rows(&ENTRIES_OF_SOURCES, args! { client_id, sources }).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<Entry, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("ledger_entries.{what}"));
    let movement = Movement::parse(row.get("movement")?).ok_or_else(|| corrupt("movement"))?;
    let (debit, credit): (&str, &str) = (row.get("debit")?, row.get("credit")?);
    Ok(Entry {
        client_id: row.get("client_id")?,
        source: Source {
            id: row.get("source_id")?,
            version: row.get("version")?,
            ordinal: row.get("ordinal")?,
        },
        at: row.get("at")?,
        movement,
        merchant_id: row.get("merchant_id")?,
        provider_type: provider_type(row)?,
        currency: currency(row)?,
        debit: Purpose::parse(debit).ok_or_else(|| corrupt("debit"))?,
        credit: Purpose::parse(credit).ok_or_else(|| corrupt("credit"))?,
        seller_id: row.get("seller_id")?,
        amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
    })
}

/// The account that a row of balances is about.
fn account(row: &Row) -> Result<Account, StoreError> {
    let purpose: &str = row.get("purpose")?;
    let (merchant_id, seller_id): (MerchantId, SellerId) = (row.get("merchant_id")?, row.get("seller_id")?);
    Ok(Account {
        merchant_id,
        provider_type: provider_type(row)?,
        currency: currency(row)?,
        purpose: Purpose::parse(purpose)
            .ok_or_else(|| StoreError::Corrupt("ledger_balances.purpose".to_owned()))?,
        seller_id: Some(seller_id).filter(|seller| *seller != NOBODY),
    })
}

fn provider_type(row: &Row) -> Result<ProviderType, StoreError> {
    let code: &str = row.get("provider_type")?;
    ProviderType::parse(code).ok_or_else(|| StoreError::Corrupt("provider_type of the ledger".to_owned()))
}

fn currency(row: &Row) -> Result<Currency, StoreError> {
    let code: &str = row.get("currency")?;
    Currency::parse(code).ok_or_else(|| StoreError::Corrupt("currency of the ledger".to_owned()))
}

/// The purposes whose accounts can be a seller's, as an argument.
fn purposes_of_sellers() -> Json {
    let words = Purpose::WORDS.iter().filter(|(_, purpose)| purpose.of_seller() != OfSeller::Never);
    let quoted: Vec<String> = words.map(|(word, _)| format!("\"{word}\"")).collect();
    Json(format!("[{}]", quoted.join(",")))
}
