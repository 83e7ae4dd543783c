//! Third-party programs generate types from `openapi.json` for two languages, and programs that use the types compile
//! (`tests/generators`). `scripts/install-generators` installs the programs into `target/generators`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::generators::{generators, repository, run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generators").join(name)
}

fn document() -> PathBuf {
    repository().join("openapi.json")
}

#[test]
fn typescript_types_compile_with_a_program_that_uses_them() {
    let place = generators();
    let folder = tempfile::tempdir_in(&place).unwrap();
    let types = folder.path().join("types.ts");
    let tool = |name: &str| Command::new(place.join("node_modules/.bin").join(name));
    run(tool("openapi-typescript")
        .arg(document())
        .arg("-o")
        .arg(&types)
        .args(["--default-non-nullable", "false"]));
    let program = folder.path().join("program.ts");
    std::fs::copy(source("program.ts"), &program).unwrap();
    let options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler"];
    run(tool("tsc").args(options).arg(&program));
}

#[test]
fn rust_types_compile_with_a_program_that_uses_them() {
    let place = generators();
    let package = place.join("crate");
    // An unchanged file is not compiled again.
    let types = place.join("types.rs");
    run(Command::new(place.join("bin/oas3-gen"))
        .args(["generate", "types", "--quiet", "--all-schemas"])
        .args(["--input".as_ref(), document().as_os_str(), "--output".as_ref(), types.as_os_str()]));
    copy_if_changed(&types, &package.join("src/types.rs"));
    copy_if_changed(&source("rust/src/main.rs"), &package.join("src/main.rs"));
    let manifest = package.join("Cargo.toml");
    let mut check = Command::new(env!("CARGO"));
    check.args(["check", "--quiet", "--offline", "--locked"]).arg("--manifest-path").arg(manifest);
    run(check.arg("--target-dir").arg(place.join("check")));
}

fn copy_if_changed(from: &Path, to: &Path) {
    let new = std::fs::read(from).unwrap();
    if std::fs::read(to).ok().as_ref() != Some(&new) {
        std::fs::write(to, new).unwrap();
    }
}
