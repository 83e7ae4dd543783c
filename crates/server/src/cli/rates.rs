//! `regente rates`: how often providers approve.

use std::process::ExitCode;

use clap::Args;
use regente_domain::time::Timestamp;

use super::account::AccountArgs;
use super::lists::columns;
use super::webhooks::timestamp;
use super::{Failure, operate};
use crate::admin::Command;
use crate::api::rates::{RateListView, RatesView};
use crate::config::Loaded;

#[derive(Debug, Args)]
pub(super) struct RatesArgs {
    /// From the hour of this moment on [default: the last 24 hours]
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    from: Option<Timestamp>,
    /// Hours that begin before this moment
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    to: Option<Timestamp>,
    /// What they are grouped by, separated by commas: hour, merchantId, providerId, providerType, paymentType, brand,
    /// cardBin, amountBand
    #[arg(long, value_name = "NAMES", default_value = "providerType")]
    by: String,
    /// Only of these merchants
    #[arg(long, value_name = "ID")]
    merchant: Vec<String>,
    /// Only of these providers
    #[arg(long, value_name = "ID")]
    provider: Vec<String>,
    /// Only of these types of providers
    #[arg(long, value_name = "TYPE")]
    provider_type: Vec<String>,
    /// Only of these payment types
    #[arg(long, value_name = "TYPE")]
    payment_type: Vec<String>,
    /// Only of these brands
    #[arg(long, value_name = "NAME")]
    brand: Vec<String>,
    /// Only of cards with these first six digits
    #[arg(long, value_name = "DIGITS")]
    bin: Option<String>,
    /// Only in this currency
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// Only tries at the first provider of a charge's route, or with `false` only those after them
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    first_try: Option<bool>,
    #[command(flatten)]
    of: AccountArgs,
}

pub(super) fn run(loaded: &Loaded, asked: RatesArgs) -> Result<ExitCode, Failure> {
    let AccountArgs { account, output } = asked.of;
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string()).into_iter().collect();
    let named: [(&str, Vec<String>); 11] = [
        ("from", time(asked.from)),
        ("to", time(asked.to)),
        ("groupBy", vec![asked.by]),
        ("merchantId", asked.merchant),
        ("providerId", asked.provider),
        ("providerType", asked.provider_type),
        ("paymentType", asked.payment_type),
        ("brand", asked.brand),
        ("cardBin", asked.bin.into_iter().collect()),
        ("currency", asked.currency.into_iter().collect()),
        ("firstTry", asked.first_try.map(|first| first.to_string()).into_iter().collect()),
    ];
    let pairs = named
        .into_iter()
        .flat_map(|(name, values)| values.into_iter().map(move |value| (name.to_owned(), value)));
    let command = Command::Rates { client_id: account.client_id, parameters: pairs.collect() };
    operate::run(loaded, command, output)
}

pub(super) fn shown(RateListView { from, to, items }: &RateListView) -> String {
    if items.is_empty() {
        return format!("Nothing was tried from {from} to {to}.\n");
    }
    // Only what they are grouped by is there, and it is there in all of them.
    let mut groups: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for rates in items {
        let (names, cells): (Vec<&str>, Vec<String>) = group(rates).unzip();
        groups = names;
        lines.push(cells.into_iter().chain(numbers(rates)).collect());
    }
    let head = groups.into_iter().chain(NUMBERS).map(str::to_owned).collect();
    lines.insert(0, head);
    format!("{from} to {to}\n\n{}", columns(&lines))
}

/// The columns of the group, each with its cell.
fn group(rates: &RatesView) -> impl Iterator<Item = (&'static str, String)> {
    let band = rates.amount_from.zip(rates.amount_below).map(|(from, below)| {
        format!("{} {from} to {}", rates.currency.as_deref().unwrap_or_default(), below - 1)
    });
    let or_dash = |text: &String| if text.is_empty() { "-".to_owned() } else { text.clone() };
    [
        ("HOUR", rates.hour.map(|hour| hour.to_string())),
        ("MERCHANT", rates.merchant_id.map(|id| id.to_string())),
        ("PROVIDER", rates.provider_id.map(|id| id.to_string())),
        ("TYPE", rates.provider_type.clone()),
        ("METHOD", rates.payment_type.clone()),
        ("BRAND", rates.brand.as_ref().map(or_dash)),
        ("BIN", rates.card_bin.as_ref().map(or_dash)),
        ("AMOUNT", band),
    ]
    .into_iter()
    .filter_map(|(name, cell)| Some((name, cell?)))
}

const NUMBERS: [&str; 11] = [
    "TRIED", "APPROVED", "RATE", "95 %", "DECLINED", "FAILED", "UNPAID", "WAITING", "UNKNOWN", "P50 MS",
    "P95 MS",
];

fn numbers(rates: &RatesView) -> [String; 11] {
    let percent = |rate: Option<String>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate} %"));
    let interval = rates.approval_rate_from.as_ref().zip(rates.approval_rate_to.as_ref());
    let millis = |millis: Option<i64>| millis.map_or_else(|| "-".to_owned(), |millis| millis.to_string());
    [
        rates.tried.to_string(),
        rates.approved.to_string(),
        percent(rates.approval_rate.as_ref().map(ToString::to_string)),
        percent(interval.map(|(from, to)| format!("{from} to {to}"))),
        rates.declined.to_string(),
        rates.failed.to_string(),
        rates.unpaid.to_string(),
        rates.waiting.to_string(),
        rates.unknown.to_string(),
        millis(rates.latency_p50),
        millis(rates.latency_p95),
    ]
}
