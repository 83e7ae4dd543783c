//! Client tokens, the public keys of front ends (`docs/interface/auth.md#client-tokens`), and the digest by which every key is
//! found. The server checks keys and caches them: whoever revokes one has it forgotten there.

use std::time::Duration;

use regente_domain::id::{Id, of};
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::audit::{self, AuditEntry};
use regente_store::credentials::{self, CredentialDigest, CredentialKind, NewCredential};
use uuid::Uuid;

use crate::app::App;
use crate::caller::{Authority, Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};
use crate::vault::sha256;

/// The SHA-256 by which a key is found. Keys are long and random, so a slower hash would add no protection.
pub fn digest(key: &str) -> CredentialDigest {
    sha256(&[key.as_bytes()])
}

/// The most that a caller may grant (`docs/interface/auth.md#client-tokens`).
pub struct Limits {
    now: Timestamp,
    scopes: Scopes,
    expires_at: Timestamp,
}

impl Limits {
    /// Those of a caller at this moment.
    pub fn of(app: &App, caller: &Caller) -> Self {
        let now = app.clock.of(caller.client_id);
        let longest = now + app.settings.client_token_life_max;
        match &caller.authority {
            Authority::SecretKey => Self { now, scopes: Scopes::All, expires_at: longest },
            Authority::ClientToken { scopes, expires_at } => {
                Self { now, scopes: scopes.clone(), expires_at: longest.min(*expires_at) }
            }
            // Members make no keys.
            Authority::SessionKey { .. } | Authority::Member { .. } => {
                Self { now, scopes: Scopes::of([]), expires_at: now }
            }
        }
    }

    /// The longest lifetime in whole seconds.
    pub fn life_max(&self) -> u64 {
        self.expires_at.since(self.now).as_secs()
    }

    /// Whether the caller may call as much themselves.
    pub fn allow(&self, scopes: &Scopes) -> bool {
        scopes.is_within(&self.scopes)
    }
}

/// A client token that is asked for.
pub struct NewClientToken {
    /// What it may call, within the [`Limits`].
    pub scopes: Scopes,
    /// Its life in seconds, within the [`Limits`]; `None` for the longest lifetime.
    pub life: Option<u64>,
}

/// A client token in the clear; only the digest of its key is stored.
pub struct ClientToken {
    /// The key.
    pub public_key: Uuid,
    /// Its life in seconds.
    pub life: u64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A new client token, and the batch that writes it. Each plan draws another key.
pub fn plan_client_token(
    app: &App,
    caller: &Caller,
    limits: &Limits,
    new: &NewClientToken,
) -> (Batch, ClientToken) {
    let public_key = app.chance.uuid();
    let id: Id<of::Credential> = app.chance.id(limits.now);
    let expires_at = new.life.map_or(limits.expires_at, |life| limits.now + Duration::from_secs(life));
    let mut batch = Batch::new(caller.client_id);
    credentials::insert(
        &mut batch,
        &NewCredential {
            digest: digest(&public_key.to_string()),
            id,
            kind: CredentialKind::ClientToken,
            label: String::new(),
            scopes: new.scopes.clone(),
            session_id: None,
            expires_at: Some(expires_at),
            actor: caller.actor(),
        },
    );
    // Never 0, which would mean the longest lifetime.
    let life = new.life.unwrap_or(limits.life_max()).max(1);
    (batch, ClientToken { public_key, life, created_at: id.created_at() })
}

/// Revokes a client token. One that is revoked already stays so.
///
/// # Errors
/// [`Error::NotFound`] when the account has no such client token.
pub async fn revoke_client_token(
    app: &App,
    caller: &Caller,
    request_id: Option<&RequestId>,
    public_key: Uuid,
) -> Result<(), Error> {
    // The key's stored spelling.
    let digest = digest(&public_key.to_string());
    races::change(|| async {
        let found = credentials::look_up(&app.store, caller.client_id, &digest).await?;
        let token = found
            .and_then(|found| found.credential)
            .filter(|credential| credential.kind == CredentialKind::ClientToken)
            .ok_or(Error::NotFound)?;
        if token.revoked_at.is_some() {
            return Ok(Changed::Already(()));
        }
        let now = app.clock.of(caller.client_id);
        let mut batch = Batch::new(caller.client_id);
        credentials::revoke_client_token(&mut batch, &digest, now);
        audit::record(
            &mut batch,
            AuditEntry {
                id: app.chance.id(now),
                actor: caller.actor(),
                action: "client_token.revoked",
                object_kind: "credential",
                object_id: token.id.uuid(),
                request_id: request_id.map(|id| id.as_str().to_owned()),
            },
        );
        Ok(Changed::Written(app.store.apply(batch).await?, ()))
    })
    .await
}
