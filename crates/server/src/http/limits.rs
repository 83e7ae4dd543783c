//! The limits on callers: of bytes, of time and of rates. Bounds bodies, and answers panics.

use std::any::Any;
use std::future::ready;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::future::Either;
use regente_domain::seller::document::{DocumentKind, FILE_BYTES_MAX};
use regente_engine::error::Error;
use tokio::sync::Semaphore;
use tower_http::catch_panic::{CatchPanicLayer, ResponseForPanic};

use super::bodies::{self, BODY_BUDGET_BYTES, BodyBudget, NotRead};
use super::card_testing::{CardTesting, CardTestingLimits};
use super::error::ApiError;
use super::peer::Proxies;
use super::rates::{Blocks, Rate, RateLimiter};
use super::streams::Streams;
use super::{Answered, MonotonicClock};

/// The most bytes of a JSON body (`docs/interface/conventions.md#limits`).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// The paths that take files, whose bodies may be larger.
const UPLOADS: [&str; 1] = ["/v1/sellers/documents"];
/// The pages whose forms take files. They read a body for whoever has a link that we made, and tell them that it is too large.
const PAGES_WITH_UPLOADS: &str = "/registration-reviews/";
/// The most bytes of a form around its files.
const FORM_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of a body with a file.
const UPLOAD_BYTES_MAX: usize = FILE_BYTES_MAX + 16 * 1024;
/// The most bytes that a page reads: a file of each kind.
const PAGE_BYTES_MAX: usize = DocumentKind::WORDS.len() * FILE_BYTES_MAX + FORM_BYTES_MAX;
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
    let mut limits = limits;
    let path = request.uri().path();
    let is_page = path.starts_with(PAGES_WITH_UPLOADS);
    if is_page {
        limits.bytes_max = PAGE_BYTES_MAX;
    } else if UPLOADS.contains(&path) {
        limits.bytes_max = UPLOAD_BYTES_MAX;
    }
    let bytes_max = limits.bytes_max;
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let announced = announced.and_then(|length| length.parse().ok());
    if !is_page && announced.is_some_and(|length: u64| length > bytes_max as u64) {
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
pub async fn read_bytes(request: Request) -> Result<Bytes, ApiError> {
    read_bytes_within(request, usize::MAX).await
}

/// As [`read_bytes`], of no more than `bytes_max` bytes.
///
/// # Errors
/// As [`read_bytes`].
pub async fn read_bytes_within(mut request: Request, bytes_max: usize) -> Result<Bytes, ApiError> {
    let limits = request.extensions_mut().remove::<BodyLimits>();
    let limits = limits.unwrap_or_else(|| BodyLimits::of(&HttpLimits::default()));
    let (bytes_max, budget) = (bytes_max.min(limits.bytes_max), limits.budget);
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

/// The limits on callers' requests.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// The rates of keys and addresses.
    pub rates: RateLimits,
    /// What limits the testing of cards with public keys.
    pub card_testing: CardTestingLimits,
    /// The proxies whose word about the addresses of callers counts.
    pub proxies: Proxies,
    /// The most bytes of a JSON body (`docs/interface/conventions.md#limits`).
    pub body_bytes_max: usize,
    /// The bytes of all bodies that are being read.
    pub body_budget_bytes: usize,
}

/// Rate limits; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Tokens of each public key from one address (`docs/interface/conventions.md#limits`).
    pub public_key_tokens: Option<Rate>,
    /// Requests of each secret key.
    pub secret_key_requests: Option<Rate>,
    /// Requests of each public key from one address, and of each address for pages that demand no key. Ten times as many
    /// are for the files that pages load.
    pub page_requests: Option<Rate>,
    /// Refused authentications from one address. One more blocks the address for [`AUTHENTICATION_BLOCK`].
    pub failed_authentications: Option<Rate>,
    /// Answers to one review of a seller's registration, from its page.
    pub review_answers: Option<Rate>,
    /// Refused sign-ins of members from one address, and those with one e-mail address among them. One more blocks for
    /// [`SIGN_IN_BLOCK`].
    pub failed_sign_ins: Option<Rate>,
    /// Those with one e-mail address.
    pub failed_sign_ins_as: Option<Rate>,
}

/// How many files that never change a page loads at most: a checkout has a frame for each field of a card, with its script.
const FILES_OF_PAGE_MAX: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// Files of callers that are judged at once: a PDF takes a processor for some milliseconds.
const FILES_JUDGED_AT_ONCE_MAX: usize = 4;
/// How long an address that sent too many wrong keys waits.
const AUTHENTICATION_BLOCK: Duration = Duration::from_secs(60);
/// How long an address waits from which members were refused too often.
const SIGN_IN_BLOCK: Duration = Duration::from_secs(10 * 60);
/// Passwords that are hashed at once.
const PASSWORDS_HASHED_AT_ONCE_MAX: usize = 2;

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            public_key_tokens: Rate::per_second(10),
            secret_key_requests: None,
            page_requests: None,
            failed_authentications: None,
            review_answers: Rate::per_minute(30),
            failed_sign_ins: Rate::within(SIGN_IN_BLOCK, 30),
            failed_sign_ins_as: Rate::within(SIGN_IN_BLOCK, 5),
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            rates: RateLimits::default(),
            card_testing: CardTestingLimits::default(),
            proxies: Proxies::default(),
            body_bytes_max: BODY_BYTES_MAX,
            body_budget_bytes: BODY_BUDGET_BYTES,
        }
    }
}

/// What counts requests against [`HttpLimits`].
#[derive(Debug)]
pub struct Limiters {
    /// Cards that public keys try.
    pub card_testing: Arc<CardTesting>,
    /// Tokens of public keys.
    pub tokens: RateLimiter,
    /// Requests of secret keys.
    pub secret_keys: RateLimiter,
    /// Requests of public keys, and for pages that demand no key.
    pub pages: RateLimiter,
    /// Requests for files that such pages load.
    pub files: RateLimiter,
    /// Addresses that send wrong keys.
    pub strangers: Blocks,
    /// Answers from pages of reviews.
    pub review_answers: RateLimiter,
    /// Addresses from which members are refused.
    pub sign_ins: Blocks,
    /// The same with one e-mail address.
    pub sign_ins_as: Blocks,
    /// Places for sign-ins: a password takes 19 MiB and some 20 ms of a processor.
    pub hashing: Arc<Semaphore>,
    /// Pages that listen.
    pub streams: Streams,
    /// Places for judging files.
    pub judging: Arc<Semaphore>,
}

impl Limiters {
    /// Limiters that have counted nothing yet.
    pub fn new(limits: &HttpLimits, clock: &MonotonicClock) -> Self {
        let rates = &limits.rates;
        Self {
            card_testing: Arc::new(CardTesting::new(&limits.card_testing, clock)),
            tokens: RateLimiter::new(rates.public_key_tokens, clock.clone()),
            secret_keys: RateLimiter::new(rates.secret_key_requests, clock.clone()),
            pages: RateLimiter::new(rates.page_requests, clock.clone()),
            files: RateLimiter::new(
                rates.page_requests.map(|rate| rate.times(FILES_OF_PAGE_MAX)),
                clock.clone(),
            ),
            strangers: Blocks::new(rates.failed_authentications, AUTHENTICATION_BLOCK, clock.clone()),
            review_answers: RateLimiter::new(rates.review_answers, clock.clone()),
            sign_ins: Blocks::new(rates.failed_sign_ins, SIGN_IN_BLOCK, clock.clone()),
            sign_ins_as: Blocks::new(rates.failed_sign_ins_as, SIGN_IN_BLOCK, clock.clone()),
            hashing: Arc::new(Semaphore::new(PASSWORDS_HASHED_AT_ONCE_MAX)),
            streams: Streams::default(),
            judging: Arc::new(Semaphore::new(FILES_JUDGED_AT_ONCE_MAX)),
        }
    }
}
