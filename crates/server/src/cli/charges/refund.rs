//! `regente charges refund`: asks, says the idempotency key before anything is sent, and never calls unknown what is known
//! or failed what is not.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;
use regente_domain::currency::Currency;
use regente_domain::id::ChargeId;
use regente_domain::money::Amount;
use regente_engine::chance::Chance;
use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::json;

use super::super::operate::print_json;
use super::super::remote::{Answered, RemoteArgs, read};
use super::super::{Failure, OutputArg};
use super::{Charge, path_of};
use crate::chain::chain;
use crate::config::Config;
use crate::terminal::printable;

/// How the command ends when nobody knows whether the money was given back.
const UNKNOWN: u8 = 3;

#[derive(Debug, Args)]
pub(in crate::cli) struct RefundArgs {
    /// The charge's id
    charge_id: ChargeId,
    /// Give back so much, in the charge's currency, such as `12.34` [default: all that is left]
    #[arg(long, value_name = "AMOUNT", conflicts_with = "cents")]
    amount: Option<String>,
    /// The same in the currency's minor unit, such as `1234`
    #[arg(long, value_name = "NUMBER")]
    cents: Option<i64>,
    /// The idempotency key of an earlier try, which is repeated without a second refund [default: a new one]
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Do not ask whether it is meant
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: OutputArg,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(super) async fn refund(config: &Config, asked: RefundArgs) -> Result<ExitCode, Failure> {
    let RefundArgs { charge_id, amount, cents, idempotency_key, yes, output, remote } = asked;
    if !yes && !io::stdin().is_terminal() {
        return Err(
            "a refund moves money, and no terminal is there to ask whether it is meant: say `--yes`".into()
        );
    }
    let remote = remote.remote(config).await?;
    let charge: Charge = read(&remote.get(&path_of(charge_id), &[]).await?)?;
    let amount = match (amount, cents) {
        (Some(text), _) => Some(minor_units(&text, charge.currency)?),
        (None, cents) => cents.map(|cents| Amount::new(cents).ok_or("`--cents` is no amount")).transpose()?,
    };
    if !yes && !is_meant(&charge, amount)? {
        return Err("nothing was given back".into());
    }
    let key = match idempotency_key {
        Some(key) => key,
        None => Chance::system()?.uuid().to_string(),
    };
    let sent = HeaderValue::from_str(&key).map_err(|_| "`--idempotency-key` takes printable ASCII alone")?;
    // Whoever is cut off from here on can find out with it.
    writeln!(io::stderr(), "Idempotency key: {key}")?;
    let body = amount.map_or_else(|| json!({}), |amount| json!({ "amount": amount.minor_units() }));
    match remote.send(Method::POST, &format!("{}/void", path_of(charge_id)), &body, Some(&sent)).await {
        Ok(answered) => end(&answered, output, &key),
        Err(error) if error.leaves_open_what_was_done() => unknown(&chain(&error), &key),
        Err(error) => Err(error.into()),
    }
}

/// Tells what became of it. A provider that refuses is a successful answer of the service.
fn end(answered: &Answered, output: OutputArg, key: &str) -> Result<ExitCode, Failure> {
    let Answered { body, is_replay } = answered;
    if output.json {
        print_json(body)?;
    }
    let charge: Charge = match read(body) {
        Ok(charge) => charge,
        Err(error) => return unknown(&error.to_string(), key),
    };
    if let Some(newest) = charge.transaction_requests.first()
        && newest.request_status == "failed"
    {
        let why = newest.provider_error.as_ref().map_or("no reason", |error| error.message.as_str());
        return Err(format!("the provider refuses it: {}; nothing was given back", printable(why)).into());
    }
    if !output.json {
        io::stdout().write_all(shown(&charge, *is_replay).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(charge: &Charge, is_replay: bool) -> String {
    let mut text = String::new();
    if is_replay {
        text.push_str("This was done before; nothing was given back a second time.\n");
    }
    text.push_str(&format!("Charge {}: {}, {}.\n", charge.id, charge.status_shown(), charge.amount_shown()));
    if charge.status == "refund_pending" {
        text.push_str("The refund is under way: the provider tells later how it ended.\n");
    }
    text
}

fn unknown(why: &str, key: &str) -> Result<ExitCode, Failure> {
    writeln!(
        io::stderr(),
        "regente: it is unknown whether the money was given back: {why}. Repeat the same command with `--idempotency-key \
         {key}`: the money is given back once."
    )?;
    Ok(ExitCode::from(UNKNOWN))
}

/// Asks on the terminal.
fn is_meant(charge: &Charge, amount: Option<Amount>) -> Result<bool, Failure> {
    let Charge { id, currency, .. } = charge;
    let what = amount.map_or_else(|| "all".to_owned(), |amount| amount.shown_in(*currency));
    let order =
        charge.order_id.as_deref().map_or_else(String::new, |id| format!(", order {}", printable(id)));
    write!(
        io::stderr(),
        "Charge {id}: {}, {} by {}{order}.\nGive {what} of it back? [y/N] ",
        charge.status_shown(),
        charge.amount_shown(),
        charge.payment_type()
    )?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// An amount in major units: digits, and after a point at most as many as the currency has.
fn minor_units(text: &str, currency: Currency) -> Result<Amount, Failure> {
    let decimals = usize::from(currency.exponent());
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_one = !whole.is_empty() && are_digits(whole) && are_digits(part) && part.len() <= decimals;
    let amount = is_one.then(|| format!("{whole}{part:0<decimals$}").parse().ok().and_then(Amount::new));
    let wrong = || format!("`{text}` is no amount in {currency}, which has {decimals} decimal places");
    Ok(amount.flatten().ok_or_else(wrong)?)
}
