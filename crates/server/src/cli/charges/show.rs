//! `regente charges show`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use regente_domain::currency::Currency;
use regente_domain::id::ChargeId;
use serde_json::{Value, json};

use super::super::lists::{columns, short, table};
use super::super::operate::print_json;
use super::super::remote::{RemoteArgs, read};
use super::super::{Failure, OutputArg};
use super::view::Request;
use super::{Charge, path_of};
use crate::config::Config;
use crate::terminal::printable;

#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// The charge's id
    charge_id: ChargeId,
    #[command(flatten)]
    output: OutputArg,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(super) async fn show(config: &Config, asked: ShowArgs) -> Result<ExitCode, Failure> {
    let remote = asked.remote.remote(config).await?;
    let path = path_of(asked.charge_id);
    let charge = remote.get(&path, &[]).await?;
    let explanation = remote.get(&format!("{path}/explanation"), &[]).await?;
    if asked.output.json {
        print_json(&json!({ "charge": charge, "explanation": explanation }))?;
    } else {
        let text = explanation.get("text").and_then(Value::as_str).unwrap_or_default();
        let story: String = text.lines().map(|line| format!("{}\n", printable(line))).collect();
        io::stdout().write_all(format!("{}\n{story}", shown(&read(&charge)?)).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(charge: &Charge) -> String {
    let or_dash = |text: &Option<String>| printable(text.as_deref().unwrap_or("-")).into_owned();
    let facts = [
        ("Charge", charge.id.to_string()),
        ("Created", short(charge.created_at)),
        ("Status", charge.status_shown()),
        ("Amount", charge.amount_shown()),
        ("Method", charge.payment_type().to_owned()),
        ("Provider", or_dash(&charge.responsible_provider_type)),
        ("Order", or_dash(&charge.order_id)),
        ("Merchant", charge.merchant_id.to_string()),
    ];
    let facts: Vec<Vec<String>> = facts.into_iter().map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    let requests = charge.transaction_requests.iter().rev().map(|request| row(request, charge.currency));
    let head = ["WHEN", "REQUEST", "RESULT", "AMOUNT", "PROVIDER", "TOOK", "REFUSAL"];
    format!("{}\n{}", columns(&facts), table(head, requests))
}

fn row(request: &Request, currency: Currency) -> [String; 7] {
    let dash = || "-".to_owned();
    let refusal = request.provider_error.as_ref().map(|error| match &error.declined_code {
        Some(code) => format!("{} ({code})", error.message),
        None => error.message.clone(),
    });
    [
        short(request.created_at),
        request.request_type.clone(),
        request.request_status.clone(),
        request.amount.map_or_else(dash, |amount| amount.shown_in(currency)),
        request.provider_type.clone(),
        request.response_ts.clone().unwrap_or_else(dash),
        refusal.map_or_else(dash, |refusal| printable(&refusal).into_owned()),
    ]
}
