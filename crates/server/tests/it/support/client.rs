//! Callers: a request, its answer, and the account whose key it carries.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use regente::access::{self, NewClient};
use regente::app::App;
use regente_domain::actor::Actor;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::app::TestApp;
use crate::support::document::Document;

impl TestApp {
    /// Sends a request as it is, without an account's headers. The answer must match the document.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        self.begin(request).await.unwrap()
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&self, request: Request<Body>) -> tokio::task::JoinHandle<Reply> {
        begin_at(self.router.clone(), request)
    }

    /// A request of `client` with further headers.
    pub async fn call(
        &self,
        client: &Client,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        self.send(request(client, method, path, headers, body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(&self.client, Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::POST, path, &[], Some(body)).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::POST, path, &[("X-Idempotency-Key", key)], Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::PATCH, path, &[], Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(&self.client, Method::DELETE, path, &[], None).await
    }

    /// Another account of the deployment.
    pub async fn another_client(&self) -> Client {
        new_client(&self.app, "Outra Loja").await
    }

    /// A public key with these scopes.
    pub async fn client_token(&self, scope: Value) -> Client {
        let body = self.post("/v1/auth", &json!({ "scope": scope, "expires": 600 })).await.expect(201);
        Client { id: self.client.id.clone(), key: body["publicKey"].as_str().unwrap().to_owned() }
    }
}

/// The same deployment, called with another key.
pub struct As<'a> {
    pub app: &'a TestApp,
    pub client: Client,
}

impl<'a> As<'a> {
    /// A client token of the same account.
    pub async fn public_key(app: &'a TestApp, scope: &str) -> Self {
        Self { app, client: app.client_token(json!([scope])).await }
    }

    /// Another account.
    pub async fn another_client(app: &'a TestApp) -> Self {
        Self { app, client: app.another_client().await }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.app.call(&self.client, Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.app.call(&self.client, Method::POST, path, &[], Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.app.call(&self.client, Method::PATCH, path, &[], Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.app.call(&self.client, Method::DELETE, path, &[], None).await
    }
}

/// The 503 of a request that the database cannot take, with its `Retry-After`.
#[track_caller]
pub fn assert_unavailable(reply: &Reply) {
    assert_eq!(reply.expect(503)["error"]["code"], 503);
    let seconds: u64 =
        reply.header("retry-after").expect("a caller is told when to come back").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

/// An account and one of its keys.
#[derive(Clone, Debug)]
pub struct Client {
    pub id: String,
    pub key: String,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    /// The body as JSON; null when there is none.
    pub fn json(&self) -> Value {
        if self.bytes.is_empty() { Value::Null } else { serde_json::from_slice(&self.bytes).unwrap() }
    }

    /// The body as JSON; the status must be `status`.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        let body = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status.as_u16(), status, "{body}");
        self.json()
    }

    /// The `details` of an error with this status.
    #[track_caller]
    pub fn details(&self, status: u16) -> Vec<String> {
        let body = self.expect(status);
        let details = body["error"]["details"].as_array().expect("an error with details");
        details.iter().map(|detail| detail.as_str().unwrap().to_owned()).collect()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// Sends a request to a node without waiting for its answer.
pub fn begin_at(node: Router, mut request: Request<Body>) -> tokio::task::JoinHandle<Reply> {
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000))));
    tokio::spawn(async move {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = node.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
        let reply = Reply { status: parts.status, headers: parts.headers, bytes };
        Document::current().assert_promised(&method, &path, &reply);
        reply
    })
}

/// A request of `client` with further headers.
pub fn request(
    client: &Client,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("X-Client-Id", &client.id)
        .header("X-Api-Key", &client.key)
        .header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = body.map_or_else(Body::empty, |body| Body::from(serde_json::to_vec(body).unwrap()));
    request.body(body).unwrap()
}

pub async fn new_client(app: &App, name: &str) -> Client {
    let id = access::create_client(app, NewClient::named(name), Actor::Operator).await.unwrap();
    let key = access::create_secret_key(app, id, "test", Actor::Operator).await.unwrap();
    Client { id: id.to_string(), key: key.key.expose().to_owned() }
}
