//! The page at which the buyer of a subscription gives another card (`docs/checkout.md#another-card`).

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use regente_engine::error::Error;
use serde_json::json;

use super::page::{Fields, LANGUAGES, Visitor, answer, inert, policy};
use super::script::{Inline, SCRIPT, STYLE};
use super::texts::{PageTexts, Texts};
use super::view::{CardPage, Shop};
use crate::api::buyer_page::{Language, money};
use crate::app::App;

#[derive(Template)]
#[template(path = "checkout/card.html")]
struct TakingCard<'a> {
    language: Language,
    languages: &'a [(Language, &'static str)],
    t: &'a PageTexts,
    colours: &'a str,
    style: &'a str,
    script: &'a str,
    shop: Option<&'a Shop>,
    view: &'a CardPage,
    amount: String,
    outstanding: Option<String>,
    data: String,
}

impl TakingCard<'_> {
    fn interval(&self) -> &str {
        self.t.interval(self.view.interval)
    }
}

/// Writes it.
pub(super) fn taking_card(view: &CardPage, app: &App, visitor: &Visitor) -> Result<Response, Error> {
    let texts = Texts::of(visitor.language);
    let t = &texts.page;
    let fields = Fields::of(app);
    let shown = |minor_units| money::amount(minor_units, view.currency, visitor.language);
    let data = json!({
        "id": view.session_id, "clientId": view.client_id, "publicKey": view.public_key, "takesCard": true,
        "fieldsUrl": fields.url, "beginsPayments": true, "texts": texts.of_card_script(),
    });
    let colours = Inline::of(view.shop.colours.variables());
    let page = TakingCard {
        language: visitor.language,
        languages: &LANGUAGES,
        t,
        colours: &colours.text,
        style: &STYLE.text,
        script: SCRIPT.text(),
        shop: Some(&view.shop),
        view,
        amount: shown(view.amount),
        outstanding: view.outstanding.map(shown),
        data: inert(&data),
    };
    let html = page.render().map_err(Error::internal)?;
    Ok(answer(StatusCode::OK, html, &policy(&fields, &colours, &view.shop, ""), visitor))
}
