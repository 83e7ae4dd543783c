//! The caller of an operation: an account and the key that it authenticated with. The server checks the key.

use std::fmt;
use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, MemberId, SessionId, of};
use regente_domain::member::role::Role;
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub client_id: ClientId,
    /// The key that was sent, or the sign-in of a member.
    pub credential_id: Id<of::Credential>,
    /// What the key permits.
    pub authority: Authority,
}

/// What a key permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Everything of its account.
    SecretKey,
    /// The routes of its scopes, until it expires.
    ClientToken {
        /// The permitted groups of routes.
        scopes: Scopes,
        /// When the token expires.
        expires_at: Timestamp,
    },
    /// One session: to read it, to pay it, and what a buyer needs for that.
    SessionKey {
        /// The session.
        session_id: SessionId,
    },
    /// What the role of a member may. No request from outside has this authority: the dashboard calls the interface within the
    /// process.
    Member {
        /// Who it is.
        member_id: MemberId,
        /// What they are.
        role: Role,
    },
}

impl Caller {
    /// The caller as the author of changes.
    pub fn actor(&self) -> Actor {
        match self.authority {
            Authority::SecretKey => Actor::Key(self.credential_id),
            Authority::ClientToken { .. } => Actor::ClientToken(self.credential_id),
            Authority::SessionKey { .. } => Actor::SessionKey(self.credential_id),
            Authority::Member { member_id, .. } => Actor::Member(member_id),
        }
    }

    /// The scope of idempotency keys: all secret keys of an account share one, so that a retry after a key rotation
    /// works; each public key has its own (`docs/interface/conventions.md#idempotency`).
    pub fn idempotency_scope(&self) -> String {
        match self.authority {
            Authority::SecretKey => "secret_key".to_owned(),
            Authority::ClientToken { .. } | Authority::SessionKey { .. } => self.credential_id.to_string(),
            Authority::Member { member_id, .. } => format!("member:{member_id}"),
        }
    }

    /// Whether the key may see this session.
    pub fn sees(&self, session_id: SessionId) -> bool {
        match self.authority {
            Authority::SecretKey | Authority::ClientToken { .. } | Authority::Member { .. } => true,
            Authority::SessionKey { session_id: own } => own == session_id,
        }
    }

    /// Whether the key is embedded in a web page; it may then read less than its account may.
    pub const fn is_public_key(&self) -> bool {
        match self.authority {
            Authority::SecretKey | Authority::Member { .. } => false,
            Authority::ClientToken { .. } | Authority::SessionKey { .. } => true,
        }
    }
}

/// The id of a request in the audit trail and the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Takes the id as given.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
