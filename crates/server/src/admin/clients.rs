//! Clients and their secret keys, as operators make and list them.

use regente_domain::actor::Actor;
use regente_domain::check_digits::CheckDigits;
use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use regente_store::clients::{self, Client};
use regente_store::credentials::Credential;
use regente_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use crate::access::{self, AccessError, NewClient, NewSecretKey};
use crate::app::App;

/// Clients that one query reads.
const CLIENTS_PER_PAGE: i64 = 500;
/// Characters of a client's name and of a key's label.
const NAME_CHARS_MAX: usize = 256;

/// A client, as a list shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClientRow {
    /// The value of `X-Client-Id`.
    pub id: ClientId,
    /// Its name.
    pub name: String,
    /// `active` or `suspended`.
    pub status: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether documents with wrong check digits are refused.
    #[serde(default)]
    pub document_check_digits: CheckDigits,
}

/// A secret key, as a list shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyRow {
    /// The key's public id.
    pub id: Id<of::Credential>,
    /// The operator's note about it.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The day of its last use, `YYYY-MM-DD`.
    pub last_used_on: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Makes a client.
pub(super) async fn create(app: &App, name: String) -> Result<ClientRow, CommandError> {
    let name = checked_name("the name", name)?;
    let id = access::create_client(app, NewClient::named(name), Actor::Operator).await?;
    one(app, id).await
}

/// Changes the settings of a client.
pub(super) async fn set(
    app: &App,
    client_id: ClientId,
    document_check_digits: CheckDigits,
) -> Result<ClientRow, CommandError> {
    access::set_document_check_digits(app, client_id, document_check_digits, Actor::Operator).await?;
    one(app, client_id).await
}

async fn one(app: &App, client_id: ClientId) -> Result<ClientRow, CommandError> {
    let found = clients::find(&app.store, client_id).await?;
    found.as_ref().map(row).ok_or_else(|| AccessError::UnknownClient(client_id).into())
}

/// Makes a secret key.
pub(super) async fn create_key(
    app: &App,
    client_id: ClientId,
    label: String,
) -> Result<NewSecretKey, CommandError> {
    let label = checked_name("the label", label)?;
    Ok(access::create_secret_key(app, client_id, &label, Actor::Operator).await?)
}

/// The clients, oldest first.
pub(super) async fn rows(app: &App) -> Result<Vec<ClientRow>, CommandError> {
    Ok(all(&app.store).await?.iter().map(row).collect())
}

/// The secret keys of a client, oldest first.
pub(super) async fn keys(app: &App, client_id: ClientId) -> Result<Vec<KeyRow>, CommandError> {
    if clients::find(&app.store, client_id).await?.is_none() {
        return Err(AccessError::UnknownClient(client_id).into());
    }
    Ok(access::secret_keys(app, client_id).await?.iter().map(key_row).collect())
}

/// Every client, oldest first.
pub(super) async fn all(store: &Store) -> Result<Vec<Client>, StoreError> {
    let mut all: Vec<Client> = Vec::new();
    loop {
        let page = clients::list(store, all.last().map(|client| client.id), CLIENTS_PER_PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

fn row(client: &Client) -> ClientRow {
    ClientRow {
        id: client.id,
        name: client.name.clone(),
        status: client.status.word().to_owned(),
        created_at: client.id.created_at(),
        document_check_digits: client.document_check_digits,
    }
}

fn key_row(key: &Credential) -> KeyRow {
    const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
    KeyRow {
        id: key.id,
        label: key.label.clone(),
        created_at: key.id.created_at(),
        last_used_on: key.last_used_day.map(|day| {
            let mut date = Timestamp::from_millis(day.saturating_mul(DAY_MILLIS)).to_string();
            date.truncate("YYYY-MM-DD".len());
            date
        }),
        revoked_at: key.revoked_at,
    }
}

fn checked_name(what: &str, text: String) -> Result<String, CommandError> {
    let text = text.trim().to_owned();
    if text.is_empty() || text.chars().count() > NAME_CHARS_MAX || text.chars().any(char::is_control) {
        let rule =
            format!("{what} must have 1 to {NAME_CHARS_MAX} characters, none of them a control character");
        return Err(CommandError::Argument(rule));
    }
    Ok(text)
}

/// The account that was named, or the only one there is.
pub(super) async fn the_client(app: &App, named: Option<ClientId>) -> Result<ClientId, CommandError> {
    if let Some(client_id) = named {
        let found = clients::find(&app.store, client_id).await?;
        return found.map(|client| client.id).ok_or(AccessError::UnknownClient(client_id).into());
    }
    match clients::list(&app.store, None, 2).await?.as_slice() {
        [client] => Ok(client.id),
        [] => Err(CommandError::Argument("there is no account yet".to_owned())),
        _ => Err(CommandError::Argument(
            "there are several accounts; name one with `--client`, as `regente clients list` shows them"
                .to_owned(),
        )),
    }
}
