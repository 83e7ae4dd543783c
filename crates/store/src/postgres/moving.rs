//! A PostgreSQL database as the source or the target of a move. It is used by one connection, beside no store.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use regente_domain::time::Timestamp;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error, Row, Statement};
use uuid::Uuid;

use super::connector::Connector;
use super::{PostgresOptions, distribute, failure, migrate};
use crate::error::StoreError;
use crate::migrate::{Applied, MIGRATIONS};
use crate::moving::mark::{self, Moving};
use crate::moving::table::{Catalogue, Table, Values};
use crate::placement::Placement;
use crate::sql::DatabaseKind;
use crate::value::Value;

/// Held by a move as long as it uses the database.
const LOCK: &str = "SELECT pg_try_advisory_lock(7235399202)";
/// Whether a move uses this database, whether it is the target of one, and whether it was moved away. A node that finds the lock is
/// not counted by [`NODES`] yet, and does not start.
const MOVING: &str = "
    SELECT EXISTS (
            SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND objsubid = 1
                AND (classid::int8 << 32) | objid::int8 = 7235399202
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
        to_regclass('move_under_way') IS NOT NULL, to_regclass('moved_away') IS NOT NULL";
/// Rows are found in the order of their keys, without a plan that reads and sorts a whole table for each page.
const SETTINGS: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
    SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off";
/// Connections of nodes to this database. All of them have one name, unless the address gives another.
const NODES: &str = "SELECT COUNT(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND application_name IN ('regente', current_setting('application_name'))";
/// Those to the workers of a distributed one: a node that lost the coordinator may go on there.
const NODES_OF_WORKERS: &str = "
    SELECT COALESCE(SUM(result::int8), 0)::int8 FROM run_command_on_workers(format(
        'SELECT COUNT(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name IN (''regente'', %L)',
        current_setting('application_name'))) WHERE success";
const COLUMNS: &str = "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped";
const IS_MARKED: &str = "SELECT to_regclass('move_under_way') IS NOT NULL";
/// How often a database is looked at again that nodes are just leaving, and the time between.
const LOOKS_MAX: u32 = 50;
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// An open database.
pub(crate) struct PostgresEnd {
    client: Client,
    task: JoinHandle<()>,
    statements: Mutex<HashMap<String, Statement>>,
    placement: Placement,
}

/// Why a database cannot be used for a move.
pub(crate) enum Taken {
    /// Another move uses it, or this one as its other end.
    ByAMove,
    /// So many connections of nodes are open.
    ByNodes(i64),
    /// It cannot be opened.
    Failed(StoreError),
}

impl From<StoreError> for Taken {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl PostgresEnd {
    /// Opens a database that is moved, in one read transaction.
    pub(crate) async fn source(options: &PostgresOptions) -> Result<Self, Taken> {
        let end = Self::target(options).await?;
        end.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(end)
    }

    /// Opens a database that is moved to.
    pub(crate) async fn target(options: &PostgresOptions) -> Result<Self, Taken> {
        let (client, task) = Connector::new(options)?.connect().await.map_err(failure::not_opened)?;
        let placement = options.placement(distribute::is_distributed(&client).await?);
        let end = Self { client, task, statements: Mutex::default(), placement };
        end.run(SETTINGS).await?;
        let (mut is_ours, mut looks) = (false, 0);
        loop {
            is_ours = is_ours || end.asks::<bool>(LOCK).await?;
            let nodes = end.nodes().await?;
            match (is_ours, nodes) {
                (true, 0) => return Ok(end),
                (false, _) if looks == LOOKS_MAX => return Err(Taken::ByAMove),
                (true, nodes) if looks == LOOKS_MAX => return Err(Taken::ByNodes(nodes)),
                (true | false, _) => looks += 1,
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }

    /// Connections of nodes.
    async fn nodes(&self) -> Result<i64, StoreError> {
        let here = self.asks::<i64>(NODES).await?;
        let is_distributed = distribute::is_distributed(&self.client).await?;
        Ok(here + if is_distributed { self.asks::<i64>(NODES_OF_WORKERS).await? } else { 0 })
    }

    /// Keeps nodes from a source that was moved.
    pub(crate) async fn leave(&self) -> Result<(), Taken> {
        // What is asked in a transaction is answered as it was first.
        self.run("COMMIT").await?;
        match self.nodes().await? {
            0 => Ok(self.run(mark::LEAVE).await?),
            connections => Err(Taken::ByNodes(connections)),
        }
    }

    async fn run(&self, script: &str) -> Result<(), StoreError> {
        self.client.batch_execute(script).await.map_err(|error| failure::store_error("move", error))
    }

    async fn asks<T: for<'a> tokio_postgres::types::FromSql<'a>>(
        &self,
        question: &str,
    ) -> Result<T, StoreError> {
        let row = self.client.query_one(question, &[]).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| failure::store_error("move", error))
    }

    pub(crate) async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        migrate::applied(&self.client).await
    }

    pub(crate) async fn migrate(&mut self, now: Timestamp) -> Result<(), StoreError> {
        migrate::migrate(&mut self.client, MIGRATIONS, now).await
    }

    pub(crate) async fn catalogue(&self) -> Result<Catalogue, StoreError> {
        let read = async {
            let mut found = Catalogue::new();
            for row in self.client.query(COLUMNS, &[]).await? {
                found.entry(row.try_get(0)?).or_default().insert(row.try_get(1)?, row.try_get(2)?);
            }
            Ok(found)
        };
        read.await.map_err(|error| failure::store_error("catalogue", error))
    }

    /// The rows that one of the table's statements finds.
    pub(crate) async fn rows(
        &self,
        table: &Table,
        sql: String,
        values: Values,
    ) -> Result<Vec<Values>, StoreError> {
        let read = async {
            let statement = self.prepared(sql).await?;
            let rows: Vec<Row> = self.client.query_raw(&statement, &values).await?.try_collect().await?;
            let row = |row: &Row| (0..row.len()).map(|at| row.try_get::<_, Value>(at)).collect();
            rows.iter().map(row).collect::<Result<_, Error>>()
        };
        read.await.map_err(|error| failure::store_error(&table.name, error))
    }

    /// Adds rows of accounts by statements with their values, with the mark: in one transaction, or where the database is
    /// distributed by client in one for each account.
    pub(crate) async fn write(
        &self,
        table: &Table,
        accounts: BTreeMap<Uuid, Vec<(String, Values)>>,
        mark: String,
    ) -> Result<(), StoreError> {
        let writing = async {
            match self.placement {
                Placement::OneServer => {
                    self.client.batch_execute("BEGIN").await?;
                    for statements in accounts.values() {
                        self.add(statements).await?;
                    }
                    self.set_mark(&table.name, &mark).await?;
                    self.client.batch_execute("COMMIT").await
                }
                Placement::ByClient => {
                    for statements in accounts.values() {
                        self.client.batch_execute("BEGIN").await?;
                        self.add(statements).await?;
                        self.client.batch_execute("COMMIT").await?;
                    }
                    // Rows that are written and not marked are written again, which changes nothing.
                    self.set_mark(&table.name, &mark).await
                }
            }
        };
        writing.await.map_err(|error| failure::store_error(&table.name, error))
    }

    async fn add(&self, statements: &[(String, Values)]) -> Result<(), Error> {
        for (sql, values) in statements {
            let statement = self.prepared(sql.clone()).await?;
            self.client.execute_raw(&statement, values).await?;
        }
        Ok(())
    }

    async fn set_mark(&self, name: &str, mark: &str) -> Result<(), Error> {
        self.client.execute(mark::set(DatabaseKind::Postgres), &[&name, &mark]).await.map(drop)
    }

    async fn prepared(&self, sql: String) -> Result<Statement, Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(&sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(&sql).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// The marks of a move that was begun.
    pub(crate) async fn marks(&self) -> Result<Option<Vec<(String, String)>>, StoreError> {
        if !is_marked(&self.client).await? {
            return Ok(None);
        }
        let read = async {
            let rows = self.client.query(mark::ALL, &[]).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()
        };
        read.await.map(Some).map_err(|error| failure::store_error(mark::TABLE, error))
    }

    /// Begins a move of a source.
    pub(crate) async fn begin(&self, source: String) -> Result<(), StoreError> {
        let begin = async {
            self.client.batch_execute("BEGIN").await?;
            self.client.batch_execute(mark::make(DatabaseKind::Postgres)).await?;
            self.set_mark(mark::OF_SOURCE, &source).await?;
            self.client.batch_execute("COMMIT").await
        };
        begin.await.map_err(|error| failure::store_error(mark::TABLE, error))
    }

    /// Ends the connection, and waits until it has.
    pub(crate) async fn close(self) {
        drop(self.client);
        // The task has logged how it ended.
        drop(self.task.await);
    }
}

async fn is_marked(client: &Client) -> Result<bool, StoreError> {
    let row = client.query_one(IS_MARKED, &[]).await;
    row.and_then(|row| row.try_get(0)).map_err(|error| failure::store_error(mark::TABLE, error))
}

/// What a move has to do with this database.
pub(super) async fn moving(client: &Client) -> Result<Option<Moving>, StoreError> {
    let read = async {
        let row = client.query_one(MOVING, &[]).await?;
        Ok(match (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?) {
            (_, true, _) => Some(Moving::Here),
            (true, false, _) => Some(Moving::Away),
            (false, false, true) => Some(Moving::MovedAway),
            (false, false, false) => None,
        })
    };
    read.await.map_err(|error| failure::store_error(mark::TABLE, error))
}
