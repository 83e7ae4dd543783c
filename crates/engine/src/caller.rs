//! Who asks for something: an account and the key that was shown for it. How a key is checked is the interface's.

use std::fmt;
use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, of};
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;

/// Who is calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub client_id: ClientId,
    /// The key that was sent.
    pub credential_id: Id<of::Credential>,
    /// What it may do.
    pub authority: Authority,
}

/// What a key may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Everything of its client.
    SecretKey,
    /// What its scopes open, for as long as it lives.
    ClientToken {
        /// The groups of routes.
        scopes: Scopes,
        /// The end.
        expires_at: Timestamp,
    },
}

impl Caller {
    /// The author of what this request changes.
    pub fn actor(&self) -> Actor {
        match self.authority {
            Authority::SecretKey => Actor::Key(self.credential_id),
            Authority::ClientToken { .. } => Actor::ClientToken(self.credential_id),
        }
    }

    /// Within what an idempotency key counts: the secret keys of a client share one scope, so that a retry may come
    /// after a rotation; each public key has its own (`docs/interface/conventions.md#idempotency`).
    pub fn idempotency_scope(&self) -> String {
        match self.authority {
            Authority::SecretKey => "secret_key".to_owned(),
            Authority::ClientToken { .. } => self.credential_id.to_string(),
        }
    }

    /// Whether the key sits in a web page: what it may learn is less than what its client may.
    pub const fn is_public_key(&self) -> bool {
        match self.authority {
            Authority::SecretKey => false,
            Authority::ClientToken { .. } => true,
        }
    }
}

/// The id of a request, which the audit trail and the log name it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// A request that is called so.
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
