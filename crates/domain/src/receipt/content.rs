//! What a document says, in no language yet: facts alone.

use crate::card::Brand;
use crate::charge::attempt::Approval;
use crate::charge::refunds::Refund;
use crate::currency::Currency;
use crate::id::{ChargeId, ReceiptId};
use crate::money::Amount;
use crate::time::Timestamp;

use super::{ReceiptLanguage, ReceiptType};

/// What a document says. All amounts are in `currency`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Which document it is.
    pub receipt_type: ReceiptType,
    /// The language that it is written in.
    pub language: ReceiptLanguage,
    /// This issue.
    pub id: ReceiptId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The charge.
    pub charge_id: ChargeId,
    /// The merchant's name; empty where it has none.
    pub merchant: String,
    /// Who processed the payment.
    pub acquirer: String,
    /// When it was approved or paid.
    pub sold_at: Timestamp,
    /// What was captured or paid.
    pub amount: Amount,
    /// The currency.
    pub currency: Currency,
    /// How it was paid.
    pub paid_by: PaidBy,
    /// The refunds, oldest first.
    pub refunds: Vec<Refund>,
}

/// How a sale was paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaidBy {
    /// By card.
    Card(CardSale),
    /// By Pix.
    Pix(PixSale),
}

/// A sale by card. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardSale {
    /// The cardholder's name.
    pub holder: Option<String>,
    /// The brand.
    pub brand: Option<Brand>,
    /// The first six digits.
    pub first6digits: Option<String>,
    /// The last four digits.
    pub last4digits: Option<String>,
    /// Number of installments.
    pub installments: u8,
    /// Code of the authorization.
    pub authorization_code: Option<String>,
    /// NSU, the acquirer's sequence number.
    pub nsu: Option<String>,
    /// The card network's id of the payment.
    pub network_transaction_id: Option<String>,
}

/// A sale by Pix. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixSale {
    /// The payer's name.
    pub payer: Option<String>,
    /// The payer's document, masked where it is a person's.
    pub document: Option<String>,
    /// The end-to-end id of the payment.
    pub end_to_end_id: Option<String>,
}

/// Characters of an end-to-end id: `E`, the institution of the payer (8), the minute (12), and what tells payments of it apart (11).
pub const END_TO_END_ID_CHARS: usize = 32;

/// The end-to-end id of a Pix, under which every bank finds it. A provider has it as the id of the transfer, or as its own id of the
/// payment, which may also be another one that no bank knows.
pub fn end_to_end_id(codes: &Approval) -> Option<&str> {
    let known = [&codes.network_authorization_code, &codes.transaction_id];
    known.into_iter().filter_map(Option::as_deref).find(|id| {
        let is_alphanumeric = id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        id.len() == END_TO_END_ID_CHARS && id.starts_with('E') && is_alphanumeric
    })
}

/// The digits of a CPF.
const CPF_DIGITS: usize = 11;

/// A document as receipts of Pix print it: of the eleven digits of a person the six in the middle alone, other numbers as they are.
pub fn masked_document(number: &str) -> String {
    let is_persons = number.len() == CPF_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
    match (is_persons, number.get(3..6), number.get(6..9)) {
        (true, Some(second), Some(third)) => format!("***.{second}.{third}-**"),
        (_, _, _) => number.to_owned(),
    }
}
