//! The store: two databases behind one enum, with the same behaviour.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use tracing::Instrument;
use uuid::Uuid;

use crate::admission::Admission;
use crate::args;
use crate::batch::Batch;
use crate::driver::{Common, Emptied, StoreSize};
use crate::error::{Commit, StoreError};
#[cfg(feature = "testing")]
use crate::fuse::Fuse;
use crate::moving::mark::{self, Moving};
use crate::newest::{self, NEWEST_AUDIT_ENTRY, NEWEST_CHARGE, Newest};
use crate::postgres::{Distributing, Layout, PostgresOptions, PostgresStore};
use crate::row::{Row, only};
use crate::sql;
use crate::sql::{DatabaseKind, Sql};
use crate::sqlite::{SqliteOptions, SqliteStore};
#[cfg(feature = "bench-without-storage")]
use crate::stand_in::DiscardWrites;
use crate::value::Args;

sql! {
    /// Writes for real, to find out whether the database accepts writes. An update without a change would not reach
    /// the disk in SQLite.
    BEAT = "UPDATE heartbeat SET beats = beats + 1 WHERE id = 1";
    /// What the database's clock shows.
    NOW = "SELECT DATABASE_NOW AS now";
}

/// The target of the spans of commits: from the call of [`Store::apply`] to its answer.
pub const COMMIT_SPANS: &str = "regente_store::commit";

/// The database and its options.
#[derive(Clone, Debug)]
pub enum StoreOptions {
    /// An embedded file.
    Sqlite(SqliteOptions),
    /// A server.
    Postgres(PostgresOptions),
}

/// The database of the product. Cheap to clone; all clones are the same store.
#[derive(Clone, Debug)]
pub enum Store {
    /// An embedded file.
    Sqlite(SqliteStore),
    /// A server.
    Postgres(PostgresStore),
}

/// Counts of the store's work since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Limit of concurrent changes that callers ask for.
    pub admissions_max: u64,
    /// Number of those under way.
    pub admissions_in_use: u64,
    /// Number of changes refused by the limit, or by the share of their account.
    pub admissions_refused: u64,
    /// Number of commit groups written.
    pub commits: u64,
    /// Number of batches in them.
    pub batches: u64,
}

impl Store {
    /// Opens the database without migrating it; creates a missing SQLite file.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has the file, [`StoreError::Configuration`] when the options
    /// cannot work, [`StoreError::Unavailable`] when the server or the file cannot be reached.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        match options {
            StoreOptions::Sqlite(options) => SqliteStore::open(options).await.map(Self::Sqlite),
            StoreOptions::Postgres(options) => PostgresStore::open(options).await.map(Self::Postgres),
        }
    }

    /// Applies a batch, all or nothing, and answers when it is synced. It continues when the caller is gone. The
    /// queue has no bound of its own: callers that move money hold an [`Admission`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when certainly nothing was written; [`StoreError::Programming`] when a statement
    /// or its arguments are wrong. Nothing was written in any of them.
    pub async fn apply(&self, batch: Batch) -> Result<Commit, StoreError> {
        if batch.is_empty() {
            return Ok(Commit::Applied);
        }
        #[cfg(feature = "bench-without-storage")]
        if self.common().stand_in.is_used() {
            return Ok(Commit::Applied);
        }
        let span =
            tracing::debug_span!(target: COMMIT_SPANS, "store.commit", statements = batch.statements());
        let applying = async {
            self.common().step().await;
            let commit = match self {
                Self::Sqlite(store) => store.apply(batch).await,
                Self::Postgres(store) => store.apply(batch).await,
            };
            self.common().step().await;
            commit
        };
        applying.instrument(span).await
    }

    /// Installs a fuse, which is asked before and after each write.
    #[cfg(feature = "testing")]
    pub fn put_fuse(&self, fuse: Fuse) {
        // A store keeps its first fuse.
        let _ = self.common().fuse.set(fuse);
    }

    /// The rows of a query.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], or [`StoreError::Programming`] when the statement or its arguments are wrong.
    pub async fn rows(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        #[cfg(feature = "bench-without-storage")]
        if self.common().stand_in.is_used() {
            return self.rows_of_stand_in(sql, args).await;
        }
        self.rows_of_database(sql, args).await
    }

    async fn rows_of_database(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::Sqlite(store) => store.rows(sql, args).await,
            Self::Postgres(store) => store.rows(sql, args).await,
        }
    }

    /// The rows of two queries, sent together. The second one sees what the first one sees, or a later state.
    ///
    /// # Errors
    /// As [`Store::rows`].
    pub async fn rows_of_both(
        &self,
        first: (&'static Sql, Args),
        second: (&'static Sql, Args),
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        #[cfg(feature = "bench-without-storage")]
        if self.common().stand_in.is_used() {
            let first = self.rows_of_stand_in(first.0, first.1).await?;
            return Ok((first, self.rows_of_stand_in(second.0, second.1).await?));
        }
        match self {
            Self::Sqlite(store) => store.rows_of_both(first, second).await,
            Self::Postgres(store) => store.rows_of_both(first, second).await,
        }
    }

    /// The row of a query that finds at most one.
    ///
    /// # Errors
    /// As [`Store::rows`]; [`StoreError::Programming`] when there are more.
    pub async fn row(&self, sql: &'static Sql, args: Args) -> Result<Option<Row>, StoreError> {
        only(sql, self.rows(sql, args).await?)
    }

    /// The account of the record that a query finds by its `id`.
    ///
    /// # Errors
    /// As [`Store::row`]; [`StoreError::Unavailable`] when it finds none and some accounts were left out, as it may be one of theirs.
    pub(crate) async fn owner(&self, sql: &'static Sql, id: Uuid) -> Result<Option<ClientId>, StoreError> {
        let owners = &self.common().owners;
        if let Some(known) = owners.of(id) {
            return Ok(Some(known));
        }
        let were_left_out = self.leaves_accounts_out();
        let Some(row) = self.row(sql, args! { id }).await? else {
            return match were_left_out || self.leaves_accounts_out() {
                true => {
                    Err(StoreError::unavailable("the server that may have this record cannot be reached"))
                }
                false => Ok(None),
            };
        };
        let client_id = row.get("client_id")?;
        owners.keep(id, client_id);
        Ok(Some(client_id))
    }

    /// A permit for one change that a caller of this account asks for, if one is free.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when all are taken, or all of the account's share.
    pub fn admit(&self, client_id: ClientId) -> Result<Admission, StoreError> {
        self.common().gate.admit(client_id)
    }

    /// Waits for a permit for one change, of those that are kept for workers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the store is closed.
    pub async fn admit_waiting(&self) -> Result<Admission, StoreError> {
        self.common().gate.admit_waiting().await
    }

    /// Migrates the schema to this release. Several nodes may do so at once.
    ///
    /// # Errors
    /// [`StoreError::Schema`] when the database was written by a later release, or a migration was changed after it
    /// had been applied.
    pub async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.migrate(now).await,
            Self::Postgres(store) => store.migrate(now).await,
        }
    }

    /// Distributes the tables by client over the workers of a PostgreSQL with the extension `citus`, and moves shards to workers that
    /// have fewer. Tells what is done as it is done. No other process may write to tables that are not distributed yet.
    ///
    /// # Errors
    /// [`StoreError::Configuration`] where the database is embedded, has no such extension or no workers, or where shards cannot be
    /// moved; else as [`Store::migrate`]. What is done stays, so it can be repeated.
    pub async fn distribute(&self, told: &(dyn Fn(Distributing) + Sync)) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => {
                Err(StoreError::Configuration("an embedded database cannot be distributed".to_owned()))
            }
            Self::Postgres(store) => store.distribute(told).await,
        }
    }

    /// What lies on which server; `None` for a database on one server.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn layout(&self) -> Result<Option<Layout>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(store) => store.layout().await,
        }
    }

    /// The version of the last applied migration, 0 before the first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn schema_version(&self) -> Result<i64, StoreError> {
        let applied = self.applied_migrations().await?;
        Ok(applied.last().map_or(0, |migration| migration.version))
    }

    /// The names of the migrations still to apply, oldest first.
    ///
    /// # Errors
    /// As [`Store::migrate`].
    pub async fn pending_migrations(&self) -> Result<Vec<&'static str>, StoreError> {
        let applied = self.applied_migrations().await?;
        let pending = crate::migrate::pending(&applied, crate::migrate::MIGRATIONS)?;
        Ok(pending.iter().map(|migration| migration.name).collect())
    }

    /// What a move has to do with this database; `None` for one that may be served.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn moving(&self) -> Result<Option<Moving>, StoreError> {
        match self {
            Self::Sqlite(store) => store.moving().await,
            Self::Postgres(store) => store.moving().await,
        }
    }

    /// Ends the move to this database, which may be served from then on.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::Programming`] where no move is under way.
    pub async fn end_move(&self) -> Result<(), StoreError> {
        self.drop_mark(mark::DROP).await
    }

    /// Lets a database be served again that was moved away.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::Programming`] where it was not.
    pub async fn reopen(&self) -> Result<(), StoreError> {
        self.drop_mark(mark::REOPEN).await
    }

    async fn drop_mark(&self, mark: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.drop_mark(mark).await,
            Self::Postgres(store) => store.drop_mark(mark).await,
        }
    }

    /// Whether the server of an account can be reached, as far as is known without asking it: always, but for an account of a
    /// distributed database.
    pub fn can_reach(&self, client_id: ClientId) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(store) => store.can_reach(client_id),
        }
    }

    /// The workers of a distributed database that cannot be reached, by their numbers. Statements over all accounts leave their
    /// accounts out; where not only the coordinator fails to reach a worker, these are refused with [`StoreError::Unavailable`].
    pub fn lost_workers(&self) -> Vec<i32> {
        match self {
            Self::Sqlite(_) => vec![],
            Self::Postgres(store) => store.lost_workers(),
        }
    }

    /// Whether queries over all accounts leave out those of a worker that cannot be reached.
    fn leaves_accounts_out(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(store) => store.leaves_accounts_out(),
        }
    }

    /// The workers of a distributed database that serve their accounts badly or not, by their numbers: those that are lost, those whose answer
    /// to a look took long, and those whose disk had no room at the last commit that tells.
    pub fn failing_workers(&self) -> Vec<i32> {
        match self {
            Self::Sqlite(_) => vec![],
            Self::Postgres(store) => store.failing_workers(),
        }
    }

    /// Writes to the database and reads a table of the accounts, to prove that it serves them. Whether the workers of a distributed one
    /// do is found by looks at each of them ([`Store::lost_workers`]): one that is slow must not hold up the others.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not, or one cannot; [`StoreError::Schema`] when it was never migrated.
    pub async fn check(&self) -> Result<(), StoreError> {
        let mut batch = Batch::new(ClientId::new(Uuid::nil()));
        batch.push(&BEAT, Args::new());
        let beat = match self {
            Self::Sqlite(_) => self.apply(batch).await,
            Self::Postgres(store) => store.apply_everywhere(batch).await,
        };
        match beat? {
            Commit::Applied => {}
            Commit::Refused(_) => return Err(StoreError::Schema("the heartbeat row is missing".to_owned())),
            Commit::Unknown => {
                return Err(StoreError::unavailable("nothing tells whether the check was written"));
            }
        }
        match self {
            Self::Postgres(store) if store.is_distributed() => Ok(()),
            Self::Sqlite(_) | Self::Postgres(_) => self.rows(&NEWEST_CHARGE, Args::new()).await.map(drop),
        }
    }

    /// What the database's clock shows; the machine's, where the database is embedded.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn now(&self) -> Result<Timestamp, StoreError> {
        let rows = self.rows_of_database(&NOW, Args::new()).await?;
        let row = only(&NOW, rows)?.ok_or_else(|| StoreError::Corrupt("a clock without a row".to_owned()))?;
        row.get("now")
    }

    /// The times of the newest records of the database.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn newest(&self) -> Result<Newest, StoreError> {
        Ok(Newest {
            charge: newest::made_at(&self.rows(&NEWEST_CHARGE, Args::new()).await?)?,
            audit_entry: newest::made_at(&self.rows(&NEWEST_AUDIT_ENTRY, Args::new()).await?)?,
        })
    }

    /// The kind of the database.
    pub fn database_kind(&self) -> DatabaseKind {
        match self {
            Self::Sqlite(_) => DatabaseKind::Sqlite,
            Self::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// Applies the queued batches, checkpoints, closes all connections and releases the lock. Later calls, also of
    /// clones, answer [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.common().gate.close();
        match self {
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store) => store.close().await,
        }
    }

    /// The size of the database.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn size(&self) -> Result<StoreSize, StoreError> {
        match self {
            Self::Sqlite(store) => store.size().await,
            Self::Postgres(store) => store.size().await,
        }
    }

    /// Empties the write-ahead log of an embedded database, in which former contents of changed pages stand until it begins
    /// anew. Answers whether it is empty: a read or a backup under way may still need it. A server looks after its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn empty_log(&self) -> Result<Emptied, StoreError> {
        match self {
            Self::Sqlite(store) => store.empty_log().await,
            Self::Postgres(_) => Ok(Emptied::NotOurs),
        }
    }

    /// Counts of the store's work; does not query the database.
    pub fn activity(&self) -> Activity {
        let common = self.common();
        let (admissions_max, admissions_in_use, admissions_refused) = common.gate.counts();
        let (commits, batches) = common.commits.read();
        Activity { admissions_max, admissions_in_use, admissions_refused, commits, batches }
    }

    async fn applied_migrations(&self) -> Result<Vec<crate::migrate::Applied>, StoreError> {
        match self {
            Self::Sqlite(store) => store.applied_migrations().await,
            Self::Postgres(store) => store.applied_migrations().await,
        }
    }

    pub(crate) fn common(&self) -> &Common {
        match self {
            Self::Sqlite(store) => store.common(),
            Self::Postgres(store) => store.common(),
        }
    }
}

#[cfg(feature = "bench-without-storage")]
impl Store {
    /// Bypasses the database from now on, or uses it again.
    pub fn discard_writes(&self, discard: DiscardWrites) {
        self.common().stand_in.switch(discard);
    }

    async fn rows_of_stand_in(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        let stand_in = &self.common().stand_in;
        if let Some(rows) = stand_in.answer(sql, &args) {
            return Ok(rows);
        }
        let rows = self.rows_of_database(sql, args.clone()).await?;
        stand_in.remember(sql, args, &rows);
        Ok(rows)
    }
}
