//! Runs a Regente process on a free port, ended with this task.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regente_engine::clock::Clock;
use regente_store::testing::ReservedPort;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator};

/// How long a start may take.
const START_MAX: Duration = Duration::from_secs(60);
/// Interval between checks whether it is ready.
const START_LOOK_EVERY: Duration = Duration::from_millis(2);

/// One client for all, since creating one takes longer than a request.
static HTTP: LazyLock<reqwest::Client> = LazyLock::new(reqwest::Client::new);

/// Builds the release binary.
pub(crate) fn build() -> Outcome<PathBuf> {
    println!("building regente for release");
    build_in("target", &[])
}

/// Builds the same binary with the mode that discards writes, in its own folder, so that it is never mistaken for the
/// release.
pub(crate) fn build_without_storage() -> Outcome<PathBuf> {
    println!("building regente for the ceiling, which works without storage; the first time takes minutes");
    build_in("target/without-storage", &["--features", "bench-without-storage"])
}

fn build_in(folder: &str, arguments: &[&str]) -> Outcome<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "regente", "--target-dir", folder])
        .args(arguments)
        .status()?;
    if !status.success() {
        return Err("the build failed".into());
    }
    Ok(Path::new(folder).join("release/regente").canonicalize()?)
}

/// A process that is ended with this task.
pub(crate) struct Process(Child);

impl Process {
    /// Starts it.
    pub(crate) fn spawn(command: &mut Command) -> Outcome<Self> {
        Ok(Self(command.spawn()?))
    }

    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// What it prints, where that goes to a pipe.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The role of a process in the deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Serves and runs jobs.
    Serve,
    /// Only runs jobs.
    Work,
}

/// A running process.
pub(crate) struct Service {
    process: Process,
    place: Place,
    role: Role,
    port: ReservedPort,
    ready_after: Duration,
    /// Its address.
    pub(crate) url: String,
}

impl Service {
    /// Starts a process and waits until it is ready.
    pub(crate) fn start(place: &Place) -> Outcome<Self> {
        Self::start_as(place, Role::Serve)
    }

    /// Starts a process in a role.
    pub(crate) fn start_as(place: &Place, role: Role) -> Outcome<Self> {
        let port = ReservedPort::any();
        let (process, ready_after) = run(place, role, port.number())?;
        let url = format!("http://{}", port.address());
        Ok(Self { process, place: place.clone(), role, port, ready_after, url })
    }

    /// Starts a process on a fresh database, or on the PostgreSQL at `postgres`, with so many accounts that have one
    /// simulator each.
    pub(crate) async fn start_fresh(
        binary: &Path,
        postgres: Option<&str>,
        settings: &[(&str, &str)],
        accounts: usize,
    ) -> Outcome<(Self, Vec<Account>)> {
        let mut place = Place::passing(binary, &std::env::temp_dir())?.reachable();
        for (name, value) in settings {
            place = place.with(name, value);
        }
        if let Some(url) = postgres {
            place = place.on_postgres(url);
        }
        let accounts = place.make_accounts(accounts, &one_simulator()).await?;
        Ok((Self::start(&place)?, accounts))
    }

    /// From its start until it first reported ready.
    pub(crate) const fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// The process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Its address, without the scheme.
    pub(crate) fn address(&self) -> String {
        self.port.address().to_string()
    }

    /// Creates a merchant with these providers; returns its id.
    pub(crate) async fn make_merchant(&self, account: &Account, providers: &Value) -> Outcome<String> {
        let body = json!({ "mcc": "5812", "providers": providers });
        let answer = self.post(account, "/v1/merchants", &body).await?;
        Ok(answer["id"].as_str().ok_or("no id of the merchant")?.to_owned())
    }

    /// The answer to a read.
    pub(crate) async fn get(&self, account: &Account, path: &str) -> Outcome<Value> {
        let request = HTTP.get(format!("{}{path}", self.url));
        Ok(signed(request, account).send().await?.error_for_status()?.json().await?)
    }

    /// The same, as it comes.
    pub(crate) async fn bytes(&self, account: &Account, path: &str) -> Outcome<Vec<u8>> {
        let request = HTTP.get(format!("{}{path}", self.url));
        Ok(signed(request, account).send().await?.error_for_status()?.bytes().await?.to_vec())
    }

    /// How many charges have one of these statuses, with commas between them.
    pub(crate) async fn count(&self, account: &Account, statuses: &str) -> Outcome<u64> {
        let page = self.get(account, &format!("/v1/charges?status={statuses}&limit=1")).await?;
        page["meta"]["totalItems"].as_u64().ok_or_else(|| "no total of charges".into())
    }

    /// Creates an object; returns it.
    pub(crate) async fn post(&self, account: &Account, path: &str, body: &Value) -> Outcome<Value> {
        let request = HTTP.post(format!("{}{path}", self.url)).json(body);
        Ok(signed(request, account).send().await?.error_for_status()?.json().await?)
    }

    /// Kills the process, like a power cut.
    pub(crate) fn kill(&mut self) -> Outcome {
        self.process.0.kill()?;
        self.process.0.wait()?;
        Ok(())
    }

    /// Starts the process again on the stored data.
    pub(crate) fn start_again(&mut self) -> Outcome {
        (self.process, self.ready_after) = run(&self.place, self.role, self.port.number())?;
        Ok(())
    }

    /// Stops the process gracefully.
    pub(crate) fn stop(mut self) -> Outcome {
        kill_process(Pid::from_child(&self.process.0), Signal::TERM)?;
        self.process.0.wait()?;
        Ok(())
    }

    /// The product on its data in this process. It must not run meanwhile.
    pub(crate) async fn open(&self, clock: Clock) -> Outcome<Inside> {
        self.place.open(clock).await
    }

    /// Runs `doctor` on the deployment.
    pub(crate) fn doctor(&self) -> Outcome {
        self.doctor_besides(&[])
    }

    /// The same where these checks may fail.
    pub(crate) fn doctor_besides(&self, checks: &[&str]) -> Outcome {
        let output = self.place.regente(&["doctor"]).output()?;
        let told = String::from_utf8_lossy(&output.stdout);
        println!("{told}");
        let may_fail = |line: &str| checks.iter().any(|check| line.contains(check));
        let is_told_of = told.lines().any(|line| line.starts_with("FAILURE"));
        let fails = told.lines().any(|line| line.starts_with("FAILURE") && !may_fail(line));
        match output.status.success() || is_told_of && !fails {
            true => Ok(()),
            false => Err("the doctor has found something".into()),
        }
    }

    /// What a command of the operator prints as JSON, also where it ends with 1 because it has found something.
    pub(crate) fn told(&self, arguments: &[&str]) -> Outcome<Value> {
        let output = self.place.regente(arguments).output()?;
        let told = serde_json::from_slice(&output.stdout);
        told.map_err(|_not_json| String::from_utf8_lossy(&output.stderr).into())
    }

    /// Does what an operator does with requests of which providers are not asked any more: asks anew. Returns how many there were.
    pub(crate) fn retry_given_up(&self) -> Outcome<usize> {
        let listed = self.told(&["unknowns", "--json"])?;
        let unknowns = listed["unknowns"].as_array().ok_or("no list of unknown outcomes")?;
        let given_up = unknowns.iter().filter(|unknown| !unknown["given_up_at"].is_null());
        let ids: Vec<&str> = given_up.filter_map(|unknown| unknown["request_id"].as_str()).collect();
        for id in &ids {
            let retried = self.place.regente(&["unknowns", "retry", id]).output()?;
            if !retried.status.success() {
                return Err(String::from_utf8_lossy(&retried.stderr).into());
            }
        }
        Ok(ids.len())
    }

    /// Imports the simulator's settlement file of a day without the lines of these payments; the report as JSON.
    pub(crate) fn settle(&self, simulator: &Simulator, day: &str, apart: &HashSet<String>) -> Outcome<Value> {
        let books = simulator.books();
        let mut command = self.place.regente(&["settle", "sandbox-file", "--day", day, "--books"]);
        let written = command.arg(&books).output()?;
        let file = books.with_extension("csv");
        std::fs::write(&file, without(&String::from_utf8(written.stdout)?, apart)?)?;
        let mut command = self.place.regente(&["settle", "import", "--provider", "SANDBOX", "--json"]);
        Ok(serde_json::from_slice(&command.arg(&file).output()?.stdout)?)
    }
}

/// A settlement file of the simulator without the lines of these payments.
fn without(file: &str, payments: &HashSet<String>) -> Outcome<String> {
    let columns = file.lines().next().unwrap_or_default();
    let place = columns.split(',').position(|column| column == "payment").ok_or("a file without payments")?;
    let is_kept = |line: &&str| line.split(',').nth(place).is_none_or(|payment| !payments.contains(payment));
    Ok(file.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect())
}

fn signed(request: reqwest::RequestBuilder, account: &Account) -> reqwest::RequestBuilder {
    request.header("X-Client-Id", &account.client_id).header("X-Api-Key", &account.api_key)
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn run(place: &Place, role: Role, port: u16) -> Outcome<(Process, Duration)> {
    let begun = Instant::now();
    let mut process = match role {
        Role::Serve => {
            let mut command = place.regente(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
            if place.is_reachable() {
                command.env("REGENTE_SERVER__BASE_URL", format!("http://127.0.0.1:{port}"));
            }
            Process::spawn(&mut command)?
        }
        // A worker has no address to ask.
        Role::Work => return Ok((Process::spawn(&mut place.regente(&["work"]))?, Duration::ZERO)),
    };
    while begun.elapsed() < START_MAX {
        if is_ready(port) {
            return Ok((process, begun.elapsed()));
        }
        if let Some(status) = process.0.try_wait()? {
            return Err(format!("the service ended at its start: {status}").into());
        }
        std::thread::sleep(START_LOOK_EVERY);
    }
    Err("the service did not become ready".into())
}

fn is_ready(port: u16) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut connection = TcpStream::connect(("127.0.0.1", port))?;
        connection
            .write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        connection.read_exact(&mut status)?;
        Ok(&status == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

fn books_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("books.db")
}

/// A running simulator.
pub(crate) struct Simulator {
    process: Process,
    _port: ReservedPort,
    folder: tempfile::TempDir,
    /// Where it listens.
    pub(crate) url: String,
}

/// Tries of a start, with [`SIMULATOR_START_WAIT`] between them.
const SIMULATOR_START_TRIES_MAX: u32 = 200;
const SIMULATOR_START_WAIT: Duration = Duration::from_millis(50);

impl Simulator {
    /// Starts a simulator with a transaction log in its own folder.
    pub(crate) async fn start(binary: &Path, seed: u64) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let books = books_in(&folder);
        Self::start_with(binary, seed, folder, &books).await
    }

    /// Starts a simulator that waits for no disk: its transaction log is in memory.
    pub(crate) async fn start_in_memory(binary: &Path, seed: u64) -> Outcome<Self> {
        Self::start_with(binary, seed, tempfile::tempdir()?, Path::new("memory")).await
    }

    async fn start_with(binary: &Path, seed: u64, folder: tempfile::TempDir, books: &Path) -> Outcome<Self> {
        let port = ReservedPort::any();
        let address = port.address().to_string();
        let process = Process::spawn(
            Command::new(binary)
                .args(["sandbox-provider", "--listen", &address, "--seed", &seed.to_string()])
                .arg("--books")
                .arg(books)
                .env("REGENTE_DATA_DIR", folder.path())
                .env("REGENTE_LOG__LEVEL", "error")
                .stdout(Stdio::null()),
        )?;
        let simulator = Self { process, _port: port, folder, url: format!("http://{address}") };
        for _ in 0..SIMULATOR_START_TRIES_MAX {
            if simulator.get("/v1/faults").await.is_ok() {
                return Ok(simulator);
            }
            tokio::time::sleep(SIMULATOR_START_WAIT).await;
        }
        Err("the simulator did not start".into())
    }

    /// The file of its transaction log, if it has one.
    pub(crate) fn books(&self) -> PathBuf {
        books_in(&self.folder)
    }

    /// The process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Replaces its fault plan.
    pub(crate) async fn set_faults(&self, plan: &Value) -> Outcome {
        let request = HTTP.put(format!("{}/v1/faults", self.url)).json(plan);
        request.send().await?.error_for_status()?;
        Ok(())
    }

    /// Sends a message.
    pub(crate) async fn post(&self, path: &str, message: &Value) -> Outcome {
        let request = HTTP.post(format!("{}{path}", self.url)).json(message);
        request.send().await?.error_for_status()?;
        Ok(())
    }

    /// The answer to an inspection.
    pub(crate) async fn get(&self, path: &str) -> Outcome<Value> {
        Ok(HTTP.get(format!("{}{path}", self.url)).send().await?.error_for_status()?.json().await?)
    }
}
