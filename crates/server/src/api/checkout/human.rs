//! What the page is asked before a buyer pays a session that wants to know whether they are a person.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use serde::Serialize;

use crate::api::path::Path;
use crate::api::query::Query;
use crate::api::sessions;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::idempotency_key;
use crate::human_check::{Operation, Step};

#[derive(Serialize)]
struct ChallengeView {
    challenge: String,
}

/// The challenge for a request with the idempotency key: a payment, unless `operation` names another one.
pub(super) async fn challenge(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let session = sessions::find(&app, &caller, &id).await?;
    let missing = || Error::invalid("X-Idempotency-Key", "should not be empty");
    let key = idempotency_key(&headers)?.ok_or_else(missing)?;
    let operation = query.read(|parameters| parameters.choice("operation", &Operation::WORDS))?;
    let operation = operation.unwrap_or(Operation::Charge);
    let step = Step { session: &session, caller: &caller, operation, key: key.as_str() };
    let challenge = app.human_check.challenge(&app, step).await?;
    Ok(([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Json(ChallengeView { challenge }))
        .into_response())
}
