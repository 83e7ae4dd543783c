//! Documents that prove refunds (`docs/interface/receipts.md`): which there are, what is asked for, and what one says. [`content`]
//! is what is printed; which refunds count is [`crate::charge::refunds`].

pub mod content;
mod sent;

use std::time::Duration;

use uuid::Uuid;

pub use sent::NewReceipt;

use crate::charge::refunds::Refund;
use crate::id::ChargeId;
use crate::payment_type::PaymentType;
use crate::words::words;

/// How long the address of a file is good.
pub const ADDRESS_LIFE: Duration = Duration::from_secs(15 * 60);
/// How long an issue is kept: five years, which have one or two leap days.
pub const KEPT_FOR: Duration = Duration::from_secs((5 * 365 + 2) * 24 * 60 * 60);
/// Refunds that the documents of one charge name at most.
pub const REFUNDS_MAX: usize = 200;

words! {
    /// What a document is.
    ReceiptType {
        /// A letter to the issuing bank for each refund of a card.
        CancellationLetter = "cancellation_letter",
        /// One receipt with all refunds.
        RefundReceipt = "refund_receipt",
    }
}

words! {
    /// The language of a document.
    ReceiptLanguage {
        /// Portuguese.
        PtBr = "pt-BR",
        /// English.
        En = "en",
        /// Spanish.
        Es = "es",
    }
}

words! {
    /// What the file is.
    ReceiptFormat {
        /// One document.
        Pdf = "pdf",
        /// Several letters.
        Zip = "zip",
    }
}

words! {
    /// A payment method whose refunds are proved.
    ReceiptMethod {
        /// A credit card.
        Credit = "credit",
        /// Pix.
        Pix = "pix",
    }
}

impl ReceiptMethod {
    /// The method of charges that are paid so; `None` for those whose refunds are not proved.
    pub const fn of(payment_type: PaymentType) -> Option<Self> {
        match payment_type {
            PaymentType::Credit => Some(Self::Credit),
            PaymentType::Pix => Some(Self::Pix),
            PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay
            | PaymentType::Boleto => None,
        }
    }
}

impl ReceiptType {
    /// Whether there are such documents of a method.
    pub const fn fits(self, method: ReceiptMethod) -> bool {
        match (self, method) {
            (Self::RefundReceipt, ReceiptMethod::Credit | ReceiptMethod::Pix)
            | (Self::CancellationLetter, ReceiptMethod::Credit) => true,
            (Self::CancellationLetter, ReceiptMethod::Pix) => false,
        }
    }

    /// What the file with so many refunds is.
    pub const fn format(self, refunds: usize) -> ReceiptFormat {
        match self {
            Self::CancellationLetter if refunds > 1 => ReceiptFormat::Zip,
            Self::CancellationLetter | Self::RefundReceipt => ReceiptFormat::Pdf,
        }
    }
}

/// The name of a file of a charge.
pub fn file_name(receipt_type: ReceiptType, format: ReceiptFormat, charge_id: ChargeId) -> String {
    match (receipt_type, format) {
        (ReceiptType::CancellationLetter, ReceiptFormat::Zip) => {
            format!("cancellation-letters-{charge_id}.zip")
        }
        (ReceiptType::CancellationLetter, ReceiptFormat::Pdf) => letter_name(charge_id, 1),
        (ReceiptType::RefundReceipt, ReceiptFormat::Pdf | ReceiptFormat::Zip) => {
            format!("refund-receipt-{charge_id}.pdf")
        }
    }
}

/// The name of one letter; `number` is that of the refund, from 1.
pub fn letter_name(charge_id: ChargeId, number: usize) -> String {
    format!("cancellation-letter-{charge_id}-{number}.pdf")
}

/// Namespace of the digests of sets of refunds.
const SETS: Uuid = Uuid::from_u128(0x0e5d_2f1c_64b7_4e0c_8b57_51b9_7c5d_3a90);

/// A digest of a set of refunds, the same for the same refunds with the same amounts.
pub fn digest_of(refunds: &[Refund]) -> Uuid {
    let mut bytes = Vec::new();
    for refund in refunds {
        bytes.extend_from_slice(refund.id.uuid().as_bytes());
        bytes.extend_from_slice(&refund.amount.minor_units().to_be_bytes());
    }
    Uuid::new_v5(&SETS, &bytes)
}
