//! The commands of operators. A command runs here, inside the server that the command line reaches through its socket,
//! or in the command's own process. The command line prints the answers.

mod answer;
mod backup;
mod clients;
mod clock;
mod command;
mod customers;
mod doctor;
mod error;
mod flow_replay;
mod flows;
mod ledger;
mod payout_files;
mod payouts;
mod plans;
mod prepayments;
mod provider_check;
mod recount;
mod reports;
mod run;
mod settlement;
mod socket;
pub mod transaction_log;
mod unknowns;
mod webhooks;

pub use answer::{Answer, WebhookKeys};
pub use backup::{BackedUp, Restored, partial_path, restore_alone, staged_path};
pub use clients::{ClientRow, KeyRow};
pub use clock::{ClockRow, ClockTask};
pub use command::{Command, ExistingFile};
pub use customers::ErasedPerson;
pub use doctor::{Check, Report, Subject, Verdict, examine};
pub use error::CommandError;
pub use flow_replay::{FlowReplayCommand, FlowReplayPart};
pub use flows::{ComparedFlow, FlowsAnswer, FlowsCommand, FlowsTask};
pub use ledger::{ClientLedger, LedgerReport, Statement, StatementLine, StatementOf};
pub use payout_files::{ExportedRow, LeftOutRow, OtherRow, ReturnRow};
pub use payouts::{AccountRow, PayoutsAnswer, PayoutsCommand, PayoutsTask, PendingRow};
pub use plans::{PlansAnswer, PlansCommand, PlansTask};
pub use prepayments::{PrepaymentRow, PrepaymentTask};
pub use reports::{ReportPart, ReportsCommand};
pub use run::run;
pub use settlement::{SettlementAnswer, SettlementCommand};
pub use socket::{AdminSocket, SOCKET_NAME, SocketError, ask, is_answering};
pub use unknowns::UnknownRow;
pub use webhooks::{COUNTED_MAX, ReplayRange, ReplayStatus, WebhooksCommand};
