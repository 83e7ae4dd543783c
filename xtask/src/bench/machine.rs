//! Describes the machine of the figures.

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::figures::{Samples, number};
use crate::Outcome;

/// Number of synced writes for the median.
const SYNCS: u32 = 200;
/// Bytes of each write.
const SYNC_BYTES: usize = 4096;
const KIB_PER_GIB: f64 = 1024.0 * 1024.0;

/// Describes the machine, with the disk of `folder`.
pub(crate) fn describe(folder: &Path) -> Outcome<Vec<(String, String)>> {
    let cores = std::thread::available_parallelism()?.get();
    let facts = [
        ("processor", format!("{}, {cores} cores, shared with what makes the load", processor())),
        ("memory", format!("{} GB", number(memory_kib() / KIB_PER_GIB, 0))),
        ("disk", disk(folder)),
        (
            "one write of 4 KB with its sync",
            format!("{} ms (median of {SYNCS})", number(sync_ms(folder)?, 2)),
        ),
        ("kernel", printed("uname", &["-sr"])),
        ("PostgreSQL", printed("postgres", &["--version"])),
        ("compiler", printed("rustc", &["--version"])),
    ];
    Ok(facts.map(|(what, value)| (what.to_owned(), value)).to_vec())
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name")).unwrap_or_default();
    line.split_once(':').map_or("unknown", |(_, name)| name).trim().to_owned()
}

fn memory_kib() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// The kind of disk and its file system.
fn disk(folder: &Path) -> String {
    let folder = folder.display().to_string();
    let source = printed("findmnt", &["-n", "-o", "SOURCE", "-T", &folder]);
    let system = printed("findmnt", &["-n", "-o", "FSTYPE,OPTIONS", "-T", &folder]);
    let device = source.rsplit('/').next().unwrap_or_default();
    let rotational = std::fs::read_to_string(format!("/sys/class/block/{device}/queue/rotational"));
    let kind = match rotational.unwrap_or_default().trim() {
        "0" => "solid state or virtual",
        "1" => "rotating, or a virtual one that says so",
        _ => "of unknown kind",
    };
    format!("{kind}, {}", system.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn sync_ms(folder: &Path) -> Outcome<f64> {
    let path = folder.join("sync-probe");
    let mut file = File::create(&path)?;
    let mut took = Samples::default();
    for _ in 0..SYNCS {
        let begun = Instant::now();
        file.write_all(&[7; SYNC_BYTES])?;
        file.sync_data()?;
        took.add(begun.elapsed().as_secs_f64() * 1000.0);
    }
    std::fs::remove_file(path)?;
    Ok(took.median())
}

fn printed(program: &str, arguments: &[&str]) -> String {
    let program = match program {
        "postgres" => regente_store::testing::TestPostgres::programs().join(program),
        _ => program.into(),
    };
    let output = Command::new(program).args(arguments).output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default()).trim().to_owned()
}
