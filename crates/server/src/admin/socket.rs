//! The Unix socket of a server with an embedded database. One process owns the file, so commands are sent to that
//! process. Only the owner of the data folder can connect.

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::net::UnixListener;

use super::answer::Answer;
use super::command::Command;
use super::run::run;
use crate::app::App;
use crate::config::Config;

/// The name of the socket in the folder of the database.
pub const SOCKET_NAME: &str = "admin.sock";
/// The private folder in which the socket is made before it is moved into place.
const WORKSHOP_NAME: &str = ".admin";
/// How long a command may take; the doctor counts every charge.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(30 * 60);
/// The largest command: lines of a settlement file, each with the parts of a hundred sellers.
const COMMAND_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Why a command did not reach the server, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The socket exists and cannot be used.
    #[error("the running server cannot be reached through {}", .0.display())]
    Unreachable(PathBuf, #[source] io::Error),
    /// The connection broke.
    #[error("the running server did not answer")]
    NoAnswer(#[from] reqwest::Error),
    /// The server refused the command.
    #[error("{0}")]
    Refused(String),
    /// The server cannot run the command at the moment.
    #[error("{0}")]
    NotNow(String),
}

/// The socket of a running server. Dropping this removes it.
#[derive(Debug)]
pub struct AdminSocket {
    path: PathBuf,
    listener: tokio::task::JoinHandle<()>,
}

/// A refusal as it is sent.
#[derive(Serialize, Deserialize)]
struct Refusal {
    error: String,
}

impl AdminSocket {
    /// Opens the socket in `folder`. The caller holds the lock of the database, so an existing socket was left by a
    /// process that has ended.
    ///
    /// # Errors
    /// The folder cannot be written to, or its path is too long for a socket.
    pub fn open(folder: &Path, app: App, config: Config) -> io::Result<Self> {
        let path = folder.join(SOCKET_NAME);
        let listener = bind_privately(folder, &path)?;
        let router = Router::new()
            .route("/command", post(answer))
            .layer(DefaultBodyLimit::max(COMMAND_BYTES_MAX))
            .with_state((app, Arc::new(config)));
        let listener = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the socket for commands failed");
            }
        });
        Ok(Self { path, listener })
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        self.listener.abort();
        drop(std::fs::remove_file(&self.path));
    }
}

/// Binds the socket in a private folder and moves it: a socket gets its permissions only after it was made.
fn bind_privately(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    let workshop = folder.join(WORKSHOP_NAME);
    drop(std::fs::remove_dir_all(&workshop));
    std::fs::DirBuilder::new().mode(0o700).create(&workshop)?;
    let made = workshop.join("s");
    let listener = UnixListener::bind(&made)?;
    std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&made, path)?;
    std::fs::remove_dir(&workshop)?;
    Ok(listener)
}

async fn answer(
    State((app, config)): State<(App, Arc<Config>)>,
    Json(command): Json<Command>,
) -> Result<Json<Answer>, (StatusCode, Json<Refusal>)> {
    if !command.is_one_of_many() {
        tracing::info!(command = command.name(), "an operator's command");
    }
    let result = run(&app, &config, command).await;
    result.map(Json).map_err(|error| {
        let status = if error.is_passing() {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::UNPROCESSABLE_ENTITY
        };
        (status, Json(Refusal { error: crate::chain::chain(&error) }))
    })
}

/// Whether a server answers at the socket of `folder`.
///
/// # Errors
/// [`SocketError::Unreachable`] when there is a socket that this user may not use.
pub fn is_answering(folder: &Path) -> Result<bool, SocketError> {
    let path = folder.join(SOCKET_NAME);
    match UnixStream::connect(&path) {
        Ok(_connection) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Ok(false)
        }
        Err(error) => Err(SocketError::Unreachable(path, error)),
    }
}

/// Sends a command to the server of `folder`.
///
/// # Errors
/// [`SocketError::NoAnswer`], [`SocketError::Refused`], [`SocketError::NotNow`].
pub async fn ask(folder: &Path, command: &Command) -> Result<Answer, SocketError> {
    let client = reqwest::Client::builder()
        .unix_socket(folder.join(SOCKET_NAME))
        .no_proxy()
        // The socket carries no TLS, so the client needs no root certificates.
        .tls_certs_only([])
        .timeout(COMMAND_TIME_MAX)
        .build()?;
    let response = client.post("http://admin/command").json(command).send().await?;
    if response.status().is_success() {
        return Ok(response.json().await?);
    }
    let is_passing = response.status() == StatusCode::SERVICE_UNAVAILABLE;
    let Refusal { error } = response.json().await?;
    Err(if is_passing { SocketError::NotNow(error) } else { SocketError::Refused(error) })
}
