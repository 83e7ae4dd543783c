//! Lists entries, newest first, with every filter of `docs/interface/ledger.md`. Where balances cover the filter, they
//! also tell how many entries there are.

use std::time::Duration;

use regente_domain::id::ClientId;
use regente_domain::ledger::{Entry, Movement, Source};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{AccountFilter, columns, count_accounts, from_row};
use crate::spans::Direction;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

macro_rules! filter {
    () => {
        " AND at >= :from AND at < :to \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types)) \
           AND (CAST(:currencies AS JSONB) IS NULL OR currency IN EACH_TEXT(:currencies)) \
           AND (CAST(:purposes AS JSONB) IS NULL OR debit IN EACH_TEXT(:purposes) \
             OR credit IN EACH_TEXT(:purposes)) \
           AND (CAST(:sellers AS JSONB) IS NULL OR seller_id IN EACH_UUID(:sellers)) \
           AND (CAST(:movements AS JSONB) IS NULL OR movement IN EACH_TEXT(:movements))"
    };
}

macro_rules! filtered {
    () => {
        concat!(" FROM ledger_entries WHERE client_id = :client_id", filter!())
    };
}

// Found by the key: the time may match the whole account.
macro_rules! of_sources {
    () => {
        concat!(
            " FROM ledger_entries WHERE UNINDEXED client_id = :client_id AND source_id IN EACH_UUID(:sources)",
            filter!()
        )
    };
}

macro_rules! page {
    ($from:expr, $direction:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            $from,
            " ORDER BY at ",
            $direction,
            ", source_id ",
            $direction,
            ", version ",
            $direction,
            ", ordinal ",
            $direction,
            " LIMIT :limit OFFSET :offset"
        )
    };
}

sql! {
    /// Newest first.
    LEDGER_ENTRIES_DESC = page!(filtered!(), "DESC");
    /// Oldest first.
    LEDGER_ENTRIES_ASC = page!(filtered!(), "ASC");
    /// Oldest first, after an entry. What is added meanwhile moves none to another page.
    LEDGER_ENTRIES_AFTER = concat!(
        "SELECT ", columns!(), filtered!(),
        " AND (at, source_id, version, ordinal) > (:after_at, :after_source_id, :after_version, :after_ordinal) \
         ORDER BY at, source_id, version, ordinal LIMIT :limit"
    );
    /// Of charges or lines, newest first.
    LEDGER_ENTRIES_OF_SOURCES_DESC = page!(of_sources!(), "DESC");
    /// Of charges or lines, oldest first.
    LEDGER_ENTRIES_OF_SOURCES_ASC = page!(of_sources!(), "ASC");
    /// Counts entries that balances cannot count.
    COUNT_LEDGER_ENTRIES = concat!("SELECT COUNT(*) AS n", filtered!());
    /// Counts the entries of charges or lines.
    COUNT_LEDGER_ENTRIES_OF_SOURCES = concat!("SELECT COUNT(*) AS n", of_sources!());
}

/// The filter of a list of entries. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Accounts: entries that debit or credit one of them.
    pub accounts: AccountFilter,
    /// What happened.
    pub movements: Option<Vec<Movement>>,
    /// Charges, or lines of settlement files.
    pub sources: Option<Vec<Uuid>>,
    /// At or after.
    pub from: Option<Timestamp>,
    /// Before.
    pub to: Option<Timestamp>,
}

impl EntryFilter {
    fn args(&self, client_id: ClientId) -> Args {
        let accounts = &self.accounts;
        let args = args! {
            client_id,
            from: self.from.unwrap_or(Timestamp::from_millis(i64::MIN)),
            to: self.to.unwrap_or(Timestamp::from_millis(i64::MAX)),
            merchants: Json::list(accounts.merchants.as_deref(), ToString::to_string),
            sellers: Json::list(accounts.sellers.as_deref(), ToString::to_string),
            provider_types: Json::list(accounts.provider_types.as_deref(), |kind| kind.code().to_owned()),
            currencies: Json::list(accounts.currencies.as_deref(), |currency| currency.code().to_owned()),
            purposes: Json::list(accounts.purposes.as_deref(), |purpose| purpose.word().to_owned()),
            movements: Json::list(self.movements.as_deref(), |movement| movement.word().to_owned()),
        };
        match &self.sources {
            Some(sources) => args.with("sources", Json::list(Some(sources), ToString::to_string)),
            None => args,
        }
    }

    /// How often balances count each entry of the list; `None` where they do not tell.
    fn counted_times(&self) -> Option<i64> {
        let AccountFilter { sellers, purposes, .. } = &self.accounts;
        if self.movements.is_some() || self.sources.is_some() {
            return None;
        }
        match (sellers, purposes.as_deref()) {
            // Both accounts of an entry.
            (None, None) => Some(2),
            // Its two accounts are for different things, and one at most is a seller's.
            (None, Some([_])) | (Some(_), None) => Some(1),
            (None, Some(_)) | (Some(_), Some(_)) => None,
        }
    }
}

/// One page of the entries of a client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &EntryFilter,
    direction: Direction,
    limit: i64,
    offset: i64,
) -> Result<Vec<Entry>, StoreError> {
    let sql = match (filter.sources.is_some(), direction) {
        (false, Direction::Descending) => &LEDGER_ENTRIES_DESC,
        (false, Direction::Ascending) => &LEDGER_ENTRIES_ASC,
        (true, Direction::Descending) => &LEDGER_ENTRIES_OF_SOURCES_DESC,
        (true, Direction::Ascending) => &LEDGER_ENTRIES_OF_SOURCES_ASC,
    };
    let args = filter.args(client_id).with("limit", limit).with("offset", offset);
    store.rows(sql, args).await?.iter().map(from_row).collect()
}

/// The oldest entries of accounts since `from` and before `to` that come after `after`, if one is given.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn after(
    store: &Store,
    client_id: ClientId,
    accounts: &AccountFilter,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    after: Option<&Entry>,
    limit: i64,
) -> Result<Vec<Entry>, StoreError> {
    let before_all = (Timestamp::from_millis(i64::MIN), Source { id: Uuid::nil(), version: 0, ordinal: 0 });
    let (at, source) = after.map_or(before_all, |entry| (entry.at, entry.source));
    // The index begins where the page does.
    let from = after.map(|entry| entry.at).or(from);
    let filter = EntryFilter { accounts: accounts.clone(), from, to, ..EntryFilter::default() };
    let args = filter
        .args(client_id)
        .with("after_at", at)
        .with("after_source_id", source.id)
        .with("after_version", source.version)
        .with("after_ordinal", source.ordinal)
        .with("limit", limit);
    store.rows(&LEDGER_ENTRIES_AFTER, args).await?.iter().map(from_row).collect()
}

/// How many entries of a client match.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count(store: &Store, client_id: ClientId, filter: &EntryFilter) -> Result<i64, StoreError> {
    if let Some(times) = filter.counted_times() {
        let before = |at: Timestamp| at - Duration::from_millis(1);
        let all = count_accounts(store, client_id, &filter.accounts, filter.to.map(before)).await?.entries;
        let earlier = match filter.from {
            None => 0,
            Some(from) => {
                count_accounts(store, client_id, &filter.accounts, Some(before(from))).await?.entries
            }
        };
        return Ok((all - earlier).max(0) / times);
    }
    let sql = match filter.sources {
        Some(_) => &COUNT_LEDGER_ENTRIES_OF_SOURCES,
        None => &COUNT_LEDGER_ENTRIES,
    };
    store.row(sql, filter.args(client_id)).await?.map_or(Ok(0), |row| row.get("n"))
}
