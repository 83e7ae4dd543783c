//! Settings: their sources, refusals, and their listing.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use regente::config::{
    Config, ConfigError, DatabaseAddress, Flag, Loaded, ReportStorage, Secret, Simulator, SmtpTls, Sources,
    TransactionLogLocation,
};
use regente::http::card_testing::Bounds;
use regente::http::fields_origin::LegacyPages;
use regente::http::rates::Rate;
use regente_domain::provider_type::Simulators;
use regente_engine::outbound::{Plain, Ports, Refusal};
use regente_engine::settings::{EndpointUse, Mode, Settings};
use regente_engine::vault::Kek;

use crate::support::server::set_mode;

const KEK: &str = "8f1de0a29b7c4d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c7";

fn environment(values: &[(&str, &str)]) -> Sources {
    let environment = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Sources { environment: environment.collect(), ..Sources::default() }
}

fn file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("regente.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn flag(name: &str, key: &str, value: &str) -> Flag {
    Flag { name: name.to_owned(), key: key.to_owned(), value: value.to_owned() }
}

fn refusal(sources: &Sources) -> String {
    Loaded::read(sources).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(
        folder.path(),
        "[server]\nconnections_max = 1\nbody_bytes_max = 20000\nlisten = '127.0.0.1:1'\n",
    );
    let mut sources = environment(&[
        ("REGENTE_SERVER__BODY_BYTES_MAX", "30000"),
        ("REGENTE_SERVER__LISTEN", "127.0.0.1:2"),
        ("PATH", "/bin"),
    ]);
    sources.file = Some(path.clone());
    sources.flags =
        vec![flag("--set", "server.listen", "127.0.0.1:3"), flag("--listen", "server.listen", "[::1]:4")];

    let loaded = Loaded::read(&sources).unwrap();

    let server = &loaded.config.server;
    assert_eq!((server.header_timeout_ms, loaded.origin("server.header_timeout_ms")), (30_000, "default"));
    assert_eq!(
        (server.connections_max, loaded.origin("server.connections_max")),
        (1, path.to_str().unwrap())
    );
    assert_eq!(server.body_bytes_max, 30_000);
    assert_eq!(loaded.origin("server.body_bytes_max"), "environment variable REGENTE_SERVER__BODY_BYTES_MAX");
    assert_eq!((server.listen.as_str(), loaded.origin("server.listen")), ("[::1]:4", "flag --listen"));
}

#[test]
fn an_unknown_name_is_an_error_wherever_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let text = "nonsense = 1\n[server]\nlisen = 'x'\n[serverr]\nlisten = 'x'\n[server.listen]\nport = 1\n";
    let mut sources = environment(&[("REGENTE_SERVER_LISTEN", "x"), ("REGENTE_VAULT__KEY", "secret-text")]);
    sources.file = Some(file(folder.path(), text));
    sources.flags = vec![flag("--set", "log.colour", "red")];

    let refusal = refusal(&sources);

    let named = [
        "regente.toml: there is no setting `nonsense`; at the top there are data_dir, mode",
        "regente.toml: there is no setting `server.lisen`; in `server` there are base_url, body_budget_bytes, body_bytes_max",
        "regente.toml: there is no setting `serverr`",
        "regente.toml: `server.listen` must be a string",
        "environment variable REGENTE_SERVER_LISTEN: there is no setting `server_listen`",
        "environment variable REGENTE_VAULT__KEY: there is no setting `vault.key`; in `vault` there are kek, kek_file",
        "flag --set: there is no setting `log.colour`; in `log` there are format, level",
    ];
    for problem in named {
        assert!(refusal.contains(problem), "{problem}\nis missing in\n{refusal}");
    }
    assert!(!refusal.contains("secret-text"));
}

#[test]
fn no_setting_of_a_release_throws_writes_away() {
    let sources = environment(&[("REGENTE_DATABASE__DISCARD_WRITES", "true")]);
    let refusal = refusal(&sources);
    assert!(refusal.contains("there is no setting `database.discard_writes`"), "{refusal}");
}

#[test]
fn a_file_that_is_no_toml_or_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Sources { file: Some(file(folder.path(), "[server\n")), ..Sources::default() };
    assert!(refusal(&broken).contains("regente.toml: "));
    let absent = Sources { file: Some(folder.path().join("absent.toml")), ..Sources::default() };
    assert!(refusal(&absent).contains("absent.toml: No such file"));
}

#[test]
fn what_dev_writes_for_shells_is_no_setting() {
    let sources = environment(&[
        ("REGENTE_URL", "http://127.0.0.1:8080"),
        ("REGENTE_CLIENT_ID", "c"),
        ("REGENTE_API_KEY", "k"),
        ("REGENTE_MERCHANT_ID", "m"),
        ("REGENTE_FALLBACK_MERCHANT_ID", "f"),
        ("REGENTE_CONFIG", "regente.toml"),
    ]);
    Loaded::read(&sources).unwrap();
}

#[test]
fn every_value_of_a_wrong_type_or_out_of_bounds_is_named() {
    let types = environment(&[
        ("REGENTE_MODE", "prod"),
        ("REGENTE_LOG__FORMAT", "xml"),
        ("REGENTE_SERVER__CONNECTIONS_MAX", "many"),
        ("REGENTE_SANDBOX__CVV_ON_CHARGE", "perhaps"),
    ]);
    let refused = refusal(&types);
    for problem in [
        "REGENTE_MODE: `mode` must be `sandbox` or `production`",
        "REGENTE_LOG__FORMAT: `log.format`",
        "REGENTE_SERVER__CONNECTIONS_MAX: `server.connections_max` must be an",
        "REGENTE_SANDBOX__CVV_ON_CHARGE: `sandbox.cvv_on_charge` must be a boolean",
    ] {
        assert!(refused.contains(problem), "{problem}\nis missing in\n{refused}");
    }
    let bounds = environment(&[
        ("REGENTE_SERVER__CONNECTIONS_MAX", "0"),
        ("REGENTE_SERVER__LISTEN", "localhost"),
        ("REGENTE_DATABASE__URL", "mysql://root:password1@db/x"),
        ("REGENTE_DATABASE__POSTGRES_WRITERS", "17"),
        ("REGENTE_LOG__LEVEL", "a=b=c"),
        ("REGENTE_ROUTING__CIRCUIT_FAILURES", "11"),
        ("REGENTE_ROUTING__CIRCUIT_OPEN_MS", "0"),
        ("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", "5,30,never"),
        ("REGENTE_CALENDAR__EXTRA_HOLIDAYS", "2026-12-24,2026-11-26"),
    ]);
    let refused = refusal(&bounds);
    for problem in [
        "REGENTE_SERVER__CONNECTIONS_MAX: `server.connections_max` must be 1 to 1000000",
        "REGENTE_SERVER__LISTEN: `server.listen` must be an IP address and a port",
        "REGENTE_DATABASE__URL: `database.url` must be `sqlite:<path>` or `postgres://",
        "REGENTE_DATABASE__POSTGRES_WRITERS: `database.postgres_writers` must be 1 to 16",
        "REGENTE_LOG__LEVEL: `log.level` must be",
        "REGENTE_ROUTING__CIRCUIT_FAILURES: `routing.circuit_failures` must be 0 to 10",
        "REGENTE_ROUTING__CIRCUIT_OPEN_MS: `routing.circuit_open_ms` must be 1 to 600000 milliseconds",
        "REGENTE_CHARGES__RECONCILE_WAITS_SECONDS: `charges.reconcile_waits_seconds` must be 1 to 100 waits of 1 to \
         2592000 seconds, such as 5,30,120",
        "REGENTE_CALENDAR__EXTRA_HOLIDAYS: `calendar.extra_holidays` must be days with commas between them, each after the one before",
    ] {
        assert!(refused.contains(problem), "{problem}\nis missing in\n{refused}");
    }
    assert!(!refused.contains("password1"));
}

#[test]
fn times_have_bounds_on_both_sides() {
    let times = [
        ("server.header_timeout_ms", 1, 600_000),
        ("server.drain_timeout_ms", 1, 3_600_000),
        ("database.postgres_pool_wait_ms", 1, 600_000),
        ("database.postgres_read_timeout_ms", 1, 600_000),
        ("database.postgres_commit_timeout_ms", 1, 600_000),
        ("database.postgres_connect_timeout_ms", 1, 600_000),
        ("sandbox.deadline_ms", 1, 600_000),
        ("charges.budget_ms", 1, 600_000),
        ("charges.reconcile_grace_ms", 100, 86_400_000),
        ("routing.circuit_open_ms", 1, 600_000),
        ("webhooks.first_answer_ms", 1, 600_000),
        ("webhooks.retry_answer_ms", 1, 600_000),
    ];
    let with = |key: &str, value: u64| Sources {
        flags: vec![flag("--set", key, &value.to_string())],
        ..Sources::default()
    };
    for (key, least, most) in times {
        for within in [least, most] {
            Loaded::read(&with(key, within)).unwrap();
        }
        for beyond in [least - 1, most + 1] {
            let expected = format!("`{key}` must be {least} to {most} milliseconds");
            let refused = refusal(&with(key, beyond));
            assert!(refused.contains(&expected), "{expected} is missing in {refused}");
        }
    }
    let cache = refusal(&with("limits.cache_ms", 60_001));
    assert!(cache.contains("`limits.cache_ms` must be 0 to 60000 milliseconds"), "{cache}");
    let notice = refusal(&with("server.drain_notice_ms", 3_600_001));
    assert!(notice.contains("`server.drain_notice_ms` must be 0 to 3600000 milliseconds"), "{notice}");
}

#[test]
fn holidays_are_days_in_their_order() {
    let with = |days: &str| Loaded::read(&environment(&[("REGENTE_CALENDAR__EXTRA_HOLIDAYS", days)]));
    let calendar = with("2026-11-26, 2026-12-24").unwrap().config.settings().calendar;
    assert!(!calendar.is_business_day("2026-12-24".parse().unwrap()));
    assert!(calendar.is_business_day("2026-12-23".parse().unwrap()));
    for wrong in ["2026-11-26,2026-11-26", "2026-12-24,2026-11-26", "2026-02-30", "today"] {
        assert!(with(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let loaded = Loaded::read(&environment(&[("REGENTE_SERVER__LISTEN", "")])).unwrap();
    assert_eq!(loaded.config.server.listen, "127.0.0.1:8080");
}

#[test]
fn defaults_follow_the_data_folder_unless_they_are_set() {
    let loaded = Loaded::read(&environment(&[("REGENTE_DATA_DIR", "/srv/r")])).unwrap();
    assert!(
        matches!(loaded.config.database_address(), Ok(DatabaseAddress::Sqlite(path)) if path == Path::new("/srv/r/regente.db"))
    );
    assert_eq!(loaded.config.vault.kek_file.as_deref(), Some(Path::new("/srv/r/kek")));
    assert_eq!(loaded.config.sandbox.books.as_deref(), Some("/srv/r/sandbox-books.db"));
    assert_eq!(loaded.origin("vault.kek_file"), "default");

    let production =
        environment(&[("REGENTE_MODE", "production"), ("REGENTE_DATABASE__URL", "sqlite:/other/r.db")]);
    let loaded = Loaded::read(&production).unwrap();
    assert!(
        matches!(loaded.config.database_address(), Ok(DatabaseAddress::Sqlite(path)) if path == Path::new("/other/r.db"))
    );
    assert_eq!(loaded.config.vault.kek_file, None);
}

#[test]
fn of_a_secret_and_its_file_the_stronger_source_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "[vault]\nkek_file = '/run/kek'\n[database]\nurl = 'sqlite:a.db'\n");
    let mut sources = environment(&[("REGENTE_VAULT__KEK", KEK)]);
    let address = folder.path().join("address");
    std::fs::write(&address, "postgres://regente:password1@db/regente\n").unwrap();
    sources.file = Some(path);
    sources.flags = vec![flag("--set", "database.url_file", address.to_str().unwrap())];

    let loaded = Loaded::read(&sources).unwrap();

    let (kek, _) = loaded.config.kek().unwrap();
    assert_eq!(kek.id(), Kek::parse(KEK).unwrap().id());
    assert!(
        matches!(loaded.config.database_address(), Ok(DatabaseAddress::Postgres(url)) if url.expose() == "postgres://regente:password1@db/regente")
    );

    let both = environment(&[("REGENTE_VAULT__KEK", KEK), ("REGENTE_VAULT__KEK_FILE", "/run/kek")]);
    let refused = refusal(&both);
    assert!(refused.contains("`vault.kek` (environment variable REGENTE_VAULT__KEK)"), "{refused}");
    assert!(refused.contains("say the same") && !refused.contains(KEK), "{refused}");
}

#[test]
fn what_is_shown_hides_secrets_and_can_be_read_back() {
    let mut sources = environment(&[
        ("REGENTE_VAULT__KEK", KEK),
        (
            "REGENTE_DATABASE__URL",
            "postgres://regente:pass:w@rd1@db:5432/regente?sslmode=require&password=pass2",
        ),
        ("REGENTE_LOG__FORMAT", "json"),
    ]);
    sources.flags = vec![flag("--set", "limits.card_token_life_seconds", "60")];
    let loaded = Loaded::read(&sources).unwrap();

    let text = loaded.to_toml();

    for secret in [KEK, "pass:w", "rd1", "pass2"] {
        assert!(!text.contains(secret) && !loaded.to_json().to_string().contains(secret), "{text}");
        assert!(!format!("{loaded:?}").contains(secret));
    }
    let url = "url = \"postgres://regente:(hidden)@db:5432/regente?sslmode=require&password=(hidden)\"";
    assert!(text.contains(url), "{text}");
    assert!(text.contains("# kek = (hidden)") && text.contains("# environment variable REGENTE_VAULT__KEK"));
    assert_eq!(loaded.to_json()["log.format"]["origin"], "environment variable REGENTE_LOG__FORMAT");
    assert_eq!(loaded.to_json()["limits.card_token_life_seconds"]["value"], 60);

    let folder = tempfile::tempdir().unwrap();
    let again = Sources { file: Some(file(folder.path(), &text)), ..Sources::default() };
    assert_eq!(Loaded::read(&again).unwrap().config.limits.card_token_life_seconds, 60);
}

#[test]
fn every_setting_can_be_given_by_its_variable() {
    let loaded = Loaded::read(&Sources::default()).unwrap();
    let members = loaded.to_json();
    let mut given = 0;
    for (key, described) in members.as_object().unwrap() {
        let value = &described["value"];
        if value.is_null() {
            continue;
        }
        let variable = format!("REGENTE_{}", key.to_uppercase().replace('.', "__"));
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let loaded = Loaded::read(&environment(&[(variable.as_str(), value.as_str())])).unwrap();
        assert_eq!(loaded.origin(key), format!("environment variable {variable}"));
        given += 1;
    }
    assert!(given > 30, "{given}");
}

/// The page has a row for each setting, with its name and its default.
#[test]
fn the_manual_has_every_setting_with_its_default() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .filter_map(|(name, rest)| Some((name, rest.split_once(" | ")?.0)))
        .collect();
    let loaded = Loaded::read(&Sources::default()).unwrap().to_json();
    let settings = loaded.as_object().unwrap();
    let named: BTreeSet<&str> = rows.iter().map(|(name, _)| *name).collect();
    let there: BTreeSet<&str> = settings.keys().map(String::as_str).collect();
    assert_eq!(named, there);
    assert_eq!(rows.len(), there.len(), "each has one row");
    for (name, default) in rows {
        let value = &settings[name]["value"];
        let value = match value.is_null() {
            true => "none".to_owned(),
            false => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        let value = value.replace("regente-data/", "<data_dir>/");
        let said = default.replace(' ', "");
        assert!(said.contains(&value), "{name}: the default is {value}, the page says {default}");
    }
}

#[test]
fn settings_reach_the_parts_that_they_are_for() {
    let loaded = Loaded::read(&environment(&[
        ("REGENTE_LIMITS__IDEMPOTENCY_RETENTION_SECONDS", "11"),
        ("REGENTE_LIMITS__CARD_TOKEN_LIFE_SECONDS", "12"),
        ("REGENTE_LIMITS__CLIENT_TOKEN_LIFE_SECONDS_MAX", "13"),
        ("REGENTE_LIMITS__CACHE_MS", "14"),
        ("REGENTE_LIMITS__PUBLIC_KEY_TOKENS_PER_SECOND", "0"),
        ("REGENTE_LIMITS__SECRET_KEY_REQUESTS_PER_SECOND", "15"),
        ("REGENTE_LIMITS__PAGE_REQUESTS_PER_SECOND", "25"),
        ("REGENTE_LIMITS__FAILED_AUTHENTICATIONS_PER_MINUTE", "17"),
        ("REGENTE_LIMITS__SUBSCRIPTION_JOBS_PER_SECOND", "26"),
        ("REGENTE_CHARGES__BUDGET_MS", "16"),
        ("REGENTE_CHARGES__RECONCILE_GRACE_MS", "170"),
        ("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", "7, 70,700"),
        ("REGENTE_PURCHASES__MIN_PAYMENT_AMOUNT", "250"),
        ("REGENTE_ROUTING__CIRCUIT_FAILURES", "3"),
        ("REGENTE_ROUTING__CIRCUIT_OPEN_MS", "21"),
        ("REGENTE_ROUTING__RATES_RETENTION_DAYS", "27"),
        ("REGENTE_SERVER__BODY_BYTES_MAX", "65536"),
        ("REGENTE_SERVER__BODY_BUDGET_BYTES", "131072"),
        ("REGENTE_DATABASE__SQLITE_READERS", "2"),
        ("REGENTE_DATABASE__SQLITE_COMMITS_APART_US", "250"),
        ("REGENTE_DATABASE__ADMITTED_MAX", "18"),
        ("REGENTE_DATABASE__ADMITTED_ACCOUNT_PERCENT", "50"),
        ("REGENTE_SANDBOX__DEADLINE_MS", "19"),
        ("REGENTE_SANDBOX__SEED", "20"),
    ]))
    .unwrap();
    let (settings, limits) = (loaded.config.settings(), loaded.config.http_limits());
    assert_eq!(settings.mode, Mode::Sandbox);
    assert_eq!(settings.idempotency_retention.as_secs(), 11);
    assert_eq!(settings.token_life.as_secs(), 12);
    assert_eq!(settings.client_token_life_max.as_secs(), 13);
    assert_eq!(settings.cache_life.as_millis(), 14);
    assert_eq!(limits.rates.public_key_tokens, None);
    assert_eq!(limits.rates.secret_key_requests, Rate::per_second(15));
    assert_eq!(limits.rates.page_requests, Rate::per_second(25));
    assert_eq!(limits.rates.failed_authentications, Rate::per_minute(17));
    assert_eq!(settings.subscription_jobs_per_second, NonZeroU32::new(26));
    assert_eq!(settings.charge_budget.as_millis(), 16);
    assert_eq!(settings.reconcile_grace.as_millis(), 170);
    assert_eq!(settings.reconcile_waits, [7, 70, 700].map(Duration::from_secs));
    assert_eq!(settings.purchase_payment_min.minor_units(), 250);
    assert_eq!(settings.rates_retention, Duration::from_secs(27 * 86_400));
    let circuits = settings.circuits.unwrap();
    assert_eq!((circuits.failures.get(), circuits.open_for.as_millis()), (3, 21));
    assert_eq!((limits.body_bytes_max, limits.body_budget_bytes), (65_536, 131_072));
    let regente_store::StoreOptions::Sqlite(sqlite) = loaded.config.store_options().unwrap() else {
        panic!()
    };
    assert_eq!((sqlite.readers, sqlite.room.places_max, sqlite.room.account_percent), (2, 18, 50));
    assert_eq!(sqlite.commits_apart.as_micros(), 250);
    let sandbox = loaded.config.sandbox_options(vec![0; 32].into());
    assert_eq!((sandbox.deadline.as_millis(), sandbox.seed), (19, 20));
}

#[test]
fn no_failures_switch_circuits_off() {
    let loaded = Loaded::read(&environment(&[("REGENTE_ROUTING__CIRCUIT_FAILURES", "0")])).unwrap();
    assert_eq!(loaded.config.settings().circuits, None);
}

#[test]
fn waits_without_a_second_or_without_end_are_refused() {
    let long = vec!["1"; 101].join(",");
    for waits in ["0", "5,,30", "-1", "1.5", "2592001", &long, " "] {
        let refused = refusal(&environment(&[("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", waits)]));
        assert!(refused.contains("`charges.reconcile_waits_seconds` must be"), "{waits}: {refused}");
    }
    let folder = tempfile::tempdir().unwrap();
    let one = file(folder.path(), "[charges]\nreconcile_waits_seconds = 60\n");
    let loaded = Loaded::read(&Sources { file: Some(one), ..Sources::default() }).unwrap();
    assert_eq!(loaded.config.settings().reconcile_waits, [Duration::from_secs(60)]);
}

#[test]
fn postgres_settings_reach_the_pool() {
    let loaded = Loaded::read(&environment(&[
        ("REGENTE_DATABASE__URL", "postgresql://u@h/d"),
        ("REGENTE_DATABASE__POSTGRES_POOL_SIZE", "5"),
        ("REGENTE_DATABASE__POSTGRES_WRITERS", "2"),
        ("REGENTE_DATABASE__POSTGRES_NODE_STRIPE", "7"),
        ("REGENTE_DATABASE__POSTGRES_READ_TIMEOUT_MS", "1500"),
    ]))
    .unwrap();
    let regente_store::StoreOptions::Postgres(postgres) = loaded.config.store_options().unwrap() else {
        panic!()
    };
    assert_eq!((postgres.pool_size, postgres.writers, postgres.node_stripe), (5, 2, 7));
    assert_eq!(postgres.read_timeout, Duration::from_millis(1_500));
}

#[test]
fn lifetimes_and_numbers_have_bounds_on_both_sides() {
    let with = |key: &str, value: u64| Sources {
        // Twice the largest body, so that each body fits.
        flags: [(key, value), ("server.body_budget_bytes", 134_217_728)]
            .map(|(key, value)| flag("--set", key, &value.to_string()))
            .into(),
        ..Sources::default()
    };
    for (key, least, most, unit) in [
        ("limits.card_token_life_seconds", 1, 86_400, " seconds"),
        ("limits.client_token_life_seconds_max", 1, 315_360_000, " seconds"),
        ("limits.idempotency_retention_seconds", 1, 31_536_000, " seconds"),
        ("server.body_bytes_max", 16_384, 67_108_864, ""),
        ("database.admitted_max", 1, 1_000_000, ""),
        ("database.postgres_pool_size", 1, 1_000, ""),
        ("webhooks.concurrent_max", 1, 65_536, ""),
        ("webhooks.delivery_retention_days", 1, 36_500, ""),
        ("routing.rates_retention_days", 1, 36_500, ""),
    ] {
        for within in [least, most] {
            Loaded::read(&with(key, within)).unwrap();
        }
        for beyond in [least - 1, most + 1] {
            let expected = format!("`{key}` must be {least} to {most}{unit}");
            let refused = refusal(&with(key, beyond));
            assert!(refused.contains(&expected), "{expected} is missing in {refused}");
        }
    }
}

/// A production configuration with the key in a file of this folder.
fn production(folder: &Path) -> (Config, PathBuf) {
    let kek_file = folder.join("kek");
    std::fs::write(&kek_file, KEK).unwrap();
    set_mode(&kek_file, 0o600);
    let mut sources =
        environment(&[("REGENTE_MODE", "production"), ("REGENTE_DATA_DIR", folder.to_str().unwrap())]);
    sources.flags = vec![flag("--set", "vault.kek_file", kek_file.to_str().unwrap())];
    (Loaded::read(&sources).unwrap().config, kek_file)
}

fn reasons(config: &Config) -> String {
    config.check_strength().unwrap_err().to_string()
}

#[test]
fn production_limits_strangers_and_public_keys_and_the_sandbox_does_not() {
    let limits_of = |mode: &str, more: &[(&str, &str)]| {
        let given = [&[("REGENTE_MODE", mode)], more].concat();
        Loaded::read(&environment(&given)).unwrap().config.http_limits()
    };
    let sandbox = limits_of("sandbox", &[]);
    assert_eq!(sandbox.rates.failed_authentications, None);
    let none = Bounds::default();
    let testing = sandbox.card_testing;
    assert_eq!([testing.key, testing.address, testing.bin, testing.card], [none; 4]);

    let production = limits_of("production", &[]);
    assert_eq!(production.rates.failed_authentications, Rate::per_minute(60));
    let within = |refusals| Rate::within(Duration::from_secs(600), refusals);
    let bounds =
        |requests, refusals| Bounds { requests: Rate::per_minute(requests), refusals: within(refusals) };
    let testing = production.card_testing;
    assert_eq!(
        [testing.key, testing.address, testing.bin, testing.card],
        [bounds(6_000, 0), bounds(120, 20), bounds(600, 300), bounds(10, 8)]
    );
    assert_eq!(testing.block_for, Duration::from_secs(900));

    let off = limits_of("production", &[("REGENTE_CARD_TESTING__BIN_REFUSALS_MAX", "0")]);
    assert_eq!(off.card_testing.bin, bounds(600, 0));
}

#[test]
fn trusted_proxies_are_addresses_and_networks() {
    let with = |text: &str| environment(&[("REGENTE_SERVER__TRUSTED_PROXIES", text)]);
    for text in ["10.0.0.0/8", "10.0.0.1, ::1", "2001:db8::/32,192.0.2.1"] {
        Loaded::read(&with(text)).unwrap();
    }
    for text in ["proxy.example", "10.0.0.0/33", "any"] {
        assert!(
            refusal(&with(text)).contains("`server.trusted_proxies` must be addresses or networks"),
            "{text}"
        );
    }
}

#[test]
fn the_card_fields_have_an_origin_that_the_api_has_not() {
    const API: &str = "https://payments.example/regente";
    let with = |fields: &str, more: &[(&str, &str)]| {
        environment(&[&[("REGENTE_SERVER__FIELDS_BASE_URL", fields)], more].concat())
    };
    let base = ("REGENTE_SERVER__BASE_URL", API);
    let fields = |fields: &str| Loaded::read(&with(fields, &[base])).unwrap().config.fields_origin().unwrap();
    let own = fields("https://Fields.example:443");
    assert_eq!(
        (own.origin.as_str(), own.api.as_str(), own.api_origin.as_str()),
        ("https://fields.example", API, "https://payments.example")
    );
    let production = ("REGENTE_MODE", "production");
    for (text, more, rule) in [
        (
            "https://fields.example/fields",
            [base].as_slice(),
            "must be http:// or https:// with a host and no path",
        ),
        ("fields.example", &[base], "must be http:// or https:// with a host and no path"),
        ("https://payments.example", &[base], "must be another origin than that of `server.base_url`"),
        ("https://fields.example", &[production], "needs `server.base_url`, which the fields call"),
    ] {
        assert!(refusal(&with(text, more)).contains(&format!("`server.fields_base_url` {rule}")), "{text}");
    }
}

#[test]
fn production_tells_cards_to_no_page_unless_the_operator_says_so() {
    const SETTING: &str = "fields.legacy_pages";
    let pages = |values: &[(&str, &str)]| {
        let loaded = Loaded::read(&environment(values)).unwrap();
        (loaded.config.legacy_pages(), loaded.origin(SETTING).to_owned())
    };
    let production = ("REGENTE_MODE", "production");
    let on = ("REGENTE_FIELDS__LEGACY_PAGES", "true");
    let off = ("REGENTE_FIELDS__LEGACY_PAGES", "false");
    assert_eq!(pages(&[]), (LegacyPages::Served, "default".to_owned()));
    assert_eq!(pages(&[production]), (LegacyPages::Refused, "default".to_owned()));
    let by_variable = format!("environment variable {}", on.0);
    assert_eq!(pages(&[production, on]), (LegacyPages::Served, by_variable.clone()));
    assert_eq!(pages(&[off]), (LegacyPages::Refused, by_variable));
    let refused = refusal(&environment(&[(on.0, "perhaps")]));
    assert!(refused.contains(&format!("`{SETTING}` must be a boolean")), "{refused}");
}

#[test]
fn trusted_proxies_are_believed() {
    let address_by = |values: &[(&str, &str)]| {
        let limits = Loaded::read(&environment(values)).unwrap().config.http_limits();
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([10, 0, 0, 1], 50_000))));
        request.headers_mut().insert("x-forwarded-for", "192.0.2.1".parse().unwrap());
        limits.proxies.peer_of(&request).0.to_string()
    };
    assert_eq!(address_by(&[("REGENTE_SERVER__TRUSTED_PROXIES", "::1, 10.0.0.0/8")]), "192.0.2.1");
    assert_eq!(address_by(&[("REGENTE_SERVER__TRUSTED_PROXIES", "10.1.0.0/16")]), "10.0.0.1");
    assert_eq!(address_by(&[]), "10.0.0.1");
}

#[test]
fn production_refuses_simulators_unless_a_setting_allows_them() {
    let simulators =
        |values: &[(&str, &str)]| Loaded::read(&environment(values)).unwrap().config.settings().simulators;
    let (production, sandbox) = (("REGENTE_MODE", "production"), ("REGENTE_MODE", "sandbox"));
    let allowed = |word| ("REGENTE_SANDBOX__ALLOW_IN_PRODUCTION", word);
    assert_eq!(simulators(&[production]), Simulators::Refused);
    assert_eq!(simulators(&[production, allowed("false")]), Simulators::Refused);
    assert_eq!(simulators(&[production, allowed("true")]), Simulators::Used);
    assert_eq!(simulators(&[sandbox]), Simulators::Used);
}

#[test]
fn production_accepts_a_random_key_in_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    production(folder.path()).0.check_strength().unwrap();
}

#[test]
fn production_refuses_a_key_file_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let (config, kek_file) = production(folder.path());
    for mode in [0o640, 0o604, 0o620] {
        set_mode(&kek_file, mode);
        assert!(
            reasons(&config).contains(&format!("can be read by others (mode {mode:03o})")),
            "{}",
            reasons(&config)
        );
    }
}

#[test]
fn production_refuses_a_missing_key() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, kek_file) = production(folder.path());
    std::fs::remove_file(kek_file).unwrap();
    assert!(reasons(&config).contains("there is no such file"));
    config.vault.kek_file = None;
    assert!(reasons(&config).contains("there is no key-encryption key"));
}

#[test]
fn production_refuses_sample_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (config, kek_file) = production(folder.path());
    for sample in ["0".repeat(64), "0123456789abcdef".repeat(4)] {
        std::fs::write(&kek_file, &sample).unwrap();
        assert!(reasons(&config).contains("looks like a sample"), "{sample}");
    }
    std::fs::write(&kek_file, format!("# Made by `regente dev` for a sandbox.\n{KEK}\n")).unwrap();
    assert!(reasons(&config).contains("was made by `regente dev`"));
}

#[test]
fn production_refuses_secrets_in_a_configuration_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://regente:password1@localhost/regente";
    let text = format!(
        "mode = 'production'\n[vault]\nkek = '{KEK}'\n[database]\nurl = '{url}'\n[sandbox]\nkey = 'shared'\n\
         [smtp]\nusername = 'u'\npassword = 'password1'\n\
         [reports]\ns3_secret_key = 'password1'\n"
    );
    let path = file(folder.path(), &text);
    let config = Loaded::read(&Sources { file: Some(path.clone()), ..Sources::default() }).unwrap().config;
    for mode in [0o644, 0o640, 0o604] {
        set_mode(&path, mode);
        let reasons = reasons(&config);
        for key in ["vault.kek", "database.url", "sandbox.key", "smtp.password", "reports.s3_secret_key"] {
            let reason = format!(
                "`{key}` stands in {path}, which others can read (mode {mode:03o}): `chmod 600 {path}`",
                path = path.display()
            );
            assert!(reasons.contains(&reason), "{reason}\nis missing in\n{reasons}");
        }
        assert!(!reasons.contains(KEK) && !reasons.contains("password1"), "{reasons}");
    }
    set_mode(&path, 0o600);
    config.check_strength().unwrap();
}

#[test]
fn production_refuses_secrets_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut sources =
        environment(&[("REGENTE_MODE", "production"), ("REGENTE_DATA_DIR", folder.path().to_str().unwrap())]);
    sources.flags = vec![flag("--set", "vault.kek", KEK)];
    let reason = "`vault.kek` stands on the command line, which everybody on this machine can read";
    assert!(reasons(&Loaded::read(&sources).unwrap().config).contains(reason));
    sources.flags.clear();
    sources.environment.push(("REGENTE_VAULT__KEK".to_owned(), KEK.to_owned()));
    Loaded::read(&sources).unwrap().config.check_strength().unwrap();
}

#[test]
fn a_configuration_without_secrets_may_be_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let (_, kek_file) = production(folder.path());
    let text = format!(
        "mode = 'production'\n[vault]\nkek_file = '{}'\n[database]\nurl = 'postgres://regente@localhost/regente'\n",
        kek_file.display()
    );
    let path = file(folder.path(), &text);
    set_mode(&path, 0o644);
    let config = Loaded::read(&Sources { file: Some(path), ..Sources::default() }).unwrap().config;
    config.check_strength().unwrap();
}

#[test]
fn production_refuses_every_secret_file_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "shared").unwrap();
    set_mode(&secret, 0o644);
    config.server.tls_key_file = Some(secret.clone());
    config.smtp.password_file = Some(secret.clone());
    config.reports.s3_secret_key_file = Some(secret.clone());
    config.sandbox.key_file = Some(secret);
    let reasons = reasons(&config);
    for key in ["server.tls_key_file", "sandbox.key_file", "smtp.password_file", "reports.s3_secret_key_file"]
    {
        assert!(reasons.contains(&format!("`{key}` {}", folder.path().display())), "{key}: {reasons}");
    }
}

#[test]
fn mail_is_off_until_a_server_is_set_and_its_settings_fit() {
    let given = |values: &[(&str, &str)]| {
        let flags = values.iter().map(|(key, value)| flag("--set", key, value)).collect();
        Loaded::read(&Sources { flags, ..Sources::default() })
    };
    let good = [("smtp.server", "mail.example.com"), ("smtp.from", "Loja <reports@example.com>")];
    let with = |more: &[(&str, &str)]| given(&[&good[..], more].concat());
    assert!(given(&[]).unwrap().config.mailer().unwrap().is_none());
    assert!(with(&[]).unwrap().config.mailer().unwrap().is_some());
    for (more, problem) in [
        (
            ("smtp.server", "mail.example.com:25"),
            "`smtp.server` must be a host name or an IP address, without a port",
        ),
        (("mode", "production"), "`smtp.server` needs `server.base_url`, to which the links in mails lead"),
        (("smtp.from", "reports"), "`smtp.from` must be an address or `Name <address>`, with `smtp.server`"),
        (("smtp.port", "0"), "`smtp.port` must be 1 to 65535"),
        (("smtp.tls", "maybe"), "`smtp.tls`"),
        (("smtp.username", "regente"), "`smtp.username` and `smtp.password` must be set together"),
        (("smtp.recipient_domains", "example.com,nowhere"), "`smtp.recipient_domains` must be domains"),
    ] {
        let refused = with(&[more]).unwrap_err().to_string();
        assert!(refused.contains(problem), "{problem}\nis missing in\n{refused}");
    }
    let refused = given(&good[..1]).unwrap_err().to_string();
    assert!(refused.contains("`smtp.from` must be an address"), "{refused}");
    let only = with(&[("smtp.recipient_domains", " Example.com, shop.example ")]).unwrap();
    let mailer = only.config.mailer().unwrap().unwrap();
    let mailed = ["a@example.com", "a@SHOP.example", "a@example.org"].map(|to| mailer.mails_to(to));
    assert_eq!(mailed, [true, true, false]);
    let absent = with(&[("smtp.username", "regente"), ("smtp.password_file", "/absent/password")]).unwrap();
    let refused = absent.config.mailer().map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("`smtp.password_file` /absent/password: No such file"), "{refused}");
}

#[test]
fn a_bucket_of_reports_is_described_in_full() {
    let good = [
        ("reports.storage", "s3"),
        ("reports.s3_endpoint", "https://s3.example.com"),
        ("reports.s3_bucket", "reports"),
        ("reports.s3_access_key", "id"),
        ("reports.s3_secret_key", "secret-text"),
    ];
    let given = |values: &[(&str, &str)]| {
        let flags = values.iter().map(|(key, value)| flag("--set", key, value)).collect();
        Loaded::read(&Sources { flags, ..Sources::default() })
    };
    given(&good).unwrap().config.report_files().unwrap();
    for missing in 1..good.len() {
        let some: Vec<_> = good.iter().copied().filter(|pair| *pair != good[missing]).collect();
        let refused = given(&some).unwrap_err().to_string();
        let problem = format!("`{}` must be set where `reports.storage` is `s3`", good[missing].0);
        assert!(refused.contains(&problem) && !refused.contains("secret-text"), "{refused}");
    }
    for (wrong, problem) in [
        (("reports.storage", "tape"), "`reports.storage`"),
        (("reports.s3_endpoint", "s3.example.com"), "`reports.s3_endpoint` must be http:// or https://"),
        (("reports.s3_prefix", "a/../b"), "`reports.s3_prefix` must not begin with a slash"),
    ] {
        let refused = given(&[&good[..], &[wrong]].concat()).unwrap_err().to_string();
        assert!(refused.contains(problem), "{problem}\nis missing in\n{refused}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    config.reports.storage = ReportStorage::S3;
    config.reports.s3_endpoint = Some("http://s3.example.com".to_owned());
    assert!(reasons(&config).contains("`reports.s3_endpoint` would send personal data in the clear"));
    config.reports.s3_endpoint = Some("https://s3.example.com".to_owned());
    config.check_strength().unwrap();
}

#[test]
fn production_mails_nothing_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    config.smtp.server = Some("mail.example.com".to_owned());
    config.check_strength().unwrap();
    config.smtp.tls = SmtpTls::None;
    let reason = "`smtp.tls` is `none`: links to personal data would cross a network in the clear";
    assert!(reasons(&config).contains(reason));
    for here in ["localhost", "127.0.0.1", "::1"] {
        config.smtp.server = Some(here.to_owned());
        config.check_strength().unwrap();
    }
}

#[test]
fn production_refuses_postgres_across_a_network_without_tls() {
    const TLS: &str = "crosses a network without TLS";
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    let with = |config: &mut Config, url: &str| {
        config.database.url = Some(Secret::new(url.to_owned()));
        config.check_strength().map_err(|weak| weak.to_string())
    };
    for url in [
        "postgres://regente@db/regente",
        "postgres://regente@10.0.0.5:5432/regente?sslmode=prefer",
        "postgres://regente@localhost,db/regente",
        "postgres://regente@localhost/regente?hostaddr=10.0.0.5",
    ] {
        let refused = with(&mut config, url).unwrap_err();
        assert!(refused.contains(TLS), "{url}: {refused}");
    }
    for url in [
        "postgres://regente@db/regente?sslmode=require",
        "postgres://regente@db/regente?sslmode=verify-full",
        "postgres://regente@%2Fvar%2Frun%2Fpostgresql/regente",
        "postgres:///regente?host=/var/run/postgresql",
        "postgres://regente@localhost/regente",
        "postgres://regente@127.0.0.1:5433/regente",
        "postgres://regente@[::1]/regente",
    ] {
        assert_eq!(with(&mut config, url), Ok(()), "{url}");
    }
    config.database.postgres_allow_plain = true;
    assert_eq!(with(&mut config, "postgres://regente@db/regente"), Ok(()));
}

#[test]
fn production_tells_all_reasons_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, kek_file) = production(folder.path());
    std::fs::write(&kek_file, "ab".repeat(32)).unwrap();
    set_mode(&kek_file, 0o644);
    config.sandbox.books = Some("memory".to_owned());
    config.sandbox.url = Some("http://10.0.0.5:8081".to_owned());
    config.sandbox.faults_file = Some(folder.path().join("faults.json"));
    let address = folder.path().join("address");
    std::fs::write(&address, "sqlite:x.db").unwrap();
    set_mode(&address, 0o644);
    config.database.url = None;
    config.database.url_file = Some(address);

    let reasons = reasons(&config);

    assert_eq!(reasons.matches("\n  - ").count(), 6, "{reasons}");
    for reason in [
        "looks like a sample",
        "`vault.kek_file`",
        "`database.url_file`",
        "`sandbox.books` is `memory`",
        "`sandbox.url` would send card numbers in the clear",
        "`sandbox.faults_file` makes payments fail",
    ] {
        assert!(reasons.contains(reason), "{reason}\nis missing in\n{reasons}");
    }
    config.mode = Mode::Sandbox;
    config.check_strength().unwrap();
}

#[test]
fn an_own_processor_without_tls_is_on_this_machine_and_beside_no_proxy() {
    const IN_THE_CLEAR: &str = "`own_provider.url` would send card numbers in the clear";
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    for (url, proxy, is_good) in [
        ("https://processor.example.com", Some("http://proxy:3128"), true),
        ("http://127.0.0.1:9000", None, true),
        ("http://localhost:9000", None, true),
        ("http://[::1]:9000", None, true),
        ("http://127.0.0.1:9000", Some("http://proxy:3128"), false),
        ("http://localhost:9000", Some("http://proxy:3128"), false),
        ("http://10.0.0.5:9000", None, false),
    ] {
        config.own_provider.url = Some(url.to_owned());
        config.providers.proxy = proxy.map(str::to_owned);
        match is_good {
            true => assert!(config.check_strength().is_ok(), "{url} {proxy:?}"),
            false => assert!(reasons(&config).contains(IN_THE_CLEAR), "{url} {proxy:?}"),
        }
    }
}

#[test]
fn only_what_stays_on_this_machine_goes_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, _) = production(folder.path());
    config.reports.storage = ReportStorage::S3;
    config.smtp.tls = SmtpTls::None;
    for (host, stays) in [
        ("localhost", true),
        ("127.0.0.1", true),
        ("127.8.8.8", true),
        ("[::1]", true),
        ("10.0.0.5", false),
        ("[2001:db8::1]", false),
        ("localhost.example.com", false),
        ("127.0.0.1.example.com", false),
    ] {
        config.own_provider.url = Some(format!("http://{host}:9000"));
        config.reports.s3_endpoint = Some(format!("http://{host}:9000"));
        config.smtp.server = Some(host.to_owned());
        let found = config.check_strength().map_or_else(|weak| weak.to_string(), |()| String::new());
        for refusal in ["`own_provider.url` would", "`reports.s3_endpoint` would", "`smtp.tls` is `none`"] {
            assert_eq!(found.contains(refusal), !stays, "{host}: {refusal}\n{found}");
        }
    }
}

#[test]
fn every_secret_that_has_a_file_is_read_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let mut config = Config::default();
    config.vault.kek_file = Some(path.clone());
    config.database.url_file = Some(path.clone());
    config.sandbox.key_file = Some(path.clone());
    config.own_provider.url = Some("https://processor.example.com".to_owned());
    config.own_provider.key_file = Some(path.clone());
    config.smtp.server = Some("mail.example.com".to_owned());
    config.smtp.from = Some("reports@example.com".to_owned());
    config.smtp.password_file = Some(path.clone());
    config.reports.storage = ReportStorage::S3;
    config.reports.s3_endpoint = Some("https://s3.example.com".to_owned());
    config.reports.s3_bucket = Some("reports".to_owned());
    config.reports.s3_access_key = Some("id".to_owned());
    config.reports.s3_secret_key_file = Some(path.clone());
    let refused = || {
        [
            ("vault.kek_file", config.kek().err()),
            ("database.url_file", config.database_address().err()),
            ("sandbox.key_file", config.sandbox_key().err()),
            ("own_provider.key_file", config.own_provider().err()),
            ("smtp.password_file", config.mailer().err()),
            ("reports.s3_secret_key_file", config.report_files().err()),
        ]
        .map(|(key, error)| (key, error.map(|error| error.to_string()).unwrap_or_default()))
    };
    for (key, problem) in refused() {
        assert!(problem.contains(&format!("`{key}` {}: ", path.display())), "{key}: {problem}");
    }
    // Lines of the key-encryption key may be comments, so its text is looked at by itself.
    std::fs::write(&path, " \n").unwrap();
    for (key, problem) in &refused()[1..] {
        assert!(
            problem.contains(&format!("`{key}` {}: must hold a secret", path.display())),
            "{key}: {problem}"
        );
    }
    std::fs::write(&path, "\n  sqlite:/var/lib/regente/regente.db \n").unwrap();
    for (key, problem) in &refused()[1..] {
        assert_eq!(problem, "", "{key}");
    }
}

/// Whoever is handed a receipt's address knows nothing of the service.
#[test]
fn an_own_processor_in_production_needs_the_address_of_the_service() {
    let own = ("REGENTE_OWN_PROVIDER__URL", "https://processor.example.com");
    let (production, base) =
        (("REGENTE_MODE", "production"), ("REGENTE_SERVER__BASE_URL", "https://pay.example"));
    let rule = "`own_provider.url` needs `server.base_url`, with which the addresses of receipts begin";
    assert!(refusal(&environment(&[own, production])).contains(rule));
    for good in [&[own][..], &[own, production, base], &[production]] {
        Loaded::read(&environment(good)).unwrap();
    }
}

#[test]
fn one_problem_is_told_on_one_line() {
    assert_eq!(ConfigError::one("x is wrong").to_string(), "the configuration is wrong: x is wrong");
}

#[test]
fn the_simulator_is_in_the_process_unless_an_address_is_set() {
    let place = |sources: &Sources| Loaded::read(sources).unwrap().config.simulator();
    assert!(matches!(place(&environment(&[])), Ok(Simulator::InProcess(TransactionLogLocation::File(_)))));

    let folder = tempfile::tempdir().unwrap();
    let key_file = folder.path().join("key");
    std::fs::write(&key_file, "correct-horse\n").unwrap();
    let key_file = key_file.to_str().unwrap();
    let url = ("REGENTE_SANDBOX__URL", "http://simulator:8081");
    let sources = environment(&[url, ("REGENTE_SANDBOX__KEY_FILE", key_file)]);
    let Ok(Simulator::Remote(options)) = place(&sources) else { panic!("it is in the process") };
    assert_eq!(options.url, "http://simulator:8081");
    assert_eq!(options.key.unwrap().as_str(), "correct-horse");

    for key in ["two words", "clé"] {
        let refused = place(&environment(&[url, ("REGENTE_SANDBOX__KEY", key)])).map(|_| ()).unwrap_err();
        assert_eq!(refused.problems(), ["`sandbox.key`: must be printable ASCII without spaces"]);
    }
    for wrong in ["https://simulator", "simulator:8081", "http://simulator/v1"] {
        let refused = refusal(&environment(&[("REGENTE_SANDBOX__URL", wrong)]));
        assert!(refused.contains("`sandbox.url` must be http://host:port"), "{refused}");
    }
    let refused = refusal(&environment(&[("REGENTE_SANDBOX__LISTEN", "everywhere")]));
    assert!(refused.contains("`sandbox.listen` must be an IP address and a port"), "{refused}");
}

#[test]
fn webhook_settings_reach_the_delivery_worker_and_the_rules_of_addresses() {
    let loaded = Loaded::read(&environment(&[
        ("REGENTE_WEBHOOKS__WAITS_SECONDS", "1,2"),
        ("REGENTE_WEBHOOKS__WAITS_1_0_SECONDS", "3"),
        ("REGENTE_WEBHOOKS__FIRST_ANSWER_MS", "4"),
        ("REGENTE_WEBHOOKS__RETRY_ANSWER_MS", "5"),
        ("REGENTE_WEBHOOKS__CONCURRENT_MAX", "6"),
        ("REGENTE_WEBHOOKS__CONCURRENT_PER_ENDPOINT_MAX", "7"),
        ("REGENTE_WEBHOOKS__DISABLE_AFTER", "8"),
        ("REGENTE_WEBHOOKS__UNIQUE_ENDPOINT", "true"),
        ("REGENTE_WEBHOOKS__DELIVERY_RETENTION_DAYS", "9"),
        ("REGENTE_WEBHOOKS__EVENT_RETENTION_DAYS", "10"),
        ("REGENTE_OUTBOUND__PORTS", "443, 9443"),
        ("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "10.0.0.0/8, fd00::/8"),
    ]))
    .unwrap();
    let settings = loaded.config.settings().webhooks;
    assert_eq!(settings.waits, [1, 2].map(Duration::from_secs));
    assert_eq!(settings.waits_1_0, [Duration::from_secs(3)]);
    let answers = (settings.first_answer_max.as_millis(), settings.retry_answer_max.as_millis());
    assert_eq!((answers, settings.concurrent_max, settings.concurrent_per_endpoint_max), ((4, 5), 6, 7));
    assert_eq!(settings.disable_after.unwrap().get(), 8);
    assert_eq!(settings.endpoints, EndpointUse::Once);
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    assert_eq!((settings.delivery_retention, settings.event_retention), (days(9), days(10)));
    let default = Settings::default().webhooks;
    assert_eq!((default.delivery_retention, default.event_retention), (days(45), days(400)));
    let rules = loaded.config.outbound_rules().unwrap();
    assert_eq!((rules.plain, rules.ports), (Plain::Allowed, Ports::These(vec![443, 9443])));
    assert_eq!(rules.networks.len(), 2);
    for (key, wrong) in
        [("ports", "http"), ("ports", ""), ("ports", "443,70000"), ("allowed_networks", "10.0.0.1/40")]
    {
        let refused = Loaded::read(&Sources {
            flags: vec![flag("--set", &format!("outbound.{key}"), wrong)],
            ..Sources::default()
        });
        assert!(
            refused.unwrap_err().to_string().contains(&format!("`outbound.{key}` must be")),
            "{key} = {wrong}"
        );
    }
}

#[test]
fn production_calls_https_on_public_addresses_alone_and_dev_calls_this_machine() {
    let rules = |mode: &str| {
        let loaded = Loaded::read(&environment(&[("REGENTE_MODE", mode)])).unwrap();
        (loaded.config.outbound_rules().unwrap(), loaded.config)
    };
    let (production, _) = rules("production");
    assert_eq!(production.address("http://shop.example/"), Err(Refusal::Scheme));
    let (sandbox, config) = rules("sandbox");
    sandbox.address("http://shop.example/").unwrap();
    assert_eq!(sandbox.address("http://127.0.0.1:3000/"), Err(Refusal::Network));
    let outbound = config.outbound.clone().with_own_machine();
    let dev = Config { outbound, ..config }.outbound_rules().unwrap();
    for address in ["http://127.0.0.1:3000/", "http://localhost:3000/", "http://[::1]:3000/"] {
        dev.address(address).unwrap();
    }
    assert_eq!(dev.address("http://10.0.0.1/"), Err(Refusal::Network));
}
