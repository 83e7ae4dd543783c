//! Runs `regente sandbox-provider`: the simulator in a process of its own, and prints how a server uses it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use aws_lc_rs::hmac;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_providers::request::Mode;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use super::Failure;
use super::run::{ListenError, runtime};
use crate::bootstrap;
use crate::config::{Config, Loaded, TransactionLogLocation};
use crate::sandbox_provider::{self, Access};
use crate::serve::{self, Signals};
use crate::settlement::daily;
use crate::telemetry;

/// Bytes of the key of the hashes that stand for card numbers.
const CARD_HASH_KEY_BYTES: usize = 32;

/// Runs the simulator until a signal to stop.
pub(super) fn run(loaded: &Loaded) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    match config.mode {
        Mode::Sandbox => {}
        Mode::Production => return Err("`regente sandbox-provider` is for sandbox mode".into()),
    }
    runtime()?.block_on(async {
        let mut signals = Signals::take()?;
        let listener = listen(config)?;
        let address = listener.local_addr()?;
        let key = config.sandbox_key()?;
        if key.is_none() && !address.ip().is_loopback() {
            return Err(format!("others can connect to {address}: give the simulator a `--key-file`").into());
        }
        let clock = Clock::system();
        let sandbox =
            bootstrap::open_sandbox(config, config.sandbox_books(), card_hash_key(key.as_ref())?, &clock)
                .await?;
        let _files = daily::begin(sandbox.transaction_log(), &config.sandbox_books(), &clock);
        io::stdout().write_all(introduction(config, address).as_bytes())?;
        tracing::info!(%address, "the simulator is listening");
        let access = key.map_or(Access::ThisMachine, Access::Key);
        let stop = async {
            let signal = signals.next().await;
            tracing::info!(signal, "stopping");
        };
        sandbox_provider::serve(listener, Arc::new(sandbox), access, stop).await?;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

fn listen(config: &Config) -> Result<TcpListener, Failure> {
    let address: SocketAddr = config.sandbox.listen.parse()?;
    match serve::listen(address) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(ListenError::InUse(address).into()),
        Err(error) => Err(ListenError::Refused(address, error).into()),
    }
}

/// With a shared secret, the simulator recognizes cards across starts; without one, within one run. A key stored beside
/// the hashes would protect nothing.
fn card_hash_key(shared: Option<&Zeroizing<String>>) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if let Some(shared) = shared {
        let key = hmac::Key::new(hmac::HMAC_SHA256, shared.as_bytes());
        let derived = hmac::sign(&key, b"regente sandbox-provider card hashes");
        return Ok(Zeroizing::new(derived.as_ref().to_vec()));
    }
    let mut key = Zeroizing::new(vec![0; CARD_HASH_KEY_BYTES]);
    Chance::system()?.fill(&mut key);
    Ok(key)
}

fn introduction(config: &Config, address: SocketAddr) -> String {
    let log = match config.sandbox_books() {
        TransactionLogLocation::Memory => "memory: a restart forgets every payment".to_owned(),
        TransactionLogLocation::File(path) => path.display().to_string(),
    };
    let host = if address.ip().is_unspecified() { "<this machine>".to_owned() } else { host(address) };
    let url = format!("http://{host}:{}", address.port());
    let key = match (&config.sandbox.key, &config.sandbox.key_file) {
        (Some(_), _) => "  REGENTE_SANDBOX__KEY=<the key>\n".to_owned(),
        (None, Some(path)) => format!("  REGENTE_SANDBOX__KEY_FILE={}\n", absolute(path)),
        (None, None) => String::new(),
    };
    format!(
        "The simulator answers at {url}. Ctrl+C stops it. For test cards only: card numbers travel in the clear.\n\
         Its transaction log: {log}\n\n\
         Every service that is to use it takes these settings:\n\n  REGENTE_SANDBOX__URL={url}\n{key}\n\
         Look into the log: {url}/\n"
    )
}

fn host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
