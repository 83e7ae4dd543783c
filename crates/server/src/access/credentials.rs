//! Finds the caller that `X-Client-Id` and `X-Api-Key` name. A valid credential is cached for a few seconds; a refused
//! one is not cached, so that a new key works at once.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::http::HeaderMap;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Authority, Caller};
use regente_engine::error::Error;
use regente_engine::vault::sha256;
use regente_store::clients::ClientStatus;
use regente_store::credentials::{self, Credential, CredentialDigest, CredentialKind};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::{API_KEY, CLIENT_ID, single};
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

/// Characters of a UUID in its usual form.
const UUID_CHARS: usize = 36;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Reads a credential from the database. `None` when the client has no such credential.
async fn ask(
    app: &App,
    client_id: ClientId,
    digest: &CredentialDigest,
) -> Result<Option<Arc<Credential>>, ApiError> {
    let asked = app.credentials.ask();
    let found = credentials::look_up(&app.store, client_id, digest).await?.ok_or(ApiError::Unauthorized)?;
    match found.client_status {
        ClientStatus::Active => {}
        ClientStatus::Suspended => return Err(ApiError::Unauthorized),
    }
    let Some(credential) = found.credential.map(Arc::new) else { return Ok(None) };
    if is_good(&credential, digest, app.clock.of(client_id)) {
        app.credentials.keep((client_id, *digest), Arc::clone(&credential), asked);
    }
    Ok(Some(credential))
}

/// The SHA-256 by which a key is found. Keys are long and random, so a slower hash would add no protection.
pub fn digest(key: &str) -> CredentialDigest {
    sha256(&[key.as_bytes()])
}

/// Authenticates the caller. An address that sent too many wrong keys waits, except for keys that have been good before:
/// whoever shares the address with a stranger goes on.
///
/// # Errors
/// [`ApiError::TooManyRequests`] for such an address; [`ApiError::Unauthorized`] when `X-Client-Id` is missing,
/// empty, no UUID, there twice, unknown or suspended; otherwise [`ApiError::Forbidden`] when `X-Api-Key` is missing,
/// empty, there twice, wrong, expired or revoked; or what the database answers.
pub(super) async fn authenticate(
    app: &App,
    headers: &HeaderMap,
    PeerAddress(address): PeerAddress,
) -> Result<Caller, ApiError> {
    let stranger = RateKey::Authentication(address.into());
    let (client_id, digest) = (client_id(headers), api_key(headers).map(digest));
    if !client_id.zip(digest).is_some_and(|named| app.credentials.has_known(&named)) {
        app.limiters.strangers.check(&stranger)?;
    }
    let found = find(app, client_id, digest).await;
    if matches!(found, Err(ApiError::Unauthorized | ApiError::Forbidden)) {
        app.limiters.strangers.fail(&stranger);
    }
    found
}

async fn find(
    app: &App,
    client_id: Option<ClientId>,
    digest: Option<CredentialDigest>,
) -> Result<Caller, ApiError> {
    let client_id = client_id.ok_or(ApiError::Unauthorized)?;
    let Some(digest) = digest else {
        // No key has this digest: the lookup only tells an unknown client (401) from a missing key (403).
        ask(app, client_id, &[0; 32]).await?;
        return Err(ApiError::Forbidden);
    };
    let known = app.credentials.get(&(client_id, digest));
    let credential = match known {
        Some(credential) => credential,
        None => {
            let found = ask(app, client_id, &digest).await?.ok_or(ApiError::Forbidden)?;
            note_use(app, client_id, &found);
            found
        }
    };
    // Also for a cached credential: a key ends at its time, not a few seconds later.
    if !is_good(&credential, &digest, app.clock.of(client_id)) {
        app.credentials.remove(&(client_id, digest));
        return Err(ApiError::Forbidden);
    }
    caller(client_id, &credential)
}

fn client_id(headers: &HeaderMap) -> Option<ClientId> {
    let text = single(headers, CLIENT_ID).ok()??;
    let uuid = if text.len() == UUID_CHARS { Uuid::try_parse(text).ok()? } else { return None };
    // The nil id stands for the deployment, which is no account.
    (!uuid.is_nil()).then(|| ClientId::new(uuid))
}

fn api_key(headers: &HeaderMap) -> Option<&str> {
    single(headers, API_KEY).ok()?.filter(|key| !key.is_empty())
}

fn is_good(credential: &Credential, digest: &CredentialDigest, now: Timestamp) -> bool {
    verify_slices_are_equal(&credential.digest, digest).is_ok()
        && credential.revoked_at.is_none()
        && credential.expires_at.is_none_or(|end| now < end)
}

fn caller(client_id: ClientId, credential: &Credential) -> Result<Caller, ApiError> {
    let authority = match (credential.kind, credential.expires_at) {
        (CredentialKind::SecretKey, _) => Authority::SecretKey,
        (CredentialKind::ClientToken, Some(expires_at)) => {
            Authority::ClientToken { scopes: credential.scopes.clone(), expires_at }
        }
        (CredentialKind::ClientToken, None) => {
            return Err(Error::internal(format!("client token {} has no end", credential.id)).into());
        }
        (CredentialKind::SessionKey, _) => match credential.session_id {
            Some(session_id) => Authority::SessionKey { session_id },
            None => {
                return Err(Error::internal(format!("session key {} has no session", credential.id)).into());
            }
        },
    };
    Ok(Caller { client_id, credential_id: credential.id, authority })
}

/// Records the day of use, once a day for each key, in a task of its own: the request does not wait for it, and the
/// record may be lost.
fn note_use(app: &App, client_id: ClientId, credential: &Credential) {
    let now = app.clock.of(client_id);
    let today = now.as_millis().div_euclid(DAY_MILLIS);
    if !is_good(credential, &credential.digest, now)
        || credential.last_used_day.is_some_and(|day| day >= today)
    {
        return;
    }
    let mut batch = Batch::new(client_id);
    credentials::mark_used(&mut batch, &credential.digest, today);
    let store = app.store.clone();
    tokio::spawn(async move {
        match store.apply(batch).await {
            Ok(Commit::Applied | Commit::Refused(_) | Commit::Unknown) => {}
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the day of use of a key was not noted"
                );
            }
        }
    });
}
