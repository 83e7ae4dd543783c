//! Vendors: the businesses in whose name a payment facilitator takes payments. What is known of one is personal; the vault
//! seals it as a whole.

mod changes;

use deserr::{Deserr, IntoValue, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

pub use changes::VendorChanges;

use crate::country::Country;
use crate::id::VendorId;
use crate::problems::Problems;
use crate::provider_type::ProviderType;
use crate::text::chars_max;
use crate::wire::{EmailAddress, Rule, Text, Verbatim, read_with, refused};
use crate::words::words;

/// Where the number of a vendor is, in the interface.
const IDENTITY: &str = "identity";

words! {
    /// Which number identifies a vendor (`docs/interface/vendors.md#fields`).
    #[schema(as = VendorIdentityType)]
    IdentityType {
        /// A person's number.
        Cpf = "CPF",
        /// A company's number.
        Cnpj = "CNPJ",
    }
}

impl IdentityType {
    /// Characters of a number, without punctuation.
    pub const fn length(self) -> usize {
        match self {
            Self::Cpf => 11,
            Self::Cnpj => 14,
        }
    }

    /// Whether a number has the form of this type. Check digits are not looked at: the acquirer knows its vendors.
    pub fn fits(self, identity: &str) -> bool {
        let number = without_punctuation(identity);
        // Companies get numbers with letters, but for the two check digits.
        let (body, check) = number.split_at(number.len().saturating_sub(2));
        let body_fits = match self {
            Self::Cpf => body.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Cnpj => body.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        number.len() == self.length() && body_fits && check.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// The rule that [`Self::fits`] checks, for whoever sent another number.
    pub fn rule(self) -> String {
        format!("must be a number of {} characters, as identityType {} has it", self.length(), self.word())
    }
}

/// The digits and letters of a number.
pub fn without_punctuation(number: &str) -> String {
    number.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A vendor to be created.
#[derive(Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "referenceId": "12345", "identityType": "CNPJ", "identity": "12.345.678/0001-99", "mcc": "5812",
    "name": "Empresa Exemplo Ltda", "email": "contato@example.com", "phoneNumber": "5511999999999",
    "website": "https://www.example.com",
    "address": { "country": "BR", "state": "SP", "city": "Sao Paulo", "district": "Centro", "zipCode": "01001-000",
        "street": "Avenida Paulista", "streetNumber": "1000", "complement": "Apto 101" }
}))]
pub struct NewVendor {
    /// What the client calls it.
    #[serde(flatten)]
    pub reference: Reference,
    /// What is known of it.
    #[serde(flatten)]
    pub data: VendorData,
}

/// What a client calls a vendor.
#[derive(Clone, Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = VendorReference)]
pub struct Reference {
    /// The id in the client's own system; unique in the account.
    pub reference_id: Verbatim<1, 15>,
}

/// What is known of a vendor beside its reference.
#[skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct VendorData {
    /// Which number identifies it.
    pub identity_type: IdentityType,
    /// With or without punctuation, which does not count: 11 characters of a CPF, 14 of a CNPJ.
    #[deserr(try_from(String) = parse_identity -> Rule)]
    #[schema(max_length = 40)]
    pub identity: String,
    /// Category code.
    pub mcc: Text<1, 10>,
    /// Full name, or name of the company.
    pub name: Text<1, 100>,
    /// E-mail address.
    #[deserr(default)]
    pub email: Option<EmailAddress<100>>,
    /// Phone number.
    #[deserr(default)]
    pub phone_number: Option<Verbatim<0, 13>>,
    /// Address in the web.
    #[deserr(default)]
    pub website: Option<Text<0, 100>>,
    /// Where it is.
    pub address: VendorAddress,
    /// Members that this release does not know; kept unchanged.
    #[serde(flatten)]
    #[deserr(skip)]
    #[schema(ignore)]
    pub unknown: Map<String, Value>,
}

/// The address of a vendor.
#[skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct VendorAddress {
    /// Country.
    pub country: Country,
    /// State.
    pub state: Text<1, 2>,
    /// City.
    pub city: Text<1, 20>,
    /// District.
    pub district: Text<1, 20>,
    /// Postal code.
    pub zip_code: Text<1, 10>,
    /// Street.
    pub street: Text<1, 100>,
    /// Number in the street. Also read as `number`.
    pub street_number: Text<1, 5>,
    /// Apartment, floor and the like.
    #[deserr(default)]
    pub complement: Option<Text<0, 20>>,
}

/// The number of a vendor. Punctuation does not count in its length.
fn parse_identity(number: String) -> Result<String, Rule> {
    const CHARS_MAX: usize = 14;
    let is_right = (1..=CHARS_MAX).contains(&without_punctuation(&number).len())
        && number.chars().count() <= chars_max::DOCUMENT_NUMBER;
    if is_right { Ok(number) } else { Err(Rule::Borrowed("must have 1 to 14 letters and digits")) }
}

/// Data as sent: its number fits its type.
pub struct SentData(pub VendorData);

impl Deserr<Problems> for SentData {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        read_with(value, location, |members, problems| {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let number = text(IDENTITY).and_then(|number| parse_identity(number.to_owned()).ok());
            if let (Some(kind), Some(number)) = (text("identityType").and_then(IdentityType::parse), number)
                && !kind.fits(&number)
            {
                problems.extend(refused(location.push_key(IDENTITY), kind.rule()));
            }
        })
        .map(Self)
    }
}

/// Omits everything personal.
impl std::fmt::Debug for VendorData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VendorData").field("mcc", &&*self.mcc).finish_non_exhaustive()
    }
}

/// The vendor of a charge or of a session, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionVendor)]
pub struct NamedVendor {
    /// The vendor.
    pub id: VendorId,
    /// The number under which the acquirer knows the payment facilitator.
    #[schema(required = true)]
    pub payment_facilitator_id: Option<String>,
}

/// The vendor of a charge or of a session.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NamedVendor, rename_all = "camelCase",
    example = json!({ "id": "db56bd6a-10d7-4039-9c68-fc4405a1a3e1", "paymentFacilitatorId": "12345678901" }))]
pub struct NewNamedVendor {
    /// A vendor of the account.
    id: VendorId,
    /// The number under which the acquirer knows the payment facilitator. Every type that forwards vendors needs it but
    /// `SANDBOX`.
    #[deserr(default)]
    payment_facilitator_id: Option<Verbatim<1, 255>>,
    /// One published example spells it so.
    #[deserr(rename = "paymentFacilitatorID", default)]
    #[schema(ignore)]
    with_a_capital: Option<Verbatim<1, 255>>,
}

impl NamedVendor {
    /// The vendor that may have been sent.
    pub(crate) fn of(sent: Option<NewNamedVendor>) -> Option<Box<Self>> {
        let NewNamedVendor { id, payment_facilitator_id, with_a_capital } = sent?;
        let number = payment_facilitator_id.or(with_a_capital).map(Verbatim::into_string);
        Some(Box::new(Self { id, payment_facilitator_id: number }))
    }

    /// The first of these types that cannot be told of the vendor, because it asks for the facilitator's number and there is
    /// none.
    pub fn lacks_facilitator_for(
        &self,
        mut types: impl Iterator<Item = ProviderType>,
    ) -> Option<ProviderType> {
        match self.payment_facilitator_id {
            Some(_) => None,
            None => {
                types.find(|provider| provider.capabilities().vendors.is_yes() && !provider.is_simulator())
            }
        }
    }
}
