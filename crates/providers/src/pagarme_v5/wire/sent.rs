//! What is sent: an order with its payment, and operations on its charge. Members are named as the provider's official
//! package names them. Bodies may hold card data, so none can be printed.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Number;

use crate::pagarme_v5::reference::Metadata;

/// `POST /orders`.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Order<'a> {
    pub code: String,
    pub closed: bool,
    pub items: [Item<'a>; 1],
    pub customer: Customer<'a>,
    pub payments: [PaymentBody<'a>; 1],
    pub metadata: BTreeMap<&'static str, String>,
}

/// What is sold.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Item<'a> {
    pub amount: i64,
    pub code: String,
    pub description: &'a str,
    pub quantity: u8,
}

/// The buyer.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Customer<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<&'a str>,
    #[serde(rename = "type")]
    pub kind: CustomerKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address<'a>>,
    pub phones: Phones,
}

/// Whether the buyer is a person.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CustomerKind {
    Individual,
    Company,
}

/// An address: its parts, and the two lines that the provider makes of them.
#[derive(Clone, Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Address<'a> {
    pub street: &'a str,
    pub number: &'a str,
    pub zip_code: &'a str,
    pub neighborhood: &'a str,
    pub city: &'a str,
    pub state: &'a str,
    pub country: String,
    pub complement: &'a str,
    pub line_1: String,
    pub line_2: &'a str,
}

/// The buyer's phones.
#[derive(Default, Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Phones {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_phone: Option<Phone>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mobile_phone: Option<Phone>,
}

/// A phone.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Phone {
    pub country_code: String,
    pub area_code: String,
    pub number: String,
}

/// A payment: its amount, and its method with the facts of that.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct PaymentBody<'a> {
    pub amount: i64,
    #[serde(flatten)]
    pub method: Method<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Vec<SplitPart<'a>>>,
}

/// What one recipient gets, or gives back.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct SplitPart<'a> {
    /// Always `flat`: the shares are exact to the cent here.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// In minor units.
    pub amount: i64,
    pub recipient_id: &'a str,
    pub options: SplitOptions,
}

/// What a recipient bears.
#[derive(Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct SplitOptions {
    pub charge_processing_fee: bool,
    pub charge_remainder_fee: bool,
    pub liable: bool,
}

/// `payment_method`, with the object of that name.
#[derive(Serialize)]
#[serde(tag = "payment_method", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Method<'a> {
    CreditCard { credit_card: Box<CreditCard<'a>> },
    Voucher { voucher: Box<Voucher<'a>> },
    Pix { pix: Pix<'a> },
    Boleto { boleto: Box<Boleto<'a>> },
}

/// A payment by credit card.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct CreditCard<'a> {
    pub installments: u8,
    pub operation_type: OperationType,
    /// A refused payment is not tried again by the provider: the next provider may have been asked meanwhile.
    pub auto_recovery: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    pub card: Card<'a>,
    /// The name in the documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrence_cycle: Option<RecurrenceCycle>,
    /// The name in the official package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrency_cycle: Option<RecurrenceCycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_origin: Option<PaymentOrigin<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_category_code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication<'a>>,
}

/// Whether the amount is captured at once.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum OperationType {
    AuthOnly,
    AuthAndCapture,
}

/// The place of a payment in a series that the merchant keeps.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RecurrenceCycle {
    First,
    Subsequent,
}

/// The payment with which the cardholder agreed to this one.
#[derive(Serialize)]
pub struct PaymentOrigin<'a> {
    /// The card network's id of it.
    pub brand_id: &'a str,
}

/// A card in the clear.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Card<'a> {
    pub number: &'a str,
    pub holder_name: &'a str,
    pub exp_month: u8,
    pub exp_year: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvv: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder_document: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<Address<'a>>,
}

/// The result of a 3DS server.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Authentication<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub threed_secure: ThreeDSecure<'a>,
}

/// What the 3DS server gave.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct ThreeDSecure<'a> {
    pub mpi: &'static str,
    pub cavv: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eci: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ds_transaction_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'a str>,
}

/// A payment by voucher.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Voucher<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    #[serde(rename = "Card")]
    pub card: Card<'a>,
}

/// A payment by Pix.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Pix<'a> {
    pub expires_in: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_information: Vec<AdditionalInformation<'a>>,
}

/// A text that the payer's bank shows.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct AdditionalInformation<'a> {
    pub name: &'a str,
    pub value: &'a str,
}

/// A payment by boleto.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct Boleto<'a> {
    pub due_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interest: Option<LateCharge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fine: Option<LateCharge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<Address<'a>>,
}

/// What is added to a boleto that is paid late.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the members of the provider's interface, under its names")]
pub struct LateCharge {
    pub days: u16,
    #[serde(rename = "type")]
    pub kind: LateChargeKind,
    pub amount: Number,
}

/// Whether `amount` is cents or a percentage.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LateChargeKind {
    Flat,
    Percentage,
}

/// `POST /charges/{id}/capture` and `DELETE /charges/{id}`.
#[derive(Serialize)]
pub struct Change<'a> {
    /// In minor units.
    pub amount: i64,
    /// The `code` of the charge. A capture that does not repeat it would change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Our key of the operation.
    pub operation_reference: String,
    /// What each recipient gets, or gives back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Vec<SplitPart<'a>>>,
}

/// `PATCH /charges/{id}/metadata`.
#[derive(Serialize)]
pub struct NewMetadata {
    /// All of it: what is not repeated may be removed.
    pub metadata: Metadata,
}
