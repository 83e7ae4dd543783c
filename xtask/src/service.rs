//! A Regente process of this task's own: built for release, on a free port, in a temporary folder, ended with the task.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Outcome, process};

/// Tries of a start, one each [`START_WAIT`].
const START_TRIES_MAX: u32 = 200;
const START_WAIT: Duration = Duration::from_millis(50);

/// Builds the binary that is measured.
pub(crate) fn build() -> Outcome<PathBuf> {
    println!("building regente for release");
    let status =
        Command::new("cargo").args(["build", "--quiet", "--release", "--package", "regente"]).status()?;
    if !status.success() {
        return Err("the build failed".into());
    }
    Ok(Path::new("target/release/regente").canonicalize()?)
}

/// Whether the server writes what it is told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// As always.
    Durable,
    /// Answered at once and thrown away: the ceiling without storage.
    Discarded,
}

/// A running service with a client, its key and a merchant.
pub(crate) struct Service {
    process: Child,
    place: Place,
    /// Where it listens.
    pub(crate) url: String,
    /// The account.
    pub(crate) client_id: String,
    /// A secret key of it.
    pub(crate) api_key: String,
    /// A merchant with one approving simulator.
    pub(crate) merchant_id: String,
}

/// Where a service keeps its data and listens.
struct Place {
    binary: PathBuf,
    folder: tempfile::TempDir,
    postgres: Option<String>,
    port: u16,
    settings: Vec<(String, String)>,
}

impl Place {
    /// The binary with its settings, about to run `arguments`.
    fn regente(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env("REGENTE_DATA_DIR", self.folder.path())
            .env("REGENTE_VAULT__KEK", "4f2a".repeat(16))
            .env("REGENTE_SANDBOX__BOOKS", "memory")
            .env("REGENTE_SERVER__LISTEN", format!("127.0.0.1:{}", self.port))
            .env("REGENTE_LOG__LEVEL", "error");
        if let Some(url) = &self.postgres {
            command.env("REGENTE_DATABASE__URL", url);
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What a command prints as JSON: its member `name`.
    fn printed(&self, arguments: &[&str], name: &str) -> Outcome<String> {
        let output = self.regente(arguments).stderr(Stdio::inherit()).output()?;
        let value: Value = serde_json::from_slice(&output.stdout)?;
        Ok(value[name].as_str().ok_or_else(|| format!("no {name} in {value}"))?.to_owned())
    }

    fn serve(&self, writes: Writes) -> Outcome<Child> {
        Ok(match writes {
            Writes::Durable => self.regente(&["serve"]).spawn()?,
            Writes::Discarded => self.regente(&["serve", "--set", "database.discard_writes=true"]).spawn()?,
        })
    }
}

impl Service {
    /// Starts one on a fresh database: an embedded one in a folder of its own, or the PostgreSQL at `postgres`.
    pub(crate) async fn start(binary: &Path, postgres: Option<&str>, writes: Writes) -> Outcome<Self> {
        Self::start_with(binary, postgres, writes, &[]).await
    }

    /// The same with further settings, as variables of its environment.
    pub(crate) async fn start_with(
        binary: &Path,
        postgres: Option<&str>,
        writes: Writes,
        settings: &[(&str, &str)],
    ) -> Outcome<Self> {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let place = Place {
            binary: binary.to_owned(),
            folder: tempfile::tempdir()?,
            postgres: postgres.map(str::to_owned),
            port: TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
            settings: settings.collect(),
        };
        place.regente(&["migrate"]).stdout(Stdio::null()).status()?;
        let client_id = place.printed(&["clients", "create", "bench", "--json"], "id")?;
        let api_key = place.printed(&["keys", "create", &client_id, "--json"], "key")?;
        let mut service = Self {
            process: place.serve(Writes::Durable)?,
            url: format!("http://127.0.0.1:{}", place.port),
            place,
            client_id,
            api_key,
            merchant_id: String::new(),
        };
        service.wait_until_ready().await?;
        service.merchant_id = service.make_merchant(&one_simulator()).await?;
        if writes == Writes::Discarded {
            // The account and the merchant are real; only what is measured is thrown away.
            service.stop()?;
            service.process = service.place.serve(Writes::Discarded)?;
            service.wait_until_ready().await?;
        }
        Ok(service)
    }

    async fn wait_until_ready(&self) -> Outcome {
        for _ in 0..START_TRIES_MAX {
            let ready = reqwest::get(format!("{}/health/ready", self.url)).await;
            if ready.is_ok_and(|response| response.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(START_WAIT).await;
        }
        Err("the service did not become ready".into())
    }

    /// A merchant with these providers; its id.
    pub(crate) async fn make_merchant(&self, providers: &Value) -> Outcome<String> {
        let request = reqwest::Client::new()
            .post(format!("{}/v1/merchants", self.url))
            .json(&json!({ "mcc": "5812", "providers": providers }));
        let answer: Value = self.signed(request).send().await?.error_for_status()?.json().await?;
        Ok(answer["id"].as_str().ok_or("no id of the merchant")?.to_owned())
    }

    /// What a read answers.
    pub(crate) async fn get(&self, path: &str) -> Outcome<Value> {
        let request = reqwest::Client::new().get(format!("{}{path}", self.url));
        Ok(self.signed(request).send().await?.error_for_status()?.json().await?)
    }

    fn signed(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        request.header("X-Client-Id", &self.client_id).header("X-Api-Key", &self.api_key)
    }

    /// Ends the process at once, as a loss of power would.
    pub(crate) fn kill(&mut self) -> Outcome {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Starts the process again, on what is stored.
    pub(crate) async fn start_again(&mut self) -> Outcome {
        self.process = self.place.serve(Writes::Durable)?;
        self.wait_until_ready().await
    }

    /// Has the deployment examined.
    pub(crate) fn doctor(&self) -> Outcome {
        let output = self.place.regente(&["doctor"]).output()?;
        println!("{}", String::from_utf8_lossy(&output.stdout));
        if output.status.success() { Ok(()) } else { Err("the doctor has found something".into()) }
    }

    /// Resident memory in KiB, from the kernel: the process's own and the parts of files that it maps.
    pub(crate) fn resident_kib(&self) -> u64 {
        process::status_kib(self.pid(), "VmRSS:")
    }

    /// The process's own memory alone.
    pub(crate) fn anonymous_kib(&self) -> u64 {
        process::status_kib(self.pid(), "RssAnon:")
    }

    /// Its number in the kernel.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// One more account.
    pub(crate) fn make_account(&self, name: &str) -> Outcome<Account> {
        let client_id = self.place.printed(&["clients", "create", name, "--json"], "id")?;
        let api_key = self.place.printed(&["keys", "create", &client_id, "--json"], "key")?;
        Ok(Account { client_id, api_key })
    }

    /// A process that runs jobs alone, on the same PostgreSQL.
    pub(crate) fn start_worker(&self) -> Outcome<WorkNode> {
        let folder = tempfile::tempdir()?;
        let process = self.place.regente(&["work"]).env("REGENTE_DATA_DIR", folder.path()).spawn()?;
        Ok(WorkNode { process, _folder: folder })
    }

    fn stop(&mut self) -> Outcome {
        Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status()?;
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Who may call.
pub(crate) struct Account {
    /// The account.
    pub(crate) client_id: String,
    /// A secret key of it.
    pub(crate) api_key: String,
}

impl Account {
    /// A call of this account.
    pub(crate) fn signs(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        request.header("X-Client-Id", &self.client_id).header("X-Api-Key", &self.api_key)
    }
}

/// A process that runs jobs alone; ended with the task.
pub(crate) struct WorkNode {
    process: Child,
    _folder: tempfile::TempDir,
}

impl WorkNode {
    /// Its number in the kernel.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for WorkNode {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The providers of a merchant: one simulator.
pub(crate) fn one_simulator() -> Value {
    json!([{ "name": "Simulator", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }])
}

/// A running simulator with durable books.
pub(crate) struct Simulator {
    process: Child,
    _folder: tempfile::TempDir,
    /// Where it listens.
    pub(crate) url: String,
}

impl Simulator {
    /// Starts one with books in a folder of its own.
    pub(crate) async fn start(binary: &Path, seed: u64) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let process = Command::new(binary)
            .args(["sandbox-provider", "--listen", &address, "--seed", &seed.to_string()])
            .arg("--books")
            .arg(folder.path().join("books.db"))
            .env("REGENTE_DATA_DIR", folder.path())
            .env("REGENTE_LOG__LEVEL", "error")
            .stdout(Stdio::null())
            .spawn()?;
        let simulator = Self { process, _folder: folder, url: format!("http://{address}") };
        for _ in 0..START_TRIES_MAX {
            if simulator.get("/v1/faults").await.is_ok() {
                return Ok(simulator);
            }
            tokio::time::sleep(START_WAIT).await;
        }
        Err("the simulator did not start".into())
    }

    /// Puts another plan in the place of its own.
    pub(crate) async fn set_faults(&self, plan: &Value) -> Outcome {
        let request = reqwest::Client::new().put(format!("{}/v1/faults", self.url)).json(plan);
        request.send().await?.error_for_status()?;
        Ok(())
    }

    /// What an inspection answers.
    pub(crate) async fn get(&self, path: &str) -> Outcome<Value> {
        Ok(reqwest::get(format!("{}{path}", self.url)).await?.error_for_status()?.json().await?)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
