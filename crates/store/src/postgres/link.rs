//! A connection of its own for looks at a server: those of the pool may all wait for the very server that hangs.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::connector::Connector;
use super::failure;
use crate::error::StoreError;

/// How long a look may take, with the connection that it may need first.
const LOOK_MAX: Duration = Duration::from_secs(2);

pub(super) struct Link {
    connector: Connector,
    connection: Mutex<Option<Connection>>,
}

struct Connection {
    client: Client,
    task: JoinHandle<()>,
}

/// Ends the task, which would wait for a server that no longer answers.
impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link {
    pub(super) fn new(connector: &Connector) -> Self {
        Self { connector: connector.clone(), connection: Mutex::new(None) }
    }

    /// The rows of a query. A connection that fails or hangs is closed.
    pub(super) async fn rows(
        &self,
        sql: &str,
        arguments: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let mut connection = self.connection.lock().await;
        let known = connection.take().filter(|known| !known.client.is_closed());
        let asked = async {
            let open = match known {
                Some(known) => known,
                None => self.connect().await?,
            };
            let rows = open.client.query(sql, arguments).await.map_err(failed)?;
            Ok((open, rows))
        };
        let (open, rows) = timeout(LOOK_MAX, asked).await.map_err(StoreError::unavailable)??;
        *connection = Some(open);
        Ok(rows)
    }

    pub(super) async fn close(&self) {
        *self.connection.lock().await = None;
    }

    async fn connect(&self) -> Result<Connection, StoreError> {
        let (client, task) = self.connector.connect().await.map_err(failure::not_opened)?;
        let open = Connection { client, task };
        // The server, too, ends a look that nobody waits for any more.
        let limit = format!("SET statement_timeout = {}", LOOK_MAX.as_millis());
        open.client.batch_execute(&limit).await.map_err(failed)?;
        Ok(open)
    }
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    failure::store_error("look", error)
}
