//! The spans that are exported as traces, and their fields: ids and words of closed lists. The only text of a caller is
//! the request id; errors and log lines are not exported.

use axum::http::HeaderMap;
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanContext, Status, TraceContextExt, TraceId, TraceState};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Level, Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The header with the caller's trace (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";
/// The span of a request; its fields appear in log lines.
pub(super) const REQUEST: &str = "http.request";
/// The targets of exported spans.
const EXPORTED: [&str; 3] = [module_path!(), regente_engine::spans::TARGET, regente_store::COMMIT_SPANS];

/// Whether a span is exported. Events never are.
pub(super) fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && EXPORTED.contains(&metadata.target())
}

/// Whether a span or event belongs in the log: all but the spans that only traces show.
pub(super) fn is_logged(metadata: &Metadata<'_>) -> bool {
    !is_exported(metadata) || metadata.name() == REQUEST
}

/// Whether a span is exported at every level of the log.
pub(super) fn is_exported_always(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::INFO
}

/// The span of a request, within the caller's trace.
pub fn request(method: &'static str, route: &str, request_id: &str, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        "http.request",
        method,
        route,
        request_id = %request_id,
        trace_id = tracing::field::Empty
    );
    if let Some(trace_id) = join_trace(&span, headers) {
        span.record("trace_id", tracing::field::display(trace_id));
    }
    span
}

/// Puts the span into the caller's trace, or into a new one when traces are exported. Without an exporter the caller's
/// trace id is only a field of the log.
fn join_trace(span: &Span, headers: &HeaderMap) -> Option<TraceId> {
    let is_asked = headers.contains_key(TRACEPARENT);
    let of_caller = is_asked.then(|| trace_of_caller(headers));
    let of_span = match of_caller.clone() {
        // Only an exporter needs the parent.
        Some(parent) => span.set_parent(parent).ok().map(|()| span.context()),
        None => Some(span.context()),
    };
    let trace_id = |context: &Context| {
        let trace_id = context.span().span_context().trace_id();
        (trace_id != TraceId::INVALID).then_some(trace_id)
    };
    of_span.as_ref().and_then(trace_id).or_else(|| of_caller.as_ref().and_then(trace_id))
}

/// The ids and flags of `traceparent`. `tracestate` is dropped: it is the caller's text, and an exporter would pass it
/// on unchanged.
fn trace_of_caller(headers: &HeaderMap) -> Context {
    let told = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    let told = told.span().span_context().clone();
    let ids = SpanContext::new(
        told.trace_id(),
        told.span_id(),
        told.trace_flags(),
        told.is_remote(),
        TraceState::NONE,
    );
    Context::new().with_remote_span_context(ids)
}

/// Records the status of the answer.
pub fn end_request(span: &Span, status: u16) {
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_attribute("error.type", status.to_string());
        span.set_status(Status::error(""));
    }
}
