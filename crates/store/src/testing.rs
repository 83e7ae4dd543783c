//! Fresh databases of both kinds for the tests of this crate and the server.

mod administrator;
mod cluster;
mod folder;
mod port;
pub mod proxy;
mod server;
mod template;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use tempfile::TempDir;
use tokio_postgres::types::Type;
use uuid::Uuid;

pub use crate::fuse::Fuse;
pub use port::ReservedPort;
pub use server::{FreshDatabase, TestPostgres};

use crate::error::StoreError;
use crate::placement::Placement;
use crate::postgres::PostgresOptions;
use crate::sql::{Argument, DatabaseKind, Sql};
use crate::sqlite::SqliteOptions;
use crate::store::{Store, StoreOptions};
use crate::value::Value;

/// The time at which test databases are migrated.
pub const TEST_TIME: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// The name of an SQLite file in its folder.
const DATABASE_FILE: &str = "regente.db";

/// A fresh database, removed on drop.
#[derive(Debug)]
pub enum TestDatabase {
    /// A file in its own folder.
    Sqlite(TempDir),
    /// A database of a server.
    Postgres(FreshDatabase),
}

impl TestDatabase {
    /// A migrated SQLite file, in memory where there is room for it.
    pub fn fresh_sqlite() -> Self {
        Self::Sqlite(template::copy())
    }

    /// A folder on the disk for an SQLite file, which is created when it is opened.
    pub fn empty_sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A migrated database of the shared server.
    pub async fn fresh_postgres() -> Self {
        Self::Postgres(TestPostgres::fresh_database().await)
    }

    /// A migrated database of either kind.
    pub async fn fresh(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::fresh_sqlite(),
            DatabaseKind::Postgres => Self::fresh_postgres().await,
        }
    }

    /// Its options, with few readers, since many tests run at once.
    pub fn options(&self) -> StoreOptions {
        match self {
            Self::Sqlite(folder) => {
                let mut options = SqliteOptions::new(folder.path().join(DATABASE_FILE));
                options.readers = 2;
                StoreOptions::Sqlite(options)
            }
            Self::Postgres(database) => {
                let mut options = PostgresOptions::new(database.url());
                options.pool_size = 4;
                options.writers = 2;
                StoreOptions::Postgres(options)
            }
        }
    }

    /// Opens the store, migrated.
    pub async fn open(&self) -> Store {
        let store = Store::open(self.options()).await.expect("a test database opens");
        store.migrate(TEST_TIME).await.expect("a test database is migrated");
        store
    }
}

/// Runs statements outside the catalogue: tables of a test, faults.
///
/// # Errors
/// What the database says.
pub async fn run_script(store: &Store, script: &str) -> Result<(), StoreError> {
    match store {
        Store::Sqlite(store) => {
            let script = script.to_owned();
            store
                .exclusively(move |connection| {
                    connection
                        .execute_batch(&script)
                        .map_err(|error| StoreError::Programming(error.to_string()))
                })
                .await
        }
        Store::Postgres(store) => {
            let (client, _moving) = store.connect().await?;
            let done = client.batch_execute(script).await;
            done.map_err(|error| StoreError::Programming(with_source(&error)))
        }
    }
}

/// Writes a table of a test in the words of the migrations (`{uuid}`, `{json}`, …).
///
/// # Errors
/// What the database says.
pub async fn run_schema(store: &Store, schema: &'static str) -> Result<(), StoreError> {
    let migration = crate::migrate::Migration { version: 0, name: "test", text: schema };
    run_script(store, &migration.render(store.database_kind())).await
}

/// Applies made-up migrations, each a version, a name and a text, instead of those of the product.
///
/// # Errors
/// As [`Store::migrate`].
pub async fn migrate_to(
    store: &Store,
    migrations: &[(i64, &'static str, &'static str)],
) -> Result<(), StoreError> {
    let migrations: Vec<_> = migrations
        .iter()
        .map(|&(version, name, text)| crate::migrate::Migration { version, name, text })
        .collect();
    let migrations: &'static [_] = migrations.leak();
    match store {
        Store::Sqlite(store) => store.migrate_to(migrations, TEST_TIME).await,
        Store::Postgres(store) => store.migrate_to(migrations, TEST_TIME).await,
    }
}

/// Applies the first migrations of the product, as an older release does.
///
/// # Errors
/// As [`Store::migrate`].
pub async fn migrate_first(store: &Store, migrations: usize) -> Result<(), StoreError> {
    let first = &crate::migrate::MIGRATIONS[..migrations];
    match store {
        Store::Sqlite(store) => store.migrate_to(first, TEST_TIME).await,
        Store::Postgres(store) => store.migrate_to(first, TEST_TIME).await,
    }
}

/// How a distributed database runs a statement, for one row or more, for an account that is given as `client_id`: the plan of its
/// coordinator. The other arguments are any values.
///
/// # Errors
/// What the database says; [`StoreError::Programming`] on SQLite.
pub async fn distributed_plan(
    store: &Store,
    sql: &'static Sql,
    rows: usize,
    client_id: Uuid,
) -> Result<Option<String>, StoreError> {
    let Store::Postgres(store) = store else {
        return Err(StoreError::Programming("an embedded database is on one server".to_owned()));
    };
    let client = store.reader().await?;
    let one = sql.text(DatabaseKind::Postgres);
    let wrong = |error| StoreError::Programming(format!("{sql:?}: {}", with_source(&error)));
    let types: Vec<String> = {
        let prepared = client.prepare(one).await.map_err(wrong)?;
        prepared.params().iter().map(|of| of.name().to_owned()).collect()
    };
    let names = sql.argument_names(DatabaseKind::Postgres);
    let argument = |at: usize| match names[at] {
        "client_id" => format!("'{client_id}'::uuid"),
        // Any value but none, with which no row would be looked for.
        _ => match types[at].as_str() {
            "uuid" => format!("'{}'::uuid", Uuid::max()),
            "int8" => "1::int8".to_owned(),
            "jsonb" => "'[]'::jsonb".to_owned(),
            other => format!("''::{other}"),
        },
    };
    let (text, arguments) = if rows == 1 {
        (one.to_owned(), (0..names.len()).map(argument).collect::<Vec<_>>())
    } else {
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        let Some(many) = sql.many(Placement::ByClient) else { return Ok(None) };
        let values = vec![Value::Null; names.len()];
        let arguments = many.arguments(&vec![values.as_slice(); rows]);
        let own = (0..names.len()).filter(|at| !many.shared().contains(at)).collect::<Vec<_>>();
        let shown = arguments.iter().enumerate().map(|(at, given)| match given {
            // Those of further rows follow those of the first one.
            Argument::One(_) if at < names.len() => argument(at),
            Argument::One(_) => argument(own[(at - names.len()) % own.len()]),
            Argument::Each(each) => format!("ARRAY[{}]", vec![argument(at); each.len()].join(", ")),
        });
        (many.text(&types, rows), shown.collect())
    };
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let script =
        format!("PREPARE explained AS {text}; EXPLAIN EXECUTE explained{arguments}; DEALLOCATE explained");
    let messages = client
        .simple_query(&script)
        .await
        .map_err(|error| StoreError::Programming(format!("{sql:?}: {text}: {}", with_source(&error))))?;
    let mut lines = Vec::new();
    for message in &messages {
        if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
            lines.extend(row.get(0));
        }
    }
    Ok(Some(lines.join("\n")))
}

/// Whether a statement over all accounts can keep to those that can be reached.
pub fn keeps_to_the_reachable(sql: &Sql) -> bool {
    sql.of_reachable().is_some()
}

/// The hash of an account by which a distributed database divides its tables, as the store computes it.
pub fn hash_of_account(client_id: ClientId) -> i32 {
    crate::postgres::hash_of_account(client_id)
}

/// Checks that the database accepts a statement and its tables exist.
///
/// # Errors
/// What the database says.
pub async fn prepare(store: &Store, sql: &'static Sql) -> Result<(), StoreError> {
    let text = sql.text(store.database_kind());
    match store {
        Store::Sqlite(store) => {
            store
                .exclusively(move |connection| {
                    let prepared = connection.prepare(text).map(drop);
                    prepared.map_err(|error| StoreError::Programming(format!("{sql:?}: {error}")))
                })
                .await
        }
        Store::Postgres(store) => {
            let prepared = store.reader().await?.prepare(text).await;
            let statement = prepared
                .map_err(|error| StoreError::Programming(format!("{sql:?}: {}", with_source(&error))))?;
            let known = ["int8", "text", "jsonb", "bytea", "uuid"];
            let types: Vec<&str> = statement.params().iter().map(Type::name).collect();
            match types.iter().position(|wanted| !known.contains(wanted)) {
                None => {
                    let limited = sql.of_reachable().map(|(limited, _)| limited.text.clone());
                    let placements = [Placement::OneServer, Placement::ByClient];
                    let many =
                        placements.into_iter().filter_map(|placement| for_many_rows(sql, placement, &types));
                    for text in limited.into_iter().chain(many) {
                        store.reader().await?.prepare(&text).await.map(drop).map_err(|error| {
                            StoreError::Programming(format!("{sql:?}: {text}: {}", with_source(&error)))
                        })?;
                    }
                    Ok(())
                }
                Some(at) => Err(StoreError::Programming(format!(
                    "{sql:?}: :{} is taken for {}; write CAST(:{} AS BIGINT) or the like",
                    sql.argument_names(DatabaseKind::Postgres)[at],
                    types[at],
                    sql.argument_names(DatabaseKind::Postgres)[at],
                ))),
            }
        }
    }
}

/// The statement for two or more rows on PostgreSQL, with arguments of these types; `None` if it has no such form.
pub fn for_many_rows(sql: &Sql, placement: Placement, types: &[&str]) -> Option<String> {
    sql.many(placement).map(|many| many.text(types, 2))
}

/// A numeric setting of the SQLite connection that writes.
///
/// # Errors
/// What the database says; [`StoreError::Programming`] on PostgreSQL.
pub async fn writer_pragma(store: &Store, name: &'static str) -> Result<i64, StoreError> {
    let Store::Sqlite(store) = store else {
        return Err(StoreError::Programming("only SQLite has pragmas".to_owned()));
    };
    store
        .exclusively(move |connection| {
            let value = connection.pragma_query_value(None, name, |row| row.get(0));
            value.map_err(|error| StoreError::Programming(error.to_string()))
        })
        .await
}

/// The indexes created by migrations in an SQLite database, without primary keys.
///
/// # Errors
/// What the database says; [`StoreError::Programming`] on PostgreSQL.
pub async fn indexes(store: &Store) -> Result<Vec<String>, StoreError> {
    const INDEXES: &str =
        "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
    let Store::Sqlite(store) = store else {
        return Err(StoreError::Programming("only SQLite has this catalogue".to_owned()));
    };
    store
        .exclusively(|connection| {
            let names = |connection: &rusqlite::Connection| {
                connection.prepare(INDEXES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()
            };
            names(connection).map_err(|error| StoreError::Programming(error.to_string()))
        })
        .await
}

/// The query plan of a statement, as the database's text.
///
/// # Errors
/// What the database says.
pub async fn query_plan(store: &Store, sql: &'static Sql) -> Result<String, StoreError> {
    let text = sql.text(store.database_kind());
    match store {
        Store::Sqlite(store) => {
            store
                .exclusively(move |connection| {
                    let explain = |connection: &rusqlite::Connection| {
                        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}"))?;
                        // Raw: the arguments stay NULL, a plan does not depend on them.
                        let details = statement.raw_query().mapped(|row| row.get::<_, String>(3));
                        details.collect::<Result<Vec<_>, _>>()
                    };
                    let details =
                        explain(connection).map_err(|error| StoreError::Programming(error.to_string()))?;
                    Ok(details.join("\n"))
                })
                .await
        }
        Store::Postgres(store) => {
            let client = store.reader().await?;
            let names = sql.argument_names(DatabaseKind::Postgres);
            let nulls = vec!["NULL"; names.len()].join(", ");
            let arguments = if names.is_empty() { String::new() } else { format!("({nulls})") };
            let script = format!(
                "SET plan_cache_mode = force_generic_plan; PREPARE explained AS {text};
                 EXPLAIN EXECUTE explained{arguments}; DEALLOCATE explained; RESET plan_cache_mode"
            );
            let messages = client.simple_query(&script).await;
            let messages = messages.map_err(|error| StoreError::Programming(with_source(&error)))?;
            let mut lines = Vec::new();
            for message in &messages {
                if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                    lines.extend(row.get(0));
                }
            }
            Ok(lines.join("\n"))
        }
    }
}

/// The instructions of the program that SQLite makes of a statement, by their names, in order.
///
/// # Errors
/// What the database says; [`StoreError::Programming`] on PostgreSQL.
pub async fn program(store: &Store, sql: &'static Sql) -> Result<Vec<String>, StoreError> {
    let Store::Sqlite(store) = store else {
        return Err(StoreError::Programming("only SQLite makes a program of a statement".to_owned()));
    };
    let text = sql.text(DatabaseKind::Sqlite);
    store
        .exclusively(move |connection| {
            let explain = |connection: &rusqlite::Connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN {text}"))?;
                // Raw: the arguments stay NULL, a program does not depend on them.
                statement.raw_query().mapped(|row| row.get(1)).collect::<Result<_, _>>()
            };
            explain(connection).map_err(|error| StoreError::Programming(error.to_string()))
        })
        .await
}

fn with_source(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
