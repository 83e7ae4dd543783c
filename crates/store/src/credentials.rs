//! Stores secret keys, client tokens and session keys by the digest of what the caller sends; the key itself is not stored. The
//! server decides whether a credential may make a request.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, SessionId, of};
use regente_domain::scope::{Scope, Scopes};
use regente_domain::time::Timestamp;

use crate::accounts::{Accounts, listed};
use crate::clients::ClientStatus;
use crate::{Batch, Row, Store, StoreError, args, sql};

sql! {
    /// Adds a credential.
    pub INSERT_CREDENTIAL = "
        INSERT INTO credentials (digest, client_id, id, kind, label, scopes, session_id, expires_at, actor)
        VALUES (:digest, :client_id, :id, :kind, :label, :scopes, :session_id, :expires_at, :actor)";
    /// A client and its credential of this digest, if it has one.
    pub FIND_CREDENTIAL = "
        SELECT c.status AS client_status, k.digest, k.id, k.kind, k.label, k.scopes, k.session_id,
            k.expires_at, k.revoked_at, k.last_used_day
        FROM clients c LEFT JOIN credentials k ON k.client_id = :client_id AND k.digest = :digest
        WHERE c.id = :client_id";
    /// The secret keys of a client, oldest first.
    pub SECRET_KEYS_OF_CLIENT = "
        SELECT digest, id, kind, label, scopes, session_id, expires_at, revoked_at, last_used_day
        FROM credentials WHERE client_id = :client_id AND kind = 'secret_key' ORDER BY id";
    /// Revokes a secret key.
    pub REVOKE_SECRET_KEY = "
        UPDATE credentials SET revoked_at = :revoked_at
        WHERE client_id = :client_id AND id = :id AND kind = 'secret_key' AND revoked_at IS NULL";
    /// Revokes a client token.
    pub REVOKE_CLIENT_TOKEN = "
        UPDATE credentials SET revoked_at = :revoked_at
        WHERE digest = :digest AND client_id = :client_id AND kind = 'client_token' AND revoked_at IS NULL";
    /// Records the day of use; a day already recorded is not written again.
    pub MARK_CREDENTIAL_USED = "
        UPDATE credentials SET last_used_day = :day
        WHERE digest = :digest AND client_id = :client_id AND (last_used_day IS NULL OR last_used_day < :day)";
    /// Credentials that ended before a time: of all clients but some.
    pub ENDED_CREDENTIALS = "
        SELECT digest, client_id FROM credentials
        WHERE REACHABLE(client_id) AND expires_at IS NOT NULL AND expires_at < :before AND client_id NOT IN EACH_UUID(:apart)
        ORDER BY expires_at, client_id LIMIT :limit";
    /// The same of one client.
    pub ENDED_CREDENTIALS_OF = "
        SELECT digest, client_id FROM credentials
        WHERE client_id = :client_id AND expires_at IS NOT NULL AND expires_at < :before
        ORDER BY expires_at LIMIT :limit";
    /// Forgets a credential that ended.
    pub DELETE_ENDED_CREDENTIAL = "
        DELETE FROM credentials WHERE digest = :digest AND client_id = :client_id AND expires_at < :before";
}

/// SHA-256 of what the caller sends in `X-Api-Key`.
pub type CredentialDigest = [u8; 32];

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// May do everything for its client; stays on servers.
    SecretKey,
    /// A public key with scopes and an expiry.
    ClientToken,
    /// A public key of one session.
    SessionKey,
}

impl CredentialKind {
    const fn word(self) -> &'static str {
        match self {
            Self::SecretKey => "secret_key",
            Self::ClientToken => "client_token",
            Self::SessionKey => "session_key",
        }
    }

    fn parse(word: &str) -> Result<Self, StoreError> {
        match word {
            "secret_key" => Ok(Self::SecretKey),
            "client_token" => Ok(Self::ClientToken),
            "session_key" => Ok(Self::SessionKey),
            _ => Err(StoreError::Corrupt("credentials.kind".to_owned())),
        }
    }
}

/// A credential to add.
#[derive(Clone, Debug)]
pub struct NewCredential {
    /// The digest that finds it.
    pub digest: CredentialDigest,
    /// Its id in the audit trail; not secret.
    pub id: Id<of::Credential>,
    /// Its kind.
    pub kind: CredentialKind,
    /// The operator's note about it.
    pub label: String,
    /// What it may call; [`Scopes::All`] for secret keys.
    pub scopes: Scopes,
    /// The session that it pays; set for session keys alone.
    pub session_id: Option<SessionId>,
    /// When it expires; always set for client tokens.
    pub expires_at: Option<Timestamp>,
    /// Who created it.
    pub actor: Actor,
}

/// A stored credential. Its time of creation is that of its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The digest that finds it.
    pub digest: CredentialDigest,
    /// Its id in the audit trail.
    pub id: Id<of::Credential>,
    /// Its kind.
    pub kind: CredentialKind,
    /// The operator's note about it.
    pub label: String,
    /// What it may call.
    pub scopes: Scopes,
    /// The session that it pays.
    pub session_id: Option<SessionId>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The last day of use, in days since the epoch.
    pub last_used_day: Option<i64>,
}

/// The result of looking up a client id and a digest.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Whether the client may use the interface.
    pub client_status: ClientStatus,
    /// The credential, if the client has it.
    pub credential: Option<Credential>,
}

/// Adds a credential to the client of the batch.
pub fn insert(batch: &mut Batch, credential: &NewCredential) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_CREDENTIAL,
        args! {
            digest: credential.digest,
            client_id,
            id: credential.id,
            kind: credential.kind.word(),
            label: credential.label.clone(),
            scopes: scopes_text(&credential.scopes),
            session_id: credential.session_id,
            expires_at: credential.expires_at,
            actor: credential.actor.to_string(),
        },
    );
}

/// Looks up a client and one of its credentials in one query. `None` when there is no such client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn look_up(
    store: &Store,
    client_id: ClientId,
    digest: &CredentialDigest,
) -> Result<Option<Lookup>, StoreError> {
    let Some(row) = store.row(&FIND_CREDENTIAL, args! { client_id, digest: *digest }).await? else {
        return Ok(None);
    };
    let found: Option<&[u8]> = row.get("digest")?;
    Ok(Some(Lookup {
        client_status: ClientStatus::parse(row.get("client_status")?)?,
        credential: found.map(|_| from_row(&row)).transpose()?,
    }))
}

/// Every secret key of a client, also revoked ones, oldest first.
///
/// # Errors
/// As [`look_up`].
pub async fn secret_keys(store: &Store, client_id: ClientId) -> Result<Vec<Credential>, StoreError> {
    store.rows(&SECRET_KEYS_OF_CLIENT, args! { client_id }).await?.iter().map(from_row).collect()
}

/// Revokes a secret key of the batch's client; refused when it has no such active key.
pub fn revoke_secret_key(batch: &mut Batch, id: Id<of::Credential>, revoked_at: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&REVOKE_SECRET_KEY, args! { client_id, id, revoked_at });
}

/// Revokes a client token of the batch's client; refused when it has no such active token.
pub fn revoke_client_token(batch: &mut Batch, digest: &CredentialDigest, revoked_at: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&REVOKE_CLIENT_TOKEN, args! { digest: *digest, client_id, revoked_at });
}

/// Records that a credential of the batch's client was used on `day`, in days since the epoch.
pub fn mark_used(batch: &mut Batch, digest: &CredentialDigest, day: i64) {
    let client_id = batch.client_id();
    batch.push_any(&MARK_CREDENTIAL_USED, args! { digest: *digest, client_id, day });
}

/// At most `limit` credentials that ended before a time, with their clients.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn ended(
    store: &Store,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<(ClientId, CredentialDigest)>, StoreError> {
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => (&ENDED_CREDENTIALS, args! { apart: listed(apart), before, limit }),
        Accounts::One(client_id) => (&ENDED_CREDENTIALS_OF, args! { client_id: *client_id, before, limit }),
    };
    let rows = store.rows(sql, args).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("digest")?))).collect()
}

/// Deletes a credential of the batch's client that ended before a time.
pub fn delete_ended(batch: &mut Batch, digest: &CredentialDigest, before: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&DELETE_ENDED_CREDENTIAL, args! { digest: *digest, client_id, before });
}

fn from_row(row: &Row) -> Result<Credential, StoreError> {
    Ok(Credential {
        digest: row.get("digest")?,
        id: row.get("id")?,
        kind: CredentialKind::parse(row.get("kind")?)?,
        label: row.get("label")?,
        scopes: parse_scopes(row.get("scopes")?)?,
        session_id: row.get("session_id")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
        last_used_day: row.get("last_used_day")?,
    })
}

/// The words with commas in between.
fn scopes_text(scopes: &Scopes) -> String {
    match scopes {
        Scopes::All => Scopes::ALL_WORD.to_owned(),
        Scopes::Some(scopes) => scopes.iter().map(|scope| Scope::word(*scope)).collect::<Vec<_>>().join(","),
    }
}

fn parse_scopes(text: &str) -> Result<Scopes, StoreError> {
    Scopes::parse(text.split(',')).ok_or_else(|| StoreError::Corrupt("credentials.scopes".to_owned()))
}
