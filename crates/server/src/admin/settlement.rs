//! The commands with which a settlement file is reconciled: a page of what the records have, the requests of named
//! payments, and what is posted to the ledger. Whoever reads the file compares (`settlement/`).

mod posting;
mod records;

use std::collections::BTreeMap;

use regente_domain::id::{ChargeId, ClientId, MerchantId, ProviderId, SellerId, TransactionRequestId};
use regente_domain::ledger::Purpose;
use regente_domain::provider_type::ProviderType;
use regente_domain::settlement::{Borne, Line, Moved};
use regente_domain::time::Timestamp;
use regente_engine::accounts;
use regente_providers::sandbox::SettlementPage;
use regente_store::ledger::AccountFilter;
use regente_store::{ledger, providers, sellers};
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use crate::app::App;

/// Balances that one query reads.
const BALANCES_PER_PAGE: i64 = 500;
/// Entries of the simulator's transaction log that one command reads.
const LOG_ENTRIES_PER_PAGE: usize = 1_000;

/// A command about a settlement file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum SettlementCommand {
    /// Find out whose file it is.
    Scope {
        /// The id of a registered provider, or a type.
        provider: String,
    },
    /// A page of what the records have.
    Moved {
        /// Of whom.
        scope: Scope,
        /// Charges that were made in this time.
        during: (Timestamp, Timestamp),
        /// Earlier ones that have moved from then on until before this time.
        moved_until: Timestamp,
        /// Where the page begins; at first nowhere.
        after: Option<Cursor>,
    },
    /// What the records have of payments, by the provider's ids.
    Find {
        /// Of whom.
        scope: Scope,
        /// The ids.
        transaction_ids: Vec<String>,
    },
    /// Find out which of these sellers an account has, also deleted ones.
    Sellers {
        /// The account.
        client_id: ClientId,
        /// The ids.
        seller_ids: Vec<SellerId>,
    },
    /// Post lines to the ledger.
    Post {
        /// The lines, at most 500.
        postings: Vec<Posting>,
    },
    /// Sum up what the provider owes by the ledger.
    Owed {
        /// Whom.
        scope: Scope,
    },
    /// A part of the simulator's settlement file.
    SandboxFile {
        /// What happened in this time.
        during: (Timestamp, Timestamp),
        /// Where the part begins; at first nowhere.
        after: Option<u64>,
    },
}

/// Whose file it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The registered provider; `None` for a file about all of the type.
    pub registered: Option<Registered>,
}

/// A registered provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The account.
    pub client_id: ClientId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The provider.
    pub provider_id: ProviderId,
}

/// Where a page of what moved begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The account.
    client_id: ClientId,
    /// Which of its charges.
    part: Part,
    /// The last charge of the page before.
    charge_id: ChargeId,
}

/// Which charges of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// Those that were made earlier, and have moved: the last one of the page before at this time.
    Earlier { moved_at: Timestamp },
    /// Those that were made in the time.
    Made,
}

/// A line that is posted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posting {
    /// The line.
    pub line: Line,
    /// In whose books.
    pub registered: Registered,
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The charge, if it is divided among sellers, with the request that is settled.
    pub split: Option<(ChargeId, TransactionRequestId)>,
    /// Who bears how much of it, or of how much less it is than the records say.
    pub borne: Borne,
}

/// What became of postings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Lines that were posted now.
    pub posted: u64,
    /// Entries of these.
    pub entries: u64,
    /// Lines that had been posted before.
    pub known: u64,
    /// Lines that had been posted before with another content. What is posted stays.
    pub otherwise: Vec<Otherwise>,
}

/// A line that was posted before with another content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Otherwise {
    /// The line as it is now.
    pub line: Line,
    /// What would be posted of it: time, account debited, account credited and amount of each entry.
    pub wanted: Vec<String>,
    /// What is posted.
    pub posted: Vec<String>,
}

/// The answer to a command about a settlement file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum SettlementAnswer {
    /// Whose file it is.
    Scope(Scope),
    /// What the records have.
    Moved {
        /// A page, or what was asked for by name.
        moved: Vec<Moved>,
        /// Where the next page begins; `None` at the end.
        next: Option<Cursor>,
    },
    /// Which sellers an account has.
    Sellers {
        /// Their ids, with their merchants.
        sellers: Vec<(SellerId, MerchantId)>,
    },
    /// What became of postings.
    Posted(Posted),
    /// What the provider owes by the ledger.
    Owed {
        /// Minor units by currency; negative for what it has settled too much.
        owed: BTreeMap<String, i64>,
    },
    /// A part of the simulator's settlement file.
    SandboxFile(SettlementPage),
}

pub(super) async fn run(app: &App, command: SettlementCommand) -> Result<SettlementAnswer, CommandError> {
    match command {
        SettlementCommand::Scope { provider } => scope(app, &provider).await.map(SettlementAnswer::Scope),
        SettlementCommand::Moved { scope, during, moved_until, after } => {
            records::page(app, &scope, during, moved_until, after).await
        }
        SettlementCommand::Find { scope, transaction_ids } => {
            let moved = records::find(app, &scope, &transaction_ids).await?;
            Ok(SettlementAnswer::Moved { moved, next: None })
        }
        SettlementCommand::Sellers { client_id, seller_ids } => {
            let found = sellers::find_many_ever(&app.store, client_id, &seller_ids).await?;
            let sellers = found.into_iter().map(|seller| (seller.id, seller.merchant_id)).collect();
            Ok(SettlementAnswer::Sellers { sellers })
        }
        SettlementCommand::Post { postings } => {
            posting::post(app, postings).await.map(SettlementAnswer::Posted)
        }
        SettlementCommand::Owed { scope } => Ok(SettlementAnswer::Owed { owed: owed(app, &scope).await? }),
        SettlementCommand::SandboxFile { during: (from, to), after } => {
            let no_log = || {
                CommandError::Argument(
                    "the simulator runs in another process: name the file of its \
                transaction log with `--books`"
                        .to_owned(),
                )
            };
            let log = app.simulator_log.as_ref().ok_or_else(no_log)?;
            let page = log.settlement(from, to, after, LOG_ENTRIES_PER_PAGE).await;
            let page = page.map_err(|error| CommandError::Argument(crate::chain::chain(&error)))?;
            Ok(SettlementAnswer::SandboxFile(page))
        }
    }
}

async fn scope(app: &App, provider: &str) -> Result<Scope, CommandError> {
    if let Some(provider_type) = ProviderType::parse(provider) {
        return Ok(Scope { provider_type, registered: None });
    }
    let unknown =
        || CommandError::Argument(format!("there is no provider {provider}, and no type of that name"));
    let provider_id: ProviderId = provider.parse().map_err(|_| unknown())?;
    let client_id = providers::client_of(&app.store, provider_id).await?.ok_or_else(unknown)?;
    let found = providers::find(&app.store, client_id, provider_id).await?.ok_or_else(unknown)?;
    let registered = Registered { client_id, merchant_id: found.merchant_id, provider_id };
    Ok(Scope { provider_type: found.provider_type, registered: Some(registered) })
}

async fn owed(app: &App, scope: &Scope) -> Result<BTreeMap<String, i64>, CommandError> {
    let filter = AccountFilter {
        merchants: scope.registered.map(|registered| vec![registered.merchant_id]),
        provider_types: Some(vec![scope.provider_type]),
        purposes: Some(vec![Purpose::ProviderReceivable]),
        ..AccountFilter::default()
    };
    let mut owed: BTreeMap<String, i64> = BTreeMap::new();
    for client_id in accounts(app, scope).await? {
        for page in 0.. {
            let offset = page * BALANCES_PER_PAGE;
            let balances =
                ledger::balances(&app.store, client_id, &filter, None, BALANCES_PER_PAGE, offset).await?;
            for balance in &balances {
                let sum = owed.entry(balance.account.currency.code().to_owned()).or_default();
                *sum = sum.saturating_add(i64::try_from(balance.amount()).unwrap_or(i64::MAX));
            }
            if i64::try_from(balances.len()).is_ok_and(|found| found < BALANCES_PER_PAGE) {
                break;
            }
        }
    }
    Ok(owed)
}

async fn accounts(app: &App, scope: &Scope) -> Result<Vec<ClientId>, CommandError> {
    Ok(match scope.registered {
        Some(Registered { client_id, .. }) => vec![client_id],
        None => accounts::all(&app.store).await?,
    })
}
