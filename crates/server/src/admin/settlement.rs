//! The commands with which a settlement file is reconciled where the database is. Whoever reads the file compares
//! (`settlement/`).

use std::collections::BTreeMap;

use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::settlement::{Kept, Moved, Posting, Scope};
use regente_domain::time::Timestamp;
use regente_engine::settlement::{self, Cursor, KeptCursor, PostError, Posted};
use regente_providers::sandbox::SettlementPage;
use regente_store::sellers;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::CommandError;
use crate::app::App;

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
    /// A page of what payouts of the own provider have posted.
    Kept {
        /// Of whom.
        scope: Scope,
        /// In this time.
        during: (Timestamp, Timestamp),
        /// Where the page begins; at first nowhere.
        after: Option<KeptCursor>,
    },
    /// A page of the keys under which a provider knows payments.
    Keys {
        /// Which one.
        scope: Scope,
        /// Where the page begins; at first nowhere.
        after: Option<Cursor>,
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
    /// What payouts have posted.
    Kept {
        /// A page.
        kept: Vec<Kept>,
        /// Where the next page begins; `None` at the end.
        next: Option<KeptCursor>,
    },
    /// The keys of payments.
    Keys {
        /// A page.
        keys: Vec<Uuid>,
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
        SettlementCommand::Scope { provider } => {
            let unknown = || format!("there is no provider {provider}, and no type of that name");
            let found = settlement::scope(app, &provider).await?;
            found.map(SettlementAnswer::Scope).ok_or_else(|| CommandError::Argument(unknown()))
        }
        SettlementCommand::Moved { scope, during, moved_until, after } => {
            let (moved, next) = settlement::page(app, &scope, during, moved_until, after).await?;
            Ok(SettlementAnswer::Moved { moved, next })
        }
        SettlementCommand::Find { scope, transaction_ids } => {
            let moved = settlement::find(app, &scope, &transaction_ids).await?;
            Ok(SettlementAnswer::Moved { moved, next: None })
        }
        SettlementCommand::Kept { scope, during, after } => {
            let (kept, next) = settlement::kept(app, &scope, during, after).await?;
            Ok(SettlementAnswer::Kept { kept, next })
        }
        SettlementCommand::Keys { scope, after } => {
            let (keys, next) = settlement::keys(app, &scope, after).await?;
            Ok(SettlementAnswer::Keys { keys, next })
        }
        SettlementCommand::Sellers { client_id, seller_ids } => {
            let found = sellers::find_many_ever(&app.store, client_id, &seller_ids).await?;
            let sellers = found.into_iter().map(|seller| (seller.id, seller.merchant_id)).collect();
            Ok(SettlementAnswer::Sellers { sellers })
        }
        SettlementCommand::Post { postings } => {
            let posted = settlement::post(app, postings).await;
            posted.map(SettlementAnswer::Posted).map_err(|error| match error {
                PostError::Store(error) => error.into(),
                PostError::Unknown => CommandError::Unknown,
                PostError::Busy => CommandError::Argument(error.to_string()),
            })
        }
        SettlementCommand::Owed { scope } => {
            Ok(SettlementAnswer::Owed { owed: settlement::owed(app, &scope).await? })
        }
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
