//! The commands of operators as serializable values.

use std::path::PathBuf;

use regente_domain::check_digits::CheckDigits;
use regente_domain::id::{ChargeId, ClientId, CustomerId, Id, ProviderId, TransactionRequestId, of};
use regente_engine::ledger::Repair;
use serde::{Deserialize, Serialize};

use super::clock::ClockTask;
use super::flow_replay::FlowReplayCommand;
use super::flows::FlowsCommand;
use super::ledger::StatementOf;
use super::members::MembersTask;
use super::payouts::PayoutsCommand;
use super::plans::PlansCommand;
use super::prepayments::PrepaymentTask;
use super::reports::ReportsCommand;
use super::settlement::SettlementCommand;
use super::webhooks::WebhooksCommand;

/// A command of an operator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Make a client.
    ClientsCreate {
        /// Its name.
        name: String,
    },
    /// List the clients.
    ClientsList,
    /// Change the settings of a client.
    ClientsSet {
        /// Which.
        client_id: ClientId,
        /// Whether documents with wrong check digits are refused.
        document_check_digits: CheckDigits,
    },
    /// Make a secret key.
    KeysCreate {
        /// Whose.
        client_id: ClientId,
        /// The operator's note about it.
        label: String,
    },
    /// List the secret keys of a client, without the keys themselves.
    KeysList {
        /// Whose.
        client_id: ClientId,
    },
    /// End a secret key.
    KeysRevoke {
        /// Whose.
        client_id: ClientId,
        /// Which.
        key_id: Id<of::Credential>,
    },
    /// Seal with a new data key from now on, and seal again what is under the former one.
    VaultRotate,
    /// Put the data keys under another key-encryption key.
    VaultRewrap {
        /// The file that holds the new one.
        kek_file: PathBuf,
    },
    /// Explain the course of a charge.
    Explain {
        /// Which.
        charge_id: ChargeId,
    },
    /// List the requests whose outcome is unknown.
    UnknownsList,
    /// Probe again for a request that was given up.
    UnknownsRetry {
        /// Which.
        request_id: TransactionRequestId,
    },
    /// Check the ledger.
    LedgerVerify {
        /// Of one account; of all when absent.
        client_id: Option<ClientId>,
        /// What becomes of charges that were never posted.
        repair: Repair,
    },
    /// Print the statement of an account of the books.
    LedgerStatement(StatementOf),
    /// Tell rates of approval.
    Rates {
        /// Whose; not needed where there is one account.
        client_id: Option<ClientId>,
        /// Names and values, as those of `GET /v1/rates`.
        parameters: Vec<(String, String)>,
    },
    /// Erase a person.
    CustomersErase {
        /// The account.
        client_id: ClientId,
        /// The customer, or an alias of theirs.
        customer_id: CustomerId,
    },
    /// Check a registered provider.
    ProvidersCheck {
        /// Which.
        provider_id: ProviderId,
        /// How long its notification is waited for.
        wait_seconds: u64,
    },
    /// Show or move the clock of an account.
    Clock {
        /// Whose; not needed where there is one account.
        client_id: Option<ClientId>,
        /// What is done about it.
        task: ClockTask,
    },
    /// Something about flows.
    Flows(FlowsCommand),
    /// Replay charges of the past through a flow.
    FlowReplay(Box<FlowReplayCommand>),
    /// Something about sales plans.
    Plans(PlansCommand),
    /// Something about webhooks.
    Webhooks(WebhooksCommand),
    /// Something about a settlement file.
    Settlement(SettlementCommand),
    /// Do something about payouts.
    Payouts(PayoutsCommand),
    /// Do something about the members of an account.
    Members {
        /// Whose; not needed where there is one account.
        client_id: Option<ClientId>,
        /// What.
        task: MembersTask,
    },
    /// Do something about the prepayment of an account.
    Prepayment {
        /// Which.
        client_id: ClientId,
        /// What.
        task: PrepaymentTask,
    },
    /// Do something about reports.
    Reports(Box<ReportsCommand>),
    /// Tell where the API is served.
    Address,
    /// Examine the deployment.
    Doctor,
    /// Write a backup.
    Backup {
        /// Where.
        file: PathBuf,
        /// What to do about a file that is there.
        existing: ExistingFile,
    },
    /// Replace the database with a backup.
    Restore {
        /// The backup.
        file: PathBuf,
    },
}

/// What a backup does when its file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExistingFile {
    /// Nothing is written.
    Refuse,
    /// The file is replaced once the backup is complete.
    Replace,
}

impl Command {
    /// Whether one of an operator's commands consists of many of these, so that they are not logged: what a listener asks
    /// continually, and the pages and batches of an import, and what waits for an advance of a clock.
    pub const fn is_one_of_many(&self) -> bool {
        matches!(
            self,
            Self::Clock { task: ClockTask::Wait, .. }
                | Self::Webhooks(WebhooksCommand::Hear { .. })
                | Self::Reports(_)
                | Self::Settlement(
                    SettlementCommand::Moved { .. }
                        | SettlementCommand::Find { .. }
                        | SettlementCommand::Kept { .. }
                        | SettlementCommand::Keys { .. }
                        | SettlementCommand::Post { .. }
                        | SettlementCommand::SandboxFile { .. }
                )
        )
    }

    /// The command's name without its arguments.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ClientsCreate { .. } => "clients create",
            Self::ClientsList => "clients list",
            Self::ClientsSet { .. } => "clients set",
            Self::KeysCreate { .. } => "keys create",
            Self::KeysList { .. } => "keys list",
            Self::KeysRevoke { .. } => "keys revoke",
            Self::VaultRotate => "vault rotate",
            Self::VaultRewrap { .. } => "vault rotate --kek",
            Self::Explain { .. } => "explain",
            Self::UnknownsList => "unknowns",
            Self::UnknownsRetry { .. } => "unknowns retry",
            Self::LedgerVerify { .. } => "ledger verify",
            Self::LedgerStatement(_) => "ledger statement",
            Self::Rates { .. } => "rates",
            Self::CustomersErase { .. } => "customers erase",
            Self::ProvidersCheck { .. } => "providers check",
            Self::Clock { task, .. } => task.name(),
            Self::Flows(command) => command.task.name(),
            Self::FlowReplay(_) => "flows replay",
            Self::Plans(command) => command.task.name(),
            Self::Webhooks(command) => command.name(),
            Self::Settlement(_) => "settle",
            Self::Payouts(command) => command.task.name(),
            Self::Members { task, .. } => task.name(),
            Self::Prepayment { task, .. } => task.name(),
            Self::Reports(_) => "reports make",
            Self::Address => "health",
            Self::Doctor => "doctor",
            Self::Backup { .. } => "backup",
            Self::Restore { .. } => "restore",
        }
    }
}
