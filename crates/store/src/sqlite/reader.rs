//! The threads that read, each with its own connection, on one queue.

use crossbeam_channel::Receiver;
use rusqlite::{Connection, Error};
use tokio::sync::oneshot;

use super::failure;
use super::statements::Statements;
use crate::error::StoreError;
use crate::row::Row;
use crate::sql::Sql;
use crate::value::Value;

/// A command to a reader.
pub(super) enum ReadCommand {
    /// Run queries.
    Rows {
        /// The queries.
        queries: Vec<Query>,
        /// The channel for the answers, one for each query.
        answer: oneshot::Sender<Result<Vec<Vec<Row>>, StoreError>>,
    },
    /// End this thread.
    Close,
}

/// A query with its arguments in order.
pub(super) type Query = (&'static Sql, Vec<Value>);

/// Runs the thread.
pub(super) fn run(connection: &Connection, queue: &Receiver<ReadCommand>) {
    let mut statements = Statements::new(connection);
    while let Ok(command) = queue.recv() {
        match command {
            ReadCommand::Rows { queries, answer } => {
                // Skip callers that have hung up: under overload that is most of the work.
                if !answer.is_closed() {
                    let run = |(sql, values): &Query| {
                        statements.query(sql, values).map_err(|error| not_read(sql, error))
                    };
                    drop(answer.send(queries.iter().map(run).collect()));
                }
            }
            ReadCommand::Close => return,
        }
    }
}

fn not_read(sql: &Sql, error: Error) -> StoreError {
    if matches!(error, Error::InvalidQuery) {
        return StoreError::Programming(format!("{}: a read must not change anything", sql.name()));
    }
    failure::store_error(sql.name(), error)
}
