//! Moves everything from one database to another: every row of every table, in pages by primary key, and then compares both
//! by checksums for each account and table.
//!
//! The source is read in one snapshot, while nobody may serve it. Before anything is written its checksums are taken, so that a move that was
//! interrupted finds out whether the source is still the same. Until the move is ended a table of the target
//! (`moving/mark.rs`) says that it is under way.

pub(crate) mod checksum;
mod compare;
mod end;
pub(crate) mod mark;
mod open;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use self::checksum::{Sums, digest, has_nul, of_all};
use self::end::End;
use self::mark::Mark;
use self::table::{Table, Values};
use crate::data_keys::stored::{self, StoredDataKey};
use crate::error::StoreError;
#[cfg(feature = "testing")]
use crate::fuse::Fuse;
use crate::row::Row;
use crate::sql::DatabaseKind;
use crate::store::StoreOptions;
use crate::value::Value;

pub use checksum::Sum;
pub use compare::{Difference, Differs};
pub use mark::Moving;

/// Rows of the first page of a table. Pages grow while they are small, since a row may be a file.
const ROWS_FIRST: usize = 16;
const ROWS_MAX: usize = 512;
/// Bytes of a page from which on the next one has fewer rows.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tables that belong to the database and not to what it holds.
const NOT_MOVED: [&str; 2] = ["schema_migrations", "heartbeat"];

/// What is moved.
#[derive(Clone, Debug)]
pub enum Source {
    /// A database that no server uses.
    Database(StoreOptions),
    /// A backup of an embedded database.
    Backup(PathBuf),
}

/// Why nothing was moved, or not everything. The source is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The source has an earlier schema; the names of its pending migrations.
    #[error(
        "the source is of an earlier release ({} pending); run `regente migrate` on it first, and restore a backup before \
         that", .0.join(", ")
    )]
    Earlier(Vec<&'static str>),
    /// The target has an earlier schema.
    #[error(
        "the target was made by an earlier release; run `regente migrate` on it first, or name an empty one"
    )]
    EarlierTarget,
    /// Nodes use the database.
    #[error(
        "{connections} connections of Regente are open on the {end}; stop every node that uses it, then move"
    )]
    InUse {
        /// `source` or `target`.
        end: &'static str,
        /// How many.
        connections: i64,
    },
    /// The source was moved to another database, and lacks what has happened there since.
    #[error(
        "everything of the source was moved to another database already; move that one, or if nobody uses it, run \
         `regente move --reopen` before"
    )]
    MovedAway,
    /// A process has the file open.
    #[error("the {0} is in use: a server runs on it, or another command; stop it, then move")]
    Locked(&'static str),
    /// The same database, or that of another move.
    #[error("the {0} is used by another move, or source and target are the same database")]
    OfAnotherMove(&'static str),
    /// The source is the target.
    #[error("source and target are the same database")]
    Same,
    /// Both are files.
    #[error("both are embedded databases: `regente backup` and `regente restore` copy such a file")]
    TwoFiles,
    /// The target holds something.
    #[error("the target is not empty: its table {0} has rows; name an empty database")]
    NotEmpty(String),
    /// The target holds a part of something else.
    #[error(
        "the target holds the beginning of another move: of another source, or of this one before it changed. Empty the \
         target and move again"
    )]
    AnotherSource,
    /// A text that PostgreSQL cannot store.
    #[error(
        "column {column} of table {table} has the character NUL in the row {key}, which PostgreSQL cannot store"
    )]
    Unstorable {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The primary key of the row, as JSON.
        key: String,
    },
    /// Source and target are not the same afterwards.
    #[error("{} rows of source and target differ: {}", .0.len(), list(.0))]
    Differs(Vec<Difference>),
    /// A database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What a move does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It reads the source and takes its checksums.
    Reading,
    /// It writes the target.
    Writing,
    /// It reads the target and compares.
    Comparing,
}

/// How far a move is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What it does.
    pub step: Step,
    /// The table.
    pub table: &'a str,
    /// Rows of this step so far.
    pub rows: u64,
    /// All rows of this step; unknown while the source is read the first time.
    pub of: Option<u64>,
}

/// Who is told of the progress.
pub type Tell<'a> = &'a (dyn Fn(Progress<'_>) + Send + Sync);

/// What was moved.
#[derive(Clone, Debug)]
pub struct Moved {
    /// What each account has. Rows without an account are under the nil id.
    pub accounts: BTreeMap<Uuid, MovedAccount>,
    /// Rows that an earlier, interrupted run had written.
    pub resumed_after: u64,
    /// The database that was moved from and the one that was moved to.
    pub kinds: (DatabaseKind, DatabaseKind),
}

/// What was moved of an account.
#[derive(Clone, Debug, Default)]
pub struct MovedAccount {
    /// Number of its rows.
    pub rows: u64,
    /// The checksum of all of them, in hexadecimal digits.
    pub checksum: String,
    /// The sum of each table that has some.
    pub tables: BTreeMap<String, Sum>,
}

/// A move between two databases, both of which it keeps others from.
pub struct Move {
    source: End,
    target: Option<End>,
    tables: Vec<Arc<Table>>,
    #[cfg(feature = "testing")]
    fuse: Fuse,
}

impl Move {
    /// The data keys of the source, each wrapped.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn data_keys(&self) -> Result<Vec<StoredDataKey>, StoreError> {
        let Some(table) = self.tables.iter().find(|table| table.name == "data_keys") else {
            return Ok(Vec::new());
        };
        let columns: Arc<[String]> = table.columns.iter().map(|column| column.name.clone()).collect();
        let rows = self.source.page(table, None, usize::MAX).await?;
        rows.into_iter()
            .map(|row| stored::from_row(&Row::new("data_keys", Arc::clone(&columns), row)))
            .collect()
    }

    /// Copies every row that the target does not have yet, and compares. The target is closed afterwards, and still says
    /// that the move is under way: [`Store::end_move`](crate::Store::end_move) ends it. Once only.
    ///
    /// # Errors
    /// [`MoveError`]; run anew it goes on where it was.
    pub async fn run(&mut self, tell: Tell<'_>) -> Result<Moved, MoveError> {
        let sums = self.sums(&self.source, (Step::Reading, None), tell).await?;
        let Some(target) = self.target.take() else {
            return Err(StoreError::Programming("a move runs once".to_owned()).into());
        };
        let resumed_after = self.write(&target, &sums, tell).await?;
        let rows = sums.values().map(|sum| sum.rows).sum();
        let found = self.sums(&target, (Step::Comparing, Some(rows)), tell).await?;
        if found != sums {
            let differences =
                compare::differences(&self.source, &target, &self.tables, &sums, &found).await?;
            return Err(MoveError::Differs(differences));
        }
        let kinds = (self.source.kind(), target.kind());
        target.close().await;
        let mut accounts: BTreeMap<Uuid, MovedAccount> = BTreeMap::new();
        for ((account, table), sum) in sums {
            let moved = accounts.entry(account).or_default();
            moved.rows += sum.rows;
            moved.tables.insert(self.tables[table].name.clone(), sum);
        }
        for (account, moved) in &mut accounts {
            moved.checksum = of_all(moved.tables.iter().map(|(table, sum)| (*account, table.as_str(), sum)));
        }
        Ok(Moved { accounts, resumed_after, kinds })
    }

    /// Keeps servers from the source from now on, unless it is a backup. What was moved is in the target then, whose books are right.
    ///
    /// # Errors
    /// [`MoveError::InUse`] where a node has connected to it again that was cut off when the move began.
    pub async fn leave_source(&self) -> Result<(), MoveError> {
        self.source.leave().await.map_err(|why| open::taken("source", why))
    }

    /// The sums of a database.
    async fn sums(
        &self,
        end: &End,
        (step, of): (Step, Option<u64>),
        tell: Tell<'_>,
    ) -> Result<Sums, MoveError> {
        let (mut sums, mut rows) = (Sums::new(), 0);
        for (place, table) in self.tables.iter().enumerate() {
            let mut pages = Pages::after(None);
            while let Some(page) = pages.next(end, table).await? {
                for row in &page {
                    sums.entry((table.account_of(row), place)).or_default().add(digest(table, row)?);
                }
                rows += page.len() as u64;
                tell(Progress { step, table: &table.name, rows, of });
            }
        }
        Ok(sums)
    }

    /// Writes what is missing. Answers how many rows were there.
    async fn write(&self, target: &End, sums: &Sums, tell: Tell<'_>) -> Result<u64, MoveError> {
        let named =
            sums.iter().map(|((account, place), sum)| (*account, self.tables[*place].name.as_str(), sum));
        let source = of_all(named);
        let marks = self.begin(target, source).await?;
        let of = Some(sums.values().map(|sum| sum.rows).sum());
        let marks = marks
            .into_iter()
            .map(|(name, text)| Ok((name, Mark::read(&text)?)))
            .collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        let resumed_after: u64 = marks.values().map(|mark| mark.rows).sum();
        let mut rows = resumed_after;
        for table in &self.tables {
            let mut mark = marks.get(&table.name).cloned().unwrap_or_default();
            if mark.is_done {
                continue;
            }
            let mut pages = Pages::after(mark.key(table)?);
            while let Some(page) = pages.next(&self.source, table).await? {
                must_be_storable(table, &page, target.kind())?;
                let count = page.len() as u64;
                (rows, mark.rows) = (rows + count, mark.rows + count);
                mark.after = pages.after.as_deref().map(mark::shown);
                self.pause().await;
                target.write(table, page, mark.text()).await?;
                self.pause().await;
                tell(Progress { step: Step::Writing, table: &table.name, rows, of });
            }
            mark.is_done = true;
            target.write(table, Vec::new(), mark.text()).await?;
        }
        Ok(resumed_after)
    }

    /// Begins the move in an empty target, or finds how far each table is in one that was begun.
    async fn begin(&self, target: &End, source: String) -> Result<Vec<(String, String)>, MoveError> {
        let Some(mut marks) = target.marks().await? else {
            for table in &self.tables {
                if !target.page(table, None, 1).await?.is_empty() {
                    return Err(MoveError::NotEmpty(table.name.clone()));
                }
            }
            target.begin(source).await?;
            return Ok(Vec::new());
        };
        let of_source = marks.iter().position(|(name, _)| name == mark::OF_SOURCE);
        match of_source.map(|at| marks.remove(at)) {
            Some((_, begun)) if begun == source => Ok(marks),
            Some(_) | None => Err(MoveError::AnotherSource),
        }
    }

    /// A step at which a test may stop the move.
    #[cfg(feature = "testing")]
    async fn pause(&self) {
        self.fuse.step().await;
    }

    #[cfg(not(feature = "testing"))]
    async fn pause(&self) {}

    /// Asks a fuse before and after each page that is written.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn with_fuse(self, fuse: Fuse) -> Self {
        Self { fuse, ..self }
    }
}

/// The rows of a table in pages.
struct Pages {
    after: Option<Values>,
    rows_max: usize,
}

impl Pages {
    fn after(after: Option<Values>) -> Self {
        Self { after, rows_max: ROWS_FIRST }
    }

    /// The next page; `None` at the end.
    async fn next(&mut self, end: &End, table: &Arc<Table>) -> Result<Option<Vec<Values>>, StoreError> {
        let page = end.page(table, self.after.clone(), self.rows_max).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = Some(table.key_of(last));
        let bytes: usize = page.iter().flatten().map(length).sum();
        self.rows_max = match bytes {
            0..PAGE_BYTES_MAX => (self.rows_max * 2).min(ROWS_MAX),
            _ => (self.rows_max / 2).max(1),
        };
        Ok(Some(page))
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Int(_) | Value::Uuid(_) => 16,
        Value::Text(text) => text.len(),
        Value::Json(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    }
}

fn must_be_storable(table: &Table, page: &[Values], database: DatabaseKind) -> Result<(), MoveError> {
    if database == DatabaseKind::Sqlite {
        return Ok(());
    }
    let found = page.iter().find_map(|row| Some((row, row.iter().position(has_nul)?)));
    match found {
        None => Ok(()),
        Some((row, at)) => Err(MoveError::Unstorable {
            table: table.name.clone(),
            column: table.columns[at].name.clone(),
            key: compare::shown(table, row),
        }),
    }
}
