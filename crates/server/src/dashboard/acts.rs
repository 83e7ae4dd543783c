//! What a member may do with a charge: give back, capture, release. Each act has a page that asks how much and a page that asks
//! to confirm. The idempotency key is made with the page that asks to confirm, so a confirmation takes effect once.

mod result;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::currency::Currency;
use regente_engine::error::Error;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::Refused;
use super::charge;
use super::forms::Posted;
use super::layout::{Layout, page, page_with};
use super::visit::{Visit, currency_of, filled};
use super::words::Texts;
use crate::api::buyer_page::money;
use crate::app::App;
use crate::http::error::ApiError;

/// An act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// To give back what was taken, or a part of it.
    Refund,
    /// To take what is reserved, or a part of it.
    Capture,
    /// To release what is reserved.
    Void,
}

/// Asks how much.
#[derive(Template)]
#[template(path = "dashboard/amount.html")]
struct AmountPage<'a> {
    layout: Layout<'a>,
    act: Act,
    id: &'a str,
    about: String,
    label: &'a str,
    hint: String,
    typed: String,
    problem: Option<String>,
    go: &'a str,
}

/// Asks to confirm.
#[derive(Template)]
#[template(path = "dashboard/confirm.html")]
struct ConfirmPage<'a> {
    layout: Layout<'a>,
    act: Act,
    id: &'a str,
    question: String,
    about: Option<String>,
    csrf: &'a str,
    key: String,
    amount: i64,
}

/// What a confirmation sends.
#[derive(Debug, Deserialize)]
pub(super) struct Confirmed {
    key: String,
    amount: i64,
}

impl Act {
    const WORDS: [(&str, Self); 3] =
        [("refund", Self::Refund), ("capture", Self::Capture), ("void", Self::Void)];

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, act)| *act)
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Capture => "capture",
            Self::Void => "void",
        }
    }

    pub(super) fn name(self, t: &Texts) -> &str {
        match self {
            Self::Refund => &t.refund,
            Self::Capture => &t.capture,
            Self::Void => &t.void,
        }
    }

    /// Where it begins.
    pub(super) fn address(self, id: &str) -> String {
        format!("/dashboard/charges/{id}/{}", self.word())
    }

    /// What may be done with a charge as it is.
    pub(super) fn possible(charge: &Value) -> &'static [Self] {
        match charge["status"].as_str() {
            Some("authorized") if left_of(charge) > 0 => &[Self::Refund],
            Some("pre_authorized") => &[Self::Capture, Self::Void],
            Some(_) | None => &[],
        }
    }

    /// The operation of the interface, which releases and gives back alike.
    const fn operation(self) -> &'static str {
        match self {
            Self::Refund | Self::Void => "void",
            Self::Capture => "capture",
        }
    }

    fn body(self, amount: i64) -> Value {
        match self {
            Self::Refund | Self::Capture => json!({ "amount": amount }),
            Self::Void => json!({}),
        }
    }
}

/// What is left of a charge, in minor units.
fn left_of(charge: &Value) -> i64 {
    charge["amount"].as_i64().unwrap_or_default()
}

/// The page of an act: asks how much, or with an amount in the address to confirm.
pub(super) async fn ask(
    State(app): State<App>,
    visit: Visit,
    Path((id, word)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(act) = Act::parse(&word) else { return ApiError::from(Error::NotFound).into_response() };
    if !visit.may_act() {
        return visit.forbidden();
    }
    let charge = match charge::read(&visit, &id).await {
        Ok(charge) => charge,
        Err(refused) => return visit.refused(&refused),
    };
    let currency = currency_of(&charge).filter(|_| Act::possible(&charge).contains(&act));
    let Some(currency) = currency else {
        let t = &visit.words.t;
        return result::refused(&visit, &id, &[t.no_acts.as_str()]);
    };
    let pairs = url::form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
    let typed = pairs.into_iter().find_map(|(name, value)| (name == "amount").then(|| value.into_owned()));
    let asked = Asked { act, id: &id, left: left_of(&charge), currency };
    match (act, typed) {
        (Act::Void, _) => asked.confirm(&visit, &app, asked.left),
        (Act::Refund | Act::Capture, None) => asked.amount(&visit, None),
        (Act::Refund | Act::Capture, Some(typed)) => match asked.read(&visit, &typed) {
            Ok(amount) => asked.confirm(&visit, &app, amount),
            Err(problem) => asked.amount(&visit, Some((typed, problem))),
        },
    }
}

/// An act on a charge that is possible.
struct Asked<'a> {
    act: Act,
    id: &'a str,
    left: i64,
    currency: Currency,
}

impl Asked<'_> {
    fn read(&self, visit: &Visit, typed: &str) -> Result<i64, String> {
        let t = &visit.words.t;
        let left = visit.money(self.left, self.currency);
        match money::typed(typed, self.currency, visit.words.language) {
            Some(amount) if amount > self.left => Err(filled(&t.amount_too_much, &[("amount", &left)])),
            Some(amount) if amount > 0 => Ok(amount),
            Some(_) | None => Err(filled(&t.amount_wrong, &[("example", &left)])),
        }
    }

    fn amount(&self, visit: &Visit, wrong: Option<(String, String)>) -> Response {
        let t = &visit.words.t;
        let left = visit.money(self.left, self.currency);
        let (title, about, label, hint, go) = match self.act {
            Act::Refund => (&t.refund_title, &t.refund_about, &t.refund_amount, &t.refund_hint, &t.refund_go),
            Act::Capture | Act::Void => {
                (&t.capture_title, &t.capture_about, &t.capture_amount, &t.capture_hint, &t.capture_go)
            }
        };
        let status = if wrong.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        let (typed, problem) = wrong.unzip();
        let asking = AmountPage {
            layout: visit.layout(title),
            act: self.act,
            id: self.id,
            about: filled(about, &[("amount", &left)]),
            label,
            hint: filled(hint, &[("example", &left)]),
            typed: typed.unwrap_or(left),
            problem,
            go,
        };
        page_with(status, &asking)
    }

    fn confirm(&self, visit: &Visit, app: &App, amount: i64) -> Response {
        let t = &visit.words.t;
        let (shown, left) = (visit.money(amount, self.currency), visit.money(self.left, self.currency));
        let question = match self.act {
            Act::Refund => &t.confirm_refund,
            Act::Capture => &t.confirm_capture,
            Act::Void => &t.confirm_void,
        };
        page(&ConfirmPage {
            layout: visit.layout(&t.confirm_title),
            act: self.act,
            id: self.id,
            question: filled(question, &[("amount", &shown)]),
            about: (amount < self.left).then(|| filled(&t.of_amount, &[("amount", &left)])),
            csrf: &visit.who.csrf,
            key: app.chance.uuid().to_string(),
            amount,
        })
    }
}

/// Does what was confirmed.
pub(super) async fn act(
    visit: Visit,
    Path((id, word)): Path<(String, String)>,
    Posted(confirmed): Posted<Confirmed>,
) -> Response {
    let Some(act) = Act::parse(&word) else { return ApiError::from(Error::NotFound).into_response() };
    let Confirmed { key, amount } = confirmed;
    let path = format!("{}/{}", charge::address(&id), act.operation());
    let answered = visit.api.post(&visit.who, &path, &key, &act.body(amount)).await;
    let done = result::Done { act, id: &id, key: &key, amount };
    match answered {
        Ok(charge) => done.answered(&visit, &charge),
        Err(Refused { status: StatusCode::FORBIDDEN, .. }) => visit.forbidden(),
        Err(refused) => done.not_answered(&visit, &refused),
    }
}
