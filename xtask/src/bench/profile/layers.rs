//! Maps a function to a layer of the service by its name.

#[cfg(test)]
mod tests;

const KERNEL: &str = "kernel";
const MEMORY: &str = "memory allocation";
const COPYING: &str = "copying and comparing memory";
const LIBC: &str = "C library: calls of the kernel, locks, clock";
const SQLITE: &str = "SQLite";
const SEALING: &str = "hashing and sealing (aws-lc)";
const JSON: &str = "JSON (serde)";
const HTTP: &str = "HTTP (hyper, axum, tower)";
const POSTGRES: &str = "client of PostgreSQL (tokio-postgres)";
const TOKIO: &str = "tokio, channels, locks";
const WATCHING: &str = "tracing and metrics";
const SERVER: &str = "regente";
const STORE: &str = "regente-store";
const DOMAIN: &str = "regente-domain, regente-providers";
const REST: &str = "the rest: standard library, ids, caches";

/// All layers, in the order of display.
pub(super) const LAYERS: &[&str] = &[
    KERNEL, SQLITE, POSTGRES, STORE, SERVER, DOMAIN, HTTP, JSON, SEALING, TOKIO, WATCHING, MEMORY, COPYING,
    LIBC, REST,
];

/// Crates with their layers.
const CRATES: &[(&str, &str)] = &[
    ("regente", SERVER),
    ("regente_store", STORE),
    ("regente_domain", DOMAIN),
    ("regente_providers", DOMAIN),
    ("rusqlite", SQLITE),
    ("tokio_postgres", POSTGRES),
    ("postgres_protocol", POSTGRES),
    ("postgres_types", POSTGRES),
    ("deadpool", POSTGRES),
    ("deadpool_postgres", POSTGRES),
    ("indexmap", JSON),
    ("aws_lc_rs", SEALING),
    ("hyper", HTTP),
    ("hyper_util", HTTP),
    ("axum", HTTP),
    ("axum_core", HTTP),
    ("tower", HTTP),
    ("tower_http", HTTP),
    ("http", HTTP),
    ("http_body", HTTP),
    ("http_body_util", HTTP),
    ("httparse", HTTP),
    ("matchit", HTTP),
    ("bytes", HTTP),
    ("tokio", TOKIO),
    ("tokio_util", TOKIO),
    ("mio", TOKIO),
    ("futures_util", TOKIO),
    ("futures_channel", TOKIO),
    ("parking_lot", TOKIO),
    ("parking_lot_core", TOKIO),
    ("crossbeam_channel", TOKIO),
    ("tracing", WATCHING),
    ("tracing_core", WATCHING),
    ("tracing_subscriber", WATCHING),
    ("metrics", WATCHING),
    ("metrics_util", WATCHING),
    ("metrics_exporter_prometheus", WATCHING),
];

/// Parts of the names of the C library's allocator functions.
const ALLOCATORS: &[&str] = &["alloc", "free", "tcache", "unlink_chunk", "arena"];

/// Prefixes of aws-lc's functions; those in assembly have no common one.
const CIPHERS: &[&str] = &["aws_lc_", "sha256_", "aes", "gcm", "AES", "GCM"];

/// The layer of a function that `perf` found in the kernel, a library or the binary.
pub(super) fn layer_of(object: &str, symbol: &str) -> &'static str {
    let name = symbol.split_once("] ").map_or(symbol, |(_, name)| name);
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if symbol.starts_with("[k]") {
        KERNEL
    } else if object.starts_with("libc.") || object.starts_with("ld-") || object.starts_with('[') {
        libc_layer(name)
    } else if begins(&["__rustc::", "mi_", "_mi_"]) {
        // The glue between Rust and the allocator, and mimalloc.
        MEMORY
    } else if name.contains("::") {
        rust_layer(name)
    } else if begins(CIPHERS) {
        SEALING
    } else if begins(&["0x", "__rust"]) {
        REST
    } else {
        // All other C code.
        SQLITE
    }
}

fn libc_layer(name: &str) -> &'static str {
    if ALLOCATORS.iter().any(|allocator| name.contains(allocator)) {
        MEMORY
    } else if name.contains("mem") || name.contains("strlen") {
        COPYING
    } else {
        LIBC
    }
}

/// The first crate in a name: for `<hyper::Server as tower::Service<regente::App>>::call` it is hyper. Functions of
/// reading and writing JSON count as such for any type.
fn rust_layer(name: &str) -> &'static str {
    let parts = || name.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    let crates = || parts().filter_map(|part| part.split_once("::").map(|(first, _)| first));
    if crates().any(|first| first.starts_with("serde")) {
        return JSON;
    }
    let known = |first| CRATES.iter().find(|(name, _)| *name == first).map(|(_, layer)| *layer);
    crates().find_map(known).unwrap_or(REST)
}
