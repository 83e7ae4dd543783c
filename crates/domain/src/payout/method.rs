//! How a charge was paid that is paid out.

use crate::payment_type::PaymentType;
use crate::plan::PlanMethod;
use crate::words::words;

words! {
    /// How a charge was paid that is paid out.
    PayoutMethod {
        /// A card, also one of a wallet.
        Credit = "credit",
        /// Pix.
        Pix = "pix",
        /// NuPay.
        Nupay = "nupay",
    }
}

impl PayoutMethod {
    /// The method of a payment type; `None` for those that are not paid out.
    pub const fn of(payment_type: PaymentType) -> Option<Self> {
        match PlanMethod::of(payment_type) {
            Some(PlanMethod::Credit) => Some(Self::Credit),
            Some(PlanMethod::Pix) => Some(Self::Pix),
            Some(PlanMethod::Nupay) => Some(Self::Nupay),
            Some(PlanMethod::Boleto) | None => None,
        }
    }

    /// What plans have terms for.
    pub const fn in_plans(self) -> PlanMethod {
        match self {
            Self::Credit => PlanMethod::Credit,
            Self::Pix => PlanMethod::Pix,
            Self::Nupay => PlanMethod::Nupay,
        }
    }
}
