//! How a buyer pays, and what holds for each way.

use crate::words::words;

/// Most installments that the interface accepts.
pub const INSTALLMENTS_MAX: u8 = 24;

words! {
    /// `paymentType` (`docs/interface/charges.md#payment-methods`).
    PaymentType {
        /// Credit card.
        Credit = "credit",
        /// Debit card.
        Debit = "debit",
        /// Meal or food voucher card.
        Voucher = "voucher",
        /// Brazilian instant payment.
        Pix = "pix",
        /// Brazilian bank slip.
        Boleto = "boleto",
        /// Wallet of a digital bank.
        Nupay = "nupay",
        /// Pix in installments.
        Drip = "drip",
        /// Wallet paid by QR code.
        Picpay = "picpay",
        /// Wallet of a phone.
        ApplePay = "apple_pay",
        /// Wallet of the card schemes.
        ClickToPay = "click_to_pay",
    }
}
