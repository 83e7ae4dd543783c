//! Exports the engine's metrics to Prometheus. `sample.rs` reads what is measured at each scrape, `endpoint.rs` serves
//! the page.

mod endpoint;
mod process;
mod sample;

use std::sync::OnceLock;

use metrics::Recorder as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use regente_engine::metrics::{Handles, Kind, Metric, TABLE};

pub use endpoint::Endpoint;

/// The Prometheus page of this process.
static PAGE: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the recorder.
fn start() -> &'static Handles {
    regente_engine::metrics::start(|| {
        let recorder = recorder();
        PAGE.get_or_init(|| recorder.handle());
        Box::new(recorder)
    })
}

/// The recorder with a description of every metric.
fn recorder() -> PrometheusRecorder {
    let mut builder = PrometheusBuilder::new();
    for metric in TABLE {
        if let Kind::Histogram { buckets } = metric.kind {
            builder = builder
                .set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)
                .expect("a table of buckets is not empty");
        }
    }
    let recorder = builder.build_recorder();
    for Metric { name, kind, description, .. } in TABLE {
        let (name, description) = ((*name).into(), (*description).into());
        match kind {
            Kind::Counter => recorder.describe_counter(name, None, description),
            Kind::Gauge => recorder.describe_gauge(name, None, description),
            Kind::Histogram { .. } => recorder.describe_histogram(name, None, description),
        }
    }
    recorder
}
