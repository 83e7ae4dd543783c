//! The error body of prepayments (`docs/interface/prepayment.md#errors`): a code and a sentence. What is wrong with a request, with
//! its account or with the service is answered in the general envelope.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoResponses, ToSchema};

use crate::http::error::{CommonErrors, ErrorBody, ForbiddenBody};

/// The code of an error of prepayments: its HTTP status behind a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PrepaymentErrorCode)]
pub enum PrepaymentErrorCode {
    /// Not sent: the general envelope is.
    #[serde(rename = "I-400")]
    BadRequest,
    /// Not sent: the general envelope is.
    #[serde(rename = "I-401")]
    Unauthorized,
    /// The account is not enabled.
    #[serde(rename = "I-403")]
    Forbidden,
    /// There is no such prepayment, or there are no receivables.
    #[serde(rename = "I-404")]
    NotFound,
    /// It is not pending any more, or the idempotency key is in use.
    #[serde(rename = "I-409")]
    Conflict,
    /// Nothing is available, or the receivables have changed.
    #[serde(rename = "I-422")]
    Unprocessable,
}

impl PrepaymentErrorCode {
    /// That of a status; `None` for those of the general envelope.
    const fn of_status(status: u16) -> Option<Self> {
        match status {
            403 => Some(Self::Forbidden),
            404 => Some(Self::NotFound),
            409 => Some(Self::Conflict),
            422 => Some(Self::Unprocessable),
            _ => None,
        }
    }
}

/// Why a prepayment is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PrepaymentError, example = json!({
    "code": "I-422", "networkDeniedMessage": "no receivables available for the period"
}))]
pub struct PrepaymentErrorBody {
    /// The class of the error.
    code: PrepaymentErrorCode,
    /// One sentence in English.
    #[schema(value_type = String)]
    network_denied_message: Cow<'static, str>,
}

/// An error of the general interface in the body of prepayments; `None` where the general envelope holds.
pub fn in_own_body(error: ErrorBody) -> Option<PrepaymentErrorBody> {
    let code = PrepaymentErrorCode::of_status(error.code)?;
    Some(PrepaymentErrorBody { code, network_denied_message: error.message })
}

/// The error answers of the list of receivables.
#[derive(Debug)]
pub enum ReceivablesErrors {}

impl IntoResponses for ReceivablesErrors {
    fn responses() -> Responses {
        let mut responses = CommonErrors::responses();
        responses.insert("403".to_owned(), forbidden());
        responses
    }
}

/// The error answers of a simulation.
#[derive(Debug)]
pub enum SimulationErrors {}

impl IntoResponses for SimulationErrors {
    fn responses() -> Responses {
        let mut responses = ReceivablesErrors::responses();
        responses.extend(own([
            ("404", "There are no receivables of the platform's own provider."),
            ("409", "The idempotency key is in use."),
            ("422", "Nothing is available for the period."),
        ]));
        responses
    }
}

/// The error answers of reading a prepayment.
#[derive(Debug)]
pub enum ReadErrors {}

impl IntoResponses for ReadErrors {
    fn responses() -> Responses {
        let mut responses = CommonErrors::responses();
        responses.extend(own([("404", "There is no such prepayment.")]));
        responses
    }
}

/// The error answers of a commit.
#[derive(Debug)]
pub enum CommitErrors {}

impl IntoResponses for CommitErrors {
    fn responses() -> Responses {
        let mut responses = ReadErrors::responses();
        responses.extend(own([
            (
                "409",
                "It is not pending any more, it is past 15:00 in Brasilia, or the idempotency key is in use.",
            ),
            ("422", "The receivables have changed since the simulation."),
        ]));
        responses
    }
}

type Responses = BTreeMap<String, RefOr<Response>>;

fn own<const COUNT: usize>(errors: [(&str, &str); COUNT]) -> Responses {
    let described = |(status, text): (&str, &str)| {
        let schema = Ref::from_schema_name(PrepaymentErrorBody::name());
        (status.to_owned(), response(text, schema))
    };
    errors.into_iter().map(described).collect()
}

/// An account that is not enabled, or a refused key.
fn forbidden() -> RefOr<Response> {
    let either = OneOfBuilder::new()
        .item(Ref::from_schema_name(PrepaymentErrorBody::name()))
        .item(Ref::from_schema_name(ForbiddenBody::name()));
    response("The account is not enabled; or the key is refused, which is answered as everywhere.", either)
}

fn response(description: &str, schema: impl Into<RefOr<Schema>>) -> RefOr<Response> {
    let content = ContentBuilder::new().schema(Some(schema)).build();
    RefOr::T(ResponseBuilder::new().description(description).content("application/json", content).build())
}
