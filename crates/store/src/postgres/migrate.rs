//! Migrates PostgreSQL; any number of nodes may start at once. A distributed database stays distributed: its new tables are too.

use regente_domain::time::Timestamp;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::{distribute, failure};
use crate::error::StoreError;
use crate::migrate::{Applied, Migration, memory, pending, statements, tell_of};
use crate::sql::DatabaseKind;
use crate::value::Value;

/// The advisory lock for migrating. It only avoids work: if it fails, the primary key of `schema_migrations` decides.
const LOCK: &str = "SELECT pg_advisory_lock(7235399201)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(7235399201)";
const IS_THERE: &str = "SELECT to_regclass('schema_migrations') IS NOT NULL";
const APPLIED: &str = "SELECT version, name, checksum FROM schema_migrations ORDER BY version";
const RECORD: &str =
    "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/// Applied migrations, oldest first; none in a new database.
pub(super) async fn applied(client: &Client) -> Result<Vec<Applied>, StoreError> {
    let is_there: bool =
        client.query_one(IS_THERE, &[]).await.and_then(|row| row.try_get(0)).map_err(schema)?;
    if !is_there {
        return Ok(Vec::new());
    }
    let rows = client.query(APPLIED, &[]).await.map_err(schema)?;
    rows.iter()
        .map(|row| match row.try_get(2).map_err(schema)? {
            Value::Uuid(checksum) => Ok(Applied {
                version: row.try_get(0).map_err(schema)?,
                name: row.try_get(1).map_err(schema)?,
                checksum,
            }),
            other @ (Value::Null | Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Blob(_)) => {
                Err(StoreError::Corrupt(format!("schema_migrations: a checksum is {}", other.kind())))
            }
        })
        .collect()
}

/// Applies the missing migrations, each in its own transaction. The connection is used for nothing else.
pub(super) async fn migrate(
    client: &mut Client,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<(), StoreError> {
    if let Err(error) = client.batch_execute(LOCK).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "migrating without the advisory lock");
    }
    let done = apply_to_all_servers(client, migrations, now).await;
    // The end of the connection also releases the lock.
    drop(client.batch_execute(UNLOCK).await);
    done
}

async fn apply_to_all_servers(
    client: &mut Client,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<(), StoreError> {
    let is_distributed = distribute::is_distributed(client).await?;
    if is_distributed {
        client.batch_execute(distribute::SETTINGS).await.map_err(schema)?;
    }
    apply_pending(client, migrations, now).await?;
    // Also what a migration left behind whose process stopped here.
    if is_distributed { distribute::distribute(client, &|_| ()).await } else { Ok(()) }
}

/// Distributes the tables of a database that is migrated, and moves shards to workers that have fewer. It waits for a migration
/// that is under way; none waits for the shards.
pub(super) async fn distribute_all(
    client: &Client,
    told: &(dyn Fn(distribute::Distributing) + Sync),
) -> Result<(), StoreError> {
    client.batch_execute(LOCK).await.map_err(schema)?;
    let distributed = distribute::distribute(client, told).await;
    drop(client.batch_execute(UNLOCK).await);
    distributed?;
    distribute::rebalance(client, told).await
}

async fn apply_pending(
    client: &mut Client,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<(), StoreError> {
    remember_migrations(client).await?;
    // The slower node finds the other's row and checks again.
    let mut done = 0;
    while let Some(migration) = pending(&applied(client).await?, migrations)?.first() {
        match apply(client, migration, now).await {
            Ok(()) => {
                done += 1;
                tracing::debug!(migration = migration.name, "migration applied");
            }
            Err(Refused::ByAnotherNode) => {
                tracing::debug!(migration = migration.name, "migration applied by another node");
            }
            Err(Refused::ByDatabase(error)) => return Err(failure::store_error(migration.name, error)),
        }
    }
    tell_of(done);
    Ok(())
}

async fn remember_migrations(client: &Client) -> Result<(), StoreError> {
    match client.batch_execute(&memory(DatabaseKind::Postgres)).await {
        Ok(()) => Ok(()),
        // Two nodes ran `IF NOT EXISTS` at once: it checks before it creates.
        Err(error)
            if [Some(&SqlState::UNIQUE_VIOLATION), Some(&SqlState::DUPLICATE_TABLE)]
                .contains(&error.code()) =>
        {
            Ok(())
        }
        Err(error) => Err(schema(error)),
    }
}

enum Refused {
    ByAnotherNode,
    ByDatabase(Error),
}

async fn apply(client: &mut Client, migration: &Migration, now: Timestamp) -> Result<(), Refused> {
    let transaction = client.transaction().await.map_err(Refused::ByDatabase)?;
    let checksum = Value::Uuid(migration.checksum());
    let recorded = transaction
        .execute(RECORD, &[&migration.version, &migration.name, &checksum, &now.as_millis()])
        .await;
    match recorded {
        Ok(_) => {}
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            return Err(Refused::ByAnotherNode);
        }
        Err(error) => return Err(Refused::ByDatabase(error)),
    }
    // One by one: a distributed database takes no CREATE INDEX among others in one text.
    for statement in statements(&migration.render(DatabaseKind::Postgres)) {
        transaction.batch_execute(statement).await.map_err(Refused::ByDatabase)?;
    }
    transaction.commit().await.map_err(Refused::ByDatabase)
}

fn schema(error: Error) -> StoreError {
    failure::store_error("schema_migrations", error)
}
