//! A client of the interface, for commands that work from any machine with a key of the account. They need no file and no
//! database of the deployment.

mod destination;
mod error;

use std::time::Duration;

use regente_domain::id::ClientId;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Failure;
use super::health::client_of;
use crate::http::headers::{API_KEY, CLIENT_ID, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, REQUEST_ID};

use destination::Destination;
pub(super) use destination::RemoteArgs;
pub(super) use error::RemoteError;

/// How long an answer may take: a service asks several providers, one after the other, before it answers.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

/// A deployment, as an account sees it.
pub(super) struct Remote {
    http: reqwest::Client,
    base: Url,
    pub(super) client_id: ClientId,
    /// The merchant that the environment names, for new charges.
    pub(super) merchant_id: Option<String>,
}

/// A successful answer.
pub(super) struct Answered {
    pub(super) body: Value,
    /// Whether it is the answer of an earlier request with the same idempotency key.
    pub(super) is_replay: bool,
}

impl Remote {
    fn of(destination: Destination) -> Result<Self, Failure> {
        let Destination { url, certificate, client_id, api_key, merchant_id } = destination;
        let mut key =
            HeaderValue::from_str(api_key.expose()).map_err(|_| "the key is no key of an account")?;
        key.set_sensitive(true);
        let account = HeaderValue::from_str(&client_id.to_string())?;
        let headers =
            [(HeaderName::from_static(CLIENT_ID), account), (HeaderName::from_static(API_KEY), key)];
        let client = client_of(&url, certificate)
            // Whoever the service redirects to must not see the key.
            .redirect(Policy::none())
            .timeout(ANSWER_TIME_MAX)
            .default_headers(HeaderMap::from_iter(headers));
        Ok(Self { http: client.build()?, base: url, client_id, merchant_id })
    }

    /// Reads a resource or a list.
    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, RemoteError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.ask(self.http.get(url)).await.map(|answered| answered.body)
    }

    /// Sends a body, with an idempotency key if there is one.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        key: Option<&HeaderValue>,
    ) -> Result<Answered, RemoteError> {
        let request = self.http.request(method, self.url(path)).json(body);
        self.ask(match key {
            Some(key) => request.header(IDEMPOTENCY_KEY, key),
            None => request,
        })
        .await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<(), RemoteError> {
        self.ask(self.http.delete(self.url(path))).await.map(drop)
    }

    async fn ask(&self, request: RequestBuilder) -> Result<Answered, RemoteError> {
        let broken = |error: reqwest::Error| RemoteError::of_connection(&self.base, error);
        let answer = request.send().await.map_err(broken)?;
        let status = answer.status();
        let header = |name| Some(answer.headers().get(name)?.to_str().ok()?.to_owned());
        let (request_id, replayed) = (header(REQUEST_ID), header(IDEMPOTENT_REPLAYED));
        let bytes = answer.bytes().await.map_err(broken)?;
        if !status.is_success() {
            return Err(RemoteError::of_answer(status, request_id, &bytes));
        }
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).map_err(|_| RemoteError::Unreadable)?,
        };
        Ok(Answered { body, is_replay: replayed.as_deref() == Some("true") })
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }
}

/// A part of an answer, as far as the command line looks at it.
pub(super) fn read<T: DeserializeOwned>(answer: &Value) -> Result<T, Failure> {
    let read = T::deserialize(answer);
    Ok(read.map_err(|error| format!("the service is of another release: {error}"))?)
}
