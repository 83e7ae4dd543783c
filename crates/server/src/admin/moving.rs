//! Moves the database of a deployment to another one, while no server runs on either.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::ledger::Repair;
use regente_engine::vault;
use regente_store::Store;
use regente_store::moving::{Move, Moved, MovedAccount, Moving, Source, Tell};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::backup::{record, took_ms};
use super::error::CommandError;
use super::ledger::{self, LedgerReport};
use crate::bootstrap::{self, Missing, StartError};
use crate::config::Config;

/// A database that was moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DatabaseMoved {
    /// The kind of the source.
    pub from: String,
    /// The kind of the target.
    pub to: String,
    /// Rows that were moved and compared.
    pub rows: u64,
    /// Rows that an earlier, interrupted command had written.
    pub resumed_after: u64,
    /// What was moved of each account, in the order of their ids.
    pub accounts: Vec<AccountMoved>,
    /// The books in the target.
    pub ledger: LedgerReport,
    /// Whether the source is a backup: what has happened in its database since is not in the target.
    pub is_of_backup: bool,
    /// How long it took.
    pub took_ms: u64,
}

/// What was moved of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AccountMoved {
    /// The account; the nil id for what belongs to none.
    pub client_id: Uuid,
    /// Its rows.
    pub rows: u64,
    /// The checksum of all of them: the same in source and target.
    pub checksum: String,
    /// Each table that has some.
    pub tables: BTreeMap<String, TableMoved>,
}

/// What was moved of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableMoved {
    /// Its rows of the account.
    pub rows: u64,
    /// Their checksum.
    pub checksum: String,
}

/// Moves the database of `config`, or the backup `from` of it, to that of `to`.
///
/// # Errors
/// [`CommandError`]; the source is unchanged, and the same command goes on where it was.
pub async fn move_database(
    config: &Config,
    from: Option<PathBuf>,
    to: &Config,
    clock: &Clock,
    tell: Tell<'_>,
) -> Result<DatabaseMoved, CommandError> {
    let (begun, is_of_backup) = (clock.machine(), from.is_some());
    to.check_strength().map_err(StartError::from)?;
    let source = match from {
        Some(file) => Source::Backup(file),
        None => Source::Database(bootstrap::find_database(config, Missing::Refuse)?),
    };
    let target = bootstrap::find_database(to, Missing::Make)?;
    let (kek, _) = config.kek()?;
    let chance = Chance::system().map_err(StartError::from)?;
    // The source is kept from servers until the end.
    let mut moving = Move::open(source, target.clone(), clock.deployment()).await?;
    vault::opens(&kek, &moving.data_keys().await?, begun)?;
    let moved = moving.run(tell).await?;
    let store = Store::open(target).await?;
    let app = bootstrap::open_on(store.clone(), to, &kek, clock.clone(), chance).await?;
    let ended = async {
        let books = ledger::verify(&app, None, Repair::Leave).await?;
        if !books.is_right() {
            return Err(wrong_books(&books));
        }
        // In this order: interrupted in between, the same command ends it, and meanwhile nobody serves either of them.
        moving.leave_source().await?;
        store.end_move().await?;
        record(&app, "database.moved").await;
        Ok(books)
    };
    let ended = ended.await;
    store.close().await;
    Ok(report(moved, ended?, is_of_backup, took_ms(clock, begun)))
}

/// Lets the database of `config` be served again, which was moved away.
///
/// # Errors
/// [`CommandError`], also where it was not.
pub async fn reopen(config: &Config) -> Result<(), CommandError> {
    let store = Store::open(bootstrap::find_database(config, Missing::Refuse)?).await?;
    let reopened = match store.moving().await? {
        Some(Moving::MovedAway) => Ok(store.reopen().await?),
        None => Err(CommandError::Argument("the database was not moved away".to_owned())),
        Some(Moving::Here) => Err(StartError::MoveUnderWay.into()),
        Some(Moving::Away) => Err(StartError::BeingMoved.into()),
    };
    store.close().await;
    reopened
}

/// Both databases are the same by then, so the books of the source are as wrong.
fn wrong_books(books: &LedgerReport) -> CommandError {
    let differences: Vec<String> = books
        .clients
        .iter()
        .flat_map(|client| client.differences.iter().map(|found| format!("{}: {found}", client.client_id)))
        .collect();
    CommandError::Argument(format!(
        "every row is moved, but the books are not right, here and in the source: {}. Look with `regente ledger verify` at \
         the source, repair it, and move it to an empty database",
        differences.join("; ")
    ))
}

fn report(moved: Moved, ledger: LedgerReport, is_of_backup: bool, took_ms: u64) -> DatabaseMoved {
    let Moved { accounts, resumed_after, kinds: (from, to) } = moved;
    let accounts: Vec<AccountMoved> = accounts.into_iter().map(account).collect();
    DatabaseMoved {
        from: from.to_string(),
        to: to.to_string(),
        rows: accounts.iter().map(|account| account.rows).sum(),
        resumed_after,
        accounts,
        ledger,
        is_of_backup,
        took_ms,
    }
}

fn account((client_id, moved): (Uuid, MovedAccount)) -> AccountMoved {
    let MovedAccount { rows, checksum, tables } = moved;
    let tables = tables
        .into_iter()
        .map(|(table, sum)| (table, TableMoved { rows: sum.rows, checksum: sum.to_string() }))
        .collect();
    AccountMoved { client_id, rows, checksum, tables }
}
