//! Records that nobody needs after a time: which clients have such records, and how they are deleted. Each kind names
//! its statements in its own file.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::sql::Sql;
use crate::{Store, StoreError, args};

/// A kind of records that expire.
pub struct Expiring {
    /// Clients with expired records, except some: takes `:now`, `:apart` and `:limit`.
    pub(crate) all_but: &'static Sql,
    /// Whether one client has any: takes `:client_id` and `:now`.
    pub(crate) one: &'static Sql,
    /// Deletes those of a client, a bounded number at once: takes `:client_id`, `:now` and `:limit`.
    pub(crate) purge: &'static Sql,
}

impl Expiring {
    /// The clients that have records which expired by `now`, at most `limit` of them.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn clients(
        &self,
        store: &Store,
        accounts: &Accounts,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<ClientId>, StoreError> {
        let (sql, args) = match accounts {
            Accounts::AllBut(apart) => (self.all_but, args! { apart: listed(apart), now, limit }),
            Accounts::One(client_id) => (self.one, args! { client_id: *client_id, now }),
        };
        let rows = store.rows(sql, args).await?;
        rows.iter().map(|row| row.get("client_id")).collect()
    }

    /// Deletes at most `limit` expired records of the batch's client.
    pub fn purge(&self, batch: &mut Batch, now: Timestamp, limit: i64) {
        let client_id = batch.client_id();
        batch.push_any(self.purge, args! { client_id, now, limit });
    }
}
