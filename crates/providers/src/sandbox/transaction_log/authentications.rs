//! Entries of the log of authentications, one for each key. They contain nothing of the cardholder or the card.

use regente_domain::charge::authentication::Purpose;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The log entry of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationEntry {
    /// The key of the authentication: our own, or that of the authorization.
    pub key: Uuid,
    /// When it was requested first, by the caller's clock.
    pub at: Timestamp,
    /// Where the cardholder is authenticated.
    pub place: AuthenticatedAt,
    /// How the card behaves.
    pub card: TestCard,
    /// What was asked for.
    pub purpose: Purpose,
    /// The cardholder's answer to the challenge.
    pub decision: Option<Decision>,
}

/// Where a cardholder is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticatedAt {
    /// At the 3DS server.
    Server,
    /// At the payment provider, while it authorizes.
    PaymentProvider,
}

/// How a card behaves in an authentication (`docs/interface/sandbox.md#3-d-secure`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestCard {
    /// The issuer asks the cardholder, and believes them.
    ChallengePasses,
    /// The issuer asks the cardholder, and does not believe them.
    ChallengeFails,
    /// The issuer authenticates without asking.
    Frictionless,
    /// The issuer refuses without asking.
    Refused,
    /// The card takes no part in 3-D Secure.
    NotEnrolled,
    /// The issuer reports an error.
    Error,
}

/// The cardholder's answer to a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is they who pay.
    Approve,
    /// It is not.
    Refuse,
}
