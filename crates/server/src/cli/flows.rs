//! `regente flows`: keeps flows in files, so that a change can be reviewed like code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::flow::FlowMethod;
use regente_domain::id::MerchantId;
use serde_json::Value;

use super::account::{AccountArg, AccountArgs};
use super::flow_replay::{self, ReplayArgs};
use super::{Failure, files, operate};
use crate::admin::{Answer, Command, ComparedFlow, FlowsAnswer, FlowsCommand, FlowsTask};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum FlowsCommandLine {
    /// Show how the flow in a file differs from the active one of its merchant and method; `--yes` publishes it
    #[command(
        after_help = "The file is the body of POST /v1/flows: merchantId, paymentMethod, flow, and a name. A file that is \
                        active already changes nothing, however often it is applied."
    )]
    Apply {
        /// The file, or `-` for standard input
        file: PathBuf,
        /// Publish it, if it differs
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Tell what charges of the past would have done under the flow in a file: providers, tries, approvals, fees
    #[command(
        after_help = "What a provider has answered, it would answer again; a try that was never made is approved as such \
                        tries were on average, and where there were too few that is said. Nothing is written or sent."
    )]
    Replay(Box<ReplayArgs>),
    /// Print the active flow as such a file
    Export {
        /// Of this merchant
        #[arg(long, value_name = "MERCHANT_ID")]
        merchant: MerchantId,
        /// For this payment method: credit, pix or boleto
        #[arg(long, value_parser = method)]
        method: FlowMethod,
        #[command(flatten)]
        account: AccountArg,
    },
}

fn method(word: &str) -> Result<FlowMethod, String> {
    FlowMethod::parse(word).ok_or_else(|| {
        let known: Vec<&str> = FlowMethod::WORDS.iter().map(|(word, _)| *word).collect();
        format!("must be one of {}", known.join(", "))
    })
}

pub(super) fn run(loaded: &Loaded, command: FlowsCommandLine) -> Result<ExitCode, Failure> {
    match command {
        FlowsCommandLine::Apply { file, yes, of: AccountArgs { account, output } } => {
            let members = files::json_object(&file)?;
            let task = if yes { FlowsTask::Publish(members) } else { FlowsTask::Compare(members) };
            operate::run(loaded, of_account(account, task), output)
        }
        FlowsCommandLine::Replay(asked) => flow_replay::run(loaded, *asked),
        FlowsCommandLine::Export { merchant, method, account } => {
            let task = FlowsTask::Export { merchant_id: merchant, payment_method: method };
            let answer = operate::answer_to(loaded, of_account(account, task))?;
            let Answer::Flows(FlowsAnswer::Exported(file)) = answer else {
                return Err(Failure::from("the running server is of another release"));
            };
            operate::print_json(&file)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn of_account(account: AccountArg, task: FlowsTask) -> Command {
    Command::Flows(FlowsCommand { client_id: account.client_id, task })
}

/// The text of an answer.
pub(super) fn shown(answer: &FlowsAnswer) -> String {
    let compared = match answer {
        FlowsAnswer::Exported(file) => return format!("{:#}\n", Value::Object(file.clone())),
        FlowsAnswer::Compared(compared) => compared,
    };
    let ComparedFlow { merchant_id, payment_method, active, difference, published } = compared;
    let of = format!("of merchant {merchant_id} for {}", payment_method.word());
    let end = match (published, active) {
        (Some(id), _) => format!("Published: new charges {of} follow version {id}.\n"),
        (None, Some(id)) if difference.is_empty() => {
            format!("The flow {of} is that of the file: version {id} is active.\n")
        }
        (None, _) => format!("The flow {of} is as it was. Say `--yes` to publish the file.\n"),
    };
    match difference.is_empty() {
        true => end,
        false => format!("{difference}\n{end}"),
    }
}
