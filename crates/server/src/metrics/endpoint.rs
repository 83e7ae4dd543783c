//! Serves `GET /metrics` on a port of its own, separate from the API.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use regente_engine::metrics::Handles;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use super::PAGE;
use super::sample::Sampler;
use crate::app::App;
use crate::serve::{self, Limits};

/// The text format of Prometheus.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How often durations are aggregated while nobody reads the page.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// Enough for a few scrapers and their retries.
const LIMITS: Limits = Limits { connections_max: 64, header_timeout: Duration::from_secs(10) };

/// The page's server; it runs until this is dropped, also while the process drains.
pub struct Endpoint {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Endpoint {
    /// Installs the recorder and serves the page.
    ///
    /// # Errors
    /// The listener failed.
    pub fn open(listener: TcpListener, app: App) -> io::Result<Self> {
        let handles = super::start();
        let address = listener.local_addr()?;
        handles.build_info(env!("CARGO_PKG_VERSION"), &app.store.database_kind().to_string());
        let page = Router::new().route("/metrics", get(show)).with_state(Arc::new(Page {
            app,
            handles,
            sampler: Sampler::default(),
        }));
        let mut tasks = JoinSet::new();
        let _serving: AbortHandle = tasks.spawn(async move {
            if let Err(error) = serve::serve_plain(page, listener, LIMITS).await {
                tracing::error!(%error, "the metrics page is no longer served");
            }
        });
        let _upkeep: AbortHandle = tasks.spawn(async {
            loop {
                tokio::time::sleep(UPKEEP_EVERY).await;
                if let Some(page) = PAGE.get() {
                    // Aggregates what was recorded since the last time; otherwise durations pile up in memory.
                    page.run_upkeep();
                }
            }
        });
        Ok(Self { address, _tasks: tasks })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

struct Page {
    app: App,
    handles: &'static Handles,
    sampler: Sampler,
}

async fn show(State(page): State<Arc<Page>>) -> Response {
    page.sampler.refresh(&page.app, page.handles).await;
    let text = PAGE.get().map(PrometheusHandle::render).unwrap_or_default();
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}
