//! A page for people with the holdings, the latest entries and the fault plan. It loads nothing and runs no script.

use std::fmt::Write;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use regente_domain::currency::Currency;
use regente_providers::outcome::Finding;
use regente_providers::sandbox::http::TotalView;
use regente_providers::sandbox::{Filter, Order, Stored};

use super::Simulator;
use super::error::Refusal;
use super::inspect::all_holdings;
use crate::http::html::{escape, policy_source};

/// Entries on the page.
const ENTRIES_SHOWN: usize = 50;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1d2430}\
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}th,td{text-align:left;padding:.3rem .8rem;\
border-bottom:1px solid #dfe3ea;vertical-align:top}th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}\
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:#f4f6f9;padding:1rem;overflow:auto}\
.declined{color:#a3261d}.approved{color:#17663a}.note{color:#5a6474}";

pub(super) async fn page(State(simulator): State<Simulator>) -> Result<Response, Refusal> {
    let sandbox = &simulator.sandbox;
    let totals = TotalView::of(&all_holdings(sandbox).await?);
    let last =
        sandbox.transaction_log().page(Filter::default(), Order::NewestFirst, None, ENTRIES_SHOWN).await?;
    let plan = serde_json::to_string_pretty(&sandbox.plan()).unwrap_or_default();
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Simulator</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\
         <h1>Simulator</h1><p class=\"note\">The transaction log of a simulated provider. No real money, test cards only.</p>\
         <h2>Money</h2>{totals}<h2>Last {ENTRIES_SHOWN} entries</h2>{entries}\
         <h2>Plan</h2><pre>{plan}</pre></body></html>",
        totals = totals_table(&totals),
        entries = entries_table(&last),
        plan = escape(&plan),
    );
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// A policy that allows only the page's own style sheet.
fn policy() -> HeaderValue {
    let style = policy_source(STYLE);
    let policy = format!(
        "default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

fn totals_table(totals: &[TotalView]) -> String {
    if totals.is_empty() {
        return "<p>Nothing was authorized yet.</p>".to_owned();
    }
    let mut table = String::from(
        "<table><tr><th>Currency<th class=n>Authorizations<th class=n>Authorized<th class=n>Reserved\
         <th class=n>Captured<th class=n>Refunded<th class=n>Released<th class=n>Charged back<th class=n>Kept</tr>",
    );
    for total in totals {
        let amounts = [
            total.authorized,
            total.reserved,
            total.captured,
            total.refunded,
            total.released,
            total.charged_back,
            total.kept,
        ];
        let cells = amounts.map(|amount| format!("<td class=n>{}", decimal(amount, total.currency))).concat();
        let _ = write!(
            table,
            "<tr><td>{}<td class=n>{}{cells}</tr>",
            total.currency.code(),
            total.authorizations
        );
    }
    table + "</table>"
}

fn entries_table(entries: &[Stored]) -> String {
    if entries.is_empty() {
        return "<p>The transaction log is empty.</p>".to_owned();
    }
    let mut table = String::from(
        "<table><tr><th class=n>#<th>At<th>Operation<th class=n>Amount<th>Card<th>Outcome<th>Key</tr>",
    );
    for Stored { sequence, entry } in entries {
        let answered = entry.answered();
        let operation = answered.map_or("", |answered| answered.deed.word());
        let amount = answered.map_or_else(String::new, |answered| {
            let amount = decimal(answered.amount.minor_units(), answered.currency);
            format!("{} {amount}", answered.currency.code())
        });
        let card = answered.and_then(|answered| answered.deed.card());
        let card = card.map_or_else(String::new, |card| format!("…{}", card.last_four));
        let (class, outcome) = match answered.map(|answered| &answered.finding) {
            Some(Finding::Approved(_)) => ("approved", "approved".to_owned()),
            Some(Finding::Declined(decline)) => ("declined", format!("declined: {}", decline.code.code())),
            Some(Finding::Pending(_)) => ("note", "waits for the payer".to_owned()),
            Some(Finding::Accepted(_)) => ("note", "accepted".to_owned()),
            Some(Finding::Paid(_) | Finding::Reversed { .. }) => ("approved", "paid".to_owned()),
            None => ("note", "asked for before it came".to_owned()),
        };
        let follows = entry.authorization_key();
        let follows = follows.map_or_else(String::new, |key| format!("<br>follows <code>{key}</code>"));
        let _ = write!(
            table,
            "<tr><td class=n>{sequence}<td>{at}<td>{operation}<td class=n>{amount}<td>{card}\
             <td class={class}>{outcome}<td><code>{key}</code>{follows}</tr>",
            at = entry.at,
            card = escape(&card),
            outcome = escape(&outcome),
            key = entry.key,
        );
    }
    table + "</table>"
}

/// An amount in minor units, written with the decimal places of its currency.
fn decimal(minor_units: i64, currency: Currency) -> String {
    let places = usize::from(currency.exponent());
    let digits = format!("{minor_units:0>width$}", width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}
