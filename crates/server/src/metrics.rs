//! What the engine counts and measures, shown to Prometheus: `sample.rs` is what is looked at only when somebody asks,
//! `endpoint.rs` the page.

mod endpoint;
mod process;
mod sample;

use std::sync::OnceLock;

use metrics::Recorder as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use regente_engine::metrics::{Handles, Kind, Metric, TABLE};

pub use endpoint::Endpoint;

/// The page of everything that is counted in this process.
static PAGE: OnceLock<PrometheusHandle> = OnceLock::new();

/// Turns measuring on: from now on everything is counted.
fn start() -> &'static Handles {
    regente_engine::metrics::start(|| {
        let recorder = recorder();
        PAGE.get_or_init(|| recorder.handle());
        Box::new(recorder)
    })
}

/// The recorder, with every metric described.
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
