//! Sets up the log on standard error, as text or JSON, and the export of traces. Whatever looks like a card number is
//! removed as the last step before a line or a span leaves the process.
//!
//! The request id comes from the request's span (`api/request_id.rs`).

mod export;
pub mod spans;
mod traces;

use std::io::{self, Write};

use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

pub use regente_engine::scrub::scrub;
pub use traces::{Traces, TracesError};

use crate::config::{LogConfig, LogFormat};

/// The log cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The level is invalid.
    #[error("`log.level` cannot be read")]
    Level(#[source] tracing_subscriber::filter::ParseError),
    /// The process has a log already.
    #[error("the log is set up already")]
    Twice(#[source] tracing_subscriber::util::TryInitError),
    /// A variable of traces is invalid.
    #[error(transparent)]
    Traces(#[from] TracesError),
}

/// Sets up the log of the process, once. For commands, which export no traces.
///
/// # Errors
/// [`TelemetryError::Level`], [`TelemetryError::Twice`].
pub fn start(log: &LogConfig) -> Result<(), TelemetryError> {
    start_both(log, &Traces::off())
}

/// Sets up log and traces of the process, once and outside of a runtime. For processes that serve or work. Dropping the
/// result sends the remaining traces.
///
/// # Errors
/// As [`start`], and [`TelemetryError::Traces`].
pub fn start_with_traces(log: &LogConfig) -> Result<Traces, TelemetryError> {
    let traces = Traces::from_environment()?;
    start_both(log, &traces)?;
    Ok(traces)
}

fn start_both(log: &LogConfig, traces: &Traces) -> Result<(), TelemetryError> {
    let level = || EnvFilter::try_new(&log.level).map_err(TelemetryError::Level);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match log.format {
        LogFormat::Human => Box::new(human(io::stderr)),
        LogFormat::Json => Box::new(json(io::stderr)),
    };
    let mut layers = vec![lines.with_filter(level()?.and(filter_fn(spans::is_logged))).boxed()];
    if let Some(layer) = traces.layer() {
        // The log's level may export more spans, never fewer.
        let chosen = filter_fn(spans::is_exported_always).or(level()?);
        layers.push(layer.with_filter(filter_fn(spans::is_exported).and(chosen)).boxed());
    }
    Registry::default().with(layers).try_init().map_err(TelemetryError::Twice)
}

/// The layer that writes text.
pub fn human<W>(to: W) -> impl Layer<Registry> + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    fmt::layer().with_writer(Scrubbed(to)).with_ansi(false).with_target(false)
}

/// The layer that writes JSON: `timestamp`, `level`, `message`, the fields of the event, and in `span` those of the
/// span, such as `request_id`.
pub fn json<W>(to: W) -> impl Layer<Registry> + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_writer(Scrubbed(to))
}

/// Makes writers that remove card numbers.
struct Scrubbed<W>(W);

/// Removes card numbers from each line. The formatter writes a line in one call.
struct ScrubbingWriter<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Scrubbed<W> {
    type Writer = ScrubbingWriter<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        ScrubbingWriter(self.0.make_writer())
    }

    fn make_writer_for(&'a self, meta: &tracing::Metadata<'_>) -> Self::Writer {
        ScrubbingWriter(self.0.make_writer_for(meta))
    }
}

impl<W: Write> Write for ScrubbingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(&scrub(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
