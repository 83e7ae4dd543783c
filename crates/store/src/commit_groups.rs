//! How a database divides its commits among clients.

/// Which batches share a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitGroups {
    /// Any: the fewest commits on one server.
    Mixed,
    /// Those of one client: for a database distributed by client, where a transaction may touch only one.
    ByClient,
}
