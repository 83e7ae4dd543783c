//! `regente clock`: shows and moves the time of an account, in the sandbox.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::account_clock::AdvanceStatus;
use regente_domain::time::Timestamp;

use super::Failure;
use super::account::AccountArgs;
use super::operate::{self, run_asking};
use super::webhooks::timestamp;
use crate::admin::{Answer, ClockRow, ClockTask, Command};
use crate::api::sandbox_clock::DoneView;
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum ClockCommand {
    /// Show the time of an account
    Show(AccountArgs),
    /// Move the time of an account ahead; what falls due on the way is done in the order of time
    #[command(
        after_help = "A service that runs goes on when this command is interrupted; `regente clock freeze` \
                            stops it where it is."
    )]
    Advance {
        /// By so much, such as `1d`, `3mo` or `P1Y6M`; five years at most
        #[arg(value_name = "SPAN", required_unless_present = "to")]
        by: Option<String>,
        /// To this moment, such as 2027-01-01T00:00:00Z
        #[arg(long, value_name = "TIME", value_parser = timestamp, conflicts_with = "by")]
        to: Option<Timestamp>,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Let the time of an account stand; an advance stops where it is
    Freeze(AccountArgs),
    /// Let it go on
    Unfreeze(AccountArgs),
    /// Give an account the time of the deployment again; what was made ahead of it keeps its times
    Reset(AccountArgs),
}

pub(super) fn run(loaded: &Loaded, command: ClockCommand) -> Result<ExitCode, Failure> {
    let (of, task) = match command {
        ClockCommand::Show(of) => (of, ClockTask::Show),
        ClockCommand::Advance { by: Some(span), of, .. } => (of, ClockTask::AdvanceBy(span)),
        ClockCommand::Advance { by: None, to: Some(to), of } => (of, ClockTask::AdvanceTo(to)),
        ClockCommand::Advance { by: None, to: None, .. } => return Err("say by how much, or to when".into()),
        ClockCommand::Freeze(of) => (of, ClockTask::Freeze),
        ClockCommand::Unfreeze(of) => (of, ClockTask::Unfreeze),
        ClockCommand::Reset(of) => (of, ClockTask::Reset),
    };
    let answer = run_asking(loaded, async |asked| {
        let command = |task| Command::Clock { client_id: of.account.client_id, task };
        let waits = matches!(task, ClockTask::AdvanceBy(_) | ClockTask::AdvanceTo(_));
        let mut answer = asked.ask(command(task)).await?;
        while let Answer::Clock(row) = &answer
            && waits
            && row.is_advancing()
        {
            writeln!(io::stderr(), "{} …", row.clock.now)?;
            answer = asked.ask(command(ClockTask::Wait)).await?;
        }
        Ok(answer)
    })?;
    operate::print(&answer, of.output)
}

/// The text of a clock.
pub(super) fn shown(ClockRow { client_id, clock }: &ClockRow) -> String {
    let stands = if clock.frozen { ", and stands" } else { "" };
    let mut text = format!("For account {client_id} it is {}{stands}.\n", clock.now);
    let Some(advance) = &clock.advance else { return text };
    let became = match advance.status {
        AdvanceStatus::Running => "is on its way",
        AdvanceStatus::Reached => "has reached its end",
        AdvanceStatus::Stopped => "was stopped",
    };
    text.push_str(&format!("The advance from {} to {} {became}", advance.from, advance.to));
    if advance.done.is_empty() {
        text.push_str("; nothing was due.\n");
        return text;
    }
    text.push_str(". What was done:\n");
    for DoneView { what, times } in &advance.done {
        text.push_str(&format!("  {times:>6} {what}\n"));
    }
    text
}
