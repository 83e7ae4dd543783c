//! The HTTP client of all adapters. It checks certificates, reuses connections, follows no redirect, reads no more than
//! [`ANSWER_BYTES_MAX`] of an answer, and traces every exchange without its body. It has no deadline of its own:
//! [`Providers`](crate::provider::Providers) cuts a call at the adapter's.

use std::borrow::Borrow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, InvalidHeaderValue, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use regente_domain::provider_type::ProviderType;
use reqwest::redirect::Policy;
use reqwest::{Client, NoProxy, Proxy, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;
use zeroize::Zeroizing;

use crate::outcome::{Answer, Probe, UnknownReason};

/// Longest answer that is read, in bytes.
pub const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How long a connection may take; while it is made nothing is sent.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// How long an idle connection is kept: less than the shortest limit that providers are known to have, so that none is
/// closed while it is used again.
const IDLE_MAX: Duration = Duration::from_secs(50);
/// What is on this machine. Never asked through a proxy: such a proxy would read what is to leave this machine nowhere.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";
/// Most idle connections to one host.
const IDLE_PER_HOST_MAX: usize = 256;

/// Settings of the client.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The proxy of all calls that leave this machine. Those of the environment are never used.
    pub proxy: Option<Url>,
}

/// The client. Clones share the connections.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    options: HttpOptions,
    client: OnceLock<Client>,
}

impl HttpClient {
    /// Nothing is opened or sent before the first request: a deployment that asks no provider needs no certificate
    /// authorities.
    pub fn new(options: HttpOptions) -> Self {
        Self(Arc::new(Inner { options, client: OnceLock::new() }))
    }

    fn client(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.0.client.get() {
            return Ok(client);
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_TIME_MAX)
            .no_proxy()
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .redirect(Policy::none());
        let client = match &self.0.options.proxy {
            Some(proxy) => {
                client.proxy(Proxy::all(proxy.clone())?.no_proxy(NoProxy::from_string(THIS_MACHINE)))
            }
            None => client,
        };
        let client = client.build()?;
        Ok(self.0.client.get_or_init(|| client))
    }

    /// Sends the request, once, and reads the answer, whatever its status.
    ///
    /// # Errors
    /// [`NoResponse`].
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, NoResponse> {
        let Outgoing { provider_type, step, method, url, headers, body } = request;
        let span = tracing::info_span!(
            "provider_http",
            otel.kind = "client",
            provider = provider_type.code(),
            step,
            method = %method,
            host = url.host_str().unwrap_or_default(),
            status = tracing::field::Empty,
        );
        let exchange = async {
            let Ok(headers) = headers else {
                tracing::error!("a credential of the provider cannot be sent in an HTTP header");
                return Err(NoResponse::NotSent);
            };
            let client = self.client().map_err(|error| {
                tracing::error!(error = &error as &dyn std::error::Error, "providers cannot be called");
                NoResponse::NotSent
            })?;
            let sending = client.request(method, url).headers(headers).body(body).send();
            let mut response = sending.await.map_err(|error| NoResponse::of(&error))?;
            let (status, headers) = (response.status(), response.headers().clone());
            tracing::Span::current().record("status", status.as_u16());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| NoResponse::of(&error))? {
                if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                    return Err(NoResponse::TooLong);
                }
                body.extend_from_slice(&chunk);
            }
            Ok(Incoming { status, headers, body })
        };
        exchange.instrument(span).await
    }
}

/// A request to a provider. Its body may hold card data, so it is not printed.
pub struct Outgoing {
    provider_type: ProviderType,
    step: &'static str,
    method: Method,
    url: Url,
    headers: Result<HeaderMap, InvalidHeaderValue>,
    body: Vec<u8>,
}

impl Outgoing {
    /// A request without a body. `step` names it in traces, for example `charges.get`.
    pub fn new(provider_type: ProviderType, step: &'static str, method: Method, url: Url) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("regente/", env!("CARGO_PKG_VERSION"))));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        Self { provider_type, step, method, url, headers: Ok(headers), body: Vec::new() }
    }

    /// A `GET`.
    pub fn get(provider_type: ProviderType, step: &'static str, url: Url) -> Self {
        Self::new(provider_type, step, Method::GET, url)
    }

    /// A `POST` without a body.
    pub fn post(provider_type: ProviderType, step: &'static str, url: Url) -> Self {
        Self::new(provider_type, step, Method::POST, url)
    }

    /// With this body in JSON.
    ///
    /// # Panics
    /// Never for types whose maps have text keys.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(body).unwrap_or_default();
        self.content(HeaderValue::from_static("application/json"), bytes)
    }

    /// With these pairs as a form (`application/x-www-form-urlencoded`).
    #[must_use]
    pub fn form<K: AsRef<str>, V: AsRef<str>>(self, pairs: impl IntoIterator<Item: Borrow<(K, V)>>) -> Self {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        for pair in pairs {
            let (name, value) = pair.borrow();
            form.append_pair(name.as_ref(), value.as_ref());
        }
        let bytes = form.finish().into_bytes();
        self.content(HeaderValue::from_static("application/x-www-form-urlencoded"), bytes)
    }

    /// With this header. A value that no header can hold fails the request before it is sent.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers = self.headers.and_then(|mut headers| {
            headers.insert(name, HeaderValue::from_str(value)?);
            Ok(headers)
        });
        self
    }

    /// With a secret in this header.
    #[must_use]
    pub fn secret_header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers = self.headers.and_then(|mut headers| {
            let mut value = HeaderValue::from_str(value)?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(headers)
        });
        self
    }

    /// With this bearer token.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        let value = Zeroizing::new(format!("Bearer {token}"));
        self.secret_header(AUTHORIZATION, &value)
    }

    /// With this user and password (RFC 7617).
    #[must_use]
    pub fn basic(self, user: &str, password: &str) -> Self {
        let pair = Zeroizing::new(format!("{user}:{password}"));
        let value = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        self.secret_header(AUTHORIZATION, &value)
    }

    fn content(mut self, content_type: HeaderValue, body: Vec<u8>) -> Self {
        self.headers = self.headers.map(|mut headers| {
            headers.insert(CONTENT_TYPE, content_type);
            headers
        });
        Self { body, ..self }
    }
}

/// Omits headers and body.
impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider_type, step, method, .. } = self;
        f.debug_struct("Outgoing")
            .field("provider_type", provider_type)
            .field("step", step)
            .field("method", method)
            .finish_non_exhaustive()
    }
}

/// An answer of a provider, with any status.
#[derive(Clone)]
pub struct Incoming {
    /// HTTP status.
    pub status: StatusCode,
    /// HTTP headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Incoming {
    /// The body as JSON; `None` when it is something else.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The body as an object in JSON; `None` also when it is declared to be something else. For what is believed although
    /// it names nothing of ours, such as a refusal or an empty list: the page of a proxy or firewall proves nothing.
    pub fn declared_json<T: DeserializeOwned>(&self) -> Option<T> {
        let declared = self.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        let kind = declared.and_then(|declared| declared.split(';').next()).map(str::trim);
        let is_json = kind.is_none_or(|kind| {
            let kind = kind.to_ascii_lowercase();
            kind == "application/json" || kind.ends_with("+json")
        });
        let is_object = self.body.trim_ascii_start().starts_with(b"{");
        (is_json && is_object).then(|| self.json()).flatten()
    }
}

/// Omits the body.
impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResponse {
    /// No connection was made, or the request cannot be written: nothing was sent.
    NotSent,
    /// The connection broke after the request, or a part of it, was sent.
    Lost,
    /// The answer is longer than [`ANSWER_BYTES_MAX`].
    TooLong,
}

impl NoResponse {
    fn of(error: &reqwest::Error) -> Self {
        let no_response = if error.is_connect() || error.is_builder() { Self::NotSent } else { Self::Lost };
        // The address has no secrets: adapters send them in headers.
        tracing::debug!(error = error as &dyn std::error::Error, ?no_response, "a provider did not answer");
        no_response
    }
}

impl From<NoResponse> for Answer {
    fn from(no_response: NoResponse) -> Self {
        match no_response {
            NoResponse::NotSent => Self::NotSent,
            NoResponse::Lost => Self::Unknown(UnknownReason::ConnectionLost),
            NoResponse::TooLong => Self::Unknown(UnknownReason::Unreadable),
        }
    }
}

impl From<NoResponse> for Probe {
    fn from(no_response: NoResponse) -> Self {
        match no_response {
            NoResponse::NotSent | NoResponse::Lost | NoResponse::TooLong => Self::Unknown,
        }
    }
}
