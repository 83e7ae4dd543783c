//! A connection that breaks when a test wants it to: between the store and PostgreSQL, and it reads along.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// When the connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Break {
    /// It does not.
    Never,
    /// Before the server gets the first statement of a transaction.
    BeforeBegin,
    /// Before the server gets the commit: it rolls back.
    BeforeCommit,
    /// After the server got the commit, before the store gets the answer.
    AfterCommit,
    /// At whatever is sent, and new connections are refused: there is no server.
    Always,
}

/// The proxy; its connections end when it is dropped with the runtime of the test.
pub(crate) struct Proxy {
    port: u16,
    breaks: Arc<AtomicU8>,
}

impl Proxy {
    /// Stands before the server of `url`.
    pub(crate) async fn before(url: &str) -> (Self, String) {
        let target = url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let breaks = Arc::new(AtomicU8::new(Break::Never as u8));
        let proxy = Self { port, breaks: Arc::clone(&breaks) };
        let through = url.replace(&target, &format!("127.0.0.1:{}", proxy.port));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if breaks_now(&breaks, Break::Always) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                tokio::spawn(carry(client, server, Arc::clone(&breaks)));
            }
        });
        (proxy, through)
    }

    pub(crate) fn breaks(&self, when: Break) {
        self.breaks.store(when as u8, Ordering::SeqCst);
    }
}

async fn carry(client: TcpStream, server: TcpStream, breaks: Arc<AtomicU8>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let back = tokio::spawn(copy_back(from_server, to_client));
    copy_until_broken(from_client, to_server, &breaks, back).await;
}

async fn copy_back(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    drop(tokio::io::copy(&mut from, &mut to).await);
}

async fn copy_until_broken(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    breaks: &AtomicU8,
    back: JoinHandle<()>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length) = from.read(&mut buffer).await {
        if length == 0 {
            return;
        }
        let sent = &buffer[..length];
        let says = |word: &[u8]| sent.windows(word.len()).any(|part| part == word);
        if breaks_now(breaks, Break::Always)
            || (breaks_now(breaks, Break::BeforeBegin) && says(b"BEGIN\0"))
            || (breaks_now(breaks, Break::BeforeCommit) && says(b"COMMIT\0"))
        {
            end(back).await;
            return;
        }
        if breaks_now(breaks, Break::AfterCommit) && says(b"COMMIT\0") {
            // Nothing comes back from here on, and the server gets the commit.
            end(back).await;
            drop(to.write_all(sent).await);
            return;
        }
        if to.write_all(sent).await.is_err() {
            return;
        }
    }
}

/// Ends the way back before anything else happens.
async fn end(back: JoinHandle<()>) {
    back.abort();
    drop(back.await);
}

fn breaks_now(breaks: &AtomicU8, when: Break) -> bool {
    breaks.load(Ordering::SeqCst) == when as u8
}
