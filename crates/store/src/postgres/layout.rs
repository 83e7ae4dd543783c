//! Tells what lies on which server of a distributed database.

use tokio_postgres::Client;

use super::distribute::{self, MISSING};
use super::failure;
use crate::error::StoreError;
use crate::placement::WHOLE;

const SERVERS: &str = "
    SELECT nodename || ':' || nodeport, groupid,
        (SELECT COUNT(*) FROM pg_dist_placement WHERE pg_dist_placement.groupid = pg_dist_node.groupid),
        COALESCE(citus_check_connection_to_node(nodename, nodeport), FALSE)
    FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid";
/// For a server that hangs.
const CONNECT_TIME_MAX: &str = "SET citus.node_connection_timeout = 3000";
const TABLES: &str = "
    SELECT COUNT(*) FILTER (WHERE partmethod = 'h'), COUNT(*) FILTER (WHERE partmethod = 'n') FROM pg_dist_partition";

/// What lies on which server of a distributed database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The coordinator first.
    pub servers: Vec<Server>,
    /// How many tables lie by account.
    pub by_client: i64,
    /// How many tables each server has whole.
    pub whole: i64,
    /// The tables that lie where they should not: on the coordinator alone.
    pub missing: Vec<String>,
}

/// A server of a distributed database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its host and port, as the coordinator knows them.
    pub address: String,
    /// Its number: 0 is the coordinator, whose address applications are given.
    pub number: i32,
    /// How many shards, and copies of tables that each server has whole, lie on it.
    pub shards: i64,
    /// Whether the coordinator could connect to it.
    pub is_reachable: bool,
}

/// `None` for a database on one server.
pub(super) async fn layout(client: &Client) -> Result<Option<Layout>, StoreError> {
    if !distribute::is_distributed(client).await? {
        return Ok(None);
    }
    client.batch_execute(CONNECT_TIME_MAX).await.map_err(failed)?;
    let rows = client.query(SERVERS, &[]).await.map_err(failed)?;
    let servers = rows.iter().map(|row| {
        Ok(Server {
            address: row.try_get(0)?,
            number: row.try_get(1)?,
            shards: row.try_get(2)?,
            is_reachable: row.try_get(3)?,
        })
    });
    let servers = servers.collect::<Result<_, _>>().map_err(failed)?;
    let tables = client.query_one(TABLES, &[]).await.map_err(failed)?;
    let missing = client.query(MISSING, &[&WHOLE.as_slice()]).await.map_err(failed)?;
    let missing = missing.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed)?;
    let count = |at| tables.try_get(at).map_err(failed);
    Ok(Some(Layout { servers, by_client: count(0)?, whole: count(1)?, missing }))
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    failure::store_error("layout", error)
}
