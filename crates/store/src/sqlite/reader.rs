//! The threads that read, each with a connection of its own, on one queue.

use crossbeam_channel::Receiver;
use rusqlite::{Connection, Error};
use tokio::sync::oneshot;

use super::failure;
use super::statements::Statements;
use crate::error::StoreError;
use crate::row::Row;
use crate::sql::Sql;
use crate::value::Value;

/// What a reader is asked for.
pub(super) enum ReadCommand {
    /// Run queries.
    Rows {
        /// The queries.
        queries: Vec<Query>,
        /// Who wants the answers, one for each.
        answer: oneshot::Sender<Result<Vec<Vec<Row>>, StoreError>>,
    },
    /// End this thread.
    Close,
}

/// A query with its arguments in order.
pub(super) type Query = (&'static Sql, Vec<Value>);

/// The body of a thread.
pub(super) fn run(connection: &Connection, queue: &Receiver<ReadCommand>) {
    let mut statements = Statements::new(connection);
    while let Ok(command) = queue.recv() {
        match command {
            ReadCommand::Rows { queries, answer } => {
                // Who hung up while waiting is not worked for: under overload that is most of the work.
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
