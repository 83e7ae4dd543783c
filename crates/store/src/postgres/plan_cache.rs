//! Whether a server may keep the plans of prepared statements.
//!
//! Some releases of the extension (12.1.11, 13.2.1, 14.0.0 and those after them, until its pull request 8824) plan a prepared statement
//! anew at each execution on a worker and keep every plan: tens of megabytes a second under load. On those each execution is
//! planned for itself, which costs as much processor and keeps nothing. No table of the server tells which release has the mistake,
//! so it is looked for.

use regente_domain::id::ClientId;

use super::connector::Connector;
use super::failure;
use super::worker::LOOK;
use crate::error::StoreError;
use crate::value::Value;

/// Whether plans are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanCache {
    /// As PostgreSQL does by itself.
    Kept,
    /// Each execution is planned for itself.
    Off,
}

/// PostgreSQL plans the first five for themselves, and the extension keeps a plan from the seventh on.
const EXECUTIONS: usize = 12;
/// The message of the extension when it keeps a plan (`GetLocalShardQueryForCache`).
const KEEPS_ONE: &str = "Local shard query that is going to be cached";
/// Plans that a server without the mistake keeps of one statement for one shard, and one to spare.
const KEPT_MAX: usize = 2;

impl PlanCache {
    /// What a worker allows, found by reading of an account that it has.
    pub(super) async fn of(connector: &Connector, client_id: ClientId) -> Result<Self, StoreError> {
        let told = connector.notices(async |client| {
            let statement = client.prepare(LOOK).await?;
            client.batch_execute("SET client_min_messages = debug5").await?;
            for _ in 0..EXECUTIONS {
                client.query_opt(&statement, &[&Value::from(client_id)]).await?;
            }
            Ok(())
        });
        let told = told.await.map_err(|error| failure::store_error("plan cache", error))?;
        let kept = told.iter().filter(|notice| notice.message().starts_with(KEEPS_ONE)).count();
        // Where it has kept none, nothing was tried.
        Ok(if (1..=KEPT_MAX).contains(&kept) { Self::Kept } else { Self::Off })
    }

    /// What a connection sets for it.
    pub(super) const fn setting(self) -> &'static str {
        match self {
            Self::Kept => "",
            Self::Off => "SET plan_cache_mode = force_custom_plan",
        }
    }
}
