//! Which accounts are meant where rows of many are looked through by one time.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::sql::Sql;
use crate::value::Json;
use crate::{Store, StoreError, args};

/// Accounts that share a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accounts {
    /// All but these, each of which has a time of its own. Usually there are none of them.
    AllBut(Vec<ClientId>),
    /// This one.
    One(ClientId),
}

/// Accounts as an argument for `EACH_UUID`.
pub(crate) fn listed(accounts: &[ClientId]) -> Option<Json> {
    Json::list(Some(accounts), ClientId::to_string)
}

/// The clients that have rows which expired by `now`. `all_but` reads those of all accounts but some, `one` looks at one
/// account.
pub(crate) async fn clients_with_expired(
    store: &Store,
    accounts: &Accounts,
    (all_but, one): (&'static Sql, &'static Sql),
    now: Timestamp,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => (all_but, args! { apart: listed(apart), now, limit }),
        Accounts::One(client_id) => (one, args! { client_id: *client_id, now }),
    };
    let rows = store.rows(sql, args).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}
