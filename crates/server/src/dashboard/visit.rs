//! A request for a page by a member who is signed in.

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use regente_domain::currency::Currency;
use regente_domain::local_day;
use regente_domain::member::role::Permission;
use regente_domain::time::Timestamp;
use regente_engine::members::SignedIn;
use serde_json::Value;

use super::api::{Api, Refused};
use super::layout::{Layout, page_with};
use super::words::Words;
use crate::api::buyer_page::money;
use crate::http::error::ApiError;

/// Who asks for a page, in which language, and how the page asks the interface.
pub(crate) struct Visit {
    pub(crate) words: &'static Words,
    pub(crate) who: SignedIn,
    pub(crate) api: Api,
    /// The path of the page with its query.
    pub(crate) here: String,
}

#[derive(Template)]
#[template(path = "dashboard/refused.html")]
struct RefusedPage<'a> {
    layout: Layout<'a>,
    about: &'a str,
    reasons: Vec<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        let (who, api) = (parts.extensions.get::<SignedIn>(), parts.extensions.get::<Api>());
        let Some((who, api)) = who.zip(api) else {
            return Err(ApiError::Forbidden.into_response());
        };
        let here = parts.uri.path_and_query().map_or("/dashboard", |path| path.as_str());
        Ok(Self {
            words: Words::of(&parts.headers),
            who: who.clone(),
            api: api.clone(),
            here: here.to_owned(),
        })
    }
}

impl Visit {
    pub(crate) fn layout<'a>(&'a self, title: &'a str) -> Layout<'a> {
        Layout { words: self.words, who: Some(&self.who), title, here: &self.here }
    }

    /// What the interface answers to a `GET`.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Refused> {
        self.api.get(&self.who, path).await
    }

    /// The page in place of one that the interface refuses.
    pub(super) fn refused(&self, refused: &Refused) -> Response {
        let t = &self.words.t;
        let (title, about, reasons) = match refused.status {
            StatusCode::FORBIDDEN => (&t.not_allowed, &t.not_allowed_about, Vec::new()),
            StatusCode::NOT_FOUND => (&t.not_found, &t.not_found_about, Vec::new()),
            _ => (&t.failed, &t.failed_about, reasons(&refused.body)),
        };
        page_with(refused.status, &RefusedPage { layout: self.layout(title), about, reasons })
    }

    /// Whether the member's role may refund, capture and void.
    pub(super) fn may_act(&self) -> bool {
        self.who.role.may(Permission::ActOnPayments)
    }

    /// The page for somebody whose role may not do this.
    pub(super) fn forbidden(&self) -> Response {
        self.refused(&Refused { status: StatusCode::FORBIDDEN, body: Value::Null })
    }

    /// An amount in minor units as the reader's language writes it.
    pub(super) fn money(&self, minor_units: i64, currency: Currency) -> String {
        money::amount(minor_units, currency, self.words.language)
    }

    /// A moment in words, as the interface writes it otherwise.
    pub(super) fn moment(&self, written: &Value) -> String {
        let written = written.as_str().unwrap_or_default();
        Timestamp::parse(written).map_or_else(|| written.to_owned(), |at| self.at(at))
    }

    pub(super) fn at(&self, at: Timestamp) -> String {
        let there = local_day::civil_of(at);
        let time = there.time().strftime("%H:%M:%S").to_string();
        filled(&self.words.t.at_hour, &[("day", &self.words.language.day(there.date())), ("time", &time)])
    }
}

/// The sentences of an error of the interface.
pub(super) fn reasons(body: &Value) -> Vec<String> {
    let error = &body["error"];
    let details = error["details"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let details: Vec<String> = details.map(str::to_owned).collect();
    match (details.is_empty(), error["message"].as_str()) {
        (true, Some(message)) => vec![message.to_owned()],
        (true, None) | (false, _) => details,
    }
}

/// A text with its gaps filled. What fills them is not looked at again.
pub(super) fn filled(text: &str, gaps: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(gaps.iter().find(|(gap, _)| *gap == name).map_or("", |(_, value)| value));
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

/// A value of a query in an address.
pub(super) fn encoded(value: &str) -> String {
    // The interface takes `+` for a plus.
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The currency of a charge.
pub(super) fn currency_of(charge: &Value) -> Option<Currency> {
    charge["currency"].as_str().and_then(Currency::parse)
}

/// An amount of a charge in minor units, in the reader's language.
pub(super) fn amount_of(visit: &Visit, charge: &Value, amount: &Value) -> String {
    match (currency_of(charge), amount.as_i64()) {
        (Some(currency), Some(amount)) => visit.money(amount, currency),
        (_, Some(amount)) => amount.to_string(),
        (_, None) => String::new(),
    }
}

/// The class of a status, by which it has a colour beside its name.
pub(super) fn class_of(status: &str) -> &'static str {
    match status {
        "authorized" => "good",
        "failed" | "charged_back" => "bad",
        "pending" | "pre_authorized" | "capture_pending" | "refund_pending" => "wait",
        _ => "",
    }
}
