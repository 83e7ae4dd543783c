//! Builds the application from its configuration: database, keys, simulator, clocks. Weak or missing parts are refused
//! here, before anything is served.

mod derived;
pub mod dev;

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regente_domain::provider_type::ProviderType;
use regente_engine::app as engine;
use regente_engine::bank::{SharedBank, SimulatedBank};
use regente_engine::calls::circuits::Circuits;
use regente_engine::calls::in_flight::InFlight;
use regente_engine::calls::learned::Learned;
use regente_engine::calls::merchants::no_merchants;
use regente_engine::calls::refusals::Refusals;
use regente_engine::calls::repeats::Repeats;
use regente_engine::calls::returns::Returns;
use regente_engine::chance::{Chance, NoRandomness};
use regente_engine::clock::Clock;
use regente_engine::outbound::{Outbound, SystemLookup};
use regente_engine::return_address::ReturnAddresses;
use regente_engine::vault::{Kek, Vault, VaultError};
use regente_providers::anti_fraud::{AntiFraudAdapter, AntiFraudProviders};
use regente_providers::authentication::AuthenticationServers;
use regente_providers::http_client::HttpClient;
use regente_providers::provider::{Adapter, Providers};
use regente_providers::request::Mode;
use regente_providers::sandbox::http::{RemoteError, RemoteSandbox};
use regente_providers::sandbox::{
    CardholderBooks, Sandbox, SimulatedServer, TransactionLog, TransactionLogError,
};
use regente_providers::{adyen, own_provider, pagarme_v5, stripe};
use regente_store::moving::Moving;
use regente_store::{Contents, DatabaseKind, Store, StoreError, StoreOptions};
use zeroize::Zeroizing;

use crate::app::{App, Parts, no_credentials};
use crate::config::{Config, ConfigError, OwnProvider, Simulator, TooWeak, TransactionLogLocation};
use crate::http::MonotonicClock;
use crate::http::error::kept_answer;
use crate::http::limits::Limiters;
use crate::human_check::ProofOfWork;

pub use derived::DEV_CLIENT_NAME;

/// What to do about pending migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrations {
    /// Apply them.
    Apply,
    /// Apply them to an embedded file, which belongs to one process; refuse to start with a database server, which
    /// other processes use.
    ApplyToSqlite,
}

/// Whether a missing database is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Create it.
    Make,
    /// Report an error: the command was pointed at the wrong place.
    Refuse,
}

/// Why the application did not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The deployment is too weak for production.
    #[error(transparent)]
    TooWeak(#[from] TooWeak),
    /// The folder of the data cannot be made.
    #[error("the folder {} cannot be made", .0.display())]
    Folder(PathBuf, #[source] std::io::Error),
    /// A file of the data cannot be made.
    #[error("{} cannot be made", .0.display())]
    File(PathBuf, #[source] std::io::Error),
    /// The embedded database does not exist; the second part says where it was looked for.
    #[error("there is no database at {}{}; `regente migrate` makes one there", .0.display(), .1)]
    NoDatabase(PathBuf, String),
    /// The file is empty; the second part says where it was looked for.
    #[error("{} is no database of this service{}; `regente migrate` makes its tables there", .0.display(), .1)]
    Empty(PathBuf, String),
    /// The file is another program's; the second part says where it was looked for.
    #[error("{} is no database of this service{}: it belongs to something else; name another file", .0.display(), .1)]
    NotOurs(PathBuf, String),
    /// The database cannot be opened.
    #[error("the database cannot be opened")]
    Store(#[from] StoreError),
    /// The schema is older than this release, and other processes use the database.
    #[error("migrations are pending ({}); run `regente migrate`, or start with `--migrate`", .0.join(", "))]
    Pending(Vec<&'static str>),
    /// The database is the target of a move that has not ended.
    #[error(
        "the database is the target of a `regente move` that has not ended, and does not hold everything yet: run the same \
         command again, to its end"
    )]
    MoveUnderWay,
    /// A move from or to this database is under way.
    #[error(
        "a `regente move` from or to this database is under way; once it has ended, start on the database that it moves to"
    )]
    BeingMoved,
    /// The database was moved to another one.
    #[error(
        "everything of this database was moved to another one by `regente move`, and nothing of what has happened there since is \
         here: a server would charge again what was charged there. Set `database.url` to the other one; or, if nobody uses that \
         one, let this one be served again with `regente move --reopen`"
    )]
    MovedAway,
    /// The keys cannot be opened.
    #[error("the vault cannot be opened")]
    Vault(#[from] VaultError),
    /// The simulator's transaction log cannot be opened.
    #[error("the transaction log of the simulator cannot be opened at {}", .0.display())]
    SimulatorLog(PathBuf, #[source] TransactionLogError),
    /// The client for a simulator in another process cannot be made.
    #[error(transparent)]
    Simulator(#[from] RemoteError),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Chance(#[from] NoRandomness),
    /// A task of the start panicked.
    #[error("the start was interrupted")]
    Interrupted(#[from] tokio::task::JoinError),
}

/// The database of the configuration and the options of its use. An embedded one that is missing or empty is refused, or the
/// folder is made; a file of another program is always refused.
///
/// # Errors
/// [`StartError::Config`], [`StartError::Folder`], [`StartError::NoDatabase`], [`StartError::Empty`], [`StartError::NotOurs`],
/// [`StartError::Store`].
pub fn find_database(config: &Config, missing: Missing) -> Result<StoreOptions, StartError> {
    let options = config.store_options()?;
    match &options {
        StoreOptions::Sqlite(sqlite) => match missing {
            Missing::Make if !sqlite.path.exists() => make_private_folder(parent_of(&sqlite.path))?,
            Missing::Make | Missing::Refuse => must_be_ours(config, &sqlite.path, missing)?,
        },
        StoreOptions::Postgres(_) => {}
    }
    Ok(options)
}

fn must_be_ours(config: &Config, path: &Path, missing: Missing) -> Result<(), StartError> {
    let refused = |why: fn(PathBuf, String) -> StartError| why(path.to_owned(), config.looked_in(path));
    if !path.exists() {
        return Err(refused(StartError::NoDatabase));
    }
    match (regente_store::contents(path)?, missing) {
        (Contents::Ours, _) | (Contents::Nothing, Missing::Make) => Ok(()),
        (Contents::Nothing, Missing::Refuse) => Err(refused(StartError::Empty)),
        (Contents::SomethingElse, _) => Err(refused(StartError::NotOurs)),
    }
}

/// Opens a database that was found, and applies migrations as far as `migrations` allows.
///
/// # Errors
/// [`StartError::Store`], [`StartError::MoveUnderWay`], [`StartError::Pending`].
pub async fn open_store(
    options: StoreOptions,
    clock: &Clock,
    migrations: Migrations,
) -> Result<Store, StartError> {
    let store = Store::open(options).await?;
    match bring_up_to_date(&store, clock, migrations).await {
        Ok(()) => Ok(store),
        Err(error) => {
            store.close().await;
            Err(error)
        }
    }
}

/// Builds the application.
///
/// # Errors
/// Any [`StartError`]; the database is closed again.
pub async fn open(config: &Config, migrations: Migrations, missing: Missing) -> Result<App, StartError> {
    open_by(config, Clock::system(), migrations, missing).await
}

/// As [`open`], with another clock than the machine's for the time of records.
///
/// # Errors
/// As [`open`].
pub async fn open_by(
    config: &Config,
    clock: Clock,
    migrations: Migrations,
    missing: Missing,
) -> Result<App, StartError> {
    config.check_strength()?;
    let chance = Chance::system()?;
    // Before the key: whoever is in the wrong folder finds neither, and is told of the folder.
    let options = find_database(config, missing)?;
    let (kek, _) = config.kek()?;
    let store = open_store(options, &clock, migrations).await?;
    open_on(store, config, &kek, clock, chance).await
}

/// Builds the application on a database that is open and has the schema of this release.
///
/// # Errors
/// Any [`StartError`]; the database is closed again.
pub async fn open_on(
    store: Store,
    config: &Config,
    kek: &Kek,
    clock: Clock,
    chance: Chance,
) -> Result<App, StartError> {
    if let Err(error) = clock.follow(&store).await {
        store.close().await;
        return Err(error.into());
    }
    if let Err(error) = follow_accounts(config, &clock, &store).await {
        store.close().await;
        return Err(error.into());
    }
    match assemble(config, &store, kek, clock, chance).await {
        Ok(app) => {
            #[cfg(feature = "bench-without-storage")]
            if config.database.discard_writes {
                tracing::warn!("every write is thrown away: this is a benchmark");
                app.store.discard_writes(regente_store::DiscardWrites::Yes);
            }
            Ok(app)
        }
        Err(error) => {
            store.close().await;
            Err(error)
        }
    }
}

/// In the sandbox, accounts may have clocks of their own. In production there is only the machine's, whatever is stored.
async fn follow_accounts(config: &Config, clock: &Clock, store: &Store) -> Result<(), StoreError> {
    match config.mode {
        Mode::Sandbox => clock.follow_accounts(store).await,
        Mode::Production => Ok(()),
    }
}

async fn assemble(
    config: &Config,
    store: &Store,
    kek: &Kek,
    clock: Clock,
    chance: Chance,
) -> Result<App, StartError> {
    derived::refuse_dev_key_in_production(config, store, kek).await?;
    let vault = Vault::unlock(store.clone(), kek.clone(), chance.clone(), clock.clone()).await?;
    let settings = config.settings();
    let life = settings.cache_life;
    let credentials = no_credentials(clock.clone(), life);
    let machine = clock.clone();
    let now: MonotonicClock = Arc::new(move || machine.machine().elapsed());
    let Simulated { payments, platform, risk, challenges, log: simulator_log } =
        simulator(config, kek, &clock).await?;
    let own = own_provider(config, platform)?;
    let return_addresses = ReturnAddresses::new(&derived::return_address_key(kek), settings.base_url.clone());
    let engine = engine::App::new(engine::Parts {
        store: store.clone(),
        vault,
        providers: Providers::with([payments].into_iter().chain(own).chain(real_providers(config)?)),
        authentication: AuthenticationServers::with(challenges.as_ref().map(SimulatedServer::adapter)),
        return_addresses,
        apple_pay: config.apple_pay_keys()?,
        anti_fraud: AntiFraudProviders::with([risk]),
        outbound: Outbound::new(config.outbound_rules()?, SystemLookup),
        circuits: Circuits::new(settings.circuits, clock.clone()),
        report_files: config.report_files()?,
        mailer: config.mailer()?,
        bank: bank(config.mode, store),
        merchants: no_merchants(clock.clone(), life),
        clock,
        chance,
        settings,
        learned: Learned::default(),
        repeats: Repeats::default(),
        returns: Returns::default(),
        forged_notifications: Refusals::default(),
        refused_credentials: Refusals::default(),
        in_flight: InFlight::default(),
        answer_to: kept_answer,
    });
    let limits = config.http_limits();
    Ok(App::new(Parts {
        engine,
        simulator_log,
        challenges,
        fields_origin: config.fields_origin(),
        legacy_pages: config.legacy_pages(),
        dashboard: config.dashboard(),
        human_check: Box::new(ProofOfWork),
        credentials,
        limiters: Limiters::new(&limits, &now),
        limits,
    }))
}

/// The bank that pays receivers: in the sandbox a simulator. In production there is none, and operators tell what they have paid.
fn bank(mode: Mode, store: &Store) -> Option<SharedBank> {
    match mode {
        Mode::Sandbox => Some(Arc::new(SimulatedBank::new(store.clone()))),
        Mode::Production => None,
    }
}

/// The adapters of the providers that move real money.
fn real_providers(config: &Config) -> Result<[Adapter; 3], StartError> {
    let http = HttpClient::new(config.provider_http_options()?);
    let at = config.provider_addresses()?;
    Ok([
        stripe::adapter(http.clone(), at.stripe),
        adyen::adapter(http.clone(), at.adyen),
        pagarme_v5::adapter(http, at.pagarme_v5),
    ])
}

/// Who answers as the platform's own provider, under the code of the installation.
fn own_provider(config: &Config, simulator: Adapter) -> Result<Option<Adapter>, StartError> {
    if let Some(code) = &config.own_provider.code {
        ProviderType::name_own_provider(code);
    }
    Ok(match config.own_provider()? {
        OwnProvider::Processor(options) => {
            Some(own_provider::adapter(HttpClient::new(config.provider_http_options()?), options))
        }
        OwnProvider::Simulator => Some(simulator),
        OwnProvider::Nobody => None,
    })
}

/// The simulator's transaction log for reading; `None` where there is none.
///
/// # Errors
/// [`StartError::SimulatorLog`].
pub async fn existing_simulator_log(config: &Config) -> Result<Option<TransactionLog>, StartError> {
    match config.simulator()? {
        Simulator::InProcess(TransactionLogLocation::File(path)) if path.exists() => {
            open_simulator_log(TransactionLogLocation::File(path)).await.map(Some)
        }
        Simulator::InProcess(TransactionLogLocation::File(_) | TransactionLogLocation::Memory)
        | Simulator::Remote(_) => Ok(None),
    }
}

/// The simulator's adapters, and its transaction log when it is in this process.
struct Simulated {
    payments: Adapter,
    /// As the platform's own provider.
    platform: Adapter,
    risk: AntiFraudAdapter,
    /// The 3DS server: only in a sandbox that knows its own address.
    challenges: Option<SimulatedServer>,
    log: Option<TransactionLog>,
}

/// The simulator, in this process or at the address in the configuration.
async fn simulator(config: &Config, kek: &Kek, clock: &Clock) -> Result<Simulated, StartError> {
    let challenges = |books: Arc<dyn CardholderBooks>| match (config.mode, &config.server.base_url) {
        (Mode::Sandbox, Some(base_url)) => {
            let key = derived::challenge_key(kek);
            Some(SimulatedServer::new(books, &key, Arc::from(base_url.as_str())))
        }
        (Mode::Sandbox, None) | (Mode::Production, _) => None,
    };
    match config.simulator()? {
        Simulator::InProcess(place) => {
            let sandbox = open_sandbox(config, place, derived::card_hash_key(kek), clock).await?;
            let log = Some(sandbox.transaction_log().clone());
            let challenges = challenges(Arc::new(sandbox.clone()));
            let (platform, risk) = (sandbox.platform_adapter(), sandbox.anti_fraud_adapter());
            Ok(Simulated { payments: sandbox.into_adapter(), platform, risk, challenges, log })
        }
        Simulator::Remote(options) => {
            let remote = RemoteSandbox::new(options)?;
            let challenges = challenges(Arc::new(remote.clone()));
            let (platform, risk) = (remote.platform_adapter(), remote.anti_fraud_adapter());
            Ok(Simulated { payments: remote.into_adapter(), platform, risk, challenges, log: None })
        }
    }
}

/// The simulator with this transaction log and the fault plan of the configuration. It sends its notifications until it
/// is dropped.
///
/// # Errors
/// [`StartError::SimulatorLog`], [`StartError::Config`], or the file cannot be created.
pub async fn open_sandbox(
    config: &Config,
    place: TransactionLogLocation,
    card_hash_key: Zeroizing<Vec<u8>>,
    clock: &Clock,
) -> Result<Sandbox, StartError> {
    let sandbox = Sandbox::new(config.sandbox_options(card_hash_key), open_simulator_log(place).await?);
    if let Some((path, plan)) = config.sandbox_faults()? {
        sandbox.set_plan(plan, "faults").map_err(|problems| {
            let problems = problems.into_details().join("; ");
            ConfigError::one(format!("`sandbox.faults_file` {}: {problems}", path.display()))
        })?;
    }
    if let Some(outbox) = sandbox.take_outbox() {
        let clock = clock.clone();
        tokio::spawn(outbox.run(move || clock.deployment()));
    }
    Ok(sandbox)
}

async fn open_simulator_log(place: TransactionLogLocation) -> Result<TransactionLog, StartError> {
    let path = match place {
        TransactionLogLocation::Memory => return Ok(TransactionLog::memory()),
        TransactionLogLocation::File(path) => path,
    };
    make_private_folder(parent_of(&path))?;
    make_private_file(&path)?;
    let opened = path.clone();
    let log = tokio::task::spawn_blocking(move || TransactionLog::file(&opened)).await?;
    log.map_err(|error| StartError::SimulatorLog(path, error))
}

async fn bring_up_to_date(store: &Store, clock: &Clock, migrations: Migrations) -> Result<(), StartError> {
    must_stay(store).await?;
    match (store.database_kind(), migrations) {
        (DatabaseKind::Sqlite, _) | (DatabaseKind::Postgres, Migrations::Apply) => {
            Ok(store.migrate(clock.deployment()).await?)
        }
        (DatabaseKind::Postgres, Migrations::ApplyToSqlite) => {
            let pending = store.pending_migrations().await?;
            if pending.is_empty() { Ok(()) } else { Err(StartError::Pending(pending)) }
        }
    }
}

/// Whether a database may be used: a move has nothing to do with it.
///
/// # Errors
/// [`StartError::MoveUnderWay`], [`StartError::BeingMoved`], [`StartError::MovedAway`], [`StartError::Store`].
pub async fn must_stay(store: &Store) -> Result<(), StartError> {
    match store.moving().await? {
        None => Ok(()),
        Some(Moving::Here) => Err(StartError::MoveUnderWay),
        Some(Moving::Away) => Err(StartError::BeingMoved),
        Some(Moving::MovedAway) => Err(StartError::MovedAway),
    }
}

/// The folder that holds a file.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Creates a folder and its parents, accessible to their owner alone. An existing folder is not changed.
///
/// # Errors
/// [`StartError::Folder`].
pub fn make_private_folder(folder: &Path) -> Result<(), StartError> {
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| StartError::Folder(folder.to_owned(), error))
}

/// Creates an empty file, accessible to its owner alone. An existing file is not changed.
fn make_private_file(path: &Path) -> Result<(), StartError> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    options.open(path).map(drop).map_err(|error| StartError::File(path.to_owned(), error))
}
