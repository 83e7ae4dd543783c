//! A server on this machine that answers requests as a test says, and keeps what it was sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use reqwest::Url;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What becomes of a request.
#[derive(Clone)]
pub(super) enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    /// A page of somebody in between.
    Page(u16),
    /// The connection ends without an answer.
    Cut,
    /// Nothing comes, until the client gives up: its clock runs ahead.
    Silence,
    /// The server behind answers.
    Forward,
    /// The server behind carries it out, and the answer is lost.
    LoseAnswer,
    /// The server behind carries it out twice, as if the network had repeated it.
    Repeat,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Got {
    /// Method and path, without the query.
    pub(super) line: String,
    pub(super) query: String,
    pub(super) head: String,
    pub(super) body: String,
}

impl Got {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// A member of the form.
    pub(super) fn member(&self, name: &str) -> Option<String> {
        let mut members = url::form_urlencoded::parse(self.body.as_bytes());
        members.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }
}

pub(super) struct Loopback {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
    serving: JoinHandle<()>,
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Loopback {
    /// Answers the requests in turn; further ones with a fault.
    pub(super) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::in_front_of(None, replies, Reply::Text(599, "no reply is left")).await
    }

    /// Stands in front of another server. Once the replies have been used up, it only forwards.
    pub(super) async fn before(behind: SocketAddr, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::in_front_of(Some(behind), replies, Reply::Forward).await
    }

    async fn in_front_of(
        behind: Option<SocketAddr>,
        replies: impl IntoIterator<Item = Reply>,
        otherwise: Reply,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&got);
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        let serving = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let Some((request, raw)) = read(&mut client).await else { continue };
                kept.lock().unwrap().push(request);
                let reply = replies.pop_front().unwrap_or_else(|| otherwise.clone());
                serve(client, reply, &raw, behind).await;
            }
        });
        Self { address, got, serving }
    }

    pub(super) fn url(&self) -> Url {
        Url::parse(&format!("http://{}/", self.address)).unwrap()
    }

    pub(super) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Methods and paths, in order.
    pub(super) fn lines(&self) -> Vec<String> {
        self.got().into_iter().map(|got| got.line).collect()
    }
}

async fn serve(mut client: TcpStream, reply: Reply, raw: &[u8], behind: Option<SocketAddr>) {
    let answer = match reply {
        Reply::Json(status, body) => written(status, &body.to_string()),
        Reply::Text(status, body) => written(status, body),
        Reply::Page(status) => written(status, "<html>"),
        Reply::Cut => return,
        Reply::Silence => {
            tokio::time::pause();
            tokio::spawn(async move {
                // Held open until the test ends.
                std::future::pending::<()>().await;
                drop(client);
            });
            return;
        }
        Reply::Forward => forwarded(raw, behind).await,
        Reply::LoseAnswer => {
            forwarded(raw, behind).await;
            return;
        }
        Reply::Repeat => {
            forwarded(raw, behind).await;
            forwarded(raw, behind).await
        }
    };
    client.write_all(&answer).await.unwrap();
    client.shutdown().await.unwrap();
}

fn written(status: u16, body: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// The answer of the server behind, until it closes the connection.
async fn forwarded(raw: &[u8], behind: Option<SocketAddr>) -> Vec<u8> {
    let mut server = TcpStream::connect(behind.unwrap()).await.unwrap();
    server.write_all(raw).await.unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).await.unwrap();
    answer
}

/// A request and its bytes, which ask for the end of the connection.
async fn read(client: &mut TcpStream) -> Option<(Got, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if client.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut got = Got { line: String::new(), query: String::new(), head, body: String::new() };
    let length: usize = got.header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + 4 + length {
        if client.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    got.body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).unwrap();
    let (first, headers) = got.head.split_once("\r\n").unwrap();
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    got.line = format!("{method} {path}");
    got.query = url::form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("&");
    let raw = format!("{first}\r\nconnection: close\r\n{headers}\r\n\r\n{}", got.body);
    Some((got, raw.into_bytes()))
}
