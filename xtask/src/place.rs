//! The data folder and settings of a service, without the running process. Accounts are created in this process by
//! the product's own functions, while no service has the database open.

pub(crate) mod payouts;
pub(crate) mod sellers;
mod work;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use futures_util::{StreamExt, TryStreamExt, stream};
use regente::access::{NewClient, create_client, create_secret_key};
use regente::api::router::router;
use regente::app::App;
use regente::bootstrap::{self, Migrations, Missing};
use regente::config::{Loaded, Sources};
use regente::settlement::write_sandbox_file;
use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_engine::jobs::Worker;
use regente_store::{Batch, Commit, CounterDelta, counters, fold, transaction_requests};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::Outcome;

/// Accounts created at once.
const MAKING_MAX: usize = 64;
/// Entries of the simulator's transaction log that are read at once.
const LOG_ENTRIES_AT_ONCE: usize = 1_000;
/// Unknown outcomes that are read.
const GIVEN_UP_MAX: i64 = 1_000_000;
/// A job with more to do is due again after this time.
const SOON: Duration = Duration::from_secs(1);

/// Where the simulator's transaction log is.
const BOOKS: &str = "REGENTE_SANDBOX__BOOKS";

/// The files and settings of a service.
#[derive(Clone)]
pub(crate) struct Place {
    binary: PathBuf,
    folder: Arc<Folder>,
    settings: Vec<(String, String)>,
    is_reachable: bool,
}

/// A folder that is removed with its last user, or kept.
enum Folder {
    Passing(tempfile::TempDir),
    Kept(PathBuf),
}

/// An account with a key and a merchant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The value of `X-Client-Id`.
    pub(crate) client_id: String,
    /// The value of `X-Api-Key`.
    pub(crate) api_key: String,
    /// A merchant of it.
    pub(crate) merchant_id: String,
}

impl Place {
    /// A new folder inside `parent`, removed with the place.
    pub(crate) fn passing(binary: &Path, parent: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(parent)?;
        let folder = tempfile::Builder::new().prefix("place-").tempdir_in(parent)?;
        Ok(Self::of(binary, Folder::Passing(folder)))
    }

    /// A folder that is kept.
    pub(crate) fn kept(binary: &Path, folder: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self::of(binary, Folder::Kept(folder.canonicalize()?)))
    }

    fn of(binary: &Path, folder: Folder) -> Self {
        let settings = [
            ("REGENTE_VAULT__KEK", "4f2a".repeat(16)),
            (BOOKS, "memory".to_owned()),
            ("REGENTE_LOG__LEVEL", "error".to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self { binary: binary.to_owned(), folder: Arc::new(folder), settings, is_reachable: false }
    }

    /// Adds a setting as an environment variable; a later one overrides.
    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.push((name.to_owned(), value.to_string()));
        self
    }

    /// Keeps the simulator's transaction log in a file, which outlives a process and takes none of its memory.
    pub(crate) fn with_books_on_disk(self) -> Self {
        let books = self.folder().join("books.db").display().to_string();
        self.with(BOOKS, books)
    }

    /// Tells each service of the place its own address, so that providers can notify it.
    pub(crate) fn reachable(self) -> Self {
        Self { is_reachable: true, ..self }
    }

    /// Whether a service of the place knows its own address.
    pub(crate) const fn is_reachable(&self) -> bool {
        self.is_reachable
    }

    /// Uses a PostgreSQL database instead of a file.
    pub(crate) fn on_postgres(self, url: &str) -> Self {
        self.with("REGENTE_DATABASE__URL", url)
    }

    /// Runs without storage: writes are discarded, reads answered from memory. Only a binary built for it knows the
    /// setting.
    pub(crate) fn without_storage(self, binary: &Path) -> Self {
        Self { binary: binary.to_owned(), ..self }.with("REGENTE_DATABASE__DISCARD_WRITES", true)
    }

    /// The folder of the data.
    pub(crate) fn folder(&self) -> &Path {
        match &*self.folder {
            Folder::Passing(folder) => folder.path(),
            Folder::Kept(folder) => folder,
        }
    }

    /// Copies the files and settings to a new place beside this one, removed with it. The files must be closed.
    pub(crate) fn copy(&self) -> Outcome<Self> {
        let parent = self.folder().parent().ok_or("a place without a folder around it")?;
        let copy = Self {
            settings: self.settings.clone(),
            is_reachable: self.is_reachable,
            ..Self::passing(&self.binary, parent)?
        };
        for entry in std::fs::read_dir(self.folder())? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), copy.folder().join(entry.file_name()))?;
            }
        }
        Ok(copy)
    }

    /// The command of the binary with the settings and `arguments`.
    pub(crate) fn regente(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(String, String)> {
        let folder = ("REGENTE_DATA_DIR".to_owned(), self.folder().display().to_string());
        std::iter::once(folder).chain(self.settings.iter().cloned()).collect()
    }

    /// Opens the product in this process with `clock`. The caller closes it before a service starts here.
    pub(crate) async fn open(&self, clock: Clock) -> Outcome<Inside> {
        let environment = self.environment();
        let loaded = Loaded::read(&Sources { environment, ..Sources::default() })?;
        let app = bootstrap::open_by(&loaded.config, clock, Migrations::Apply, Missing::Make).await?;
        Ok(Inside { router: router(app.clone()), app })
    }

    /// Creates an account without a merchant by the commands of the binary, on its own database: this process may be
    /// of a release whose database the binary cannot read.
    pub(crate) fn make_account_by_commands(&self) -> Outcome<Account> {
        self.printed(&["migrate"])?;
        let client = self.printed(&["clients", "create", "Account", "--json"])?;
        let client: Value = serde_json::from_slice(&client)?;
        let client_id = client["id"].as_str().ok_or("no id of the account")?.to_owned();
        let key: Value = serde_json::from_slice(&self.printed(&["keys", "create", &client_id, "--json"])?)?;
        let api_key = key["key"].as_str().ok_or("no key of the account")?.to_owned();
        Ok(Account { client_id, api_key, merchant_id: String::new() })
    }

    /// The output of a command of the binary.
    pub(crate) fn printed(&self, arguments: &[&str]) -> Outcome<Vec<u8>> {
        let output = self.regente(arguments).output()?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(format!("{} {}: {why}", self.binary.display(), arguments.join(" ")).into())
        }
    }

    /// Creates accounts, each with a merchant that has these providers.
    pub(crate) async fn make_accounts(&self, how_many: usize, providers: &Value) -> Outcome<Vec<Account>> {
        let inside = self.open(Clock::system()).await?;
        let names = stream::iter(0..how_many).map(|number| format!("Account {number}"));
        let making = names.map(|name| inside.make_account(name, providers)).buffered(MAKING_MAX);
        let made = making.try_collect().await;
        inside.close().await;
        made
    }
}

/// The product in this process; requests go to its router without a connection.
#[derive(Clone)]
pub(crate) struct Inside {
    app: App,
    router: Router,
}

impl Inside {
    /// Flushes the writes and closes the database.
    pub(crate) async fn close(self) {
        self.app.store.close().await;
    }

    /// Bytes of the database, on all its servers and without their logs.
    pub(crate) async fn database_bytes(&self) -> Outcome<u64> {
        Ok(self.app.store.size().await?.database_bytes)
    }

    /// Runs the due jobs, and those due again soon, until none is left. The clock advances meanwhile.
    pub(crate) async fn work_off(&self, clock: &Clock) -> Outcome {
        let worker = Worker::new(self.app.engine.clone());
        worker.prepare().await.map_err(|error| format!("{error:?}"))?;
        while worker.round().await.map_err(|error| format!("{error:?}"))?.jobs > 0 {
            clock.advance(SOON);
        }
        Ok(())
    }

    /// The objects with an outcome that is unknown for good, as an operator is told.
    pub(crate) async fn given_up(&self) -> Outcome<HashSet<String>> {
        let given_up = transaction_requests::given_up(&self.app.store, GIVEN_UP_MAX).await?;
        Ok(given_up.into_iter().map(|stored| stored.request.object_id.to_string()).collect())
    }

    /// Writes counters of charges that are not there.
    pub(crate) async fn put_counters(&self, client_id: ClientId, deltas: Vec<CounterDelta>) -> Outcome {
        let mut batch = Batch::new(client_id);
        for delta in deltas {
            batch.count(delta);
        }
        self.apply(batch).await
    }

    /// Folds the next page of a client's counters, as the job does. Returns the number of its rows.
    pub(crate) async fn fold_page(&self, client_id: ClientId, rows_max: i64) -> Outcome<usize> {
        let hour = self.app.clock.deployment().hour();
        let unfolded = fold::unfolded::<counters::Kind>(&self.app.store, client_id, hour, rows_max).await?;
        let mut batch = Batch::new(client_id);
        fold::fold(&mut batch, &unfolded);
        self.apply(batch).await?;
        Ok(unfolded.len())
    }

    /// Writes the settlement file of all that the simulator of this process has done.
    pub(crate) async fn write_settlement_file(&self, file: std::fs::File) -> Outcome {
        let log = self.app.simulator_log.as_ref().ok_or("no simulator in this process")?;
        let (from, to) = (Timestamp::EPOCH, self.app.clock.deployment() + SOON);
        let read = async |after| log.settlement(from, to, after, LOG_ENTRIES_AT_ONCE).await;
        write_sandbox_file(file, read).await.map_err(|error| error.to_string())?;
        Ok(())
    }

    async fn apply(&self, batch: Batch) -> Outcome {
        match self.app.store.apply(batch).await? {
            Commit::Applied => Ok(()),
            other @ (Commit::Refused(_) | Commit::Unknown) => Err(format!("counters: {other:?}").into()),
        }
    }

    /// An account with a merchant that has these providers.
    pub(crate) async fn make_account(&self, name: String, providers: &Value) -> Outcome<Account> {
        let client_id = create_client(&self.app, NewClient::named(name), Actor::Operator).await?;
        let key = create_secret_key(&self.app, client_id, "bench", Actor::Operator).await?;
        let (client_id, api_key) = (client_id.to_string(), key.key.expose().to_owned());
        let mut account = Account { client_id, api_key, merchant_id: String::new() };
        account.merchant_id = self.make_merchant(&account, providers).await?;
        Ok(account)
    }

    /// Creates one more merchant of an account; returns its id.
    pub(crate) async fn make_merchant(&self, account: &Account, providers: &Value) -> Outcome<String> {
        let body = json!({ "mcc": "5812", "providers": providers });
        let made = self.post(account, "/v1/merchants", &uuid(), &body).await?;
        Ok(made["id"].as_str().ok_or("no id of the merchant")?.to_owned())
    }

    /// Posts with an idempotency key; returns the created object.
    pub(crate) async fn post(
        &self,
        account: &Account,
        path: &str,
        key: &str,
        body: &Value,
    ) -> Outcome<Value> {
        let request = Request::post(path)
            .header("X-Client-Id", &account.client_id)
            .header("X-Api-Key", &account.api_key)
            .header("X-Idempotency-Key", key)
            .header("Content-Type", "application/json")
            .body(Body::from(serde_json::to_vec(body)?))?;
        match self.answer(request).await? {
            (status, bytes) if status.is_success() => Ok(serde_json::from_slice(&bytes)?),
            (status, bytes) => Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into()),
        }
    }

    /// The answer to a read.
    pub(crate) async fn get(&self, account: &Account, path: &str) -> Outcome<Value> {
        let request = Request::get(path)
            .header("X-Client-Id", &account.client_id)
            .header("X-Api-Key", &account.api_key)
            .body(Body::empty())?;
        match self.answer(request).await? {
            (StatusCode::OK, bytes) => Ok(serde_json::from_slice(&bytes)?),
            (status, bytes) => Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into()),
        }
    }

    /// A provider notifies; the status of the answer.
    pub(crate) async fn notify(&self, path: &str, header: (&str, &str), body: &Value) -> Outcome<u16> {
        let request = Request::post(path)
            .header(header.0, header.1)
            .header("Content-Type", "application/json")
            .body(Body::from(body.to_string()))?;
        Ok(self.answer(request).await?.0.as_u16())
    }

    async fn answer(&self, mut request: Request<Body>) -> Outcome<(StatusCode, Vec<u8>)> {
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000))));
        let response = self.router.clone().oneshot(request).await?;
        let status = response.status();
        Ok((status, axum::body::to_bytes(response.into_body(), usize::MAX).await?.to_vec()))
    }
}

/// A new random UUID.
pub(crate) fn uuid() -> String {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid().to_string()
}

/// One simulator without faults.
pub(crate) fn one_simulator() -> Value {
    json!([{ "name": "Simulator", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }])
}

/// A simulator with a delay for every call.
pub(crate) fn slow_simulator(delay_ms: u64) -> Value {
    json!([{
        "name": "Slow", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" },
        "options": { "type": "SANDBOX", "faults": [{ "then": { "delay_ms": delay_ms } }] },
    }])
}
