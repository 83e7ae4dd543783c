//! Gives every request an id, a span and one log line, and logs every 5xx answer once.
//!
//! This is the outermost layer: no answer bypasses it.

use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use futures_util::TryFutureExt;
use regente_engine::caller::RequestId;
use regente_engine::metrics;
use tracing::Instrument;
use uuid::Uuid;

use crate::http::error::{Fault, General};
use crate::http::headers::{self, REQUEST_ID};
use crate::http::{Answered, MonotonicClock};
use crate::telemetry::spans;

/// The most characters of a request id sent by a caller.
pub const REQUEST_ID_CHARS_MAX: usize = 64;

/// The caller's request id: letters, digits, `.`, `_`, `-`. Other characters could forge log lines.
fn of_caller(headers: &HeaderMap) -> Option<RequestId> {
    let text = headers::single(headers, REQUEST_ID).ok()??;
    let is_sane = (1..=REQUEST_ID_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    is_sane.then(|| RequestId::new(text))
}

/// The sources of ids and time.
#[derive(Clone)]
pub struct Boundary {
    /// Makes an id for a request without one.
    pub new_id: Arc<dyn Fn() -> Uuid + Send + Sync>,
    /// The machine's monotonic time since any fixed moment.
    pub now: MonotonicClock,
}

impl fmt::Debug for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Boundary")
    }
}

/// The layer. It must be the outermost one within the router, so that it knows the matched route.
pub(super) fn track<Next: FnOnce(Request) -> Answering, Answering: Future<Output = Answered>>(
    boundary: &Boundary,
    mut request: Request,
    next: Next,
) -> impl Future<Output = Answered> + use<Next, Answering> {
    let id = of_caller(request.headers()).unwrap_or_else(|| RequestId::new(&(boundary.new_id)().to_string()));
    request.extensions_mut().insert(id.clone());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let method = method_name(request.method());
    let span = spans::request(method, route(matched.as_ref()), id.as_str(), request.headers());
    let (answered, now) = (span.clone(), Arc::clone(&boundary.now));
    let started = now();
    let answering = span.in_scope(|| next(request));
    answering
        .map_ok(move |response| {
            let response = settle_fault(response, &id);
            let (duration, route) = (now().saturating_sub(started), route(matched.as_ref()));
            let (status, duration_us) =
                (response.status().as_u16(), u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
            metrics::http_request(method, route, status, duration);
            tracing::info!(status, duration_us, "request answered");
            spans::end_request(&answered, status);
            with_id(response, &id)
        })
        .instrument(span)
}

/// Logs the cause of a 5xx answer, and writes the request id into its body.
fn settle_fault(mut response: Response, id: &RequestId) -> Response {
    let Some(fault) = response.extensions_mut().remove::<Fault>() else {
        return response;
    };
    fault.log(response.status());
    let general = response.extensions_mut().remove::<General>();
    let Some(body) = general.and_then(|general| general.signed_body(id.as_str())) else {
        return response;
    };
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

fn with_id(mut response: Response, id: &RequestId) -> Response {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// The matched route, with its parameters' names.
fn route(matched: Option<&MatchedPath>) -> &str {
    matched.map_or("", MatchedPath::as_str)
}

/// The method, or `_OTHER` for an unknown one (OpenTelemetry): callers may invent methods, and the set must be bounded.
fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "_OTHER",
    }
}
