//! Replaces the database in benchmarks: acknowledges writes without writing, and answers reads from memory, since
//! nothing changes. Only for builds with the feature `bench-without-storage`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::row::Row;
use crate::sql::Sql;
use crate::value::Args;
use crate::{Store, StoreError};

/// Most answers kept; further queries go to the database.
const ANSWERS_MAX: usize = 100_000;

/// Whether the database is bypassed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardWrites {
    /// Writes go to the database.
    No,
    /// [`Store::apply`] answers [`Commit::Applied`](crate::Commit::Applied) at once and writes nothing. Since nothing
    /// changes, [`Store::rows`] answers repeated queries from memory.
    Yes,
}

impl Store {
    /// Bypasses the database from now on, or uses it again.
    pub fn discard_writes(&self, discard: DiscardWrites) {
        self.common().stand_in.used.store(discard == DiscardWrites::Yes, Ordering::Relaxed);
    }

    pub(crate) async fn rows_of_stand_in(
        &self,
        sql: &'static Sql,
        args: Args,
    ) -> Result<Vec<Row>, StoreError> {
        let stand_in = &self.common().stand_in;
        if let Some(rows) = stand_in.answer(sql, &args) {
            return Ok(rows);
        }
        let rows = self.rows_of_database(sql, args.clone()).await?;
        stand_in.remember(sql, args, &rows);
        Ok(rows)
    }
}

/// Answers of the database by statement, and whether they are used.
#[derive(Debug, Default)]
pub(crate) struct StandIn {
    used: AtomicBool,
    answers: RwLock<Answers>,
}

#[derive(Debug, Default)]
struct Answers {
    by_statement: HashMap<(&'static str, &'static str), Known>,
    kept: usize,
}

/// The known answers of a statement.
#[derive(Debug)]
enum Known {
    /// It found no row, and is assumed never to find one: each request looks up another idempotency key.
    Nothing,
    /// The rows found, by arguments.
    Rows(HashMap<Args, Vec<Row>>),
}

impl StandIn {
    /// Whether the stand-in answers instead of the database.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    fn answer(&self, sql: &'static Sql, args: &Args) -> Option<Vec<Row>> {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        match answers.by_statement.get(&statement(sql))? {
            Known::Nothing => Some(Vec::new()),
            Known::Rows(by_args) => by_args.get(args).cloned(),
        }
    }

    fn remember(&self, sql: &'static Sql, args: Args, rows: &[Row]) {
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        if answers.kept >= ANSWERS_MAX {
            return;
        }
        answers.kept += 1;
        let nothing = if rows.is_empty() { Known::Nothing } else { Known::Rows(HashMap::new()) };
        match answers.by_statement.entry(statement(sql)).or_insert(nothing) {
            Known::Nothing => {}
            Known::Rows(by_args) => drop(by_args.insert(args, rows.to_vec())),
        }
    }
}

fn statement(sql: &'static Sql) -> (&'static str, &'static str) {
    (sql.module(), sql.name())
}
