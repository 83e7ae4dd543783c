//! Requests to providers: the call with its key, the provider's configuration, and the operation. Debug output contains
//! no secrets.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::PaymentMethod;
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::customer::{Address, Document, NO_DOCUMENT};
use regente_domain::mcc::Mcc;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_domain::vendor::VendorData;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

use crate::authentication::proof::Proof;
use crate::division::Division;

/// One operation for one configured provider.
#[derive(Debug)]
pub struct Call {
    /// Our key of the operation, the same on every repetition: the provider carries it out once.
    pub key: Uuid,
    /// The charge or the card that the operation belongs to: the merchant's reference of the transaction, which
    /// notifications repeat together with the key.
    pub object_id: Uuid,
    /// Where the provider sends notifications about the operation, if this service can be reached.
    pub notify: Option<NotificationAddress>,
    /// When the call is made, by the caller's clock.
    pub at: Timestamp,
    /// When the operation was asked for: a provider remembers its key for so long only.
    pub begun_at: Timestamp,
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// The merchant's credentials at the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// The provider's environment that is called.
    pub mode: Mode,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
    /// The operation to carry out.
    pub operation: Operation,
}

/// A probe: asks whether an earlier call had an effect.
#[derive(Debug)]
pub struct Inquiry {
    /// The key that the call was made with.
    pub key: Uuid,
    /// [`Call::object_id`] of the call: providers are searched by the merchant's reference, which has both.
    pub object_id: Uuid,
    /// The operation of the call.
    pub operation: OperationKind,
    /// Who was to take the money of an authorization; `None` of what is no authorization.
    pub capture: Option<CaptureMode>,
    /// The provider's id of the transaction, when known.
    pub reference: Option<String>,
    /// What the payer's browser has brought back from the provider, by name: the members of the address's query and of
    /// the form. Anyone can make them up; empty where the browser is not back.
    pub returned: BTreeMap<String, String>,
    /// When the call was sent, by the caller's clock.
    pub sent_at: Timestamp,
    /// When the probe is made, by the caller's clock.
    pub at: Timestamp,
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// The merchant's credentials at the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// The provider's environment that is called.
    pub mode: Mode,
    /// As [`Call::test_overrides`].
    pub test_overrides: Option<TestOverrides>,
}

/// Where a provider sends its notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationAddress {
    /// The address of this service, without a slash at its end.
    pub service: Arc<str>,
    /// The registered provider.
    pub provider_id: Uuid,
}

impl NotificationAddress {
    /// The inverse of its text.
    pub fn parse(text: &str) -> Option<Self> {
        let (service, provider_id) = text.strip_suffix("/notifications")?.rsplit_once("/providers/")?;
        Some(Self { service: service.into(), provider_id: provider_id.parse().ok()? })
    }
}

impl fmt::Display for NotificationAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/providers/{}/notifications", self.service, self.provider_id)
    }
}

/// Simulator overrides: what a tester requests of a test provider for one request. Adapters of real providers ignore
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOverrides(Map<String, Value>);

impl TestOverrides {
    /// The overrides in these members; `None` in production.
    pub fn new(mode: Mode, members: Map<String, Value>) -> Option<Self> {
        match mode {
            Mode::Sandbox => (!members.is_empty()).then_some(Self(members)),
            Mode::Production => None,
        }
    }

    /// The member called `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

/// The environment of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Test hosts and test credentials; no real money.
    Sandbox,
    /// Real money.
    Production,
}

/// An operation that a provider can carry out.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one lives as long as its call, and most are authorizations")]
pub enum Operation {
    /// Charges an amount, or reserves it.
    Authorize(Authorization),
    /// Verifies a card with a zero amount (`zero_dollar`).
    VerifyCard(Verification),
    /// Captures a reserved amount, fully or in part; the rest is released.
    Capture(FollowUp),
    /// Releases a reserved amount, or refunds a captured one, fully or in part.
    Void(FollowUp),
}

impl Operation {
    /// The operation without its details.
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::Authorize(_) => OperationKind::Authorization,
            Self::VerifyCard(_) => OperationKind::ZeroDollar,
            Self::Capture(_) => OperationKind::Capture,
            Self::Void(_) => OperationKind::Void,
        }
    }

    /// The amount in minor units; zero for a verification.
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

    /// How the amount is divided among sellers.
    pub fn division(&self) -> Option<&Division> {
        match self {
            Self::Authorize(authorization) => authorization.division.as_deref(),
            Self::VerifyCard(_) => None,
            Self::Capture(follow_up) | Self::Void(follow_up) => follow_up.division.as_deref(),
        }
    }

    /// The card; `None` for an authorization that charges none, and for a capture or void, which refers to its
    /// authorization.
    pub const fn card(&self) -> Option<&CardDetails> {
        match self {
            Self::Authorize(authorization) => authorization.instrument.card(),
            Self::VerifyCard(verification) => Some(&verification.card),
            Self::Capture(_) | Self::Void(_) => None,
        }
    }
}

/// The operations, without their details.
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
    /// All kinds with their names in the interface.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("authorization", Self::Authorization),
        ("zero_dollar", Self::ZeroDollar),
        ("capture", Self::Capture),
        ("void", Self::Void),
    ];

    /// The name in the interface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::ZeroDollar => "zero_dollar",
            Self::Capture => "capture",
            Self::Void => "void",
        }
    }

    /// The inverse of [`Self::word`]; matches exactly.
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

/// Charges an amount, or reserves it.
#[derive(Debug)]
pub struct Authorization {
    /// Amount in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// Whether the amount is captured at once or later.
    pub capture: CaptureMode,
    /// How it is paid, with the facts of that method: installments, recurrence.
    pub method: PaymentMethod,
    /// The card network's id of the payment with which the cardholder agreed to this one, when the cardholder is away.
    pub network_transaction_id: Option<String>,
    /// What is charged, in the clear.
    pub instrument: Instrument,
    /// The customer, where the instrument is a card, the charge names one, and the adapter
    /// [wants to know](crate::provider::Provider::wants_buyer).
    pub buyer: Option<Box<PayerDetails>>,
    /// Text on the buyer's statement.
    pub statement_descriptor: Option<String>,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// Free text of the merchant.
    pub description: Option<String>,
    /// A reference that the merchant wants passed on to the provider.
    pub provider_reference_key: Option<String>,
    /// The merchant's category code.
    pub merchant_mcc: Option<Mcc>,
    /// In whose name the payment is taken, for a provider that
    /// [forwards it](regente_domain::provider_type::Capabilities::vendors).
    pub vendor: Option<Box<VendorDetails>>,
    /// What is known of the authentication of the cardholder, or is to be done about it.
    pub proof: Option<Box<Proof>>,
    /// Whether the charge goes on only when the issuer is liable.
    pub liability_shift: LiabilityShift,
    /// How the amount is divided among sellers. Boxed, since few charges are.
    pub division: Option<Box<Division>>,
}

/// What an authorization charges. It is in the clear, so it exists only while the call runs.
#[derive(Clone, Debug)]
pub enum Instrument {
    /// A card.
    Card(CardDetails),
    /// A payer, who gets instructions.
    Payer(Box<PayerDetails>),
    /// What a wallet has handed out for this payment.
    Wallet(Box<WalletDetails>),
}

impl Instrument {
    /// The card, if it is one.
    pub const fn card(&self) -> Option<&CardDetails> {
        match self {
            Self::Card(card) => Some(card),
            Self::Payer(_) | Self::Wallet(_) => None,
        }
    }
}

/// Verifies a card without moving money.
#[derive(Debug)]
pub struct Verification {
    /// The currency of the zero amount.
    pub currency: Currency,
    /// The card to verify.
    pub card: CardDetails,
    /// The merchant's category code.
    pub merchant_mcc: Option<Mcc>,
}

/// A capture or void of an earlier authorization.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// The key that the authorization was made with.
    pub authorization_key: Uuid,
    /// The provider's id of the authorization, when it gave one.
    pub transaction_id: Option<String>,
    /// How the authorization was paid: some methods are refunded in another way.
    pub payment_type: PaymentType,
    /// Amount in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// What the provider holds before the operation, by our records: a provider that cannot be asked is told to cancel a
    /// reservation, and to refund what was taken.
    pub held: Held,
    /// How many days a provider of NuPay may take to gather the money that a void gives back.
    pub delay_to_compose: Option<u16>,
    /// How what is captured is divided, or what each gives back. Boxed, since few charges are divided.
    pub division: Option<Box<Division>>,
}

/// What a provider holds of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A reservation of this amount, in minor units.
    Reserved(Amount),
    /// This amount, in minor units, which was captured or paid at once and not given back.
    Taken(Amount),
}

/// A card in the clear; it exists only while the call runs.
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

/// Omits the number, the security code and the holder.
impl fmt::Debug for CardDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardDetails").finish_non_exhaustive()
    }
}

/// What a wallet has handed out, in the clear; it exists only while the call runs.
#[derive(Clone)]
pub enum WalletDetails {
    /// A network token that was opened for this payment (Apple Pay).
    NetworkToken(NetworkToken),
    /// A checkout at the wallet, from which the provider fetches the card (Click to Pay).
    ClickToPay(ClickToPayCheckout),
}

/// Omits everything.
impl fmt::Debug for WalletDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalletDetails").finish_non_exhaustive()
    }
}

/// A number that stands for a card on one device, with the proof that the device made this payment.
#[derive(Clone)]
pub struct NetworkToken {
    /// The number, which is no card's.
    pub number: CardNumber,
    /// Month and year of its expiry.
    pub expiry: Expiry,
    /// The proof for the card network, in base64.
    pub cryptogram: Zeroizing<String>,
    /// The indicator of electronic commerce, where the network asks for one.
    pub eci: Option<String>,
}

/// The references of a checkout at Click to Pay.
#[derive(Clone, Default)]
pub struct ClickToPayCheckout {
    /// The merchant's application at the wallet.
    pub dpa_id: String,
    /// The checkout.
    pub correlation_id: String,
    /// The step of the checkout.
    pub flow_id: String,
    /// The merchant's transaction.
    pub merchant_transaction_id: String,
}

/// A payer in the clear; it exists only while the call runs.
#[derive(Clone)]
pub struct PayerDetails {
    /// Name; empty when it is not known.
    pub name: String,
    /// E-mail address; absent when it is not known.
    pub email: Option<String>,
    /// Phone number; blank when it is not known.
    pub phone_number: String,
    /// The document, or the word that means none.
    pub document: Document,
    /// Home address.
    pub address: Option<Address>,
}

impl PayerDetails {
    /// A payer of whom nothing is known.
    pub fn unknown() -> Self {
        let document = Document { kind: NO_DOCUMENT.to_owned(), number: String::new(), country: Country::BR };
        Self { name: String::new(), email: None, phone_number: String::new(), document, address: None }
    }
}

/// Omits all personal data.
impl fmt::Debug for PayerDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PayerDetails").finish_non_exhaustive()
    }
}

/// A vendor in the clear; it exists only while the call runs.
#[derive(Clone)]
pub struct VendorDetails {
    /// The client's own reference.
    pub reference_id: String,
    /// The number under which the acquirer knows the payment facilitator.
    pub payment_facilitator_id: Option<String>,
    /// What is known of it.
    pub data: VendorData,
}

/// Omits all personal data.
impl fmt::Debug for VendorDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VendorDetails").finish_non_exhaustive()
    }
}

/// A merchant's credentials at a provider: wiped when dropped, never printed.
pub struct Credentials(Map<String, Value>);

impl Credentials {
    /// Takes `providers[].credentials` in the clear.
    pub const fn new(members: Map<String, Value>) -> Self {
        Self(members)
    }

    /// The members that are strings.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }

    /// The member called `name`, if it is a string.
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
