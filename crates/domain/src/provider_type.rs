//! Provider types: a closed list with the capabilities, credentials and options of each
//! (`docs/interface/provider-types.md`), as data. The adapters call the providers.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

mod capabilities;
mod credentials;
mod options;
mod own_code;
mod table;

pub use capabilities::{Ability, AntiFraud, Capabilities, Refund};
pub use credentials::{
    CREDENTIAL_CHARS_MAX, CredentialFields, mask_credentials, merge_credentials, stored_spelling,
    validate_changed_credentials, validate_credentials,
};
pub use options::validate_options;
pub use own_code::ShownProviderType;

/// The code of a payment or anti-fraud provider (`docs/interface/provider-types.md#types`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderType {
    /// `SANDBOX`: the simulator of all payment methods.
    Sandbox,
    /// `SANDBOX_ANTIFRAUD`: the simulator of risk analysis.
    SandboxAntifraud,
    /// `ADYEN`.
    Adyen,
    /// `B2E`: risk analysis, asynchronous only.
    B2e,
    /// `BANRISUL`.
    Banrisul,
    /// `BARTE`.
    Barte,
    /// `BB`.
    Bb,
    /// `BOLT`.
    Bolt,
    /// `BRAINTREE`.
    Braintree,
    /// `BRASPAG`.
    Braspag,
    /// `BS2`.
    Bs2,
    /// `BS2_BOLETO`.
    Bs2Boleto,
    /// `CIELO`.
    Cielo,
    /// `CLEARSALE`: risk analysis, real-time and asynchronous.
    Clearsale,
    /// `DRIP`.
    Drip,
    /// `GETNET`.
    Getnet,
    /// `GETNET_SEP`.
    GetnetSep,
    /// `ITAU`.
    Itau,
    /// `KLAP`.
    Klap,
    /// `KONDUTO`: risk analysis, real-time only.
    Konduto,
    /// `MAPINVEST`.
    Mapinvest,
    /// `MERCADO_PAGO`.
    MercadoPago,
    /// `NUPAY`.
    Nupay,
    /// `OWEMPAY`.
    Owempay,
    /// `PAGARME`.
    Pagarme,
    /// `PAGARME_V5`.
    PagarmeV5,
    /// `PAGSEGURO`.
    Pagseguro,
    /// `PAYPAL`.
    Paypal,
    /// `PICPAY`.
    Picpay,
    /// `PLATFORM`: the platform's own provider.
    Platform,
    /// `REDE`.
    Rede,
    /// `SAFRAPAY`.
    Safrapay,
    /// `STRIPE`.
    Stripe,
    /// `VR`.
    Vr,
    /// `WORLDPAY`.
    Worldpay,
    /// `ZOOP`.
    Zoop,
}

impl ProviderType {
    const ALL: [Self; 36] = [
        Self::Sandbox,
        Self::SandboxAntifraud,
        Self::Adyen,
        Self::B2e,
        Self::Banrisul,
        Self::Barte,
        Self::Bb,
        Self::Bolt,
        Self::Braintree,
        Self::Braspag,
        Self::Bs2,
        Self::Bs2Boleto,
        Self::Cielo,
        Self::Clearsale,
        Self::Drip,
        Self::Getnet,
        Self::GetnetSep,
        Self::Itau,
        Self::Klap,
        Self::Konduto,
        Self::Mapinvest,
        Self::MercadoPago,
        Self::Nupay,
        Self::Owempay,
        Self::Pagarme,
        Self::PagarmeV5,
        Self::Pagseguro,
        Self::Paypal,
        Self::Picpay,
        Self::Platform,
        Self::Rede,
        Self::Safrapay,
        Self::Stripe,
        Self::Vr,
        Self::Worldpay,
        Self::Zoop,
    ];

    /// The code on the wire.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Sandbox => "SANDBOX",
            Self::SandboxAntifraud => "SANDBOX_ANTIFRAUD",
            Self::Adyen => "ADYEN",
            Self::B2e => "B2E",
            Self::Banrisul => "BANRISUL",
            Self::Barte => "BARTE",
            Self::Bb => "BB",
            Self::Bolt => "BOLT",
            Self::Braintree => "BRAINTREE",
            Self::Braspag => "BRASPAG",
            Self::Bs2 => "BS2",
            Self::Bs2Boleto => "BS2_BOLETO",
            Self::Cielo => "CIELO",
            Self::Clearsale => "CLEARSALE",
            Self::Drip => "DRIP",
            Self::Getnet => "GETNET",
            Self::GetnetSep => "GETNET_SEP",
            Self::Itau => "ITAU",
            Self::Klap => "KLAP",
            Self::Konduto => "KONDUTO",
            Self::Mapinvest => "MAPINVEST",
            Self::MercadoPago => "MERCADO_PAGO",
            Self::Nupay => "NUPAY",
            Self::Owempay => "OWEMPAY",
            Self::Pagarme => "PAGARME",
            Self::PagarmeV5 => "PAGARME_V5",
            Self::Pagseguro => "PAGSEGURO",
            Self::Paypal => "PAYPAL",
            Self::Picpay => "PICPAY",
            Self::Platform => "PLATFORM",
            Self::Rede => "REDE",
            Self::Safrapay => "SAFRAPAY",
            Self::Stripe => "STRIPE",
            Self::Vr => "VR",
            Self::Worldpay => "WORLDPAY",
            Self::Zoop => "ZOOP",
        }
    }

    /// Parses a code, exactly. `GETNETSEP`, a spelling of one published table, means `GETNET_SEP`.
    pub fn parse(code: &str) -> Option<Self> {
        let code = if code == "GETNETSEP" { "GETNET_SEP" } else { code };
        Self::all().find(|provider_type| provider_type.code() == code)
    }

    /// Every type: the two simulators, then the others by code.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// Whether it only simulates: it approves payments that move no money.
    pub const fn is_simulator(self) -> bool {
        matches!(self, Self::Sandbox | Self::SandboxAntifraud)
    }
}

/// Whether a deployment uses simulators (`docs/interface/provider-types.md#simulators`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulators {
    /// Like every other type.
    Used,
    /// They can neither be registered nor asked for a new payment. Payments that they have taken go on.
    Refused,
}

impl Simulators {
    /// Whether a provider of this type may be registered and asked.
    pub fn permit(self, provider_type: ProviderType) -> bool {
        match self {
            Self::Used => true,
            Self::Refused => !provider_type.is_simulator(),
        }
    }
}

impl fmt::Display for ProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
impl Serialize for ProviderType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
impl<'de> Deserialize<'de> for ProviderType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&code).ok_or_else(|| de::Error::custom("not a provider type"))
    }
}
