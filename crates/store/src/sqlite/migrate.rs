//! Migrates SQLite on the write connection.

use regente_domain::time::Timestamp;
use rusqlite::{Connection, Error, params};

use super::failure;
use crate::error::StoreError;
use crate::migrate::{Applied, Migration, memory, pending, tell_of};
use crate::sql::DatabaseKind;

/// Applied migrations, oldest first; none in a new file.
pub(super) fn applied(connection: &Connection) -> Result<Vec<Applied>, StoreError> {
    if !is_begun(connection).map_err(schema)? {
        return Ok(Vec::new());
    }
    let mut statement = connection
        .prepare("SELECT version, name, checksum FROM schema_migrations ORDER BY version")
        .map_err(schema)?;
    let rows = statement
        .query_map([], |row| {
            let checksum: [u8; 16] = row.get(2)?;
            Ok(Applied {
                version: row.get(0)?,
                name: row.get(1)?,
                checksum: uuid::Uuid::from_bytes(checksum),
            })
        })
        .map_err(schema)?;
    rows.collect::<Result<_, _>>().map_err(schema)
}

/// Whether there is a table of applied migrations.
pub(super) fn is_begun(connection: &Connection) -> Result<bool, Error> {
    connection.query_row(
        "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'",
        [],
        |row| row.get(0).map(|tables: i64| tables > 0),
    )
}

/// Applies the missing migrations, each in its own transaction.
pub(super) fn migrate(
    connection: &Connection,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<(), StoreError> {
    tell_of(migrate_quietly(connection, migrations, now)?);
    Ok(())
}

/// As [`migrate`], without a line in the log. Answers how many were missing.
pub(super) fn migrate_quietly(
    connection: &Connection,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<usize, StoreError> {
    connection.execute_batch(&memory(DatabaseKind::Sqlite)).map_err(schema)?;
    let missing = pending(&applied(connection)?, migrations)?;
    for migration in missing {
        apply(connection, migration, now).map_err(|error| failure::store_error(migration.name, error))?;
        tracing::debug!(migration = migration.name, "migration applied");
    }
    Ok(missing.len())
}

fn apply(connection: &Connection, migration: &Migration, now: Timestamp) -> Result<(), Error> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(&migration.render(DatabaseKind::Sqlite))?;
    transaction.execute(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
        params![migration.version, migration.name, migration.checksum().as_bytes(), now.as_millis()],
    )?;
    transaction.commit()
}

fn schema(error: Error) -> StoreError {
    failure::store_error("schema_migrations", error)
}
