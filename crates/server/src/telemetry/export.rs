//! Prepares spans for export: gives them the names of the semantic conventions and removes whatever looks like a card
//! number.

use std::borrow::Cow;
use std::time::Duration;

use opentelemetry::trace::{SpanKind, Status};
use opentelemetry::{Array, Key, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use regente_engine::scrub::scrub;

use super::spans::REQUEST;

/// Fields of the log's span and their names in the semantic conventions.
const CONVENTIONS: [(&str, &str); 3] =
    [("method", "http.request.method"), ("route", "http.route"), ("request_id", "regente.request_id")];
/// A field for the log only: an exported span has its trace id anyway.
const TRACE_ID: &str = "trace_id";

/// An exporter that prepares the spans first.
#[derive(Debug)]
pub(super) struct Outgoing<E>(E);

impl<E> Outgoing<E> {
    pub(super) fn new(exporter: E) -> Self {
        Self(exporter)
    }
}

impl<E: SpanExporter> SpanExporter for Outgoing<E> {
    fn export(&self, mut batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        batch.iter_mut().for_each(prepare);
        self.0.export(batch)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn prepare(span: &mut SpanData) {
    if span.name == REQUEST {
        name_request(span);
    }
    clean(&mut span.attributes);
    span.events.events.iter_mut().for_each(|event| clean(&mut event.attributes));
    if let Status::Error { description } = &mut span.status {
        clean_text(description);
    }
}

/// Names a server's span by method and route, or by method alone when no route matched.
fn name_request(span: &mut SpanData) {
    span.span_kind = SpanKind::Server;
    span.attributes.retain(|attribute| {
        let is_unmatched = attribute.key.as_str() == "route" && attribute.value.as_str().is_empty();
        attribute.key.as_str() != TRACE_ID && !is_unmatched
    });
    for attribute in &mut span.attributes {
        if let Some((_, name)) = CONVENTIONS.iter().find(|(field, _)| attribute.key.as_str() == *field) {
            attribute.key = Key::from_static_str(name);
        }
    }
    let words = ["http.request.method", "http.route"].map(|key| {
        let attribute = span.attributes.iter().find(|attribute| attribute.key.as_str() == key)?;
        Some(attribute.value.as_str().into_owned())
    });
    span.name = Cow::Owned(words.into_iter().flatten().collect::<Vec<_>>().join(" "));
}

fn clean(attributes: &mut [KeyValue]) {
    for attribute in attributes {
        // Other attributes are statuses and counts.
        if let Value::String(text) = &mut attribute.value {
            clean_value(text);
        } else if let Value::Array(Array::String(texts)) = &mut attribute.value {
            texts.iter_mut().for_each(clean_value);
        }
    }
}

fn clean_value(text: &mut StringValue) {
    if let Cow::Owned(clean) = scrub(text.as_str().as_bytes()) {
        *text = String::from_utf8_lossy(&clean).into_owned().into();
    }
}

fn clean_text(text: &mut Cow<'static, str>) {
    if let Cow::Owned(clean) = scrub(text.as_bytes()) {
        *text = Cow::Owned(String::from_utf8_lossy(&clean).into_owned());
    }
}
