//! Vendors: the businesses in whose name a payment facilitator takes payments. What is known of one is personal; the vault
//! seals it as a whole.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::country::Country;
use crate::id::VendorId;
use crate::provider_type::ProviderType;
use crate::words::words;

words! {
    /// `identityType` of a vendor (`docs/interface/vendors.md#fields`).
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

/// What is known of a vendor beside its reference.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VendorData {
    /// Which number identifies it.
    pub identity_type: IdentityType,
    /// The number, as sent.
    pub identity: String,
    /// The category code.
    pub mcc: String,
    /// Full name, or name of the company.
    pub name: String,
    /// E-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Phone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<String>,
    /// Address in the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// Where it is.
    pub address: VendorAddress,
    /// Members that this release does not know; kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The address of a vendor.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VendorAddress {
    /// Country.
    pub country: Country,
    /// State.
    pub state: String,
    /// City.
    pub city: String,
    /// District.
    pub district: String,
    /// Postal code.
    pub zip_code: String,
    /// Street.
    pub street: String,
    /// Number in the street.
    pub street_number: String,
    /// Apartment, floor and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complement: Option<String>,
}

/// Omits everything personal.
impl std::fmt::Debug for VendorData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VendorData").field("mcc", &self.mcc).finish_non_exhaustive()
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

impl NamedVendor {
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
