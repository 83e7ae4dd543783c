//! Connects to PostgreSQL: parses the address, sets up TLS and configures each connection.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{TryStreamExt, stream};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::DbError;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::{PostgresOptions, Transport};
use crate::error::StoreError;

/// The application name of our connections in the server's lists.
const APPLICATION_NAME: &str = "regente";
/// Idle time after which the kernel probes the server.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
/// A connection counts as lost when the server acknowledges no data for this long.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(15);

/// Makes connections.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// What each connection runs first: it fails on any other server than the one that is meant.
    check: Option<String>,
}

impl Connector {
    pub(super) fn new(options: &PostgresOptions) -> Result<Self, StoreError> {
        let (mut config, encryption) = parse(&options.url)?;
        if config.get_application_name().is_none() {
            config.application_name(APPLICATION_NAME);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
        }
        config.keepalives_idle(KEEPALIVE_IDLE).connect_timeout(options.connect_timeout);
        let tls = match encryption {
            Encryption::Plain => {
                config.ssl_mode(SslMode::Disable);
                None
            }
            Encryption::Verified => {
                config.ssl_mode(SslMode::Require);
                Some(MakeRustlsConnect::new(tls_config()?))
            }
        };
        Ok(Self { config, tls, check: None })
    }

    /// A connection, and the task that drives it until it ends.
    pub(super) async fn connect(&self) -> Result<(Client, JoinHandle<()>), Error> {
        self.connect_with(&self.config).await
    }

    /// Runs `asking` on a connection of its own; the notices that the server has sent meanwhile.
    pub(super) async fn notices(
        &self,
        asking: impl AsyncFnOnce(&Client) -> Result<(), Error>,
    ) -> Result<Vec<DbError>, Error> {
        match &self.tls {
            None => notices(self.config.connect(NoTls).await?, asking).await,
            Some(tls) => notices(self.config.connect(tls.clone()).await?, asking).await,
        }
    }

    async fn connect_with(&self, config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, task) = match &self.tls {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                (client, tokio::spawn(log_end(connection)))
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                (client, tokio::spawn(log_end(connection)))
            }
        };
        if let Some(check) = &self.check {
            client.batch_execute(check).await?;
        }
        Ok((client, task))
    }

    /// To a worker of a distributed database, by the same user, with the same name of the database. Each connection fails where the
    /// address leads to another server from here than from the coordinator. Where the coordinator needs no TLS since its address does
    /// not leave the machine, that of the worker must not leave it either.
    pub(super) fn to_worker(&self, number: i32, host: &str, port: u16) -> Result<Self, StoreError> {
        // The driver can add hosts to a configuration, but take none away.
        let (known, mut config) = (&self.config, Config::new());
        config.host(host).port(port).ssl_mode(known.get_ssl_mode());
        config.ssl_negotiation(known.get_ssl_negotiation()).channel_binding(known.get_channel_binding());
        config.target_session_attrs(known.get_target_session_attrs());
        config.keepalives(known.get_keepalives()).keepalives_idle(known.get_keepalives_idle());
        known.get_keepalives_interval().map(|interval| config.keepalives_interval(interval));
        known.get_keepalives_retries().map(|retries| config.keepalives_retries(retries));
        known.get_user().map(|user| config.user(user));
        known.get_password().map(|password| config.password(password));
        known.get_dbname().map(|name| config.dbname(name));
        known.get_options().map(|options| config.options(options));
        known.get_application_name().map(|name| config.application_name(name));
        known.get_connect_timeout().map(|limit| config.connect_timeout(*limit));
        known.get_tcp_user_timeout().map(|limit| config.tcp_user_timeout(*limit));
        if self.tls.is_none() && stays_on_this_machine(known) && !stays_on_this_machine(&config) {
            return Err(StoreError::Configuration(format!(
                "the worker {host}:{port} is connected to across a network: add `sslmode=require` to the address of the database, or \
                 set `database.postgres_connect_to_workers = false`"
            )));
        }
        let check = format!(
            "DO $$ BEGIN IF NOT EXISTS (
                 SELECT FROM pg_dist_local_group JOIN pg_dist_node USING (groupid)
                 WHERE groupid = {number} AND noderole = 'primary' AND nodename = {} AND nodeport = {port}
             ) THEN RAISE EXCEPTION 'this server is not the worker {number} that the coordinator means'; END IF; END $$",
            quoted(host)
        );
        Ok(Self { config, tls: self.tls.clone(), check: Some(check) })
    }

    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }
}

impl deadpool_postgres::Connect for Connector {
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let config = config.clone();
        Box::pin(async move { self.connect_with(&config).await })
    }
}

/// What protects a connection to this address.
pub(super) fn transport(url: &str) -> Result<Transport, StoreError> {
    let (config, encryption) = parse(url)?;
    Ok(match encryption {
        Encryption::Verified => Transport::Encrypted,
        Encryption::Plain if stays_on_this_machine(&config) => Transport::Local,
        Encryption::Plain => Transport::Plain,
    })
}

/// Whether every server that the address names is reached without a network. Where it names numeric addresses
/// (`hostaddr`), they are connected to and not the names beside them.
fn stays_on_this_machine(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
    })
}

/// A text as SQL writes it inside of `$$ … $$`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('$', ""))
}

async fn notices<S, T>(
    (client, mut connection): (Client, Connection<S, T>),
    asking: impl AsyncFnOnce(&Client) -> Result<(), Error>,
) -> Result<Vec<DbError>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let asked = async {
        let asked = asking(&client).await;
        // The connection ends with it, and the messages with the connection.
        drop(client);
        asked
    };
    let told = stream::poll_fn(|context| connection.poll_message(context)).try_filter_map(async |message| {
        Ok(match message {
            AsyncMessage::Notice(notice) => Some(notice),
            AsyncMessage::Notification(_) | _ => None,
        })
    });
    let (asked, told) = tokio::join!(asked, told.try_collect());
    asked.and(told)
}

async fn log_end(connection: impl Future<Output = Result<(), Error>>) {
    if let Err(error) = connection.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "a connection to PostgreSQL ended");
    }
}

#[derive(Clone, Copy)]
enum Encryption {
    Plain,
    /// TLS with a verified certificate; without verification it would not protect against an impostor.
    Verified,
}

fn parse(url: &str) -> Result<(Config, Encryption), StoreError> {
    let (address, encryption) = split_ssl_mode(url)?;
    let config = Config::from_str(&address)
        .map_err(|error| StoreError::Configuration(format!("the address of PostgreSQL: {error}")))?;
    Ok((config, encryption))
}

/// Removes `sslmode` from the address, because the driver does not know all of its values.
fn split_ssl_mode(url: &str) -> Result<(String, Encryption), StoreError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(StoreError::Configuration(
            "the address of PostgreSQL must begin with postgres://".to_owned(),
        ));
    }
    let Some((base, query)) = url.split_once('?') else { return Ok((url.to_owned(), Encryption::Plain)) };
    let mut encryption = Encryption::Plain;
    let mut kept = Vec::new();
    for pair in query.split('&') {
        match pair.strip_prefix("sslmode=") {
            None => kept.push(pair),
            Some("disable" | "allow" | "prefer") => encryption = Encryption::Plain,
            Some("require" | "verify-ca" | "verify-full") => encryption = Encryption::Verified,
            Some(other) => return Err(StoreError::Configuration(format!("sslmode={other} is not known"))),
        }
    }
    let address = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
    Ok((address, encryption))
}

fn tls_config() -> Result<ClientConfig, StoreError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _unusable) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err(StoreError::Configuration(
            "TLS: this machine has no certificates to verify against".to_owned(),
        ));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Configuration(format!("TLS: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
