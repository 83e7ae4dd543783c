//! A small HTTP server that plays recorded answers and faults, one for each request, and keeps what it was sent.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use reqwest::Url;
use serde_json::Value;

/// What becomes of one request.
pub(super) enum Play {
    /// This answer.
    Answer(u16, String),
    /// A redirect to another place.
    Redirect(String),
    /// The connection is closed without an answer.
    Cut,
    /// The connection is closed in the middle of the answer.
    Half(String),
    /// There is no answer, and the connection stays.
    Silence,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct Upstream {
    address: SocketAddr,
    received: Receiver<Received>,
    over: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Upstream {
    /// A server that plays these in this order.
    pub(super) fn playing(plays: impl IntoIterator<Item = Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, received) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let stage = Stage { plays: Mutex::new(plays.into_iter().collect()), silent: Mutex::default() };
        let (stage, stops) = (Arc::new(stage), Arc::clone(&over));
        let serving = std::thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                if stops.load(Ordering::SeqCst) {
                    return;
                }
                let (stage, sender) = (Arc::clone(&stage), sender.clone());
                std::thread::spawn(move || stage.serve(connection, &sender));
            }
        });
        Self { address, received, over, serving: Some(serving) }
    }

    pub(super) fn url(&self) -> Url {
        format!("http://{}", self.address).parse().unwrap()
    }

    /// The requests since the last time.
    pub(super) fn received(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }

    /// Waits for a request.
    pub(super) fn wait(&self) -> Received {
        self.received.recv().unwrap()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(serving) = self.serving.take() {
            serving.join().unwrap();
        }
    }
}

struct Stage {
    plays: Mutex<VecDeque<Play>>,
    /// Connections that stay open without an answer.
    silent: Mutex<Vec<TcpStream>>,
}

impl Stage {
    fn serve(&self, mut connection: TcpStream, sender: &Sender<Received>) {
        let Some(received) = read(&connection) else { return };
        let play = self.plays.lock().unwrap().pop_front();
        // The test may be over.
        let _ = sender.send(received);
        let answer = |status: u16, length: usize, header: &str, body: &str| {
            format!(
                "HTTP/1.1 {status} Played\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n{header}\r\n{body}"
            )
        };
        let bytes = match play {
            Some(Play::Answer(status, body)) => answer(status, body.len(), "", &body),
            Some(Play::Redirect(to)) => answer(302, 0, &format!("location: {to}\r\n"), ""),
            Some(Play::Half(body)) => answer(200, body.len(), "", &body[..body.len() / 2]),
            Some(Play::Silence) => return self.silent.lock().unwrap().push(connection),
            Some(Play::Cut) => return,
            None => answer(599, 0, "", ""),
        };
        // The client may have hung up.
        let _ = connection.write_all(bytes.as_bytes());
    }
}

fn read(connection: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { path, headers, body: serde_json::from_slice(&body).ok()? })
}
