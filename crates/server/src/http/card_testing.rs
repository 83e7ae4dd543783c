//! Limits what a public key can be used for: everybody can read it in a page of a shop, and use it to find out which
//! stolen cards work (card testing) or to guess numbers and security codes (enumeration).
//!
//! Requests that make tokens, cards and charges count together: by key, by address, by the first six digits of the card
//! and by card. So do the cards that providers refuse; too many of these block for a while. Secret keys are not counted.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::card::record::Card;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::id::ClientId;
use regente_domain::session::cards::CardRefused;
use regente_engine::caller::{Authority, Caller};
use regente_engine::charges::CardTriedObserver;
use uuid::Uuid;

use super::MonotonicClock;
use super::error::ApiError;
use super::peer::PeerAddress;
use super::rates::{Blocks, Network, Rate, RateKey, RateLimiter};

/// The limits on public keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct CardTestingLimits {
    /// On each key but those of sessions.
    pub key: Bounds,
    /// On the key of each session.
    pub session: Bounds,
    /// On each address, for each account.
    pub address: Bounds,
    /// On the first six digits of cards, for each account.
    pub bin: Bounds,
    /// On each card, for each account.
    pub card: Bounds,
    /// How long too many refused cards block.
    pub block_for: Duration,
}

/// The bounds on what is counted together; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Requests.
    pub requests: Option<Rate>,
    /// Refused cards; one more begins a block.
    pub refusals: Option<Rate>,
}

/// Counts requests of public keys and the cards that were refused to them.
#[derive(Debug)]
pub struct CardTesting {
    key: Counted,
    session: Counted,
    address: Counted,
    bin: Counted,
    card: Counted,
}

#[derive(Debug)]
struct Counted {
    requests: RateLimiter,
    refusals: Blocks,
}

impl CardTesting {
    /// It has counted nothing yet.
    pub fn new(limits: &CardTestingLimits, clock: &MonotonicClock) -> Self {
        let counted = |bounds: Bounds| Counted {
            requests: RateLimiter::new(bounds.requests, clock.clone()),
            refusals: Blocks::new(bounds.refusals, limits.block_for, clock.clone()),
        };
        Self {
            key: counted(limits.key),
            session: counted(limits.session),
            address: counted(limits.address),
            bin: counted(limits.bin),
            card: counted(limits.card),
        }
    }

    /// Counts a request by its key and its address.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`].
    pub fn begin(self: &Arc<Self>, caller: &Caller, peer: PeerAddress) -> Result<Attempt, ApiError> {
        if !caller.is_public_key() {
            return Ok(Attempt(None));
        }
        let buyer = Buyer {
            client_id: caller.client_id,
            key: match caller.authority {
                Authority::SessionKey { session_id } => RateKey::Session(session_id.uuid()),
                Authority::SecretKey | Authority::ClientToken { .. } | Authority::Member { .. } => {
                    RateKey::PublicKey(caller.credential_id.uuid())
                }
            },
            network: peer.0.into(),
        };
        self.of_key(&buyer).check(&buyer.key)?;
        self.address.check(&buyer.address())?;
        Ok(Attempt(Some((Arc::clone(self), buyer))))
    }

    /// What counts the keys like this one.
    const fn of_key(&self, buyer: &Buyer) -> &Counted {
        match buyer.key {
            RateKey::Session(_) => &self.session,
            RateKey::PublicKey(_)
            | RateKey::SecretKey(_)
            | RateKey::Tokens(..)
            | RateKey::Authentication(_)
            | RateKey::PublicKeyFrom(..)
            | RateKey::Page(_)
            | RateKey::Address(..)
            | RateKey::Bin(..)
            | RateKey::Card(..)
            | RateKey::ReviewAnswer(_)
            | RateKey::SignIn(_)
            | RateKey::SignInAs(..)
            | RateKey::Notification(_)
            | RateKey::UnsignedNotification(..) => &self.key,
        }
    }
}

impl Counted {
    fn check(&self, key: &RateKey) -> Result<(), ApiError> {
        self.refusals.check(key)?;
        self.requests.check(key)
    }
}

/// Who makes a request with a public key.
#[derive(Clone, Copy)]
struct Buyer {
    client_id: ClientId,
    key: RateKey,
    network: Network,
}

impl Buyer {
    fn address(&self) -> RateKey {
        RateKey::Address(self.client_id, self.network)
    }
}

/// A card as it is counted.
#[derive(Clone, Copy)]
pub struct TriedCard {
    fingerprint: Uuid,
    bin: u32,
}

impl TriedCard {
    /// The card with this fingerprint, and its first six digits.
    pub fn new(fingerprint: Uuid, first6: &str) -> Self {
        Self { fingerprint, bin: first6.parse().unwrap_or_default() }
    }
}

impl From<&Card> for TriedCard {
    fn from(card: &Card) -> Self {
        Self::new(card.fingerprint, &card.face.first6digits)
    }
}

/// A request that may try a card. It holds nothing when it is not counted, since its key is secret.
#[derive(Clone)]
pub struct Attempt(Option<(Arc<CardTesting>, Buyer)>);

impl Attempt {
    /// Whether it is counted.
    pub const fn is_counted(&self) -> bool {
        self.0.is_some()
    }

    /// Counts the request by its card.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`].
    pub fn tries(&self, card: TriedCard) -> Result<(), ApiError> {
        let Some((counts, buyer)) = &self.0 else { return Ok(()) };
        counts.bin.check(&RateKey::Bin(buyer.client_id, card.bin))?;
        counts.card.check(&RateKey::Card(buyer.client_id, card.fingerprint))
    }

    /// Counts the request by its card, and answers who counts a refusal of it.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`].
    pub fn lets_try(&self, card: &Card) -> Result<Option<CardTriedObserver>, ApiError> {
        let tried = TriedCard::from(card);
        self.tries(tried)?;
        if !self.is_counted() {
            return Ok(None);
        }
        let attempt = self.clone();
        Ok(Some(Box::new(move |requests| attempt.ended(tried, requests))))
    }

    /// Counts a refusal of the card: some provider has refused it, and the last one has not approved it.
    fn ended(&self, card: TriedCard, requests: &[TransactionRequest]) {
        let Some((counts, buyer)) = &self.0 else { return };
        let is_approved = requests.last().is_some_and(|last| match &last.outcome {
            Outcome::Approved(_) => true,
            Outcome::Open
            | Outcome::Pending(_)
            | Outcome::Accepted(_)
            | Outcome::Declined(_)
            | Outcome::NoEffect(_)
            | Outcome::Analysed(_) => false,
        });
        let is_refused =
            !is_approved && requests.iter().any(|one| CardRefused::by(Some(one)) == CardRefused::Yes);
        if is_refused {
            counts.of_key(buyer).refusals.fail(&buyer.key);
            counts.address.refusals.fail(&buyer.address());
            counts.bin.refusals.fail(&RateKey::Bin(buyer.client_id, card.bin));
            counts.card.refusals.fail(&RateKey::Card(buyer.client_id, card.fingerprint));
        }
    }
}
