//! Makes the sandbox of `regente dev`: a folder, a key, one account with two merchants and a sales plan. A later start finds them again
//! and makes what is missing.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{self, Path, PathBuf};

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::mcc::Mcc;
use regente_domain::plan::{NewPlan, Terms};
use regente_domain::platform_fee::Fees;
use regente_domain::problems::Problems;
use regente_domain::scope::Scopes;
use regente_domain::wire;
use regente_engine::chance::Chance;
use regente_engine::error::Error;
use regente_engine::merchants::{self, NewMerchant};
use regente_engine::providers::NewProvider;
use regente_engine::vault::{Kek, VaultError};
use regente_providers::request::Mode;
use regente_store::audit::{self, AuditEntry};
use regente_store::clients;
use regente_store::credentials::{self, CredentialKind, NewCredential};
use regente_store::merchants::{self as rows, MerchantDetails, MerchantWithProviders};
use regente_store::{Batch, Commit, StoreError};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::derived::{DEV_CLIENT_NAME, DEV_CLIENTS_LOOKED_AT, dev_api_key};
use super::{StartError, make_private_folder, parent_of};
use crate::access::{self, NewClient};
use crate::api::fields::Body;
use crate::api::providers::accepted;
use crate::app::App;
use crate::config::{Config, DEV_KEK_MARK, DatabaseAddress};
use crate::http::error::ApiError;

/// The label of the account's key.
const KEY_LABEL: &str = "regente dev";
/// The merchant whose providers approve.
const MERCHANT_NAME: &str = "Loja";
/// The merchant whose first provider declines everything.
const FALLBACK_MERCHANT_NAME: &str = "Loja fallback";
/// The merchants among which those two are looked for.
const MERCHANTS_LOOKED_AT: i64 = 1000;
/// The file with the account's values, for shells.
const ENV_FILE_NAME: &str = "dev.env";

/// The account of the sandbox.
pub struct Account {
    /// What `X-Client-Id` names.
    pub client_id: ClientId,
    /// What `X-Api-Key` holds.
    pub api_key: Zeroizing<String>,
    /// A merchant with two healthy providers.
    pub merchant_id: MerchantId,
    /// A merchant whose first provider declines everything with `try_again`.
    pub fallback_merchant_id: MerchantId,
}

/// Why the sandbox was not made.
#[derive(Debug, thiserror::Error)]
pub enum DevError {
    /// A setting does not fit.
    #[error("{0}")]
    Setting(&'static str),
    /// The key-encryption key is missing, so the data sealed under it cannot be opened.
    #[error("{} is gone: the data beside it cannot be opened; restore it, or begin anew in another folder", .0.display())]
    KeyIsGone(PathBuf),
    /// A file cannot be written.
    #[error("{} cannot be written", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The application did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The database failed.
    #[error("the account cannot be made")]
    Store(#[from] StoreError),
    /// The vault failed.
    #[error("the account cannot be made")]
    Vault(#[from] VaultError),
    /// A merchant could not be made.
    #[error("a merchant cannot be made")]
    Merchant(#[from] ApiError),
    /// The sales plan could not be made.
    #[error("the sales plan cannot be made")]
    Plan(#[source] Error),
    /// A change was refused, or its outcome is unknown.
    #[error("the account was not written; start again")]
    NotWritten,
}

/// Creates the folder and, at the first start, the key-encryption key.
///
/// # Errors
/// [`DevError::Setting`] when the configuration is not that of a sandbox on this machine, [`DevError::KeyIsGone`],
/// [`DevError::File`].
pub fn prepare(config: &Config, chance: &Chance) -> Result<(), DevError> {
    if config.mode == Mode::Production {
        return Err(DevError::Setting(
            "`regente dev` is for sandbox mode; use `regente serve` in production",
        ));
    }
    let database = match config.database_address().map_err(StartError::from)? {
        DatabaseAddress::Sqlite(path) => path,
        DatabaseAddress::Postgres(_) => {
            return Err(DevError::Setting(
                "`regente dev` uses an embedded database; use `regente serve` on PostgreSQL",
            ));
        }
    };
    make_private_folder(&config.data_dir)?;
    make_private_folder(parent_of(&database))?;
    let Some(kek_file) = config.vault.kek_file.as_deref().filter(|_| config.vault.kek.is_none()) else {
        return Ok(());
    };
    match (kek_file.exists(), database.exists()) {
        (true, _) => Ok(()),
        (false, true) => Err(DevError::KeyIsGone(kek_file.to_owned())),
        (false, false) => {
            make_private_folder(parent_of(kek_file))?;
            write_kek(kek_file, &Kek::generate(chance), Some(DEV_KEK_MARK))
                .map_err(|error| DevError::File(kek_file.to_owned(), error))
        }
    }
}

/// Writes a new key-encryption key, readable by its owner alone, and syncs it to disk: data sealed under a lost key
/// cannot be opened.
///
/// # Errors
/// The file exists, or cannot be written.
pub fn write_kek(path: &Path, kek: &Kek, comment: Option<&str>) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path)?;
    if let Some(comment) = comment {
        writeln!(file, "{comment}")?;
    }
    writeln!(file, "{}", kek.expose_text().as_str())?;
    file.sync_all()?;
    std::fs::File::open(parent_of(path))?.sync_all()
}

/// Finds the account, or creates what is missing of it.
///
/// # Errors
/// [`DevError::Store`], [`DevError::Vault`], [`DevError::Merchant`], [`DevError::Plan`], [`DevError::NotWritten`].
pub async fn account(app: &App, config: &Config) -> Result<Account, DevError> {
    let (kek, _) = config.kek().map_err(StartError::from)?;
    let api_key = dev_api_key(&kek);
    let client_id = match find_client(app, &api_key).await? {
        Some(client_id) => client_id,
        None => make_client(app, &api_key).await?,
    };
    let known = rows::list(&app.store, client_id, MERCHANTS_LOOKED_AT, 0).await?;
    let merchant_id = match find_merchant(&known, MERCHANT_NAME) {
        Some(id) => id,
        None => {
            make_merchant(app, client_id, MERCHANT_NAME, [healthy("Sandbox A", 1), healthy("Sandbox B", 2)])
                .await?
        }
    };
    let fallback_merchant_id = match find_merchant(&known, FALLBACK_MERCHANT_NAME) {
        Some(id) => id,
        None => {
            let providers = [declining("Sandbox that declines", 1), healthy("Sandbox B", 2)];
            make_merchant(app, client_id, FALLBACK_MERCHANT_NAME, providers).await?
        }
    };
    Ok(Account { client_id, api_key, merchant_id, fallback_merchant_id })
}

/// Writes the account's values to a file for shells, readable by its owner alone, and returns its path.
///
/// # Errors
/// [`DevError::File`].
pub fn write_env_file(config: &Config, url: &str, account: &Account) -> Result<PathBuf, DevError> {
    let path = config.data_dir.join(ENV_FILE_NAME);
    let folder = path::absolute(&config.data_dir).map_err(|error| DevError::File(path.clone(), error))?;
    let values = [
        // The command line finds the sandbox from any folder.
        ("REGENTE_DATA_DIR", shell_quoted(&folder.display().to_string())),
        ("REGENTE_URL", url.to_owned()),
        ("REGENTE_CLIENT_ID", account.client_id.to_string()),
        ("REGENTE_API_KEY", account.api_key.to_string()),
        ("REGENTE_MERCHANT_ID", account.merchant_id.to_string()),
        ("REGENTE_FALLBACK_MERCHANT_ID", account.fallback_merchant_id.to_string()),
    ];
    let text: String = values.iter().map(|(name, value)| format!("export {name}={value}\n")).collect();
    replace_privately(&path, &text).map_err(|error| DevError::File(path.clone(), error))?;
    Ok(path)
}

/// The values of that file by name, as they are quoted there; none where there is no file, or this user may not read it.
pub fn read_env_file(config: &Config) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(config.data_dir.join(ENV_FILE_NAME)).unwrap_or_default();
    let values = text.lines().filter_map(|line| line.strip_prefix("export ")?.split_once('='));
    values.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A text as one word of a shell, quoted where necessary.
pub fn shell_quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%".contains(character);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Replaces a file atomically: a reader sees the old text or the new one.
fn replace_privately(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("env.new");
    drop(std::fs::remove_file(&fresh));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(&fresh)?.write_all(text.as_bytes())?;
    std::fs::rename(&fresh, path)
}

/// The client to which the key belongs, among the oldest of the database.
async fn find_client(app: &App, api_key: &str) -> Result<Option<ClientId>, StoreError> {
    let digest = access::digest(api_key);
    for client in clients::list(&app.store, None, DEV_CLIENTS_LOOKED_AT).await? {
        let found =
            credentials::look_up(&app.store, client.id, &digest).await?.and_then(|found| found.credential);
        if found.is_some_and(|credential| credential.revoked_at.is_none()) {
            return Ok(Some(client.id));
        }
    }
    Ok(None)
}

/// Creates the client and its key in one batch, so that neither exists alone.
async fn make_client(app: &App, api_key: &str) -> Result<ClientId, DevError> {
    let new =
        NewClient { terms: example_terms().map_err(DevError::Plan)?, ..NewClient::named(DEV_CLIENT_NAME) };
    let (client_id, mut batch) = new.plan_creation(app, Actor::Operator)?;
    let key = NewCredential {
        digest: access::digest(api_key),
        id: app.chance.id(app.clock.deployment()),
        kind: CredentialKind::SecretKey,
        label: KEY_LABEL.to_owned(),
        scopes: Scopes::All,
        session_id: None,
        expires_at: None,
        actor: Actor::Operator,
    };
    credentials::insert(&mut batch, &key);
    record(app, &mut batch, "secret_key.created", "credential", key.id.uuid());
    write(app, batch).await?;
    Ok(client_id)
}

fn find_merchant(known: &[MerchantWithProviders], name: &str) -> Option<MerchantId> {
    let found = known.iter().find(|found| found.merchant.details.name.as_deref() == Some(name));
    found.map(|found| found.merchant.id)
}

async fn make_merchant(
    app: &App,
    client_id: ClientId,
    name: &str,
    providers: [Value; 2],
) -> Result<MerchantId, DevError> {
    let details = MerchantDetails {
        mcc: Mcc::parse_digits("5812").ok_or(DevError::Setting("the category code is not known"))?,
        name: Some(name.to_owned()),
        merchant_name: None,
        merchant_url: None,
        platform_fee: Fees::default(),
        unknown: Map::new(),
    };
    // Parsed like a caller's request, so that the same rules hold.
    let read = |sent: &Value| -> Result<NewProvider, ApiError> {
        Ok(accepted(app, Body::parse(sent.to_string().as_bytes())?.read_as()?)?)
    };
    let providers = providers.iter().map(read).collect::<Result<_, _>>()?;
    let new = NewMerchant { details, providers };
    let planned = merchants::plan_creation(app, client_id, (&Actor::Operator, None), &new);
    let (batch, made) = planned.map_err(ApiError::from)?;
    write(app, batch).await?;
    Ok(made.merchant.id)
}

/// What the default plan says: the example of the interface.
fn example_terms() -> Result<Terms, Error> {
    let policy = |method: &str, days: u16| json!({ "paymentMethod": method, "payoutTermDays": days, "payoutRecurrence": "daily" });
    let plan = json!({
        "name": "Standard",
        "policies": [policy("credit", 30), policy("pix", 1)],
        "fees": [
            { "paymentMethod": "credit", "installmentsFrom": 1, "installmentsTo": 1, "percentage": 2.99,
                "fixedAmount": 39 },
            { "paymentMethod": "credit", "installmentsFrom": 2, "installmentsTo": 12, "percentage": 3.79,
                "fixedAmount": 39 },
            { "paymentMethod": "pix", "percentage": 0.99 }
        ]
    });
    let new: Result<NewPlan, Problems> = wire::read(plan.as_object().cloned().unwrap_or_default());
    Ok(new?.terms())
}

fn healthy(name: &str, priority: u8) -> Value {
    json!({ "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": "dev" } })
}

fn declining(name: &str, priority: u8) -> Value {
    json!({
        "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": "dev" },
        "options": { "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] },
    })
}

fn record(app: &App, batch: &mut Batch, action: &'static str, object_kind: &'static str, object_id: Uuid) {
    let id = app.chance.id(app.clock.of(batch.client_id()));
    let entry = AuditEntry { id, actor: Actor::Operator, action, object_kind, object_id, request_id: None };
    audit::record(batch, entry);
}

async fn write(app: &App, batch: Batch) -> Result<(), DevError> {
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // The next start finds what was written.
        Commit::Refused(_) | Commit::Unknown => Err(DevError::NotWritten),
    }
}
