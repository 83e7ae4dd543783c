//! How the rows of accounts lie on the servers of a database.

/// How the rows of accounts lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All on one server: rows of any accounts share a statement.
    OneServer,
    /// Divided by account, so that rows of one account alone share a statement.
    ByClient,
}
