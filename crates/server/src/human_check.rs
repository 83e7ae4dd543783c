//! Tells the buyers at a checkout from programs that try many cards, where a session asks for that (`captchaEnabled`,
//! `docs/checkout.md#human-check`). [`HumanCheck`] is the seam for another way of telling them apart.

mod proof_of_work;

use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use regente_domain::session::Session;
use regente_engine::app::App;
use regente_engine::caller::Caller;
use regente_engine::error::Error;

pub use self::proof_of_work::ProofOfWork;

use crate::http::business_code::CAPTCHA_REQUIRED;
use crate::http::headers::{CAPTCHA_TOKEN, idempotency_key, single};

/// One payment that a buyer is about to make. What proves that he is a person is good for this one alone.
#[derive(Clone, Copy, Debug)]
pub struct Payment<'a> {
    /// What he pays.
    pub session: &'a Session,
    /// The key that he pays with.
    pub caller: &'a Caller,
    /// The idempotency key of his payment, which makes one charge at most.
    pub key: &'a str,
}

/// What a token is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It proves a person at this payment.
    Passed,
    /// It is of another payment, too old, or wrong.
    Refused,
}

/// A way of telling people from programs.
pub trait HumanCheck: Send + Sync {
    /// What the page of the buyer is given to make a token of.
    fn challenge<'a>(&'a self, app: &'a App, payment: Payment<'a>) -> BoxFuture<'a, Result<String, Error>>;

    /// Judges the token that the page has made.
    fn verify<'a>(
        &'a self,
        app: &'a App,
        payment: Payment<'a>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Verdict, Error>>;
}

/// Whether a payment may go on. A merchant's server, which has a secret key, proves nothing.
///
/// # Errors
/// [`Error::BusinessRule`] when the session asks for a token, and there is none that counts.
pub async fn must_pass(
    check: &dyn HumanCheck,
    app: &App,
    caller: &Caller,
    session: &Session,
    headers: &HeaderMap,
) -> Result<(), Error> {
    if !session.terms.captcha_enabled || !caller.is_public_key() {
        return Ok(());
    }
    let refused = |message: &'static str| {
        Err(Error::BusinessRule { business_code: CAPTCHA_REQUIRED, message: message.into() })
    };
    let token = single(headers, CAPTCHA_TOKEN).map_err(|fault| Error::invalid("X-Captcha-Token", fault))?;
    let key = idempotency_key(headers)?;
    let (Some(token), Some(key)) = (token, key) else {
        return refused("session asks for X-Captcha-Token, with X-Idempotency-Key");
    };
    let payment = Payment { session, caller, key: key.as_str() };
    match check.verify(app, payment, token).await? {
        Verdict::Passed => Ok(()),
        Verdict::Refused => refused("X-Captcha-Token is wrong, too old, or of another payment"),
    }
}
