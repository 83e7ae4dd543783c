//! Finds the caller that `X-Client-Id` and `X-Api-Key` name. A valid credential is cached for a few seconds; a refused
//! one is not cached, so that a new key works at once.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::http::HeaderMap;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Authority, Caller};
use regente_engine::credentials::digest;
use regente_engine::error::Error;
use regente_providers::request::Mode;
use regente_store::StoreError;
use regente_store::clients::ClientStatus;
use regente_store::credentials::{self, Credential, CredentialDigest, CredentialKind};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::{API_KEY, CLIENT_ID, HeaderFault, single};
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

/// Characters of a UUID in its usual form.
const UUID_CHARS: usize = 36;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Why nobody is authenticated.
enum Stranger {
    /// `X-Client-Id` names no account; the text says what is wrong with it.
    Account(&'static str),
    /// `X-Api-Key` is no key of the account; the text says what is wrong with it.
    Key(&'static str),
    /// Something else failed.
    Unclear(ApiError),
}

impl From<StoreError> for Stranger {
    fn from(error: StoreError) -> Self {
        Self::Unclear(error.into())
    }
}

impl Stranger {
    /// Tells the log of a sandbox which header is wrong: the answer does not. Whoever tries keys in production is not
    /// written down one by one.
    fn tell(&self, mode: Mode) {
        let (header, fault) = match (mode, self) {
            (Mode::Sandbox, Self::Account(fault)) => ("X-Client-Id", fault),
            (Mode::Sandbox, Self::Key(fault)) => ("X-Api-Key", fault),
            (Mode::Sandbox, Self::Unclear(_)) | (Mode::Production, _) => return,
        };
        tracing::warn!("a caller is refused: {header} {fault}");
    }

    fn into_error(self) -> ApiError {
        match self {
            Self::Account(_) => ApiError::Unauthorized,
            Self::Key(_) => ApiError::Forbidden,
            Self::Unclear(error) => error,
        }
    }
}

/// Reads a credential from the database. `None` when the client has no such credential.
async fn ask(
    app: &App,
    client_id: ClientId,
    digest: &CredentialDigest,
) -> Result<Option<Arc<Credential>>, Stranger> {
    let asked = app.credentials.ask();
    let found = credentials::look_up(&app.store, client_id, digest).await?;
    let found = found.ok_or(Stranger::Account("names no account of this deployment"))?;
    match found.client_status {
        ClientStatus::Active => {}
        ClientStatus::Suspended => return Err(Stranger::Account("names an account that is suspended")),
    }
    let Some(credential) = found.credential.map(Arc::new) else { return Ok(None) };
    if is_good(&credential, digest, app.clock.of(client_id)) {
        app.credentials.keep((client_id, *digest), Arc::clone(&credential), asked);
    }
    Ok(Some(credential))
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
    let named = client_id.ok().zip(digest.ok());
    if !named.is_some_and(|named| app.credentials.has_known(&named)) {
        app.limiters.strangers.check(&stranger)?;
    }
    find(app, client_id, digest).await.map_err(|refused| {
        match refused {
            Stranger::Account(_) | Stranger::Key(_) => app.limiters.strangers.fail(&stranger),
            Stranger::Unclear(_) => {}
        }
        refused.tell(app.settings.mode);
        refused.into_error()
    })
}

async fn find(
    app: &App,
    client_id: Result<ClientId, &'static str>,
    digest: Result<CredentialDigest, &'static str>,
) -> Result<Caller, Stranger> {
    let client_id = client_id.map_err(Stranger::Account)?;
    let digest = match digest {
        Ok(digest) => digest,
        Err(fault) => {
            // No key has this digest: the lookup only tells an unknown client (401) from a missing key (403).
            ask(app, client_id, &[0; 32]).await?;
            return Err(Stranger::Key(fault));
        }
    };
    let known = app.credentials.get(&(client_id, digest));
    let credential = match known {
        Some(credential) => credential,
        None => {
            let found = ask(app, client_id, &digest).await?;
            let found = found.ok_or(Stranger::Key("is no key of the account that X-Client-Id names"))?;
            note_use(app, client_id, &found);
            found
        }
    };
    // Also for a cached credential: a key ends at its time, not a few seconds later.
    if !is_good(&credential, &digest, app.clock.of(client_id)) {
        app.credentials.remove(&(client_id, digest));
        return Err(Stranger::Key("is a key that has expired or was revoked"));
    }
    caller(client_id, &credential).map_err(Stranger::Unclear)
}

fn client_id(headers: &HeaderMap) -> Result<ClientId, &'static str> {
    let text = given(headers, CLIENT_ID)?;
    // The nil id stands for the deployment, which is no account.
    let uuid = Uuid::try_parse(text).ok().filter(|uuid| text.len() == UUID_CHARS && !uuid.is_nil());
    uuid.map(ClientId::new).ok_or("must be a UUID")
}

fn api_key(headers: &HeaderMap) -> Result<&str, &'static str> {
    given(headers, API_KEY)
}

/// The value of a header that must be there once, and not be empty.
fn given<'h>(headers: &'h HeaderMap, name: &str) -> Result<&'h str, &'static str> {
    let value = single(headers, name).map_err(HeaderFault::rule)?.ok_or("is missing")?;
    if value.is_empty() { Err("must not be empty") } else { Ok(value) }
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
