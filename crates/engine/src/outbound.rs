//! Calls to addresses that users have registered. An address is checked when it is registered and again at each call.
//!
//! `rules.rs` checks the text and the network addresses; `lookup.rs` resolves names and passes only checked addresses
//! to the connection, so a name that changes between check and call has no effect. Calls follow no redirects and use no
//! proxy of the environment.

mod lookup;
mod rules;

use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use regente_domain::time::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;

pub use lookup::{Looked, Lookup, SystemLookup};
pub use rules::{Address, Plain, Ports, Refusal, Rules, URL_CHARS_MAX};

use crate::scrub::scrub;
use lookup::CheckedNames;

/// Most bytes of a response that are kept.
const ANSWER_BYTES_KEPT_MAX: usize = 1024;
/// Further bytes that are read, so that a card number at the end of the kept part is still recognized.
const ANSWER_BYTES_AHEAD: usize = 64;
/// How long an idle connection is kept.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Most idle connections to one host.
const IDLE_PER_HOST_MAX: usize = 8;
/// How long a look-up may take when an address is registered.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(3);

/// Calls to users' addresses. Clones share the connections.
#[derive(Clone)]
pub struct Outbound(Arc<Inner>);

struct Inner {
    rules: Arc<Rules>,
    lookup: Arc<dyn Lookup>,
    http: OnceLock<reqwest::Client>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Received {
    /// HTTP status.
    pub status: u16,
    /// When the server wants to be called again.
    pub retry_after: Option<RetryAfter>,
    /// The beginning of the body, without card numbers.
    pub beginning: String,
}

/// The value of a `Retry-After` header (RFC 9110 §10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// After this time.
    Delay(Duration),
    /// At this time.
    At(Timestamp),
}

impl RetryAfter {
    /// Parses the header: whole seconds, or a date in one of the three formats of HTTP.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Self::Delay(Duration::from_secs(seconds)));
        }
        let since_epoch = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self::At(Timestamp::EPOCH + since_epoch))
    }

    /// The time to wait from `now`; zero when the date has passed.
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::At(at) => at.since(now),
        }
    }
}

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The address, or one that its name resolves to, is forbidden.
    Refused,
    /// The name has no address, the connection was refused, or it broke.
    Broken,
    /// The call took too long.
    TimedOut,
}

impl Outbound {
    /// Applies these rules; `lookup` resolves names.
    pub fn new(rules: Rules, lookup: impl Lookup + 'static) -> Self {
        let (rules, lookup): (Arc<Rules>, Arc<dyn Lookup>) = (Arc::new(rules), Arc::new(lookup));
        Self(Arc::new(Inner { rules, lookup, http: OnceLock::new() }))
    }

    /// Created at the first call: a deployment without calls needs no certificate authorities.
    fn http(&self) -> Result<&reqwest::Client, NoAnswer> {
        if let Some(http) = self.0.http.get() {
            return Ok(http);
        }
        let names = CheckedNames { rules: Arc::clone(&self.0.rules), lookup: Arc::clone(&self.0.lookup) };
        let made = reqwest::Client::builder()
            .dns_resolver(names)
            .redirect(Policy::none())
            .no_proxy()
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .build();
        match made {
            Ok(http) => Ok(self.0.http.get_or_init(|| http)),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "calls to other hosts cannot be made"
                );
                Err(NoAnswer::Broken)
            }
        }
    }

    /// Parses an address that a user registers and looks its name up. A name that does not resolve yet is accepted,
    /// because each call checks again.
    ///
    /// # Errors
    /// Why the address is forbidden.
    pub async fn accept(&self, text: &str) -> Result<Address, Refusal> {
        let address = self.0.rules.address(text)?;
        let Some(name) = address.name() else { return Ok(address) };
        let looked = tokio::time::timeout(LOOKUP_TIME_MAX, self.0.lookup.addresses(name)).await;
        match looked {
            Ok(Ok(addresses)) => self.0.rules.all_allowed(&addresses).map(|()| address),
            Ok(Err(_)) | Err(_) => Ok(address),
        }
    }

    /// Posts `body` to an accepted address and waits up to `time_max` for the response: its status, and as much of its
    /// body as has arrived by then. The address is checked again.
    ///
    /// # Errors
    /// Why there is no response.
    pub async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        time_max: Duration,
    ) -> Result<Received, NoAnswer> {
        let address = self.0.rules.address(url).map_err(|_| NoAnswer::Refused)?;
        let mut time_is_up = pin!(tokio::time::sleep(time_max));
        let request = self.http()?.post(address.into_url()).headers(headers).body(body);
        let mut response = tokio::select! {
            response = request.send() => response.map_err(|error| reason(&error))?,
            () = &mut time_is_up => return Err(NoAnswer::TimedOut),
        };
        let mut bytes = Vec::new();
        // A body that breaks off or does not end does not matter.
        tokio::select! {
            () = read_beginning(&mut response, &mut bytes) => {}
            () = &mut time_is_up => {}
        }
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        Ok(Received {
            status: response.status().as_u16(),
            retry_after: retry_after.and_then(RetryAfter::parse),
            beginning: shown(&bytes),
        })
    }
}

async fn read_beginning(response: &mut reqwest::Response, bytes: &mut Vec<u8>) {
    const READ_MAX: usize = ANSWER_BYTES_KEPT_MAX + ANSWER_BYTES_AHEAD;
    while bytes.len() < READ_MAX
        && let Ok(Some(chunk)) = response.chunk().await
    {
        let room = READ_MAX - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
}

/// The part of a response that may be kept, without card numbers: a server may echo them.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(&scrub(bytes)).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(ANSWER_BYTES_KEPT_MAX));
    text
}

fn reason(error: &reqwest::Error) -> NoAnswer {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<Refusal>() {
            return NoAnswer::Refused;
        }
        cause = error.source();
    }
    if error.is_timeout() { NoAnswer::TimedOut } else { NoAnswer::Broken }
}

/// Whether an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    rules::is_public(address)
}
