//! Examines a deployment: whether its parts fit together, and what needs an operator. It changes no data.

mod money;
mod place;
mod plans;
mod servers;
mod tries;

use std::fmt;
use std::time::Duration;

use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::vault::Vault;
use regente_providers::request::Mode;
use regente_providers::sandbox::TransactionLog;
use regente_store::provider_notifications::State;
use regente_store::{Store, jobs, provider_notifications, transaction_requests};
use serde::{Deserialize, Serialize};

use super::clients;
use super::recount::{Recount, recount};
use crate::chain::chain;
use crate::config::{Config, DatabaseAddress, TransactionLogLocation, WrittenIn, mode_open_to_others};

/// The most jobs and requests that are counted; more are shown as "at least" this many.
const COUNTED_MAX: i64 = 10_000;
/// Most notifications of providers are settled within seconds.
const NOTIFICATIONS_SETTLE_WITHIN: Duration = Duration::from_secs(10 * 60);

/// The report of an examination.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The checks, in a fixed order.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The finding, in one sentence.
    pub found: String,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// In order.
    Ok,
    /// An operator should look.
    Warning,
    /// It must not stay like this.
    Failure,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "FAILURE",
        })
    }
}

impl Report {
    /// The worst verdict of all checks.
    pub fn verdict(&self) -> Verdict {
        self.checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Ok)
    }
}

pub(super) fn check(name: &str, verdict: Verdict, found: impl Into<String>) -> Check {
    Check { name: name.to_owned(), verdict, found: found.into() }
}

fn failure(name: &str, error: &dyn std::error::Error) -> Check {
    check(name, Verdict::Failure, chain(error))
}

/// What an examination reads.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The database.
    pub store: &'a Store,
    /// How it is configured.
    pub config: &'a Config,
    /// The simulator's transaction log, when it is in this process or in a file that this process can read.
    pub simulator_log: Option<&'a TransactionLog>,
    /// The clock.
    pub clock: &'a Clock,
    /// The randomness that unlocking the vault needs.
    pub chance: &'a Chance,
}

/// Examines a deployment. A database that cannot be read is reported as failed checks, not as an error.
pub async fn examine(subject: Subject<'_>) -> Report {
    let Subject { store, config, simulator_log: _, clock, chance } = subject;
    let mut checks = vec![strength(config), address(config), database(store).await];
    let schema = schema(store).await;
    let is_readable = schema.verdict == Verdict::Ok;
    checks.push(schema);
    if is_readable {
        checks.push(keys(store, config, clock, chance).await);
        checks.push(counters(store).await);
        checks.push(tries::places_of_cards(store).await);
        checks.push(plans::default_plans(&subject).await);
        checks.push(dead_jobs(store).await);
        checks.push(unknown_outcomes(store, clock).await);
        checks.push(notifications(store, clock).await);
        checks.push(money::transaction_log(&subject).await);
        checks.push(place::clock(store, clock.deployment()).await);
    }
    checks.extend(place::integrity(store).await);
    checks.extend(servers::servers(store).await);
    checks.extend(mail(config).await);
    checks.push(files(config));
    checks.extend(place::disk(config));
    Report { checks }
}

fn strength(config: &Config) -> Check {
    const NAME: &str = "configuration";
    match config.check_strength() {
        Ok(()) => check(NAME, Verdict::Ok, format!("{:?} mode", config.mode).to_lowercase()),
        Err(weak) => check(NAME, Verdict::Failure, weak.reasons().join("; ")),
    }
}

/// The address that others are given.
fn address(config: &Config) -> Check {
    const NAME: &str = "address";
    let is_its_own = config.mode == Mode::Sandbox && config.server.tls_certificate_file.is_none();
    match &config.server.base_url {
        Some(url) => check(NAME, Verdict::Ok, format!("others are given {url}")),
        None if is_its_own => check(NAME, Verdict::Ok, "others are given the address at which it listens"),
        None => check(
            NAME,
            Verdict::Warning,
            "`server.base_url` is not set: sessions with `createLink` have no payment link, providers cannot notify, \
             addresses of receipts and reports are their paths alone, and no cardholder comes back from a challenge",
        ),
    }
}

async fn database(store: &Store) -> Check {
    const NAME: &str = "database";
    if let Err(error) = store.check().await {
        return failure(NAME, &error);
    }
    match store.size().await {
        Err(error) => failure(NAME, &error),
        Ok(size) => {
            // The log counts too: the rows of a new database are all in it.
            let bytes = size.database_bytes.saturating_add(size.wal_bytes.unwrap_or(0));
            let log = size.wal_bytes.map_or_else(String::new, |log| format!(", {} of it log", room(log)));
            let found = format!("{} can be written to; it takes {}{log}", store.database_kind(), room(bytes));
            check(NAME, Verdict::Ok, found)
        }
    }
}

/// A migration that was changed after it was applied makes the query for pending migrations fail.
async fn schema(store: &Store) -> Check {
    const NAME: &str = "schema";
    let (version, pending) = (store.schema_version().await, store.pending_migrations().await);
    match (version, pending) {
        (Err(error), _) | (_, Err(error)) => failure(NAME, &error),
        (Ok(version), Ok(pending)) if pending.is_empty() => {
            check(NAME, Verdict::Ok, format!("version {version}; nothing pending, checksums fit"))
        }
        (Ok(version), Ok(pending)) => {
            let found = format!("version {version}; pending: {}; run `regente migrate`", pending.join(", "));
            check(NAME, Verdict::Failure, found)
        }
    }
}

/// Unwraps every data key with the key-encryption key that the next start will use.
async fn keys(store: &Store, config: &Config, clock: &Clock, chance: &Chance) -> Check {
    const NAME: &str = "keys";
    let kek = match config.kek() {
        Ok((kek, _)) => kek,
        Err(error) => return failure(NAME, &error),
    };
    let rows = match regente_store::data_keys::all(store).await {
        Ok(rows) => rows,
        Err(error) => return failure(NAME, &error),
    };
    if rows.is_empty() {
        return check(NAME, Verdict::Ok, "there is no data key yet; the first start makes one");
    }
    let id = kek.id().to_owned();
    match Vault::unlock(store.clone(), kek, chance.clone(), clock.clone()).await {
        Ok(_vault) => {
            let found = format!("key-encryption key {id} opens the data keys ({} known)", rows.len());
            check(NAME, Verdict::Ok, found)
        }
        Err(error) => failure(NAME, &error),
    }
}

async fn counters(store: &Store) -> Check {
    const NAME: &str = "counters";
    let clients = match clients::all(store).await {
        Ok(clients) => clients,
        Err(error) => return failure(NAME, &error),
    };
    let (mut charges, mut busy, mut wrong) = (0, 0, Vec::new());
    for client in &clients {
        match recount(store, client.id).await {
            Err(error) => return failure(NAME, &error),
            Ok(Recount::Agrees(n)) => charges += n,
            Ok(Recount::Busy) => busy += 1,
            Ok(Recount::Differs(n)) => wrong.push(format!("{} ({n})", client.id)),
        }
    }
    if !wrong.is_empty() {
        return check(NAME, Verdict::Failure, format!("wrong for clients {}", wrong.join(", ")));
    }
    if busy > 0 {
        return check(
            NAME,
            Verdict::Warning,
            format!("{busy} clients change too fast to be counted; look again later"),
        );
    }
    check(
        NAME,
        Verdict::Ok,
        format!("agree with the charges; charges: {charges}, clients: {}", clients.len()),
    )
}

async fn dead_jobs(store: &Store) -> Check {
    const NAME: &str = "dead jobs";
    match jobs::dead(store, COUNTED_MAX).await {
        Err(error) => failure(NAME, &error),
        Ok(dead) => match dead.first() {
            None => check(NAME, Verdict::Ok, "none"),
            Some(last) => {
                let found = format!("{}; the last one is {}: {}", number(dead.len()), last.kind, last.why);
                check(NAME, Verdict::Warning, found)
            }
        },
    }
}

/// Notifications of providers that have changed nothing although they have been here for a while.
async fn notifications(store: &Store, clock: &Clock) -> Check {
    const NAME: &str = "provider notifications";
    let now = clock.deployment();
    let left = match provider_notifications::left(store, now - NOTIFICATIONS_SETTLE_WITHIN).await {
        Ok(left) => left,
        Err(error) => return failure(NAME, &error),
    };
    if left.is_empty() {
        return check(NAME, Verdict::Ok, "every one is applied");
    }
    let found = left.iter().map(|left| {
        let what = match left.state {
            State::Waiting => "wait for a request that they name, or for their job",
            State::Applied => "are applied",
            State::Kept => "say what this release does not apply",
            State::Unmatched => "named no request of their provider for a day",
        };
        format!("{} {what}; the oldest arrived at {}", left.count, left.oldest)
    });
    check(NAME, Verdict::Warning, found.collect::<Vec<_>>().join("; "))
}

/// A request that was given up stays open until an operator acts, so it is counted apart from those still probed.
async fn unknown_outcomes(store: &Store, clock: &Clock) -> Check {
    const NAME: &str = "unknown outcomes";
    let given_up = transaction_requests::given_up(store, COUNTED_MAX).await;
    let open = transaction_requests::open(store, clock.deployment(), COUNTED_MAX).await;
    let (given_up, open) = match (given_up, open) {
        (Err(error), _) | (_, Err(error)) => return failure(NAME, &error),
        (Ok(given_up), Ok(open)) => (given_up.len(), open.len()),
    };
    match (given_up, open) {
        (0, 0) => check(NAME, Verdict::Ok, "none"),
        (0, open) => {
            let found = format!("{}, which are asked for; `regente unknowns` lists them", number(open));
            check(NAME, Verdict::Warning, found)
        }
        (given_up, open) => {
            let found = format!(
                "{} were given up, so nobody asks any more, and {} are asked for; `regente unknowns` lists them",
                number(given_up),
                number(open)
            );
            check(NAME, Verdict::Failure, found)
        }
    }
}

/// Whether mail could be handed over now; nothing where none is sent.
async fn mail(config: &Config) -> Option<Check> {
    const NAME: &str = "mail";
    let server = config.smtp.server.as_deref()?;
    let tested = match config.mailer() {
        Ok(mailer) => mailer?.test().await,
        Err(error) => return Some(failure(NAME, &error)),
    };
    Some(match tested {
        Ok(()) => check(NAME, Verdict::Ok, format!("{server} takes mail")),
        Err(error) => {
            check(NAME, Verdict::Warning, format!("`smtp.server` {server} cannot be used: {}", chain(&error)))
        }
    })
}

fn files(config: &Config) -> Check {
    const NAME: &str = "files";
    let mut private = vec![config.data_dir.join("dev.env")];
    private.extend(config.secret_files().into_iter().map(|(_, path)| path));
    private.extend(config.written_secrets.iter().filter_map(|secret| match &secret.place {
        WrittenIn::File(path) => Some(path.clone()),
        WrittenIn::Environment | WrittenIn::CommandLine => None,
    }));
    if let Ok(DatabaseAddress::Sqlite(path)) = config.database_address() {
        private.push(path);
    }
    match config.sandbox_books() {
        TransactionLogLocation::File(path) => private.push(path),
        TransactionLogLocation::Memory => {}
    }
    let open: Vec<String> = private
        .iter()
        .filter_map(|path| Some(format!("{} (mode {:03o})", path.display(), mode_open_to_others(path)?)))
        .collect();
    if open.is_empty() {
        check(NAME, Verdict::Ok, "readable by their owner alone")
    } else {
        check(NAME, Verdict::Failure, format!("readable by others: {}", open.join(", ")))
    }
}

fn number(count: usize) -> String {
    match i64::try_from(count) {
        Ok(count) if count < COUNTED_MAX => count.to_string(),
        Ok(_) | Err(_) => format!("at least {COUNTED_MAX}"),
    }
}

/// Text in whole kibibytes, mebibytes or gibibytes.
fn room(bytes: u64) -> String {
    const KIB: u64 = 1024;
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(KIB)),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes / (KIB * KIB)),
        1_073_741_824.. => format!("{} GiB", bytes / (KIB * KIB * KIB)),
    }
}
