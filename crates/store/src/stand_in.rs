//! Replaces the database in benchmarks: acknowledges writes without writing, and answers reads from memory, since
//! nothing changes. Only for builds with the feature `bench-without-storage`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::row::Row;
use crate::sql::Sql;
use crate::value::Args;

/// Most answers kept; further queries go to the database.
const ANSWERS_MAX: usize = 100_000;

/// Whether the database is bypassed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardWrites {
    /// Writes go to the database.
    No,
    /// [`Store::apply`](crate::Store::apply) answers [`Commit::Applied`](crate::Commit::Applied) at once and writes nothing. Since nothing
    /// changes, [`Store::rows`](crate::Store::rows) answers repeated queries from memory.
    Yes,
}

/// Answers of the database by statement, and whether they are used.
#[derive(Debug, Default)]
pub(crate) struct StandIn {
    used: AtomicBool,
    answers: RwLock<Answers>,
}

#[derive(Debug, Default)]
struct Answers {
    by_statement: HashMap<(&'static str, &'static str), KnownAnswers>,
    kept: usize,
}

/// The known answers of a statement.
#[derive(Debug)]
enum KnownAnswers {
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

    /// Uses it from now on, or the database again.
    pub(crate) fn switch(&self, discard: DiscardWrites) {
        self.used.store(discard == DiscardWrites::Yes, Ordering::Relaxed);
    }

    pub(crate) fn answer(&self, sql: &'static Sql, args: &Args) -> Option<Vec<Row>> {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        match answers.by_statement.get(&statement(sql))? {
            KnownAnswers::Nothing => Some(Vec::new()),
            KnownAnswers::Rows(by_args) => by_args.get(args).cloned(),
        }
    }

    pub(crate) fn remember(&self, sql: &'static Sql, args: Args, rows: &[Row]) {
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        if answers.kept >= ANSWERS_MAX {
            return;
        }
        answers.kept += 1;
        let nothing =
            if rows.is_empty() { KnownAnswers::Nothing } else { KnownAnswers::Rows(HashMap::new()) };
        match answers.by_statement.entry(statement(sql)).or_insert(nothing) {
            KnownAnswers::Nothing => {}
            KnownAnswers::Rows(by_args) => drop(by_args.insert(args, rows.to_vec())),
        }
    }
}

fn statement(sql: &'static Sql) -> (&'static str, &'static str) {
    (sql.module(), sql.name())
}
