//! Agreements on fees, for one kind of provider. They are checked and kept as sent.

use deserr::Deserr;
use utoipa::ToSchema;

use super::Sum;
use crate::percentage::Percent;
use crate::problems::Problems;
use crate::wire::{Integer, List};
use crate::words::words;

/// An agreement on fees.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct RateAgreement {
    /// What it is about.
    #[deserr(rename = "type", default)]
    #[schema(rename = "type")]
    pub kind: Option<AgreementType>,
    /// In percent.
    #[deserr(default)]
    pub percent: Option<Percent>,
    /// Fixed fee in cents.
    pub fee: Sum,
    /// Rates by payment arrangement and installments.
    #[deserr(default)]
    pub merchant_discount_rates: Option<DiscountRates>,
}

/// The rates of an agreement.
pub type DiscountRates = List<DiscountRate, 0, 100>;

/// A rate of an agreement.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = MerchantDiscountRate, rename_all = "camelCase")]
pub struct DiscountRate {
    /// What it is for.
    #[deserr(default)]
    pub payment_arrangement: Option<PaymentArrangement>,
    /// From how many installments on.
    #[deserr(default)]
    pub initial_installment_number: Option<Integer<1, 12>>,
    /// Up to how many installments.
    #[deserr(default)]
    pub final_installment_number: Option<Integer<1, 12>>,
    /// In percent.
    #[deserr(default)]
    pub percent: Option<Percent>,
}

/// A product of a brand.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct PaymentArrangement {
    /// The product.
    #[deserr(default)]
    pub product: Option<ArrangementProduct>,
    /// The brand.
    #[deserr(default)]
    pub brand: Option<ArrangementBrand>,
}

words! {
    /// What an agreement is about.
    AgreementType {
        /// All payments.
        GlobalRate = "GlobalRate",
        /// A payment method.
        FeePaymentMethod = "FeePaymentMethod",
    }
}

words! {
    /// The product of a payment arrangement.
    ArrangementProduct {
        /// Credit.
        CreditCard = "CreditCard",
        /// Debit.
        DebitCard = "DebitCard",
    }
}

words! {
    /// The brand of a payment arrangement.
    ArrangementBrand {
        /// Visa.
        Visa = "Visa",
        /// Mastercard.
        Master = "Master",
        /// American Express.
        Amex = "Amex",
        /// Elo.
        Elo = "Elo",
        /// Diners Club.
        Diners = "Diners",
        /// Hipercard.
        Hipercard = "Hipercard",
    }
}
