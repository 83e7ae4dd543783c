//! What a session sells, and how it can be paid.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::id::{Id, of};
use crate::money::Amount;
use crate::payment_type::{INSTALLMENTS_MAX, PaymentType};
use crate::platform_fee::{Fees, PlatformFee};
use crate::split::SplitRule;
use crate::time::Timestamp;
use crate::vendor::NamedVendor;

/// An item of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionItem)]
pub struct Item {
    /// Never changes.
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<of::SessionItem>,
    /// What it is.
    pub name: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The price of one, in minor units.
    #[schema(value_type = i64, example = 10000)]
    pub unit_price: Amount,
    /// How many.
    #[schema(example = 1)]
    pub quantity: i64,
    /// Whether it can be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangible: Option<bool>,
    /// The merchant's own category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category_id: Option<String>,
}

/// A payment method that a session offers, with its terms as a charge takes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedMethod {
    /// The method.
    pub payment_type: PaymentType,
    /// Its terms.
    #[serde(flatten)]
    pub terms: Map<String, Value>,
}

impl OfferedMethod {
    /// The methods that sessions offer.
    pub const TYPES: [PaymentType; 6] = [
        PaymentType::Credit,
        PaymentType::Pix,
        PaymentType::Boleto,
        PaymentType::Drip,
        PaymentType::Nupay,
        PaymentType::ClickToPay,
    ];

    /// Whether the term of this name is an address.
    pub fn is_address(name: &str) -> bool {
        name.ends_with("Url")
    }

    /// The addresses among its terms, to which its payer is led, by their names.
    pub fn addresses(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.terms.iter().filter(|(name, _)| Self::is_address(name));
        named.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }
}

/// What is sold, and on which terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The name of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text on the buyer's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    /// Reference handed to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_reference_key: Option<String>,
    /// Whether the amount is captured at once.
    pub capture: bool,
    /// Whether the hosted page asks for a CAPTCHA.
    pub captcha_enabled: bool,
    /// Whether it has a payment link.
    pub create_link: bool,
    /// In whose name its charges are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<Box<NamedVendor>>,
    /// What is sold.
    pub items: Vec<Item>,
    /// How it can be paid; one entry for each method.
    pub methods: Vec<OfferedMethod>,
    /// How its charges are divided among sellers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_rules: Vec<SplitRule>,
}

impl Terms {
    /// What the platform keeps of a charge, by each way in which a buyer may pay it.
    pub fn platform_fees(&self, fees: &Fees, now: Timestamp) -> Vec<PlatformFee> {
        let of_method = |method: &OfferedMethod| {
            let most = method.terms.get("installments").and_then(Value::as_u64);
            let most = most.and_then(|most| u8::try_from(most).ok()).unwrap_or(1).min(INSTALLMENTS_MAX);
            let payment_type = method.payment_type;
            (1..=most).filter_map(move |installments| fees.of_charge(payment_type, installments, now))
        };
        let mut applied: Vec<PlatformFee> = self.methods.iter().flat_map(of_method).collect();
        applied.dedup();
        applied
    }

    /// Whether Pix or boleto are among the methods.
    pub fn offer_pix_or_boleto(&self) -> bool {
        self.methods
            .iter()
            .any(|method| matches!(method.payment_type, PaymentType::Pix | PaymentType::Boleto))
    }
}
