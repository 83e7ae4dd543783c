//! One charge: what was paid and how, every call to a provider, why it went that way, its division, its refunds.

mod route;

use askama::Template;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use serde_json::{Map, Value};

use self::route::{Route, Step};
use super::acts::Act;
use super::api::Refused;
use super::layout::{Layout, page};
use super::visit::{Visit, amount_of, class_of, filled};
use super::words::About;

#[derive(Template)]
#[template(path = "dashboard/charge.html")]
struct ChargePage<'a> {
    layout: Layout<'a>,
    /// What has just been done.
    done: Option<String>,
    amount: String,
    status: &'a str,
    class: &'static str,
    is_disputed: bool,
    facts: Vec<(&'a str, String)>,
    /// Where each act begins, with its name. None for somebody whose role has no acts.
    acts: Option<Vec<(String, &'a str)>>,
    steps: Vec<Step>,
    route: Route,
    shares: Vec<(String, String)>,
    platform_fee: Option<String>,
    refunds: Vec<Step>,
    left: String,
    sent: Vec<(String, String)>,
    program: Vec<(String, String)>,
}

pub(super) async fn show(visit: Visit, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    match render(&visit, &id, query.as_deref().unwrap_or_default()).await {
        Ok(response) => response,
        Err(refused) => visit.refused(&refused),
    }
}

async fn render(visit: &Visit, id: &str, query: &str) -> Result<Response, Refused> {
    let (words, t) = (visit.words, &visit.words.t);
    let charge = read(visit, id).await?;
    let explanation = visit.get(&format!("{}/explanation", address(id))).await?;
    let steps = route::steps(visit, &charge, &explanation);
    let refunds = route::refunds(visit, &charge, &explanation);
    let status = charge["status"].as_str().unwrap_or_default();
    let done = query.split('&').find_map(|pair| pair.strip_prefix("done=")).and_then(Act::parse);
    let acts = Act::possible(&charge);
    let acts = acts.iter().map(|act| (act.address(id), act.name(t)));
    Ok(page(&ChargePage {
        layout: visit.layout(&t.charge),
        done: done.map(|act| filled(&t.act_done, &[("what", act.name(t))])),
        amount: amount_of(visit, &charge, &charge["originalAmount"]),
        status: words.name(About::Status, status),
        class: class_of(status),
        is_disputed: charge["isDispute"].as_bool() == Some(true),
        facts: facts(visit, &charge).await,
        acts: visit.may_act().then(|| acts.collect()),
        steps,
        route: Route::of(visit, &explanation),
        shares: shares(visit, &charge),
        platform_fee: charge
            .get("platformFee")
            .filter(|fee| fee.is_object())
            .map(|fee| amount_of(visit, &charge, &fee["amount"])),
        refunds,
        left: amount_of(visit, &charge, &charge["amount"]),
        sent: members(&charge["paymentFlow"]["metadata"]),
        program: members(&charge["appInfo"]),
    }))
}

/// The path of a charge in the interface. The id is what somebody has typed.
pub(super) fn address(id: &str) -> String {
    format!("/v1/charges/{}", super::visit::encoded(id))
}

pub(super) async fn read(visit: &Visit, id: &str) -> Result<Value, Refused> {
    visit.get(&address(id)).await
}

/// What is known of the payment, with its names.
async fn facts<'a>(visit: &'a Visit, charge: &Value) -> Vec<(&'a str, String)> {
    let t = &visit.words.t;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let method = &charge["paymentMethod"];
    let kind = text(&method["paymentType"]).unwrap_or_default();
    let capture = if charge["capture"].as_bool() == Some(true) { &t.yes } else { &t.no };
    let mut facts = vec![
        (t.made.as_str(), Some(visit.moment(&charge["createdAt"]))),
        (&t.updated, Some(visit.moment(&charge["updatedAt"]))),
        (&t.order, text(&charge["orderId"])),
        (&t.method, Some(visit.words.name(About::Method, &kind).to_owned())),
    ];
    if let Some(card) = card(visit, charge).await {
        facts.extend(card);
    }
    facts.extend([
        (t.installments.as_str(), method["installments"].as_u64().map(|number| number.to_string())),
        (&t.captured_at_once, Some(capture.clone())),
        (&t.provider, text(&charge["responsibleProviderType"])),
        (&t.descriptor, text(&charge["statementDescriptor"])),
        (&t.description, text(&charge["description"])),
        (&t.customer, text(&charge["customerId"])),
        (&t.merchant, text(&charge["merchantId"])),
        (&t.subscription, text(&charge["subscriptionId"])),
        (&t.id, text(&charge["id"])),
    ]);
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The masked number of the card and its holder. Nothing where there is none any more, or the role may not see cards.
async fn card<'a>(visit: &'a Visit, charge: &Value) -> Option<Vec<(&'a str, Option<String>)>> {
    let t = &visit.words.t;
    let id = charge["paymentSource"]["cardId"].as_str()?;
    let card = visit.get(&format!("/v1/cards/{id}")).await.ok()?;
    let part = |name: &str| card[name].as_str().unwrap_or_default();
    let (month, year) = (part("expirationMonth"), part("expirationYear"));
    let number = format!(
        "{} {} •••••• {}, {}",
        part("brand"),
        part("first6digits"),
        part("last4digits"),
        filled(&t.card_expires, &[("month", month), ("year", year)])
    );
    let holder = card["cardHolderName"].as_str().map(str::to_owned);
    Some(vec![(t.card.as_str(), Some(number)), (t.holder.as_str(), holder)])
}

/// Each seller with the share that was agreed.
fn shares(visit: &Visit, charge: &Value) -> Vec<(String, String)> {
    let rules = charge["splitRules"].as_array().into_iter().flatten();
    rules
        .map(|rule| {
            let share = match rule["percentage"].as_i64() {
                Some(percentage) => format!("{percentage}\u{a0}%"),
                None => amount_of(visit, charge, &rule["amount"]),
            };
            (rule["sellerId"].as_str().unwrap_or_default().to_owned(), share)
        })
        .collect()
}

/// The members of what the merchant has sent along.
fn members(sent: &Value) -> Vec<(String, String)> {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let none = Map::new();
    let members = sent.as_object().unwrap_or(&none);
    members.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
}
