//! Limits the bytes of a body and the rate of requests, and answers panics.

use std::any::Any;
use std::fmt;
use std::future::ready;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::future::Either;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter as Governor};
use regente_engine::error::Error;
use tower_http::catch_panic::{CatchPanicLayer, ResponseForPanic};
use uuid::Uuid;

use super::bodies::{self, BODY_BUDGET_BYTES, BodyBudget, NotRead};
use super::error::ApiError;
use super::{Answered, MonotonicClock};

/// The most bytes of a JSON body (`docs/interface/conventions.md#limits`).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// The longest time from the headers to the last byte of the body.
pub const BODY_READ_TIME_MAX: Duration = Duration::from_secs(30);
/// The `Retry-After` of a request whose body finds the budget spent.
const RETRY_AFTER_SPENT: Duration = Duration::from_secs(1);

/// The limits on bodies; set by [`limit_body`].
#[derive(Clone, Debug)]
pub struct BodyLimits {
    /// The most bytes of one body.
    pub bytes_max: usize,
    /// The bytes of all bodies that are being read.
    pub budget: BodyBudget,
}

impl BodyLimits {
    /// The limits of a process.
    pub fn of(limits: &HttpLimits) -> Self {
        Self { bytes_max: limits.body_bytes_max, budget: BodyBudget::new(limits.body_budget_bytes) }
    }
}

/// The layer. It refuses a request that announces too large a body, and makes [`read_bytes`] stop at the limit.
pub(crate) fn limit_body<Next: Future<Output = Answered>>(
    limits: BodyLimits,
    mut request: Request,
    next: impl FnOnce(Request) -> Next,
) -> impl Future<Output = Answered> {
    let bytes_max = limits.bytes_max;
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced.and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > bytes_max as u64) {
        return Either::Left(ready(Ok(ApiError::TooLarge { bytes_max }.into_response())));
    }
    request.extensions_mut().insert(limits);
    Either::Right(next(request))
}

/// Reads a whole body, within the limits of [`limit_body`] or else the default ones.
///
/// # Errors
/// [`ApiError::TooLarge`], [`ApiError::MalformedBody`] when the caller disconnects or is too slow, or
/// [`Error::Unavailable`] when the budget of all bodies is spent.
pub async fn read_bytes(mut request: Request) -> Result<Bytes, ApiError> {
    let limits = request.extensions_mut().remove::<BodyLimits>();
    let BodyLimits { bytes_max, budget } = limits.unwrap_or_else(|| BodyLimits::of(&HttpLimits::default()));
    let reading = bodies::read(request.into_body(), bytes_max, &budget);
    match tokio::time::timeout(BODY_READ_TIME_MAX, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(NotRead::TooLarge)) => Err(ApiError::TooLarge { bytes_max }),
        Ok(Err(NotRead::Broken)) => Err(ApiError::MalformedBody("body must arrive completely".to_owned())),
        Ok(Err(NotRead::NoBudget)) => {
            Err(Error::Unavailable { retry_after: RETRY_AFTER_SPENT, cause: None }.into())
        }
        Err(_) => {
            let seconds = BODY_READ_TIME_MAX.as_secs();
            Err(ApiError::MalformedBody(format!("body must arrive within {seconds} seconds")))
        }
    }
}

/// The layer that turns a panic into [`Error::Internal`]. It belongs inside of the layer that logs
/// 5xx answers, `api/request_id.rs`.
pub fn catch_panic() -> CatchPanicLayer<PanicAnswer> {
    CatchPanicLayer::custom(PanicAnswer)
}

/// Answers a panic.
#[derive(Clone, Copy, Debug)]
pub struct PanicAnswer;

impl ResponseForPanic for PanicAnswer {
    type ResponseBody = Body;

    fn response_for_panic(&mut self, payload: Box<dyn Any + Send + 'static>) -> Response {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&'static str>().copied()).unwrap_or("no text");
        ApiError::from(Error::internal(format!("panic: {text}"))).into_response()
    }
}

/// Rate limits; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Tokens per second, for each public key and address (`docs/interface/conventions.md#limits`).
    pub public_key_tokens_per_second: Option<NonZeroU32>,
    /// Requests per second of each secret key.
    pub secret_key_requests_per_second: Option<NonZeroU32>,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { public_key_tokens_per_second: NonZeroU32::new(10), secret_key_requests_per_second: None }
    }
}

/// The limits on callers' requests.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// The rates of keys.
    pub rates: RateLimits,
    /// The most bytes of a JSON body (`docs/interface/conventions.md#limits`).
    pub body_bytes_max: usize,
    /// The bytes of all bodies that are being read.
    pub body_budget_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            rates: RateLimits::default(),
            body_bytes_max: BODY_BYTES_MAX,
            body_budget_bytes: BODY_BUDGET_BYTES,
        }
    }
}

/// The requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateKey {
    credential: Uuid,
    network: Option<IpAddr>,
}

impl RateKey {
    /// All requests with a credential.
    pub fn credential(credential: Uuid) -> Self {
        Self { credential, network: None }
    }

    /// The requests with a credential from one address. An IPv6 address counts as its /64 network, because one
    /// household or server has 2^64 addresses.
    pub fn credential_and_address(credential: Uuid, address: IpAddr) -> Self {
        let network = match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        };
        Self { credential, network: Some(network) }
    }
}

/// Accepts a number of requests per second for each [`RateKey`], with bursts of up to that number. The counts are in
/// memory, so each node counts separately.
pub struct RateLimiter {
    governor: Option<Governor<RateKey, DashMapStateStore<RateKey>, LimiterClock, NoOpMiddleware<Duration>>>,
    clock: LimiterClock,
    checks: AtomicU32,
}

/// The number of checks after which expired keys are removed, to bound memory by the active callers.
const CHECKS_BETWEEN_CLEANINGS: u32 = 4096;

impl RateLimiter {
    /// A limiter of `per_second` requests; `None` accepts everything.
    pub fn new(per_second: Option<NonZeroU32>, clock: MonotonicClock) -> Self {
        let clock = LimiterClock(clock);
        let governor = per_second.map(|per_second| {
            Governor::new(Quota::per_second(per_second), DashMapStateStore::default(), clock.clone())
        });
        Self { governor, clock, checks: AtomicU32::new(0) }
    }

    /// Counts one request.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`] with the time until the next request is accepted.
    pub fn check(&self, key: &RateKey) -> Result<(), ApiError> {
        let Some(governor) = &self.governor else {
            return Ok(());
        };
        if self.checks.fetch_add(1, Ordering::Relaxed) % CHECKS_BETWEEN_CLEANINGS
            == CHECKS_BETWEEN_CLEANINGS - 1
        {
            governor.retain_recent();
        }
        governor.check_key(key).map_err(|refused| ApiError::TooManyRequests {
            retry_after: refused.wait_time_from(self.clock.now()),
        })
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RateLimiter")
    }
}

#[derive(Clone)]
struct LimiterClock(MonotonicClock);

impl Clock for LimiterClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        (self.0)()
    }
}
