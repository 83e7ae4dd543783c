//! Who changed something: every change carries its actor.

use std::fmt;

use crate::id::{Id, MemberId, of};

/// The author of a change. Its text form, for example `key:0190…`, is what the audit trail stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A secret key of the client.
    Key(Id<of::Credential>),
    /// A client token.
    ClientToken(Id<of::Credential>),
    /// The key of a session, in the page of a buyer.
    SessionKey(Id<of::Credential>),
    /// A member, in the dashboard.
    Member(MemberId),
    /// A job that was due, by its kind.
    Job(&'static str),
    /// An operator at the command line.
    Operator,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "key:{id}"),
            Self::ClientToken(id) => write!(f, "client_token:{id}"),
            Self::SessionKey(id) => write!(f, "session_key:{id}"),
            Self::Member(id) => write!(f, "member:{id}"),
            Self::Job(kind) => write!(f, "job:{kind}"),
            Self::Operator => f.write_str("operator"),
        }
    }
}
