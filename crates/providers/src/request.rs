//! What a provider is asked: the call with its key, the configuration of the provider, and the operation. Nothing here
//! decides anything, and nothing here prints a secret.

use std::fmt;

use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::{CaptureMode, PaymentType, Recurrence};
use regente_domain::currency::Currency;
use regente_domain::mcc::Mcc;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroize;

/// One operation to be done by one configured provider.
#[derive(Debug)]
pub struct Call {
    /// Our own key of the operation: the same on every repetition, so that the provider does it once.
    pub key: Uuid,
    /// When the call is made, by the caller's clock.
    pub at: Timestamp,
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// How the merchant is known to the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// Which of the provider's environments is meant.
    pub mode: Mode,
    /// `X-Sandbox-Seed`: fixes what the simulator leaves to chance. Without effect in production.
    pub seed: Option<String>,
    /// `paymentFlow.metadata.sandboxFaults` of the charge: what goes wrong at the simulator for this one. Without effect
    /// in production.
    pub faults: Option<Value>,
    /// What is to be done.
    pub operation: Operation,
}

/// The question whether an earlier call had an effect.
#[derive(Debug)]
pub struct Inquiry {
    /// The key that the call was made with.
    pub key: Uuid,
    /// When the question is asked, by the caller's clock.
    pub at: Timestamp,
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// How the merchant is known to the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// Which of the provider's environments is meant.
    pub mode: Mode,
    /// As [`Call::faults`].
    pub faults: Option<Value>,
}

/// The environment of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Test hosts and test credentials; no real money.
    Sandbox,
    /// Real money.
    Production,
}

/// What can be asked of a provider.
#[derive(Debug)]
pub enum Operation {
    /// Take, or reserve, an amount from a card.
    Authorize(Authorization),
    /// Verify a card with a zero amount (`zero_dollar`).
    VerifyCard(Verification),
    /// Take what an authorization reserved, all of it or a part; the rest is released.
    Capture(FollowUp),
    /// Release what is reserved, or give back what was taken: all of it or a part.
    Void(FollowUp),
}

impl Operation {
    /// Its kind alone.
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::Authorize(_) => OperationKind::Authorization,
            Self::VerifyCard(_) => OperationKind::ZeroDollar,
            Self::Capture(_) => OperationKind::Capture,
            Self::Void(_) => OperationKind::Void,
        }
    }

    /// The amount that moves; zero for a verification.
    pub const fn amount(&self) -> Amount {
        match self {
            Self::Authorize(authorization) => authorization.amount,
            Self::VerifyCard(_) => Amount::ZERO,
            Self::Capture(follow_up) | Self::Void(follow_up) => follow_up.amount,
        }
    }

    /// The currency of [`Self::amount`].
    pub const fn currency(&self) -> Currency {
        match self {
            Self::Authorize(authorization) => authorization.currency,
            Self::VerifyCard(verification) => verification.currency,
            Self::Capture(follow_up) | Self::Void(follow_up) => follow_up.currency,
        }
    }

    /// The card that it is about. What follows an authorization refers to it and needs no card.
    pub const fn card(&self) -> Option<&CardDetails> {
        match self {
            Self::Authorize(authorization) => Some(&authorization.card),
            Self::VerifyCard(verification) => Some(&verification.card),
            Self::Capture(_) | Self::Void(_) => None,
        }
    }
}

/// The kinds of operations, without their details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// [`Operation::Authorize`], with or without capture.
    Authorization,
    /// [`Operation::VerifyCard`].
    ZeroDollar,
    /// [`Operation::Capture`].
    Capture,
    /// [`Operation::Void`].
    Void,
}

impl OperationKind {
    /// Every kind with its word.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("authorization", Self::Authorization),
        ("zero_dollar", Self::ZeroDollar),
        ("capture", Self::Capture),
        ("void", Self::Void),
    ];

    /// The word of the interface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::ZeroDollar => "zero_dollar",
            Self::Capture => "capture",
            Self::Void => "void",
        }
    }

    /// The kind of a word, exactly as [`Self::word`] spells it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

/// Takes or reserves an amount from a card.
#[derive(Debug)]
pub struct Authorization {
    /// How much, in minor units.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Captured at once, or reserved and captured later.
    pub capture: CaptureMode,
    /// Which card product is charged.
    pub payment_type: PaymentType,
    /// Number of installments, 1 for a single payment.
    pub installments: u8,
    /// Its place in a series of payments, when it is part of one.
    pub recurrence: Option<Recurrence>,
    /// The card.
    pub card: CardDetails,
    /// Text on the buyer's statement.
    pub statement_descriptor: Option<String>,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// Free text of the merchant.
    pub description: Option<String>,
    /// Reference that the merchant wants handed to the provider.
    pub provider_reference_key: Option<String>,
    /// The merchant's category code.
    pub merchant_mcc: Option<Mcc>,
}

/// Verifies a card without moving money.
#[derive(Debug)]
pub struct Verification {
    /// The currency of the zero amount.
    pub currency: Currency,
    /// The card.
    pub card: CardDetails,
    /// The merchant's category code.
    pub merchant_mcc: Option<Mcc>,
}

/// Something that is done with an earlier authorization.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// The key that the authorization was made with.
    pub authorization_key: Uuid,
    /// Its id at the provider, when the provider gave one.
    pub transaction_id: Option<String>,
    /// How much, in minor units.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
}

/// A card in the clear, for as long as the call takes.
#[derive(Clone)]
pub struct CardDetails {
    /// The full number.
    pub number: CardNumber,
    /// The holder's name, as embossed.
    pub holder_name: String,
    /// Month and year of expiry.
    pub expiry: Expiry,
    /// The security code; absent on later payments of a series and on stored cards charged without the buyer.
    pub cvv: Option<Cvv>,
}

/// Shows nothing of the card: not its number, not the security code, not the holder.
impl fmt::Debug for CardDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardDetails").finish_non_exhaustive()
    }
}

/// The credentials of a merchant at a provider. They are wiped when dropped and never printed.
pub struct Credentials(Map<String, Value>);

impl Credentials {
    /// From `providers[].credentials` in the clear.
    pub const fn new(members: Map<String, Value>) -> Self {
        Self(members)
    }

    /// The text of one member, if it is there and a text.
    pub fn expose(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

impl Drop for Credentials {
    fn drop(&mut self) {
        self.0.values_mut().for_each(wipe);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
