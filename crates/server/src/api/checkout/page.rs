//! The pages: templates filled with what a session has, and the security policy that allows nothing else.

use std::io::Write;
use std::net::IpAddr;

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use regente_engine::charges;
use regente_engine::error::Error;
use serde_json::json;

use super::script::{Inline, RETURNED_SCRIPT, SCRIPT, STYLE};
use super::texts::{PageTexts, Texts};
use super::view::{Checkout, Ended, Method, Shop};
use crate::api::buyer_page::logo::origin_of;
use crate::api::buyer_page::{Language, money};
use crate::api::charges::of_session::cart_items;
use crate::app::App;

/// The most items that a page shows; how many more there are it says.
const ITEMS_SHOWN_MAX: usize = 50;

/// The languages with their own names.
pub(super) const LANGUAGES: [(Language, &str); 3] =
    [(Language::Portuguese, "Português"), (Language::English, "English"), (Language::Spanish, "Español")];

/// The browser that asks.
pub(super) struct Visitor {
    pub(super) language: Language,
    pub(super) address: IpAddr,
    /// What it accepts, which the bank of a card is told as well as its address.
    pub(super) accept: String,
    pub(super) takes_gzip: bool,
}

#[derive(Template)]
#[template(path = "checkout/page.html")]
struct PayPage<'a> {
    language: Language,
    languages: &'a [(Language, &'static str)],
    t: &'a PageTexts,
    colours: &'a str,
    style: &'a str,
    script: &'a str,
    shop: Option<&'a Shop>,
    view: &'a Checkout,
    total: String,
    /// The first of them.
    items: Vec<ShownItem<'a>>,
    items_not_shown: usize,
    data: String,
}

struct ShownItem<'a> {
    name: &'a str,
    description: Option<&'a str>,
    quantity: i64,
    price: String,
}

#[derive(Template)]
#[template(path = "checkout/ended.html")]
struct EndedPage<'a> {
    language: Language,
    languages: &'a [(Language, &'static str)],
    t: &'a PageTexts,
    colours: &'a str,
    style: &'a str,
    shop: Option<&'a Shop>,
    title: &'a str,
    text: &'a str,
    sign: &'static str,
    shop_url: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "checkout/returned.html")]
struct ReturnedPage<'a> {
    language: Language,
    t: &'a PageTexts,
    script: &'a str,
    back: String,
}

impl PayPage<'_> {
    /// What each number of installments costs a month.
    fn parts(&self, installments_max: &u8) -> Vec<(u8, String)> {
        let part =
            |number| money::amount(self.view.amount / i64::from(number), self.view.currency, self.language);
        (1..=*installments_max).map(|number| (number, part(number))).collect()
    }

    /// What the button says before the script has taken over.
    fn first_action(&self) -> &str {
        self.view.methods.first().map_or("", |method| self.t.action(method))
    }

    fn day(&self, day: &jiff::civil::Date) -> String {
        self.language.day(*day)
    }
}

/// The page at which a session is paid.
pub(super) fn paying(view: &Checkout, app: &App, visitor: &Visitor) -> Result<Response, Error> {
    let Texts { page: t, script: texts, .. } = Texts::of(visitor.language);
    let fields = Fields::of(app);
    let shown = |minor_units| money::amount(minor_units, view.currency, visitor.language);
    let data = json!({
        "id": view.session_id, "clientId": view.client_id, "publicKey": view.public_key, "amount": view.amount,
        "returnPage": charges::return_page(&view.session_id, &app.settings),
        "asksCardholder": view.asks_cardholder(), "liabilityMustShift": view.liability_must_shift,
        "fieldsUrl": fields.url, "companyUrl": view.shop.url, "dpaId": view.click_to_pay_dpa_id,
        "beginsPayments": view.begins_payments,
        "items": cart_items(view.items.iter().map(|item| json!({
            "name": item.name, "sku": item.name, "quantity": item.quantity, "unitPrice": item.unit_price, "risk": "Low",
        }))),
        "buyer": { "ip": visitor.address, "accept": visitor.accept },
        "texts": texts,
    });
    let colours = Inline::of(view.shop.colours.variables());
    let page = PayPage {
        language: visitor.language,
        languages: &LANGUAGES,
        t,
        colours: &colours.text,
        style: &STYLE.text,
        script: SCRIPT.text(),
        shop: Some(&view.shop),
        view,
        total: shown(view.amount),
        items: view
            .items
            .iter()
            .take(ITEMS_SHOWN_MAX)
            .map(|item| ShownItem {
                name: &item.name,
                description: item.description.as_deref(),
                quantity: item.quantity,
                price: shown(item.unit_price.saturating_mul(item.quantity)),
            })
            .collect(),
        items_not_shown: view.items.len().saturating_sub(ITEMS_SHOWN_MAX),
        data: inert(&data),
    };
    let html = page.render().map_err(Error::internal)?;
    // Pages of banks may come from anywhere; nothing else does.
    let banks = match (view.asks_cardholder(), view.is_sandbox) {
        (true, false) => " 'self' https:",
        // Banks are simulated by this service, perhaps under another of its names.
        (true, true) => " 'self' https: http:",
        (false, _) => "",
    };
    let policy = policy(&fields, &colours, &view.shop, banks);
    Ok(answer(StatusCode::OK, html, &policy, visitor))
}

/// What a page with card fields may load. `banks` are further sources of frames and targets of forms.
pub(super) fn policy(fields: &Fields, colours: &Inline, shop: &Shop, banks: &str) -> String {
    format!(
        "default-src 'none'; script-src '{script}'; style-src {style} {colours}; img-src 'self' data:{logo}; \
         connect-src 'self'; frame-src {fields}{banks}; form-action 'self'{banks}; base-uri 'none'; \
         frame-ancestors 'none'",
        script = SCRIPT.integrity(),
        fields = fields.origin,
        style = STYLE.source,
        colours = colours.source,
        logo = origin_of(shop.logo.as_deref()),
    )
}

/// The page of a session that cannot be paid. `shop` is whose it was, where it is known.
pub(super) fn ended(why: Ended, shop: Option<&Shop>, visitor: &Visitor) -> Result<Response, Error> {
    let t = &Texts::of(visitor.language).page;
    let (status, sign, title, text) = match why {
        Ended::Paid => (StatusCode::OK, "ok", &t.ended_paid_title, &t.ended_paid),
        Ended::Canceled => (StatusCode::GONE, "bad", &t.ended_canceled_title, &t.ended_canceled),
        Ended::Refunded => (StatusCode::GONE, "bad", &t.ended_refunded_title, &t.ended_refunded),
        Ended::Expired => (StatusCode::GONE, "bad", &t.ended_expired_title, &t.ended_expired),
        Ended::Disabled => (StatusCode::GONE, "bad", &t.ended_disabled_title, &t.ended_disabled),
        Ended::CardGiven => (StatusCode::OK, "ok", &t.ended_card_given_title, &t.ended_card_given),
        Ended::CardReplaced => (StatusCode::GONE, "ok", &t.ended_card_replaced_title, &t.ended_card_replaced),
        Ended::NothingToCharge => {
            (StatusCode::GONE, "bad", &t.ended_subscription_title, &t.ended_subscription)
        }
        Ended::Unknown => (StatusCode::NOT_FOUND, "bad", &t.ended_unknown_title, &t.ended_unknown),
    };
    let colours = Inline::of(shop.map(|shop| shop.colours.clone()).unwrap_or_default().variables());
    let page = EndedPage {
        language: visitor.language,
        languages: &LANGUAGES,
        t,
        colours: &colours.text,
        style: &STYLE.text,
        shop,
        title,
        text,
        sign,
        shop_url: shop.and_then(|shop| shop.url.as_deref()),
    };
    let html = page.render().map_err(Error::internal)?;
    let policy = format!(
        "default-src 'none'; style-src {} {}; img-src 'self' data:{}; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        STYLE.source,
        colours.source,
        origin_of(shop.and_then(|shop| shop.logo.as_deref())),
    );
    Ok(answer(status, html, &policy, visitor))
}

/// The page inside of the frame of a challenge, when the cardholder has answered.
pub(super) fn returned(session_id: &str, visitor: &Visitor) -> Result<Response, Error> {
    let page = ReturnedPage {
        language: visitor.language,
        t: &Texts::of(visitor.language).page,
        script: RETURNED_SCRIPT.text(),
        back: format!("/pay/{session_id}"),
    };
    let policy = format!(
        "default-src 'none'; script-src '{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        RETURNED_SCRIPT.integrity()
    );
    Ok(answer(StatusCode::OK, page.render().map_err(Error::internal)?, &policy, visitor))
}

/// Where the card fields come from.
pub(super) struct Fields {
    pub(super) url: String,
    /// As a source of a policy.
    origin: String,
}

impl Fields {
    pub(super) fn of(app: &App) -> Self {
        match &app.fields_origin {
            Some(fields) => Self { url: format!("{}/", fields.origin), origin: fields.origin.clone() },
            None => Self { url: "/fields/".to_owned(), origin: "'self'".to_owned() },
        }
    }
}

/// JSON that stands between the tags of a script, which nothing inside of it can close.
pub(super) fn inert(data: &serde_json::Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

pub(super) fn answer(status: StatusCode, html: String, policy: &str, visitor: &Visitor) -> Response {
    let squeezed = visitor.takes_gzip.then(|| squeeze(html.as_bytes())).flatten();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::VARY, "Accept-Language, Accept-Encoding"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=(), payment=()",
        ),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page without its policy is not shown.
    let Ok(policy) = HeaderValue::from_str(policy) else {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    };
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if squeezed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    *response.body_mut() = squeezed.map_or_else(|| Body::from(html), Body::from);
    response
}

/// The page compressed. Nothing in it repeats what another site has sent along, so its length tells no secret.
fn squeeze(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::new(6));
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}
