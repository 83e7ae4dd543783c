//! Messages with questions about cardholders, risks and sellers, and their answers.

use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::details::SellerDetails;
use super::{MessageError, PROTOCOL, read};
use crate::request::Mode;
use crate::sandbox::{
    Assessed, CardholderAnswer, CardholderAsks, CardholderQuestion, Recipient, RiskAsks, RiskQuestion,
    SellerQuestion, SimulatedAnswer, SimulatedAsks, overrides,
};
use crate::seller::SellerCall;

/// Request to `POST /v1/authentications`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CardholderMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<Value>,
    asks: CardholderAsks,
}

/// The answer to a question about the authentication of a cardholder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardholderAnswerMessage {
    /// The key of the authentication.
    pub key: Uuid,
    /// The answer.
    pub cardholder: CardholderAnswer,
}

/// Request to `POST /v1/analyses`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RiskMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<Value>,
    asks: RiskAsks,
}

/// The answer to a question about a risk.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssessedMessage {
    /// The key of the analysis or feeding.
    pub key: Uuid,
    /// The answer.
    pub assessed: Assessed,
}

/// Request to `POST /v1/sellers`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SellerMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    /// Where notifications about the seller go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notify: Option<Recipient>,
    asks: SimulatedAsks,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Box<SellerDetails>>,
}

/// The answer to a question about a seller.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SellerAnswerMessage {
    /// The key of the registration.
    pub key: Uuid,
    /// The answer.
    pub seller: SimulatedAnswer,
}

impl SellerMessage {
    /// The message for a question.
    pub fn of(question: &SellerQuestion) -> Self {
        Self {
            protocol: PROTOCOL,
            key: question.key,
            at: question.at,
            options: question.options.clone(),
            notify: question.notify.clone(),
            asks: question.asks.clone(),
            details: None,
        }
    }

    /// The message for an operator's own processor.
    pub fn with_details(call: SellerCall) -> Self {
        let details = Box::new(SellerDetails::of(&call));
        Self { details: Some(details), ..Self::of(&SellerQuestion::from(call)) }
    }

    /// Parses the body of a request.
    pub fn read(body: &[u8]) -> Result<SellerQuestion, MessageError> {
        let Self { key, at, options, notify, asks, .. } = read(body)?;
        Ok(SellerQuestion { key, at, options, notify, asks })
    }
}

impl CardholderMessage {
    /// The message for a question.
    pub fn of(question: &CardholderQuestion) -> Self {
        Self {
            protocol: PROTOCOL,
            key: question.key,
            at: question.at,
            faults: overrides::faults(question.test_overrides.as_ref()).cloned(),
            asks: question.asks.clone(),
        }
    }

    /// Parses the body of a request.
    pub fn read(body: &[u8]) -> Result<CardholderQuestion, MessageError> {
        let message: Self = read(body)?;
        Ok(CardholderQuestion {
            key: message.key,
            at: message.at,
            test_overrides: overrides::overrides(Mode::Sandbox, None, message.faults),
            asks: message.asks,
        })
    }
}

impl RiskMessage {
    /// The message for a question.
    pub fn of(question: &RiskQuestion) -> Self {
        let test_overrides = question.test_overrides.as_ref();
        Self {
            protocol: PROTOCOL,
            key: question.key,
            at: question.at,
            seed: overrides::seed(test_overrides).map(str::to_owned),
            faults: overrides::faults(test_overrides).cloned(),
            asks: question.asks.clone(),
        }
    }

    /// Parses the body of a request.
    pub fn read(body: &[u8]) -> Result<RiskQuestion, MessageError> {
        let message: Self = read(body)?;
        Ok(RiskQuestion {
            key: message.key,
            at: message.at,
            test_overrides: overrides::overrides(Mode::Sandbox, message.seed, message.faults),
            asks: message.asks,
        })
    }
}
