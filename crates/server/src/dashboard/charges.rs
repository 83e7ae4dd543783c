//! The list of charges with the filters of `GET /v1/charges`, kept in the address, and the search for one of them.

mod filters;

use askama::Template;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use regente_domain::charge::ChargeStatus;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use serde_json::Value;
use uuid::Uuid;

use self::filters::Filters;
use super::api::Refused;
use super::layout::{Layout, page, page_with};
use super::visit::{Visit, amount_of, class_of, encoded, filled, reasons};
use super::words::About;

const LIST: &str = "/dashboard/charges";

#[derive(Template)]
#[template(path = "dashboard/charges.html")]
struct ChargesPage<'a> {
    layout: Layout<'a>,
    filters: &'a Filters,
    statuses: Vec<Choice<'a>>,
    methods: Vec<Choice<'a>>,
    providers: Vec<Choice<'a>>,
    /// What the interface says of the filters.
    problems: Vec<String>,
    found: String,
    rows: Vec<Row>,
    place: String,
    before: Option<String>,
    next: Option<String>,
}

/// An option of a filter.
struct Choice<'a> {
    value: &'a str,
    name: &'a str,
    is_chosen: bool,
}

/// A charge of the list.
struct Row {
    href: String,
    made: String,
    order: Option<String>,
    amount: String,
    status: String,
    class: &'static str,
    method: String,
    provider: String,
}

impl Row {
    fn of(visit: &Visit, charge: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (status, method) = (text(&charge["status"]), text(&charge["paymentMethod"]["paymentType"]));
        Self {
            href: format!("{LIST}/{}", text(&charge["id"])),
            made: visit.moment(&charge["createdAt"]),
            order: charge["orderId"].as_str().map(str::to_owned),
            amount: amount_of(visit, charge, &charge["originalAmount"]),
            class: class_of(&status),
            status: visit.words.name(About::Status, &status).to_owned(),
            method: visit.words.name(About::Method, &method).to_owned(),
            provider: text(&charge["responsibleProviderType"]),
        }
    }
}

pub(super) async fn list(visit: Visit, RawQuery(query): RawQuery) -> Response {
    let filters = Filters::read(query.as_deref().unwrap_or_default());
    let asked = match filters.of_the_interface(visit.words.language) {
        Some(asked) => visit.get(&format!("/v1/charges?{asked}")).await,
        None => Err(Refused { status: StatusCode::BAD_REQUEST, body: Value::Null }),
    };
    match asked {
        Ok(listed) => page(&listing(&visit, &filters, &listed, Vec::new())),
        Err(Refused { status: StatusCode::BAD_REQUEST, body }) => {
            let mut problems = vec![visit.words.t.filter_wrong.clone()];
            problems.extend(reasons(&body));
            page_with(StatusCode::BAD_REQUEST, &listing(&visit, &filters, &Value::Null, problems))
        }
        Err(refused) => visit.refused(&refused),
    }
}

fn listing<'a>(
    visit: &'a Visit,
    filters: &'a Filters,
    listed: &Value,
    problems: Vec<String>,
) -> ChargesPage<'a> {
    let (words, t) = (visit.words, &visit.words.t);
    let meta = |name: &str| listed["meta"][name].as_u64().unwrap_or_default();
    let (current, pages) = (meta("currentPage"), meta("totalPages"));
    let number = |number: u64| number.to_string();
    let leads_to = |page: u64| format!("{LIST}?{}", filters.address(page));
    let choice = |filter: &str, value: &'static str, name: &'a str| Choice {
        value,
        name,
        is_chosen: filters.get(filter) == value,
    };
    let named = |filter: &'static str, about| {
        move |value: &'static str| Choice {
            value,
            name: words.name(about, value),
            is_chosen: filters.get(filter) == value,
        }
    };
    ChargesPage {
        layout: visit.layout(&t.charges),
        filters,
        statuses: ChargeStatus::WORDS
            .iter()
            .map(|(word, _)| *word)
            .map(named("status", About::Status))
            .collect(),
        methods: PaymentType::WORDS
            .iter()
            .map(|(word, _)| *word)
            .map(named("paymentType", About::Method))
            .collect(),
        providers: ProviderType::all_shown()
            .iter()
            .map(|(word, _)| choice("providerType", word, word))
            .collect(),
        problems,
        found: filled(&t.found, &[("count", &number(meta("totalItems")))]),
        rows: listed["items"].as_array().into_iter().flatten().map(|charge| Row::of(visit, charge)).collect(),
        place: filled(&t.page_of, &[("page", &number(current)), ("pages", &number(pages))]),
        before: (current > 1).then(|| leads_to(current - 1)),
        next: (current < pages).then(|| leads_to(current + 1)),
    }
}

/// Leads to the charge that has the id, or whose merchant calls it so; to a list where there are several or none.
pub(super) async fn search(visit: Visit, RawQuery(query): RawQuery) -> Response {
    let pairs = url::form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
    let wanted = pairs.into_iter().find_map(|(name, value)| (name == "q").then(|| value.trim().to_owned()));
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
        return Redirect::to(LIST).into_response();
    };
    if let Ok(id) = Uuid::parse_str(&wanted) {
        match visit.get(&format!("/v1/charges/{id}")).await {
            Ok(_) => return Redirect::to(&format!("{LIST}/{id}")).into_response(),
            Err(Refused { status: StatusCode::NOT_FOUND, .. }) => {}
            Err(refused) => return visit.refused(&refused),
        }
    }
    let filter = format!("orderId={}", encoded(&wanted));
    let only = match visit.get(&format!("/v1/charges?limit=2&{filter}")).await {
        Ok(listed) => listed["items"].as_array().and_then(|items| match items.as_slice() {
            [only] => only["id"].as_str().map(|id| format!("{LIST}/{id}")),
            _ => None,
        }),
        Err(_) => None,
    };
    Redirect::to(&only.unwrap_or_else(|| format!("{LIST}?{filter}"))).into_response()
}
