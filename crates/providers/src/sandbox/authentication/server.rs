//! The simulator as a 3DS server: the adapter of its provider type, and the pages that a browser is sent to. What it
//! finds out about a cardholder is in the books.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures_util::future::BoxFuture;
use regente_domain::charge::authentication::{Authenticated, Found};
use regente_domain::charge::instructions::Instructions;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::token::{self, Claims, Token};
use super::{
    CHALLENGE_LIFE, CardholderAnswer, CardholderAsks, CardholderBooks, CardholderQuestion, STEP_UP_PATH,
};
use crate::authentication::{
    AuthenticationAdapter, AuthenticationServer, DeviceCollection, Enrolled, Enrollment, Setup, Validation,
};
use crate::sandbox::transaction_log::{AuthenticatedAt, AuthenticationEntry, Decision, TestCard};

/// The path of the page that collects the data of the device.
const COLLECT_PATH: &str = "/3ds/collect";

/// The simulator's 3DS server: the adapter, and what its pages need.
#[derive(Clone)]
pub struct SimulatedServer {
    books: Arc<dyn CardholderBooks>,
    key: hmac::Key,
    base_url: Arc<str>,
}

/// What the page of a challenge shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The key of the authentication.
    pub key: Uuid,
    /// The amount in minor units.
    pub amount: i64,
    /// ISO 4217 currency of `amount`.
    pub currency: String,
    /// The merchant, as the cardholder knows them; absent where the payment provider asks.
    pub merchant: Option<String>,
    /// Where the browser goes afterwards: always a page of this service.
    pub return_url: String,
}

/// A token or form that leads to no challenge: forged, of another kind, or too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAChallenge;

impl SimulatedServer {
    /// A server with these books, whose tokens are signed with `key` and whose pages are below `base_url`.
    pub fn new(books: Arc<dyn CardholderBooks>, key: &[u8], base_url: Arc<str>) -> Self {
        Self { books, key: hmac::Key::new(hmac::HMAC_SHA256, key), base_url }
    }

    /// The adapter of its provider type.
    pub fn adapter(&self) -> AuthenticationAdapter {
        (ProviderType::Sandbox, Box::new(self.clone()))
    }

    /// Whether a browser has brought the token of a setup that is still good.
    pub fn is_setup(&self, token: &str, now: Timestamp) -> bool {
        Token::read(token, &self.key, now).is_some_and(|claims| claims.reference_id.is_some())
    }

    /// The challenge that a token of a 3DS server leads to.
    ///
    /// # Errors
    /// [`NotAChallenge`].
    pub fn challenge(&self, token: &str, now: Timestamp) -> Result<Challenge, NotAChallenge> {
        let claims = Token::read(token, &self.key, now).ok_or(NotAChallenge)?;
        let (Some(payload), Some(return_url)) = (claims.payload, claims.return_url) else {
            return Err(NotAChallenge);
        };
        let shown = STANDARD.decode(&payload.payload).map_err(|_| NotAChallenge)?;
        let shown: Shown = serde_json::from_slice(&shown).map_err(|_| NotAChallenge)?;
        let key = payload.transaction_id.parse().map_err(|_| NotAChallenge)?;
        let Shown { amount, currency, merchant } = shown;
        Ok(Challenge { key, amount, currency, merchant, return_url })
    }

    /// The challenge that the form of a payment provider leads to. Its fields are not signed: the return address must
    /// be one of this service.
    ///
    /// # Errors
    /// [`NotAChallenge`].
    pub fn hosted_challenge(
        &self,
        md: &str,
        pa_req: &str,
        term_url: &str,
    ) -> Result<Challenge, NotAChallenge> {
        let shown = URL_SAFE_NO_PAD.decode(pa_req).map_err(|_| NotAChallenge)?;
        let shown: Shown = serde_json::from_slice(&shown).map_err(|_| NotAChallenge)?;
        let key = md.parse().map_err(|_| NotAChallenge)?;
        if !term_url.starts_with(&format!("{}/v1/charges/", self.base_url)) {
            return Err(NotAChallenge);
        }
        let Shown { amount, currency, merchant } = shown;
        Ok(Challenge { key, amount, currency, merchant, return_url: term_url.to_owned() })
    }

    /// Notes the cardholder's answer; the first one counts. `false` when there is no such challenge, or it cannot be
    /// noted now.
    pub async fn decide(&self, key: Uuid, decision: Decision, at: Timestamp) -> bool {
        let asks = CardholderAsks::Decide { decision };
        match self.books.ask(CardholderQuestion { key, at, test_overrides: None, asks }).await {
            CardholderAnswer::Found(_) | CardholderAnswer::Waiting => true,
            CardholderAnswer::Unknown | CardholderAnswer::Unavailable => false,
        }
    }
}

/// What the challenge shows, inside the challenge request.
#[derive(Serialize, Deserialize)]
struct Shown {
    amount: i64,
    currency: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
}

impl AuthenticationServer for SimulatedServer {
    fn set_up(&self, setup: Setup) -> BoxFuture<'_, DeviceCollection> {
        let claims = Claims::new(setup.id.uuid(), setup.at, setup.life).of_setup(setup.id.uuid());
        let collection = DeviceCollection {
            collect_url: format!("{}{COLLECT_PATH}", self.base_url),
            token: Token::sign(&claims, &self.key),
        };
        Box::pin(async move { collection })
    }

    fn enroll(&self, enrollment: Enrollment) -> BoxFuture<'_, Enrolled> {
        Box::pin(async move {
            let Enrollment { key, at, purpose, amount, currency, card, return_url, merchant, .. } =
                enrollment;
            let asks = CardholderAsks::Enroll { card: TestCard::of(&card.number), purpose };
            drop(card);
            let test_overrides = enrollment.test_overrides;
            match self.books.ask(CardholderQuestion { key, at, test_overrides, asks }).await {
                CardholderAnswer::Found(authenticated) => Enrolled::Decided(authenticated),
                CardholderAnswer::Waiting => {
                    let entry = AuthenticationEntry {
                        key,
                        at,
                        place: AuthenticatedAt::Server,
                        card: TestCard::ChallengePasses,
                        purpose,
                        decision: None,
                    };
                    let currency = currency.code().to_owned();
                    let shown = Shown { amount: amount.minor_units(), currency, merchant: Some(merchant) };
                    let instructions = self.step_up(key, at, &shown, return_url);
                    Enrolled::Challenge { authenticated: entry.with(Found::ChallengeWanted), instructions }
                }
                CardholderAnswer::Unknown | CardholderAnswer::Unavailable => {
                    Enrolled::Decided(Authenticated::bare(Found::Unavailable))
                }
            }
        })
    }

    fn validate(&self, validation: Validation) -> BoxFuture<'_, Option<Authenticated>> {
        Box::pin(async move {
            let Validation { key, at, .. } = validation;
            let asks = CardholderAsks::Validate;
            match self.books.ask(CardholderQuestion { key, at, test_overrides: None, asks }).await {
                CardholderAnswer::Found(authenticated) => Some(authenticated),
                CardholderAnswer::Waiting | CardholderAnswer::Unknown | CardholderAnswer::Unavailable => None,
            }
        })
    }

    fn deadline(&self) -> Duration {
        self.books.answers_within()
    }
}

impl SimulatedServer {
    fn step_up(&self, key: Uuid, at: Timestamp, shown: &Shown, return_url: String) -> Instructions {
        let step_up_url = format!("{}{STEP_UP_PATH}", self.base_url);
        // Numbers and texts always serialize.
        let pareq = STANDARD.encode(serde_json::to_vec(shown).unwrap_or_default());
        let payload = token::Payload {
            acs_url: step_up_url.clone(),
            payload: pareq.clone(),
            transaction_id: key.to_string(),
        };
        let claims = Claims::new(key, at, CHALLENGE_LIFE).of_challenge(payload, return_url);
        Instructions::Challenge { step_up_url, token: Token::sign(&claims, &self.key), pareq }
    }
}
