//! Installs the generators of types.

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the generators; installs them when they are missing.
pub fn generators() -> PathBuf {
    let place = repository().join("target/generators");
    run(Command::new(repository().join("scripts/install-generators")).arg(&place));
    place
}

/// Runs a program until it ends.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
}
