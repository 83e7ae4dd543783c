//! The codes of payment arrangements in the Brazilian registers of receivables.

use crate::card::Brand;
use crate::payout::method::PayoutMethod;
use crate::words::words;

words! {
    /// A payment arrangement, by its code in the registers of receivables.
    #[schema(as = ReceivableArrangement)]
    Arrangement {
        /// Visa credit.
        Vcc = "VCC",
        /// Mastercard credit.
        Mcc = "MCC",
        /// Elo credit.
        Ecc = "ECC",
        /// American Express credit.
        Acc = "ACC",
        /// Hipercard credit.
        Hcc = "HCC",
    }
}

impl Arrangement {
    /// That of a charge paid so; `None` for what is no card, and for brands whose code the contract does not have.
    pub const fn of(method: PayoutMethod, brand: Option<Brand>) -> Option<Self> {
        match (method, brand) {
            (PayoutMethod::Credit, Some(brand)) => Self::of_brand(brand),
            (PayoutMethod::Credit, None) | (PayoutMethod::Pix | PayoutMethod::Nupay, _) => None,
        }
    }

    const fn of_brand(brand: Brand) -> Option<Self> {
        match brand {
            Brand::Visa => Some(Self::Vcc),
            Brand::Mastercard => Some(Self::Mcc),
            Brand::Elo => Some(Self::Ecc),
            Brand::AmericanExpress => Some(Self::Acc),
            Brand::Hipercard => Some(Self::Hcc),
            Brand::Discover | Brand::Jcb | Brand::Diners => None,
        }
    }
}
