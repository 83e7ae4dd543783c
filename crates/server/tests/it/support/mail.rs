//! A mail server on this machine: it keeps what it accepts, answers as configured, and reads mail as a mailbox does.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_engine::mail::{MailOptions, Protection};
use regente_store::testing::Fuse;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::support::app::{ADDRESS, TestApp};
use crate::support::client::Reply;

/// An accepted mail.
#[derive(Clone, Debug)]
pub struct Got {
    /// Who it is handed over for.
    pub to: String,
    /// As it came.
    pub raw: String,
}

impl Got {
    /// A header, decoded (RFC 2047).
    pub fn header(&self, name: &str) -> String {
        let (head, _) = self.raw.split_once("\r\n\r\n").unwrap();
        let head = head.replace("\r\n ", " ");
        let start = format!("{name}: ");
        let value =
            head.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{name}"));
        let (mut text, mut was_encoded) = (String::new(), true);
        for word in value.split(' ') {
            let encoded = word.strip_prefix("=?utf-8?b?").and_then(|word| word.strip_suffix("?="));
            // White space between two encoded words is none of the text.
            if !(was_encoded && (encoded.is_some() || text.is_empty())) {
                text.push(' ');
            }
            was_encoded = encoded.is_some();
            let decoded = encoded.map(|word| String::from_utf8(STANDARD.decode(word).unwrap()).unwrap());
            text.push_str(decoded.as_deref().unwrap_or(word));
        }
        text
    }

    /// The text, decoded (RFC 2045).
    pub fn text(&self) -> String {
        let (_, body) = self.raw.split_once("\r\n\r\n").unwrap();
        let text = match self.header("Content-Transfer-Encoding").as_str() {
            "7bit" | "8bit" => body.to_owned(),
            "quoted-printable" => unquoted(body),
            "base64" => String::from_utf8(STANDARD.decode(body.replace("\r\n", "")).unwrap()).unwrap(),
            encoding => panic!("{encoding}"),
        };
        text.replace("\r\n", "\n")
    }

    /// The links in it.
    pub fn links(&self) -> Vec<String> {
        self.text().lines().filter(|line| line.starts_with(ADDRESS)).map(str::to_owned).collect()
    }
}

fn unquoted(body: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), body.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'=', [b'\r', b'\n', after @ ..]) => after,
            (b'=', [high, low, after @ ..]) => {
                bytes.extend(hex::decode([*high, *low]).unwrap());
                after
            }
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8(bytes).unwrap()
}

pub struct MailServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct State {
    got: Vec<Got>,
    asked: usize,
    answers: VecDeque<u16>,
    always: Option<u16>,
    fuse: Option<Fuse>,
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<Mutex<State>>::default());
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move { serve(stream, &state).await });
            }
        });
        Self { address, state, server }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The settings of a deployment that hands its mail over here.
    pub fn options(&self) -> MailOptions {
        MailOptions {
            server: self.address.ip().to_string(),
            port: self.port(),
            protection: Protection::None,
            login: Some(("regente".to_owned(), "secret".to_owned().into())),
            from: "Regente <reports@regente.example>".to_owned(),
            domains: Vec::new(),
        }
    }

    /// Sets the next answers to a recipient, in order; after them, 250.
    pub fn say(&self, answers: &[u16]) {
        self.state.lock().unwrap().answers.extend(answers);
    }

    /// Sets the answer to each recipient from now on.
    pub fn always(&self, answer: u16) {
        self.state.lock().unwrap().always = Some(answer);
    }

    /// Lets the sending process stop after a mail was accepted and before it is told so.
    pub fn stops_with(&self, fuse: &Fuse) {
        self.state.lock().unwrap().fuse = Some(fuse.clone());
    }

    /// The mails that were accepted.
    pub fn got(&self) -> Vec<Got> {
        self.state.lock().unwrap().got.clone()
    }

    /// How often a recipient was named.
    pub fn asked(&self) -> usize {
        self.state.lock().unwrap().asked
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// One connection. A client that goes away ends it.
async fn serve(stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading).lines();
    let (mut to, mut has_login) = (String::new(), false);
    writing.write_all(b"220 mail.example ESMTP\r\n").await.ok()?;
    loop {
        let line = lines.next_line().await.ok()??;
        let verb = line.split(' ').next()?.to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-mail.example\r\n250-AUTH PLAIN\r\n250 8BITMIME".to_owned(),
            "AUTH" => {
                has_login = line == format!("AUTH PLAIN {}", STANDARD.encode("\0regente\0secret"));
                if has_login { "235 welcome" } else { "535 who is that?" }.to_owned()
            }
            "MAIL" if has_login => "250 ok".to_owned(),
            "MAIL" => "530 log in first".to_owned(),
            "RCPT" => {
                to = line.split_once('<')?.1.split_once('>')?.0.to_owned();
                let mut state = state.lock().unwrap();
                state.asked += 1;
                let next = state.answers.pop_front().or(state.always).unwrap_or(250);
                format!("{next} <{to}>: so be it")
            }
            "DATA" => {
                writing.write_all(b"354 go on\r\n").await.ok()?;
                let mut raw = String::new();
                loop {
                    let line = lines.next_line().await.ok()??;
                    if line == "." {
                        break;
                    }
                    raw.push_str(line.strip_prefix('.').unwrap_or(&line));
                    raw.push_str("\r\n");
                }
                let fuse = {
                    let mut state = state.lock().unwrap();
                    state.got.push(Got { to: to.clone(), raw });
                    state.fuse.clone()
                };
                if let Some(fuse) = fuse {
                    fuse.step().await;
                }
                "250 accepted".to_owned()
            }
            "QUIT" => "221 bye".to_owned(),
            "NOOP" | "RSET" => "250 ok".to_owned(),
            _ => "502 what?".to_owned(),
        };
        writing.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
}

/// Opens a link of a mail, without a key.
pub async fn opened(app: &TestApp, link: &str) -> Reply {
    let path = link.strip_prefix(ADDRESS).unwrap();
    app.send(Request::get(path).body(Body::empty()).unwrap()).await
}
