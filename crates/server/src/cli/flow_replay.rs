//! `regente flows replay`: adds up what charges of the past would have done under another flow, and shows it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use regente_domain::flow_replay::{FeesFile, Prediction, Tally};
use regente_domain::id::{ChargeId, MerchantId, ProviderId};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_domain::wire;
use serde::Serialize;

mod numbers;
mod page;
mod text;

use super::Failure;
use super::account::AccountArgs;
use super::files::json_object;
use super::operate::{Asked, print_json, run_asking};
use super::webhooks::timestamp;
use crate::admin::{Answer, Command, FlowReplayCommand, FlowReplayPart};
use crate::config::Loaded;

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The flow: a file as `regente flows apply` takes it
    #[arg(long, value_name = "FILE")]
    flow: PathBuf,
    /// Charges made from this moment or day on, in UTC
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    from: Timestamp,
    /// Charges made before this moment or day
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    to: Timestamp,
    /// Charges of this merchant [default: the one in the file]
    #[arg(long, value_name = "MERCHANT_ID")]
    merchant: Option<MerchantId>,
    /// What the providers take, JSON; without it no fees are shown
    #[arg(long, value_name = "FILE")]
    fees: Option<PathBuf>,
    /// Write the result as a page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    of: AccountArgs,
}

/// What a replay says, and of what.
#[derive(Debug, Serialize)]
struct Replayed {
    merchant_id: MerchantId,
    from: Timestamp,
    to: Timestamp,
    /// Whether a balance of the flow learns.
    learns: bool,
    /// The names of the merchant's providers.
    names: BTreeMap<ProviderId, String>,
    #[serde(flatten)]
    prediction: Prediction,
}

impl Replayed {
    fn name_of(&self, id: Option<ProviderId>) -> String {
        match id {
            Some(id) => self.names.get(&id).cloned().unwrap_or_else(|| id.to_string()),
            None => "no provider".to_owned(),
        }
    }
}

pub(super) fn run(loaded: &Loaded, asked: ReplayArgs) -> Result<ExitCode, Failure> {
    let ReplayArgs { flow, from, to, merchant, fees, html, of: AccountArgs { account, output } } = asked;
    if from >= to {
        return Err(Failure::from("--to must be later than --from"));
    }
    let fees = fees.as_deref().map(read_fees).transpose()?;
    let command = FlowReplayCommand {
        client_id: account.client_id,
        flow: json_object(&flow)?,
        merchant_id: merchant,
        from,
        to,
        after: None,
    };
    let replayed = replay(loaded, command, fees)?;
    if let Some(html) = html {
        let page = page::page(&replayed)?;
        std::fs::write(&html, page).map_err(|error| format!("{}: {error}", html.display()))?;
    }
    match output.json {
        true => print_json(&replayed)?,
        false => io::stdout().write_all(text::text(&replayed).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read_fees(file: &Path) -> Result<FeesFile, Failure> {
    let read: Result<FeesFile, Problems> = wire::read(json_object(file)?);
    Ok(read.map_err(|problems| format!("{}: {}", file.display(), problems.details().join("; ")))?)
}

fn replay(loaded: &Loaded, command: FlowReplayCommand, fees: Option<FeesFile>) -> Result<Replayed, Failure> {
    let of = |after| Command::FlowReplay(Box::new(FlowReplayCommand { after, ..command.clone() }));
    let period = (command.from, command.to);
    let task = async |asked: &Asked<'_>| sum(async |after| part(asked.ask(of(after)).await?), period).await;
    let (tally, first) = run_asking(loaded, task)?;
    Ok(Replayed {
        merchant_id: first.merchant_id,
        from: command.from,
        to: command.to,
        learns: first.learns,
        names: first.providers.into_iter().collect(),
        prediction: tally.prediction(&fees.map(|file| file.fees).unwrap_or_default()),
    })
}

fn part(answer: Answer) -> Result<FlowReplayPart, Failure> {
    let Answer::FlowReplayPart(part) = answer else {
        return Err("the running server is of another release".into());
    };
    Ok(*part)
}

/// Adds all parts up, and shows how far it is, where standard error is a terminal. The part beside the sums is one of them, for
/// what they have in common.
async fn sum(
    ask: impl AsyncFn(Option<ChargeId>) -> Result<FlowReplayPart, Failure>,
    (from, to): (Timestamp, Timestamp),
) -> Result<(Tally, FlowReplayPart), Failure> {
    let bar = ProgressBar::new(to.since(from).as_secs());
    let style = ProgressStyle::with_template("replaying [{bar:40}] {percent:>3} % {eta}, {msg} charges");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (mut tally, mut after) = (Tally::default(), None);
    loop {
        let mut part = ask(after).await?;
        tally.merge(std::mem::take(&mut part.tally));
        let Some(next) = part.next else {
            bar.finish_and_clear();
            return Ok((tally, part));
        };
        bar.set_message(tally.charges.to_string());
        bar.set_position(next.created_at().since(from).as_secs());
        after = Some(next);
    }
}
