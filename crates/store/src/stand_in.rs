//! What stands in for the database where everything but storage is measured: writes are thrown away, and since nothing
//! changes any more, reads are answered from memory. For benchmarks alone.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::row::Row;
use crate::sql::Sql;
use crate::value::Args;

/// Answers that are remembered; further ones are asked for again.
const ANSWERS_MAX: usize = 100_000;

/// Answers of the database, by statement.
#[derive(Debug, Default)]
pub(crate) struct StandIn(RwLock<Answers>);

#[derive(Debug, Default)]
struct Answers {
    by_statement: HashMap<(&'static str, &'static str), Known>,
    remembered: usize,
}

/// What is known of a statement.
#[derive(Debug)]
enum Known {
    /// It has found nothing, so it is taken to find nothing ever: an idempotency key that was not used before is another
    /// one with each request.
    Nothing,
    /// It found this, by its arguments.
    Rows(HashMap<Args, Vec<Row>>),
}

impl StandIn {
    /// The remembered answer.
    pub(crate) fn answer(&self, sql: &'static Sql, args: &Args) -> Option<Vec<Row>> {
        let answers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match answers.by_statement.get(&statement(sql))? {
            Known::Nothing => Some(Vec::new()),
            Known::Rows(by_args) => by_args.get(args).cloned(),
        }
    }

    /// Remembers an answer of the database.
    pub(crate) fn remember(&self, sql: &'static Sql, args: Args, rows: &[Row]) {
        let mut answers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if answers.remembered >= ANSWERS_MAX {
            return;
        }
        answers.remembered += 1;
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
