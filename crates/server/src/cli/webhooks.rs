//! The arguments of `regente webhooks`.

mod fetched;
mod listen;
mod replay;

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use regente_domain::id::WebhookId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::EVERYTHING;
use regente_domain::webhook::schedule::KEY_OVERLAP;

use super::account::AccountArg;
use super::remote::RemoteArgs;
use super::{Failure, OutputArg, operate};
use crate::admin::{Command, ReplayRange, ReplayStatus, WebhooksCommand};
use crate::config::Loaded;

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
    /// Send deliveries of a span of time again
    #[command(
        after_help = "Each is sent at once and then by the whole schedule. The events keep their ids: receivers that                         drop what they know take only what they missed."
    )]
    Replay {
        /// The webhook's id
        #[arg(long = "webhook", value_name = "WEBHOOK_ID")]
        webhook_id: WebhookId,
        /// Those made at or after this time, such as 2026-07-06T21:00:00Z
        #[arg(long, value_name = "TIME", value_parser = timestamp)]
        from: Timestamp,
        /// Those made before this time
        #[arg(long, value_name = "TIME", value_parser = timestamp)]
        to: Timestamp,
        /// Only those that no attempt could hand over
        #[arg(long)]
        lost: bool,
        /// Only those of one event, such as `transaction.authorized`
        #[arg(long, value_name = "NAME")]
        event: Option<String>,
        /// Send nothing again when there are more than this
        #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
        max: u64,
        /// Only count them
        #[arg(long)]
        count: bool,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Print what happens as it happens, and send it to an address of your own, signed
    #[command(
        after_help = "For development: the address may be on this machine. Events come once, in order, from the moment \
                        on at which the command has begun; one that your address does not take is not sent again. \
                        Events of extensions, such as `purchase.paid`, come where they are named, as for webhooks. \
                        Events come from the service of this machine or its database; with `--url`, or where there is \
                        neither, through the interface, from any machine with a key of the account."
    )]
    Listen {
        /// Send events here, with POST
        #[arg(long, value_name = "URL")]
        forward_to: Option<reqwest::Url>,
        #[command(flatten)]
        account: AccountArg,
        /// Only the events of this name
        #[arg(long, value_name = "NAME", default_value = EVERYTHING)]
        event: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

pub(super) fn run(loaded: &Loaded, task: WebhooksTask) -> Result<ExitCode, Failure> {
    match task {
        WebhooksTask::Keys { webhook_id, output } => {
            operate::run(loaded, Command::Webhooks(WebhooksCommand::Keys { webhook_id }), output)
        }
        WebhooksTask::RotateKey { webhook_id, overlap, output } => {
            let overlap_seconds = overlap.unwrap_or(KEY_OVERLAP).as_secs();
            let command = WebhooksCommand::RotateKey { webhook_id, overlap_seconds };
            operate::run(loaded, Command::Webhooks(command), output)
        }
        WebhooksTask::Replay { webhook_id, from, to, lost, event, max, count, output } => {
            let status = if lost { ReplayStatus::Lost } else { ReplayStatus::Any };
            let extent = if count { replay::Extent::Count } else { replay::Extent::AtMost(max) };
            replay::replay(loaded, ReplayRange { webhook_id, from, to, status, event }, extent, output)
        }
        WebhooksTask::Listen { forward_to, account: AccountArg { client_id }, event, remote } => {
            listen::listen(loaded, listen::Subscription { client_id, event, forward_to }, remote)
        }
    }
}

pub(super) fn timestamp(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("must be a date and time, such as 2026-07-06T21:00:00Z")
}

/// A duration of a whole number and its unit.
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
