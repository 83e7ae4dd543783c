//! The spans of this crate that are exported as traces, with their fields. Fields contain only ids and words of closed
//! lists.

use std::fmt;

use regente_domain::provider_type::ProviderType;
use tracing::Span;

/// The target of these spans.
pub const TARGET: &str = module_path!();

/// The span of a call to a provider or of a probe.
pub fn provider_call(provider_type: ProviderType, operation: &'static str) -> Span {
    tracing::info_span!(
        "provider.call",
        otel.kind = "client",
        otel.name = %SpacedPair(operation, provider_type.code()),
        regente.provider.r#type = provider_type.code(),
        regente.operation = operation,
        regente.outcome = tracing::field::Empty
    )
}

/// Records how a call to a provider ended.
pub fn end_provider_call(span: &Span, outcome: &'static str) {
    span.record("regente.outcome", outcome);
}

struct SpacedPair(&'static str, &'static str);

impl fmt::Display for SpacedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}
