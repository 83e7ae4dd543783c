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
    /// Run a query.
    Rows {
        /// The query.
        sql: &'static Sql,
        /// Its arguments in order.
        values: Vec<Value>,
        /// Who wants the answer.
        answer: oneshot::Sender<Result<Vec<Row>, StoreError>>,
    },
    /// End this thread.
    Close,
}

/// The body of a thread.
pub(super) fn run(connection: &Connection, queue: &Receiver<ReadCommand>) {
    let mut statements = Statements::new(connection);
    while let Ok(command) = queue.recv() {
        match command {
            ReadCommand::Rows { sql, values, answer } => {
                // Who hung up while waiting is not worked for: under overload that is most of the work.
                if !answer.is_closed() {
                    let rows = statements.query(sql, &values).map_err(|error| not_read(sql, error));
                    drop(answer.send(rows));
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
