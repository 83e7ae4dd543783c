//! Adds cross-origin headers to the routes that a merchant's page may call from a browser
//! (`docs/interface/conventions.md#cross-origin`).
//!
//! Answers carry the headers whatever their status: a browser hides an answer without them, and shipped checkouts need
//! the hidden errors. So this is the outermost layer except for the request id.

use std::future::ready;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::TryFutureExt;
use futures_util::future::Either;

use crate::http::Answered;

const ALLOWED_HEADERS: HeaderValue =
    HeaderValue::from_static("content-type,x-api-key,x-captcha-token,x-client-id,x-idempotency-key");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET,POST,OPTIONS");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("x-request-id, retry-after, idempotent-replayed, x-captcha-challenge");
/// How long a browser may cache the answer to a preflight request.
const SECONDS_MAX: HeaderValue = HeaderValue::from_static("600");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");

/// The layer. Keys travel in headers and not in cookies, so every origin may call. A preflight request carries no key
/// and is answered here.
pub(super) fn answer<Next: Future<Output = Answered>>(
    request: Request,
    next: impl FnOnce(Request) -> Next,
) -> impl Future<Output = Answered> {
    let is_open = is_open_to_pages(request.uri().path());
    if is_open && request.method() == Method::OPTIONS {
        let preflight: [(HeaderName, HeaderValue); 4] = [
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
            (header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
            (header::ACCESS_CONTROL_MAX_AGE, SECONDS_MAX),
        ];
        return Either::Left(ready(Ok((StatusCode::NO_CONTENT, preflight).into_response())));
    }
    Either::Right(next(request).map_ok(move |mut response| {
        if is_open {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
        response
    }))
}

/// Whether the path is `/v1/tokens`, `/v1/cards*`, `/v1/charges*`, `/v1/customers*` or below `/v1/sessions`.
fn is_open_to_pages(path: &str) -> bool {
    let Some(path) = path.strip_prefix("/v1/") else {
        return false;
    };
    match path.split_once('/') {
        None => matches!(path, "tokens" | "cards" | "charges" | "customers"),
        Some((resource, _)) => matches!(resource, "cards" | "charges" | "customers" | "sessions"),
    }
}
