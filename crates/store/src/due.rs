//! Which accounts have something due, at a cost that neither what waits nor what is due decides.
//!
//! A look reads the first [`ROWS_MAX`] due rows in the order of their time. Usually that is all, and their accounts are all that
//! have something due. While more is due, an account may have its rows behind those of another. Then the look also searches
//! some accounts, by their ids, each with one step into an index that begins with the account, and the next look goes on
//! behind them: everybody has a turn, however much one account has to do. Each is a statement of its own, since a database that
//! is distributed by client takes no subquery that depends on a row of `clients`, which every node keeps whole.

use std::collections::BTreeSet;

use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::sql::Sql;
use crate::value::Args;
use crate::{Store, StoreError, clients};

/// Most due rows of one kind that a look reads.
pub const ROWS_MAX: i64 = 1_000;
/// Most accounts that a look searches while more is due than it reads.
pub const SEARCHED_MAX: i64 = 50;
/// The number at which counts of what is due end, so that a backlog does not make them slow.
pub const COUNTED_MAX: i64 = 10_000;

/// The accounts that a look has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Accounts with something due, by id.
    pub clients: Vec<ClientId>,
    /// Absent when no other account has anything due. Otherwise the accounts from the one with which the look began up to this
    /// one, without it, were searched; of the others, some may be missing.
    pub searched_to: Option<ClientId>,
}

/// The id behind those of all accounts.
pub const END: ClientId = Id::new(Uuid::max());

/// The statements of a look.
pub(crate) struct Look {
    /// The accounts of the first due rows, each with their number as `n`: takes `:now` and `:rows`.
    pub(crate) first: &'static Sql,
    /// The time of the first row of an account as `due_at`: takes `:client_id`.
    pub(crate) of_one: &'static Sql,
}

impl Look {
    /// Looks for what is due at `now`; a search begins with the account `from`. Both statements take `args` too.
    pub(crate) async fn take(
        &self,
        store: &Store,
        args: Args,
        now: Timestamp,
        from: ClientId,
    ) -> Result<Found, StoreError> {
        let rows = store.rows(self.first, args.clone().with("now", now).with("rows", ROWS_MAX)).await?;
        let (mut found, mut read) = (BTreeSet::new(), 0);
        for row in &rows {
            found.insert(row.get("client_id")?);
            read += row.get::<i64>("n")?;
        }
        if read < ROWS_MAX {
            return Ok(Found { clients: found.into_iter().collect(), searched_to: None });
        }
        if from.uuid().is_nil() && store.can_reach(from) {
            // The deployment has no row among the accounts.
            found.insert(from);
        }
        let page = clients::ids_from(store, from, SEARCHED_MAX).await?;
        let is_last = i64::try_from(page.len()).unwrap_or(i64::MAX) < SEARCHED_MAX;
        let searched_to = page.last().filter(|_| !is_last).map_or(END, |last| after(*last));
        for client_id in page.into_iter().filter(|client_id| store.can_reach(*client_id)) {
            let first = store.row(self.of_one, args.clone().with("client_id", client_id)).await?;
            if first.map_or(Ok(None), |row| row.get("due_at"))?.is_some_and(|due_at: Timestamp| due_at <= now)
            {
                found.insert(client_id);
            }
        }
        Ok(Found { clients: found.into_iter().collect(), searched_to: Some(searched_to) })
    }
}

/// The next id after that of an account.
pub const fn after(client_id: ClientId) -> ClientId {
    Id::new(Uuid::from_u128(client_id.uuid().as_u128().wrapping_add(1)))
}
