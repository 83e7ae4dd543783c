//! Runs the long-lived processes, and `migrate`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use regente_engine::clock::Clock;
use regente_store::Distributing;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::Failure;
use crate::admin::AdminSocket;
use crate::api::router::Pages;
use crate::app::App;
use crate::bootstrap::{self, Migrations, Missing};
use crate::config::{Config, Loaded};
use crate::metrics::Endpoint;
use crate::serve::{self, Certificate, Jobs, Signals};
use crate::settlement::daily;
use crate::telemetry;

/// Why a process cannot listen.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListenError {
    /// The address is in use.
    #[error(
        "{0} is in use by another process; choose another port with `--listen ADDR:PORT` (port 0: any free one)"
    )]
    InUse(SocketAddr),
    /// The address is wrong, or this user may not use it.
    #[error("cannot listen on {0}; choose another address with `--listen ADDR:PORT`")]
    Refused(SocketAddr, #[source] io::Error),
}

/// Serves the API until a signal to stop.
pub(super) fn serve(loaded: &Loaded, migrations: Migrations) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let _traces = telemetry::start_with_traces(&config.log)?;
    config.check_strength()?;
    runtime()?.block_on(async {
        let signals = Signals::take_for_service()?;
        let listeners = listen(config)?;
        let address = listeners.api.local_addr()?;
        let config = &config.clone().listening_at(address);
        let app = bootstrap::open(config, migrations, Missing::Refuse).await?;
        tracing::info!(%address, mode = ?config.mode, database = %app.store.database_kind(), "serving");
        let socket = open_socket(&app, config, address)?;
        serve_until_stopped(app, Pages::default(), config, listeners, socket, signals).await
    })
}

/// Runs only jobs until a signal to stop.
pub(super) fn work(loaded: &Loaded) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let _traces = telemetry::start_with_traces(&config.log)?;
    config.check_strength()?;
    runtime()?.block_on(async {
        let signals = Signals::take_for_service()?;
        if config.database_address()?.folder().is_some() {
            return Err("`regente work` needs PostgreSQL; on SQLite `regente serve` runs the jobs".into());
        }
        let metrics = listen_for_metrics(config)?;
        let app = bootstrap::open(config, Migrations::ApplyToSqlite, Missing::Refuse).await?;
        let _metrics = open_metrics(metrics, &app)?;
        serve::work(&app, Duration::from_millis(config.server.drain_timeout_ms), signals).await;
        app.store.close().await;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

/// Applies pending migrations, and distributes the tables if that is asked for.
pub(super) fn migrate(loaded: &Loaded, distributed: bool) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    runtime()?.block_on(async {
        let database = bootstrap::find_database(config, Missing::Make)?;
        let store = bootstrap::open_store(database, &Clock::system(), Migrations::Apply).await?;
        let version = store.schema_version().await;
        let distributing = if distributed { store.distribute(&show).await } else { Ok(()) };
        store.close().await;
        writeln!(io::stdout(), "The schema is at version {}.", version?)?;
        distributing?;
        if distributed {
            writeln!(io::stdout(), "The tables are distributed by account.")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn show(step: Distributing) {
    // Who reads it may have closed the pipe; the work goes on.
    let _shown = match step {
        Distributing::Table { table, nth, of } => writeln!(io::stderr(), "{nth} of {of} tables: {table}"),
        Distributing::Rebalancing { moved, of } => {
            writeln!(io::stderr(), "{moved} of {of} groups of shards have moved")
        }
    };
}

/// The listening socket of a server and its certificate.
pub(super) struct Listeners {
    pub(super) api: TcpListener,
    certificate: Option<Certificate>,
    metrics: Option<TcpListener>,
}

/// Listens on the address of the configuration.
pub(super) fn listen(config: &Config) -> Result<Listeners, Failure> {
    Ok(Listeners {
        certificate: Certificate::load(config)?,
        api: listen_on(config.listen_address()?)?,
        metrics: listen_for_metrics(config)?,
    })
}

fn listen_for_metrics(config: &Config) -> Result<Option<TcpListener>, Failure> {
    Ok(config.metrics_address()?.map(listen_on).transpose()?)
}

fn listen_on(address: SocketAddr) -> Result<TcpListener, ListenError> {
    serve::listen(address).map_err(|error| {
        if error.kind() == io::ErrorKind::AddrInUse {
            ListenError::InUse(address)
        } else {
            ListenError::Refused(address, error)
        }
    })
}

fn open_metrics(listener: Option<TcpListener>, app: &App) -> Result<Option<Endpoint>, Failure> {
    let endpoint = listener.map(|listener| Endpoint::open(listener, app.clone())).transpose()?;
    if let Some(endpoint) = &endpoint {
        tracing::info!(address = %endpoint.address(), "metrics are served");
    }
    Ok(endpoint)
}

/// Serves the interface and further pages until a signal to stop, then closes the database.
pub(super) async fn serve_until_stopped(
    app: App,
    pages: Pages,
    config: &Config,
    listeners: Listeners,
    socket: Option<AdminSocket>,
    signals: Signals,
) -> Result<ExitCode, Failure> {
    let Listeners { api, certificate, metrics } = listeners;
    let _metrics = open_metrics(metrics, &app)?;
    let log = app.simulator_log.as_ref();
    let _files = log.map(|log| daily::begin(log, &config.sandbox_books(), &app.clock));
    let served = serve::serve(&app, pages, api, certificate, &config.server, Jobs::Run, signals).await;
    // The socket is removed first: once the database is closed, the next server may open its own there.
    drop(socket);
    app.store.close().await;
    tracing::info!("stopped");
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the socket for commands beside an embedded database, for a server that listens at `address`. When that fails,
/// the API is served all the same.
pub(super) fn open_socket(
    app: &App,
    config: &Config,
    address: SocketAddr,
) -> Result<Option<AdminSocket>, Failure> {
    let database = config.database_address()?;
    let Some(folder) = database.folder() else { return Ok(None) };
    // `address` holds the real port where the configuration says 0.
    let mut config = config.clone();
    config.server.listen = address.to_string();
    match AdminSocket::open(folder, app.clone(), config) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) => {
            tracing::warn!(
                folder = %folder.display(), %error,
                "no socket for commands: `regente keys` and the like work only while the server is stopped"
            );
            Ok(None)
        }
    }
}

/// The asynchronous runtime of this process.
pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
