//! Runs `pgbench`, which comes with PostgreSQL, with its default script.

use std::path::PathBuf;
use std::process::Command;

use regente_store::testing::TestPostgres;

use crate::Outcome;

fn program() -> PathBuf {
    TestPostgres::programs().join("pgbench")
}

/// Fails when `pgbench` cannot be run.
pub(super) fn require() -> Outcome {
    if Command::new(program()).arg("--version").output().is_err() {
        return Err("pgbench is not installed; on Debian and Ubuntu: apt-get install postgresql".into());
    }
    Ok(())
}

/// Creates a database with its tables; returns its address.
pub(super) async fn prepare(server: &TestPostgres, scale: u32) -> Outcome<String> {
    let database = server.empty_database().await;
    let output = Command::new(program())
        .args(["--initialize", "--quiet", "--scale", &scale.to_string(), &database])
        .output()?;
    if output.status.success() {
        Ok(database)
    } else {
        Err(format!("pgbench: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// Measures transactions a second.
pub(super) fn run(database: &str, clients: u32, seconds: u32) -> Outcome<f64> {
    let output = Command::new(program())
        .args(["--client", &clients.to_string(), "--time", &seconds.to_string(), database])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = rate.and_then(|rest| rest.split_whitespace().next()).and_then(|word| word.parse().ok());
    rate.ok_or_else(|| {
        format!("pgbench told no rate: {text}{}", String::from_utf8_lossy(&output.stderr)).into()
    })
}
