//! `regente webhooks`: what is asked on the command line.

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use regente_domain::id::WebhookId;

use super::{Failure, OutputArg, operate};
use crate::admin::{Command, WebhooksCommand};
use crate::config::Loaded;
use crate::webhooks::keys::OVERLAP_DEFAULT;

#[derive(Debug, Subcommand)]
pub(super) enum WebhooksTask {
    /// Show the public keys of a webhook, with which receivers verify what comes
    Keys {
        /// The webhook's id
        webhook_id: WebhookId,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Replace the key of a webhook; for a while both keys sign
    #[command(
        after_help = "During the overlap `webhook-signature` carries a signature of each key, and `X-Plug-Signature` \
                        that of the former one; afterwards the new key signs alone and the former is destroyed. When \
                        the former key is no secret any more: `--overlap 0s`."
    )]
    RotateKey {
        /// The webhook's id
        webhook_id: WebhookId,
        /// How long both keys sign, such as `7d`, `12h`, `30min` or `0s`; 90 days at most [default: 7d]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        overlap: Option<Duration>,
        #[command(flatten)]
        output: OutputArg,
    },
}

pub(super) fn run(loaded: &Loaded, task: WebhooksTask) -> Result<ExitCode, Failure> {
    match task {
        WebhooksTask::Keys { webhook_id, output } => {
            operate::run(loaded, Command::Webhooks(WebhooksCommand::Keys { webhook_id }), output)
        }
        WebhooksTask::RotateKey { webhook_id, overlap, output } => {
            let overlap_seconds = overlap.unwrap_or(OVERLAP_DEFAULT).as_secs();
            let command = WebhooksCommand::RotateKey { webhook_id, overlap_seconds };
            operate::run(loaded, Command::Webhooks(command), output)
        }
    }
}

/// A whole number and its unit.
fn duration(text: &str) -> Result<Duration, &'static str> {
    const RULE: &str = "must be a whole number with its unit: `7d`, `12h`, `30min` or `90s`";
    let unit_at = text.find(|character: char| !character.is_ascii_digit()).ok_or(RULE)?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit.trim_start() {
        "s" => 1,
        "min" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(RULE),
    };
    let number: u64 = number.parse().map_err(|_| RULE)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or(RULE)
}
