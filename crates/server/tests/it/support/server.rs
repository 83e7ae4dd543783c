//! Runs the real binary as a child process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval of polling.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The binary without the settings of the user's environment.
pub fn regente(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_regente"));
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("REGENTE_") || name_text.starts_with("OTEL_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The output and exit status of a command.
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The JSON output of a command that succeeded.
    pub fn json(&self) -> Value {
        assert!(self.status.success(), "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The text output of a command that succeeded.
    pub fn text(&self) -> &str {
        assert!(self.status.success(), "{}{}", self.stdout, self.stderr);
        &self.stdout
    }

    /// The error output of a command that failed with status 1.
    pub fn complaint(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}{}", self.stdout, self.stderr);
        &self.stderr
    }
}

/// Runs a command until it ends.
pub async fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    Ran { status, stdout: String::from_utf8(stdout).unwrap(), stderr: String::from_utf8(stderr).unwrap() }
}

/// Runs the binary on a data folder until it ends.
pub async fn run_on(folder: &Path, arguments: &[&str]) -> Ran {
    run(regente(arguments).arg("--data-dir").arg(folder)).await
}

/// A running `regente dev`.
pub struct Server {
    child: Child,
    log: Arc<Mutex<String>>,
    reading_log: JoinHandle<()>,
    /// The text printed before it served.
    pub introduction: String,
    /// The values of its `dev.env`.
    pub values: BTreeMap<String, String>,
    pub http: reqwest::Client,
}

impl Server {
    /// Starts `regente dev` on any free port, with further arguments.
    pub async fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_in(folder, arguments, &[]).await
    }

    /// The same with variables of the environment.
    pub async fn start_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = regente(&["dev", "--listen", "127.0.0.1:0"]);
        command.args(arguments).arg("--data-dir").arg(folder).envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        // Read from the beginning: a process whose pipe is full blocks.
        let log = Arc::new(Mutex::new(String::new()));
        let mut reading_log = tokio::spawn(read_all(child.stderr.take().unwrap(), log.clone()));
        let mut introduction = String::new();
        let reading = async {
            while !introduction.ends_with("status=authorized&limit=10\" \\\n") {
                if stdout.read_line(&mut introduction).await.unwrap() == 0 {
                    (&mut reading_log).await.unwrap();
                    panic!("it did not start: {}", log.lock().unwrap());
                }
            }
        };
        timeout(PATIENCE, reading).await.unwrap();
        let values = std::fs::read_to_string(folder.join("dev.env")).unwrap();
        let values =
            values.lines().map(|line| line.strip_prefix("export ").unwrap().split_once('=').unwrap());
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { child, log, reading_log, introduction, values, http }
    }

    pub fn value(&self, name: &str) -> &str {
        &self.values[name]
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.value("REGENTE_URL"))
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.value("REGENTE_URL").split_once("://").unwrap().1
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.signed(self.http.get(self.url(path)), self.value("REGENTE_API_KEY"))
    }

    pub fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.signed(self.http.post(self.url(path)), self.value("REGENTE_API_KEY")).json(body)
    }

    /// The status of a list for a key.
    pub async fn status_with(&self, key: &str) -> u16 {
        let request = self.signed(self.http.get(self.url("/v1/merchants")), key);
        request.send().await.unwrap().status().as_u16()
    }

    fn signed(&self, request: reqwest::RequestBuilder, key: &str) -> reqwest::RequestBuilder {
        request.header("x-client-id", self.value("REGENTE_CLIENT_ID")).header("x-api-key", key)
    }

    /// Resident memory in KiB, from the kernel.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }

    /// Waits until the log contains a text.
    pub async fn until_logged(&self, what: &str) {
        self.until_logged_times(what, 1).await;
    }

    /// Waits until the log contains a text this many times.
    pub async fn until_logged_times(&self, what: &str, times: usize) {
        let logged = async {
            while self.log.lock().unwrap().matches(what).count() < times {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if timeout(PATIENCE, logged).await.is_err() {
            panic!("{what:?} is not in the log: {}", self.log.lock().unwrap());
        }
    }

    /// Waits until it ends; returns its status and log.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let status = timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        self.reading_log.await.unwrap();
        let log = std::mem::take(&mut *self.log.lock().unwrap());
        (status, log)
    }

    /// Stops it; returns its log.
    pub async fn stop(self) -> String {
        self.signal(Signal::TERM);
        let (status, log) = self.ended().await;
        assert!(status.success(), "{status}: {log}");
        log
    }

    /// The body of a card charge at a merchant.
    pub fn charge(&self, merchant: &str, number: &str) -> Value {
        serde_json::json!({
            "merchantId": self.value(merchant), "amount": 1500, "capture": true,
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": {
                "cardHolderName": "JOSE DAS NEVES", "cardNumber": number, "cardCvv": "600",
                "cardExpirationDate": "12/2035",
            } },
        })
    }
}

async fn read_all(from: ChildStderr, to: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(from).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        to.lock().unwrap().extend([line.as_str(), "\n"]);
    }
}

/// Sends a signal to a process that was not waited for yet.
pub fn send(child: &Child, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
    kill_process(id.unwrap(), signal).unwrap();
}

/// The permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
