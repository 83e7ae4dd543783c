//! A read: a statement with its arguments, sent on one connection.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use futures_util::TryStreamExt;
use futures_util::future::try_join;
use tokio_postgres::Statement;

use super::{failure, values};
use crate::error::StoreError;
use crate::row::Row;
use crate::sql::{Argument, DatabaseKind, Sql, Translated};
use crate::value::{Args, Value};

/// A query with its arguments.
pub(super) struct Query {
    sql: &'static Sql,
    text: &'static Translated,
    values: Vec<Value>,
    /// The accounts that it is limited to, and which argument they are.
    accounts: Option<(usize, Arc<Vec<Value>>)>,
}

impl Query {
    /// A statement over all accounts keeps to `accounts`, where there are any and it can.
    pub(super) fn new(
        sql: &'static Sql,
        args: Args,
        accounts: Option<Arc<Vec<Value>>>,
    ) -> Result<Self, StoreError> {
        let values = sql.bind(DatabaseKind::Postgres, args)?;
        Ok(match accounts.and_then(|accounts| Some((sql.of_reachable()?, accounts))) {
            Some(((text, at), accounts)) => Self { sql, text, values, accounts: Some((at, accounts)) },
            None => Self { sql, text: sql.translated(DatabaseKind::Postgres), values, accounts: None },
        })
    }

    pub(super) async fn run(&self, client: &ClientWrapper) -> Result<Vec<Row>, StoreError> {
        self.send(client, self.prepared(client).await?).await
    }

    /// Both are prepared before either is sent: a statement that this connection does not know yet would otherwise come after the
    /// other one.
    pub(super) async fn run_both(
        first: &Self,
        second: &Self,
        client: &ClientWrapper,
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        let statements = (first.prepared(client).await?, second.prepared(client).await?);
        try_join(first.send(client, statements.0), second.send(client, statements.1)).await
    }

    async fn prepared(&self, client: &ClientWrapper) -> Result<Statement, StoreError> {
        let prepared = client.prepare_cached(&self.text.text).await;
        prepared.map_err(|error| failure::of_read(self.sql.name(), error))
    }

    async fn send(&self, client: &ClientWrapper, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let sql = self.sql;
        let not_read = |error| failure::of_read(sql.name(), error);
        let sent = match &self.accounts {
            None => {
                values::check(sql, &self.values, statement.params())?;
                client.query_raw(&statement, &self.values).await
            }
            Some((at, accounts)) => {
                let mut types = statement.params().to_vec();
                types.remove(*at);
                values::check(sql, &self.values, &types)?;
                let mut arguments: Vec<Argument<'_>> = self.values.iter().map(Argument::One).collect();
                arguments.insert(*at, Argument::Each(accounts.iter().collect()));
                client.query_raw(&statement, arguments).await
            }
        };
        let columns = self.text.columns.get_or_init(|| {
            Arc::from(statement.columns().iter().map(|column| column.name().to_owned()).collect::<Vec<_>>())
        });
        let rows: Vec<tokio_postgres::Row> = sent.map_err(not_read)?.try_collect().await.map_err(not_read)?;
        rows.iter()
            .map(|row| {
                let values = (0..row.len()).map(|at| row.try_get::<_, Value>(at));
                let values = values.collect::<Result<_, _>>().map_err(not_read)?;
                Ok(Row::new(sql.name(), Arc::clone(columns), values))
            })
            .collect()
    }
}
