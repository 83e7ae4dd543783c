//! What a merchant sends about a cardholder and their browser, with the names of the interface
//! (`docs/interface/charges.md#3-d-secure`). It is personal: charges hold it sealed.

use std::fmt;

use regente_domain::id::AuthenticationSetupId;
use serde::{Deserialize, Serialize};

/// `threeDSecure2` of a charge.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreeDSecure {
    /// The setup of the 3DS server that Regente asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_id: Option<AuthenticationSetupId>,
    /// Whether data is shared with the scheme without authenticating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_only: Option<bool>,
    /// Whether the charge goes on only when the issuer is liable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_liability_shift: Option<bool>,
    /// Where the buyer returns.
    #[serde(default, rename = "redirectURL", skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// The merchant's site.
    #[serde(default, rename = "requestorURL", skip_serializing_if = "Option::is_none")]
    pub requestor_url: Option<String>,
    /// The browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Browser>,
    /// Where the card is billed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<AddressData>,
    /// Where the goods go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_address: Option<AddressData>,
    /// The cardholder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_holder: Option<CardHolderData>,
    /// The result of a 3DS server of the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<Mpi>,
}

/// Omits all personal data.
impl fmt::Debug for ThreeDSecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreeDSecure").finish_non_exhaustive()
    }
}

/// The browser of the cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members of EMV 3-D Secure, under their own names")]
pub struct Browser {
    pub accept_header: String,
    pub color_depth: i64,
    pub java_enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java_script_enabled: Option<bool>,
    pub language: String,
    pub screen_height: i64,
    pub screen_width: i64,
    /// In minutes, as a text.
    pub time_zone_offset: String,
    pub user_agent: String,
    pub ip: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_browser_value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_content: Option<String>,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct AddressData {
    pub city: String,
    pub country: String,
    pub street_number: String,
    pub zip_code: String,
    pub state: String,
    pub street: String,
}

/// The cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardHolderData {
    /// E-mail address.
    pub email: String,
    /// Mobile phone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mobile_phone: Option<String>,
}

/// The result of a 3DS server of the merchant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members of EMV 3-D Secure, under their own names")]
pub struct Mpi {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acs_transaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cavv: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenged: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_server_transaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eci: Option<String>,
    #[serde(default, rename = "threeDSServerTransactionId", skip_serializing_if = "Option::is_none")]
    pub three_ds_server_transaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trans_status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xid: Option<String>,
}

impl Mpi {
    /// Whether it says that the cardholder was authenticated, or that the attempt was (EMV 3-D Secure, `transStatus`).
    pub fn says_authenticated(&self) -> bool {
        matches!(self.trans_status.as_deref(), Some("Y" | "A"))
    }

    /// What proves it to the issuer. Without it nothing of the result is sent to a provider.
    pub fn proof(&self) -> Option<&str> {
        self.cavv.as_deref().filter(|cavv| !cavv.is_empty())
    }
}
