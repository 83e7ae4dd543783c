//! The spans of this crate that leave the process as traces, with what each may carry. Ids and words of closed sets only.

use std::fmt;

use regente_domain::provider_type::ProviderType;
use tracing::Span;

/// The target that these spans are recognized by.
pub const TARGET: &str = module_path!();

/// The span of a call to a provider, or of a question about one.
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

/// How a call to a provider ended.
pub fn end_provider_call(span: &Span, outcome: &'static str) {
    span.record("regente.outcome", outcome);
}

struct SpacedPair(&'static str, &'static str);

impl fmt::Display for SpacedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}
