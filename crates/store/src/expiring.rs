//! Records that nobody needs after a time: which clients have such records, and how they are deleted. Each kind names
//! its statements in its own file.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::sql::Sql;
use crate::{Store, StoreError, args};

/// The clients of the first expired records of a table, each with the time of its last record among them.
macro_rules! clients_of_first {
    ($table:literal, $whose:literal) => {
        concat!(
            "SELECT client_id, MAX(expires_at) AS until FROM (\
                SELECT client_id, expires_at FROM ",
            $table,
            " WHERE expires_at <= :now AND ",
            $whose,
            " ORDER BY expires_at LIMIT :limit) first GROUP BY client_id"
        )
    };
}
pub(crate) use clients_of_first;

/// A kind of records that expire.
pub struct Expiring {
    /// The clients of the first `:limit` records that expired by `:now`, except some (`:apart`), each with the time of its
    /// last one among them as `until`.
    pub(crate) all_but: &'static Sql,
    /// The same of one client: takes `:client_id`, `:now` and `:limit`.
    pub(crate) one: &'static Sql,
    /// Deletes those of a client, a bounded number at once: takes `:client_id`, `:now` and `:limit`.
    pub(crate) purge: &'static Sql,
}

/// A client of some of the first expired records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The client.
    pub client_id: ClientId,
    /// When the last of them expired. What is deleted up to then stands at the beginning of the index, whatever else has expired.
    pub until: Timestamp,
}

impl Expiring {
    /// The clients of the first `limit` records that expired by `now`.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn clients(
        &self,
        store: &Store,
        accounts: &Accounts,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<Expired>, StoreError> {
        let (sql, args) = match accounts {
            Accounts::AllBut(apart) => (self.all_but, args! { apart: listed(apart), now, limit }),
            Accounts::One(client_id) => (self.one, args! { client_id: *client_id, now, limit }),
        };
        let rows = store.rows(sql, args).await?;
        rows.iter()
            .map(|row| Ok(Expired { client_id: row.get("client_id")?, until: row.get("until")? }))
            .collect()
    }

    /// Deletes at most `limit` records of the batch's client that expired by `until`.
    pub fn purge(&self, batch: &mut Batch, until: Timestamp, limit: i64) {
        let client_id = batch.client_id();
        batch.push_any(self.purge, args! { client_id, now: until, limit });
    }
}
