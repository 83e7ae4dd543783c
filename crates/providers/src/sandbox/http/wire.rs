//! Messages between client and simulator. They carry only what the simulator uses: of the merchant's
//! credentials the key that signs notifications, which is derived from them, and no holder's name. Each message has the
//! protocol version, each answer the key that it is about.

mod details;
mod questions;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::PaymentMethod;
use regente_domain::charge::authentication::{Authenticated, Found, LiabilityShift, Purpose};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_domain::vendor::VendorData;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;
use zeroize::Zeroize;

use crate::authentication::Proof;
use crate::division::Division;
use crate::outcome::Finding;
use crate::request::{
    Authorization, Call, CardDetails, ClickToPayCheckout, Credentials, FollowUp, Held, Inquiry, Instrument,
    Mode, NotificationAddress, Operation, PayerDetails, VendorDetails, Verification, WalletDetails,
};
use crate::sandbox::{Lookup, Recipient, overrides};
use crate::staged::{Staged, StagedEvent};

use self::details::Details;
pub use self::questions::{
    AssessedMessage, CardholderAnswerMessage, CardholderMessage, RiskMessage, SellerAnswerMessage,
    SellerMessage,
};

/// The protocol version. A message with another version is refused.
pub const PROTOCOL: u32 = 5;

/// Request to `POST /v1/calls`.
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
    /// Where notifications about the operation go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notify: Option<Recipient>,
    operation: OperationMessage,
    /// For an operator's own processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Box<Details>>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
enum OperationMessage {
    Authorization {
        amount: i64,
        currency: Currency,
        capture: CaptureMode,
        method: PaymentMethod,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network_transaction_id: Option<String>,
        instrument: InstrumentMessage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authentication: Option<AuthenticationMessage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        division: Option<Box<Division>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<Box<VendorMessage>>,
    },
    ZeroDollar {
        currency: Currency,
        card: CardMessage,
    },
    Capture(FollowUpMessage),
    Void(FollowUpMessage),
}

/// In whose name a payment is taken.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VendorMessage {
    reference_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payment_facilitator_id: Option<String>,
    data: VendorData,
}

/// What the simulator is told of the authentication of the cardholder.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
enum AuthenticationMessage {
    /// It is done.
    Done,
    /// The simulator does it.
    ToDo { purpose: Purpose, liability_shift: LiabilityShift, return_url: String },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FollowUpMessage {
    authorization_key: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    payment_type: PaymentType,
    amount: i64,
    currency: Currency,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    division: Option<Box<Division>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum InstrumentMessage {
    Card(CardMessage),
    Payer(PayerMessage),
    Wallet(WalletMessage),
}

/// The payer, of whom the simulator reads nothing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PayerMessage {}

/// What a wallet has handed out, of which the simulator reads nothing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WalletMessage {}

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

/// The answer to a call. Its members fit no other message: an answer left on the connection by an earlier request is
/// often about the same key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerMessage {
    /// The key of the call.
    pub key: Uuid,
    /// The outcome of the call.
    pub answer: Finding,
}

/// Request to `POST /v1/probes`.
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

/// The answer to a probe. Its members fit no other message, in particular not the answer to the probed call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeMessage {
    /// The probed key.
    pub key: Uuid,
    /// The outcome of the call; null when there was none and never will be one. An absent member is an error, not null.
    #[serde(deserialize_with = "Option::deserialize")]
    pub found: Option<Finding>,
}

/// Request to `POST /v1/staged`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StagedMessage {
    protocol: u32,
    key: Uuid,
    at: Timestamp,
    what: Staged,
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagedAnswer {
    /// The key of the call that it is about.
    pub staged: Uuid,
}

impl StagedMessage {
    /// The message for what a tester stages.
    pub const fn of(event: &StagedEvent) -> Self {
        Self { protocol: PROTOCOL, key: event.key, at: event.at, what: event.what }
    }

    /// Parses the body of a request.
    pub fn read(body: &[u8]) -> Result<StagedEvent, MessageError> {
        let Self { protocol: _, key, at, what } = read(body)?;
        Ok(StagedEvent { key, at, what })
    }
}

/// The body of every response that is not 2xx.
#[derive(Debug, Serialize, Deserialize)]
pub struct ErrorMessage {
    /// Error code, for programs.
    pub code: String,
    /// Error message, for people.
    pub message: String,
}

/// Why a message is refused.
#[derive(Debug, Error)]
pub enum MessageError {
    /// The protocol version is another one.
    #[error(
        "this is protocol {PROTOCOL}, and the message is of protocol {0}: use the same release on both sides"
    )]
    Protocol(u32),
    /// The body is not JSON, or a member is missing.
    #[error("the message cannot be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// A member has an invalid value.
    #[error("`{0}` is not valid")]
    Value(&'static str),
}

impl CallMessage {
    /// The message for a call.
    pub fn of(call: &Call) -> Self {
        let test_overrides = call.test_overrides.as_ref();
        Self {
            protocol: PROTOCOL,
            key: call.key,
            at: call.at,
            options: call.options.clone(),
            seed: overrides::seed(test_overrides).map(str::to_owned),
            faults: overrides::faults(test_overrides).cloned(),
            notify: Recipient::of(call),
            operation: OperationMessage::of(&call.operation),
            details: None,
        }
    }

    /// The message for an operator's own processor.
    pub fn with_details(call: &Call) -> Self {
        Self { details: Some(Box::new(Details::of(call))), ..Self::of(call) }
    }

    /// Parses the body of a request: the call, and who gets notifications about it.
    pub fn read(body: &[u8]) -> Result<(Call, Option<Recipient>), MessageError> {
        let message: Self = read(body)?;
        let object_id = message.notify.as_ref().map_or(Uuid::nil(), |recipient| recipient.object_id);
        let call = Call {
            key: message.key,
            object_id,
            notify: message.notify.as_ref().and_then(|recipient| NotificationAddress::parse(&recipient.url)),
            at: message.at,
            // The simulator remembers every key.
            begun_at: message.at,
            provider_type: ProviderType::Sandbox,
            credentials: Credentials::new(Map::new()),
            options: message.options,
            mode: Mode::Sandbox,
            test_overrides: overrides::overrides(Mode::Sandbox, message.seed, message.faults),
            operation: message.operation.understand()?,
        };
        Ok((call, message.notify))
    }
}

impl InquiryMessage {
    /// The message for a probe.
    pub fn of(inquiry: &Inquiry) -> Self {
        let faults = overrides::faults(inquiry.test_overrides.as_ref()).cloned();
        let options = inquiry.options.clone();
        Self { protocol: PROTOCOL, key: inquiry.key, at: inquiry.at, options, faults }
    }

    /// Parses the body of a request.
    pub fn read(body: &[u8]) -> Result<Lookup, MessageError> {
        let message: Self = read(body)?;
        Ok(Lookup {
            key: message.key,
            at: message.at,
            options: message.options,
            test_overrides: overrides::overrides(Mode::Sandbox, None, message.faults),
        })
    }
}

/// Checks the protocol version first: the members of another version may mean something else.
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
                method: authorization.method.clone(),
                network_transaction_id: authorization.network_transaction_id.clone(),
                instrument: InstrumentMessage::of(&authorization.instrument),
                authentication: AuthenticationMessage::of(authorization),
                division: authorization.division.clone(),
                vendor: authorization.vendor.as_deref().map(VendorMessage::of).map(Box::new),
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
            Self::Authorization {
                amount,
                currency,
                capture,
                method,
                network_transaction_id,
                instrument,
                authentication,
                division,
                vendor,
            } => {
                let (proof, liability_shift) = AuthenticationMessage::understand(authentication);
                Operation::Authorize(Authorization {
                    amount: minor_units(amount)?,
                    currency,
                    capture,
                    method,
                    network_transaction_id,
                    instrument: instrument.understand()?,
                    buyer: None,
                    statement_descriptor: None,
                    order_id: None,
                    description: None,
                    provider_reference_key: None,
                    merchant_mcc: None,
                    vendor: vendor.map(|vendor| Box::new(vendor.understand())),
                    proof,
                    liability_shift,
                    division,
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

impl VendorMessage {
    fn of(vendor: &VendorDetails) -> Self {
        let VendorDetails { reference_id, payment_facilitator_id, data } = vendor.clone();
        Self { reference_id, payment_facilitator_id, data }
    }

    fn understand(self) -> VendorDetails {
        let Self { reference_id, payment_facilitator_id, data } = self;
        VendorDetails { reference_id, payment_facilitator_id, data }
    }
}

impl AuthenticationMessage {
    fn of(authorization: &Authorization) -> Option<Self> {
        Some(match authorization.proof.as_deref()? {
            Proof::Answered(_) | Proof::Outside(_) => Self::Done,
            Proof::ToDo { purpose, return_url, .. } => Self::ToDo {
                purpose: *purpose,
                liability_shift: authorization.liability_shift,
                return_url: return_url.clone(),
            },
        })
    }

    fn understand(message: Option<Self>) -> (Option<Box<Proof>>, LiabilityShift) {
        match message {
            None => (None, LiabilityShift::NotRequired),
            Some(Self::Done) => {
                let done = Proof::Answered(Authenticated::bare(Found::Authenticated));
                (Some(Box::new(done)), LiabilityShift::NotRequired)
            }
            Some(Self::ToDo { purpose, liability_shift, return_url }) => {
                let to_do = Proof::ToDo { purpose, data: Box::default(), return_url };
                (Some(Box::new(to_do)), liability_shift)
            }
        }
    }
}

impl FollowUpMessage {
    fn of(follow_up: &FollowUp) -> Self {
        Self {
            authorization_key: follow_up.authorization_key,
            transaction_id: follow_up.transaction_id.clone(),
            payment_type: follow_up.payment_type,
            amount: follow_up.amount.minor_units(),
            currency: follow_up.currency,
            division: follow_up.division.clone(),
        }
    }

    fn understand(self) -> Result<FollowUp, MessageError> {
        let Self { authorization_key, transaction_id, payment_type, amount, currency, division } = self;
        let amount = minor_units(amount)?;
        Ok(FollowUp {
            authorization_key,
            transaction_id,
            payment_type,
            amount,
            currency,
            // The simulator looks into its own books.
            held: Held::Taken(amount),
            delay_to_compose: None,
            division,
        })
    }
}

impl InstrumentMessage {
    fn of(instrument: &Instrument) -> Self {
        match instrument {
            Instrument::Card(card) => Self::Card(CardMessage::of(card)),
            Instrument::Payer(_) => Self::Payer(PayerMessage {}),
            Instrument::Wallet(_) => Self::Wallet(WalletMessage {}),
        }
    }

    fn understand(&self) -> Result<Instrument, MessageError> {
        Ok(match self {
            Self::Card(card) => Instrument::Card(card.understand()?),
            Self::Payer(PayerMessage {}) => Instrument::Payer(Box::new(PayerDetails::unknown())),
            Self::Wallet(WalletMessage {}) => {
                Instrument::Wallet(Box::new(WalletDetails::ClickToPay(ClickToPayCheckout::default())))
            }
        })
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
        let number = CardNumber::parse(&self.number).map_err(|_| MessageError::Value("card.number"))?;
        let cvv = self.cvv.as_deref().map(|cvv| Cvv::parse(cvv).ok_or(MessageError::Value("card.cvv")));
        Ok(CardDetails { number, holder_name: String::new(), expiry: self.expiry, cvv: cvv.transpose()? })
    }
}

fn minor_units(amount: i64) -> Result<Amount, MessageError> {
    Amount::new(amount).ok_or(MessageError::Value("operation.amount"))
}
