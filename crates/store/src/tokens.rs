//! Stores single-use tokens, found by the digest of their id, which the row does not hold. Using a token deletes its
//! row.

use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::expiring::{self, Expiring};
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a token.
    pub INSERT_TOKEN = "
        INSERT INTO tokens (digest, client_id, kind, sealed, key_id, expires_at, actor)
        VALUES (:digest, :client_id, :kind, :sealed, :key_id, :expires_at, :actor)";
    /// A live token.
    pub FIND_TOKEN = "
        SELECT kind, sealed, key_id FROM tokens
        WHERE digest = :digest AND client_id = :client_id AND expires_at > :now";
    /// Consumes a token.
    pub CONSUME_TOKEN = "
        DELETE FROM tokens WHERE digest = :digest AND client_id = :client_id AND expires_at > :now";
    /// Deletes a token, if it still exists.
    pub DISCARD_TOKEN = "
        DELETE FROM tokens WHERE digest = :digest AND client_id = :client_id";
    /// The clients of the first expired tokens, except some.
    pub CLIENTS_WITH_EXPIRED_TOKENS =
        expiring::clients_of_first!("tokens", "REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart)");
    /// One client, if it has expired tokens.
    pub CLIENT_WITH_EXPIRED_TOKENS = expiring::clients_of_first!("tokens", "client_id = :client_id");
    /// Deletes expired tokens of a client, a bounded number at once.
    pub PURGE_TOKENS = "
        DELETE FROM tokens WHERE client_id = :client_id AND digest IN (
            SELECT digest FROM tokens WHERE client_id = :client_id AND expires_at <= :now LIMIT :limit)";
}

/// Tokens that have expired.
pub static EXPIRING: Expiring = Expiring {
    all_but: &CLIENTS_WITH_EXPIRED_TOKENS,
    one: &CLIENT_WITH_EXPIRED_TOKENS,
    purge: &PURGE_TOKENS,
};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A card, with or without its security code.
    Card,
    /// The security code of a stored card.
    Cvv,
}

impl TokenKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Cvv => "cvv",
        }
    }
}

/// A stored token.
#[derive(Clone, Debug)]
pub struct StoredToken {
    /// Its kind.
    pub kind: TokenKind,
    /// Its content; the vault opens it only with the token's id.
    pub sealed: Sealed,
}

/// Adds a token.
pub fn insert(batch: &mut Batch, digest: [u8; 32], token: StoredToken, expires_at: Timestamp, actor: &Actor) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_TOKEN,
        args! {
            digest, client_id, kind: token.kind.word(), sealed: token.sealed.bytes, key_id: token.sealed.key_id,
            expires_at, actor: actor.to_string(),
        },
    );
}

/// Consumes a token. If the token was used or has expired meanwhile, the batch is refused.
pub fn consume(batch: &mut Batch, digest: [u8; 32], now: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&CONSUME_TOKEN, args! { digest, client_id, now });
}

/// Deletes a token, if it still exists.
pub fn discard(batch: &mut Batch, digest: [u8; 32]) {
    let client_id = batch.client_id();
    batch.push_any(&DISCARD_TOKEN, args! { digest, client_id });
}

/// A live token of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    digest: [u8; 32],
    now: Timestamp,
) -> Result<Option<StoredToken>, StoreError> {
    let Some(row) = store.row(&FIND_TOKEN, args! { digest, client_id, now }).await? else {
        return Ok(None);
    };
    let kind: String = row.get("kind")?;
    let kind = if kind == TokenKind::Card.word() { TokenKind::Card } else { TokenKind::Cvv };
    Ok(Some(StoredToken { kind, sealed: Sealed { key_id: row.get("key_id")?, bytes: row.get("sealed")? } }))
}
