//! Runs the commands of operators: in the server that uses the same files, or else in this process.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use regente_domain::check_digits::CheckDigits;
use regente_domain::id::ChargeId;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::vault::Kek;
use serde::Serialize;

use super::account::NamedAccountArgs;
use super::lists;
use super::run::runtime;
use super::{ClientsTask, CustomersTask, Failure, KeysTask, OnOff, OutputArg, ProvidersTask, UnknownsTask};
use crate::admin::{self, Answer, Command, Report, Subject, Verdict};
use crate::api::router::document;
use crate::app::App;
use crate::bootstrap::{self, Migrations, Missing, StartError};
use crate::config::{Config, Loaded};
use crate::telemetry;
use crate::terminal::printable_json;

pub(super) fn show_config(loaded: &Loaded, output: OutputArg) -> Result<ExitCode, Failure> {
    if output.json {
        print_json(&loaded.to_json())?;
    } else {
        io::stdout().write_all(loaded.to_toml().as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn explain(loaded: &Loaded, charge_id: ChargeId, output: OutputArg) -> Result<ExitCode, Failure> {
    run(loaded, Command::Explain { charge_id }, output)
}

pub(super) fn unknowns(
    loaded: &Loaded,
    output: OutputArg,
    task: Option<UnknownsTask>,
) -> Result<ExitCode, Failure> {
    match task {
        None => run(loaded, Command::UnknownsList, output),
        Some(UnknownsTask::Retry { request_id, output }) => {
            run(loaded, Command::UnknownsRetry { request_id }, output)
        }
    }
}

pub(super) fn clients(loaded: &Loaded, task: ClientsTask) -> Result<ExitCode, Failure> {
    match task {
        ClientsTask::Create { name, output } => run(loaded, Command::ClientsCreate { name }, output),
        ClientsTask::Set { of: NamedAccountArgs { client_id, output }, document_check_digits } => {
            let document_check_digits = match document_check_digits {
                OnOff::On => CheckDigits::On,
                OnOff::Off => CheckDigits::Off,
            };
            run(loaded, Command::ClientsSet { client_id, document_check_digits }, output)
        }
        ClientsTask::List { output } => run(loaded, Command::ClientsList, output),
    }
}

pub(super) fn customers(loaded: &Loaded, task: CustomersTask) -> Result<ExitCode, Failure> {
    match task {
        CustomersTask::Erase { of: NamedAccountArgs { client_id, output }, customer_id } => {
            run(loaded, Command::CustomersErase { client_id, customer_id }, output)
        }
    }
}

pub(super) fn providers(loaded: &Loaded, task: ProvidersTask) -> Result<ExitCode, Failure> {
    match task {
        ProvidersTask::Check { provider_id, wait, output } => {
            run(loaded, Command::ProvidersCheck { provider_id, wait_seconds: wait }, output)
        }
    }
}

pub(super) fn keys(loaded: &Loaded, task: KeysTask) -> Result<ExitCode, Failure> {
    match task {
        KeysTask::Create { of: NamedAccountArgs { client_id, output }, label } => {
            run(loaded, Command::KeysCreate { client_id, label }, output)
        }
        KeysTask::List(NamedAccountArgs { client_id, output }) => {
            run(loaded, Command::KeysList { client_id }, output)
        }
        KeysTask::Revoke { of: NamedAccountArgs { client_id, output }, key_id } => {
            run(loaded, Command::KeysRevoke { client_id, key_id }, output)
        }
    }
}

pub(super) fn rotate(loaded: &Loaded, kek: Option<PathBuf>, output: OutputArg) -> Result<ExitCode, Failure> {
    let command = match kek {
        None => Command::VaultRotate,
        // The server may have been started in another folder, so it gets an absolute path.
        Some(kek_file) => Command::VaultRewrap { kek_file: std::path::absolute(kek_file)? },
    };
    run(loaded, command, output)
}

pub(super) fn new_kek(file: &Path) -> Result<ExitCode, Failure> {
    bootstrap::make_private_folder(bootstrap::parent_of(file))?;
    let kek = Kek::generate(&Chance::system()?);
    bootstrap::dev::write_kek(file, &kek, None)
        .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    writeln!(
        io::stdout(),
        "{} holds key-encryption key {}. Keep a copy of it apart from the database: without it, nothing opens.",
        file.display(),
        kek.id()
    )?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn openapi() -> Result<ExitCode, Failure> {
    print_json(&serde_json::from_slice::<serde_json::Value>(document())?)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn doctor(loaded: &Loaded, output: OutputArg) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    let report = runtime()?.block_on(async {
        match server_folder(config)? {
            Some(folder) => {
                let Answer::Doctor(report) = admin::ask(&folder, &Command::Doctor).await? else {
                    return Err(Failure::from("the running server is of another release"));
                };
                Ok(report)
            }
            None => examine_alone(config).await,
        }
    })?;
    if output.json {
        print_json(&report)?;
    } else {
        io::stdout().write_all(lists::report(&report).as_bytes())?;
    }
    Ok(match report.verdict() {
        Verdict::Ok | Verdict::Warning => ExitCode::SUCCESS,
        Verdict::Failure => ExitCode::FAILURE,
    })
}

/// Examines without opening the vault, so that a wrong key is a finding and not a failed start.
async fn examine_alone(config: &Config) -> Result<Report, Failure> {
    let store = regente_store::Store::open(bootstrap::find_database(config, Missing::Refuse)?).await?;
    match bootstrap::must_stay(&store).await {
        // Where even that cannot be read, the report says so.
        Ok(()) | Err(StartError::Store(_)) => {}
        Err(error) => {
            store.close().await;
            return Err(error.into());
        }
    }
    let log = bootstrap::existing_simulator_log(config).await?;
    let (clock, chance) = (&Clock::system(), &Chance::system()?);
    let subject = Subject { store: &store, config, simulator_log: log.as_ref(), clock, chance };
    let report = admin::examine(subject).await;
    store.close().await;
    Ok(report)
}

/// Runs a command and prints the answer.
pub(super) fn run(loaded: &Loaded, command: Command, output: OutputArg) -> Result<ExitCode, Failure> {
    print(&answer_to(loaded, command)?, output)
}

/// Runs a command, in the server if one runs.
pub(super) fn answer_to(loaded: &Loaded, command: Command) -> Result<Answer, Failure> {
    run_asking(loaded, async |asked| asked.ask(command).await)
}

/// Runs a task that may ask many times, to its end. Once in a process, whose log it sets up.
pub(super) fn run_asking<T>(
    loaded: &Loaded,
    task: impl AsyncFnOnce(&Asked<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    telemetry::start(&loaded.config.log)?;
    runtime()?.block_on(asking(&loaded.config, task))
}

pub(super) fn print(answer: &Answer, output: OutputArg) -> Result<ExitCode, Failure> {
    if output.json {
        print_json(answer)?;
    } else {
        io::stdout().write_all(lists::answer(answer).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn ask_once(config: &Config, command: Command) -> Result<Answer, Failure> {
    asking(config, async |asked| asked.ask(command).await).await
}

/// Where the commands of one task run: in the server on the same embedded database, or in this process.
pub(super) enum Asked<'a> {
    Server(PathBuf),
    Here(&'a Config, Box<App>),
}

impl Asked<'_> {
    pub(super) async fn ask(&self, command: Command) -> Result<Answer, Failure> {
        match self {
            Self::Server(folder) => Ok(admin::ask(folder, &command).await?),
            Self::Here(config, app) => Ok(admin::run(app, config, command).await?),
        }
    }
}

/// Runs a task that may ask many times. Where no server runs, this process has the database open meanwhile.
async fn asking<T>(
    config: &Config,
    task: impl AsyncFnOnce(&Asked<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if let Some(folder) = server_folder(config)? {
        return task(&Asked::Server(folder)).await;
    }
    let app = bootstrap::open(config, Migrations::ApplyToSqlite, Missing::Refuse).await?;
    let asked = Asked::Here(config, Box::new(app));
    let done = task(&asked).await;
    if let Asked::Here(_, app) = &asked {
        app.store.close().await;
    }
    done
}

/// The folder of a server that runs on the same embedded database.
pub(super) fn server_folder(config: &Config) -> Result<Option<PathBuf>, Failure> {
    let address = config.database_address()?;
    let Some(folder) = address.folder() else { return Ok(None) };
    Ok(admin::is_answering(folder)?.then(|| folder.to_owned()))
}

pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(io::stdout(), "{}", printable_json(&text))?;
    Ok(())
}
