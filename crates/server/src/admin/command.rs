//! The commands of operators as serializable values, and how each one runs.

use std::path::PathBuf;

use regente_domain::actor::Actor;
use regente_domain::charge::timeline::Audience;
use regente_domain::id::{ChargeId, ClientId, DeliveryId, Id, TransactionRequestId, WebhookId, of};
use regente_domain::time::Timestamp;
use regente_engine::deliveries::keys::RotationError;
use regente_engine::deliveries::listeners::{Heard, ListenError};
use regente_engine::error::Error;
use regente_engine::jobs::DEPLOYMENT;
use regente_engine::queue::{self, Kind};
use regente_engine::vault::{self, VaultError};
use regente_store::clients::{self, Client, ClientStatus};
use regente_store::credentials::Credential;
use regente_store::{BackupError, Batch, Commit, Existing, Store, StoreError, charges};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::backup::{self, BackedUp, Restored};
use super::doctor::{Report, Subject, examine};
use super::unknowns::{self, UnknownRow};
use super::webhooks::{self, WebhookKeys, WebhooksCommand};
use crate::access::{self, AccessError, NewClient};
use crate::api::charges::explanation::{self, ExplanationView};
use crate::app::App;
use crate::config::{Config, ConfigError};

/// Clients that one query reads.
const CLIENTS_PER_PAGE: i64 = 500;

/// A command of an operator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Make a client.
    ClientsCreate {
        /// Its name.
        name: String,
    },
    /// List the clients.
    ClientsList,
    /// Make a secret key.
    KeysCreate {
        /// Whose.
        client_id: ClientId,
        /// The operator's note about it.
        label: String,
    },
    /// List the secret keys of a client, without the keys themselves.
    KeysList {
        /// Whose.
        client_id: ClientId,
    },
    /// End a secret key.
    KeysRevoke {
        /// Whose.
        client_id: ClientId,
        /// Which.
        key_id: Id<of::Credential>,
    },
    /// Seal with a new data key from now on, and seal again what is under the former one.
    VaultRotate,
    /// Put the data keys under another key-encryption key.
    VaultRewrap {
        /// The file that holds the new one.
        kek_file: PathBuf,
    },
    /// Explain the course of a charge.
    Explain {
        /// Which.
        charge_id: ChargeId,
    },
    /// List the requests whose outcome is unknown.
    UnknownsList,
    /// Probe again for a request that was given up.
    UnknownsRetry {
        /// Which.
        request_id: TransactionRequestId,
    },
    /// Something about webhooks.
    Webhooks(WebhooksCommand),
    /// Tell where the API is served.
    Address,
    /// Examine the deployment.
    Doctor,
    /// Write a backup.
    Backup {
        /// Where.
        file: PathBuf,
        /// What to do about a file that is there.
        existing: ExistingFile,
    },
    /// Replace the database with a backup.
    Restore {
        /// The backup.
        file: PathBuf,
    },
}

/// What a backup does when its file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExistingFile {
    /// Nothing is written.
    Refuse,
    /// The file is replaced once the backup is complete.
    Replace,
}

impl Command {
    /// The command's name without its arguments.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ClientsCreate { .. } => "clients create",
            Self::ClientsList => "clients list",
            Self::KeysCreate { .. } => "keys create",
            Self::KeysList { .. } => "keys list",
            Self::KeysRevoke { .. } => "keys revoke",
            Self::VaultRotate => "vault rotate",
            Self::VaultRewrap { .. } => "vault rotate --kek",
            Self::Explain { .. } => "explain",
            Self::UnknownsList => "unknowns",
            Self::UnknownsRetry { .. } => "unknowns retry",
            Self::Webhooks(command) => command.name(),
            Self::Address => "health",
            Self::Doctor => "doctor",
            Self::Backup { .. } => "backup",
            Self::Restore { .. } => "restore",
        }
    }
}

/// The answer to a command. It may hold a new key, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// A client was made.
    Client(ClientRow),
    /// The clients, oldest first.
    Clients {
        /// One row for each.
        clients: Vec<ClientRow>,
    },
    /// A new secret key; it cannot be shown again.
    Key {
        /// The key's public id.
        key_id: Id<of::Credential>,
        /// The key.
        key: String,
    },
    /// The secret keys of a client, oldest first.
    Keys {
        /// One row for each.
        keys: Vec<KeyRow>,
    },
    /// A secret key was ended.
    Revoked {
        /// Which.
        key_id: Id<of::Credential>,
    },
    /// There is a new data key.
    Rotated {
        /// Its id.
        data_key_id: Uuid,
    },
    /// The data keys are under another key-encryption key.
    Rewrapped {
        /// How many they were.
        data_keys: usize,
        /// The file of the key-encryption key that opens them now.
        kek_file: PathBuf,
    },
    /// The explanation of a charge.
    Explained(Box<ExplanationView>),
    /// The requests whose outcome is unknown, oldest first.
    Unknowns {
        /// One row for each.
        unknowns: Vec<UnknownRow>,
        /// Whether there are more than a list shows.
        more: bool,
    },
    /// The provider is probed again for a request that was given up.
    Resumed {
        /// Which.
        request_id: TransactionRequestId,
    },
    /// The key of a webhook is being replaced.
    WebhookKeyRotated(WebhookKeys),
    /// The keys of a webhook.
    WebhookKeys(WebhookKeys),
    /// The number of deliveries in a range.
    ReplayCounted {
        /// How many.
        deliveries: u64,
    },
    /// Deliveries of a range are sent again.
    Replayed {
        /// How many.
        replayed: u64,
        /// How many were not replayed because an attempt is under way.
        under_way: u64,
        /// The last delivery that was looked at; `None` at the end of the range.
        last: Option<DeliveryId>,
    },
    /// A listener was added.
    Listening {
        /// Whose events.
        client_id: ClientId,
        /// The listener's id.
        listener_id: WebhookId,
        /// The event it listens to.
        event: String,
        /// The key that verifies signatures, in PEM.
        public_key: String,
    },
    /// Events, oldest first.
    Heard {
        /// Empty when nothing happened while the command waited.
        events: Vec<Heard>,
    },
    /// A listener was removed.
    ListeningEnded {
        /// Its id.
        listener_id: WebhookId,
    },
    /// Where the API is served.
    Address {
        /// `http://` or `https://`, address and port.
        url: String,
    },
    /// The report of an examination.
    Doctor(Report),
    /// A backup was written.
    BackedUp(BackedUp),
    /// A backup was restored.
    Restored(Restored),
}

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

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A client or a key cannot be changed.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The vault's keys failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The key of a webhook cannot be shown or replaced.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// Listening failed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A change was refused.
    #[error(transparent)]
    Change(#[from] Error),
    /// A backup or restore failed.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The command needs an embedded database, which is one file.
    #[error(
        "this is for the embedded database; back PostgreSQL up with `pg_dump` or `pg_basebackup`, and restore with \
         `pg_restore` while Regente is stopped"
    )]
    NotEmbedded,
    /// A name is empty or too long, or a named thing cannot be used.
    #[error("{0}")]
    Argument(String),
    /// The connection was lost during the commit.
    #[error("it is not known whether the change was written; look before you try again")]
    Unknown,
}

impl CommandError {
    /// Whether the same command may succeed a moment later, when the database answers again.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Listen(ListenError::Failed(_)))
    }
}

/// Characters of a client's name and of a key's label.
const NAME_CHARS_MAX: usize = 256;

/// Runs a command.
///
/// # Errors
/// As the command; nothing was changed unless the error says otherwise.
pub async fn run(app: &App, config: &Config, command: Command) -> Result<Answer, CommandError> {
    match command {
        Command::ClientsCreate { name } => create_client(app, name).await,
        Command::ClientsList => {
            let clients = all_clients(&app.store).await?.iter().map(client_row).collect();
            Ok(Answer::Clients { clients })
        }
        Command::KeysCreate { client_id, label } => {
            let label = checked_name("the label", label)?;
            let new = access::create_secret_key(app, client_id, &label, Actor::Operator).await?;
            Ok(Answer::Key { key_id: new.id, key: new.key.expose().to_owned() })
        }
        Command::KeysList { client_id } => {
            if clients::find(&app.store, client_id).await?.is_none() {
                return Err(AccessError::UnknownClient(client_id).into());
            }
            let keys = access::secret_keys(app, client_id).await?.iter().map(key_row).collect();
            Ok(Answer::Keys { keys })
        }
        Command::KeysRevoke { client_id, key_id } => {
            access::revoke_secret_key(app, client_id, key_id, Actor::Operator).await?;
            Ok(Answer::Revoked { key_id })
        }
        Command::VaultRotate => rotate(app).await,
        Command::VaultRewrap { kek_file } => rewrap(app, config, kek_file).await,
        Command::Explain { charge_id } => explain(app, charge_id).await,
        Command::UnknownsList => unknowns::list(app).await,
        Command::UnknownsRetry { request_id } => unknowns::retry(app, request_id).await,
        Command::Webhooks(command) => webhooks::run(app, command).await,
        Command::Address => Ok(Answer::Address { url: config.local_url(config.listen_address()?) }),
        Command::Doctor => {
            let (store, clock, chance) = (&app.store, &app.clock, &app.chance);
            let subject = Subject { store, config, simulator_log: app.simulator_log.as_ref(), clock, chance };
            Ok(Answer::Doctor(examine(subject).await))
        }
        Command::Backup { file, existing } => {
            let existing = match existing {
                ExistingFile::Refuse => Existing::Refuse,
                ExistingFile::Replace => Existing::Replace,
            };
            Ok(Answer::BackedUp(backup::back_up(app, file, existing).await?))
        }
        Command::Restore { file } => Ok(Answer::Restored(backup::restore(app, config, file).await?)),
    }
}

async fn create_client(app: &App, name: String) -> Result<Answer, CommandError> {
    let name = checked_name("the name", name)?;
    let id = access::create_client(app, NewClient::named(name.as_str()), Actor::Operator).await?;
    let status = ClientStatus::Active.word().to_owned();
    Ok(Answer::Client(ClientRow { id, name, status, created_at: id.created_at() }))
}

async fn explain(app: &App, charge_id: ChargeId) -> Result<Answer, CommandError> {
    let told = match charges::client_of(&app.store, charge_id).await? {
        Some(client_id) => explanation::tell(&app.store, client_id, charge_id, Audience::Merchant).await?,
        None => None,
    };
    match told {
        Some(explanation) => Ok(Answer::Explained(Box::new(explanation))),
        None => Err(CommandError::Argument(format!("there is no charge {charge_id}"))),
    }
}

async fn rotate(app: &App) -> Result<Answer, CommandError> {
    let data_key_id = app.vault.rotate(Actor::Operator).await?;
    let mut batch = Batch::new(DEPLOYMENT);
    queue::bring_forward(app, &mut batch, Kind::Reseal);
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // The job recurs by itself; it only runs later.
        Commit::Refused(_) | Commit::Unknown => {
            tracing::warn!("the job that seals again was not brought forward")
        }
    }
    Ok(Answer::Rotated { data_key_id })
}

async fn rewrap(app: &App, config: &Config, kek_file: PathBuf) -> Result<Answer, CommandError> {
    let (former, _) = config.kek()?;
    let mut with_new = config.clone();
    with_new.vault.kek = None;
    with_new.vault.kek_file = Some(kek_file.clone());
    let (new, _) = with_new.kek()?;
    if new.looks_like_a_sample() {
        return Err(CommandError::Argument("the new key-encryption key is not random".to_owned()));
    }
    let now = app.clock.deployment();
    let data_keys = vault::rewrap(&app.store, &former, &new, &app.chance, now, Actor::Operator).await?;
    Ok(Answer::Rewrapped { data_keys, kek_file })
}

pub(super) async fn all_clients(store: &Store) -> Result<Vec<Client>, StoreError> {
    let mut all: Vec<Client> = Vec::new();
    loop {
        let page = clients::list(store, all.last().map(|client| client.id), CLIENTS_PER_PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

fn client_row(client: &Client) -> ClientRow {
    ClientRow {
        id: client.id,
        name: client.name.clone(),
        status: client.status.word().to_owned(),
        created_at: client.id.created_at(),
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
