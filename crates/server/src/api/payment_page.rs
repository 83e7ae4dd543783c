//! `/sandbox/payments/{link}`: the page of the simulator at which a payer pays or refuses, only where payments are
//! simulated (`docs/interface/sandbox.md#payment-pages`). Whoever has the link may; nobody can guess it.

mod html;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use regente_domain::charge::PaymentMethod;
use regente_engine::anti_fraud::FRAUD_ANALYSIS;
use regente_engine::error::Error;
use regente_engine::events::masked;
use regente_engine::simulator::payment_page::{self, Decision, PageState, PaymentPage};
use regente_providers::request::Mode;
use regente_providers::sandbox::PAGES;
use serde_json::Value;
use url::form_urlencoded;

use self::html::{Order, OrderItem};
use super::buyer_page::{Language, money};
use super::charges::open_private;
use super::path::Path;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes;

/// The decisions of a payer, as the buttons send them.
const DECISIONS: [(&str, Decision); 2] = [("pay", Decision::Pay), ("refuse", Decision::Refuse)];
/// Most items of an order that the page shows.
const ITEMS_SHOWN_MAX: usize = 20;

/// The route that browsers of payers come to, without credentials. No program calls it, so that the document does not
/// describe it.
pub(super) fn for_browsers() -> Router<App> {
    Router::new().route(&format!("{PAGES}{{link}}"), get(show).post(decide))
}

/// Shows what is to be paid, with the buttons, or what has become of it.
async fn show(
    State(app): State<App>,
    Path(link): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(request.headers());
    let page = find(&app, &link).await?;
    answer(&app, language, &page).await
}

/// Takes the payer's decision, and leads them back to the merchant.
async fn decide(
    State(app): State<App>,
    Path(link): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(request.headers());
    let page = find(&app, &link).await?;
    let form = read_bytes(request).await?;
    let asked = form_urlencoded::parse(&form).find(|(name, _)| name == "decision").map(|(_, value)| value);
    let decision = DECISIONS.iter().find(|(word, _)| asked.as_deref() == Some(*word));
    let Some((_, decision)) = decision else { return answer(&app, language, &page).await };
    match page.decide(&app, *decision).await? {
        true => Ok(html::decided(language, *decision, page.return_address(*decision)).answer(StatusCode::OK)),
        // Another decision came first, in another window.
        false => {
            let page = payment_page::open(&app, &link).await?.ok_or(Error::NotFound)?;
            Ok(closed(language, &page))
        }
    }
}

/// The page of a link.
async fn find(app: &App, link: &str) -> Result<PaymentPage, Error> {
    match app.settings.mode {
        Mode::Sandbox => payment_page::open(app, link).await?.ok_or(Error::NotFound),
        Mode::Production => Err(Error::NotFound),
    }
}

async fn answer(app: &App, language: Language, page: &PaymentPage) -> Result<Response, ApiError> {
    Ok(match page.state {
        PageState::Open => html::asking(language, &order(app, page, language).await?).answer(StatusCode::OK),
        PageState::Paid | PageState::Over => closed(language, page),
    })
}

fn closed(language: Language, page: &PaymentPage) -> Response {
    match page.state {
        PageState::Paid => html::paid(language, page.return_address(Decision::Pay)).answer(StatusCode::OK),
        PageState::Open | PageState::Over => {
            html::over(language, page.return_address(Decision::Refuse)).answer(StatusCode::GONE)
        }
    }
}

/// What the payer is asked to pay.
async fn order(app: &App, page: &PaymentPage, language: Language) -> Result<Order, Error> {
    let charge = &page.stored.charge;
    let items = match &charge.method {
        PaymentMethod::Nupay(_) => {
            let private = open_private(app, &page.stored).await?;
            private
                .get(FRAUD_ANALYSIS)
                .and_then(|data| data.pointer("/cart/items"))
                .map(|items| read(items, "name"))
        }
        PaymentMethod::Drip(drip) => drip.items.as_deref().map(|items| read(items, "title")),
        PaymentMethod::Credit(_)
        | PaymentMethod::Debit(_)
        | PaymentMethod::Voucher(_)
        | PaymentMethod::Pix(_)
        | PaymentMethod::Boleto(_)
        | PaymentMethod::Picpay(_)
        | PaymentMethod::ApplePay(_)
        | PaymentMethod::ClickToPay(_) => None,
    };
    Ok(Order {
        merchant: page.merchant.clone().filter(|merchant| !merchant.is_empty()),
        order_id: masked(charge.order_id.as_deref()),
        amount: money::amount(charge.amount.minor_units(), charge.currency, language),
        items: items.unwrap_or_default(),
    })
}

/// The items that the merchant sent; `name` is the member with the name of one.
fn read(items: &Value, name: &str) -> Vec<OrderItem> {
    let items = match items {
        Value::Array(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            std::slice::from_ref(items)
        }
    };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let item = |item: &Value| {
        Some(OrderItem {
            name: item.get(name).and_then(text)?,
            quantity: item.get("quantity").and_then(text),
        })
    };
    items.iter().filter_map(item).take(ITEMS_SHOWN_MAX).collect()
}
