//! Tells the buyers at a checkout from programs that try many cards, where a session asks for that (`captchaEnabled`,
//! `docs/checkout.md#human-check`): at charges, checks of cards and tokens, which all tell something of a card.
//! [`HumanCheck`] is the seam for another way of telling them apart.

mod proof_of_work;

use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use regente_domain::session::Session;
use regente_engine::app::App;
use regente_engine::caller::Caller;
use regente_engine::error::Error;

pub use self::proof_of_work::ProofOfWork;

use crate::http::error::ApiError;
use crate::http::headers::{CAPTCHA_TOKEN, idempotency_key, single};

/// What a buyer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// To pay.
    Charge,
    /// To have a card checked.
    Card,
    /// To make a token.
    Token,
}

impl Operation {
    /// Every word with its value.
    pub const WORDS: [(&str, Self); 3] =
        [("charge", Self::Charge), ("card", Self::Card), ("token", Self::Token)];

    /// The word, as it is signed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Card => "card",
            Self::Token => "token",
        }
    }
}

/// What a buyer is about to do. What proves that they are a person is good for this operation with this idempotency key: once.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The session that they pay.
    pub session: &'a Session,
    /// The key that they call with.
    pub caller: &'a Caller,
    /// What they ask for.
    pub operation: Operation,
    /// The idempotency key of their request, which makes one of what they ask for at most.
    pub key: &'a str,
}

/// What a token is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It proves a person at this step.
    Passed,
    /// It is of another step, too old, or wrong.
    Refused,
}

/// A way of telling people from programs.
pub trait HumanCheck: Send + Sync {
    /// What the page of the buyer is given to make a token of.
    fn challenge<'a>(&'a self, app: &'a App, step: Step<'a>) -> BoxFuture<'a, Result<String, Error>>;

    /// Judges the token that the page has made.
    fn verify<'a>(
        &'a self,
        app: &'a App,
        step: Step<'a>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Verdict, Error>>;
}

/// Whether a request may go on that a session guards. A merchant's server, which has a secret key, proves nothing.
///
/// # Errors
/// [`ApiError::PersonUnproved`] when the session asks for a token, and there is none that counts. It brings a challenge for
/// the request along: the frames of the card fields know no session, and have nothing else to ask by.
pub async fn must_pass(
    check: &dyn HumanCheck,
    app: &App,
    (caller, headers): (&Caller, &HeaderMap),
    session: &Session,
    operation: Operation,
) -> Result<(), ApiError> {
    if !session.terms.captcha_enabled || !caller.is_public_key() {
        return Ok(());
    }
    let token = single(headers, CAPTCHA_TOKEN).map_err(|fault| Error::invalid("X-Captcha-Token", fault))?;
    let key = idempotency_key(headers)?;
    let step = key.as_ref().map(|key| Step { session, caller, operation, key: key.as_str() });
    let message = match (token, step) {
        (Some(token), Some(step)) => match check.verify(app, step, token).await? {
            Verdict::Passed => return Ok(()),
            Verdict::Refused => "X-Captcha-Token is wrong, too old, or of another request",
        },
        (None, _) | (Some(_), None) => "session asks for X-Captcha-Token, with X-Idempotency-Key",
    };
    let challenge = match step {
        Some(step) => Some(check.challenge(app, step).await?),
        None => None,
    };
    Err(ApiError::PersonUnproved { message, challenge })
}
