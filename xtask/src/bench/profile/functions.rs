//! Samples processor time by function with `perf`, summed by layer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::layers::{LAYERS, layer_of};
use crate::Outcome;
use crate::bench::figures::number;
use crate::bench::report::Table;
use crate::bench::{Bench, FOLDER, Size};

/// Samples a second of each running thread; a prime, so that it does not follow periodic work.
const SAMPLES_PER_SECOND: u32 = 499;
/// The folder of a binary with symbols: other build settings, so a full build.
const BUILD: &str = "target/profile";

/// Whether `perf` can name functions, and in which binary.
pub(super) struct Symbols {
    binary: PathBuf,
    missing: Option<&'static str>,
}

/// The share of samples in each layer.
pub(super) struct Functions(BTreeMap<&'static str, f64>);

impl Symbols {
    /// For the binary under test, or the same built with symbols.
    pub(super) fn of(bench: &Bench) -> Outcome<Self> {
        let has_perf = Command::new("perf").arg("--version").output().is_ok();
        let binary = bench.binary.clone();
        match (has_perf, has_symbols(&binary)?, bench.size) {
            (false, _, _) => Ok(Self {
                binary,
                missing: Some("perf is not installed; on Debian: apt-get install linux-perf"),
            }),
            (true, true, _) => Ok(Self { binary, missing: None }),
            (true, false, Size::Full) => Ok(Self { binary: build()?, missing: None }),
            (true, false, Size::Quick) => Ok(Self {
                binary,
                missing: Some("the binary has no symbols, and building one takes minutes"),
            }),
        }
    }

    /// The binary to profile.
    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Why functions cannot be named.
    pub(super) const fn missing(&self) -> Option<&'static str> {
        self.missing
    }

    /// Samples a process for a number of seconds while `load` runs.
    pub(super) fn sample(
        &self,
        process_id: u32,
        seconds: u32,
        load: impl FnOnce() -> Outcome,
    ) -> Outcome<Option<Functions>> {
        if self.missing.is_some() {
            return Ok(None);
        }
        let file = tempfile::Builder::new().prefix("perf-").tempfile_in(FOLDER)?;
        let mut recording = Command::new("perf")
            .args(["record", "--quiet", "--freq", &SAMPLES_PER_SECOND.to_string()])
            .args(["--pid", &process_id.to_string(), "--output"])
            .arg(file.path())
            .args(["--", "sleep", &seconds.to_string()])
            .stderr(Stdio::null())
            .spawn()?;
        let loaded = load();
        let recorded = recording.wait()?;
        loaded?;
        if !recorded.success() {
            return Err("perf could not look at the process (kernel.perf_event_paranoid)".into());
        }
        let output = Command::new("perf")
            .args(["report", "--stdio", "--quiet", "--no-children", "--percent-limit", "0"])
            .args(["--sort", "dso,symbol", "--field-separator", "|", "--input"])
            .arg(file.path())
            .stderr(Stdio::null())
            .output()?;
        Ok(Some(Functions::of(&String::from_utf8_lossy(&output.stdout))))
    }
}

impl Functions {
    /// Parses lines such as `1.28%|libc.so.6|[.] malloc|-      -`.
    fn of(report: &str) -> Self {
        let mut layers: BTreeMap<&'static str, f64> = BTreeMap::new();
        for line in report.lines() {
            let mut cells = line.split('|').map(str::trim);
            let percent = cells.next().and_then(|cell| cell.strip_suffix('%')?.trim().parse::<f64>().ok());
            if let (Some(percent), Some(object), Some(symbol)) = (percent, cells.next(), cells.next()) {
                *layers.entry(layer_of(object, symbol)).or_default() += percent;
            }
        }
        let all = layers.values().sum::<f64>().max(f64::MIN_POSITIVE);
        Self(layers.into_iter().map(|(layer, percent)| (layer, percent / all)).collect())
    }
}

/// One column for each database: its name, microseconds for a charge, and functions.
pub(super) fn table<'a>(
    profiles: impl Iterator<Item = (&'a str, f64, Option<&'a Functions>)>,
) -> Option<Table> {
    let profiles: Vec<_> =
        profiles.filter_map(|(what, cpu_us, functions)| Some((what, cpu_us, functions?))).collect();
    if profiles.is_empty() {
        return None;
    }
    let columns = profiles.iter().flat_map(|(what, ..)| [format!("{what}, µs"), "%".to_owned()]);
    let columns: Vec<String> = std::iter::once("layer".to_owned()).chain(columns).collect();
    let mut table = Table::new(
        "A charge by layers: the service's own processor time, without PostgreSQL's",
        columns.iter().map(String::as_str),
    );
    for layer in LAYERS {
        let cells = profiles.iter().flat_map(|(_, cpu_us, functions)| {
            let part = functions.0.get(layer).copied().unwrap_or(0.0);
            [number(part * cpu_us, 1), number(part * 100.0, 1)]
        });
        table.row(std::iter::once((*layer).to_owned()).chain(cells));
    }
    Some(table)
}

fn build() -> Outcome<PathBuf> {
    println!("building regente with symbols");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "regente", "--target-dir", BUILD])
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
        .status()?;
    if !status.success() {
        return Err("the build failed".into());
    }
    Ok(Path::new(BUILD).join("release/regente").canonicalize()?)
}

/// Whether an ELF file has a table of symbols: a section of type 2 (`SHT_SYMTAB`), which stripping removes.
fn has_symbols(binary: &Path) -> Outcome<bool> {
    const TABLE_OF_SYMBOLS: u64 = 2;
    let bytes = std::fs::read(binary)?;
    let number = |at: u64, length: usize| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = bytes.get(at..at + length)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    // e_shoff, e_shentsize and e_shnum of a 64-bit file, little-endian; sh_type is the second word of a section.
    let (Some(sections_at), Some(section_bytes), Some(sections)) =
        (number(40, 8), number(58, 2), number(60, 2))
    else {
        return Ok(false);
    };
    Ok((0..sections).any(|at| number(sections_at + at * section_bytes + 4, 4) == Some(TABLE_OF_SYMBOLS)))
}
