//! The modules of the engine and of the server stand in layers: each imports only what stands above it in its table. An
//! import in the other direction is a circle, or the beginning of one. Inside a folder anything goes.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The engine, from the top down.
const ENGINE: &[&str] = &[
    "chance",
    "clock",
    "scrub",
    "settings",
    "metrics",
    "spans",
    "caller",
    "error",
    "cache",
    "vault",
    "outbound",
    "calls",
    "app",
    "accounts",
    "audit",
    "card_data",
    "queue",
    "events",
    "idempotency",
    "flows",
    "deliveries",
    "jobs",
];

/// The server, from the top down. What everybody needs of the interface stands above the rest of it.
const SERVER: &[&str] = &[
    "chain",
    "api::error",
    "api::headers",
    "api::limits",
    "config",
    "telemetry",
    "app",
    "access",
    "health",
    "api",
    "serve",
    "metrics",
    "bootstrap",
    "admin",
    "sandbox_provider",
    "cli",
];

/// What the engine must not be built on: whoever brings an interface brings these.
const NOT_FOR_THE_ENGINE: [&str; 7] =
    ["axum", "utoipa", "tower", "hyper", "clap", "config", "metrics-exporter-prometheus"];

#[test]
fn the_engine_imports_only_upwards() {
    assert_layers("engine", ENGINE);
}

#[test]
fn the_server_imports_only_upwards() {
    assert_layers("server", SERVER);
}

#[test]
fn the_engine_knows_no_interface() {
    let manifest = fs::read_to_string(crates().join("engine/Cargo.toml")).unwrap();
    for name in NOT_FOR_THE_ENGINE {
        let is_there = manifest
            .lines()
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=', '-'])));
        assert!(!is_there, "crates/engine/Cargo.toml depends on {name}, which belongs to an interface");
    }
}

fn assert_layers(name: &str, layers: &[&str]) {
    let root = crates().join(name).join("src");
    let mut wrong = String::new();
    for file in files_in(&root) {
        let module = module_of(file.strip_prefix(&root).unwrap());
        let Some(own) = module.first().filter(|first| !matches!(first.as_str(), "lib" | "main")) else {
            continue;
        };
        let own_layer = layer_of(&module, layers).unwrap_or_else(|| panic!("{own} stands in no layer"));
        for (line, imported) in imports_of(&fs::read_to_string(&file).unwrap(), &module) {
            if imported.first() == Some(own) {
                continue;
            }
            let path = imported.join("::");
            let Some(layer) = layer_of(&imported, layers) else { continue };
            if layer >= own_layer {
                let file = file.strip_prefix(crates()).unwrap().display();
                writeln!(
                    wrong,
                    "{file}:{line} imports {path}, but {} stands below {}",
                    layers[layer], layers[own_layer]
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the order of the layers:\n{wrong}");
}

/// The place of the longest path in the table that this one begins with.
fn layer_of(path: &[String], layers: &[&str]) -> Option<usize> {
    let is_in = |layer: &str| {
        let layer: Vec<&str> = layer.split("::").collect();
        path.len() >= layer.len() && layer.iter().zip(path).all(|(one, other)| one == other)
    };
    let found = layers.iter().enumerate().filter(|(_, layer)| is_in(layer));
    found.max_by_key(|(_, layer)| layer.len()).map(|(place, _)| place)
}

/// The paths that a file names by `crate::` or `super::`, each with its line.
fn imports_of(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut imports = Vec::new();
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    for (number, line) in code {
        for (at, _) in line.match_indices("crate::") {
            imports.push((number + 1, names_of(&line[at + "crate::".len()..])));
        }
        let Some(rest) = line.trim_start().trim_start_matches("pub ").strip_prefix("use super::") else {
            continue;
        };
        let ups = rest.matches("super::").count() + 1;
        let mut path = module[..module.len().saturating_sub(ups)].to_vec();
        path.extend(names_of(rest.trim_start_matches("super::")));
        imports.push((number + 1, path));
    }
    imports
}

/// The names of a path, up to what is no name.
fn names_of(text: &str) -> Vec<String> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
    let path = text.split(|char| !is_part(char)).next().unwrap_or_default();
    path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn module_of(file: &Path) -> Vec<String> {
    file.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
