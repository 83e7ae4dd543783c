//! A proxy before a PostgreSQL that breaks connections, hangs, or answers a commit wrongly, when a test wants it to.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

/// Begins and ends the message of a simple query, as the store sends `COMMIT` and `BEGIN`.
const BEGIN: &[u8] = b"BEGIN\0";
const COMMIT: &[u8] = b"COMMIT\0";
const ROLLBACK: &[u8] = b"Q\0\0\0\x0dROLLBACK\0";
/// The server's last message of an answer, outside a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Nothing.
    Never,
    /// The connection ends before the server gets the first statement of a transaction.
    BeforeBegin,
    /// The connection ends before the server gets the commit: it rolls back.
    BeforeCommit,
    /// The connection ends after the server got the commit, before the store gets the answer.
    AfterCommit,
    /// The next commit is answered with an error of this SQLSTATE, once.
    AnswerCommit(&'static str, Fate),
    /// The connection ends at whatever is sent, and new ones are refused: there is no server.
    Always,
    /// Nothing passes, and nothing ends: the server has stopped without a word.
    Hang,
    /// Each message takes so much longer, in either direction.
    Late(Duration),
}

/// What becomes of a transaction whose commit is answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The server commits it.
    Committed,
    /// The server rolls it back.
    RolledBack,
}

/// The proxy; its connections end with the runtime of the test.
#[derive(Debug)]
pub struct Proxy {
    breaks: Arc<watch::Sender<Break>>,
}

impl Proxy {
    /// Stands before the server of `url`; returns the address through the proxy.
    ///
    /// # Panics
    /// When no port is free, or `url` names no server.
    pub async fn before(url: &str) -> (Self, String) {
        let target =
            url.split('@').nth(1).and_then(|rest| rest.split('/').next()).expect("a server").to_owned();
        let (proxy, port) = Self::before_address(target.clone()).await;
        (proxy, url.replace(&target, &format!("127.0.0.1:{port}")))
    }

    /// Stands before a server of this machine; returns its own port.
    pub(super) async fn before_port(port: u16) -> (Self, u16) {
        Self::before_address(format!("127.0.0.1:{port}")).await
    }

    async fn before_address(target: String) -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let proxy = Self { breaks: Arc::new(watch::Sender::new(Break::Never)) };
        let breaks = Arc::clone(&proxy.breaks);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if now(&breaks) == Break::Always {
                    continue;
                }
                let (target, breaks) = (target.clone(), Arc::clone(&breaks));
                tokio::spawn(async move {
                    until_it_passes(&breaks).await;
                    let Ok(server) = TcpStream::connect(&target).await else { return };
                    drop(Carried { client, server, breaks }.carry().await);
                });
            }
        });
        (proxy, port)
    }

    /// Sets what goes wrong from now on.
    pub fn breaks(&self, when: Break) {
        self.breaks.send_replace(when);
    }

    /// What goes wrong now: [`Break::Never`] once a commit was answered wrongly.
    pub fn state(&self) -> Break {
        now(&self.breaks)
    }
}

fn now(breaks: &watch::Sender<Break>) -> Break {
    *breaks.borrow()
}

/// Waits while everything hangs, or as long as a message takes.
async fn until_it_passes(breaks: &watch::Sender<Break>) {
    let mut changes = breaks.subscribe();
    // The sender lives as long as the caller's reference.
    drop(changes.wait_for(|now| *now != Break::Hang).await);
    if let Break::Late(by) = now(breaks) {
        sleep(by).await;
    }
}

/// A connection through the proxy.
struct Carried {
    client: TcpStream,
    server: TcpStream,
    breaks: Arc<watch::Sender<Break>>,
}

impl Carried {
    async fn carry(mut self) -> std::io::Result<()> {
        let (mut up, mut down) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        loop {
            tokio::select! {
                length = self.client.read(&mut up) => match length? {
                    0 => return Ok(()),
                    length => {
                        until_it_passes(&self.breaks).await;
                        if !self.pass_on(&up[..length]).await? {
                            return Ok(());
                        }
                    },
                },
                length = self.server.read(&mut down) => match length? {
                    0 => return Ok(()),
                    length => {
                        until_it_passes(&self.breaks).await;
                        self.client.write_all(&down[..length]).await?;
                    },
                },
            }
        }
    }

    /// Passes on what the store has sent; answers whether the connection goes on.
    async fn pass_on(&mut self, sent: &[u8]) -> std::io::Result<bool> {
        let says = |words: &[u8]| sent.windows(words.len()).any(|part| part == words);
        match now(&self.breaks) {
            Break::Always => return Ok(false),
            Break::BeforeBegin if says(BEGIN) => return Ok(false),
            Break::BeforeCommit if says(COMMIT) => return Ok(false),
            Break::AfterCommit if says(COMMIT) => {
                self.server.write_all(sent).await?;
                return Ok(false);
            }
            Break::AnswerCommit(code, fate) if says(COMMIT) => {
                self.breaks.send_replace(Break::Never);
                let instead = match fate {
                    Fate::Committed => sent,
                    Fate::RolledBack => ROLLBACK,
                };
                self.server.write_all(instead).await?;
                self.discard_answer().await?;
                self.client.write_all(&error(code)).await?;
                return Ok(true);
            }
            Break::Never
            | Break::BeforeBegin
            | Break::BeforeCommit
            | Break::AfterCommit
            | Break::AnswerCommit(..)
            | Break::Hang
            | Break::Late(_) => {}
        }
        self.server.write_all(sent).await?;
        Ok(true)
    }

    async fn discard_answer(&mut self) -> std::io::Result<()> {
        let (mut answer, mut part) = (Vec::new(), [0; 1024]);
        while !answer.ends_with(READY) {
            match self.server.read(&mut part).await? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                length => answer.extend_from_slice(&part[..length]),
            }
        }
        Ok(())
    }
}

/// An error of the server that ends a statement but not the connection, and the end of its answer.
fn error(code: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{code}\0Mthe proxy says so\0\0");
    let length = u32::try_from(4 + fields.len()).unwrap_or(u32::MAX);
    [b"E", &length.to_be_bytes()[..], fields.as_bytes(), READY].concat()
}
