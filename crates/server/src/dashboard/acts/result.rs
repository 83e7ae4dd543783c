//! What has become of an act. What is neither done nor clearly refused is shown as unknown.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::Value;

use super::super::api::Refused;
use super::super::layout::{Layout, page_with};
use super::super::visit::{Visit, reasons};
use super::Act;

/// The class of an error that leaves open what has become of a request that was made before.
const CONFLICT: &str = "conflict";
/// The message of those of them that say that it is under way.
const PROCESSING: &str = "Transaction is processing";

#[derive(Template)]
#[template(path = "dashboard/act-refused.html")]
struct RefusedPage<'a> {
    layout: Layout<'a>,
    id: &'a str,
    reasons: &'a [&'a str],
}

#[derive(Template)]
#[template(path = "dashboard/act-unknown.html")]
struct UnknownPage<'a> {
    layout: Layout<'a>,
    act: Act,
    id: &'a str,
    csrf: &'a str,
    key: &'a str,
    amount: i64,
}

/// An act that was sent to the interface.
pub(super) struct Done<'a> {
    pub(super) act: Act,
    pub(super) id: &'a str,
    pub(super) key: &'a str,
    pub(super) amount: i64,
}

impl Done<'_> {
    /// The interface has answered with the charge.
    pub(super) fn answered(&self, visit: &Visit, charge: &Value) -> Response {
        if matches!(charge["status"].as_str(), Some("capture_pending" | "refund_pending")) {
            return self.unknown(visit);
        }
        let requests = charge["transactionRequests"].as_array().into_iter().flatten();
        let mut own = requests.filter(|request| request["requestType"] == self.act.operation());
        let newest = own.next().unwrap_or(&Value::Null);
        match newest["requestStatus"].as_str() {
            Some("success") => {
                let address = format!("/dashboard/charges/{}?done={}", self.id, self.act.word());
                Redirect::to(&address).into_response()
            }
            Some("failed" | "timeout" | "internal_error") => {
                let message = newest["providerError"]["message"].as_str();
                refused(visit, self.id, message.as_slice())
            }
            Some(_) | None => self.unknown(visit),
        }
    }

    /// The interface has answered with an error.
    pub(super) fn not_answered(&self, visit: &Visit, error: &Refused) -> Response {
        if error.status == StatusCode::NOT_FOUND {
            return visit.refused(error);
        }
        let told = &error.body["error"];
        let is_under_way = told["type"] == CONFLICT && told["message"] == PROCESSING;
        // A client error is an answer of the interface before it has done anything.
        if error.status.is_client_error() && !is_under_way && told.is_object() {
            let reasons = reasons(&error.body);
            let reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
            return refused(visit, self.id, &reasons);
        }
        self.unknown(visit)
    }

    fn unknown(&self, visit: &Visit) -> Response {
        let page = UnknownPage {
            layout: visit.layout(&visit.words.t.act_unknown),
            act: self.act,
            id: self.id,
            csrf: &visit.who.csrf,
            key: self.key,
            amount: self.amount,
        };
        page_with(StatusCode::ACCEPTED, &page)
    }
}

/// The page of an act that was refused, with what is told of it.
pub(super) fn refused(visit: &Visit, id: &str, reasons: &[&str]) -> Response {
    let page = RefusedPage { layout: visit.layout(&visit.words.t.act_refused), id, reasons };
    page_with(StatusCode::CONFLICT, &page)
}
