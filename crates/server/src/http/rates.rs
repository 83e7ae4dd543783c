//! Counts requests and failures by key, network or card, and refuses what is too much. Counts are in memory, so each
//! process counts for itself.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed, StateStore};
use governor::{Quota, RateLimiter as Governor};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use regente_domain::id::ClientId;
use regente_engine::metrics::{self, Limit};
use uuid::Uuid;

use super::MonotonicClock;
use super::error::ApiError;

/// The most keys whose counts are remembered by one limiter; about 250 bytes each. Beyond that, those that were not seen
/// for the longest time are forgotten.
const KEYS_MAX: u64 = 20_000;

/// The requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// Those with a secret key.
    SecretKey(Uuid),
    /// Those for tokens with a public key from one network.
    Tokens(Uuid, Network),
    /// Those from one network whose key was refused.
    Authentication(Network),
    /// Those with a public key from one network.
    PublicKeyFrom(Uuid, Network),
    /// Those without a key from one network.
    Page(Network),
    /// Those with a public key that may try cards.
    PublicKey(Uuid),
    /// Those with the key of a session that may try cards.
    Session(Uuid),
    /// Those with public keys of an account from one network that may try cards.
    Address(ClientId, Network),
    /// Those with public keys of an account for cards that begin with the same six digits.
    Bin(ClientId, u32),
    /// Those with public keys of an account for one card, by its fingerprint.
    Card(ClientId, Uuid),
    /// Answers to one review of a seller's registration, from its page.
    ReviewAnswer(Uuid),
    /// Refused sign-ins of members from one network.
    SignIn(Network),
    /// Refused sign-ins from one network with one e-mail address, by its digest. A stranger elsewhere does not lock a member out.
    SignInAs(Uuid, Network),
    /// Notifications from one network for providers that do not exist.
    Notification(Network),
    /// Notifications from one network for one provider that it had not signed. Merchants share the addresses of a provider, so
    /// the wrong secret of one must not keep the others' notifications out.
    UnsignedNotification(Uuid, Network),
}

impl RateKey {
    /// The limit, as the metrics name it.
    const fn limit(&self) -> Limit {
        match self {
            Self::SecretKey(_) => Limit::SecretKey,
            Self::Tokens(..) => Limit::Tokens,
            Self::Authentication(_) => Limit::Authentication,
            Self::PublicKeyFrom(..) | Self::Page(_) => Limit::Pages,
            Self::PublicKey(_) => Limit::PublicKey,
            Self::Session(_) => Limit::Session,
            Self::Address(..) => Limit::Address,
            Self::Bin(..) => Limit::Bin,
            Self::Card(..) => Limit::Card,
            Self::ReviewAnswer(_) => Limit::ReviewAnswer,
            Self::SignIn(_) | Self::SignInAs(..) => Limit::SignIn,
            Self::Notification(_) | Self::UnsignedNotification(..) => Limit::Notification,
        }
    }
}

/// An address as it is counted: an IPv6 address as its /64 network, because one household or server has 2^64 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpAddr);

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        })
    }
}

/// So many within so long, all at once or one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(Quota);

impl Rate {
    /// So many within so long; 0 is no limit.
    pub fn within(time: Duration, many: u32) -> Option<Self> {
        let many = NonZeroU32::new(many)?;
        Quota::with_period(time / many.get()).map(|quota| Self(quota.allow_burst(many)))
    }

    /// So many a second; 0 is no limit.
    pub fn per_second(many: u32) -> Option<Self> {
        Self::within(Duration::from_secs(1), many)
    }

    /// So many a minute; 0 is no limit.
    pub fn per_minute(many: u32) -> Option<Self> {
        Self::within(Duration::from_secs(60), many)
    }

    /// So many times as much.
    pub fn times(self, many: NonZeroU32) -> Self {
        let Self(quota) = self;
        let each = quota.replenish_interval() / many.get();
        let more = Quota::with_period(each).unwrap_or(quota);
        Self(more.allow_burst(quota.burst_size().saturating_mul(many)))
    }
}

/// Accepts so many requests for each [`RateKey`].
pub struct RateLimiter {
    governor: Option<Governor<RateKey, Recent, LimiterClock, NoOpMiddleware<Duration>>>,
    counts: Recent,
    clock: MonotonicClock,
}

impl RateLimiter {
    /// A limiter; without a rate it accepts everything.
    pub fn new(rate: Option<Rate>, clock: MonotonicClock) -> Self {
        let counts = Recent(recent());
        let governor =
            rate.map(|Rate(quota)| Governor::new(quota, counts.clone(), LimiterClock(clock.clone())));
        Self { governor, counts, clock }
    }

    /// Counts one request.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`] with the time until the next request is accepted.
    pub fn check(&self, key: &RateKey) -> Result<(), ApiError> {
        self.count(key).map_err(|retry_after| {
            metrics::rate_limited(key.limit());
            ApiError::TooManyRequests { retry_after }
        })
    }

    /// How many keys have a count.
    pub fn keys_counted(&self) -> u64 {
        self.counts.0.run_pending_tasks();
        self.counts.0.entry_count()
    }

    /// Counts one; an error is the time until the next one is within the rate.
    fn count(&self, key: &RateKey) -> Result<(), Duration> {
        let Some(governor) = &self.governor else { return Ok(()) };
        governor.check_key(key).map_err(|refused| refused.wait_time_from((self.clock)()))
    }
}

/// Refuses a [`RateKey`] for a while after too many failures.
pub struct Blocks {
    failures: RateLimiter,
    block_for: Duration,
    /// When each block ends.
    blocked_until: Cache<RateKey, Duration>,
}

impl Blocks {
    /// More failures than `rate` block for `block_for`; without a rate nothing is blocked.
    pub fn new(rate: Option<Rate>, block_for: Duration, clock: MonotonicClock) -> Self {
        Self { failures: RateLimiter::new(rate, clock), block_for, blocked_until: recent() }
    }

    /// Whether the key may go on.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`] with the rest of the block.
    pub fn check(&self, key: &RateKey) -> Result<(), ApiError> {
        let Some(until) = self.blocked_until.get(key) else { return Ok(()) };
        let retry_after = until.saturating_sub((self.failures.clock)());
        if retry_after.is_zero() {
            self.blocked_until.invalidate(key);
            return Ok(());
        }
        metrics::rate_limited(key.limit());
        Err(ApiError::TooManyRequests { retry_after })
    }

    /// Counts one failure; one too many begins a block.
    pub fn fail(&self, key: &RateKey) {
        if self.failures.count(key).is_err() {
            let until = (self.failures.clock)() + self.block_for;
            self.blocked_until.insert(*key, until);
            metrics::block_begun(key.limit());
            tracing::warn!(
                limit = key.limit().word(),
                seconds = self.block_for.as_secs(),
                "too many failures: a block begins"
            );
        }
    }
}

/// The counts of the most recent keys. Clones share them.
#[derive(Clone)]
struct Recent(Cache<RateKey, Arc<InMemoryState>>);

fn recent<V: Clone + Send + Sync + 'static>() -> Cache<RateKey, V> {
    Cache::builder().max_capacity(KEYS_MAX).eviction_policy(EvictionPolicy::lru()).build()
}

impl StateStore for Recent {
    type Key = RateKey;

    fn measure_and_replace<T, F, E>(&self, key: &RateKey, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        self.0.get_with_by_ref(key, Arc::default).measure_and_replace(&NotKeyed::NonKey, decide)
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RateLimiter")
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blocks")
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
