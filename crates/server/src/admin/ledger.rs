//! Checks the ledger of accounts, and prints the statement of an account of the books.

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::ledger::{Account, Entry, OfSeller, Purpose};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_engine::ledger::{Repair, compare};
use regente_store::ledger::{self, AccountFilter, EntryFilter};
use regente_store::merchants;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

use super::error::CommandError;
use crate::api::ledger::shown;
use crate::app::App;

/// Differences that are named of each kind; further ones are only counted.
const NAMED_MAX: usize = 10;
/// Entries of a statement.
const ENTRIES_MAX: usize = 10_000;
/// Entries that one query reads.
const ENTRIES_PER_PAGE: i64 = 500;

/// What is wrong with the ledgers of accounts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerReport {
    /// One for each account, oldest first.
    pub clients: Vec<ClientLedger>,
}

/// What is wrong with the ledger of one account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClientLedger {
    /// The account.
    pub client_id: ClientId,
    /// Accounts of its books.
    pub accounts: i64,
    /// Entries of its books.
    pub entries: i64,
    /// Charges that were compared.
    pub charges: u64,
    /// Charges for which something was posted.
    pub posted: u64,
    /// Each difference, as a sentence; empty when the books are right.
    pub differences: Vec<String>,
}

impl LedgerReport {
    /// Whether everything is as it must be.
    pub fn is_right(&self) -> bool {
        self.clients.iter().all(|client| client.differences.is_empty())
    }
}

/// Checks the ledger of one account, or of all.
pub(super) async fn verify(
    app: &App,
    client_id: Option<ClientId>,
    repair: Repair,
) -> Result<LedgerReport, CommandError> {
    let mut clients = Vec::new();
    for client in super::clients::all(&app.store).await? {
        if client_id.is_none_or(|wanted| wanted == client.id) {
            clients.push(verify_client(app, client.id, repair).await?);
        }
    }
    match client_id {
        Some(unknown) if clients.is_empty() => {
            Err(CommandError::Argument(format!("there is no client {unknown}")))
        }
        Some(_) | None => Ok(LedgerReport { clients }),
    }
}

async fn verify_client(app: &App, client_id: ClientId, repair: Repair) -> Result<ClientLedger, CommandError> {
    let store = &app.store;
    let compared = compare(app, client_id, repair).await?;
    let mut differences = Vec::new();
    let limit = i64::try_from(NAMED_MAX).unwrap_or(i64::MAX);
    for wrong in ledger::wrong_balances(store, client_id, limit).await? {
        let hour = Timestamp::of_hour(wrong.hour);
        let account = words_of(&wrong.account);
        differences
            .push(format!("the balance of {account} in the hour of {hour} is not the sum of its entries"));
    }
    match ledger::wrong_spans(store, client_id).await? {
        0 => {}
        wrong => differences.push(format!("{wrong} balances of spans are not the sums of their hours")),
    }
    for currency in ledger::unbalanced(store, client_id).await? {
        differences.push(format!("debits and credits in {} are not the same", currency.code()));
    }
    for id in compared.differing.iter().take(NAMED_MAX) {
        differences.push(format!("charge {id} holds something else than its entries say"));
    }
    match compared.differing.len().saturating_sub(NAMED_MAX) {
        0 => {}
        more => differences.push(format!("and so do {more} more")),
    }
    if compared.busy > 0 {
        differences.push(format!("{} charges move too fast to be compared; look again later", compared.busy));
    }
    let all = EntryFilter::default();
    Ok(ClientLedger {
        client_id,
        accounts: ledger::count_accounts(store, client_id, &all.accounts, None).await?.accounts,
        entries: ledger::count(store, client_id, &all).await?,
        charges: compared.charges,
        posted: compared.posted,
        differences,
    })
}

fn words_of(account: &Account) -> String {
    let Account { merchant_id, provider_type, currency, purpose, seller_id } = account;
    let seller = seller_id.map_or_else(String::new, |id| format!(" of seller {id}"));
    let (purpose, provider, currency) = (purpose.word(), provider_type.shown(), currency.code());
    format!("{purpose}{seller} ({provider}, {currency}) of merchant {merchant_id}")
}

/// Which account of the books, and of which time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatementOf {
    /// Whose books.
    pub client_id: ClientId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The code of the provider type.
    pub provider_type: String,
    /// The code of the currency.
    pub currency: String,
    /// The word of the purpose.
    pub purpose: String,
    /// The seller, if it is a seller's.
    pub seller_id: Option<SellerId>,
    /// Its first moment; the beginning by default.
    pub from: Option<Timestamp>,
    /// The first moment after it; now by default.
    pub to: Option<Timestamp>,
}

/// The statement of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// Which account.
    pub of: StatementOf,
    /// The balance before, in minor units.
    pub before: i64,
    /// The entries, oldest first.
    pub lines: Vec<StatementLine>,
    /// Whether there are more entries than a statement shows.
    pub more: bool,
    /// The balance after the last line.
    pub after: i64,
}

/// An entry of a statement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatementLine {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub movement: String,
    /// The charge, or the line of a settlement file.
    pub source_id: Uuid,
    /// What is debited, in minor units.
    pub debit: Option<i64>,
    /// What is credited.
    pub credit: Option<i64>,
    /// The balance after it.
    pub balance: i64,
}

/// The statement of an account: the balance before, each entry with the balance after it, and the balance in the end.
pub(super) async fn statement(app: &App, of: StatementOf) -> Result<Statement, CommandError> {
    let account = account(&of)?;
    if merchants::with_providers(&app.store, of.client_id, of.merchant_id).await?.is_none() {
        let StatementOf { client_id, merchant_id, .. } = of;
        return Err(CommandError::Argument(format!("account {client_id} has no merchant {merchant_id}")));
    }
    let filter = AccountFilter {
        merchants: Some(vec![account.merchant_id]),
        sellers: account.seller_id.map(|seller| vec![seller]),
        provider_types: Some(vec![account.provider_type]),
        currencies: Some(vec![account.currency]),
        purposes: Some(vec![account.purpose]),
    };
    let before = match of.from {
        None => 0,
        Some(from) => balance(app, &of, &filter, &account, from - Duration::from_millis(1)).await?,
    };
    let (mut lines, mut running, mut last) = (Vec::new(), before, None);
    loop {
        let during = (of.from, of.to);
        // What is posted meanwhile must not move an entry to the next page.
        let page =
            ledger::after(&app.store, of.client_id, &filter, during, last.as_ref(), ENTRIES_PER_PAGE).await?;
        for entry in &page {
            // Entries of other sellers have the same purposes.
            lines.extend(line(&account, entry, &mut running));
        }
        let is_last = i64::try_from(page.len()).is_ok_and(|read| read < ENTRIES_PER_PAGE);
        last = page.last().copied();
        if is_last || lines.len() > ENTRIES_MAX {
            break;
        }
    }
    let more = lines.len() > ENTRIES_MAX;
    lines.truncate(ENTRIES_MAX);
    let after = lines.last().map_or(shown(before), |line: &StatementLine| line.balance);
    Ok(Statement { of, before: shown(before), lines, more, after })
}

fn line(account: &Account, entry: &Entry, running: &mut i128) -> Option<StatementLine> {
    let amount = entry.amount.minor_units();
    let (debit, credit) = match (entry.debited() == *account, entry.credited() == *account) {
        (true, _) => (Some(amount), None),
        (false, true) => (None, Some(amount)),
        (false, false) => return None,
    };
    *running += account.purpose.balance(debit.unwrap_or(0).into(), credit.unwrap_or(0).into());
    Some(StatementLine {
        at: entry.at,
        movement: entry.movement.word().to_owned(),
        source_id: entry.source.id,
        debit,
        credit,
        balance: shown(*running),
    })
}

async fn balance(
    app: &App,
    of: &StatementOf,
    filter: &AccountFilter,
    account: &Account,
    at: Timestamp,
) -> Result<i128, CommandError> {
    let found = ledger::balances(&app.store, of.client_id, filter, Some(at), i64::MAX, 0).await?;
    Ok(found.iter().find(|balance| balance.account == *account).map_or(0, ledger::Balance::amount))
}

fn account(of: &StatementOf) -> Result<Account, CommandError> {
    let none = |what: &str, word: &str| CommandError::Argument(format!("there is no {what} {word}"));
    let purpose = Purpose::parse(&of.purpose).ok_or_else(|| {
        let known: Vec<&str> = Purpose::WORDS.iter().map(|(word, _)| *word).collect();
        none("purpose", &format!("{}; there are {}", of.purpose, known.join(", ")))
    })?;
    let wrong = match (purpose.of_seller(), of.seller_id) {
        (OfSeller::Always, None) => Some("each is of a seller, whose id --seller gives"),
        (OfSeller::Never, Some(_)) => Some("none is of a seller, so --seller does not fit"),
        (OfSeller::Always, Some(_)) | (OfSeller::Never, None) | (OfSeller::Sometimes, _) => None,
    };
    if let Some(wrong) = wrong {
        return Err(CommandError::Argument(format!("of the accounts of {} {wrong}", of.purpose)));
    }
    Ok(Account {
        merchant_id: of.merchant_id,
        provider_type: ProviderType::parse_shown(&of.provider_type)
            .ok_or_else(|| none("provider type", &of.provider_type))?,
        currency: Currency::parse(&of.currency).ok_or_else(|| none("currency", &of.currency))?,
        purpose,
        seller_id: of.seller_id,
    })
}
