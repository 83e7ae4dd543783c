//! `regente trigger`: has something happen in the sandbox that a payer, a bank or a provider does, through the interface. What
//! the interface cannot set is staged at a simulator in a process of its own.

mod event;
mod new_charge;
mod staging;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use regente_domain::id::{ChargeId, MerchantId};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::charges::{Charge, path_of};
use super::operate::print_json;
use super::remote::{Remote, RemoteArgs, RemoteError, read};
use super::run::runtime;
use super::{Failure, OutputArg};
use crate::config::Loaded;
use crate::telemetry;
use event::{Begins, Event, Means};
use staging::Staging;

#[derive(Debug, Args)]
pub(super) struct TriggerArgs {
    /// What happens
    event: Event,
    /// The charge to which it happens [default: a new one, which is made for it]
    charge_id: Option<ChargeId>,
    /// The merchant of a new charge [default: that of REGENTE_MERCHANT_ID, or of `regente dev`]
    #[arg(long, value_name = "MERCHANT_ID")]
    merchant: Option<MerchantId>,
    #[command(flatten)]
    output: OutputArg,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(super) fn run(loaded: &Loaded, asked: TriggerArgs) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    let TriggerArgs { event, charge_id, merchant, output, remote } = asked;
    runtime()?.block_on(async {
        let mut remote = remote.remote(config).await?;
        remote.merchant_id = merchant.map(|id| id.to_string()).or(remote.merchant_id);
        // Before a charge is made for nothing.
        let staging = event.is_staged().then(|| Staging::of(config)).transpose()?;
        let sandbox = Sandbox { remote, staging, output };
        let charge = match charge_id {
            Some(id) => {
                let charge = sandbox.remote.get(&path_of(id), &[]).await?;
                sandbox.trigger(event, charge).await?
            }
            None => sandbox.trigger_anew(event).await?,
        };
        if output.json {
            print_json(&charge)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

struct Sandbox {
    remote: Remote,
    /// Where the event is one that is staged.
    staging: Option<Staging>,
    output: OutputArg,
}

impl Sandbox {
    /// Makes a charge and has happen to it what comes before the event, and the event.
    async fn trigger_anew(&self, event: Event) -> Result<Value, Failure> {
        let mut events = vec![event];
        let kind = loop {
            match events.last().map(|event| event.begins()) {
                Some(Begins::After(before)) => events.push(before),
                Some(Begins::With(kind)) => break kind,
                Some(Begins::WithOneGiven) | None => {
                    return Err("no charge can be made for this event: name one".into());
                }
            }
        };
        let mut charge = new_charge::make(&self.remote, kind).await?;
        self.tell(&charge)?;
        while let Some(event) = events.pop() {
            charge = self.trigger(event, charge).await?;
        }
        Ok(charge)
    }

    /// The charge after the event.
    async fn trigger(&self, event: Event, charge: Value) -> Result<Value, Failure> {
        let before: Charge = read(&charge)?;
        event.may_happen_to(&before)?;
        let path = path_of(before.id);
        let after = match event.means() {
            Means::Status(status) => self.set(Method::POST, &path, status).await?,
            Means::Verdict(status) => self.set(Method::PATCH, &format!("{path}/antifraud"), status).await?,
            Means::Staged(what) => match &self.staging {
                Some(staging) => staging.stage(&self.remote, &charge, &before, what).await?,
                None => return Err("the simulator is not known".into()),
            },
        };
        self.tell(&after)?;
        Ok(after)
    }

    async fn set(&self, method: Method, path: &str, status: &str) -> Result<Value, Failure> {
        match self.remote.send(method, path, &json!({ "status": status }), None).await {
            Ok(answered) => Ok(answered.body),
            // The charge was read before, so it is there.
            Err(RemoteError::Refused(refusal)) if refusal.status == StatusCode::NOT_FOUND => {
                Err("nothing can be triggered there: the service is no sandbox".into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn tell(&self, charge: &Value) -> Result<(), Failure> {
        if !self.output.json {
            let charge: Charge = read(charge)?;
            let (status, amount) = (charge.status_shown(), charge.amount_shown());
            writeln!(io::stdout(), "Charge {}: {status}, {amount} by {}", charge.id, charge.payment_type())?;
        }
        Ok(())
    }
}
