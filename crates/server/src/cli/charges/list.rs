//! `regente charges list`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde::Deserialize;

use super::super::lists::{short, table};
use super::super::operate::print_json;
use super::super::remote::{RemoteArgs, read};
use super::super::{Failure, OutputArg};
use super::Charge;
use crate::config::Config;
use crate::terminal::printable;

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// Only with these statuses, such as `pending,authorized`
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Only with these references of the merchant
    #[arg(long, value_name = "TEXT")]
    order_id: Vec<String>,
    /// Only of these merchants
    #[arg(long, value_name = "MERCHANT_ID")]
    merchant: Vec<String>,
    /// Only of these payment types, such as `pix`
    #[arg(long, value_name = "TYPE")]
    payment_type: Vec<String>,
    /// Only handled by these types of providers
    #[arg(long, value_name = "TYPE")]
    provider_type: Vec<String>,
    /// Made after this time, such as 2026-07-06 or 2026-07-06T21:00:00Z
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Made before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// So many at once, 100 at most
    #[arg(long, value_name = "NUMBER", default_value_t = 15)]
    limit: u32,
    /// This page of them, counted from 1
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    page: u32,
    #[command(flatten)]
    output: OutputArg,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// A page of charges, as far as it is looked at.
#[derive(Deserialize)]
struct Page {
    items: Vec<Charge>,
    meta: Meta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    total_items: u64,
    total_pages: u64,
    current_page: u64,
}

pub(super) async fn list(config: &Config, asked: ListArgs) -> Result<ExitCode, Failure> {
    let remote = asked.remote.remote(config).await?;
    // Values are checked by the service alone, which knows them all.
    let named: [(&str, Vec<String>); 9] = [
        ("status", asked.status),
        ("orderId", asked.order_id),
        ("merchantId", asked.merchant),
        ("paymentType", asked.payment_type),
        ("providerType", asked.provider_type),
        ("created.gt", asked.from.into_iter().collect()),
        ("created.lt", asked.to.into_iter().collect()),
        ("limit", vec![asked.limit.to_string()]),
        ("page", vec![asked.page.to_string()]),
    ];
    let pairs =
        named.into_iter().flat_map(|(name, values)| values.into_iter().map(move |value| (name, value)));
    let answer = remote.get("/v1/charges", &pairs.collect::<Vec<_>>()).await?;
    if asked.output.json {
        print_json(&answer)?;
    } else {
        io::stdout().write_all(shown(&read(&answer)?).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(page: &Page) -> String {
    let Page { items, meta: Meta { total_items, total_pages, current_page } } = page;
    if items.is_empty() {
        return "No charge is like that.\n".to_owned();
    }
    let or_dash = |text: &Option<String>| printable(text.as_deref().unwrap_or("-")).into_owned();
    let rows = items.iter().map(|charge| {
        [
            charge.id.to_string(),
            short(charge.created_at),
            charge.status_shown(),
            charge.amount_shown(),
            charge.payment_type().to_owned(),
            or_dash(&charge.responsible_provider_type),
            or_dash(&charge.order_id),
        ]
    });
    let mut text = table(["ID", "CREATED", "STATUS", "AMOUNT", "METHOD", "PROVIDER", "ORDER"], rows);
    if current_page < total_pages {
        text.push_str(&format!(
            "{} of {total_items}; `--page {}` has more.\n",
            items.len(),
            current_page + 1
        ));
    }
    text
}
