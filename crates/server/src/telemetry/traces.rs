//! Exports traces by OTLP over HTTP, as the standard `OTEL_…` variables say; off unless one of them asks for traces.
//!
//! The SDK reads the variables about sampling, batches and the resource.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use super::export::Outgoing;

/// The default name of the service.
const SERVICE_NAME: &str = "regente";
/// The variables with the address of the collector; without them it is this machine, without TLS.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// How long sending a batch may take (the default of OTLP).
const EXPORT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long sending the remaining spans may take at the end of the process.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(5);

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// A variable asks for something that this release does not support.
    #[error("{variable} is `{value}`; this release exports traces by {known}")]
    NotKnown {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The supported values.
        known: &'static str,
    },
    /// The HTTP client cannot be made.
    #[error("no HTTP client for traces")]
    Client(#[source] reqwest::Error),
    /// A variable is invalid.
    #[error("traces cannot be exported")]
    Exporter(#[source] ExporterBuildError),
}

/// The traces of the process. Dropping this sends the remaining spans.
#[derive(Debug)]
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// No traces.
    pub(super) fn off() -> Self {
        Self(None)
    }

    /// Traces as the process's variables say.
    pub(super) fn from_environment() -> Result<Self, TracesError> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&'static str) -> Option<String>) -> Result<Self, TracesError> {
        if !is_on(&variable)? {
            return Ok(Self::off());
        }
        // The exporter's thread has no runtime of its own, so the client is blocking. It uses no proxy from the
        // environment.
        let client = reqwest::blocking::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(EXPORT_TIME_MAX);
        // A client without TLS needs no root certificates.
        let is_secret = ENDPOINTS.into_iter().filter_map(&variable).any(|url| url.starts_with("https:"));
        let client = if is_secret { client } else { client.tls_certs_only([]) };
        let client = client.build().map_err(TracesError::Client)?;
        let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().with_http_client(client);
        let exporter = exporter.build().map_err(TracesError::Exporter)?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Outgoing::new(exporter))
            .with_resource(resource(&variable))
            .build();
        Ok(Self(Some(provider)))
    }

    /// The layer that turns spans into traces.
    pub(super) fn layer<S>(&self) -> Option<OpenTelemetryLayer<S, SdkTracer>>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let tracer = self.0.as_ref()?.tracer(SERVICE_NAME);
        let layer = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        Some(layer)
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        let Some(provider) = self.0.take() else { return };
        match provider.shutdown_with_timeout(FLUSH_TIME_MAX) {
            Ok(()) | Err(OTelSdkError::AlreadyShutdown) => {}
            Err(error) => tracing::warn!(%error, "the last traces were not sent"),
        }
    }
}

fn is_on(variable: &impl Fn(&'static str) -> Option<String>) -> Result<bool, TracesError> {
    const EXPORTER: &str = "OTEL_TRACES_EXPORTER";
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(false);
    }
    let is_on = match variable(EXPORTER).as_deref() {
        Some("none") => false,
        Some("otlp") => true,
        None => ENDPOINTS.into_iter().any(|name| variable(name).is_some()),
        Some(other) => {
            let known = "`otlp` or not (`none`)";
            return Err(TracesError::NotKnown { variable: EXPORTER, value: other.to_owned(), known });
        }
    };
    let protocols = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
    let protocol = protocols.into_iter().find_map(|name| Some((name, variable(name)?)));
    match protocol {
        Some((variable, value)) if is_on && value != "http/protobuf" => {
            Err(TracesError::NotKnown { variable, value, known: "`http/protobuf`" })
        }
        Some(_) | None => Ok(is_on),
    }
}

/// The service's description; the environment overrides the defaults given here.
fn resource(variable: &impl Fn(&'static str) -> Option<String>) -> Resource {
    let own = [
        KeyValue::new("service.name", SERVICE_NAME),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let resource = Resource::builder_empty()
        .with_attributes(own)
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match variable("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}
