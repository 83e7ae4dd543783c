//! Which accounts are meant where rows of many are looked through by one time.

use regente_domain::id::ClientId;

use crate::value::Json;

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
