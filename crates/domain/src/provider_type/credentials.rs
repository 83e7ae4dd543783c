//! Validates, masks and merges the credentials of a provider by its type
//! (`docs/interface/provider-types.md#credentials`). The vault seals them.

use serde_json::{Map, Value};

use crate::problems::Problems;
use crate::text::last_four;

use super::ProviderType;
use CredentialFields::AnyText;
use ProviderType as Type;

/// Most characters of one credential; Base64 certificates are the longest.
pub const CREDENTIAL_CHARS_MAX: usize = 32_768;

/// Replaces a value that is not shown.
const MASK: &str = "****";
/// Values longer than this show their last four characters behind the mask.
const FULLY_MASKED_CHARS_MAX: usize = 8;
/// The member with the provider type; not a secret.
const TYPE: &str = "type";

/// The members of a type's `credentials` beside `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialFields {
    /// These members; others are stored but not used.
    Known {
        /// Those that must be there.
        required: &'static [&'static str],
        /// Those that may be there.
        optional: &'static [&'static str],
    },
    /// No list is published: any texts.
    AnyText,
}

impl CredentialFields {
    fn required(self) -> &'static [&'static str] {
        match self {
            Self::Known { required, .. } => required,
            Self::AnyText => &[],
        }
    }
}

/// Misspelled names of published descriptions, by type: they are read as the names after them, which are stored.
const SPELLINGS: [(Type, &str, &str); 1] = [(Type::Klap, "CommerceId", "commerceId")];

/// The credentials sent for a provider with the names under which they are stored. Where both spellings are sent, the
/// right one counts.
pub fn stored_spelling(provider_type: ProviderType, mut sent: Map<String, Value>) -> Map<String, Value> {
    for (_, misspelled, name) in SPELLINGS.iter().filter(|(of, ..)| *of == provider_type) {
        let Some(value) = sent.shift_remove(*misspelled) else { continue };
        if matches!(sent.get(*name), None | Some(Value::Null)) {
            sent.insert((*name).to_owned(), value);
        }
    }
    sent
}

/// Validates the credentials sent for a provider: every value is text, the required ones are present. `path` is that
/// of the object, for example `providers.0.credentials`. The caller has already parsed the type.
pub fn validate_credentials(
    provider_type: ProviderType,
    credentials: &Map<String, Value>,
    path: &str,
) -> Result<(), Problems> {
    validate(provider_type.credential_fields().required(), credentials, path)
}

/// As [`validate_credentials`], of stored credentials after a change. What they never had is not demanded: they may be
/// older than the demand.
pub fn validate_changed_credentials(
    provider_type: ProviderType,
    stored: &Map<String, Value>,
    changed: &Map<String, Value>,
    path: &str,
) -> Result<(), Problems> {
    let required = provider_type.credential_fields().required().iter().copied();
    let known: Vec<&str> = required.filter(|name| stored.contains_key(*name)).collect();
    validate(&known, changed, path)
}

fn validate(required: &[&str], credentials: &Map<String, Value>, path: &str) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for name in required {
        if matches!(credentials.get(*name), None | Some(Value::Null)) {
            problems.add(format_args!("{path}.{name}"), "should not be empty");
        }
    }
    for (name, value) in credentials.iter().filter(|(name, _)| *name != TYPE) {
        let path = format_args!("{path}.{name}");
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() && required.contains(&name.as_str()) => {
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

/// The credentials as shown in answers: `type`, e-mail addresses and ids in full, of all others at most the last four
/// characters (`docs/interface/merchants-and-providers.md#masks`). The member's name decides, because a secret may
/// look like anything.
pub fn mask_credentials(credentials: &Map<String, Value>) -> Map<String, Value> {
    credentials.iter().map(|(name, value)| (name.clone(), masked(name, value))).collect()
}

/// Merges the credentials sent into the stored ones. A masked value was copied from an answer and changes nothing.
/// `null` removes a member; the type stays.
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

/// Whether it is any mask: the secret may have changed since the caller read the answer.
fn is_mask(value: &Value) -> bool {
    value
        .as_str()
        .and_then(|text| text.strip_prefix(MASK))
        .is_some_and(|rest| matches!(rest.chars().count(), 0 | 4))
}

impl ProviderType {
    /// Whether the second credentials may be of another account at the provider than the first. What is only secret, such as
    /// the key of a webhook, names none.
    pub fn may_name_another_account(self, stored: &Map<String, Value>, after: &Map<String, Value>) -> bool {
        let of_type = |(of, _): &&(Type, &str)| *of == self;
        ACCOUNTS.iter().filter(of_type).any(|(_, name)| stored.get(*name) != after.get(*name))
    }

    /// The credentials of this type.
    pub const fn credential_fields(self) -> CredentialFields {
        CREDENTIALS[self as usize].1
    }
}

/// The members that name the merchant's account, of the types with an adapter for real money.
const ACCOUNTS: [(Type, &str); 3] =
    [(Type::Adyen, "merchantAccount"), (Type::PagarmeV5, "secretKey"), (Type::Stripe, "secretKey")];

const fn needs(required: &'static [&'static str]) -> CredentialFields {
    known(required, &[])
}

const fn known(required: &'static [&'static str], optional: &'static [&'static str]) -> CredentialFields {
    CredentialFields::Known { required, optional }
}

/// Required and optional credentials of each type, in the order of [`ProviderType`].
#[rustfmt::skip]
const CREDENTIALS: [(Type, CredentialFields); ProviderType::ALL.len()] = [
    (Type::Sandbox, known(&[], &["apiKey"])),
    (Type::SandboxAntifraud, known(&[], &["apiKey"])),
    (Type::Adyen, known(&["apiKey", "liveUrlPrefix", "merchantAccount"], &["webhookHmacKey", "version"])),
    (Type::B2e, needs(&["user", "password", "merchantId"])),
    (Type::Banrisul, AnyText),
    (Type::Barte, needs(&["tokenApi"])),
    (Type::Bb, known(&["authBasic", "devAppKey", "pixKey"], &["version", "mtlsPemBase64", "mtlsPassPhrase"])),
    (Type::Bolt, known(&[], &["gatewayId", "gatewayKey", "merchantId", "merchantKey", "merchantTerminal"])),
    (Type::Braintree, needs(&["merchantId", "publicKey", "privateKey"])),
    (Type::Braspag, needs(&["clientSecret", "merchantId", "merchantKey"])),
    (Type::Bs2, needs(&["clientKey", "clientSecret", "pixKey"])),
    (Type::Bs2Boleto, needs(&["clientKey", "clientSecret", "refreshToken"])),
    (Type::Cielo, needs(&["merchantKey", "merchantId"])),
    (Type::Clearsale, known(&["name", "password"], &["app"])),
    (Type::Drip, needs(&["secretKey"])),
    (Type::Getnet, needs(&["clientId", "clientSecret", "sellerId"])),
    (Type::GetnetSep, needs(&["clientApiKey", "clientSecret", "sellerId"])),
    (Type::Itau, known(&[], &["pixSecretKey", "pixClientId", "pixMtlsCert", "pixMtlsCertKey", "pixKey", "boletoSecretKey", "boletoClientId", "boletoMtlsCert", "boletoMtlsCertKey", "boletoBeneficiaryKey"])),
    (Type::Klap, needs(&["apiKey", "commerceId", "keyComponent1", "keyComponent2"])),
    (Type::Konduto, known(&["secretKey"], &["publicKey"])),
    (Type::Mapinvest, known(&[], &["clientId", "clientSecret", "pixKey", "publicKey", "privateKey"])),
    (Type::MercadoPago, needs(&["accessToken"])),
    (Type::Nupay, needs(&["merchantApiToken", "merchantApiKey"])),
    (Type::Owempay, AnyText),
    (Type::Pagarme, needs(&["apiKey"])),
    (Type::PagarmeV5, known(&["secretKey"], &["webhookUser", "webhookPassword", "recipientId"])),
    (Type::Pagseguro, needs(&["token", "email"])),
    (Type::Paypal, needs(&["clientId", "clientSecret"])),
    (Type::Picpay, needs(&["clientId", "clientSecret"])),
    (Type::Platform, AnyText),
    (Type::Rede, needs(&["merchantId", "apiKey"])),
    (Type::Safrapay, needs(&["token"])),
    (Type::Stripe, known(&["secretKey"], &["webhookSecret"])),
    (Type::Vr, known(&["affiliationId"], &["clientId", "clientSecret"])),
    (Type::Worldpay, needs(&["merchantCode", "userAPI", "senha"])),
    (Type::Zoop, needs(&["marketplaceId", "sellerId", "apiKey", "xApiKeyToken", "privateKey", "publicKey"])),
];

const _: () = {
    let mut row = 0;
    while row < CREDENTIALS.len() {
        assert!(CREDENTIALS[row].0 as usize == row, "a type has no row, or stands in the wrong place");
        row += 1;
    }
};
