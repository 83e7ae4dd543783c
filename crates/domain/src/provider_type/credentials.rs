//! The credentials of a provider by its type (`docs/interface/provider-types.md#credentials`): which are needed, how
//! they are shown, how a change is merged. How they are sealed and used never lives here.

use serde_json::{Map, Value};

use crate::problems::Problems;
use crate::text::last_four;

use super::ProviderType;

/// Most characters of one credential; certificates in Base64 need the most.
pub const CREDENTIAL_CHARS_MAX: usize = 32_768;

/// What stands for a value that is not shown.
const MASK: &str = "****";
/// A longer value shows its last four characters behind the mask.
const FULLY_MASKED_CHARS_MAX: usize = 8;
/// The member that names the provider type; it is no secret.
const TYPE: &str = "type";

/// One member of `credentials`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialField {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
}

/// What `credentials` of a type hold beside `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialFields {
    /// These; others are kept, but nobody looks at them.
    Known(&'static [CredentialField]),
    /// No list is published: any texts (`docs/interface/provider-types.md#credentials`).
    AnyText,
}

impl CredentialFields {
    fn known(self) -> &'static [CredentialField] {
        match self {
            Self::Known(fields) => fields,
            Self::AnyText => &[],
        }
    }
}

/// Checks the credentials sent for a provider: every value is text, the required ones are there. `path` is the path of
/// the object, for example `providers.0.credentials`. The type itself was read before and is not looked at.
pub fn validate_credentials(
    provider_type: ProviderType,
    credentials: &Map<String, Value>,
    path: &str,
) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for field in provider_type.credential_fields().known().iter().filter(|field| field.required) {
        if matches!(credentials.get(field.name), None | Some(Value::Null)) {
            problems.add(format_args!("{path}.{}", field.name), "should not be empty");
        }
    }
    for (name, value) in credentials.iter().filter(|(name, _)| *name != TYPE) {
        let path = format_args!("{path}.{name}");
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() && provider_type.requires(name) => {
                problems.add(path, "should not be empty");
            }
            Value::String(text) if text.chars().count() > CREDENTIAL_CHARS_MAX => {
                problems.add(
                    path,
                    format_args!("must be shorter than or equal to {CREDENTIAL_CHARS_MAX} characters"),
                );
            }
            Value::String(_) => {}
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                problems.add(path, "must be a string");
            }
        }
    }
    problems.into_result()
}

/// The credentials as answers show them: `type`, e-mail addresses and ids as they are, of everything else at most the
/// last four characters (`docs/interface/merchants-and-providers.md#masks`). Which is which is told by the member's
/// name, because a secret may look like anything.
pub fn mask_credentials(credentials: &Map<String, Value>) -> Map<String, Value> {
    credentials.iter().map(|(name, value)| (name.clone(), masked(name, value))).collect()
}

/// The stored credentials, changed by those sent. A value that is a mask is what an answer showed, not a new secret:
/// it changes nothing. `null` removes a member; the type stays.
pub fn merge_credentials(stored: &Map<String, Value>, sent: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = stored.clone();
    for (name, value) in sent.iter().filter(|(name, _)| *name != TYPE) {
        if value.is_null() {
            merged.shift_remove(name);
        } else if !is_mask(value) {
            merged.insert(name.clone(), value.clone());
        }
    }
    merged
}

fn masked(name: &str, value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::String(_) if is_shown(name) => value.clone(),
        Value::String(text) if text.chars().count() > FULLY_MASKED_CHARS_MAX => {
            Value::String(format!("{MASK}{}", last_four(text)))
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Value::String(MASK.to_owned())
        }
    }
}

fn is_shown(name: &str) -> bool {
    matches!(name, TYPE | "id" | "email") || name.ends_with("Id") || name.ends_with("Email")
}

/// Any mask, not only that of the value stored now: the secret may have changed since the answer was read.
fn is_mask(value: &Value) -> bool {
    value
        .as_str()
        .and_then(|text| text.strip_prefix(MASK))
        .is_some_and(|rest| matches!(rest.chars().count(), 0 | 4))
}

const fn required(name: &'static str) -> CredentialField {
    CredentialField { name, required: true }
}

const fn optional(name: &'static str) -> CredentialField {
    CredentialField { name, required: false }
}

/// The fields of a row below, named once.
macro_rules! fields {
    ($($need:ident $name:literal),* $(,)?) => {
        const { CredentialFields::Known(&[$($need($name)),*]) }
    };
}

impl ProviderType {
    fn requires(self, name: &str) -> bool {
        self.credential_fields().known().iter().any(|field| field.required && field.name == name)
    }

    /// The credentials of this type (`docs/interface/provider-types.md#credentials`).
    pub const fn credential_fields(self) -> CredentialFields {
        match self {
            Self::Banrisul | Self::Owempay => CredentialFields::AnyText,
            Self::Sandbox | Self::SandboxAntifraud => fields![optional "apiKey"],
            Self::Adyen => fields![
                required "apiKey",
                required "liveUrlPrefix",
                required "merchantAccount",
                optional "webhookHmacKey",
                optional "version",
            ],
            Self::B2e => fields![required "user", required "password", required "merchantId"],
            Self::Barte => fields![required "tokenApi"],
            Self::Bb => fields![
                required "authBasic",
                required "devAppKey",
                required "pixKey",
                optional "version",
                optional "mtlsPemBase64",
                optional "mtlsPassPhrase",
            ],
            Self::Bolt => fields![
                optional "gatewayId",
                optional "gatewayKey",
                optional "merchantId",
                optional "merchantKey",
                optional "merchantTerminal",
            ],
            Self::Braintree => fields![required "merchantId", required "publicKey", required "privateKey"],
            Self::Braspag => fields![
                required "clientSecret",
                required "merchantId",
                required "merchantKey",
            ],
            Self::Bs2 => fields![required "clientKey", required "clientSecret", required "pixKey"],
            Self::Bs2Boleto => fields![
                required "clientKey",
                required "clientSecret",
                required "refreshToken",
            ],
            Self::Cielo => fields![required "merchantKey", required "merchantId"],
            Self::Clearsale => fields![required "name", required "password", optional "app"],
            Self::Drip | Self::PagarmeV5 | Self::Stripe => fields![required "secretKey"],
            Self::Getnet => fields![required "clientId", required "clientSecret", required "sellerId"],
            Self::GetnetSep => fields![
                required "clientApiKey",
                required "clientSecret",
                required "sellerId",
            ],
            Self::Itau => fields![
                optional "pixSecretKey",
                optional "pixClientId",
                optional "pixMtlsCert",
                optional "pixMtlsCertKey",
                optional "pixKey",
                optional "boletoSecretKey",
                optional "boletoClientId",
                optional "boletoMtlsCert",
                optional "boletoMtlsCertKey",
                optional "boletoBeneficiaryKey",
            ],
            Self::Klap => fields![
                required "apiKey",
                required "commerceId",
                required "keyComponent1",
                required "keyComponent2",
            ],
            Self::Konduto => fields![required "secretKey", optional "publicKey"],
            Self::Mapinvest => fields![
                optional "clientId",
                optional "clientSecret",
                optional "pixKey",
                optional "publicKey",
                optional "privateKey",
            ],
            Self::MercadoPago => fields![required "accessToken"],
            Self::Nupay => fields![required "merchantApiToken", required "merchantApiKey"],
            Self::Pagarme => fields![required "apiKey"],
            Self::Pagseguro => fields![required "token", required "email"],
            Self::Paypal | Self::Picpay => fields![required "clientId", required "clientSecret"],
            Self::Rede => fields![required "merchantId", required "apiKey"],
            Self::Safrapay => fields![required "token"],
            Self::Vr => fields![required "affiliationId", optional "clientId", optional "clientSecret"],
            Self::Worldpay => fields![required "merchantCode", required "userAPI", required "senha"],
            Self::Zoop => fields![
                required "marketplaceId",
                required "sellerId",
                required "apiKey",
                required "xApiKeyToken",
                required "privateKey",
                required "publicKey",
            ],
        }
    }
}
