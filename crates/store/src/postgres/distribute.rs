//! Distributes the tables by client over the servers of a database that the extension `citus` spreads: a coordinator and its
//! workers.
//!
//! Where a table lies follows from what it is. Rows of an account lie by its `client_id`, those of one account together on one
//! worker. [`WHOLE`] tables are small, and each worker has them whole. The others stay on the coordinator: they are about the
//! database itself.

use tokio_postgres::Client;

use super::failure;
use crate::error::StoreError;
use crate::placement::WHOLE;

/// A database without the extension has no such catalog.
const IS_DISTRIBUTED: &str =
    "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AND to_regclass('clients') IS NOT NULL";
const HAS_DISTRIBUTED_TABLES: &str = "
    SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('clients'))";
const WORKERS: &str = "
    SELECT COUNT(*) FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0";
/// The tables that do not lie where they should yet, those that are whole first: the others may be joined to them.
pub(super) const MISSING: &str = "
    SELECT relname::text, relname::text = ANY ($1) AS is_whole
    FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND (relname::text = ANY ($1) OR EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'client_id' AND NOT attisdropped))
        AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = pg_class.oid)
    ORDER BY is_whole DESC, relname";
/// A table of accounts that lies by client already: rows of one account lie beside its rows.
const NEIGHBOUR: &str = "
    SELECT relname::text FROM pg_class JOIN pg_dist_partition ON logicalrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND partmethod = 'h' ORDER BY relname LIMIT 1";
const MAKE_WHOLE: &str = "SELECT create_reference_table($1::text::regclass)";
const BY_CLIENT: &str =
    "SELECT create_distributed_table($1::text::regclass, 'client_id', colocate_with => $2)";
/// Distributed tables of which the coordinator still has the rows that it had before.
const WITH_LOCAL_ROWS: &str = "
    SELECT relname::text FROM pg_class JOIN pg_dist_partition ON logicalrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND pg_relation_size(pg_class.oid) > 0 ORDER BY relname";
/// The workers have these rows now. Nothing would change or delete them here, such as keys that are destroyed.
const DROP_LOCAL_ROWS: &str = "SELECT truncate_local_data_after_distributing_table($1::text::regclass)";
/// A rebalancing that an earlier command has started.
const RUNNING: &str = "
    SELECT MAX(job_id) FROM pg_dist_background_job
    WHERE job_type = 'rebalance' AND state::text NOT IN ('finished', 'cancelled', 'failed')";
const MOVES: &str = "SELECT COUNT(*) FROM get_rebalance_table_shards_plan()";
/// Moves groups of shards one after the other while they are read and written.
const REBALANCE: &str = "SELECT citus_rebalance_start()";
const REBALANCING: &str = "
    SELECT COUNT(*) FILTER (WHERE status IN ('done', 'cancelled', 'error')), COUNT(*),
        COUNT(*) FILTER (WHERE status IN ('cancelled', 'error'))
    FROM pg_dist_background_task WHERE job_id = $1";

/// How often the progress of a rebalancing is read.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_secs(1);

/// Entries of the ledger have a trigger that refuses changes; it reads nothing but its own row, so it works on each worker.
/// One connection to each worker after the other: what a transaction has changed in one table is seen when the next is made.
pub(super) const SETTINGS: &str =
    "SET citus.enable_unsafe_triggers = on; SET citus.multi_shard_modify_mode = 'sequential'";

/// What is done when a database is distributed, as it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distributing {
    /// A table lies where it should now.
    Table {
        /// Its name.
        table: String,
        /// Which it is of those that did not, from 1.
        nth: usize,
        /// How many did not.
        of: usize,
    },
    /// Shards move to workers that have fewer.
    Rebalancing {
        /// Groups of shards that have moved.
        moved: i64,
        /// Groups that move in all.
        of: i64,
    },
}

/// Whether tables of this database lie on several servers.
pub(super) async fn is_distributed(client: &Client) -> Result<bool, StoreError> {
    let has = async |sql| client.query_one(sql, &[]).await.and_then(|row| row.try_get(0));
    Ok(has(IS_DISTRIBUTED).await.map_err(failed)? && has(HAS_DISTRIBUTED_TABLES).await.map_err(failed)?)
}

/// Distributes the tables that are not yet. What is there already stays, so it can be repeated.
pub(super) async fn distribute(
    client: &Client,
    told: &(dyn Fn(Distributing) + Sync),
) -> Result<(), StoreError> {
    require_workers(client).await?;
    client.batch_execute(SETTINGS).await.map_err(failed)?;
    let missing = client.query(MISSING, &[&WHOLE.as_slice()]).await.map_err(failed)?;
    for (at, row) in missing.iter().enumerate() {
        let table: String = row.try_get(0).map_err(failed)?;
        if row.try_get(1).map_err(failed)? {
            client.execute(MAKE_WHOLE, &[&table]).await.map_err(failed)?;
        } else {
            let neighbour = client.query_opt(NEIGHBOUR, &[]).await.map_err(failed)?;
            let neighbour: String =
                neighbour.map_or(Ok("none".to_owned()), |row| row.try_get(0)).map_err(failed)?;
            client.execute(BY_CLIENT, &[&table, &neighbour]).await.map_err(failed)?;
        }
        told(Distributing::Table { table, nth: at + 1, of: missing.len() });
    }
    // Also what a command left behind that was interrupted.
    for row in client.query(WITH_LOCAL_ROWS, &[]).await.map_err(failed)? {
        let table: String = row.try_get(0).map_err(failed)?;
        client.execute(DROP_LOCAL_ROWS, &[&table]).await.map_err(failed)?;
    }
    Ok(())
}

/// Moves shards to workers that have fewer, while they are read and written; nothing where they lie evenly. Where an earlier command
/// has started that, this one waits for its end first.
pub(super) async fn rebalance(
    client: &Client,
    told: &(dyn Fn(Distributing) + Sync),
) -> Result<(), StoreError> {
    let running: Option<i64> =
        client.query_one(RUNNING, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    if let Some(job) = running {
        until_moved(client, job, told).await?;
    }
    let moves: i64 = client.query_one(MOVES, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    if moves == 0 {
        return Ok(());
    }
    let job: i64 = client.query_one(REBALANCE, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    until_moved(client, job, told).await
}

async fn until_moved(
    client: &Client,
    job: i64,
    told: &(dyn Fn(Distributing) + Sync),
) -> Result<(), StoreError> {
    loop {
        let row = client.query_one(REBALANCING, &[&job]).await.map_err(failed)?;
        let count = |at: usize| row.try_get::<_, i64>(at).map_err(failed);
        let (ended, of, lost) = (count(0)?, count(1)?, count(2)?);
        told(Distributing::Rebalancing { moved: ended - lost, of });
        if lost > 0 {
            return Err(StoreError::Configuration(format!(
                "{lost} of {of} groups of shards could not be moved; pg_dist_background_task tells why, and `regente migrate --distributed` goes on"
            )));
        }
        if ended == of {
            return Ok(());
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn require_workers(client: &Client) -> Result<(), StoreError> {
    let knows = client.query_one("SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL", &[]).await;
    if !knows.and_then(|row| row.try_get(0)).map_err(failed)? {
        return Err(StoreError::Configuration(
            "it has no extension citus; install it on each server and run CREATE EXTENSION citus in this database".to_owned(),
        ));
    }
    let workers: i64 = client.query_one(WORKERS, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    if workers == 0 {
        return Err(StoreError::Configuration(
            "it has no workers; add them with citus_set_coordinator_host and citus_add_node".to_owned(),
        ));
    }
    Ok(())
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    failure::store_error("distribution", error)
}
