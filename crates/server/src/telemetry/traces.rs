//! Traces by OTLP over HTTP, as the standard `OTEL_…` variables say; off unless one of them asks for traces.
//!
//! Sampling, batches and the resource are the SDK's business, and so are the variables about them.

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

/// What the service is called unless a variable names it.
const SERVICE_NAME: &str = "regente";
/// The variables that say where traces go; without them it is this machine, without TLS.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// How long sending one batch may take (the default of OTLP).
const EXPORT_TIME_MAX: Duration = Duration::from_secs(10);
/// At the end of the process: how long sending what is left may take.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(5);

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// A variable asks for something that this release does not have.
    #[error("{variable} is `{value}`; this release exports traces by {known}")]
    NotKnown {
        /// The variable.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        known: &'static str,
    },
    /// There is no HTTP client.
    #[error("no HTTP client for traces")]
    Client(#[source] reqwest::Error),
    /// A variable is wrong.
    #[error("traces cannot be exported")]
    Exporter(#[source] ExporterBuildError),
}

/// The traces of the process. What is left of them is sent when this is dropped.
#[derive(Debug)]
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// None.
    pub(super) fn off() -> Self {
        Self(None)
    }

    /// As the variables of the process say.
    pub(super) fn from_environment() -> Result<Self, TracesError> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&'static str) -> Option<String>) -> Result<Self, TracesError> {
        if !is_on(&variable)? {
            return Ok(Self::off());
        }
        // The exporter's thread has no runtime of its own; a proxy is not taken from the environment.
        let client = reqwest::blocking::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(EXPORT_TIME_MAX);
        // Without TLS a machine that knows no authorities will do.
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

    /// The layer that makes traces of spans.
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

/// Who sends: what the environment says is stronger than what is said here.
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
