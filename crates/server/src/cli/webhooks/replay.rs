//! Runs `regente webhooks replay`: counts the deliveries of a span of time and replays them.

use std::io::{self, Write};
use std::process::ExitCode;

use super::super::operate::{print, run_asking};
use super::super::{Failure, OutputArg};
use crate::admin::{Answer, COUNTED_MAX, Command, ReplayRange, WebhooksCommand};
use crate::config::Loaded;

/// What is done with the deliveries of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Count them only.
    Count,
    /// Replay them, unless there are more than this.
    AtMost(u64),
}

pub(super) fn replay(
    loaded: &Loaded,
    range: ReplayRange,
    extent: Extent,
    output: OutputArg,
) -> Result<ExitCode, Failure> {
    run_asking(loaded, async |asked| {
        let ask = async |command| asked.ask(Command::Webhooks(command)).await;
        replay_through(ask, range, extent, output).await
    })
}

async fn replay_through(
    ask: impl AsyncFn(WebhooksCommand) -> Result<Answer, Failure>,
    range: ReplayRange,
    extent: Extent,
    output: OutputArg,
) -> Result<ExitCode, Failure> {
    let other_release = || Failure::from("the running server is of another release");
    let counted = ask(WebhooksCommand::CountRange { range: range.clone() }).await?;
    let Answer::ReplayCounted { deliveries } = counted else { return Err(other_release()) };
    match extent {
        Extent::Count => return print(&counted, output),
        Extent::AtMost(most) if deliveries > most => {
            let or_more = if deliveries >= COUNTED_MAX.unsigned_abs() { " or more" } else { "" };
            return Err(format!(
                "there are {deliveries}{or_more} deliveries in this range, more than the {most} that `--max` allows; \
                 nothing was sent again"
            )
            .into());
        }
        Extent::AtMost(_) => {}
    }
    let (mut replayed, mut under_way, mut after) = (0, 0, None);
    loop {
        let answer = ask(WebhooksCommand::Replay { range: range.clone(), after }).await?;
        let Answer::Replayed { replayed: more, under_way: held, last } = answer else {
            return Err(other_release());
        };
        replayed += more;
        under_way += held;
        if last.is_none() {
            return print(&Answer::Replayed { replayed, under_way, last: None }, output);
        }
        after = last;
        writeln!(io::stderr(), "{} of {deliveries}", replayed + under_way)?;
    }
}
