//! The programs of others that tests run are as new as the table of `scripts/install-tools` says, and the packages of npm run with
//! the oldest Node.js that it allows: a newer one, on the machine of whoever chooses them, does not stand in for it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::server::set_mode;

/// The packages of npm that tests run, each as `package-lock.json` has them.
const PACKAGES: [&str; 6] = [
    "crates/server/tests/browsers",
    "crates/server/tests/generators",
    "crates/server/tests/receivers",
    "crates/providers/tests/judges/adyen",
    "crates/providers/tests/judges/pagarme_v5",
    "crates/providers/tests/judges/stripe",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_programs_of_this_machine_are_new_enough() {
    let check = Command::new(repository().join("scripts/install-tools")).arg("--check").output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn a_program_that_is_too_old_is_named_in_one_line() {
    let older = tempfile::tempdir().unwrap();
    let node = older.path().join("node");
    std::fs::write(&node, "#!/bin/sh\necho v16.2.0\n").unwrap();
    set_mode(&node, 0o755);
    let path = format!("{}:{}", older.path().display(), std::env::var("PATH").unwrap());
    let least = oldest_node();
    let expected = format!("needs Node.js {least} or newer, {} is 16.2.0\n", node.display());
    let installers = ["install-browsers", "install-generators", "install-receivers"];
    let judges = ["judges/adyen", "judges/pagarme_v5", "judges/stripe"];
    for program in installers.into_iter().chain(judges) {
        let script = repository().join("scripts").join(program);
        let said = Command::new(script).env("PATH", &path).output().unwrap();
        assert!(!said.status.success(), "{program}");
        assert_eq!(String::from_utf8(said.stderr).unwrap(), expected, "{program}");
    }
}

#[test]
fn packages_run_with_the_oldest_node_that_is_allowed() {
    let node = oldest_node();
    let oldest = numbers(&node);
    for folder in PACKAGES {
        let lock = std::fs::read(repository().join(folder).join("package-lock.json")).unwrap();
        let lock: Value = serde_json::from_slice(&lock).unwrap();
        for (name, package) in lock["packages"].as_object().unwrap() {
            let Some(engines) = package["engines"]["node"].as_str() else { continue };
            assert!(runs(engines, &oldest), "{folder}: {name} wants Node.js {engines}, not {node}");
        }
    }
}

/// The oldest Node.js that the table of `scripts/install-tools` allows.
fn oldest_node() -> String {
    let script = std::fs::read_to_string(repository().join("scripts/install-tools")).unwrap();
    let row = script.lines().find_map(|line| line.strip_prefix("node ")).expect("a row of the table");
    row.split_whitespace().next().unwrap().to_owned()
}

/// Whether one of the ranges of a package is `>=` of a version that is not newer. Ranges that end somewhere leave out newer ones,
/// and count for nothing.
fn runs(engines: &str, version: &[u32]) -> bool {
    let mut open = engines.split("||").filter_map(|range| range.trim().strip_prefix(">=")).map(str::trim);
    open.any(|least| !least.contains(' ') && numbers(least).as_slice() <= version)
}

/// The numbers of a version; `10.x` is 10.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|number| number.parse().ok()).collect()
}
