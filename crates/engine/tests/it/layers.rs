//! The modules of each crate stand in layers: each imports only what stands above it in its table. An
//! import in the other direction is a circle, or the beginning of one. Where a table lists what is inside a folder, that
//! is in order too; in any other folder the files may import each other. Stories take what they share from one folder, and
//! nothing from each other.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The domain, from the top down.
const DOMAIN: &[&str] = &[
    "time",
    "id",
    "actor",
    "backoff",
    "business_days",
    "local_day",
    "utc_day",
    "text",
    "problems",
    "check_digits",
    // A text of a body is searched for card numbers, a closed list reads itself from a body, and a card has such lists.
    "words card wire",
    "currency",
    "money",
    "percentage",
    "mcc",
    "country",
    "capture_mode",
    "payment_type",
    "br_code",
    "boleto",
    "customer",
    "decline",
    "provider_type",
    "circuit",
    "learned",
    "flow",
    "routing",
    "platform_fee",
    "plan",
    "split",
    "vendor",
    "webhook",
    "charge",
    "rates",
    "flow_replay",
    "ledger",
    "payout",
    "settlement",
    "prepayment",
    "token",
    "credential",
    "scope",
    "idempotency",
    "merchant",
    "member",
    "purchase",
    "seller",
    "cnab240",
    "session",
    "subscription",
    "settings",
    "account_clock",
    "report",
    "receipt",
];

/// The store, from the top down: values and batches, the two databases, the store of both, then one name for each resource.
const STORE: &[&str] = &[
    "value",
    "error",
    "admission",
    "placement",
    "sql",
    "batch",
    "row",
    "sums",
    "group",
    "fuse",
    "stand_in",
    "owners",
    "driver",
    "migrate",
    "moving::table",
    "moving::checksum",
    "moving::mark",
    "newest",
    "postgres",
    "data_keys::stored",
    "sqlite",
    "store",
    "moving",
    "spans",
    "fold",
    "readable",
    "accounts",
    "expiring",
    "document",
    "sealed",
    "audit",
    "rates",
    "counters",
    "ledger",
    "clients",
    "due",
    "transaction_requests",
    "charges",
    "cards",
    "credentials",
    "customers",
    "data_keys",
    "events",
    "webhooks",
    "deliveries",
    "listeners",
    "authentication_setups",
    "held_security_codes",
    "idempotency",
    "jobs",
    "providers",
    "merchants",
    "flows",
    "money",
    "provider_notifications",
    "purchases",
    "registration_reviews",
    "seller_documents",
    "sellers",
    "sessions",
    "subscriptions",
    "settings",
    "tokens",
    "vendors",
    "plans",
    "reports",
    "payouts",
    "receipts",
    "prepayments",
    "simulated_transfers",
    "wallet_payments",
    "account_clocks",
    "members",
    "sign_ins",
    "testing",
];

/// The providers, from the top down.
const PROVIDERS: &[&str] = &[
    "authentication::proof",
    "division",
    "request",
    "outcome",
    "shown_text",
    "http_client",
    "authentication",
    "anti_fraud",
    "notification",
    "seller",
    "staged",
    "provider",
    "adyen",
    "pagarme_v5",
    "stripe",
    "sandbox",
    "own_provider",
];

/// The engine, from the top down. The names on one line may import each other.
const ENGINE: &[&str] = &[
    "chance",
    "clock",
    "scrub",
    "settings",
    "metrics",
    "spans",
    "caller",
    "error",
    "races",
    "cache",
    "vault",
    "report_files",
    "mail",
    "bank",
    "outbound",
    "return_address",
    "calls",
    "apple_pay",
    "app",
    "accounts",
    "rates",
    "learned",
    "settlement",
    "audit",
    "announce",
    "credentials",
    "members",
    "links",
    "document_links",
    "link_settings",
    "review_links",
    "report_links",
    "receipt_links",
    "card_data",
    "tokens",
    "queue",
    "ledger",
    "account_clocks",
    "events",
    "subscriptions::known",
    "subscriptions::begin",
    "idempotency",
    "charges::split",
    "transaction_requests::telemetry",
    "transaction_requests::call",
    "providers",
    "charges::routing",
    "flows",
    "flow_replay",
    "charges::plan_step",
    "charges::security_code",
    "charges::series",
    "authentication",
    "transaction_requests::look_up_schedule",
    "charges::underpaid",
    "charges::write_outcome",
    "charges::stored",
    "notifications::stored",
    "disputes::payment_returned",
    "charges::approval_revoked",
    "captures_and_voids::orphaned",
    "captures_and_voids",
    "vendors",
    "plans",
    "sessions",
    "anti_fraud",
    "customers",
    "sellers",
    "merchants",
    "platform_fees",
    // An answer that comes too late may lead to the next provider.
    "charges::call_providers charges::create charges::late_answer",
    "charges",
    "subscriptions",
    "authentication::challenge",
    "disputes",
    "captures_and_voids::done_elsewhere",
    "card_checks",
    "cards",
    "subscriptions::card_links",
    "charges::provider_report",
    "transaction_requests::reconcile",
    "notifications::apply",
    "notifications::settle",
    "notifications",
    "transaction_requests",
    "purchases",
    "simulator",
    "deliveries",
    "webhooks",
    "reports",
    "payouts",
    "receipts",
    "prepayments",
    "jobs",
];

/// The server, from the top down.
const SERVER: &[&str] = &[
    "chain",
    "terminal",
    "http",
    "config",
    "telemetry",
    "human_check",
    "app",
    "access",
    "health",
    "api::path",
    "api::fields",
    "api::page",
    "api::query",
    "api::schema",
    "api::split_rules",
    "api::idempotency",
    "api::cors",
    "api::request_id",
    "api::vendors",
    "api::flows",
    "api::plans",
    "api::reports",
    "api::payouts",
    "api::prepayments",
    "api::customers",
    "api::cards",
    "api::customer_cards",
    "api::charges",
    "api::documents",
    "api::receipts",
    "api::settings",
    "api::tokens",
    "api::purchases",
    "api::sessions",
    "api::providers",
    "api::notifications",
    "api::merchants",
    "api::ledger",
    "api::rates",
    "api::sellers",
    "api::sandbox_clock",
    "api::subscriptions",
    "api::webhooks",
    "api::listeners",
    "api::buyer_page",
    "api::strangers",
    "api::challenge",
    "api::payment_page",
    "api::review_page",
    "api::hosted_fields",
    "api::scripts",
    "api::checkout",
    "api::docs_page",
    "api::envelope",
    "api::layers",
    "api::auth",
    "api::openapi",
    "dashboard",
    "api::router",
    "api",
    "demo",
    "serve",
    "metrics",
    "bootstrap",
    "admin::error",
    "admin::clients",
    "admin::clock",
    "admin::backup",
    "admin::transaction_log",
    "admin::recount",
    "admin::doctor",
    "admin::unknowns",
    "admin::ledger",
    "admin::moving",
    "admin::customers",
    "admin::provider_check",
    "admin::settlement",
    "admin::flows",
    "admin::plans",
    "admin::flow_replay",
    "admin::prepayments",
    "admin::reports",
    "admin::payout_files",
    "admin::payouts",
    "admin::members",
    "admin::answer",
    "admin::webhooks",
    "admin::command",
    "admin::run",
    "admin::socket",
    "admin",
    "sandbox_provider",
    "settlement",
    "cli",
];

/// The folder of what stories share.
const SHARED: &str = "support";

/// What the engine must not be built on: whoever brings an interface brings these.
const NOT_FOR_THE_ENGINE: [&str; 6] =
    ["axum", "tower", "hyper", "clap", "config", "metrics-exporter-prometheus"];

/// What the store is written with.
const WRITES: [&str; 2] = ["Batch", "Commit"];

#[test]
fn the_domain_imports_only_upwards() {
    assert_layers("domain", DOMAIN);
}

#[test]
fn the_store_imports_only_upwards() {
    assert_layers("store", STORE);
}

#[test]
fn the_providers_import_only_upwards() {
    assert_layers("providers", PROVIDERS);
}

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

/// A test of the test: in each crate, a file at the top that imports what stands at the bottom.
#[test]
fn an_import_downwards_is_found_in_each_crate() {
    for (name, layers) in [
        ("domain", DOMAIN),
        ("store", STORE),
        ("providers", PROVIDERS),
        ("engine", ENGINE),
        ("server", SERVER),
    ] {
        let (top, bottom) = (layers[0], layers[layers.len() - 1]);
        let file = format!("{}/planted.rs", top.replace("::", "/"));
        let planted = (crates().join(name).join("src").join(&file), format!("use crate::{bottom}::Any;"));
        let wrong = wrong_imports(name, layers, &[planted]);
        let told = format!("{name}/src/{file}:1 imports {bottom}::Any, but {bottom} stands below {top}\n");
        assert_eq!(wrong, told);
    }
}

#[test]
fn a_story_names_no_other_story() {
    let wrong = named_stories(&texts_in(&stories()));
    assert!(wrong.is_empty(), "stories that name each other; what they share is in {SHARED}/:\n{wrong}");
}

/// A test of the test: a story names another from its file and from its folder, and what stories share names one.
#[test]
fn a_story_that_names_another_is_found() {
    let plant = |(file, line): (&str, &str)| (stories().join(file), line.to_owned());
    let planted = [
        ("cards.rs", "use crate::{charges::Any, support::app::TestApp};"),
        ("cards/checks.rs", "let any = super::super::charges::any();"),
        ("cards/checks.rs", "use super::super::cards::own;\nuse super::another_own;"),
        ("support/read.rs", "use crate::support::app::TestApp;\nuse crate::charges::Any;"),
    ];
    let told = "cards.rs:1 names charges::Any\ncards/checks.rs:1 names charges::any\n\
                support/read.rs:2 names charges::Any\n";
    assert_eq!(named_stories(&planted.map(plant)), told);
}

/// A line for each path by which a file names a story of another file and folder.
fn named_stories(files: &[(PathBuf, String)]) -> String {
    let trees: HashSet<String> = files_in(&stories())
        .iter()
        .map(|file| module_of(file.strip_prefix(stories()).unwrap()).remove(0))
        .collect();
    let mut named = String::new();
    for (file, text) in files {
        let file = file.strip_prefix(stories()).unwrap();
        let module = module_of(file);
        for (line, path) in imports_of(text, &module) {
            let Some(tree) = path.first().filter(|tree| trees.contains(*tree)) else { continue };
            if *tree != module[0] && tree != SHARED {
                writeln!(named, "{}:{line} names {}", file.display(), path.join("::")).unwrap();
            }
        }
    }
    named
}

#[test]
fn handlers_plan_no_batch() {
    let wrong = writers(&texts_in(&handlers()));
    assert!(wrong.is_empty(), "what a handler writes is planned by the engine:\n{wrong}");
}

/// A test of the test.
#[test]
fn a_handler_that_plans_a_batch_is_found() {
    let planted = "// A Batch.\nuse regente_store::{Batch, charges};";
    assert_eq!(writers(&[(handlers().join("cards.rs"), planted.to_owned())]), "cards.rs:2 names Batch\n");
}

/// A line for each name of the store's that writes.
fn writers(files: &[(PathBuf, String)]) -> String {
    let mut named = String::new();
    for (file, text) in files {
        let file = file.strip_prefix(handlers()).unwrap().display();
        for (line, code) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            let mut words = code.split(|char: char| !is_of_path(char)).flat_map(|path| path.split("::"));
            if let Some(word) = words.find(|word| WRITES.contains(word)) {
                writeln!(named, "{file}:{} names {word}", line + 1).unwrap();
            }
        }
    }
    named
}

fn handlers() -> PathBuf {
    crates().join("server/src/api")
}

fn assert_layers(name: &str, layers: &[&str]) {
    let root = crates().join(name).join("src");
    for module in layers.iter().flat_map(|layer| layer.split(' ')) {
        let file = root.join(module.replace("::", "/")).with_extension("rs");
        assert!(file.is_file(), "{module} has a layer, but no file");
    }
    let wrong = wrong_imports(name, layers, &texts_in(&root));
    assert!(wrong.is_empty(), "imports against the order of the layers:\n{wrong}");
}

/// A line for each import of the files, each with its text, that leads downwards.
fn wrong_imports(name: &str, layers: &[&str], files: &[(PathBuf, String)]) -> String {
    let root = crates().join(name).join("src");
    let named_by_the_crate = re_exports_of(&root);
    let mut wrong = String::new();
    for (file, text) in files {
        let module = module_of(file.strip_prefix(&root).unwrap());
        if matches!(module[0].as_str(), "lib" | "main") {
            continue;
        }
        let own = layer_of(&module, layers).unwrap_or_else(|| panic!("{} has no layer", module.join("::")));
        for (line, imported) in imports_of(text, &module) {
            let imported = named_by_the_crate.get(imported.as_slice()).unwrap_or(&imported);
            let Some(layer) = layer_of(imported, layers).filter(|layer| *layer > own) else { continue };
            let (file, path) = (file.strip_prefix(crates()).unwrap().display(), imported.join("::"));
            let (below, above) = (layers[layer], layers[own]);
            writeln!(wrong, "{file}:{line} imports {path}, but {below} stands below {above}").unwrap();
        }
    }
    wrong
}

/// What `lib.rs` shows of its modules under a name of the crate's own: `crate::Store` stands where `store::Store` does.
fn re_exports_of(root: &Path) -> HashMap<Vec<String>, Vec<String>> {
    let text = fs::read_to_string(root.join("lib.rs")).unwrap();
    let shown = text.split("pub use ").skip(1).flat_map(paths_of);
    shown.filter_map(|path| Some((vec![path.last()?.clone()], path))).collect()
}

/// The place of the longest name in the table that the path begins with.
fn layer_of(path: &[String], layers: &[&str]) -> Option<usize> {
    let names =
        layers.iter().enumerate().flat_map(|(place, layer)| layer.split(' ').map(move |name| (place, name)));
    let found = names.filter(|(_, name)| {
        let name: Vec<&str> = name.split("::").collect();
        path.len() >= name.len() && name.iter().zip(path).all(|(one, other)| one == other)
    });
    found.max_by_key(|(_, name)| name.len()).map(|(place, _)| place)
}

/// The paths that a file names by `crate::`, `self::` or `super::`, each with the line on which it begins.
fn imports_of(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let code: Vec<&str> = text.lines().map(|line| if is_comment(line) { "" } else { line }).collect();
    let code = code.join("\n");
    let mut imports = Vec::new();
    for head in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(head) {
            let before = &code[..at];
            let is_import = !before.ends_with(is_of_path) && !before.ends_with("pub(in ");
            if is_import {
                let line = before.matches('\n').count() + 1;
                imports.extend(paths_of(&code[at..]).into_iter().map(|path| (line, absolute(&path, module))));
            }
        }
    }
    imports
}

/// The path from the crate's root.
fn absolute(path: &[String], module: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let base = if path[0] == "crate" { &[] } else { &module[..module.len().saturating_sub(ups)] };
    let names = path.iter().filter(|name| !matches!(name.as_str(), "crate" | "self" | "super"));
    base.iter().chain(names).cloned().collect()
}

/// The paths of a tree such as `super::{app::App, error::{Cause, Error}}`.
fn paths_of(tree: &str) -> Vec<Vec<String>> {
    let end = tree.find(|char| !is_of_path(char)).unwrap_or(tree.len());
    let (path, rest) = tree.split_at(end);
    let names: Vec<String> = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match rest.strip_prefix('{').filter(|_| path.ends_with("::")) {
        Some(group) => {
            let members = members_of(group).into_iter().map(str::trim).filter(|member| !member.is_empty());
            let members = members.flat_map(paths_of);
            members.map(|member| [names.clone(), member].concat()).collect()
        }
        None => vec![names],
    }
}

/// What stands between commas, up to the brace that ends the group.
fn members_of(group: &str) -> Vec<&str> {
    let (mut members, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            ',' | '}' => {
                members.push(&group[begin..at]);
                begin = at + 1;
                if char == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members
}

fn is_of_path(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | ':')
}

fn module_of(file: &Path) -> Vec<String> {
    file.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect()
}

/// The files of a folder, each with its text.
fn texts_in(folder: &Path) -> Vec<(PathBuf, String)> {
    files_in(folder).into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
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

fn stories() -> PathBuf {
    crates().join("server/tests/it")
}

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
