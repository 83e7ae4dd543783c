//! Runs a closed loop with `wrk`: each connection sends its next request when the last one is answered.

use std::fmt::Write as _;
use std::process::Command;

use super::meter::Usage;
use super::requests::{Charge, get, key_prefix};
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

/// The measurements of a closed loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Number of answered requests.
    pub(crate) requests: f64,
    /// Requests a second.
    pub(crate) rate: f64,
    /// Refusals a second: answers other than 2xx and 3xx, where they do not make the measurement invalid.
    pub(crate) refused_rate: f64,
    /// Median latency, in milliseconds.
    pub(crate) p50_ms: f64,
    /// 99th percentile of the latency, in milliseconds.
    pub(crate) p99_ms: f64,
    /// Processor seconds of `wrk`.
    pub(crate) generator_cpu_seconds: f64,
    /// The server's usage meanwhile.
    pub(crate) server: Usage,
}

impl Load {
    /// The share of `used` for each request.
    pub(crate) fn for_each(&self, used: f64) -> f64 {
        used / self.requests.max(1.0)
    }

    /// The server's processor time for each request, in microseconds.
    pub(crate) fn server_cpu_us(&self) -> f64 {
        self.for_each(self.server.cpu_seconds * 1e6)
    }

    /// The processor time of `wrk` for each request, in microseconds.
    pub(crate) fn generator_cpu_us(&self) -> f64 {
        self.for_each(self.generator_cpu_seconds * 1e6)
    }

    /// KB written to the disk for each request.
    pub(crate) fn written_kib(&self) -> f64 {
        self.for_each(self.server.written_bytes / 1024.0)
    }
}

/// Fails when `wrk` cannot be run.
pub(crate) fn require() -> Outcome {
    if Command::new("wrk").arg("-v").output().is_err() {
        return Err("wrk is not installed; on Debian and Ubuntu: apt-get install wrk".into());
    }
    Ok(())
}

/// Charges of these accounts in turn, each with its own idempotency key.
pub(crate) fn charges(
    service: &Service,
    accounts: &[Account],
    connections: u32,
    seconds: u32,
) -> Outcome<Load> {
    requests(service, &charges_of(accounts)?, connections, seconds)
}

/// Charges at a service without room for all of them; counts those accepted.
pub(crate) fn charges_taken(
    service: &Service,
    accounts: &[Account],
    connections: u32,
    seconds: u32,
) -> Outcome<Load> {
    run(service, &script(&charges_of(accounts)?), connections, seconds, Refusals::LeaveOut)
}

/// These requests in turn, each time with an idempotency key of its own.
pub(crate) fn requests(
    service: &Service,
    charges: &[Charge],
    connections: u32,
    seconds: u32,
) -> Outcome<Load> {
    run(service, &script(charges), connections, seconds, Refusals::Fail)
}

fn charges_of(accounts: &[Account]) -> Outcome<Vec<Charge>> {
    accounts.iter().map(Charge::of).collect()
}

fn script(charges: &[Charge]) -> String {
    let heads = lua_list(charges.iter().map(|charge| charge.head.as_str()));
    let tails = lua_list(charges.iter().map(|charge| charge.tail.as_str()));
    format!(
        "local heads = {heads}\nlocal tails = {tails}\nlocal prefix = '{}-'\nlocal n = 0\n\
         request = function()\n  n = n + 1\n  local at = n % #heads + 1\n\
         return heads[at] .. prefix .. n .. tails[at]\nend\n",
        key_prefix()
    )
}

/// These reads in turn.
pub(crate) fn reads(
    service: &Service,
    account: &Account,
    paths: impl Iterator<Item = String>,
    connections: u32,
    seconds: u32,
) -> Outcome<Load> {
    let requests: Vec<String> = paths.map(|path| get(account, &path)).collect();
    let script = format!(
        "local requests = {}\nlocal n = 0\nrequest = function()\n  n = n + 1\n\
         return requests[n % #requests + 1]\nend\n",
        lua_list(requests.iter().map(String::as_str))
    );
    run(service, &script, connections, seconds, Refusals::Fail)
}

/// One read again and again, from connections that go on when they are refused; counts those answered beside those refused.
pub(crate) fn reads_taken(service: &Service, request: &str, connections: u32, seconds: u32) -> Outcome<Load> {
    let script = format!(
        "local requests = {}\nrequest = function()\n  return requests[1]\nend\n",
        lua_list(std::iter::once(request))
    );
    run(service, &script, connections, seconds, Refusals::LeaveOut)
}

fn lua_list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut list = String::from("{\n");
    for text in texts {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "\\r").replace('\n', "\\n");
        let _ = writeln!(list, "\"{text}\",");
    }
    list.push('}');
    list
}

/// Prints the measurements as one line, in microseconds.
const DONE: &str = "done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('measured %d %d %d %d %d %d\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
";

/// How to treat answers other than 2xx and 3xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusals {
    /// They make the measurement invalid.
    Fail,
    /// They are not counted.
    LeaveOut,
}

fn run(service: &Service, script: &str, connections: u32, seconds: u32, refusals: Refusals) -> Outcome<Load> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("script.lua");
    std::fs::write(&path, format!("{script}{DONE}"))?;
    let (server_before, generator_before) = (Usage::of(service.process_id()), Usage::of_generator());
    let output = Command::new("wrk")
        .args(["-t1", "--timeout", "30s", "-s"])
        .arg(&path)
        .arg(format!("-c{connections}"))
        .arg(format!("-d{seconds}s"))
        .arg(&service.url)
        .output()?;
    let server = Usage::of(service.process_id()).since(server_before);
    let generator_cpu_seconds = Usage::of_generator() - generator_before;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("measured "));
    let line = line.ok_or_else(|| format!("wrk measured nothing: {text}"))?;
    let figures: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[answers, duration_us, p50_us, p99_us, refused, errors] = figures.as_slice() else {
        return Err(format!("wrk measured something else: {line}").into());
    };
    if errors > 0.0 || (refused > 0.0 && refusals == Refusals::Fail) {
        return Err(format!("of {answers} requests {errors} failed and {refused} were refused").into());
    }
    let requests = answers - refused;
    Ok(Load {
        requests,
        rate: requests / (duration_us / 1e6),
        refused_rate: refused / (duration_us / 1e6),
        p50_ms: p50_us / 1000.0,
        p99_ms: p99_us / 1000.0,
        generator_cpu_seconds,
        server,
    })
}
