//! Parses the command line and chooses the process in which a command runs.

mod account;
mod backup;
mod charges;
mod clock;
mod dashboard;
mod dev;
mod dev_apple_pay;
mod files;
mod flow_replay;
mod flows;
mod health;
mod ledger;
mod lists;
mod moving;
mod operate;
mod payout_files;
mod payouts;
mod plans;
mod prepayments;
mod rates;
mod remote;
mod reports;
mod run;
mod sandbox_provider;
mod settle;
mod trigger;
mod webhooks;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regente_domain::id::{ChargeId, CustomerId, Id, ProviderId, TransactionRequestId, of};

use account::NamedAccountArgs;

use crate::admin::ExistingFile;
use crate::bootstrap::Migrations;
use crate::chain::chain;
use crate::config::{ConfigError, Flag, Loaded, Sources};

/// The variable that names the configuration file.
const CONFIG_VARIABLE: &str = "REGENTE_CONFIG";

/// Regente: a self-hosted payment orchestration service.
#[derive(Debug, Parser)]
#[command(name = "regente", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Settings come from a TOML file, the environment (REGENTE_SERVER__LISTEN is server.listen) and \
                        flags, each stronger than the one before. `regente config` lists all of them."
)]
struct Line {
    #[command(flatten)]
    sources: SourceArgs,
    #[command(subcommand)]
    command: Task,
}

/// Where settings come from.
#[derive(Debug, Args)]
struct SourceArgs {
    /// Read settings from this TOML file [default: that of REGENTE_CONFIG, or none]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Keep the data in this folder [default: regente-data]
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
    /// Set one setting, such as `--set server.drain_timeout_ms=5000`; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    settings: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run a sandbox on this machine: database, key, account and merchants are made at the first start
    #[command(
        after_help = "The account's values are printed and written to DIR/dev.env; started again, they are the same."
    )]
    #[command(args_conflicts_with_subcommands = true)]
    Dev {
        #[command(flatten)]
        listen: ListenArg,
        #[command(subcommand)]
        task: Option<DevTask>,
    },
    /// Serve the API, and run jobs beside it; the database is made by `migrate` before
    Serve {
        #[command(flatten)]
        listen: ListenArg,
        /// Apply pending migrations first (on SQLite they always are)
        #[arg(long)]
        migrate: bool,
    },
    /// Run jobs alone, beside servers on the same PostgreSQL
    Work,
    /// Run the simulator as a process of its own: one provider for every node, with faults on the wire, and with
    /// a transaction log that can be looked at
    #[command(
        after_help = "For test cards only: card numbers travel in the clear. The other settings of the simulator are \
                        those of `sandbox`, such as `--set sandbox.cvv_on_charge=false`."
    )]
    SandboxProvider(SimulatorArgs),
    /// Bring the schema of the database to that of this release; an embedded database that is missing is made
    Migrate {
        /// Distribute the tables by account over the workers of a PostgreSQL with the extension `citus`, then move shards to
        /// workers that have fewer. Once distributed, a database stays so in later migrations. Stop all nodes before the first time
        #[arg(long)]
        distributed: bool,
    },
    /// Print the effective settings and where each comes from; secrets are hidden
    Config {
        #[command(flatten)]
        output: OutputArg,
    },
    /// Examine the deployment: schema, keys, files, counters, money, disk, what waits for an operator
    Doctor {
        #[command(flatten)]
        output: OutputArg,
    },
    /// Tell why a charge went the way it went
    Explain {
        /// The charge's id
        charge_id: ChargeId,
        #[command(flatten)]
        output: OutputArg,
    },
    /// List the calls to providers whose outcome nobody knows
    #[command(args_conflicts_with_subcommands = true)]
    Unknowns {
        #[command(flatten)]
        output: OutputArg,
        #[command(subcommand)]
        task: Option<UnknownsTask>,
    },
    /// Ask a running server whether it may be sent requests; ends with 0 when it may
    Health {
        /// Ask here, at /health/ready unless a path is given [default: where the server of the data folder listens, or
        /// else where the configuration says]
        #[arg(long)]
        url: Option<reqwest::Url>,
    },
    /// Write a backup of the embedded database, also while the server runs
    #[command(
        after_help = "The backup holds everything that was acknowledged before it began. The key-encryption key is not \
                        in it, and neither is the transaction log of the simulator."
    )]
    Backup {
        /// The file to write; it is complete or not there
        file: PathBuf,
        /// Replace a file of that name
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Put a backup in the place of the embedded database, also while the server runs
    #[command(
        after_help = "What happened after the backup was made is not in it: charges made since are unknown afterwards, \
                        and the money that they moved stays moved. What is replaced is kept in a file beside the \
                        database."
    )]
    Restore {
        /// The backup
        file: PathBuf,
        /// Replace the database that is there
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Move everything to another database, from SQLite to PostgreSQL or back, while no server runs
    #[command(
        after_help = "Every row is compared by checksums, and then the books are verified. An interrupted move goes on where \
                        it was when the same command is given again; until it has ended no server starts on the target. \
                        The source stays as it is."
    )]
    Move(moving::MoveArgs),
    /// Charges of an account, through the interface: from any machine, with a key of the account
    #[command(subcommand)]
    Charges(charges::ChargesCommand),
    /// Have something happen in the sandbox that a payer, a bank or a provider does
    #[command(
        after_help = "Without a charge one is made, where that is possible, and what comes before the event happens first. A \
                        charge expires by the time of its account: `regente clock advance`."
    )]
    Trigger(trigger::TriggerArgs),
    /// Accounts
    #[command(subcommand)]
    Clients(ClientsTask),
    /// Secret keys of an account
    #[command(subcommand)]
    Keys(KeysTask),
    /// People who pay
    #[command(subcommand)]
    Customers(CustomersTask),
    /// Payment providers of merchants
    #[command(subcommand)]
    Providers(ProvidersTask),
    /// The time of an account, in the sandbox
    #[command(subcommand)]
    Clock(clock::ClockCommand),
    /// The flows of merchants, kept in files
    #[command(subcommand)]
    Flows(flows::FlowsCommandLine),
    /// The sales plans of an account: what is kept of its sellers' charges, and when they are paid out
    #[command(subcommand)]
    Plans(plans::PlansCommandLine),
    /// The books of money
    #[command(subcommand)]
    Ledger(ledger::LedgerTask),
    /// Tell how often providers approve
    Rates(rates::RatesArgs),
    /// Data keys and the key-encryption key
    #[command(subcommand)]
    Vault(VaultTask),
    /// Webhooks: their keys, what they missed, and what happens right now
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksTask),
    /// Settlement files of providers: compare them with the records, and post what they say to the ledger
    #[command(subcommand)]
    Settle(settle::SettleTask),
    /// What receivers are paid by the platform's own provider
    #[command(subcommand)]
    Payouts(payouts::PayoutsCommandLine),
    /// The dashboard: invite the people of an account, list and revoke them
    #[command(subcommand)]
    Dashboard(dashboard::DashboardCommand),
    /// Prepayment: which accounts may have receivables paid early, and at which rates
    #[command(subcommand)]
    Prepayment(prepayments::PrepaymentCommand),
    /// Reports: charges of a period as CSV
    #[command(subcommand)]
    Reports(reports::ReportsTask),
    /// Print the OpenAPI document of this release
    Openapi,
}

/// Where to listen.
#[derive(Debug, Args)]
struct ListenArg {
    /// Listen here; port 0 is any free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
}

#[derive(Debug, Subcommand)]
enum DevTask {
    /// Keys and tokens to try Apple Pay with
    #[command(subcommand)]
    ApplePay(dev_apple_pay::ApplePayTask),
}

/// What the simulator does.
#[derive(Debug, Args)]
struct SimulatorArgs {
    /// Listen here; port 0 is any free one [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Keep the transaction log in this file, or in `memory` [default: DIR/sandbox-books.db]
    #[arg(long, value_name = "FILE")]
    books: Option<String>,
    /// Begin with the fault plan in this file, a JSON array
    #[arg(long, value_name = "FILE")]
    faults: Option<String>,
    /// Fix what is left to chance [default: 0]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Answer only those who show this secret; better in a file. Needed where others than this machine can connect
    #[arg(long, value_name = "SECRET", conflicts_with = "key_file")]
    key: Option<String>,
    /// The file of that secret
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,
}

impl SimulatorArgs {
    /// The flags as settings, each with its name.
    fn named(self) -> [(&'static str, &'static str, Option<String>); 6] {
        [
            ("--listen", "sandbox.listen", self.listen),
            ("--books", "sandbox.books", self.books),
            ("--faults", "sandbox.faults_file", self.faults),
            ("--seed", "sandbox.seed", self.seed.map(|seed| seed.to_string())),
            ("--key", "sandbox.key", self.key),
            ("--key-file", "sandbox.key_file", self.key_file),
        ]
    }
}

/// How to print.
#[derive(Clone, Copy, Debug, Args)]
struct OutputArg {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ClientsTask {
    /// Make an account; give it a key with `regente keys create`
    Create {
        /// The account's name
        name: String,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Change the settings of an account
    Set {
        #[command(flatten)]
        of: NamedAccountArgs,
        /// Refuse documents of customers whose check digits are wrong
        #[arg(long, value_enum)]
        document_check_digits: OnOff,
    },
    /// List the accounts
    List {
        #[command(flatten)]
        output: OutputArg,
    },
}

/// A switch.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnOff {
    On,
    Off,
}

#[derive(Debug, Subcommand)]
enum CustomersTask {
    /// Erase a person: the customer, their cards, and what payments say of them. Amounts, ids and states stay
    #[command(
        after_help = "Refused while a payment of the person is under way. Run again, it finds nothing more. What it does \
                        not reach is named in its answer: backups, delivered events, the records of providers."
    )]
    Erase {
        #[command(flatten)]
        of: NamedAccountArgs,
        /// The customer's id, or that of an alias
        customer_id: CustomerId,
    },
}

#[derive(Debug, Subcommand)]
enum ProvidersTask {
    /// Check the credentials; in the sandbox also send a test authorization, void it, and wait for a notification
    Check {
        /// The id of the registered provider
        provider_id: ProviderId,
        /// How long a notification about the test authorization is waited for; 0 does not wait
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        wait: u64,
        #[command(flatten)]
        output: OutputArg,
    },
}

#[derive(Debug, Subcommand)]
enum KeysTask {
    /// Make a secret key; it is shown once
    Create {
        #[command(flatten)]
        of: NamedAccountArgs,
        /// A note about the key, for lists
        #[arg(long, default_value = "command line")]
        label: String,
    },
    /// List the secret keys of an account
    List(NamedAccountArgs),
    /// End a secret key: on this node at once, on others within seconds
    Revoke {
        #[command(flatten)]
        of: NamedAccountArgs,
        /// The key's id, as `regente keys list` shows it
        key_id: Id<of::Credential>,
    },
}

#[derive(Debug, Subcommand)]
enum UnknownsTask {
    /// Ask the provider anew, on the whole schedule, what became of a request that was given up
    Retry {
        /// The request's id, as `regente unknowns` shows it
        request_id: TransactionRequestId,
        #[command(flatten)]
        output: OutputArg,
    },
}

#[derive(Debug, Subcommand)]
enum VaultTask {
    /// Make a new data key and seal everything again under it, while requests go on
    Rotate {
        /// Instead, put the data keys under the key-encryption key in this file
        #[arg(long, value_name = "FILE")]
        kek: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Write a new random key-encryption key to a file that does not exist yet
    NewKek {
        /// The file
        file: PathBuf,
    },
}

/// Why a command failed.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let line = Line::parse();
    match line.command.run(&line.sources) {
        Ok(code) => code,
        Err(error) => {
            let mut text = format!("regente: {}\n", chain(error.as_ref()));
            if error.downcast_ref::<std::io::Error>().is_some_and(is_broken_pipe) {
                text.clear();
            }
            // A failed write to standard error cannot be reported anywhere.
            drop(std::io::stderr().write_all(text.as_bytes()));
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

impl Task {
    fn run(self, sources: &SourceArgs) -> Result<ExitCode, Failure> {
        match self {
            Self::Dev { listen, task: None } => dev::dev(&sources.load(&listen)?),
            Self::Dev { task: Some(DevTask::ApplePay(task)), .. } => {
                dev_apple_pay::run(&sources.load_plain()?, task)
            }
            Self::Serve { listen, migrate } => {
                let migrations = if migrate { Migrations::Apply } else { Migrations::ApplyToSqlite };
                run::serve(&sources.load(&listen)?, migrations)
            }
            Self::SandboxProvider(arguments) => sandbox_provider::run(&sources.load_with(arguments.named())?),
            Self::Work => run::work(&sources.load_plain()?),
            Self::Migrate { distributed } => run::migrate(&sources.load_plain()?, distributed),
            Self::Config { output } => operate::show_config(&sources.load_plain()?, output),
            Self::Doctor { output } => operate::doctor(&sources.load_plain()?, output),
            Self::Explain { charge_id, output } => {
                operate::explain(&sources.load_plain()?, charge_id, output)
            }
            Self::Unknowns { output, task } => operate::unknowns(&sources.load_plain()?, output, task),
            Self::Health { url } => health::health(&sources.load_plain()?, url),
            Self::Backup { file, force, output } => {
                let existing = if force { ExistingFile::Replace } else { ExistingFile::Refuse };
                backup::back_up(&sources.load_plain()?, &file, existing, output)
            }
            Self::Restore { file, yes, output } => {
                let consent = if yes { backup::Consent::Given } else { backup::Consent::Missing };
                backup::restore(&sources.load_plain()?, &file, consent, output)
            }
            Self::Move(arguments) => moving::run(&sources.load_plain()?, arguments),
            Self::Charges(command) => charges::run(&sources.load_plain()?, command),
            Self::Trigger(asked) => trigger::run(&sources.load_plain()?, asked),
            Self::Clients(task) => operate::clients(&sources.load_plain()?, task),
            Self::Keys(task) => operate::keys(&sources.load_plain()?, task),
            Self::Customers(task) => operate::customers(&sources.load_plain()?, task),
            Self::Providers(task) => operate::providers(&sources.load_plain()?, task),
            Self::Clock(command) => clock::run(&sources.load_plain()?, command),
            Self::Flows(task) => flows::run(&sources.load_plain()?, task),
            Self::Plans(task) => plans::run(&sources.load_plain()?, task),
            Self::Ledger(task) => ledger::run(&sources.load_plain()?, task),
            Self::Rates(of) => rates::run(&sources.load_plain()?, of),
            Self::Vault(VaultTask::NewKek { file }) => operate::new_kek(&file),
            Self::Webhooks(task) => webhooks::run(&sources.load_plain()?, task),
            Self::Payouts(command) => payouts::run(&sources.load_plain()?, command),
            Self::Dashboard(command) => dashboard::run(&sources.load_plain()?, command),
            Self::Prepayment(command) => prepayments::run(&sources.load_plain()?, command),
            Self::Reports(task) => reports::run(&sources.load_plain()?, task),
            Self::Settle(task) => settle::run(&sources.load_plain()?, task),
            Self::Openapi => operate::openapi(),
            Self::Vault(VaultTask::Rotate { kek, output }) => {
                operate::rotate(&sources.load_plain()?, kek, output)
            }
        }
    }
}

impl SourceArgs {
    fn load_plain(&self) -> Result<Loaded, ConfigError> {
        self.load_with([])
    }

    fn load(&self, listen: &ListenArg) -> Result<Loaded, ConfigError> {
        self.load_with([("--listen", "server.listen", listen.listen.clone())])
    }

    /// Reads file, environment and flags.
    fn load_with<const N: usize>(
        &self,
        own: [(&'static str, &'static str, Option<String>); N],
    ) -> Result<Loaded, ConfigError> {
        let mut flags = Vec::new();
        for setting in &self.settings {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(ConfigError::one(format!("flag --set: `{setting}` is not KEY=VALUE")));
            };
            let (key, value) = (key.trim().to_owned(), value.to_owned());
            flags.push(Flag { name: "--set".to_owned(), key, value });
        }
        let data_dir = self.data_dir.as_ref().map(|folder| folder.display().to_string());
        for (name, key, value) in [("--data-dir", "data_dir", data_dir)].into_iter().chain(own) {
            flags.extend(value.map(|value| Flag { name: name.to_owned(), key: key.to_owned(), value }));
        }
        let environment = environment();
        let file = self.config.clone().or_else(|| {
            let (_, path) =
                environment.iter().find(|(name, path)| name == CONFIG_VARIABLE && !path.is_empty())?;
            Some(PathBuf::from(path))
        });
        Loaded::read(&Sources { file, environment, flags })
    }
}

/// The environment variables that are valid text; others cannot be settings.
fn environment() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}
