//! Calls to addresses that users have given: what may be called is decided here, when the address is given and again
//! whenever it is called.
//!
//! `rules.rs` decides, by text and by network address alone; `lookup.rs` asks for the addresses of names, and hands only
//! checked ones to whoever connects, so a name that means another host a moment later changes nothing. No redirect is
//! followed, no proxy of the environment is used. What is sent, and to whom, is not known here.

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

/// The first bytes of an answer that are kept.
const ANSWER_BYTES_KEPT_MAX: usize = 1024;
/// So many more are read: what is kept must not end in the middle of a card number that is known by its end alone.
const ANSWER_BYTES_AHEAD: usize = 64;
/// How long a connection that nobody uses is kept for the next call.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Connections to one host that are kept.
const IDLE_PER_HOST_MAX: usize = 8;
/// How long names are asked for when an address is given.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(3);

/// Calls to addresses of users. Cheap to clone.
#[derive(Clone)]
pub struct Outbound(Arc<Inner>);

struct Inner {
    rules: Arc<Rules>,
    lookup: Arc<dyn Lookup>,
    http: OnceLock<reqwest::Client>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Received {
    /// The status.
    pub status: u16,
    /// When the other side wants to be asked again.
    pub retry_after: Option<RetryAfter>,
    /// How the body begins, without card numbers.
    pub beginning: String,
}

/// When somebody wants to be asked again (RFC 9110 §10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// So much later.
    Delay(Duration),
    /// Then.
    At(Timestamp),
}

impl RetryAfter {
    /// From the value of the header: whole seconds, or a date in one of the three forms of HTTP.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Self::Delay(Duration::from_secs(seconds)));
        }
        let since_epoch = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self::At(Timestamp::EPOCH + since_epoch))
    }

    /// How long that is from `now` on; no time at all when the date has passed.
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::At(at) => at.since(now),
        }
    }
}

/// Why nothing came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The address, or what its name stands for, may not be called.
    Refused,
    /// The name has no address, nobody listens, or the connection broke.
    Broken,
    /// It took too long.
    TimedOut,
}

impl Outbound {
    /// By these rules, with names looked up by `lookup`.
    pub fn new(rules: Rules, lookup: impl Lookup + 'static) -> Self {
        let (rules, lookup): (Arc<Rules>, Arc<dyn Lookup>) = (Arc::new(rules), Arc::new(lookup));
        Self(Arc::new(Inner { rules, lookup, http: OnceLock::new() }))
    }

    /// Made by the first call: a machine that calls nobody needs no certificates of authorities.
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

    /// Reads an address that a user gives, and looks where its name leads now. A name that leads nowhere yet is taken:
    /// every call looks again.
    ///
    /// # Errors
    /// Why it may not be called.
    pub async fn accept(&self, text: &str) -> Result<Address, Refusal> {
        let address = self.0.rules.address(text)?;
        let Some(name) = address.name() else { return Ok(address) };
        let looked = tokio::time::timeout(LOOKUP_TIME_MAX, self.0.lookup.addresses(name)).await;
        match looked {
            Ok(Ok(addresses)) => self.0.rules.all_allowed(&addresses).map(|()| address),
            Ok(Err(_)) | Err(_) => Ok(address),
        }
    }

    /// Posts `body` to an address that was accepted before, and waits `time_max` for the answer: its status counts, and
    /// of its body what has come by then. The address is checked anew.
    ///
    /// # Errors
    /// Why no answer came.
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
        // A body that breaks off or does not end changes nothing.
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

/// What may be kept of an answer: whoever it comes from may repeat card numbers in it.
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

/// Whether an address is one of the public internet.
pub fn is_public(address: IpAddr) -> bool {
    rules::is_public(address)
}
