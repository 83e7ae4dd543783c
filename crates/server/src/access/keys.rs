//! Creates, suspends and revokes clients and their secret keys for the operator. Client tokens are made by the API
//! (`api/auth.rs`).

use std::fmt;

use regente_domain::actor::Actor;
use regente_domain::check_digits::CheckDigits;
use regente_domain::credential::SECRET_KEYS_ACTIVE_MAX;
use regente_domain::id::{ClientId, Id, of};
use regente_domain::plan::Terms;
use regente_domain::prepayment::Rates;
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;
use regente_engine::plans;
use regente_engine::races;
use regente_engine::settings::Mode;
use regente_store::audit::{self, AuditEntry};
use regente_store::clients::{self, Client, ClientStatus, Contact};
use regente_store::credentials::{self, Credential, CredentialKind, NewCredential};
use regente_store::{Batch, Commit, StoreError};
use serde_json::Map;
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

use super::digest;
use crate::app::App;

/// Random bytes of a secret key (`docs/interface/auth.md#secret-keys`).
const SECRET_KEY_BYTES: usize = 32;
/// Digits that 256 bits need in base 62.
const SECRET_KEY_CHARS: usize = 43;

/// Why a client or a key was not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// There is no such client.
    #[error("there is no client {0}")]
    UnknownClient(ClientId),
    /// The client has no such secret key that is not revoked.
    #[error("the client has no active secret key {0}")]
    UnknownKey(Id<of::Credential>),
    /// The client has as many secret keys as it may have: one must be revoked first.
    #[error(
        "the client has {SECRET_KEYS_ACTIVE_MAX} active secret keys already; revoke one first: `regente keys revoke`"
    )]
    TooManyKeys,
    /// Other changes of the same client came first, each time.
    #[error("others are changing the same client; try again")]
    Busy,
    /// The connection was lost during the commit.
    #[error("it is not known whether the change was written; look before you try again")]
    Unknown,
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// A secret key in the clear, held while it is shown. Wiped when dropped, never printed.
pub struct SecretKey(Zeroizing<String>);

impl SecretKey {
    /// `sk_test_` or `sk_live_` and 32 random bytes in base 62.
    fn draw(app: &App) -> Self {
        let prefix = match app.settings.mode {
            Mode::Sandbox => "sk_test_",
            Mode::Production => "sk_live_",
        };
        let mut key = Zeroizing::new(String::with_capacity(prefix.len() + SECRET_KEY_CHARS));
        key.push_str(prefix);
        let mut random: [u8; SECRET_KEY_BYTES] = app.chance.bytes();
        push_base62(&mut key, &mut random);
        Self(key)
    }

    /// The key's text, to show it once or to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// A new secret key.
#[derive(Debug)]
pub struct NewSecretKey {
    /// The key's public id, in lists and in the audit trail.
    pub id: Id<of::Credential>,
    /// The key itself; only its digest is stored.
    pub key: SecretKey,
}

/// The data of a client to be created.
#[derive(Clone, Debug)]
pub struct NewClient {
    /// The account's name.
    pub name: String,
    /// What its default plan says.
    pub terms: Terms,
    /// The people to contact about the account.
    pub contacts: Vec<Contact>,
    /// A BCP 47 tag.
    pub language: String,
    /// An IANA name.
    pub time_zone: String,
}

impl NewClient {
    /// A Brazilian account without contacts, of whose charges nothing is kept.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            terms: Terms::of_new_account(),
            contacts: Vec::new(),
            language: "pt-BR".to_owned(),
            time_zone: "America/Sao_Paulo".to_owned(),
        }
    }

    /// The client's id, and the batch that makes it with its default plan.
    pub(crate) fn plan_creation(self, app: &App, actor: Actor) -> Result<(ClientId, Batch), StoreError> {
        let now = app.clock.deployment();
        let id: ClientId = app.chance.id(now);
        let Self { name, terms, contacts, language, time_zone } = self;
        let client = Client {
            id,
            name,
            status: ClientStatus::Active,
            contacts,
            language,
            time_zone,
            document_check_digits: CheckDigits::Off,
            prepayment: None,
            version: 1,
            updated_at: now,
            unknown_members: Map::new(),
        };
        let mut batch = Batch::new(id);
        clients::insert(&mut batch, &client, &app.vault.new_client_secret(id))?;
        plans::begin(&mut batch, terms)?;
        record(app, &mut batch, now, actor, "client.created", "client", id.uuid());
        Ok((id, batch))
    }
}

/// Creates a client without a key.
///
/// # Errors
/// [`AccessError::Unknown`], [`AccessError::Store`].
pub async fn create_client(app: &App, new: NewClient, actor: Actor) -> Result<ClientId, AccessError> {
    let (client_id, batch) = new.plan_creation(app, actor)?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(client_id),
        Commit::Refused(_) => Err(AccessError::Busy),
        Commit::Unknown => Err(AccessError::Unknown),
    }
}

/// Suspends or reactivates a client. This node applies it at the next request, other nodes within seconds.
///
/// # Errors
/// [`AccessError::UnknownClient`], [`AccessError::Busy`], [`AccessError::Unknown`], [`AccessError::Store`].
pub async fn set_client_status(
    app: &App,
    client_id: ClientId,
    status: ClientStatus,
    actor: Actor,
) -> Result<(), AccessError> {
    let action = match status {
        ClientStatus::Active => "client.activated",
        ClientStatus::Suspended => "client.suspended",
    };
    change(app, client_id, actor, action, |client| client.status = status).await
}

/// Whether the client's documents with wrong check digits are refused from now on.
///
/// # Errors
/// [`AccessError::UnknownClient`], [`AccessError::Busy`], [`AccessError::Unknown`], [`AccessError::Store`].
pub async fn set_document_check_digits(
    app: &App,
    client_id: ClientId,
    check_digits: CheckDigits,
    actor: Actor,
) -> Result<(), AccessError> {
    let set = |client: &mut Client| client.document_check_digits = check_digits;
    change(app, client_id, actor, "client.updated", set).await
}

/// At which rates receivables of the client are paid early from now on; none are without.
///
/// # Errors
/// As [`set_document_check_digits`].
pub async fn set_prepayment(
    app: &App,
    client_id: ClientId,
    rates: Option<Rates>,
    actor: Actor,
) -> Result<(), AccessError> {
    let set = |client: &mut Client| client.prepayment = rates;
    change(app, client_id, actor, "client.updated", set).await
}

/// Changes a client, unless nothing changes.
async fn change(
    app: &App,
    client_id: ClientId,
    actor: Actor,
    action: &'static str,
    set: impl Fn(&mut Client),
) -> Result<(), AccessError> {
    for _ in races::tries() {
        let before = find_client(app, client_id).await?;
        let mut client = before.clone();
        set(&mut client);
        if client == before {
            return Ok(());
        }
        let now = app.clock.of(client_id);
        client.updated_at = now.max(client.updated_at);
        let mut batch = Batch::new(client_id);
        clients::update(&mut batch, &client)?;
        record(app, &mut batch, now, actor, action, "client", client_id.uuid());
        let commit = app.store.apply(batch).await?;
        app.credentials.forget();
        match commit {
            Commit::Applied => return Ok(()),
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(AccessError::Unknown),
        }
    }
    Err(AccessError::Busy)
}

/// Creates a secret key. The answer is the only place that holds it.
///
/// # Errors
/// [`AccessError::TooManyKeys`], [`AccessError::UnknownClient`], [`AccessError::Busy`], [`AccessError::Unknown`],
/// [`AccessError::Store`].
pub async fn create_secret_key(
    app: &App,
    client_id: ClientId,
    label: &str,
    actor: Actor,
) -> Result<NewSecretKey, AccessError> {
    for _ in races::tries() {
        // The client's version is read before its keys are counted: of two commands that count the same keys, one is
        // refused.
        let client = find_client(app, client_id).await?;
        let active = secret_keys(app, client_id).await?.iter().filter(|key| key.revoked_at.is_none()).count();
        if active >= SECRET_KEYS_ACTIVE_MAX {
            return Err(AccessError::TooManyKeys);
        }
        let now = app.clock.of(client_id);
        let new = NewSecretKey { id: app.chance.id(now), key: SecretKey::draw(app) };
        let mut batch = Batch::new(client_id);
        clients::touch(&mut batch, client_id, client.version, now.max(client.updated_at));
        credentials::insert(
            &mut batch,
            &NewCredential {
                digest: digest(new.key.expose()),
                id: new.id,
                kind: CredentialKind::SecretKey,
                label: label.to_owned(),
                scopes: Scopes::All,
                session_id: None,
                expires_at: None,
                actor,
            },
        );
        record(app, &mut batch, now, actor, "secret_key.created", "credential", new.id.uuid());
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(new),
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(AccessError::Unknown),
        }
    }
    Err(AccessError::Busy)
}

/// The secret keys of a client without their secrets, revoked ones included, oldest first.
///
/// # Errors
/// [`AccessError::Store`].
pub async fn secret_keys(app: &App, client_id: ClientId) -> Result<Vec<Credential>, AccessError> {
    Ok(credentials::secret_keys(&app.store, client_id).await?)
}

/// Revokes a secret key. This node refuses it at the next request, other nodes within seconds.
///
/// # Errors
/// [`AccessError::UnknownKey`], [`AccessError::Unknown`], [`AccessError::Store`].
pub async fn revoke_secret_key(
    app: &App,
    client_id: ClientId,
    id: Id<of::Credential>,
    actor: Actor,
) -> Result<(), AccessError> {
    let now = app.clock.of(client_id);
    let mut batch = Batch::new(client_id);
    credentials::revoke_secret_key(&mut batch, id, now);
    record(app, &mut batch, now, actor, "secret_key.revoked", "credential", id.uuid());
    let commit = app.store.apply(batch).await?;
    app.credentials.forget();
    match commit {
        Commit::Applied => Ok(()),
        Commit::Refused(_) => Err(AccessError::UnknownKey(id)),
        Commit::Unknown => Err(AccessError::Unknown),
    }
}

async fn find_client(app: &App, client_id: ClientId) -> Result<Client, AccessError> {
    clients::find(&app.store, client_id).await?.ok_or(AccessError::UnknownClient(client_id))
}

fn record(
    app: &App,
    batch: &mut Batch,
    now: Timestamp,
    actor: Actor,
    action: &'static str,
    object_kind: &'static str,
    object_id: Uuid,
) {
    let entry =
        AuditEntry { id: app.chance.id(now), actor, action, object_kind, object_id, request_id: None };
    audit::record(batch, entry);
}

/// Writes a number of 256 bits, big-endian, in base 62 with leading zeros; `number` is wiped on the way.
fn push_base62(text: &mut String, number: &mut [u8; SECRET_KEY_BYTES]) {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for _ in 0..SECRET_KEY_CHARS {
        let remainder = number.iter_mut().fold(0_u32, |carry, byte| {
            let dividend = carry * 256 + u32::from(*byte);
            // Less than 256, because the carry is less than 62.
            *byte = (dividend / 62) as u8;
            dividend % 62
        });
        text.push(char::from(DIGITS[remainder as usize]));
    }
    number.zeroize();
}
