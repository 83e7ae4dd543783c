//! How the rows of accounts lie on the servers of a database.

/// How the rows of accounts lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All on one server: rows of any accounts share a statement.
    OneServer,
    /// Divided by account, so that rows of one account alone share a statement.
    ByClient,
}

/// The tables that each server of a distributed database has whole: what is looked up before an account is known, or joined to rows of
/// any account.
pub(crate) const WHOLE: [&str; 4] = ["clients", "data_keys", "members", "member_keys"];
