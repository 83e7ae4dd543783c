//! A server that stands for the providers: it remembers what it was told, and answers as a test says.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};
use url::form_urlencoded;

/// A request that a provider has received.
#[derive(Clone, Debug)]
pub struct Said {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    body: Vec<u8>,
    /// What it was told before, oldest first.
    pub earlier: Vec<Said>,
}

impl Said {
    /// The body as JSON; null when it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as a form.
    pub fn form(&self) -> HashMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }
}

type Answers = Box<dyn Fn(&Said) -> Option<(u16, Value)> + Send + Sync>;

#[derive(Clone)]
struct Book {
    said: Arc<Mutex<Vec<Said>>>,
    answers: Arc<Mutex<Answers>>,
}

pub struct Elsewhere {
    pub address: SocketAddr,
    book: Book,
    server: tokio::task::JoinHandle<()>,
}

impl Elsewhere {
    /// Answers so; with 404 where there is no answer. A text is answered as a page, as a proxy or a firewall would.
    pub async fn start(answers: impl Fn(&Said) -> Option<(u16, Value)> + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Book { said: Arc::default(), answers: Arc::new(Mutex::new(Box::new(answers))) };
        let router = Router::new().fallback(receive).with_state(book.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, book, server }
    }

    /// Answers so from now on.
    pub fn answers(&self, answers: impl Fn(&Said) -> Option<(u16, Value)> + Send + Sync + 'static) {
        *self.book.answers.lock().unwrap() = Box::new(answers);
    }

    /// Nobody listens any more.
    pub async fn stop(&self) {
        self.server.abort();
        while !self.server.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    /// All that it was told, oldest first.
    pub fn all(&self) -> Vec<Said> {
        self.book.said.lock().unwrap().clone()
    }

    /// The newest of these requests.
    pub fn said(&self, method: &str, path: &str) -> Said {
        let all = self.all();
        all.iter()
            .rfind(|said| said.method == method && said.path == path)
            .unwrap_or_else(|| panic!("nothing to {path}: {all:#?}"))
            .clone()
    }
}

async fn receive(State(book): State<Book>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap().to_vec();
    let earlier = book.said.lock().unwrap().clone();
    let (method, path, headers) = (parts.method, parts.uri.path().to_owned(), parts.headers);
    let said = Said { method, path, headers, body, earlier };
    let answer = (book.answers.lock().unwrap())(&said);
    book.said.lock().unwrap().push(Said { earlier: Vec::new(), ..said });
    let (status, body) = answer.unwrap_or((404, json!({ "error": { "message": "no such path" } })));
    let status = StatusCode::from_u16(status).unwrap();
    if let Value::String(page) = body {
        return (status, Html(page)).into_response();
    }
    (status, axum::Json(body)).into_response()
}
