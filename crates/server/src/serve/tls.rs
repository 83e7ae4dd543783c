//! Terminates TLS by rustls, and reloads the server's certificate when its files change.
//!
//! A renewal replaces two files, one after the other. While certificate and key do not match, the former certificate
//! stays in use.

use std::io::{self, Cursor};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest;
use axum_server::accept::Accept;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use futures_util::future::BoxFuture;
use regente_engine::settings::Mode;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, Chain, Join, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

use super::accept::{Admitted, Gate, HTTP2_PREFACE};
use crate::chain::chain;
use crate::config::{Config, mode_open_to_others};

/// How often the files are checked for changes.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The protocols offered in the handshake, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Why a certificate cannot be used. The message never contains the key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// There is no certificate in the file.
    #[error("{} holds no certificate in PEM", .0.display())]
    NoCertificate(PathBuf),
    /// There is no key in the file.
    #[error("{} holds no private key in PEM", .0.display())]
    NoKey(PathBuf),
    /// Users other than the owner can read the key.
    #[error("{} can be read by others (mode {mode:03o}): `chmod 600 {}`", path.display(), path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Certificate and key do not match, or are of an unknown kind.
    #[error("the certificate and its key cannot be used")]
    Refused(#[source] rustls::Error),
}

/// The certificate of the server. Clones share the one in use.
#[derive(Clone)]
pub struct Certificate {
    files: Arc<Files>,
    in_effect: RustlsConfig,
    seen: Arc<Mutex<Seen>>,
}

/// The result of the last read, usable or not, so that each change is logged once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Nothing was read: read the files whatever they contain.
    Nothing,
    /// The files could not be read.
    Unreadable,
    /// The digest of the files' content.
    Contents([u8; digest::SHA256_OUTPUT_LEN]),
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
    mode: Mode,
}

impl Certificate {
    /// Loads the configured certificate, if there is one.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(config: &Config) -> Result<Option<Self>, TlsError> {
        let server = &config.server;
        let (Some(certificate), Some(key)) = (&server.tls_certificate_file, &server.tls_key_file) else {
            return Ok(None);
        };
        let files = Files { certificate: certificate.clone(), key: key.clone(), mode: config.mode };
        let contents = files.read()?;
        let in_effect = RustlsConfig::from_config(files.parse(&contents)?);
        let seen = Arc::new(Mutex::new(Seen::Contents(contents.digest())));
        Ok(Some(Self { files: Arc::new(files), in_effect, seen }))
    }

    /// Reloads the files when they change or the process receives SIGHUP; never returns.
    pub(super) async fn keep_current(self) {
        let mut hangups = signal(SignalKind::hangup()).ok();
        loop {
            let asked = async {
                match &mut hangups {
                    Some(hangups) => hangups.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = asked => *self.lock_seen() = Seen::Nothing,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let looking = self.clone();
            if let Err(error) = tokio::task::spawn_blocking(move || looking.look()).await {
                tracing::error!(%error, "looking at the certificate of the server failed");
            }
        }
    }

    fn look(&self) {
        let read = self.files.read();
        let now = read.as_ref().map_or(Seen::Unreadable, |contents| Seen::Contents(contents.digest()));
        if std::mem::replace(&mut *self.lock_seen(), now) == now {
            return;
        }
        match read.and_then(|contents| self.files.parse(&contents)) {
            Ok(config) => {
                self.in_effect.reload_from_config(config);
                tracing::info!("the certificate of the server was read again");
            }
            Err(error) => {
                tracing::error!(
                    error = chain(&error),
                    "a new certificate cannot be used; the former one stays"
                );
            }
        }
    }

    fn lock_seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The content of the files.
struct Contents {
    certificate: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
}

impl Contents {
    fn digest(&self) -> [u8; digest::SHA256_OUTPUT_LEN] {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in [&self.certificate, &*self.key] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut result = [0; digest::SHA256_OUTPUT_LEN];
        result.copy_from_slice(context.finish().as_ref());
        result
    }
}

impl Files {
    fn read(&self) -> Result<Contents, TlsError> {
        let read =
            |path: &PathBuf| std::fs::read(path).map_err(|error| TlsError::Unreadable(path.clone(), error));
        Ok(Contents { certificate: read(&self.certificate)?, key: Zeroizing::new(read(&self.key)?) })
    }

    fn parse(&self, contents: &Contents) -> Result<Arc<ServerConfig>, TlsError> {
        match (self.mode, mode_open_to_others(&self.key)) {
            (Mode::Production, Some(mode)) => {
                return Err(TlsError::OpenToOthers { path: self.key.clone(), mode });
            }
            (Mode::Production, None) | (Mode::Sandbox, _) => {}
        }
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&contents.certificate)
            .collect::<Result<_, _>>()
            .map_err(|_| TlsError::NoCertificate(self.certificate.clone()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(self.certificate.clone()));
        }
        let key =
            PrivateKeyDer::from_pem_slice(&contents.key).map_err(|_| TlsError::NoKey(self.key.clone()))?;
        // A reload makes a new configuration, so that sessions of the former certificate are not resumed.
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::Refused)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Arc::new(config))
    }
}

/// Accepts connections that finish the handshake and send their first bytes in time.
#[derive(Clone)]
pub(super) struct TlsGate {
    handshake: RustlsAcceptor<Gate>,
    gate: Gate,
}

impl TlsGate {
    pub(super) fn new(gate: Gate, certificate: &Certificate) -> Self {
        let handshake = RustlsAcceptor::new(certificate.in_effect.clone())
            .handshake_timeout(gate.first_bytes_timeout())
            .acceptor(gate.clone());
        Self { handshake, gate }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for TlsGate {
    type Stream = Begun;
    type Service = Admitted<S>;
    type Future = BoxFuture<'static, io::Result<(Begun, Admitted<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let (handshake, gate) = (self.handshake.accept(stream, service), self.gate.clone());
        Box::pin(async move {
            let beginning = async {
                let (stream, service) = handshake.await?;
                Ok((begin(stream).await?, service))
            };
            gate.in_time(beginning).await
        })
    }
}

/// A connection whose first bytes after the handshake were read and are returned first.
pub(super) type Begun =
    Join<Chain<Cursor<Vec<u8>>, ReadHalf<TlsStream<TcpStream>>>, WriteHalf<TlsStream<TcpStream>>>;

/// Reads until the first bytes show the protocol. Hyper would wait for them without a time limit.
async fn begin(mut stream: TlsStream<TcpStream>) -> io::Result<Begun> {
    let first = first_bytes(&mut stream).await?;
    let (reading, writing) = tokio::io::split(stream);
    Ok(tokio::io::join(Cursor::new(first).chain(reading), writing))
}

async fn first_bytes(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut seen = Vec::with_capacity(HTTP2_PREFACE.len());
    while seen.len() < HTTP2_PREFACE.len() && HTTP2_PREFACE.starts_with(&seen) {
        if stream.read_buf(&mut seen).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(seen)
}
