//! A merchant's HTTP server on this machine: it keeps requests and answers as configured.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use regente_store::testing::Fuse;
use serde_json::Value;

use crate::support::document::Document;

/// A request.
#[derive(Clone, Debug)]
pub struct Got {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// `transaction.authorized`
    pub fn event(&self) -> String {
        let body = self.json();
        format!("{}.{}", body["object"].as_str().unwrap(), body["event"].as_str().unwrap())
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum Say {
    Status(u16),
    With(u16, &'static str, &'static str),
    /// This text.
    Words(u16, String),
    /// The beginning of a body that never ends.
    Half(u16, &'static str),
    /// The request's body.
    Echo(u16),
    Nothing,
}

pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<Received>>,
    server: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Received {
    got: Vec<Got>,
    answers: VecDeque<Say>,
    always: Option<Say>,
    fuse: Option<Fuse>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state: Arc<Mutex<Received>> = Arc::default();
        let router = Router::new().fallback(receive).with_state(Arc::clone(&state));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state, server }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the next answers in order; after them, 200.
    pub fn say(&self, answers: &[Say]) {
        self.state.lock().unwrap().answers.extend(answers.iter().cloned());
    }

    /// Sets the answer from now on.
    pub fn always(&self, answer: Say) {
        self.state.lock().unwrap().always = Some(answer);
    }

    /// Lets the sending process stop after a request has arrived and before it is answered.
    pub fn stops_with(&self, fuse: &Fuse) {
        self.state.lock().unwrap().fuse = Some(fuse.clone());
    }

    /// The requests so far. Each delivery must match the document; a request without an id is none.
    pub fn received(&self) -> Vec<Got> {
        let got = self.state.lock().unwrap().got.clone();
        let deliveries = got.iter().filter(|got| got.header("webhook-id").is_some());
        deliveries.for_each(|got| Document::current().assert_promised_event(&got.json()));
        got
    }

    /// The names of the received events.
    pub fn events(&self) -> Vec<String> {
        self.received().iter().map(Got::event).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(
    State(state): State<Arc<Mutex<Received>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (answer, fuse) = {
        let mut received = state.lock().unwrap();
        received.got.push(Got { path: uri.path().to_owned(), headers, body: body.to_vec() });
        let next = received.answers.pop_front();
        (next.or_else(|| received.always.clone()).unwrap_or(Say::Status(200)), received.fuse.clone())
    };
    if let Some(fuse) = fuse {
        fuse.step().await;
    }
    let status = |status: u16| StatusCode::from_u16(status).unwrap();
    match answer {
        Say::Status(code) => (status(code), "thanks").into_response(),
        Say::With(code, name, value) => (status(code), [(name, value)], "not now").into_response(),
        Say::Words(code, words) => (status(code), words).into_response(),
        Say::Echo(code) => (status(code), body).into_response(),
        Say::Half(code, words) => {
            let first = futures_util::stream::once(std::future::ready(Ok::<_, Infallible>(words)));
            let body = Body::from_stream(first.chain(futures_util::stream::pending()));
            (status(code), body).into_response()
        }
        Say::Nothing => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            StatusCode::OK.into_response()
        }
    }
}
