//! What is said on the wire. Messages carry what the simulator looks at and nothing else: no credentials of a merchant,
//! no holder's name. Each carries the number of the protocol, each answer the key that it is about.

use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::{CaptureMode, PaymentType};
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;
use zeroize::Zeroize;

use crate::outcome::{Approval, Finding};
use crate::request::{
    Authorization, Call, CardDetails, Credentials, FollowUp, Inquiry, Mode, Operation, OperationKind,
    Verification,
};
use crate::sandbox::{Answered, Balance, CardTrace, Deed, Entry, Record, Stored};

/// The number of this protocol. A message with another one is refused.
pub const PROTOCOL: u32 = 1;
/// Most entries on one page.
pub const ENTRIES_LIMIT_MAX: usize = 1_000;
/// Most balances on one page.
pub const BALANCES_LIMIT_MAX: usize = 10_000;

/// `POST /v1/calls`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<Value>,
    operation: OperationMessage,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
enum OperationMessage {
    Authorization {
        amount: i64,
        currency: Currency,
        capture: CaptureMode,
        payment_type: PaymentType,
        installments: u8,
        card: CardMessage,
    },
    ZeroDollar {
        currency: Currency,
        card: CardMessage,
    },
    Capture(FollowUpMessage),
    Void(FollowUpMessage),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FollowUpMessage {
    authorization_key: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    amount: i64,
    currency: Currency,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CardMessage {
    number: String,
    expiry: Expiry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cvv: Option<String>,
}

impl Drop for CardMessage {
    fn drop(&mut self) {
        self.number.zeroize();
        self.cvv.zeroize();
    }
}

/// The answer to a call.
#[derive(Debug, Serialize, Deserialize)]
pub struct AnswerMessage {
    /// The key of the call.
    pub key: Uuid,
    /// How it ended.
    pub answer: Finding,
}

/// `POST /v1/probes`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InquiryMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<Value>,
}

/// The answer to a probe.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProbeMessage {
    /// The key that was asked for.
    pub key: Uuid,
    /// How its call ended; null when there was none and never will be one.
    pub found: Option<Finding>,
}

/// Every answer that is not 2xx.
#[derive(Debug, Serialize, Deserialize)]
pub struct ErrorMessage {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// Why a message is not taken.
#[derive(Debug, Error)]
pub enum MessageError {
    /// It is spoken otherwise.
    #[error(
        "this is protocol {PROTOCOL}, and the message is of protocol {0}: use the same release on both sides"
    )]
    Protocol(u32),
    /// It is no JSON, or misses something.
    #[error("the message cannot be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// A value cannot be.
    #[error("`{0}` is not valid")]
    Value(&'static str),
}

impl CallMessage {
    /// Says what a call says to the simulator.
    pub fn of(call: &Call) -> Self {
        let (seed, faults) = match call.mode {
            Mode::Sandbox => (call.seed.clone(), call.faults.clone()),
            Mode::Production => (None, None),
        };
        Self {
            protocol: PROTOCOL,
            key: call.key,
            at: call.at,
            options: call.options.clone(),
            seed,
            faults,
            operation: OperationMessage::of(&call.operation),
        }
    }

    /// Reads the body of a request.
    pub fn read(body: &[u8]) -> Result<Call, MessageError> {
        let message: Self = read(body)?;
        Ok(Call {
            key: message.key,
            at: message.at,
            provider_type: ProviderType::Sandbox,
            credentials: Credentials::new(Map::new()),
            options: message.options,
            mode: Mode::Sandbox,
            seed: message.seed,
            faults: message.faults,
            operation: message.operation.understand()?,
        })
    }
}

impl InquiryMessage {
    /// Says what a probe says to the simulator.
    pub fn of(inquiry: &Inquiry) -> Self {
        let faults = match inquiry.mode {
            Mode::Sandbox => inquiry.faults.clone(),
            Mode::Production => None,
        };
        let options = inquiry.options.clone();
        Self { protocol: PROTOCOL, key: inquiry.key, at: inquiry.at, options, faults }
    }

    /// Reads the body of a request.
    pub fn read(body: &[u8]) -> Result<Inquiry, MessageError> {
        let message: Self = read(body)?;
        Ok(Inquiry {
            key: message.key,
            at: message.at,
            provider_type: ProviderType::Sandbox,
            credentials: Credentials::new(Map::new()),
            options: message.options,
            mode: Mode::Sandbox,
            faults: message.faults,
        })
    }
}

/// First the number of the protocol: of another one nothing else may be understood.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, MessageError> {
    #[derive(Deserialize)]
    struct Head {
        protocol: u32,
    }
    match serde_json::from_slice(body)? {
        Head { protocol: PROTOCOL } => Ok(serde_json::from_slice(body)?),
        Head { protocol } => Err(MessageError::Protocol(protocol)),
    }
}

impl OperationMessage {
    fn of(operation: &Operation) -> Self {
        match operation {
            Operation::Authorize(authorization) => Self::Authorization {
                amount: authorization.amount.minor_units(),
                currency: authorization.currency,
                capture: authorization.capture,
                payment_type: authorization.payment_type,
                installments: authorization.installments,
                card: CardMessage::of(&authorization.card),
            },
            Operation::VerifyCard(verification) => Self::ZeroDollar {
                currency: verification.currency,
                card: CardMessage::of(&verification.card),
            },
            Operation::Capture(follow_up) => Self::Capture(FollowUpMessage::of(follow_up)),
            Operation::Void(follow_up) => Self::Void(FollowUpMessage::of(follow_up)),
        }
    }

    fn understand(self) -> Result<Operation, MessageError> {
        Ok(match self {
            Self::Authorization { amount, currency, capture, payment_type, installments, card } => {
                Operation::Authorize(Authorization {
                    amount: minor_units(amount)?,
                    currency,
                    capture,
                    payment_type,
                    installments,
                    recurrence: None,
                    card: card.understand()?,
                    statement_descriptor: None,
                    order_id: None,
                    description: None,
                    provider_reference_key: None,
                    merchant_mcc: None,
                })
            }
            Self::ZeroDollar { currency, card } => {
                Operation::VerifyCard(Verification { currency, card: card.understand()?, merchant_mcc: None })
            }
            Self::Capture(follow_up) => Operation::Capture(follow_up.understand()?),
            Self::Void(follow_up) => Operation::Void(follow_up.understand()?),
        })
    }
}

impl FollowUpMessage {
    fn of(follow_up: &FollowUp) -> Self {
        Self {
            authorization_key: follow_up.authorization_key,
            transaction_id: follow_up.transaction_id.clone(),
            amount: follow_up.amount.minor_units(),
            currency: follow_up.currency,
        }
    }

    fn understand(self) -> Result<FollowUp, MessageError> {
        let Self { authorization_key, transaction_id, amount, currency } = self;
        Ok(FollowUp { authorization_key, transaction_id, amount: minor_units(amount)?, currency })
    }
}

impl CardMessage {
    fn of(card: &CardDetails) -> Self {
        Self {
            number: card.number.expose_digits().to_owned(),
            expiry: card.expiry,
            cvv: card.cvv.as_ref().map(|cvv| cvv.expose().to_owned()),
        }
    }

    fn understand(&self) -> Result<CardDetails, MessageError> {
        let number =
            CardNumber::parse(&self.number).map_err(|_| MessageError::Value("operation.card.number"))?;
        let cvv =
            self.cvv.as_deref().map(|cvv| Cvv::parse(cvv).ok_or(MessageError::Value("operation.card.cvv")));
        Ok(CardDetails { number, holder_name: String::new(), expiry: self.expiry, cvv: cvv.transpose()? })
    }
}

fn minor_units(amount: i64) -> Result<Amount, MessageError> {
    Amount::new(amount).ok_or(MessageError::Value("operation.amount"))
}

/// `GET /v1/entries`.
#[derive(Debug, Serialize, Deserialize)]
pub struct EntryPage {
    /// The entries.
    pub items: Vec<EntryView>,
    /// What to give as `after` for the next page; null on the last one.
    pub next: Option<u64>,
}

/// One entry of the books.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// Its place in the books, from 1.
    pub sequence: u64,
    /// The key of the call.
    pub key: Uuid,
    /// When, by the caller's clock.
    pub at: Timestamp,
    /// `approved`, `declined`, or `probed_before_arrival`.
    pub outcome: Outcome,
    /// The word of the operation; absent where none arrived, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Of an authorization: taken at once, or reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureMode>,
    /// The authorization that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_key: Option<Uuid>,
    /// In minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// Of the amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// What is known of the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<CardView>,
    /// The identifiers of an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The reasons of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done.
    Approved,
    /// Refused.
    Declined,
    /// Asked for before it came, so it never will be done.
    ProbedBeforeArrival,
}

/// Enough of a card to recognise it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardView {
    /// The last four digits.
    pub last_four: String,
    /// Keyed hash of the number, in hexadecimal.
    pub hash: String,
}

impl From<&Stored> for EntryView {
    fn from(Stored { sequence, entry }: &Stored) -> Self {
        let answered = entry.answered();
        let deed = answered.map(|answered| &answered.deed);
        let (outcome, approval, decline) = match answered.map(|answered| answered.finding.clone()) {
            Some(Finding::Approved(approval)) => (Outcome::Approved, Some(approval), None),
            Some(Finding::Declined(decline)) => (Outcome::Declined, None, Some(decline)),
            None => (Outcome::ProbedBeforeArrival, None, None),
        };
        Self {
            sequence: *sequence,
            key: entry.key,
            at: entry.at,
            outcome,
            operation: deed.map(|deed| deed.kind().word().to_owned()),
            capture: deed.and_then(Deed::capture),
            authorization_key: entry.authorization_key(),
            amount: answered.map(|answered| answered.amount.minor_units()),
            currency: answered.map(|answered| answered.currency),
            card: deed
                .and_then(Deed::card)
                .map(|card| CardView { last_four: card.last_four.clone(), hash: hex::encode(&card.hash) }),
            approval,
            decline,
        }
    }
}

impl EntryView {
    /// The entry as the books have it; nothing where it makes no sense.
    pub fn understand(self) -> Option<Stored> {
        let (sequence, key, at) = (self.sequence, self.key, self.at);
        let record = match self.outcome {
            Outcome::ProbedBeforeArrival => Record::ProbedBeforeArrival,
            Outcome::Approved | Outcome::Declined => Record::Answered(Box::new(self.answered()?)),
        };
        Some(Stored { sequence, entry: Entry { key, at, record } })
    }

    fn answered(self) -> Option<Answered> {
        let card = self.card.and_then(|card| {
            Some(CardTrace { hash: hex::decode(card.hash).ok()?, last_four: card.last_four })
        });
        let deed = match OperationKind::parse(self.operation.as_deref()?)? {
            OperationKind::Authorization => Deed::Authorization { capture: self.capture?, card: card? },
            OperationKind::ZeroDollar => Deed::Verification { card: card? },
            OperationKind::Capture => Deed::Capture { authorization_key: self.authorization_key? },
            OperationKind::Void => Deed::Void { authorization_key: self.authorization_key? },
        };
        let finding = self.approval.map(Finding::Approved).or(self.decline.map(Finding::Declined))?;
        Some(Answered { deed, amount: Amount::new(self.amount?)?, currency: self.currency?, finding })
    }
}

/// `GET /v1/balances`.
#[derive(Debug, Serialize, Deserialize)]
pub struct BalancePage {
    /// The money of each authorization, in the order of the keys.
    pub items: Vec<BalanceView>,
    /// Of all authorizations, not only of this page.
    pub totals: Vec<TotalView>,
    /// What to give as `after` for the next page; null on the last one.
    pub next: Option<Uuid>,
}

/// The money of one authorization, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceView {
    /// The key of the authorization.
    pub authorization_key: Uuid,
    /// In which currency.
    pub currency: Currency,
    /// For how much it was approved.
    pub authorized: i64,
    /// What is held and not yet taken.
    pub reserved: i64,
    /// What was taken.
    pub captured: i64,
    /// What was taken and given back.
    pub refunded: i64,
    /// What was held and let go.
    pub released: i64,
    /// Captured minus refunded.
    pub kept: i64,
}

/// The money of all authorizations in one currency, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TotalView {
    /// Which currency.
    pub currency: Currency,
    /// How many authorizations were approved.
    pub authorizations: u64,
    /// As of one authorization.
    pub authorized: i64,
    /// As of one authorization.
    pub reserved: i64,
    /// As of one authorization.
    pub captured: i64,
    /// As of one authorization.
    pub refunded: i64,
    /// As of one authorization.
    pub released: i64,
    /// Captured minus refunded.
    pub kept: i64,
}

impl BalanceView {
    /// The balance of an authorization.
    pub fn of(authorization_key: Uuid, balance: &Balance) -> Self {
        Self {
            authorization_key,
            currency: balance.currency,
            authorized: balance.authorized.minor_units(),
            reserved: balance.reserved.minor_units(),
            captured: balance.captured.minor_units(),
            refunded: balance.refunded.minor_units(),
            released: balance.released.minor_units(),
            kept: balance.kept().minor_units(),
        }
    }

    /// The balance as the books have it; nothing where it makes no sense.
    pub fn understand(&self) -> Option<(Uuid, Balance)> {
        let balance = Balance {
            currency: self.currency,
            authorized: Amount::new(self.authorized)?,
            reserved: Amount::new(self.reserved)?,
            captured: Amount::new(self.captured)?,
            refunded: Amount::new(self.refunded)?,
            released: Amount::new(self.released)?,
        };
        Some((self.authorization_key, balance))
    }
}

impl TotalView {
    /// Adds up, in the order of the currencies' codes.
    pub fn of<'a>(balances: impl IntoIterator<Item = &'a BalanceView>) -> Vec<Self> {
        let mut totals = std::collections::BTreeMap::new();
        for balance in balances {
            let total = totals.entry(balance.currency.code()).or_insert(Self {
                currency: balance.currency,
                authorizations: 0,
                authorized: 0,
                reserved: 0,
                captured: 0,
                refunded: 0,
                released: 0,
                kept: 0,
            });
            total.authorizations += 1;
            for (sum, amount) in [
                (&mut total.authorized, balance.authorized),
                (&mut total.reserved, balance.reserved),
                (&mut total.captured, balance.captured),
                (&mut total.refunded, balance.refunded),
                (&mut total.released, balance.released),
                (&mut total.kept, balance.kept),
            ] {
                *sum = sum.saturating_add(amount);
            }
        }
        totals.into_values().collect()
    }
}
