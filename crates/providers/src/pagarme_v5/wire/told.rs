//! What is answered: orders with their charges, each with its last transaction.

use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use crate::pagarme_v5::reference::Metadata;

/// An order.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Order {
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub charges: Option<Vec<Charge>>,
}

/// A page of a list.
#[derive(Deserialize)]
pub struct Page<T> {
    /// What is on it. An answer without it is no page.
    pub data: Vec<T>,
}

/// A charge: the payment of an order.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Charge {
    pub id: String,
    pub status: ChargeStatus,
    pub payment_method: PaymentMethod,
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub currency: Option<String>,
    #[serde(default)]
    pub amount: Option<Amount>,
    #[serde(default)]
    pub paid_amount: Option<Amount>,
    #[serde(default)]
    pub canceled_amount: Option<Amount>,
    #[serde(default)]
    pub last_transaction: Option<Transaction>,
    #[serde(default)]
    pub metadata: Option<Metadata>,
    /// In what a notification tells of a charge.
    #[serde(default)]
    pub order: Option<OrderOfCharge>,
}

impl Charge {
    /// Its currency, where it is told and listed.
    pub fn currency(&self) -> Option<Currency> {
        self.currency.as_deref().and_then(|code| Currency::parse(&code.to_ascii_uppercase()))
    }
}

/// The order that a charge belongs to.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct OrderOfCharge {
    #[serde(default)]
    pub code: Option<String>,
}

/// The state of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the provider's interface")]
pub enum ChargeStatus {
    Pending,
    Paid,
    Overpaid,
    Underpaid,
    Canceled,
    Processing,
    Failed,
    Chargedback,
    #[serde(other)]
    Other,
}

/// How a charge is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the provider's interface")]
pub enum PaymentMethod {
    CreditCard,
    DebitCard,
    Voucher,
    Pix,
    Boleto,
    #[serde(other)]
    Other,
}

/// What was done last with a charge.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Transaction {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub status: Option<TransactionStatus>,
    #[serde(default)]
    pub success: Option<bool>,
    #[serde(default)]
    pub amount: Option<Amount>,
    /// Who takes the money of an authorization: `auth_only`, `pre_auth` or `auth_and_capture`.
    #[serde(default)]
    pub operation_type: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub acquirer_tid: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub acquirer_nsu: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub acquirer_auth_code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub acquirer_return_code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub acquirer_message: Option<String>,
    /// The card network's id of the payment.
    #[serde(default, deserialize_with = "text")]
    pub brand_id: Option<String>,
    #[serde(default)]
    pub gateway_response: Option<GatewayResponse>,
    #[serde(default)]
    pub antifraud_response: Option<AntifraudResponse>,
    #[serde(default)]
    pub qr_code: Option<String>,
    #[serde(default)]
    pub expires_at: Option<String>,
    #[serde(default)]
    pub end_to_end_id: Option<String>,
    #[serde(default)]
    pub line: Option<String>,
    #[serde(default)]
    pub due_at: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub bank: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub nosso_numero: Option<String>,
    #[serde(default)]
    pub interest: Option<LateCharge>,
    #[serde(default)]
    pub fine: Option<LateCharge>,
}

/// The state of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the provider's interface")]
pub enum TransactionStatus {
    AuthorizedPendingCapture,
    WaitingCapture,
    Captured,
    PartialCapture,
    NotAuthorized,
    Failed,
    WithError,
    Voided,
    PartialVoid,
    Refunded,
    PartialRefunded,
    PendingRefund,
    WaitingPayment,
    Generated,
    Viewed,
    Paid,
    #[serde(other)]
    Other,
}

/// What the provider's own gateway says.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct GatewayResponse {
    #[serde(default, deserialize_with = "text")]
    pub code: Option<String>,
}

/// What the analysis of risk says.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct AntifraudResponse {
    #[serde(default, deserialize_with = "text")]
    pub status: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub return_code: Option<String>,
}

/// What is added to a boleto that is paid late.
#[derive(Deserialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct LateCharge {
    #[serde(default)]
    pub days: u16,
    #[serde(rename = "type")]
    pub kind: String,
    pub amount: Number,
}

/// Why a request is not taken. Its other members repeat the request, with the card.
#[derive(Deserialize)]
pub struct Refusal {
    /// What every error of the provider has.
    pub message: String,
    /// By the name of the member that is wrong.
    #[serde(default)]
    pub errors: Value,
}

/// A code, which may come as a number.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    })
}
